// Bindings of tf.nest.
#include <nanobind/nanobind.h>

#include "python/errors.h"
#include "python/nest.h"

namespace nb = nanobind;

namespace graphwright {
namespace {

nb::object flatten(nb::handle structure, bool expand_composites) {
  return nb::steal(nest_flatten_to_list(structure.ptr(), {expand_composites}).release());
}

nb::object map_structure(nb::handle function, nb::args structures, nb::kwargs keywords) {
  if (!PyCallable_Check(function.ptr())) {
    throw_type_error("func must be callable, got: " + repr_of(function.ptr()));
  }
  if (structures.size() == 0) throw_value_error("Must provide at least one structure");
  bool check_types = true, expand_composites = false;
  for (auto [key, value] : keywords) {
    std::string_view name = text_of(key.ptr());
    if (name == "check_types") {
      check_types = nb::cast<bool>(nb::bool_(value));
    } else if (name == "expand_composites") {
      expand_composites = nb::cast<bool>(nb::bool_(value));
    } else {
      throw_value_error(
          "Only valid keyword arguments are `check_types` and `expand_composites`, not: `" +
          std::string(name) + "`");
    }
  }
  NestOptions options{expand_composites};
  size_t count = structures.size();
  for (size_t i = 1; i < count; ++i) {
    nest_assert_same(nb::handle(structures[0]).ptr(), nb::handle(structures[i]).ptr(), check_types,
                     options);
  }
  std::vector<std::vector<Ref>> leaves(count);
  Structure structure;
  for (size_t i = 0; i < count; ++i) {
    Structure other = nest_flatten(nb::handle(structures[i]).ptr(), leaves[i], options);
    if (i == 0) structure = other;
  }
  std::vector<Ref> results;
  for (size_t leaf = 0; leaf < leaves[0].size(); ++leaf) {
    Ref arguments = checked_ref(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (size_t i = 0; i < count; ++i) {
      PyTuple_SetItem(arguments.get(), static_cast<Py_ssize_t>(i), Ref(leaves[i][leaf]).release());
    }
    results.push_back(checked_ref(PyObject_CallObject(function.ptr(), arguments.get())));
  }
  return nb::steal(structure.pack(results).release());
}

// The place of every leaf: keys, indices and names from the outside in.
void append_paths(PyObject* value, NestOptions options, nb::tuple path, nb::list& paths) {
  if (nest_kind(value, options) == NestKind::kLeaf) {
    paths.append(nb::make_tuple(path, nb::borrow(value)));
    return;
  }
  std::vector<Ref> children;
  Structure structure = nest_children(value, children, options);
  const auto& keys = structure.node().keys;
  for (size_t i = 0; i < children.size(); ++i) {
    nb::object key = i < keys.size() ? nb::borrow(keys[i].get()) : nb::object(nb::int_(i));
    append_paths(children[i].get(), options, nb::tuple(path + nb::make_tuple(key)), paths);
  }
}

}  // namespace

void bind_nest(nb::module_& core) {
  nb::module_ module = core.def_submodule("nest", "What graphwright.nest is made of.");
  module.def(
      "is_nested", [](nb::handle seq) { return nest_kind(seq.ptr()) != NestKind::kLeaf; },
      nb::arg("seq").none());
  module.def("flatten", &flatten, nb::arg("structure").none(),
             nb::arg("expand_composites") = false);
  module.def(
      "pack_sequence_as",
      [](nb::handle structure, nb::handle flat, bool expand_composites) {
        return nb::steal(nest_pack_as(structure.ptr(), flat.ptr(), {expand_composites}).release());
      },
      nb::arg("structure").none(), nb::arg("flat_sequence").none(),
      nb::arg("expand_composites") = false);
  module.def("map_structure", &map_structure, nb::arg("func").none(), nb::arg("structure"),
             nb::arg("kwargs"));
  module.def(
      "assert_same_structure",
      [](nb::handle first, nb::handle second, bool check_types, bool expand_composites) {
        nest_assert_same(first.ptr(), second.ptr(), check_types, {expand_composites});
      },
      nb::arg("nest1").none(), nb::arg("nest2").none(), nb::arg("check_types") = true,
      nb::arg("expand_composites") = false);
  module.def(
      "flatten_with_paths",
      [](nb::handle structure, bool expand_composites) {
        nb::list paths;
        append_paths(structure.ptr(), {expand_composites}, nb::tuple(), paths);
        return paths;
      },
      nb::arg("structure").none(), nb::arg("expand_composites") = false);
}

}  // namespace graphwright
