// tf.TensorShape and its Dimension.
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/convert.h"
#include "python/errors.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

struct Dimension {
  std::optional<int64_t> value;
};

PyTypeObject* shape_class = nullptr;
PyTypeObject* dimension_class = nullptr;

[[noreturn]] void throw_bad_dimension(PyObject* value) {
  throw_type_error(
      "Dimension value must be integer or None or have an __index__ method, got value '" +
      repr_of(value) + "' with type '" + repr_of(reinterpret_cast<PyObject*>(Py_TYPE(value))) +
      "'");
}

Dim checked_dimension(PyObject* index) {
  int overflow = 0;
  long long dim = PyLong_AsLongLongAndOverflow(index, &overflow);
  if (overflow || dim < 0) {
    if (overflow <= 0) throw_value_error("Dimension " + repr_of(index) + " must be >= 0");
    throw_value_error("Dimension " + repr_of(index) + " must be below 2**63");
  }
  return dim;
}

// A dimension out of None, an integer or a Dimension; nullopt for anything else.
std::optional<Dim> try_dimension(PyObject* value) {
  if (value == Py_None) return kUnknownDim;
  if (PyLong_Check(value)) return checked_dimension(value);
  if (Py_TYPE(value) == dimension_class) {
    return nb::inst_ptr<Dimension>(value)->value.value_or(kUnknownDim);
  }
  if (!PyIndex_Check(value)) return std::nullopt;
  Ref index = Ref::steal(PyNumber_Index(value));
  if (index) return checked_dimension(index.get());
  PyErr_Clear();
  return std::nullopt;
}

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

nb::object dim_object(Dim dim) { return is_known(dim) ? nb::object(nb::int_(dim)) : nb::none(); }

// Like shape_from_python, but nullopt for what is no shape.
std::optional<PartialShape> shape_or_nothing(PyObject* object) {
  if (const PartialShape* shape = shape_if_object(object)) return *shape;
  try {
    return shape_from_python(object);
  } catch (const Error&) {
    return std::nullopt;
  }
}

PartialShape argument_shape(nb::handle object) { return shape_from_python(object.ptr()); }

std::string repr_of_shape(const PartialShape& shape) {
  if (!shape.has_rank()) return "TensorShape(None)";
  std::string text = "TensorShape([";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ", ";
    text += is_known(shape.dim(i)) ? std::to_string(shape.dim(i)) : "None";
  }
  return text + "])";
}

nb::list dims_list(const PartialShape& shape) {
  nb::list list;
  for (Dim dim : shape.dims()) list.append(dim_object(dim));
  return list;
}

void require_rank(const PartialShape& shape, const char* what) {
  if (!shape.has_rank()) throw_value_error(what);
}

nb::object slice_of_unknown(nb::handle slice) {
  // The length of a slice of an unknown rank is known only between two bounds of one sign.
  nb::object start = slice.attr("start"), stop = slice.attr("stop");
  if (!slice.attr("step").is_none()) throw_value_error("Steps are not yet handled");
  int64_t first = start.is_none() ? 0 : nb::cast<int64_t>(start);
  if (stop.is_none() || first < 0) return nb::cast(PartialShape());
  int64_t last = nb::cast<int64_t>(stop);
  if (last < 0) return nb::cast(PartialShape());
  return nb::cast(PartialShape::unknown_dims(static_cast<int>(std::max<int64_t>(last - first, 0))));
}

nb::object get_item(const PartialShape& shape, nb::handle key) {
  if (PySlice_Check(key.ptr())) {
    if (!shape.has_rank()) return slice_of_unknown(key);
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(key.ptr(), &start, &stop, &step) < 0) throw_python_error();
    Py_ssize_t count = PySlice_AdjustIndices(shape.rank(), &start, &stop, step);
    std::vector<Dim> dims;
    for (Py_ssize_t i = 0; i < count; ++i)
      dims.push_back(shape.dim(static_cast<int>(start + i * step)));
    return nb::cast(PartialShape(dims));
  }
  if (!PyIndex_Check(key.ptr())) {
    throw_type_error("tuple indices must be integers or slices, not " + type_name(key.ptr()));
  }
  int64_t index = nb::cast<int64_t>(nb::steal(checked(PyNumber_Index(key.ptr()))));
  if (!shape.has_rank()) return nb::none();
  if (index < 0) index += shape.rank();
  if (index < 0 || index >= shape.rank()) {
    throw Error(ErrorKind::kIndexError, "tuple index out of range");
  }
  return dim_object(shape.dim(static_cast<int>(index)));
}

bool equal(const PartialShape& shape, nb::handle other) {
  std::optional<PartialShape> shape_of_other = shape_or_nothing(other.ptr());
  return shape_of_other && shape == *shape_of_other;
}

nb::object element_count(const PartialShape& shape) {
  if (!shape.is_fully_defined()) return nb::none();
  nb::object product = nb::int_(1);  // Python's integers do not overflow
  for (Dim dim : shape.dims()) product = product * nb::int_(dim);
  return product;
}

PartialShape with_rank(const PartialShape& shape, std::optional<int> rank) {
  if (!rank) return shape;
  if (!shape.has_rank()) return PartialShape::unknown_dims(*rank);
  if (shape.rank() != *rank) {
    throw_value_error("Shape " + shape.to_string() + " must have rank " + std::to_string(*rank));
  }
  return shape;
}

PartialShape supertype(const PartialShape& shape, nb::handle other) {
  return shape.common_supertype(argument_shape(other));
}

void bind_dimension(nb::module_& module) {
  nb::class_<Dimension> type(module, "Dimension",
                             "One dimension of a shape: an int, or None if it is not known.");
  type.def(
          "__init__",
          [](Dimension* self, nb::handle value) {
            std::optional<Dim> dim = try_dimension(value.ptr());
            if (!dim) throw_bad_dimension(value.ptr());
            new (self) Dimension{is_known(*dim) ? std::optional<int64_t>(*dim) : std::nullopt};
          },
          nb::arg("value").none())
      .def_ro("value", &Dimension::value)
      .def("__repr__",
           [](const Dimension& self) {
             return "Dimension(" + (self.value ? std::to_string(*self.value) : "None") + ")";
           })
      .def("__str__",
           [](const Dimension& self) { return self.value ? std::to_string(*self.value) : "?"; })
      .def(
          "__eq__",
          [](const Dimension& self, nb::handle other) -> nb::object {
            std::optional<Dim> dim = try_dimension(other.ptr());
            if (!dim) return nb::borrow(Py_NotImplemented);
            if (!self.value || !is_known(*dim)) return nb::none();
            return nb::bool_(*self.value == *dim);
          },
          nb::arg("other").none(), nb::is_operator())
      .def("__index__",
           [](const Dimension& self) {
             if (!self.value) throw_type_error("Dimension(None) has no __index__");
             return *self.value;
           })
      .def("__int__",
           [](const Dimension& self) {
             if (!self.value) throw_type_error("Dimension(None) is no int");
             return *self.value;
           })
      .def("__hash__", [](const Dimension& self) -> Py_hash_t {
        return static_cast<Py_hash_t>(self.value.value_or(-2));
      });
  dimension_class = reinterpret_cast<PyTypeObject*>(type.ptr());
}

void bind_shape_queries(nb::class_<PartialShape>& type) {
  type.def_prop_ro(
          "rank",
          [](const PartialShape& self) -> nb::object {
            return self.has_rank() ? nb::object(nb::int_(self.rank())) : nb::none();
          },
          "The number of dimensions; None if it is not known.")
      .def_prop_ro(
          "ndims",
          [](const PartialShape& self) -> nb::object {
            return self.has_rank() ? nb::object(nb::int_(self.rank())) : nb::none();
          },
          "The number of dimensions; None if it is not known.")
      .def_prop_ro(
          "dims",
          [](const PartialShape& self) -> nb::object {
            if (!self.has_rank()) return nb::none();
            nb::list list;
            for (Dim dim : self.dims()) {
              list.append(Dimension{is_known(dim) ? std::optional<int64_t>(dim) : std::nullopt});
            }
            return list;
          },
          "The dimensions as a list of Dimension; None if the rank is not known.")
      .def_prop_ro("_dims",
                   [](const PartialShape& self) -> nb::object {
                     if (!self.has_rank()) return nb::none();
                     return nb::tuple(dims_list(self));
                   })
      .def(
          "as_list",
          [](const PartialShape& self) {
            require_rank(self, "as_list() is not defined on an unknown TensorShape.");
            return dims_list(self);
          },
          "The dimensions as a list of int or None. ValueError if the rank is not known.")
      .def("num_elements", &element_count, "The product of the dimensions; None if not known.")
      .def("is_fully_defined", &PartialShape::is_fully_defined)
      .def(
          "is_compatible_with",
          [](const PartialShape& self, nb::handle other) {
            return self.is_compatible_with(argument_shape(other));
          },
          nb::arg("other").none(), "Whether one tensor could have both shapes.")
      .def(
          "is_subtype_of",
          [](const PartialShape& self, nb::handle other) {
            const PartialShape* shape = shape_if_object(other.ptr());
            return shape && shape->is_supertype_of(self);
          },
          nb::arg("other"))
      .def("__len__",
           [](const PartialShape& self) {
             require_rank(self, "Cannot take the length of shape with unknown rank.");
             return self.rank();
           })
      .def("__bool__", &PartialShape::has_rank)
      .def("__iter__",
           [](const PartialShape& self) {
             require_rank(self, "Cannot iterate over a shape with unknown rank.");
             return nb::iter(dims_list(self));
           })
      .def("__getitem__", &get_item, nb::arg("key").none())
      .def("__eq__", &equal, nb::arg("other").none(), nb::is_operator())
      .def(
          "__ne__", [](const PartialShape& self, nb::handle other) { return !equal(self, other); },
          nb::arg("other").none(), nb::is_operator())
      .def("__hash__",
           [](const PartialShape& self) {
             size_t hash = static_cast<size_t>(self.rank()) + 7;
             for (Dim dim : self.dims()) hash = hash * 1000003 + static_cast<size_t>(dim);
             return static_cast<Py_hash_t>(hash >> 1);
           })
      .def("__repr__", &repr_of_shape)
      .def("__str__", &PartialShape::to_string)
      .def(
          "as_proto",
          [](const PartialShape& self) {
            nb::object make = nb::module_::import_("graphwright._protobuf").attr("shape_message");
            return make(nb::cast(self));
          },
          "The TensorShapeProto message.")
      .def("__copy__", [](const PartialShape& self) { return PartialShape(self); })
      .def("__deepcopy__", [](const PartialShape& self, nb::handle) { return PartialShape(self); })
      .def("__reduce__", [](nb::handle self) {
        nb::object dims = self.attr("_dims");
        return nb::make_tuple(self.type(), nb::make_tuple(dims));
      });
}

void bind_shape_checks(nb::class_<PartialShape>& type) {
  type.def(
          "assert_is_compatible_with",
          [](const PartialShape& self, nb::handle other) {
            if (!self.is_compatible_with(argument_shape(other))) {
              nb::str text(other);
              throw_value_error("Shapes " + self.to_string() + " and " + text.c_str() +
                                " are incompatible");
            }
          },
          nb::arg("other").none())
      .def(
          "assert_same_rank",
          [](const PartialShape& self, nb::handle other) {
            PartialShape shape = argument_shape(other);
            if (self.has_rank() && shape.has_rank() && self.rank() != shape.rank()) {
              throw_value_error("Shapes " + self.to_string() + " and " + shape.to_string() +
                                " must have the same rank");
            }
          },
          nb::arg("other").none())
      .def(
          "assert_has_rank",
          [](const PartialShape& self, std::optional<int> rank) { with_rank(self, rank); },
          nb::arg("rank").none())
      .def("assert_is_fully_defined",
           [](const PartialShape& self) {
             if (!self.is_fully_defined()) {
               throw_value_error("Shape " + self.to_string() + " is not fully defined");
             }
           })
      .def("with_rank", &with_rank, nb::arg("rank").none(),
           "The shape if it has the rank; unknown dimensions if its rank is not known.")
      .def(
          "with_rank_at_least",
          [](const PartialShape& self, int rank) {
            if (self.has_rank() && self.rank() < rank) {
              throw_value_error("Shape " + self.to_string() + " must have rank at least " +
                                std::to_string(rank));
            }
            return self;
          },
          nb::arg("rank"))
      .def(
          "with_rank_at_most",
          [](const PartialShape& self, int rank) {
            if (self.has_rank() && self.rank() > rank) {
              throw_value_error("Shape " + self.to_string() + " must have rank at most " +
                                std::to_string(rank));
            }
            return self;
          },
          nb::arg("rank"));
}

void bind_shape_combinations(nb::class_<PartialShape>& type) {
  auto concatenate = [](const PartialShape& self, nb::handle other) {
    return self.concatenated(argument_shape(other));
  };
  type.def("concatenate", concatenate, nb::arg("other").none())
      .def("__concat__", concatenate, nb::arg("other").none())
      .def("__add__", concatenate, nb::arg("other").none(), nb::is_operator())
      .def(
          "__radd__",
          [](const PartialShape& self, nb::handle other) {
            return argument_shape(other).concatenated(self);
          },
          nb::arg("other").none(), nb::is_operator())
      .def(
          "merge_with",
          [](const PartialShape& self, nb::handle other) {
            return self.merged_with(argument_shape(other));
          },
          nb::arg("other").none(),
          "What both shapes together say. ValueError if they are not compatible.")
      .def("most_specific_compatible_shape", &supertype, nb::arg("other").none(),
           "The most specific shape that both are special cases of.")
      .def(
          "most_specific_common_supertype",
          [](const PartialShape& self, nb::iterable others) -> nb::object {
            PartialShape result = self;
            for (nb::handle other : others) {
              const PartialShape* shape = shape_if_object(other.ptr());
              if (!shape) return nb::none();
              result = result.common_supertype(*shape);
            }
            return nb::cast(result);
          },
          nb::arg("others"));
}

}  // namespace

PyObject* shape_object(const PartialShape& shape) { return nb::cast(shape).release().ptr(); }

const PartialShape* shape_if_object(PyObject* object) {
  if (Py_TYPE(object) == shape_class) return nb::inst_ptr<PartialShape>(object);
  if (!PyObject_TypeCheck(object, shape_class)) return nullptr;
  return nb::inst_ptr<PartialShape>(object);
}

PartialShape shape_from_python(PyObject* object) {
  if (object == Py_None) return {};
  if (const PartialShape* shape = shape_if_object(object)) return *shape;
  if (is_text(object)) {
    throw_type_error("Failed to convert " + repr_of(object) +
                     " to a shape: a shape is either one dimension (e.g. 10) or an iterable of "
                     "dimensions (e.g. [1, 10, None]).");
  }
  if (PyLong_Check(object) || Py_TYPE(object) == dimension_class) {
    Dim dim = *try_dimension(object);
    return PartialShape(std::span<const Dim>(&dim, 1));
  }
  Ref iterator = Ref::steal(PyObject_GetIter(object));
  if (!iterator) {
    PyErr_Clear();
    std::optional<Dim> dim = try_dimension(object);
    if (!dim) throw_bad_dimension(object);
    return PartialShape(std::span<const Dim>(&*dim, 1));
  }
  std::vector<Dim> dims;
  while (Ref item = Ref::steal(PyIter_Next(iterator.get()))) {
    std::optional<Dim> dim = try_dimension(item.get());
    if (!dim) throw_bad_dimension(item.get());
    dims.push_back(*dim);
    if (dims.size() > static_cast<size_t>(kMaxRank)) break;  // refused below
  }
  if (PyErr_Occurred()) throw_python_error();
  return PartialShape(dims);
}

void bind_shape(nb::module_& module) {
  bind_dimension(module);
  nb::class_<PartialShape> type(
      module, "TensorShape",
      "The static shape of a tensor: known, partly known (dimensions that are None), or of unknown "
      "rank.",
      nb::dynamic_attr(), nb::is_weak_referenceable());
  type.def(
      "__init__",
      [](PartialShape* self, nb::handle dims) { new (self) PartialShape(argument_shape(dims)); },
      nb::arg("dims").none(),
      "From None (unknown rank), an int, or an iterable of int and None.\n\n"
      "TypeError for dimensions that are no integers, ValueError for negative ones.");
  shape_class = reinterpret_cast<PyTypeObject*>(type.ptr());
  bind_shape_queries(type);
  bind_shape_checks(type);
  bind_shape_combinations(type);
}

}  // namespace graphwright
