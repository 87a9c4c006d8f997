// What every function of the library throws.
#pragma once

#include <cstdint>
#include <exception>
#include <string>

#include <graphwright/export.h>

namespace graphwright::api {
inline namespace v1 {

// The canonical codes, numbered as TensorFlow's tf.errors.* numbers them.
enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,  // a CancellationToken ended the run
  kUnknown = 2,
  kInvalidArgument = 3,  // wrong dtype, shape, value or use
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,   // memory, or its limit
  kFailedPrecondition = 9,  // an uninitialised variable, say
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,  // a fault of the library itself
  kUnavailable = 14,
  kDataLoss = 15,  // malformed bytes
  kUnauthenticated = 16,
};

namespace detail {
struct ErrorState;
}

// Thrown by value, caught by const reference. Copies share their text and never throw. A failed
// call leaves its arguments, variables and the graph being traced as they were, except for effects
// that had happened already.
//
// Exceptions of the program's own, thrown in a function that is traced or runs as a loop body, pass
// through the library unchanged.
class GW_API Error : public std::exception {
 public:
  Error(Code code, const char* message);
  Error(Code code, const std::string& message) : Error(code, message.c_str()) {}
  Error(const Error& other) noexcept;
  Error& operator=(const Error& other) noexcept;
  ~Error() override;

  // The message, then op, node and place in the program where known:
  // "Incompatible shapes: [2] vs. [3] [op AddV2] [node while/add] [at model.cpp:12]".
  const char* what() const noexcept override;

  Code code() const noexcept;
  // The message alone.
  const char* message() const noexcept;
  // The op at fault ("AddV2"), the argument ("axis"), the node of a graph ("while/add"); "" where
  // there is none or it is not known.
  const char* op() const noexcept;
  const char* argument() const noexcept;
  const char* node() const noexcept;
  // "model.cpp:12": the call of the program that ran the op or, in a graph, made its node; "" where
  // not known.
  const char* location() const noexcept;

 private:
  friend struct detail::ErrorState;
  explicit Error(detail::ErrorState* state) noexcept : state_(state) {}
  detail::ErrorState* state_;
};

}  // namespace v1
}  // namespace graphwright::api
