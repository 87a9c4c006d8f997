// Eager arrays: a table of tensors that writes change, as TensorFlow's are.
#include <string>

#include "ir/builder.h"
#include "ir/functiondef.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_array.h"
#include "python/tensor_object.h"

namespace graphwright {
namespace {

[[noreturn]] void throw_out_of_range(std::string message) {
  throw Error(Code::kOutOfRange, std::move(message));
}

// An index or size that is known now.
int64_t known_integer(PyObject* value, const char* what) {
  if (is_symbolic_tensor(value)) {
    throw_type_error(
        std::string("A TensorArray that was made outside of the function cannot take ") + what +
        " that is only known when the graph runs, " + repr_of(value) +
        ". Make a new TensorArray inside the function.");
  }
  Ref number = Ref::borrow(value);
  if (is_tensor_like(value)) number = Ref::steal(tensor_to_numpy(eager_tensor_of(value)));
  Ref index = Ref::steal(PyNumber_Index(number.get()));
  if (!index) throw_python_error();
  long long result = PyLong_AsLongLong(index.get());
  if (result == -1 && PyErr_Occurred()) throw_python_error();
  return result;
}

class EagerTensorArray : public TensorArray {
 public:
  EagerTensorArray(TensorArrayType type, PartialShape element_shape, int64_t size,
                   bool clear_after_read)
      : TensorArray(type, std::move(element_shape)),
        elements_(static_cast<size_t>(std::max<int64_t>(size, 0))),
        clear_after_read_(clear_after_read) {}

  Ref read(PyObject* index, std::string_view /*name*/) override {
    int64_t position = known_integer(index, "an index");
    if (position < 0) {
      throw_out_of_range("Reading from negative indices (index " + std::to_string(position) +
                         ") is not allowed.");
    }
    if (position >= count()) {
      throw_out_of_range("Tried to read from index " + std::to_string(position) +
                         " but array size is: " + std::to_string(count()) + " ");
    }
    size_t at = static_cast<size_t>(position);
    if (!elements_[at] && at < was_read_.size() && was_read_[at]) {
      throw_invalid_argument("Could not read index " + std::to_string(position) +
                             " twice because it was cleared after a previous read (perhaps try "
                             "setting clear_after_read = false?)");
    }
    Ref element = element_or_zeros(at);
    if (clear_after_read_) {
      elements_[at] = Ref();
      if (at >= was_read_.size()) was_read_.resize(elements_.size());
      was_read_[at] = true;
    }
    return element;
  }

  Ref stack(std::string_view /*name*/) override {
    if (elements_.empty()) {
      if (!element_shape_->is_fully_defined())
        return wrapped(Tensor::zeros(type_.dtype, vector(0)));
      std::vector<int64_t> dims = vector(0);
      dims.insert(dims.end(), element_shape_->dims().begin(), element_shape_->dims().end());
      return wrapped(Tensor::zeros(type_.dtype, dims));
    }
    return packed(all_elements());
  }

  Ref concat(std::string_view /*name*/) override {
    OperandVector operands = all_elements();
    if (operands.empty()) {
      throw_invalid_argument("A TensorArray without elements cannot be concatenated.");
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      PartialShape shape = shape_of(operands[i]);
      if (shape.has_rank() && shape.rank() == 0) {
        throw_invalid_argument("Concat saw a scalar shape at index " + std::to_string(i) +
                               " but requires at least vectors.");
      }
    }
    // One element is itself; the op wants two.
    if (operands.size() == 1) return wrapped(operands[0]);
    Builder& builder = current_builder();
    operands.push_back(Tensor::int32_scalar(0));
    return wrapped(builder.op("ConcatV2", operands));
  }

  Ref gather(PyObject* indices, std::string_view /*name*/) override {
    OperandVector operands;
    for (int64_t index : known_integers(indices)) {
      int64_t position = index < 0 ? index + count() : index;  // as Python counts
      if (position < 0 || position >= count()) {
        throw Error(ErrorKind::kIndexError, "index " + std::to_string(index) +
                                                " is out of range for a TensorArray of size " +
                                                std::to_string(count()));
      }
      operands.push_back(operand_of(element_or_zeros(static_cast<size_t>(position)).get()));
    }
    if (operands.empty()) return wrapped(Tensor::zeros(DType::kFloat, vector(0)));
    return packed(operands);
  }

  Ref size(std::string_view /*name*/) override {
    return wrapped(Tensor::int32_scalar(static_cast<int32_t>(count())));
  }

  Changed write(PyObject* index, PyObject* value, std::string_view /*name*/) override {
    write_element(known_integer(index, "an index"), value);
    return nullptr;
  }

  Changed unstack(PyObject* value, std::string_view /*name*/) override {
    Operand rows = converted(value);
    PartialShape shape = shape_of(rows);
    if (!shape.has_rank() || shape.rank() == 0 || !is_known(shape.dim(0))) {
      throw_value_error(
          "A TensorArray can only be unstacked from a tensor with a known first "
          "dimension, not one of shape " +
          shape.to_string());
    }
    int64_t rows_count = shape.dim(0);
    if (rows_count > count() && !type_.dynamic_size) {
      throw_value_error("Cannot unstack " + std::to_string(rows_count) +
                        " tensors into a TensorArray of static size " + std::to_string(count()) +
                        " ");
    }
    elements_ = rows_of(rows, rows_count);
    return nullptr;
  }

  Changed scatter(PyObject* indices, PyObject* value, std::string_view /*name*/) override {
    Operand rows = converted(value);
    PartialShape shape = shape_of(rows);
    if (!shape.has_rank() || shape.rank() == 0 || !is_known(shape.dim(0))) {
      throw_value_error(
          "A TensorArray can only be scattered from a tensor with a known first "
          "dimension, not one of shape " +
          shape.to_string());
    }
    std::vector<Ref> elements = rows_of(rows, shape.dim(0));
    std::vector<int64_t> positions = known_integers(indices);
    for (size_t i = 0; i < positions.size() && i < elements.size(); ++i) {
      write_element(positions[i], elements[i].get());
    }
    return nullptr;
  }

  Changed split(PyObject* value, PyObject* lengths, std::string_view /*name*/) override {
    Operand operand = converted(value);
    Tensor sizes = eager_tensor_of(lengths);
    if (sizes.rank() != 1) {
      throw_invalid_argument(
          "Expected lengths to be a vector, received shape: " + list_text(sizes.shape()) + " ");
    }
    std::vector<int64_t> counts = known_integers(lengths);
    PartialShape shape = shape_of(operand);
    if (shape.has_rank() && shape.rank() == 0) {
      throw_invalid_argument("Expected value to be at least a vector, but received shape: [] ");
    }
    int64_t total = 0;
    for (int64_t size : counts) total += size;
    if (shape.has_rank() && is_known(shape.dim(0)) && total != shape.dim(0)) {
      throw_invalid_argument(
          "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is " +
          std::to_string(total) + " and value's shape is: " + list_text(shape) + " ");
    }
    if (!type_.dynamic_size && static_cast<int64_t>(counts.size()) != count()) {
      throw_invalid_argument("TensorArray's size is not equal to the size of lengths (" +
                             std::to_string(count()) + " vs. " + std::to_string(counts.size()) +
                             "), and the TensorArray is not marked as dynamically resizeable.");
    }
    elements_.clear();
    if (counts.empty()) return nullptr;
    const OpDef& op = get_op("SplitV");
    OperandVector parts, inputs{operand, sizes, Tensor::int32_scalar(0)};
    current_builder().apply(
        op, inputs, named_attributes(op, {{"num_split", static_cast<int64_t>(counts.size())}}),
        parts);
    for (const Operand& part : parts) elements_.push_back(wrapped(part));
    return nullptr;
  }

  Changed identity() override { return nullptr; }
  void close(std::string_view /*name*/) override { elements_.clear(); }
  Ref flow() override { return wrapped(Tensor::int32_scalar(0)); }
  bool is_list() const override { return false; }
  int64_t static_size() const override { return type_.dynamic_size ? -1 : count(); }

  // One op makes the list where all elements are there and alike; else they are written one by one.
  Operand list() override {
    Builder& builder = current_builder();
    Operand shape = builder.constant(element_shape_tensor());
    bool alike = !elements_.empty();
    for (const Ref& element : elements_) {
      alike = alike && element && shape_of(operand_in(element.get())).is_fully_defined() &&
              shape_of(operand_in(element.get())) == shape_of(operand_in(elements_[0].get()));
    }
    if (alike)
      return builder.op("TensorListFromTensor", {builder.op("Pack", all_elements()), shape});
    const OpDef& reserve = get_op("TensorListReserve");
    OperandVector made,
        inputs{shape, builder.constant(Tensor::int32_scalar(static_cast<int32_t>(count())))};
    builder.apply(reserve, inputs, named_attributes(reserve, {{"element_dtype", type_.dtype}}),
                  made);
    Operand list = made[0];
    for (size_t i = 0; i < elements_.size(); ++i) {
      if (!elements_[i]) continue;
      Operand index = builder.constant(Tensor::int32_scalar(static_cast<int32_t>(i)));
      list = builder.op("TensorListSetItem", {list, index, operand_in(elements_[i].get())});
    }
    return list;
  }

 private:
  Tensor element_shape_tensor() const {
    if (!element_shape_->has_rank()) return Tensor::int32_scalar(-1);
    std::vector<int32_t> dims;
    for (Dim dim : element_shape_->dims()) {
      dims.push_back(is_known(dim) ? static_cast<int32_t>(dim) : -1);
    }
    return Tensor::vector<int32_t>(DType::kInt32, dims);
  }
  int64_t count() const { return static_cast<int64_t>(elements_.size()); }
  static std::vector<int64_t> vector(int64_t length) { return {length}; }
  static Ref wrapped(const Operand& operand) { return checked_ref(wrap(operand)); }
  static std::string list_text(const PartialShape& shape) {
    std::string text = "[";
    for (int i = 0; i < shape.rank(); ++i) {
      text += (i > 0 ? ", " : "") +
              (is_known(shape.dim(i)) ? std::to_string(shape.dim(i)) : std::string("None"));
    }
    return text + "]";
  }

  void check_dtype(const Operand& operand) const {
    if (dtype_of(operand) != type_.dtype) {
      throw_invalid_argument("TensorArray dtype is " + std::string(dtype_name(type_.dtype)) +
                             " but Op is trying to write dtype " +
                             std::string(dtype_name(dtype_of(operand))) + " ");
    }
  }
  Operand converted(PyObject* value) const {
    Operand operand = operand_of(value, {DType::kInvalid, type_.dtype, "value"});
    check_dtype(operand);
    return operand;
  }
  static std::vector<int64_t> known_integers(PyObject* values) {
    if (is_symbolic_tensor(values)) known_integer(values, "indices");
    std::vector<int64_t> result;
    Ref iterable = Ref::borrow(values);
    if (is_tensor_like(values)) iterable = Ref::steal(tensor_to_numpy(eager_tensor_of(values)));
    Ref iterator = checked_ref(PyObject_GetIter(iterable.get()));
    while (Ref item = Ref::steal(PyIter_Next(iterator.get()))) {
      result.push_back(known_integer(item.get(), "indices"));
    }
    if (PyErr_Occurred()) throw_python_error();
    return result;
  }

  std::vector<Ref> rows_of(const Operand& tensor, int64_t count) const {
    std::vector<Ref> elements;
    if (count == 0) return elements;
    const OpDef& op = get_op("Unpack");
    OperandVector rows, inputs{tensor};
    current_builder().apply(op, inputs, named_attributes(op, {{"num", count}}), rows);
    for (const Operand& row : rows) elements.push_back(wrapped(row));
    return elements;
  }

  void write_element(int64_t position, PyObject* value) {
    if (position < 0) {
      throw_out_of_range("Writing to negative indices (index " + std::to_string(position) +
                         ") is not allowed.");
    }
    if (position >= count() && !type_.dynamic_size) {
      throw_out_of_range("Tried to write to index " + std::to_string(position) +
                         " but array is not resizeable and size is: " + std::to_string(count()) +
                         " ");
    }
    Ref element = is_tensor(value) ? Ref::borrow(value) : wrapped(converted(value));
    const Operand& operand = operand_in(element.get());
    check_dtype(operand);
    PartialShape shape = shape_of(operand);
    if (!element_shape_->is_compatible_with(shape)) {
      throw_value_error("Incompatible shape for value (" + shape.to_string() + "), expected (" +
                        element_shape_->to_string() + ")");
    }
    if (type_.infer_shape) learn_element_shape(shape);
    size_t at = static_cast<size_t>(position);
    if (at >= elements_.size()) elements_.resize(at + 1);
    elements_[at] = std::move(element);
  }

  Ref element_or_zeros(size_t index) {
    if (!elements_[index]) {
      if (!element_shape_->is_fully_defined()) {
        throw_value_error("Cannot convert a partially known TensorShape " +
                          element_shape_->to_string() + " to a Tensor.");
      }
      elements_[index] = wrapped(Tensor::zeros(type_.dtype, element_shape_->dims()));
    }
    return elements_[index];
  }
  OperandVector all_elements() {
    OperandVector operands;
    for (size_t i = 0; i < elements_.size(); ++i) {
      operands.push_back(operand_in(element_or_zeros(i).get()));
    }
    return operands;
  }
  static Ref packed(const OperandVector& operands) {
    return wrapped(current_builder().op("Pack", operands));
  }

  std::vector<Ref> elements_;   // Python tensors, which keep what they are made of; null: never
                                // written, or cleared
  std::vector<bool> was_read_;  // and cleared then; by index
  bool clear_after_read_;
};

}  // namespace

TensorArray::TensorArray(TensorArrayType type, PartialShape element_shape)
    : type_(type), element_shape_(std::make_shared<PartialShape>(std::move(element_shape))) {}

void TensorArray::learn_element_shape(const PartialShape& shape) {
  if (!shape.is_compatible_with(*element_shape_)) {
    throw_value_error("Inconsistent shapes: saw " + shape.to_string() + " but expected " +
                      element_shape_->to_string() + " ");
  }
  // Symbols of one block mean nothing in another, where a later version may be used.
  if (type_.infer_shape) {
    *element_shape_ = element_shape_->merged_with(shape.without_symbols());
  }
}

std::unique_ptr<TensorArray> make_eager_tensor_array(TensorArrayType type,
                                                     PartialShape element_shape, PyObject* size,
                                                     bool clear_after_read) {
  if (size == Py_None) {
    throw_value_error("Size must be declared for TensorArrays when eager execution is enabled.");
  }
  return std::make_unique<EagerTensorArray>(type, std::move(element_shape),
                                            known_integer(size, "a size"), clear_after_read);
}

}  // namespace graphwright
