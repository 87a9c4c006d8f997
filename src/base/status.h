// Errors. While building (tracing, conversion, eager argument checks) failures are thrown as
// `Error`; on the run path of kernels and plans they travel as `Status`, which is one null pointer
// when all is well. Both carry the same `ErrorDetail`, so that every error names its op, argument,
// node and line.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "base/location.h"

namespace graphwright {

// The canonical codes, numbered as TensorFlow's tf.errors.* numbers them.
enum class Code : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// Which Python class the error is rendered as. kOp means the tf.errors class of `code`.
enum class ErrorKind : uint8_t {
  kOp,
  kValueError,
  kTypeError,
  kIndexError,
  kKeyError,
  kAttributeError,
  kRuntimeError,
  kNotImplementedError,
  kOverflowError,
};

struct ErrorDetail {
  Code code = Code::kUnknown;
  ErrorKind kind = ErrorKind::kOp;
  std::string message;
  std::string op;         // op type, e.g. "AddV2"; empty if none
  std::string argument;   // the argument at fault; empty if none
  std::string node_name;  // e.g. "while/add"; empty when eager
  Location location = kNoLocation;
  bool plain = false;  // tells where it comes from itself: shown without the frames of user code
  // A Python exception that crosses C++ frames unchanged: an owned reference that only src/python
  // reads; `release_foreign` drops it.
  void* foreign = nullptr;
  void (*release_foreign)(void*) = nullptr;

  ErrorDetail() = default;
  ErrorDetail(const ErrorDetail&) = delete;
  ErrorDetail& operator=(const ErrorDetail&) = delete;
  ~ErrorDetail() {
    if (foreign && release_foreign) release_foreign(foreign);
  }
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);
  explicit Status(std::shared_ptr<ErrorDetail> detail) : detail_(std::move(detail)) {}
  bool ok() const { return !detail_; }
  Code code() const { return detail_ ? detail_->code : Code::kOk; }
  const std::string& message() const;
  ErrorDetail* detail() { return detail_.get(); }
  const std::shared_ptr<ErrorDetail>& shared_detail() const { return detail_; }
  void throw_if_error() const;  // throws Error

 private:
  std::shared_ptr<ErrorDetail> detail_;
};

class Error : public std::exception {
 public:
  Error(Code code, std::string message);
  Error(ErrorKind kind, std::string message);
  explicit Error(std::shared_ptr<ErrorDetail> detail) : detail_(std::move(detail)) {}
  const char* what() const noexcept override { return detail_->message.c_str(); }
  ErrorDetail& detail() const { return *detail_; }
  const std::shared_ptr<ErrorDetail>& shared_detail() const { return detail_; }
  // Fills in names that an inner frame did not know; never overwrites.
  Error& with_op(std::string_view op);
  Error& with_argument(std::string_view argument);

 private:
  std::shared_ptr<ErrorDetail> detail_;
};

[[noreturn]] void throw_invalid_argument(std::string message);
[[noreturn]] void throw_value_error(std::string message);
[[noreturn]] void throw_type_error(std::string message);
[[noreturn]] void throw_unimplemented(std::string message);
[[noreturn]] void throw_internal(std::string message);

}  // namespace graphwright
