#include "api/variables.h"

#include <fmt/format.h>
#include <graphwright/variable.h>

#include "api/numbers.h"
#include "ir/observer.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "tensor/format.h"
#include "trace/build_context.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {
namespace {

// What is read and written here: for tapes, and for the function being traced.
void notify_use(const std::shared_ptr<core::VariableResource>& variable) {
  core::ThreadState& state = core::thread_state;
  if (state.bits & core::ThreadState::kObserving) {
    std::vector<core::OpObserver*> observers = state.observers;
    for (core::OpObserver* observer : observers) {
      observer->on_variable(variable, variable->trainable());
    }
  }
  core::BuildContext& context = core::current_context();
  if (!context.is_eager()) context.watch_variable(variable);
}

}  // namespace

std::shared_ptr<core::VariableResource> variable_resource(Handle* handle) {
  core::Operand operand = operand_of(handle);
  std::shared_ptr<core::VariableResource> resource;
  if (operand.is_tensor() && operand.tensor().dtype() == core::DType::kResource) {
    resource = std::dynamic_pointer_cast<core::VariableResource>(operand.tensor().object_element());
  }
  if (!resource) core::throw_invalid_argument("this is no variable");
  return resource;
}

core::VariableResource& variable_of(Handle* handle) { return *variable_resource(handle); }

core::Operand read(Handle* handle) {
  std::shared_ptr<core::VariableResource> variable = variable_resource(handle);
  if (core::thread_state.bits == 0) {
    if (core::Tensor value = variable->read()) return value;
  }
  notify_use(variable);
  const core::OpDef& op = core::get_op("ReadVariableOp");
  core::Operand value =
      core::current_builder().op("ReadVariableOp", {operand_of(handle)},
                                 core::named_attributes(op, {{"dtype", variable->dtype()}}));
  if (value.is_value() && !value.value()->type.shape.is_fully_defined()) {
    value.value()->type.shape = value.value()->type.shape.merged_with(variable->shape());
  }
  return value;
}

Handle* make_variable(const Argument& initial, DType dtype, const RawShape* shape, const char* name,
                      bool trainable) {
  return guarded(initial.site, [&] {
    if (!core::current_context().is_eager()) {
      throw core::Error(core::Code::kFailedPrecondition,
                        fmt::format("the variable '{}' is made while a function is traced; make it "
                                    "outside, where it outlives the call, and capture it",
                                    name));
    }
    core::DType wanted = dtype == DType::kInvalid ? core::DType::kInvalid : core_dtype(dtype);
    core::Operand value = tensor_argument(initial, wanted, "initial_value");
    core::Tensor tensor = value.is_tensor() ? value.tensor() : core::Tensor();
    if (!tensor) {
      core::throw_invalid_argument(
          "the initial value is a symbolic tensor of a function that is not being traced");
    }
    if (wanted != core::DType::kInvalid && tensor.dtype() != wanted) {
      core::throw_invalid_argument(fmt::format("the initial value is {}, the variable {}",
                                               core::dtype_name(tensor.dtype()),
                                               core::dtype_name(wanted)));
    }
    core::PartialShape declared = shape ? core_shape(*shape) : tensor.shape();
    if (!declared.is_compatible_with(tensor.shape())) {
      core::throw_invalid_argument(
          fmt::format("the initial value's shape {} does not fit the variable's shape {}",
                      tensor.shape().to_string(), declared.to_string()));
    }
    auto resource =
        std::make_shared<core::VariableResource>(name, tensor.dtype(), declared, trainable);
    resource->assign(tensor.owned()).throw_if_error();
    return handle_of(core::Tensor::object(core::DType::kResource, resource));
  });
}

Handle* read_variable(Handle* variable, Site site) {
  return guarded(site, [&] { return handle_of(read(variable)); });
}

void write_variable(Handle* handle, const char* op_name, const Argument& value) {
  guarded(value.site, [&] {
    std::shared_ptr<core::VariableResource> variable = variable_resource(handle);
    core::Operand operand = tensor_argument(value, variable->dtype(), "value");
    if (core::dtype_of(operand) != variable->dtype()) {
      core::throw_invalid_argument(fmt::format(
          "the variable '{}' holds {}, but was given {}", variable->name(),
          core::dtype_name(variable->dtype()), core::dtype_name(core::dtype_of(operand))));
    }
    core::PartialShape given = core::shape_of(operand).without_symbols();
    if (!variable->shape().is_compatible_with(given)) {
      core::throw_invalid_argument(
          fmt::format("the variable '{}' has shape {}, but was given a value of shape {}",
                      variable->name(), variable->shape().to_string(), given.to_string()));
    }
    notify_use(variable);
    core::current_builder().op_outputs(op_name,
                                       std::vector<core::Operand>{operand_of(handle), operand});
  });
}

DType variable_dtype(Handle* variable) {
  return guarded([&] { return static_cast<DType>(variable_of(variable).dtype()); });
}
int variable_rank(Handle* variable) {
  return guarded([&] { return variable_of(variable).shape().rank(); });
}
void variable_dims(Handle* variable, int64_t* dims) {
  guarded([&] {
    core::PartialShape shape = variable_of(variable).shape();
    for (core::Dim dim : shape.dims()) *dims++ = core::is_known(dim) ? dim : -1;
  });
}
bool variable_trainable(Handle* variable) {
  return guarded([&] { return variable_of(variable).trainable(); });
}

void variable_text(Handle* handle, TextSink sink, void* target) {
  std::string text = guarded([&] {
    core::VariableResource& variable = variable_of(handle);
    core::Tensor value = variable.read();
    return fmt::format("<tf.Variable '{}:0' shape={} dtype={}, numpy={}>", variable.name(),
                       variable.shape().to_string(), core::dtype_name(variable.dtype()),
                       value ? core::format_array_repr(value) : "<uninitialized>");
  });
  sink(target, text.data(), text.size());
}
void variable_name(Handle* handle, TextSink sink, void* target) {
  std::string name = guarded([&] { return variable_of(handle).name(); });
  sink(target, name.data(), name.size());
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
