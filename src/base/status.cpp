#include "base/status.h"

#include <utility>

namespace graphwright {
namespace {

std::shared_ptr<ErrorDetail> make_detail(Code code, ErrorKind kind, std::string message) {
  auto detail = std::make_shared<ErrorDetail>();
  detail->code = code;
  detail->kind = kind;
  detail->message = std::move(message);
  return detail;
}

// The canonical code nearest to a Python error class, for callers that only look at codes.
Code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kOp:
      return Code::kUnknown;
    case ErrorKind::kValueError:
    case ErrorKind::kTypeError:
      return Code::kInvalidArgument;
    case ErrorKind::kIndexError:
      return Code::kOutOfRange;
    case ErrorKind::kKeyError:
    case ErrorKind::kAttributeError:
      return Code::kNotFound;
    case ErrorKind::kRuntimeError:
      return Code::kFailedPrecondition;
    case ErrorKind::kOverflowError:
      return Code::kOutOfRange;
    case ErrorKind::kNotImplementedError:
      return Code::kUnimplemented;
  }
  return Code::kUnknown;
}

}  // namespace

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) detail_ = make_detail(code, ErrorKind::kOp, std::move(message));
}

const std::string& Status::message() const {
  static const std::string* const none = new std::string();
  return detail_ ? detail_->message : *none;
}

void Status::throw_if_error() const {
  if (detail_) throw Error(detail_);
}

Error::Error(Code code, std::string message)
    : detail_(make_detail(code, ErrorKind::kOp, std::move(message))) {}

Error::Error(ErrorKind kind, std::string message)
    : detail_(make_detail(code_of(kind), kind, std::move(message))) {}

Error& Error::with_op(std::string_view op) {
  if (detail_->op.empty()) detail_->op = op;
  return *this;
}

Error& Error::with_argument(std::string_view argument) {
  if (detail_->argument.empty()) detail_->argument = argument;
  return *this;
}

void throw_invalid_argument(std::string message) {
  throw Error(Code::kInvalidArgument, std::move(message));
}

void throw_value_error(std::string message) {
  throw Error(ErrorKind::kValueError, std::move(message));
}

void throw_type_error(std::string message) {
  throw Error(ErrorKind::kTypeError, std::move(message));
}

void throw_unimplemented(std::string message) {
  throw Error(Code::kUnimplemented, std::move(message));
}

void throw_internal(std::string message) { throw Error(Code::kInternal, std::move(message)); }

}  // namespace graphwright
