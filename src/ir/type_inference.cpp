#include "ir/type_inference.h"

#include <string>

#include "base/status.h"
#include "ir/opdef.h"
#include "ir/rule_context.h"

namespace graphwright {
namespace {

constexpr DType kListOrder[] = {
    DType::kBfloat16,  DType::kHalf,       DType::kFloat,      DType::kDouble,
    DType::kUint8,     DType::kInt8,       DType::kUint16,     DType::kInt16,
    DType::kInt32,     DType::kUint32,     DType::kInt64,      DType::kUint64,
    DType::kComplex64, DType::kComplex128, DType::kBool,       DType::kString,
    DType::kResource,  DType::kVariant,    DType::kFloat8E5m2, DType::kFloat8E4m3fn};

std::string allowed_list(DTypeSet allowed, Tier tier) {
  std::string text;
  for (DType type : kListOrder) {
    if (!allowed.contains(type)) continue;
    if (!text.empty()) text += ", ";
    text += tier == Tier::kEager ? runtime_dtype_name(type) : dtype_name(type);
  }
  return text;
}

class Resolver {
 public:
  Resolver(const OpDef& op, std::span<const DType> inputs, const Attributes& attributes, Tier tier)
      : op_(op), signature_(op.signature), inputs_(inputs), attributes_(attributes), tier_(tier) {}

  TypeBindings run() {
    bind_attributes();
    count_inputs();
    size_t at = 0;
    for (size_t i = 0; i < signature_.input_count; ++i) {
      const ArgumentSpec& spec = signature_.inputs[i];
      size_t count = static_cast<size_t>(result_.input_counts[i]);
      if (spec.arity == Arity::kMixed) {
        bind_list(spec, inputs_.subspan(at, count));
      } else {
        for (size_t k = 0; k < count; ++k) bind_input(spec, at + k);
      }
      at += count;
    }
    for (size_t i = 0; i < signature_.output_count; ++i) add_output(signature_.outputs[i]);
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(ErrorKind kind, std::string message, std::string_view argument) {
    Error error = kind == ErrorKind::kOp ? Error(Code::kInvalidArgument, std::move(message))
                                         : Error(kind, std::move(message));
    error.detail().code = Code::kInvalidArgument;
    error.with_op(op_.name).with_argument(argument);
    throw error;
  }
  ErrorKind type_error() const {
    return tier_ == Tier::kEager ? ErrorKind::kOp : ErrorKind::kTypeError;
  }

  // Type attributes fix variables, int attributes fix counts, type lists fix lists.
  void bind_attributes() {
    for (int i = 0; i < signature_.attribute_count; ++i) {
      const AttributeSpec& spec = signature_.attributes[static_cast<size_t>(i)];
      const AttributeValue* value = nullptr;
      switch (spec.kind) {
        case AttributeKind::kType:
          if (!(value = find_attribute(op_, attributes_, i))) break;
          if (const DType* type = std::get_if<DType>(value)) {
            check_allowed(spec.name, *type, spec.name);
            result_.variables.push_back({spec.name, *type});
          }
          break;
        case AttributeKind::kInt:
          if (!(value = find_attribute(op_, attributes_, i))) break;
          if (const int64_t* count = std::get_if<int64_t>(value)) {
            result_.counts.push_back({spec.name, *count});
          }
          break;
        case AttributeKind::kTypeList:
          if (!(value = find_attribute(op_, attributes_, i))) break;
          if (const auto* types = std::get_if<std::vector<DType>>(value)) {
            result_.lists.push_back({spec.name, *types});
          }
          break;
        default:
          break;
      }
    }
  }

  const int64_t* find_count(std::string_view name) const {
    for (const auto& count : result_.counts) {
      if (count.name == name) return &count.value;
    }
    return nullptr;
  }
  const std::vector<DType>* find_list(std::string_view name) const {
    for (const auto& list : result_.lists) {
      if (list.name == name) return &list.types;
    }
    return nullptr;
  }

  void count_inputs() {
    auto given = static_cast<int64_t>(inputs_.size());
    int64_t fixed = 0;
    int open = 0;  // variadic inputs whose count is still to be found; they share it
    for (size_t i = 0; i < signature_.input_count; ++i) {
      const ArgumentSpec& spec = signature_.inputs[i];
      int64_t count = 1;
      if (spec.arity == Arity::kCounted) {
        const int64_t* known = find_count(spec.count);
        count = known ? *known : -1;
      } else if (spec.arity == Arity::kMixed) {
        const std::vector<DType>* known = find_list(spec.type);
        count = known ? static_cast<int64_t>(known->size()) : -1;
      }
      if (count < 0) {
        ++open;
      } else {
        fixed += count;
      }
      result_.input_counts.push_back(count);
    }
    int64_t rest = given - fixed;
    if (rest < 0 || (open == 0 ? rest != 0 : rest % open != 0)) {
      std::string wanted = open ? "at least " + std::to_string(fixed) : std::to_string(fixed);
      fail(tier_ == Tier::kEager ? ErrorKind::kOp : ErrorKind::kTypeError,
           "Op " + std::string(op_.name) + " takes " + wanted + " inputs, but " +
               std::to_string(given) + " were given",
           "");
    }
    for (size_t i = 0; i < signature_.input_count; ++i) {
      int64_t& count = result_.input_counts[i];
      if (count >= 0) continue;
      count = rest / open;
      const ArgumentSpec& spec = signature_.inputs[i];
      if (spec.arity == Arity::kCounted && !find_count(spec.count)) {
        result_.counts.push_back({spec.count, count});
      }
    }
  }

  void bind_list(const ArgumentSpec& spec, std::span<const DType> types) {
    if (const std::vector<DType>* known = find_list(spec.type)) {
      for (size_t k = 0; k < types.size(); ++k) {
        if ((*known)[k] == types[k]) continue;
        fail(type_error(),
             "Op " + std::string(op_.name) + ": element " + std::to_string(k) + " of '" +
                 std::string(spec.name) + "' has type " + std::string(dtype_name(types[k])) +
                 " where " + std::string(spec.type) + " says " +
                 std::string(dtype_name((*known)[k])),
             spec.name);
      }
      return;
    }
    result_.lists.push_back({spec.type, {types.begin(), types.end()}});
  }

  // A type variable or attribute of whatever case, such as `dtype` in "value: dtype; dtype: type":
  // all that is no dtype's name.
  bool is_variable(const ArgumentSpec& spec) const {
    return spec.is_variable() || dtype_from_name(spec.type) == DType::kInvalid;
  }

  void bind_input(const ArgumentSpec& spec, size_t position) {
    DType type = inputs_[position];
    if (!is_variable(spec)) {
      DType wanted = dtype_from_name(spec.type);
      if (type != wanted) mismatch(spec, position, wanted, nullptr);
      return;
    }
    for (const auto& variable : result_.variables) {
      if (variable.name != spec.type) continue;
      if (variable.dtype != type) mismatch(spec, position, variable.dtype, fixing_input(spec));
      return;
    }
    check_allowed(spec.type, type, spec.name);
    result_.variables.push_back({spec.type, type});
  }

  // The input that bound the type variable of `spec`, or null if an attribute did.
  const ArgumentSpec* fixing_input(const ArgumentSpec& spec) const {
    int attribute = signature_.attribute_index(spec.type);
    if (attribute >= 0 && find_attribute(op_, attributes_, attribute)) return nullptr;
    for (size_t i = 0; i < signature_.input_count; ++i) {
      if (signature_.inputs[i].type == spec.type) return &signature_.inputs[i];
    }
    return nullptr;
  }

  [[noreturn]] void mismatch(const ArgumentSpec& spec, size_t position, DType wanted,
                             const ArgumentSpec* fixed_by) {
    DType given = inputs_[position];
    if (tier_ == Tier::kEager) {
      fail(ErrorKind::kOp,
           "cannot compute " + std::string(op_.name) + " as input #" + std::to_string(position) +
               "(zero-based) was expected to be a " + std::string(runtime_dtype_name(wanted)) +
               " tensor but is a " + std::string(runtime_dtype_name(given)) + " tensor",
           spec.name);
    }
    std::string start = "Input '" + std::string(spec.name) + "' of '" + std::string(op_.name) +
                        "' Op has type " + std::string(dtype_name(given)) + " that does not match ";
    if (fixed_by && fixed_by != &spec) {
      fail(ErrorKind::kTypeError,
           start + "type " + std::string(dtype_name(wanted)) + " of argument '" +
               std::string(fixed_by->name) + "'.",
           spec.name);
    }
    if (spec.arity == Arity::kCounted) {
      fail(ErrorKind::kTypeError,
           "Tensors in list passed to '" + std::string(spec.name) + "' of '" +
               std::string(op_.name) +
               "' Op have types that don't all match: " + std::string(dtype_name(given)) +
               " where the first is " + std::string(dtype_name(wanted)) + ".",
           spec.name);
    }
    fail(ErrorKind::kTypeError, start + "expected type of " + std::string(dtype_name(wanted)) + ".",
         spec.name);
  }

  void check_allowed(std::string_view variable, DType type, std::string_view argument) {
    DTypeSet allowed = op_.allowed_types(variable);
    if (allowed.contains(type)) return;
    if (tier_ == Tier::kEager) {
      fail(ErrorKind::kOp,
           "Value for attr '" + std::string(variable) + "' of " +
               std::string(runtime_dtype_name(type)) + " is not in the list of allowed values: " +
               allowed_list(allowed, tier_) + "; Op<name=" + std::string(op_.name) + ">",
           argument);
    }
    fail(ErrorKind::kTypeError,
         "Value passed to parameter '" + std::string(argument) + "' has DataType " +
             std::string(dtype_name(type)) +
             " not in list of allowed values: " + allowed_list(allowed, tier_),
         argument);
  }

  void add_output(const ArgumentSpec& spec) {
    if (spec.arity == Arity::kMixed) {
      const std::vector<DType>* types = find_list(spec.type);
      if (!types) unbound(spec, spec.type);
      result_.outputs.append(*types);
      result_.output_counts.push_back(static_cast<int64_t>(types->size()));
      return;
    }
    int64_t count = 1;
    if (spec.arity == Arity::kCounted) {
      const int64_t* known = find_count(spec.count);
      if (!known) unbound(spec, spec.count);
      count = *known;
      if (count < 0) {
        fail(type_error(),
             "Op " + std::string(op_.name) + ": " + std::string(spec.count) +
                 " must not be negative, but is " + std::to_string(count),
             spec.count);
      }
    }
    DType type = is_variable(spec) ? result_.variable(spec.type) : dtype_from_name(spec.type);
    if (type == DType::kInvalid) unbound(spec, spec.type);
    result_.outputs.append(static_cast<size_t>(count), type);
    result_.output_counts.push_back(count);
  }

  [[noreturn]] void unbound(const ArgumentSpec& spec, std::string_view what) {
    fail(type_error(),
         "Op " + std::string(op_.name) + ": neither an input nor an attribute says what " +
             std::string(what) + " of output '" + std::string(spec.name) + "' is",
         what);
  }

  const OpDef& op_;
  const Signature& signature_;
  std::span<const DType> inputs_;
  const Attributes& attributes_;
  Tier tier_;
  TypeBindings result_;
};

}  // namespace

DType TypeBindings::variable(std::string_view name) const {
  for (const Variable& variable : variables) {
    if (variable.name == name) return variable.dtype;
  }
  return DType::kInvalid;
}

TypeBindings resolve_types(const OpDef& op, std::span<const DType> inputs,
                           const Attributes& attributes, Tier tier) {
  return Resolver(op, inputs, attributes, tier).run();
}

void name_unknown_dims(PartialShape& shape) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.dim(i) == kUnknownDim) shape.set_dim(i, new_symbol());
  }
}

std::vector<ValueType> infer_types(const OpDef& op, std::span<const Operand> inputs,
                                   const Attributes& attributes, Tier tier) {
  SmallVector<DType, 8> dtypes;
  for (const Operand& input : inputs) dtypes.push_back(dtype_of(input));
  TypeBindings bindings = resolve_types(op, dtypes.span(), attributes, tier);
  std::vector<ValueType> outputs(bindings.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].dtype = bindings.outputs[i];
  try {
    if (op.shape) {
      ShapeContext context(op, attributes, inputs, outputs);
      op.shape.function()(context);
    }
  } catch (Error& error) {
    error.with_op(op.name);
    if (tier == Tier::kGraph && error.detail().kind == ErrorKind::kOp &&
        error.detail().code == Code::kInvalidArgument) {
      error.detail().kind = ErrorKind::kValueError;
    }
    throw;
  }
  if (tier == Tier::kGraph) {
    for (ValueType& output : outputs) name_unknown_dims(output.shape);
  }
  return outputs;
}

std::string_view runtime_dtype_name(DType type) {
  switch (type) {
    case DType::kFloat:
      return "float";
    case DType::kDouble:
      return "double";
    case DType::kHalf:
      return "half";
    default:
      return dtype_name(type);
  }
}

}  // namespace graphwright
