// Arrays of a list value: every method is an op on the list, named as TensorFlow names it.
#include <exception>
#include <optional>
#include <string>

#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/graph_builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_array.h"
#include "python/tensor_object.h"

namespace graphwright {
namespace {

// An input of a list op: an operand, or what becomes a constant beside the node.
struct Input {
  Input(Operand operand) : operand(std::move(operand)) {}  // NOLINT(google-explicit-constructor)
  Input(PyObject* value, DType dtype, const char* name) : value(value), dtype(dtype), name(name) {
    if (is_tensor_like(value)) operand = operand_of(value);
  }
  Input(Tensor constant, const char* name) : constant(std::move(constant)), name(name) {}

  Operand make(Builder& builder) const {
    if (operand) return operand;
    if (constant) return builder.constant(constant, name);
    return operand_of(value, ConversionOptions{dtype, DType::kInvalid, name});
  }

  Operand operand;
  PyObject* value = nullptr;
  DType dtype = DType::kInvalid;
  Tensor constant;
  const char* name = "";
};

// Constants are made within the scope of the node, which is named as the scope.
Operand list_op(std::string_view op_name, std::string_view node_name,
                std::initializer_list<Input> inputs,
                std::vector<std::pair<std::string_view, AttributeValue>> attributes = {}) {
  const OpDef& op = get_op(op_name);
  Builder& builder = current_builder();
  NameScopeGuard scope(builder, node_name.empty() ? op_name : node_name);
  OperandVector operands, outputs;
  for (const Input& input : inputs) operands.push_back(input.make(builder));
  builder.apply(op, operands, named_attributes(op, std::move(attributes)), outputs, kScopeName);
  return outputs[0];
}

// A shape as list ops take it. That of scalars is a constant outside the node's scope, made now.
Input element_shape_input(const PartialShape& shape) {
  if (!shape.has_rank()) return {Tensor::int32_scalar(-1), "element_shape"};
  std::vector<int32_t> dims;
  for (Dim dim : shape.dims()) dims.push_back(is_known(dim) ? static_cast<int32_t>(dim) : -1);
  Tensor tensor = Tensor::vector<int32_t>(DType::kInt32, dims);
  if (dims.empty()) return current_builder().constant(tensor);
  return {std::move(tensor), "element_shape"};
}

Ref wrapped(const Operand& operand) { return checked_ref(wrap(operand)); }

std::string_view or_default(std::string_view name, std::string_view otherwise) {
  return name.empty() ? otherwise : name;
}

PartialShape row_shape(const Operand& rows) {
  PartialShape shape = shape_of(rows);
  if (!shape.has_rank()) return shape;
  if (shape.rank() == 0) {
    throw_invalid_argument("Tensor must be at least a vector, but saw shape: []");
  }
  return PartialShape(shape.dims().subspan(1));
}

// Tells of a change that nobody can see, since the array that has it is gone.
void warn_of_lost_change(Location location) {
  std::vector<SourceFrame> frames = resolve_location(location);
  if (frames.empty()) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  std::string text =
      "The TensorArray that a write, scatter, unstack or split returned was never used, so the "
      "graph does not make the change (" +
      frames.back().file + ":" + std::to_string(frames.back().line) +
      "). In a graph each of them returns a new array: write `array = array.write(index, value)`.";
  Ref result = Ref::steal(
      PyObject_CallFunction(imported("graphwright.tensor_array", "warn_of_lost_change"), "ssi",
                            text.c_str(), frames.back().file.c_str(), frames.back().line));
  if (!result) PyErr_WriteUnraisable(nullptr);
  PyErr_Restore(type, value, traceback);
}

// Whether nodes are added to the graph of the tensor right now. After an error they are not, when
// the frames are gone that the error kept alive.
bool is_being_built(PyObject* tensor) {
  if (!is_symbolic_tensor(tensor)) return false;
  auto* builder = dynamic_cast<GraphBuilder*>(&current_builder());
  return builder &&
         &builder->graph() == reinterpret_cast<SymbolicTensorObject*>(tensor)->graph.get();
}

// The number of elements as an input of TensorListReserve.
Input size_input(PyObject* size) {
  if (!is_tensor_like(size)) {
    Tensor number = tensor_from_python(size, DType::kInt32);
    if (number.rank() != 0) {
      throw_type_error("Expected int for argument 'num_elements' not " + repr_of(size) + ".");
    }
    return {std::move(number), "num_elements"};
  }
  return {size, DType::kInt32, "num_elements"};
}

}  // namespace

ListTensorArray::ListTensorArray(TensorArrayType type, PyObject* size, PyObject* element_shape,
                                 std::string_view name)
    : TensorArray(type, shape_from_python(element_shape)), size_(Ref::borrow(size)) {
  std::string_view scope = or_default(name, "TensorArrayV2");
  Builder& builder = current_builder();
  NameScopeGuard guard(builder, scope);
  Input shape = element_shape_input(*element_shape_);
  Input count = size_input(size);
  const OpDef& op = get_op("TensorListReserve");
  OperandVector operands, outputs;
  operands.push_back(shape.make(builder));
  operands.push_back(count.make(builder));
  builder.apply(op, operands, named_attributes(op, {{"element_dtype", type.dtype}}), outputs,
                kScopeName);
  flow_ = wrapped(outputs[0]);
}

ListTensorArray::ListTensorArray(TensorArrayType type, PartialShape element_shape, Ref flow,
                                 int64_t static_size)
    : TensorArray(type, std::move(element_shape)), flow_(std::move(flow)) {
  if (static_size >= 0) size_ = checked_ref(PyLong_FromLongLong(static_size));
}

ListTensorArray::ListTensorArray(const ListTensorArray& other, Ref flow)
    : TensorArray(other.type_, PartialShape()), flow_(std::move(flow)), size_(other.size_) {
  element_shape_ = other.element_shape_;
}

ListTensorArray::~ListTensorArray() {
  if (unused_since_ != kNoLocation && std::uncaught_exceptions() == 0 && !PyErr_Occurred() &&
      is_being_built(flow_.get())) {
    warn_of_lost_change(unused_since_);
  }
}

std::unique_ptr<ListTensorArray> ListTensorArray::with_list(const Operand& list) const {
  return std::unique_ptr<ListTensorArray>(new ListTensorArray(*this, wrapped(list)));
}

TensorArray::Changed ListTensorArray::changed(const Operand& list) {
  std::unique_ptr<ListTensorArray> next = with_list(list);
  if (list.is_value()) next->unused_since_ = current_location();
  return next;
}

Operand ListTensorArray::list() {
  mark_used();
  return operand_in(flow_.get());
}

Ref ListTensorArray::flow() {
  mark_used();
  return flow_;
}

Operand ListTensorArray::converted(PyObject* value) const {
  Operand operand = operand_of(value, ConversionOptions{DType::kInvalid, type_.dtype, "value"});
  if (dtype_of(operand) != type_.dtype) {
    throw_invalid_argument("Invalid data types; op elements " +
                           std::string(dtype_name(dtype_of(operand))) + " but list elements " +
                           std::string(dtype_name(type_.dtype)));
  }
  return operand;
}

Ref ListTensorArray::read(PyObject* index, std::string_view name) {
  NameScopeGuard scope(current_builder(), or_default(name, "TensorArrayV2Read"));
  Input shape = element_shape_input(*element_shape_);
  return wrapped(list_op("TensorListGetItem", name,
                         {list(), {index, DType::kInt32, "index"}, shape},
                         {{"element_dtype", type_.dtype}}));
}

int64_t ListTensorArray::static_size() const {
  if (!size_is_fixed()) return -1;
  Tensor known;
  if (!is_tensor_like(size_.get())) {
    known = tensor_from_python(size_.get(), DType::kInt32);
  } else {
    // TensorFlow sees through fewer ops than we could: the traces are alike.
    Operand size = operand_of(size_.get());
    const Node* node = size.is_value() ? size.value()->node : nullptr;
    bool seen =
        !size.is_value() || (node && (node->op->name == "Const" || node->op->name == "Size" ||
                                      node->op->name == "Rank"));
    if (seen) known = constant_value(size);
  }
  return known && known.dtype() == DType::kInt32 ? *known.data<int32_t>() : -1;
}

Ref ListTensorArray::stack(std::string_view name) {
  NameScopeGuard scope(current_builder(), or_default(name, "TensorArrayV2Stack"));
  int64_t count = static_size();
  Input shape = element_shape_input(*element_shape_);
  return wrapped(list_op("TensorListStack", {}, {list(), shape},
                         {{"element_dtype", type_.dtype}, {"num_elements", count}}));
}

Ref ListTensorArray::concat(std::string_view name) {
  PartialShape shape = *element_shape_;
  if (shape.has_rank()) {
    if (shape.rank() == 0) {
      throw_value_error("A TensorArray of scalars cannot be concatenated; use stack().");
    }
    shape.set_dim(0, kUnknownDim);
  }
  Input element_shape = element_shape_input(shape);
  Operand leading_dims =
      current_builder().constant(Tensor::vector<int64_t>(DType::kInt64, std::span<int64_t>()));
  return wrapped(list_op("TensorListConcatV2", name, {list(), element_shape, leading_dims},
                         {{"element_dtype", type_.dtype}}));
}

Ref ListTensorArray::gather(PyObject* indices, std::string_view name) {
  Input shape = element_shape_input(*element_shape_);
  return wrapped(list_op("TensorListGather", name,
                         {list(), {indices, DType::kInt32, "indices"}, shape},
                         {{"element_dtype", type_.dtype}}));
}

Ref ListTensorArray::size(std::string_view name) {
  if (size_is_fixed()) return wrapped(operand_of(size_.get(), DType::kInt32));
  return wrapped(list_op("TensorListLength", name, {list()}));
}

TensorArray::Changed ListTensorArray::write(PyObject* index, PyObject* value,
                                            std::string_view name) {
  NameScopeGuard scope(current_builder(), or_default(name, "TensorArrayV2Write"));
  Operand item = converted(value);
  learn_element_shape(shape_of(item));
  return changed(list_op("TensorListSetItem", name, {list(), {index, DType::kInt32, "index"}, item},
                         {{"resize_if_index_out_of_bounds", type_.dynamic_size}}));
}

TensorArray::Changed ListTensorArray::unstack(PyObject* value, std::string_view name) {
  NameScopeGuard scope(current_builder(), or_default(name, "TensorArrayUnstack"));
  mark_used();
  Operand rows = converted(value);
  PartialShape row = row_shape(rows);
  learn_element_shape(row);
  Input shape = element_shape_input(row);
  return changed(list_op("TensorListFromTensor", {}, {rows, shape}));
}

TensorArray::Changed ListTensorArray::scatter(PyObject* indices, PyObject* value,
                                              std::string_view name) {
  NameScopeGuard scope(current_builder(), or_default(name, "TensorArrayScatter"));
  Operand rows = converted(value);
  learn_element_shape(row_shape(rows));
  return changed(list_op("TensorListScatterIntoExistingList", {},
                         {list(), rows, {indices, DType::kInt32, "indices"}}));
}

TensorArray::Changed ListTensorArray::split(PyObject* value, PyObject* lengths,
                                            std::string_view name) {
  Builder& builder = current_builder();
  NameScopeGuard scope(builder, or_default(name, "TensorArraySplit"));
  mark_used();
  Operand pieces = converted(value);
  Operand counts;
  if (is_tensor_like(lengths) && dtype_of_tensor_like(lengths) == DType::kInt64) {
    counts = operand_of(lengths);
  } else {
    counts = list_op("Cast", {}, {Input(lengths, DType::kInvalid, "x")}, {{"DstT", DType::kInt64}});
  }
  PartialShape shape = shape_of(pieces);
  if (shape.has_rank() && shape.rank() > 0) {
    std::optional<PartialVector> known = partial_constant_vector(counts);
    bool equal = known && !known->values.empty();
    for (size_t i = 0; equal && i < known->values.size(); ++i) {
      equal = known->known[i] && known->values[i] == known->values[0];
    }
    if (equal) {
      shape.set_dim(0, known->values[0]);
      learn_element_shape(shape);
    }
  }
  Input element_shape = element_shape_input(*element_shape_);
  return changed(list_op("TensorListSplit", name, {pieces, element_shape, counts}));
}

TensorArray::Changed ListTensorArray::identity() {
  return changed(current_builder().op("Identity", {list()}));
}

void ListTensorArray::close(std::string_view name) {
  mark_used();
  OperandVector none;
  Builder& builder = current_builder();
  if (!builder.is_eager()) builder.apply(get_op("NoOp"), none, {}, none, name);
}

}  // namespace graphwright
