#include "api/handles.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/location.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {
namespace {

struct SymbolicHandle {
  std::atomic<int> references{1};
  core::Value* value;
  std::shared_ptr<core::Graph> graph;
};
constexpr uintptr_t kSymbolicTag = 1;

uintptr_t bits_of(Handle* handle) { return reinterpret_cast<uintptr_t>(handle); }
SymbolicHandle* symbolic(Handle* handle) {
  return reinterpret_cast<SymbolicHandle*>(bits_of(handle) & ~kSymbolicTag);
}
core::TensorImpl* eager(Handle* handle) { return reinterpret_cast<core::TensorImpl*>(handle); }

// --- Call sites ---

thread_local const Site* current_site = nullptr;

// What a location's key points to; one for each function of the program that makes nodes.
struct CodePlace {
  std::string file, function;
};

const CodePlace* place_of(const Site& site) {
  static std::mutex mutex;
  static auto& places = *new std::map<std::pair<const char*, const char*>, CodePlace*>();
  std::lock_guard<std::mutex> lock(mutex);
  CodePlace*& place = places[{site.file, site.function}];
  // The address may have been another file's, of a library that is no longer loaded.
  if (!place || place->file != site.file) {
    place = new CodePlace{site.file, site.function ? site.function : ""};
  }
  return place;
}

core::Location site_location() {
  if (!current_site) return core::kNoLocation;
  return core::intern_location(
      {place_of(*current_site), static_cast<int32_t>(current_site->line), core::kNoLocation});
}

core::SourceFrame resolve(const core::LocationKey& key) {
  const auto* place = static_cast<const CodePlace*>(key.code);
  return {place->file, key.instruction, place->function, false};
}

[[maybe_unused]] const bool locations_are_set = [] {
  core::set_location_resolver({resolve, nullptr});
  core::set_location_source(site_location);
  return true;
}();

}  // namespace

SiteScope::SiteScope(const Site& site) : previous_(current_site) {
  if (site.file) current_site = &site;
}
SiteScope::~SiteScope() { current_site = previous_; }

// --- Handles ---

void retain(Handle* handle) noexcept {
  if (bits_of(handle) & kSymbolicTag) {
    symbolic(handle)->references.fetch_add(1, std::memory_order_relaxed);
  } else {
    eager(handle)->references.fetch_add(1, std::memory_order_relaxed);
  }
}

void release(Handle* handle) noexcept {
  if (!(bits_of(handle) & kSymbolicTag)) {
    core::Tensor::adopt(eager(handle));
  } else if (symbolic(handle)->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete symbolic(handle);
  }
}

core::Operand operand_of(Handle* handle) {
  if (!handle) {
    core::throw_invalid_argument(
        "a null tensor was used: it was default-constructed or moved from, or is the gradient of "
        "something that the target does not depend on");
  }
  if (bits_of(handle) & kSymbolicTag) return core::Operand(symbolic(handle)->value);
  return core::Operand(core::Tensor::share(eager(handle)));
}

Handle* handle_of(core::Operand operand) {
  if (!operand) return nullptr;
  if (operand.is_tensor()) return reinterpret_cast<Handle*>(operand.tensor().detach());
  auto* made = new SymbolicHandle;
  made->value = operand.value();
  made->graph = operand.value()->block->graph->shared_from_this();
  return reinterpret_cast<Handle*>(reinterpret_cast<uintptr_t>(made) | kSymbolicTag);
}

core::Tensor eager_tensor(Handle* handle, const char* use) {
  core::Operand operand = operand_of(handle);
  if (operand.is_value()) {
    core::throw_invalid_argument(
        "a symbolic tensor has no value while its function is traced, so it cannot be used " +
        std::string(use));
  }
  return operand.tensor();
}

core::DType core_dtype(DType dtype) {
  auto result = static_cast<core::DType>(dtype);
  if (core::dtype_name(result) == "invalid") {
    core::throw_invalid_argument("there is no dtype number " +
                                 std::to_string(static_cast<int>(dtype)));
  }
  return result;
}

core::PartialShape core_shape(const RawShape& shape) {
  if (shape.rank < 0) return core::PartialShape::unknown();
  for (int i = 0; i < shape.rank; ++i) {
    if (shape.dims[i] < -1) {
      core::throw_invalid_argument("a shape has the dimension " + std::to_string(shape.dims[i]));
    }
  }
  return core::PartialShape(
      std::span<const core::Dim>(shape.dims, static_cast<size_t>(shape.rank)));
}

// --- Errors ---

struct ErrorState {
  std::atomic<int> references{1};
  Code code = Code::kUnknown;
  std::string what, message, op, argument, node, location;

  static Error make(ErrorState* state) { return Error(state); }
  void compose() {
    what = message;
    auto add = [this](const char* word, const std::string& value) {
      if (!value.empty()) what += std::string(" [") + word + " " + value + "]";
    };
    add("op", op);
    add("argument", argument);
    add("node", node);
    add("at", location);
  }
};

namespace {

Code code_of(const core::ErrorDetail& error) {
  switch (error.kind) {
    case core::ErrorKind::kOp:
      return static_cast<Code>(error.code);
    case core::ErrorKind::kValueError:
    case core::ErrorKind::kTypeError:
    case core::ErrorKind::kAttributeError:
      return Code::kInvalidArgument;
    case core::ErrorKind::kIndexError:
    case core::ErrorKind::kOverflowError:
      return Code::kOutOfRange;
    case core::ErrorKind::kKeyError:
      return Code::kNotFound;
    case core::ErrorKind::kRuntimeError:
      return Code::kFailedPrecondition;
    case core::ErrorKind::kNotImplementedError:
      return Code::kUnimplemented;
  }
  return Code::kUnknown;
}

std::string current_site_text() {
  if (!current_site) return {};
  std::string_view file = current_site->file;
  size_t slash = file.find_last_of('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(current_site->line);
}

}  // namespace

void throw_public(const core::Error& error) {
  const core::ErrorDetail& detail = error.detail();
  auto state = std::make_unique<ErrorState>();
  state->code = code_of(detail);
  state->message = detail.message;
  state->op = detail.op;
  state->argument = detail.argument;
  state->node = detail.node_name;
  state->location = core::location_summary(detail.location);
  if (state->location.empty()) state->location = current_site_text();
  state->compose();
  throw ErrorState::make(state.release());
}

void throw_out_of_memory() {
  throw_public(core::Error(core::Code::kResourceExhausted, "there is not enough memory"));
}

}  // namespace detail

Error::Error(Code code, const char* message) : state_(new detail::ErrorState) {
  state_->code = code;
  state_->message = message;
  state_->compose();
}
Error::Error(const Error& other) noexcept : std::exception(other), state_(other.state_) {
  state_->references.fetch_add(1, std::memory_order_relaxed);
}
Error& Error::operator=(const Error& other) noexcept {
  Error copy(other);
  std::swap(state_, copy.state_);
  return *this;
}
Error::~Error() {
  if (state_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete state_;
}
const char* Error::what() const noexcept { return state_->what.c_str(); }
Code Error::code() const noexcept { return state_->code; }
const char* Error::message() const noexcept { return state_->message.c_str(); }
const char* Error::op() const noexcept { return state_->op.c_str(); }
const char* Error::argument() const noexcept { return state_->argument.c_str(); }
const char* Error::node() const noexcept { return state_->node.c_str(); }
const char* Error::location() const noexcept { return state_->location.c_str(); }

}  // namespace v1
}  // namespace graphwright::api
