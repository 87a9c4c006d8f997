// Process-wide interned strings: 4 bytes, compared by number. Op, attribute, scope and node base
// names are these.
#pragma once

#include <cstdint>
#include <string_view>

namespace graphwright {

class InternedString {
 public:
  InternedString() = default;  // ""
  explicit InternedString(std::string_view text);
  std::string_view view() const;
  bool empty() const { return id_ == 0; }
  uint32_t id() const { return id_; }
  bool operator==(const InternedString&) const = default;

 private:
  uint32_t id_ = 0;
};

}  // namespace graphwright
