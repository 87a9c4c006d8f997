// From the dtypes of an op's inputs and its attributes to its type variables, counts and outputs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/small_vector.h"
#include "ir/attribute.h"
#include "ir/operand.h"
#include "ir/value_type.h"
#include "tensor/dtype.h"

namespace graphwright {

struct OpDef;

// How type variables, counts and type lists of a signature are bound. Exporters write them as the
// attributes T, N, Tin... that TensorFlow's NodeDef has.
struct TypeBindings {
  struct Variable {
    std::string_view name;
    DType dtype;
  };
  struct Count {
    std::string_view name;
    int64_t value;
  };
  struct TypeList {
    std::string_view name;
    std::vector<DType> types;
  };
  SmallVector<Variable, 3> variables;
  SmallVector<Count, 2> counts;
  std::vector<TypeList> lists;
  SmallVector<int64_t, 6> input_counts;   // operands per declared input
  SmallVector<int64_t, 4> output_counts;  // values per declared output
  SmallVector<DType, 8> outputs;          // one per value

  DType variable(std::string_view name) const;  // kInvalid if not bound
};

// Which tier asks: the classes and texts of errors differ as TensorFlow's do. Eager:
// InvalidArgument "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor
// but is a int32 tensor [Op:AddV2]". Graph: TypeError "Input 'y' of 'AddV2' Op has type int32 that
// does not match type float32 of argument 'x'."
enum class Tier : uint8_t { kEager, kGraph };

// Unifies type variables over the inputs, checks them against the row's allowed sets, and gives the
// output dtypes. Errors name op and argument; wrong numbers of inputs are errors too.
TypeBindings resolve_types(const OpDef& op, std::span<const DType> inputs,
                           const Attributes& attributes, Tier tier);

// Runs the row's shape rule after resolve_types. Graph tier: what the rule reports as
// InvalidArgument is a ValueError, and every unknown dimension gets a symbol of its own, since each
// SSA value has one shape: equal unknowns then stay equal through the ops that keep them.
std::vector<ValueType> infer_types(const OpDef& op, std::span<const Operand> inputs,
                                   const Attributes& attributes, Tier tier);
// Replaces anonymous unknown dimensions by new symbols.
void name_unknown_dims(PartialShape& shape);

// "float", "double", "half": the names that TensorFlow's run-time errors use.
std::string_view runtime_dtype_name(DType type);

}  // namespace graphwright
