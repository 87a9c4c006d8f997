#include "base/interned_string.h"

#include <cstring>
#include <mutex>
#include <unordered_map>

#include "base/append_only_table.h"

namespace graphwright {
namespace {

struct Table {
  std::mutex mutex;
  std::unordered_map<std::string_view, uint32_t> ids;
  AppendOnlyTable<std::string_view> texts;

  Table() { ids.emplace(std::string_view(), texts.append(std::string_view())); }
};

// Never destroyed: interned strings outlive every static object that holds one.
Table& table() {
  static Table* const instance = new Table();
  return *instance;
}

}  // namespace

InternedString::InternedString(std::string_view text) {
  if (text.empty()) return;
  Table& strings = table();
  std::lock_guard lock(strings.mutex);
  auto found = strings.ids.find(text);
  if (found != strings.ids.end()) {
    id_ = found->second;
    return;
  }
  char* kept = new char[text.size()];
  std::memcpy(kept, text.data(), text.size());
  std::string_view view(kept, text.size());
  id_ = strings.texts.append(view);
  strings.ids.emplace(view, id_);
}

std::string_view InternedString::view() const {
  return id_ == 0 ? std::string_view() : table().texts[id_];
}

}  // namespace graphwright
