// Bindings of src/autodiff: the tape and the forward accumulator. The public classes, with their
// checks of structures, are in graphwright/gradients.py.
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include "autodiff/forward.h"
#include "autodiff/tape.h"
#include "base/status.h"
#include "ir/thread_state.h"
#include "python/errors.h"
#include "python/tensor_object.h"
#include "python/variable_object.h"
#include "trace/custom_gradient.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

// A source or watched value: a variable stands for its handle.
Operand source_of(nb::handle value) {
  if (is_variable(value.ptr())) return variable_handle(value.ptr());
  if (is_tensor(value.ptr())) return operand_in(value.ptr());
  return operand_of(value.ptr());
}

OperandVector sources_of(const nb::list& values) {
  OperandVector operands;
  for (nb::handle value : values) operands.push_back(source_of(value));
  return operands;
}

// None, a tensor, or (values, indices, dense_shape).
nb::object wrap_gradient(const Gradient& gradient) {
  if (!gradient) return nb::none();
  nb::object values = nb::steal(wrap(gradient.values));
  if (!gradient.is_indexed_slices()) return values;
  return nb::make_tuple(values, nb::steal(wrap(gradient.indices)),
                        nb::steal(wrap(gradient.dense_shape)));
}

Gradient unwrap_gradient(nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance<nb::tuple>(value)) {
    nb::tuple parts = nb::borrow<nb::tuple>(value);
    return {operand_of(parts[0].ptr()), operand_of(parts[1].ptr()), operand_of(parts[2].ptr())};
  }
  return {operand_of(value.ptr()), {}, {}};
}

// Keeps a Python function for as long as a tape may call it, from whatever thread drops it.
class PythonGradient {
 public:
  explicit PythonGradient(nb::object function) : function_(function.release().ptr()) {}
  PythonGradient(const PythonGradient&) = delete;
  PythonGradient& operator=(const PythonGradient&) = delete;
  ~PythonGradient() {
    GilHold hold;
    Py_DECREF(function_);
  }
  std::vector<Gradient> operator()(std::span<const Gradient> gradients) const {
    nb::list arguments;
    for (const Gradient& gradient : gradients) arguments.append(wrap_gradient(gradient));
    Ref result = checked_ref(PyObject_CallFunctionObjArgs(function_, arguments.ptr(), nullptr));
    std::vector<Gradient> results;
    for (nb::handle item : nb::borrow<nb::list>(result.get())) {
      results.push_back(unwrap_gradient(item));
    }
    return results;
  }

 private:
  PyObject* function_;
};

// Hides every observer but one tape between enter and leave.
class OnlyTape {
 public:
  explicit OnlyTape(GradientTape& tape) : tape_(tape) {}
  void enter() {
    pause_ = std::make_unique<ObserverPause>();
    push_observer(&tape_);
  }
  void leave() {
    remove_observer(&tape_);
    pause_.reset();
  }

 private:
  GradientTape& tape_;
  std::unique_ptr<ObserverPause> pause_;
};

}  // namespace

void bind_autodiff(nb::module_& module) {
  nb::class_<GradientTape>(module, "GradientTape")
      .def(nb::init<bool, bool>(), nb::arg("persistent"), nb::arg("watch_accessed_variables"))
      .def("start", &GradientTape::start)
      .def("stop", &GradientTape::stop)
      .def("reset", &GradientTape::reset)
      .def_prop_ro("recording", &GradientTape::recording)
      .def_prop_ro("persistent", &GradientTape::persistent)
      .def("watch", [](GradientTape& self, nb::handle value) { self.watch(source_of(value)); })
      .def("watched_variables",
           [](GradientTape& self) {
             nb::list variables;
             for (const auto& resource : self.watched_variables()) {
               nb::object variable =
                   nb::steal(variable_of_handle(Tensor::object(DType::kResource, resource)));
               if (variable) variables.append(variable);
             }
             return variables;
           })
      .def(
          "gradient",
          [](GradientTape& self, const nb::list& targets, const nb::list& target_gradients,
             const nb::list& sources, bool keep_steps) {
            OperandVector target_operands, gradient_operands;
            for (nb::handle target : targets) target_operands.push_back(source_of(target));
            for (nb::handle gradient : target_gradients) {
              gradient_operands.push_back(gradient.is_none() ? Operand()
                                                             : operand_of(gradient.ptr()));
            }
            nb::list results;
            for (const Gradient& gradient : self.gradient(target_operands, gradient_operands,
                                                          sources_of(sources), keep_steps)) {
              results.append(wrap_gradient(gradient));
            }
            return results;
          },
          nb::arg("targets"), nb::arg("target_gradients"), nb::arg("sources"),
          nb::arg("keep_steps") = false,
          "One gradient per source: None, a tensor, or (values, indices, dense_shape).");
  module.def("record_custom_gradient",
             [](const nb::list& inputs, const nb::list& outputs, nb::object function) {
               OperandVector input_operands = sources_of(inputs);
               OperandVector output_operands = sources_of(outputs);
               auto kept = std::make_shared<PythonGradient>(std::move(function));
               for (GradientTape* tape : recording_tapes()) {
                 tape->record_custom(
                     input_operands, output_operands,
                     [kept](std::span<const Gradient> gradients) { return (*kept)(gradients); });
               }
             });
  module.def(
      "call_with_custom_gradient",
      [](const nb::list& inputs, const nb::list& results, nb::object function) {
        PythonGradient gradient(std::move(function));
        nb::list outputs;
        for (const Operand& output : call_with_custom_gradient(
                 sources_of(inputs), sources_of(results),
                 [&](std::span<const Gradient> upstream) { return gradient(upstream); })) {
          outputs.append(nb::steal(wrap(output)));
        }
        return outputs;
      },
      "The results, as tensors of the graph being built whose gradient is the function's.");
  nb::class_<OnlyTape>(module, "OnlyTape")
      .def(nb::init<GradientTape&>(), nb::keep_alive<1, 2>())
      .def("enter", &OnlyTape::enter)
      .def("leave", &OnlyTape::leave);
  module.def("recording_tape_count", [] { return recording_tapes().size(); });
  nb::class_<ForwardAccumulator>(module, "ForwardAccumulator")
      .def(
          "__init__",
          [](ForwardAccumulator* self, const nb::list& primals, const nb::list& tangents) {
            OperandVector tangent_operands;
            for (nb::handle tangent : tangents) {
              tangent_operands.push_back(tangent.is_none() ? Operand() : operand_of(tangent.ptr()));
            }
            new (self) ForwardAccumulator(sources_of(primals), tangent_operands);
          })
      .def("start", &ForwardAccumulator::start)
      .def("stop", &ForwardAccumulator::stop)
      .def("tangent", [](ForwardAccumulator& self, nb::handle primal) -> nb::object {
        Operand tangent = self.tangent(source_of(primal));
        return tangent ? nb::steal(wrap(tangent)) : nb::none();
      });
}

}  // namespace graphwright
