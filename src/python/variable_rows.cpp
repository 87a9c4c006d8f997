// Reading and writing some rows or slices of a variable.
#include <vector>

#include "ir/builder.h"
#include "ir/opdef.h"
#include "ir/thread_state.h"
#include "python/errors.h"
#include "python/function_type.h"
#include "python/tensor_object.h"
#include "python/variable_methods.h"
#include "python/variable_object.h"

namespace graphwright {
namespace {

template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// The indices' Python values are of int32 where they fit.
Operand convert_indices(PyObject* indices) {
  ConversionOptions options;
  options.preferred = DType::kInt32;
  return operand_of(indices, options);
}

struct TwoArguments {
  PyObject *first = nullptr, *second = nullptr, *name = Py_None;
};

// "method(first, name=None)", or with a second argument too.
TwoArguments parse(PyObject* arguments, PyObject* keywords, const char* format, const char* first,
                   const char* second = nullptr) {
  TwoArguments a;
  const char* const with_two[] = {first, second, "name", nullptr};
  const char* const with_one[] = {first, "name", nullptr};
  int parsed =
      second
          ? PyArg_ParseTupleAndKeywords(arguments, keywords, format, const_cast<char**>(with_two),
                                        &a.first, &a.second, &a.name)
          : PyArg_ParseTupleAndKeywords(arguments, keywords, format, const_cast<char**>(with_one),
                                        &a.first, &a.name);
  if (!parsed) throw_python_error();
  return a;
}

std::string_view node_name(PyObject* name) {
  return name == Py_None ? std::string_view() : text_of(name);
}

// --- Reading -------------------------------------------------------------------------------------

PyObject* sparse_read(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    TwoArguments a = parse(arguments, keywords, "O|O:sparse_read", "indices");
    notify_variable_use(self);
    Attributes attributes =
        named_attributes(get_op("ResourceGather"), {{"dtype", variable_value_type(self).dtype}});
    return wrap(current_builder().op("ResourceGather",
                                     {variable_handle(self), convert_indices(a.first)}, attributes,
                                     node_name(a.name)));
  });
}

PyObject* gather_nd(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    TwoArguments a = parse(arguments, keywords, "O|O:gather_nd", "indices");
    notify_variable_use(self);
    Attributes attributes =
        named_attributes(get_op("ResourceGatherNd"), {{"dtype", variable_value_type(self).dtype}});
    return wrap(current_builder().op("ResourceGatherNd",
                                     {variable_handle(self), convert_indices(a.first)}, attributes,
                                     node_name(a.name)));
  });
}

PyObject* count_up_to(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    PyObject* limit = nullptr;
    static const char* const names[] = {"limit", nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O:count_up_to",
                                     const_cast<char**>(names), &limit)) {
      throw_python_error();
    }
    long long value = PyLong_AsLongLong(limit);
    if (value == -1 && PyErr_Occurred()) throw_python_error();
    notify_variable_use(self);
    Attributes attributes = named_attributes(
        get_op("ResourceCountUpTo"),
        {{"limit", static_cast<int64_t>(value)}, {"T", variable_value_type(self).dtype}});
    return wrap(current_builder().op("ResourceCountUpTo", {variable_handle(self)}, attributes));
  });
}

PyObject* initialized_value(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(read_variable(self)); });
}

// --- Writing -------------------------------------------------------------------------------------

void write(PyObject* self, const char* op, const Operand& indices, const Operand& updates,
           PyObject* name) {
  notify_variable_use(self);
  Operand inputs[] = {variable_handle(self), indices, updates};
  current_builder().op_outputs(op, inputs, {}, node_name(name));
}

// `slices` has indices and values: a tf.IndexedSlices.
template <const char* const& Op>
PyObject* scatter(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    PyObject *slices = nullptr, *use_locking = Py_None, *name = Py_None;
    static const char* const names[] = {"sparse_delta", "use_locking", "name", nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OO", const_cast<char**>(names),
                                     &slices, &use_locking, &name)) {
      throw_python_error();
    }
    Ref indices = Ref::steal(PyObject_GetAttrString(slices, "indices"));
    Ref values = indices ? Ref::steal(PyObject_GetAttrString(slices, "values")) : Ref();
    if (!values) {
      PyErr_Clear();
      throw_type_error("sparse_delta is not IndexedSlices: " + repr_of(slices));
    }
    write(self, Op, convert_indices(indices.get()), convert_new_value(self, values.get()), name);
    return unread_variable(self);
  });
}

// The batch dimensions, all but the last of `indices`, become indices of their own.
PyObject* batch_scatter_update(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    PyObject *slices = nullptr, *use_locking = Py_None, *name = Py_None;
    static const char* const names[] = {"sparse_delta", "use_locking", "name", nullptr};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OO:batch_scatter_update",
                                     const_cast<char**>(names), &slices, &use_locking, &name)) {
      throw_python_error();
    }
    Ref indices = Ref::steal(PyObject_GetAttrString(slices, "indices"));
    Ref values = indices ? Ref::steal(PyObject_GetAttrString(slices, "values")) : Ref();
    if (!values) {
      PyErr_Clear();
      throw_type_error("sparse_delta is not IndexedSlices: " + repr_of(slices));
    }
    Operand rows = convert_indices(indices.get());
    Operand full = call_function("_batch_scatter_indices", {rows}, {});
    write(self, "ResourceScatterNdUpdate", full, convert_new_value(self, values.get()), name);
    return unread_variable(self);
  });
}

template <const char* const& Op>
PyObject* scatter_nd(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return guarded([&] {
    TwoArguments a = parse(arguments, keywords, "OO|O", "indices", "updates");
    write(self, Op, convert_indices(a.first), convert_new_value(self, a.second), a.name);
    return unread_variable(self);
  });
}

constexpr const char* kAdd = "ResourceScatterAdd";
constexpr const char* kSub = "ResourceScatterSub";
constexpr const char* kMul = "ResourceScatterMul";
constexpr const char* kDiv = "ResourceScatterDiv";
constexpr const char* kMin = "ResourceScatterMin";
constexpr const char* kMax = "ResourceScatterMax";
constexpr const char* kUpdate = "ResourceScatterUpdate";
constexpr const char* kNdAdd = "ResourceScatterNdAdd";
constexpr const char* kNdSub = "ResourceScatterNdSub";
constexpr const char* kNdUpdate = "ResourceScatterNdUpdate";
constexpr const char* kNdMin = "ResourceScatterNdMin";
constexpr const char* kNdMax = "ResourceScatterNdMax";

template <class Function>
PyMethodDef method(const char* name, Function* function, const char* doc) {
  return {name, as_method(function), METH_VARARGS | METH_KEYWORDS, doc};
}

}  // namespace

std::span<const PyMethodDef> variable_row_methods() {
#define GW_ROWS "(sparse_delta, use_locking=False, name=None): "
#define GW_SLICES "(indices, updates, name=None): "
  static const PyMethodDef methods[] = {
      method("sparse_read", sparse_read, "sparse_read(indices, name=None): the rows at indices."),
      method("gather_nd", gather_nd,
             "gather_nd(indices, name=None): the slices that the rows of indices name."),
      method("count_up_to", count_up_to,
             "count_up_to(limit): the value, which then grows by one; OutOfRangeError at limit."),
      {"initialized_value", initialized_value, METH_NOARGS, "The value now, as a tensor."},
      method("scatter_add", scatter<kAdd>, "scatter_add" GW_ROWS "adds rows of IndexedSlices."),
      method("scatter_sub", scatter<kSub>, "scatter_sub" GW_ROWS "subtracts rows."),
      method("scatter_mul", scatter<kMul>, "scatter_mul" GW_ROWS "multiplies rows."),
      method("scatter_div", scatter<kDiv>, "scatter_div" GW_ROWS "divides rows."),
      method("scatter_min", scatter<kMin>, "scatter_min" GW_ROWS "takes the smaller elements."),
      method("scatter_max", scatter<kMax>, "scatter_max" GW_ROWS "takes the larger elements."),
      method("scatter_update", scatter<kUpdate>, "scatter_update" GW_ROWS "replaces rows."),
      method("batch_scatter_update", batch_scatter_update,
             "batch_scatter_update" GW_ROWS
             "replaces slices; the leading dimensions of indices go with the variable's."),
      method("scatter_nd_add", scatter_nd<kNdAdd>, "scatter_nd_add" GW_SLICES "adds slices."),
      method("scatter_nd_sub", scatter_nd<kNdSub>, "scatter_nd_sub" GW_SLICES "subtracts slices."),
      method("scatter_nd_update", scatter_nd<kNdUpdate>,
             "scatter_nd_update" GW_SLICES "replaces slices."),
      method("scatter_nd_min", scatter_nd<kNdMin>,
             "scatter_nd_min" GW_SLICES "takes the smaller elements."),
      method("scatter_nd_max", scatter_nd<kNdMax>,
             "scatter_nd_max" GW_SLICES "takes the larger elements."),
  };
#undef GW_ROWS
#undef GW_SLICES
  return methods;
}

}  // namespace graphwright
