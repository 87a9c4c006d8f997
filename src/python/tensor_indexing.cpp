// x[1:3, None, ..., i]: one StridedSlice. The masks and the way the three index vectors are packed
// are those of TensorFlow's own operator, so that graphs have the same nodes.
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/convert.h"
#include "python/errors.h"
#include "python/function_type.h"
#include "python/tensor_slots.h"
#include "python/variable_methods.h"
#include "python/variable_object.h"

namespace graphwright {
namespace {

// One element of the begin, end or stride vector.
struct IndexItem {
  int64_t value = 0;
  Operand symbol;  // null: `value` counts
};

struct SliceSpecification {
  std::vector<IndexItem> begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;

  void add(IndexItem first, IndexItem last, IndexItem stride) {
    begin.push_back(std::move(first));
    end.push_back(std::move(last));
    strides.push_back(std::move(stride));
  }
  int64_t next_bit() const { return int64_t{1} << begin.size(); }
};

[[noreturn]] void throw_bad_index(PyObject* index) {
  throw_type_error(
      "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
      "tf.int32/tf.int64 tensors are valid indices, got " +
      repr_of(index));
}

int64_t scalar_index(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kInt16:
      return *tensor.data<int16_t>();
    case DType::kInt32:
      return *tensor.data<int32_t>();
    default:
      return *tensor.data<int64_t>();
  }
}

IndexItem index_item(PyObject* index) {
  if (is_tensor_like(index)) {
    Operand operand = operand_of(index);
    DType dtype = dtype_of(operand);
    PartialShape shape = shape_of(operand);
    bool scalar = !shape.has_rank() || shape.rank() == 0;
    if (!scalar || !(kIndex | DTypeSet::of(DType::kInt16)).contains(dtype)) {
      throw_bad_index(index);
    }
    if (operand.is_tensor() && current_builder().is_eager()) {
      return {scalar_index(operand.tensor()), {}};
    }
    return {0, operand};
  }
  if (PyBool_Check(index) || PyFloat_Check(index)) throw_bad_index(index);
  Ref integer = Ref::steal(PyNumber_Index(index));
  if (!integer) {
    PyErr_Clear();
    throw_bad_index(index);
  }
  long long value = PyLong_AsLongLong(integer.get());
  if (value == -1 && PyErr_Occurred()) throw_python_error();
  return {value, {}};
}

// Dtype of the index vectors where tensors decide it; kInvalid if there are none.
DType dtype_of_items(std::initializer_list<const IndexItem*> items) {
  DType dtype = DType::kInvalid;
  for (const IndexItem* item : items) {
    if (!item->symbol) continue;
    DType own = dtype_of(item->symbol);
    if (own == DType::kInt64 || dtype == DType::kInvalid) dtype = own;
    if (own == DType::kInt32 && dtype == DType::kInt16) dtype = own;
  }
  return dtype;
}

Tensor integer_scalar(DType dtype, int64_t value) {
  switch (dtype) {
    case DType::kInt64:
      return Tensor::int64_scalar(value);
    case DType::kInt16:
      return Tensor::scalar(dtype, static_cast<int16_t>(value));
    default:
      return Tensor::int32_scalar(static_cast<int32_t>(value));
  }
}

void add_slice(SliceSpecification& specification, PyObject* slice) {
  auto part = [&](const char* name, int64_t fallback, bool& given) -> IndexItem {
    Ref value = checked_ref(PyObject_GetAttr(slice, interned(name)));
    given = value.get() != Py_None;
    return given ? index_item(value.get()) : IndexItem{fallback, {}};
  };
  bool has_start = false, has_stop = false, has_step = false;
  IndexItem start = part("start", 0, has_start);
  IndexItem stop = part("stop", 0, has_stop);
  IndexItem step = part("step", 1, has_step);
  int64_t bit = specification.next_bit();
  if (!has_start) specification.begin_mask |= bit;
  if (!has_stop) specification.end_mask |= bit;
  DType dtype = dtype_of_items({&start, &stop, &step});
  if (dtype != DType::kInvalid) {
    // What is missing beside a tensor is a constant of that tensor's dtype.
    auto fill = [&](bool given, IndexItem& item, int64_t value) {
      if (!given) item.symbol = current_builder().constant(integer_scalar(dtype, value));
    };
    fill(has_start, start, 0);
    fill(has_stop, stop, 0);
    fill(has_step, step, 1);
  }
  specification.add(std::move(start), std::move(stop), std::move(step));
}

void add_index(SliceSpecification& specification, PyObject* index) {
  int64_t bit = specification.next_bit();
  if (PySlice_Check(index)) return add_slice(specification, index);
  if (index == Py_Ellipsis) {
    specification.ellipsis_mask |= bit;
    return specification.add({0, {}}, {0, {}}, {1, {}});
  }
  if (index == Py_None) {
    specification.new_axis_mask |= bit;
    return specification.add({0, {}}, {0, {}}, {1, {}});
  }
  specification.shrink_axis_mask |= bit;
  IndexItem item = index_item(index);
  IndexItem next{item.value + 1, {}}, stride{1, {}};
  if (item.symbol) {
    Builder& builder = current_builder();
    DType dtype = dtype_of(item.symbol);
    {
      NameScopeGuard scope(builder, "add");
      Operand one = builder.constant(integer_scalar(dtype, 1), "y");
      next.symbol = builder.op("AddV2", {item.symbol, one}, {}, kScopeName);
    }
    if (dtype != DType::kInt32) stride.symbol = builder.constant(integer_scalar(dtype, 1));
  }
  specification.add(std::move(item), std::move(next), std::move(stride));
}

// A vector of known values: int32 unless one needs int64.
Tensor known_vector(const std::vector<IndexItem>& items, bool wide) {
  Tensor tensor =
      Tensor::empty(wide ? DType::kInt64 : DType::kInt32, {static_cast<int64_t>(items.size())});
  for (size_t i = 0; i < items.size(); ++i) {
    if (wide) {
      tensor.mutable_data<int64_t>()[i] = items[i].value;
    } else {
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(items[i].value);
    }
  }
  return tensor;
}

bool needs_int64(const std::vector<IndexItem>& items) {
  for (const IndexItem& item : items) {
    if (item.value != static_cast<int32_t>(item.value)) return true;
  }
  return false;
}

Operand pack(Builder& builder, const std::vector<IndexItem>& items, bool wide) {
  DType dtype = DType::kInvalid;
  for (const IndexItem& item : items) {
    if (item.symbol && dtype == DType::kInvalid) dtype = dtype_of(item.symbol);
  }
  if (dtype == DType::kInvalid) return builder.constant(known_vector(items, wide), "stack");
  NameScopeGuard scope(builder, "stack");
  OperandVector operands;
  for (size_t i = 0; i < items.size(); ++i) {
    operands.push_back(items[i].symbol ? items[i].symbol
                                       : builder.constant(integer_scalar(dtype, items[i].value),
                                                          std::to_string(i)));
  }
  return builder.op("Pack", operands, {}, kScopeName);
}

// The three index vectors, of one dtype.
struct IndexVectors {
  Operand begin, end, strides;
};

IndexVectors index_vectors(Builder& builder, const SliceSpecification& specification) {
  bool wide = needs_int64(specification.begin) || needs_int64(specification.end) ||
              needs_int64(specification.strides);
  IndexVectors vectors{pack(builder, specification.begin, wide),
                       pack(builder, specification.end, wide),
                       pack(builder, specification.strides, wide)};
  DType dtype = DType::kInt32;
  for (const Operand* vector : {&vectors.begin, &vectors.end, &vectors.strides}) {
    if (dtype_of(*vector) == DType::kInt64) dtype = DType::kInt64;
  }
  for (Operand* vector : {&vectors.begin, &vectors.end, &vectors.strides}) {
    if (dtype_of(*vector) == dtype) continue;
    *vector = builder.op("Cast", {*vector}, named_attributes(get_op("Cast"), {{"DstT", dtype}}));
  }
  return vectors;
}

Attributes mask_attributes(const OpDef& op, const SliceSpecification& specification) {
  Attributes attributes;
  auto set = [&](std::string_view name, int64_t mask) {
    if (mask) attributes.set(op.signature.attribute_index(name), mask);
  };
  set("begin_mask", specification.begin_mask);
  set("end_mask", specification.end_mask);
  set("ellipsis_mask", specification.ellipsis_mask);
  set("new_axis_mask", specification.new_axis_mask);
  set("shrink_axis_mask", specification.shrink_axis_mask);
  return attributes;
}

Operand apply(const Operand& input, const SliceSpecification& specification) {
  static const OpDef& op = get_op("StridedSlice");
  Builder& builder = current_builder();
  NameScopeGuard scope(builder, "strided_slice");
  IndexVectors vectors = index_vectors(builder, specification);
  return builder.op("StridedSlice", {input, vectors.begin, vectors.end, vectors.strides},
                    mask_attributes(op, specification), kScopeName);
}

SliceSpecification parse_key(PyObject* key) {
  SliceSpecification specification;
  if (!PyTuple_Check(key) && !PyList_Check(key)) {
    add_index(specification, key);
    return specification;
  }
  Py_ssize_t size = PyObject_Size(key);
  if (size > 63) throw_type_error("too many indices: " + std::to_string(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    add_index(specification, PyTuple_Check(key) ? PyTuple_GetItem(key, i) : PyList_GetItem(key, i));
  }
  return specification;
}

bool is_bool_mask(PyObject* key) {
  if (PyBool_Check(key)) return true;
  if (is_tensor_like(key)) return dtype_of_tensor_like(key) == DType::kBool;
  if (!PyObject_IsInstance(key, imported("numpy", "ndarray"))) return false;
  Ref dtype = checked_ref(PyObject_GetAttrString(key, "dtype"));
  return dtype_from_numpy(dtype.get()) == DType::kBool;
}

bool is_simple_index(PyObject* key) {
  return PyLong_CheckExact(key) || PySlice_Check(key) || key == Py_Ellipsis || key == Py_None ||
         PyTuple_Check(key) || PyList_Check(key);
}

// What is contiguous in memory needs no op: x[i], x[i, j], x[a:b]. Null for everything else, errors
// included.
Tensor contiguous_part(const Tensor& tensor, PyObject* key) {
  if (PySlice_Check(key)) {
    if (tensor.rank() == 0) return {};
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(key, &start, &stop, &step) < 0) {
      PyErr_Clear();
      return {};
    }
    if (step != 1) return {};
    Py_ssize_t count = PySlice_AdjustIndices(tensor.dim(0), &start, &stop, step);
    std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    int64_t row = tensor.dim(0) ? tensor.element_count() / tensor.dim(0) : 0;
    dims[0] = count;
    return tensor.view(start * row, dims);
  }
  if (!PyTuple_Check(key)) return {};
  Py_ssize_t size = PyTuple_Size(key);
  if (size == 0 || size > tensor.rank()) return {};
  int64_t offset = 0, extent = tensor.element_count();
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* item = PyTuple_GetItem(key, i);
    if (!PyLong_CheckExact(item)) return {};
    int overflow = 0;
    long long index = PyLong_AsLongLongAndOverflow(item, &overflow);
    int64_t dim = tensor.dim(static_cast<int>(i));
    if (index < 0) index += dim;
    if (overflow || index < 0 || index >= dim) return {};
    extent /= dim;
    offset += index * extent;
  }
  return tensor.view(offset, tensor.dims().subspan(static_cast<size_t>(size)));
}

// Slices whose parts are all None or Python ints: PySlice_Unpack would also take tensors.
bool is_plain_slice(PyObject* key) {
  for (const char* name : {"start", "stop", "step"}) {
    Ref part = Ref::steal(PyObject_GetAttr(key, interned(name)));
    if (!part || !(part.get() == Py_None || PyLong_CheckExact(part.get()))) return false;
  }
  return true;
}

}  // namespace

Operand first_dimension_slice(const Operand& operand, int64_t index) {
  if (operand.is_tensor() && thread_state.bits == 0) {
    const Tensor tensor = operand.tensor();
    int64_t first = tensor.dim(0);
    int64_t row = index < 0 ? index + first : index;
    if (row >= 0 && row < first) {
      std::span<const int64_t> rest = tensor.dims().subspan(1);
      return tensor.view(row * (tensor.element_count() / first), rest);
    }
  }
  SliceSpecification specification;
  specification.shrink_axis_mask = 1;
  specification.add({index, {}}, {index + 1, {}}, {1, {}});  // out of bounds if eager: it says so
  return apply(operand, specification);
}

PyObject* tensor_subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    Operand input = operand_of(self);
    if (!is_simple_index(key) && is_bool_mask(key)) {
      return wrap(call_function("boolean_mask", {input, operand_of(key)}, {}));
    }
    if (PyLong_CheckExact(key) && input.is_tensor() && input.impl()->rank > 0) {
      long long index = PyLong_AsLongLong(key);
      if (index == -1 && PyErr_Occurred()) throw_python_error();
      return wrap(first_dimension_slice(input, index));
    }
    if (input.is_tensor() && thread_state.bits == 0 &&
        (PyTuple_Check(key) || (PySlice_Check(key) && is_plain_slice(key)))) {
      if (Tensor part = contiguous_part(input.tensor(), key)) return wrap(part);
    }
    return wrap(apply(input, parse_key(key)));
  });
}

PyObject* variable_subscript(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    Ref slice = checked_ref(tensor_subscript(self, key));
    // What v[...].assign(x) needs.
    Ref origin = checked_ref(PyTuple_Pack(2, self, key));
    if (PyObject_SetAttr(slice.get(), interned("_slice_of"), origin.get()) < 0) {
      throw_python_error();
    }
    return slice.release();
  });
}

PyObject* assign_slice(PyObject* variable, PyObject* key, PyObject* value) {
  if (!is_simple_index(key) && is_bool_mask(key)) {
    throw Error(ErrorKind::kNotImplementedError,
                "assigning to the elements that a mask selects is not supported");
  }
  static const OpDef& op = get_op("ResourceStridedSliceAssign");
  notify_variable_use(variable);
  ConversionOptions options;
  options.dtype = variable_value_type(variable).dtype;
  options.name = "value";
  Builder& builder = current_builder();
  NameScopeGuard scope(builder, "strided_slice");
  SliceSpecification specification = parse_key(key);
  IndexVectors vectors = index_vectors(builder, specification);
  Operand converted = operand_of(value, options);
  builder.op_outputs(op.name,
                     std::vector<Operand>{variable_handle(variable), vectors.begin, vectors.end,
                                          vectors.strides, converted},
                     mask_attributes(op, specification), "ResourceStridedSliceAssign");
  return unread_variable(variable);
}

}  // namespace graphwright
