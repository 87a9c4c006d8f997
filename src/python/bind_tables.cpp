// The op table and the function table as Python sees them: plain dictionaries, from which the
// coverage page and the generated tests are made.
#include <string_view>

#include <nanobind/nanobind.h>

#include "ir/functiondef.h"
#include "ir/opdef.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

nb::str text(std::string_view value) { return nb::str(value.data(), value.size()); }

// True where the row has the rule, else the reason why it has none.
template <class Function>
nb::object rule(const Rule<Function>& rule) {
  if (rule) return nb::bool_(true);
  return nb::str(rule.reason() ? rule.reason() : "");
}

nb::object optional_text(const char* value) {
  return value ? nb::object(nb::str(value)) : nb::none();
}

std::string_view name_of(ComputeKind kind) {
  switch (kind) {
    case ComputeKind::kNone:
      return "none";
    case ComputeKind::kFormula:
      return "formula";
    case ComputeKind::kIndexMap:
      return "index map";
    case ComputeKind::kReduction:
      return "reduction";
    case ComputeKind::kLibrary:
      return "library";
    case ComputeKind::kControl:
      return "control";
    case ComputeKind::kEffect:
      return "effect";
  }
  return "none";
}

nb::list names_of(DTypeSet set) {
  nb::list names;
  for (int i = 1; i < kDTypeCount; ++i) {
    auto dtype = static_cast<DType>(i);
    std::string_view name = dtype_name(dtype);
    if (set.contains(dtype) && name != "invalid") names.append(text(name));
  }
  return names;
}

nb::dict types_of(const std::array<TypeConstraint, 4>& constraints) {
  nb::dict types;
  for (const TypeConstraint& constraint : constraints) {
    if (!constraint.variable.empty())
      types[text(constraint.variable)] = names_of(constraint.allowed);
  }
  return types;
}

nb::list traits_of(const OpDef& op) {
  static constexpr std::pair<Trait, const char*> kNames[] = {{kPure, "pure"},
                                                             {kElementwise, "elementwise"},
                                                             {kCommutative, "commutative"},
                                                             {kStateful, "stateful"},
                                                             {kHasBlocks, "has blocks"},
                                                             {kMayFail, "may fail"},
                                                             {kZeroDerivative, "zero derivative"}};
  nb::list traits;
  for (const auto& [trait, name] : kNames) {
    if (op.has(trait)) traits.append(name);
  }
  return traits;
}

nb::list inputs_of(const Signature& signature) {
  nb::list inputs;
  for (size_t i = 0; i < signature.input_count; ++i) {
    const ArgumentSpec& spec = signature.inputs[i];
    nb::dict input;
    input["name"] = text(spec.name);
    input["type"] = text(spec.type);
    input["is_list"] = spec.arity != Arity::kSingle;
    inputs.append(input);
  }
  return inputs;
}

nb::dict op_row(const OpDef& op) {
  nb::dict row;
  row["name"] = text(op.name);
  row["signature"] = text(op.signature.text);
  row["inputs"] = inputs_of(op.signature);
  row["doc"] = text(op.doc);
  row["python_names"] = text(op.python_names).attr("split")();
  row["types"] = types_of(op.types);
  row["traits"] = traits_of(op);
  row["compute"] = text(name_of(op.compute.kind));
  row["gradient"] = rule(op.gradient);
  row["forward"] = rule(op.forward);
  row["batching"] = rule(op.batching);
  row["reference"] = optional_text(op.reference.numpy);
  row["no_reference_because"] = optional_text(op.reference.reason);
  row["domain"] = nb::make_tuple(op.reference.low, op.reference.high);
  bool second = op.reference.second_low != 0 || op.reference.second_high != 0;
  row["second_domain"] =
      second ? nb::object(nb::make_tuple(op.reference.second_low, op.reference.second_high))
             : nb::none();
  row["no_gradient_check"] = op.reference.no_gradient_check;
  return row;
}

nb::dict function_row(const FunctionDef& function) {
  nb::dict row;
  row["names"] = text(function.names).attr("split")();
  row["signature"] = text(function.signature);
  row["doc"] = text(function.doc);
  row["types"] = types_of(function.types);
  return row;
}

}  // namespace

void bind_tables(nb::module_& module) {
  module.def(
      "op_rows",
      [] {
        nb::list rows;
        for (const OpDef* op : all_ops()) rows.append(op_row(*op));
        return rows;
      },
      "Every row of the op table, as a dictionary.");
  module.def(
      "function_rows",
      [] {
        nb::list rows;
        for (const FunctionDef* function : all_functions()) rows.append(function_row(*function));
        return rows;
      },
      "Every row of the function table, as a dictionary.");
}

}  // namespace graphwright
