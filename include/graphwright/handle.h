// What the headers' classes are made of: opaque handles and plain data, which alone cross the
// library's border. Programs use the classes, not this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <graphwright/export.h>

namespace graphwright::api {
inline namespace v1 {
namespace detail {

// A tensor, a variable's resource or a list: eager, or symbolic in a graph that it keeps alive.
// Reference-counted; counting is thread safe.
struct Handle;
GW_API void retain(Handle* handle) noexcept;
GW_API void release(Handle* handle) noexcept;

class Reference {
 public:
  Reference() = default;
  // Takes over a reference.
  explicit Reference(Handle* handle) noexcept : handle_(handle) {}
  Reference(const Reference& other) noexcept : handle_(other.handle_) {
    if (handle_) retain(handle_);
  }
  Reference(Reference&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Reference& operator=(Reference other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Reference() {
    if (handle_) release(handle_);
  }
  Handle* get() const { return handle_; }
  Handle* detach() { return std::exchange(handle_, nullptr); }

 private:
  Handle* handle_ = nullptr;
};

// A place in the program: where a tensor was passed to an op, by the compiler's own word.
struct Site {
  const char* file = nullptr;  // lives for ever
  const char* function = nullptr;
  uint32_t line = 0;
  // As a default argument: where the call stands.
  static constexpr Site here(const char* file = __builtin_FILE(),
                             const char* function = __builtin_FUNCTION(),
                             uint32_t line = __builtin_LINE()) {
    return {file, function, line};
  }
};

// Borrowed dimensions; rank -1: unknown.
struct RawShape {
  const int64_t* dims = nullptr;
  int rank = -1;
};

// One argument of an op as it crosses the border. Everything is borrowed for the call.
struct Argument {
  enum class Kind : uint8_t {
    kNone,
    kTensor,     // handle
    kVariable,   // handle
    kInteger,    // integer, without a dtype of its own
    kReal,       // real, without a dtype of its own
    kBoolean,    // integer: 0 or 1
    kIntegers,   // handle: an int64 vector, without a dtype of its own
    kText,       // data: const char*, size of them
    kNumbers,    // data: const int64_t*, size of them
    kDType,      // integer: the number
    kArguments,  // data: const Argument*, size of them
  };
  Kind kind = Kind::kNone;
  union {
    int64_t integer = 0;
    double real;
    Handle* handle;
    const void* data;
  };
  int64_t size = 0;
  Site site;
};

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
