// Making tensors and looking at them.
#include <fmt/format.h>

#include "api/handles.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "kernels/cast.h"
#include "tensor/format.h"
#include "trace/scope_errors.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {

static_assert(static_cast<int>(DType::kFloat8E4m3fn) ==
              static_cast<int>(core::DType::kFloat8E4m3fn));
static_assert(static_cast<int>(DType::kUint64) == static_cast<int>(core::DType::kUint64));
static_assert(static_cast<int>(DType::kBool) == static_cast<int>(core::DType::kBool));

namespace {

core::Tensor uninitialised(core::DType dtype, const int64_t* dims, int rank, size_t count,
                           const char* what) {
  core::PartialShape shape = core_shape({dims, rank});
  if (!shape.is_fully_defined()) {
    core::throw_invalid_argument("the shape " + shape.to_string() +
                                 " of a new tensor is not wholly known");
  }
  int64_t expected = core::checked_element_count(shape.dims());
  if (static_cast<uint64_t>(expected) != count) {
    core::throw_invalid_argument(
        fmt::format("{} {} were given for a tensor of shape {}, which has "
                    "{}",
                    count, what, shape.to_string(), expected));
  }
  return core::Tensor::empty(dtype, shape.dims());
}

core::Tensor typed_tensor(Handle* handle, DType dtype, const char* use) {
  core::Tensor tensor = eager_tensor(handle, use);
  if (static_cast<DType>(tensor.dtype()) != dtype) {
    core::throw_invalid_argument(fmt::format("the tensor's dtype is {}, not {}",
                                             core::dtype_name(tensor.dtype()), dtype_name(dtype)));
  }
  return tensor;
}

}  // namespace

const char* dtype_name(DType dtype) {
  // Names are literals, which end with a zero.
  return core::dtype_name(static_cast<core::DType>(dtype)).data();
}

size_t dtype_size(DType dtype) {
  auto type = static_cast<core::DType>(dtype);
  return core::kDense.contains(type) && core::dtype_name(type) != "invalid" ? core::dtype_size(type)
                                                                            : 0;
}

Handle* tensor_from_elements(DType dtype, const int64_t* dims, int rank, const void* elements,
                             size_t count, DType to) {
  return guarded([&] {
    core::Tensor tensor = uninitialised(core_dtype(dtype), dims, rank, count, "elements");
    if (count > 0) std::memcpy(tensor.mutable_raw_data(), elements, tensor.byte_size());
    if (to == DType::kInvalid || to == dtype) return handle_of(tensor);
    core::DType target = core_dtype(to);
    if (!core::can_cast(tensor.dtype(), target)) {
      core::throw_invalid_argument(
          fmt::format("{} cannot be converted to {}", dtype_name(dtype), core::dtype_name(target)));
    }
    core::Tensor result = core::Tensor::empty(target, tensor.dims());
    core::cast_elements(tensor.dtype(), tensor.raw_data(), target, result.mutable_raw_data(),
                        tensor.element_count());
    return handle_of(result);
  });
}

Handle* tensor_from_bytes(DType dtype, const int64_t* dims, int rank, const void* bytes,
                          size_t size) {
  return guarded([&] {
    core::DType type = core_dtype(dtype);
    size_t width = dtype_size(dtype);
    if (width == 0) {
      core::throw_invalid_argument(
          fmt::format("elements of dtype {} are no bytes", core::dtype_name(type)));
    }
    if (size % width != 0) {
      core::throw_invalid_argument(
          fmt::format("{} bytes are no whole number of {} elements", size, core::dtype_name(type)));
    }
    core::Tensor tensor = uninitialised(type, dims, rank, size / width, "elements");
    if (size > 0) std::memcpy(tensor.mutable_raw_data(), bytes, size);
    if (type == core::DType::kBool) {
      for (size_t i = 0; i < size; ++i) {
        if (static_cast<const unsigned char*>(bytes)[i] > 1) {
          core::throw_invalid_argument(fmt::format("byte {} of a tensor of bools is {}", i,
                                                   static_cast<const unsigned char*>(bytes)[i]));
        }
      }
    }
    return handle_of(tensor);
  });
}

Handle* make_strings(const int64_t* dims, int rank, const char* const* texts, const size_t* sizes) {
  return guarded([&] {
    core::Tensor tensor =
        core::Tensor::empty(core::DType::kString, std::span(dims, static_cast<size_t>(rank)));
    auto* elements = tensor.mutable_data<core::StringElement>();
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      if (sizes[i] > 0) elements[i].assign(texts[i], sizes[i]);
    }
    return handle_of(tensor);
  });
}

void fail_ragged(size_t row, size_t length, size_t expected) {
  guarded([&] {
    core::throw_invalid_argument(fmt::format(
        "rows must have equally many elements, but row {} has {} and those before it have {}", row,
        length, expected));
  });
  __builtin_unreachable();
}

DType handle_dtype(Handle* handle) {
  return guarded([&] { return static_cast<DType>(core::dtype_of(operand_of(handle))); });
}

int handle_rank(Handle* handle) {
  return guarded([&] { return core::shape_of(operand_of(handle)).rank(); });
}

void handle_dims(Handle* handle, int64_t* dims) {
  guarded([&] {
    core::PartialShape shape = core::shape_of(operand_of(handle));
    for (core::Dim dim : shape.dims()) *dims++ = core::is_known(dim) ? dim : -1;
  });
}

bool is_symbolic(Handle* handle) {
  return guarded([&] { return operand_of(handle).is_value(); });
}

const void* tensor_data(Handle* handle, DType dtype) {
  // The handle's own reference keeps the data.
  return guarded([&] { return typed_tensor(handle, dtype, "for its elements").raw_data(); });
}

const void* tensor_item(Handle* handle, DType dtype) {
  return guarded([&] {
    core::Tensor tensor = typed_tensor(handle, dtype, "for its value");
    if (tensor.element_count() != 1) {
      core::throw_invalid_argument(fmt::format(
          "item() needs a tensor of one element, but its shape is {}", tensor.shape().to_string()));
    }
    return tensor.raw_data();
  });
}

int64_t tensor_size(Handle* handle) {
  return guarded(
      [&] { return eager_tensor(handle, "for its number of elements").element_count(); });
}

bool tensor_truth(Handle* handle) {
  return guarded([&] {
    core::Tensor tensor = eager_tensor(
        handle,
        "as a C++ condition: use gw::cond or gw::while_loop, and & or | instead of && or ||");
    if (tensor.element_count() != 1) {
      core::throw_invalid_argument(
          fmt::format("the truth of a tensor of shape {} is ambiguous: reduce_any and reduce_all "
                      "make one of it",
                      tensor.shape().to_string()));
    }
    if (tensor.dtype() == core::DType::kBool) return *tensor.data<bool>();
    if (!core::can_cast(tensor.dtype(), core::DType::kBool)) {
      core::throw_invalid_argument(
          fmt::format("a {} has no truth value", core::dtype_name(tensor.dtype())));
    }
    bool truth = false;
    core::cast_elements(tensor.dtype(), tensor.raw_data(), core::DType::kBool, &truth, 1);
    return truth;
  });
}

const char* string_element(Handle* handle, int64_t index, size_t* size) {
  return guarded([&] {
    core::Tensor tensor = typed_tensor(handle, DType::kString, "for its strings");
    if (index < 0 || index >= tensor.element_count()) {
      throw core::Error(core::Code::kOutOfRange,
                        fmt::format("index {} is outside of a tensor of {} strings", index,
                                    tensor.element_count()));
    }
    const core::StringElement& text = tensor.data<core::StringElement>()[index];
    *size = text.size();
    return text.data();
  });
}

void tensor_text(Handle* handle, TextSink sink, void* target) {
  if (!handle) return sink(target, "<null tensor>", 13);
  std::string text = guarded([&] {
    core::Operand operand = operand_of(handle);
    if (operand.is_tensor()) return core::tensor_str(operand.tensor());
    const core::Value& value = *operand.value();
    return fmt::format("Tensor(\"{}\", shape={}, dtype={})", core::value_name(value),
                       value.shape().without_symbols().to_string(),
                       core::dtype_name(value.dtype()));
  });
  sink(target, text.data(), text.size());
}

void tensor_name(Handle* handle, TextSink sink, void* target) {
  std::string name = guarded([&] {
    core::Operand operand = operand_of(handle);
    if (operand.is_tensor()) {
      core::throw_invalid_argument("an eager tensor has no name; those of a graph have");
    }
    return core::value_name(*operand.value());
  });
  sink(target, name.data(), name.size());
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
