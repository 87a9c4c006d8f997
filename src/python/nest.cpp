#include "python/nest.h"

#include "python/convert.h"
#include "python/errors.h"
#include "python/tensor_object.h"
#include "python/type_spec.h"

namespace graphwright {
namespace {

bool is_instance(PyObject* value, const char* module, const char* name) {
  int result = PyObject_IsInstance(value, imported(module, name));
  if (result < 0) throw_python_error();
  return result == 1;
}

PyObject* type_of_object(PyObject* value) { return reinterpret_cast<PyObject*>(Py_TYPE(value)); }

// A Python-level recursion guard: structures may contain themselves.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" while walking a nested structure")) throw_python_error();
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
};

bool is_plain_leaf(PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  return value == Py_None || type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyUnicode_Type || type == &PyBytes_Type ||
         reinterpret_cast<PyObject*>(type) == imported("numpy", "ndarray") || is_tensor(value) ||
         PyType_Check(value);
}

bool type_has(PyObject* value, const char* attribute) {
  return PyObject_HasAttrString(type_of_object(value), attribute);
}

void combine(size_t& hash, size_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 31;
}

size_t python_hash(PyObject* object) {
  Py_hash_t hash = PyObject_Hash(object);
  if (hash == -1 && PyErr_Occurred()) throw_python_error();
  return static_cast<size_t>(hash);
}

bool python_equal(PyObject* left, PyObject* right) {
  if (left == right) return true;
  if (!left || !right) return false;
  int result = PyObject_RichCompareBool(left, right, Py_EQ);
  if (result < 0) throw_python_error();
  return result == 1;
}

// The parts of one container, before its children are walked.
struct Parts {
  std::vector<Ref> keys;
  std::vector<Ref> children;
  Ref prototype;
};

void append_iterable(PyObject* iterable, std::vector<Ref>& items) {
  Ref iterator = checked_ref(PyObject_GetIter(iterable));
  while (Ref item = Ref::steal(PyIter_Next(iterator.get()))) items.push_back(std::move(item));
  if (PyErr_Occurred()) throw_python_error();
}

void open_mapping(PyObject* value, Parts& parts) {
  Ref own_order = checked_ref(PyMapping_Keys(value));
  Ref sorted = sorted_mapping_keys(value);
  append_iterable(sorted.get(), parts.keys);
  for (const Ref& key : parts.keys) {
    parts.children.push_back(checked_ref(PyObject_GetItem(value, key.get())));
  }
  Ref factory = Ref::borrow(Py_None);
  if (Py_TYPE(value) != &PyDict_Type && is_instance(value, "collections", "defaultdict")) {
    factory = checked_ref(PyObject_GetAttrString(value, "default_factory"));
  }
  parts.prototype = checked_ref(PyTuple_Pack(2, own_order.get(), factory.get()));
}

void open_attrs(PyObject* value, Parts& parts) {
  Ref attributes = checked_ref(PyObject_GetAttrString(type_of_object(value), "__attrs_attrs__"));
  std::vector<Ref> fields;
  append_iterable(attributes.get(), fields);
  for (const Ref& field : fields) {
    parts.keys.push_back(checked_ref(PyObject_GetAttrString(field.get(), "name")));
    parts.children.push_back(checked_ref(PyObject_GetAttr(value, parts.keys.back().get())));
  }
}

void open_dataclass(PyObject* value, Parts& parts) {
  Ref flat = checked_ref(PyObject_CallMethod(value, "__tf_flatten__", nullptr));
  Ref pair = checked_ref(PySequence_Tuple(flat.get()));
  if (PyTuple_Size(pair.get()) != 2) {
    throw_value_error("__tf_flatten__ of " + type_name(value) +
                      " must return metadata and components, but returned " + repr_of(flat.get()));
  }
  parts.prototype = Ref::borrow(PyTuple_GetItem(pair.get(), 0));
  append_iterable(PyTuple_GetItem(pair.get(), 1), parts.children);
}

Parts open(PyObject* value, NestKind kind) {
  Parts parts;
  switch (kind) {
    case NestKind::kLeaf:
      break;
    case NestKind::kList:
    case NestKind::kTuple:
    case NestKind::kMappingView:
      append_iterable(value, parts.children);
      break;
    case NestKind::kNamedTuple: {
      Ref fields = checked_ref(PyObject_GetAttrString(type_of_object(value), "_fields"));
      append_iterable(fields.get(), parts.keys);
      append_iterable(value, parts.children);
      break;
    }
    case NestKind::kMapping:
      open_mapping(value, parts);
      break;
    case NestKind::kAttrs:
      open_attrs(value, parts);
      break;
    case NestKind::kDataclass:
      open_dataclass(value, parts);
      break;
    case NestKind::kComposite:
      parts.prototype = checked_ref(PyObject_GetAttrString(value, "_type_spec"));
      parts.children.push_back(
          checked_ref(PyObject_CallMethod(parts.prototype.get(), "_to_components", "(O)", value)));
      break;
    case NestKind::kTypeSpec:
      parts.prototype = Ref::borrow(value);
      parts.children.push_back(checked_ref(PyObject_GetAttrString(value, "_component_specs")));
      break;
  }
  return parts;
}

void walk_leaves(PyObject* value, NestOptions options, FunctionRef<void(PyObject*)> leaf) {
  if (is_plain_leaf(value)) return leaf(value);
  NestKind kind = nest_kind(value, options);
  if (kind == NestKind::kLeaf) return leaf(value);
  RecursionGuard guard;
  if (kind == NestKind::kList && PyList_Check(value)) {
    for (Py_ssize_t i = 0; i < PyList_Size(value); ++i) {
      Ref item = Ref::borrow(PyList_GetItem(value, i));
      walk_leaves(item.get(), options, leaf);
    }
    return;
  }
  for (const Ref& child : open(value, kind).children) walk_leaves(child.get(), options, leaf);
}

Ref list_of(const std::vector<Ref>& items) {
  Ref list = checked_ref(PyList_New(static_cast<Py_ssize_t>(items.size())));
  for (size_t i = 0; i < items.size(); ++i) {
    Py_INCREF(items[i].get());
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), items[i].get());
  }
  return list;
}

Ref tuple_of(const std::vector<Ref>& items) {
  return checked_ref(PyList_AsTuple(list_of(items).get()));
}

// A mapping of the node's type around new values, in the order of the original's own keys.
Ref build_mapping(const Structure::Node& node, const std::vector<Ref>& values) {
  Ref by_key = checked_ref(PyDict_New());
  for (size_t i = 0; i < values.size(); ++i) {
    if (PyDict_SetItem(by_key.get(), node.keys[i].get(), values[i].get()) < 0) throw_python_error();
  }
  Ref ordered = checked_ref(PyDict_New());
  std::vector<Ref> own_order;
  append_iterable(PyTuple_GetItem(node.prototype.get(), 0), own_order);
  for (const Ref& key : own_order) {
    PyObject* value = PyDict_GetItemWithError(by_key.get(), key.get());
    if (!value || PyDict_SetItem(ordered.get(), key.get(), value) < 0) throw_python_error();
  }
  if (node.type.get() == reinterpret_cast<PyObject*>(&PyDict_Type)) return ordered;
  PyObject* factory = PyTuple_GetItem(node.prototype.get(), 1);
  int is_defaultdict = PyObject_IsSubclass(node.type.get(), imported("collections", "defaultdict"));
  if (is_defaultdict < 0) throw_python_error();
  return checked_ref(
      is_defaultdict
          ? PyObject_CallFunctionObjArgs(node.type.get(), factory, ordered.get(), nullptr)
          : PyObject_CallFunctionObjArgs(node.type.get(), ordered.get(), nullptr));
}

Ref build(const Structure::Node& node, const std::vector<Ref>& children) {
  PyObject* type = node.type.get();
  switch (node.kind) {
    case NestKind::kLeaf:
      break;
    case NestKind::kMappingView:
      return list_of(children);
    case NestKind::kList: {
      Ref list = list_of(children);
      if (type == reinterpret_cast<PyObject*>(&PyList_Type)) return list;
      // Sequences that cannot be made from their items (range, array.array) become lists.
      if (type == reinterpret_cast<PyObject*>(&PyRange_Type)) return list;
      Ref made = Ref::steal(PyObject_CallFunctionObjArgs(type, list.get(), nullptr));
      if (made) return made;
      if (PyObject_IsSubclass(type, reinterpret_cast<PyObject*>(&PyList_Type)) == 1 ||
          !PyErr_ExceptionMatches(PyExc_TypeError)) {
        throw_python_error();
      }
      PyErr_Clear();
      return list;
    }
    case NestKind::kTuple: {
      Ref tuple = tuple_of(children);
      if (type == reinterpret_cast<PyObject*>(&PyTuple_Type)) return tuple;
      return checked_ref(PyObject_CallFunctionObjArgs(type, tuple.get(), nullptr));
    }
    case NestKind::kNamedTuple:
    case NestKind::kAttrs:
      return checked_ref(PyObject_CallObject(type, tuple_of(children).get()));
    case NestKind::kMapping:
      return build_mapping(node, children);
    case NestKind::kDataclass:
      return checked_ref(PyObject_CallMethod(type, "__tf_unflatten__", "OO", node.prototype.get(),
                                             tuple_of(children).get()));
    case NestKind::kComposite:
    case NestKind::kTypeSpec:
      return checked_ref(
          PyObject_CallMethod(node.prototype.get(), "_from_components", "(O)", children[0].get()));
  }
  throw_internal("a leaf has no container");
}

Structure make_structure(PyObject* value, NestKind kind, Parts parts,
                         std::vector<Structure> children) {
  auto node = std::make_shared<Structure::Node>();
  node->kind = kind;
  node->type = Ref::borrow(type_of_object(value));
  node->prototype = std::move(parts.prototype);
  node->keys = std::move(parts.keys);
  node->children = std::move(children);
  size_t hash = static_cast<size_t>(kind);
  combine(hash, reinterpret_cast<size_t>(node->type.get()) >> 4);
  for (const Ref& key : node->keys) combine(hash, python_hash(key.get()));
  for (const Structure& child : node->children) {
    node->leaf_count += child.leaf_count();
    combine(hash, child.hash());
  }
  node->hash = hash;
  return Structure(std::move(node));
}

Ref pack_structure(const Structure& structure, const std::vector<Ref>& leaves, size_t& next) {
  if (structure.is_leaf()) return leaves[next++];
  std::vector<Ref> children;
  for (const Structure& child : structure.children()) {
    children.push_back(pack_structure(child, leaves, next));
  }
  return build(structure.node(), children);
}

}  // namespace

NestKind nest_kind(PyObject* value, NestOptions options) {
  PyTypeObject* type = Py_TYPE(value);
  if (type == &PyList_Type) return NestKind::kList;
  if (type == &PyTuple_Type) return NestKind::kTuple;
  if (type == &PyDict_Type) return NestKind::kMapping;
  if (is_plain_leaf(value)) return NestKind::kLeaf;
  if (PyTuple_Check(value)) {
    return type_has(value, "_fields") ? NestKind::kNamedTuple : NestKind::kTuple;
  }
  if (PyList_Check(value)) return NestKind::kList;
  if (PyUnicode_Check(value) || PyBytes_Check(value)) return NestKind::kLeaf;
  if (options.expand_composites) {
    if (is_composite_tensor(value)) return NestKind::kComposite;
    if (is_type_spec(value) && !is_tensor_spec(value)) return NestKind::kTypeSpec;
  }
  if (PyDict_Check(value) || is_instance(value, "collections.abc", "Mapping")) {
    return NestKind::kMapping;
  }
  if (is_instance(value, "collections.abc", "MappingView")) return NestKind::kMappingView;
  if (is_instance(value, "collections.abc", "Sequence")) return NestKind::kList;
  if (type_has(value, "__attrs_attrs__")) return NestKind::kAttrs;
  if (type_has(value, "__tf_flatten__") && type_has(value, "__tf_unflatten__")) {
    return NestKind::kDataclass;
  }
  return NestKind::kLeaf;
}

Ref sorted_mapping_keys(PyObject* mapping) {
  Ref keys = checked_ref(PyMapping_Keys(mapping));
  Ref list = checked_ref(PySequence_List(keys.get()));
  if (PyList_Sort(list.get()) < 0) throw_python_error();
  return list;
}

bool Structure::operator==(const Structure& other) const {
  if (node_ == other.node_) return true;
  if (!node_ || !other.node_) return false;
  const Node& mine = *node_;
  const Node& theirs = *other.node_;
  if (mine.hash != theirs.hash || mine.kind != theirs.kind ||
      mine.type.get() != theirs.type.get() || mine.keys.size() != theirs.keys.size() ||
      mine.children != theirs.children) {
    return false;
  }
  for (size_t i = 0; i < mine.keys.size(); ++i) {
    if (!python_equal(mine.keys[i].get(), theirs.keys[i].get())) return false;
  }
  bool prototype_matters = mine.kind == NestKind::kDataclass || mine.kind == NestKind::kComposite ||
                           mine.kind == NestKind::kTypeSpec;
  return !prototype_matters || python_equal(mine.prototype.get(), theirs.prototype.get());
}

Ref Structure::pack(const std::vector<Ref>& leaves) const {
  if (static_cast<int64_t>(leaves.size()) != leaf_count()) {
    throw_internal("a structure of " + std::to_string(leaf_count()) + " leaves cannot hold " +
                   std::to_string(leaves.size()));
  }
  size_t next = 0;
  return pack_structure(*this, leaves, next);
}

std::string Structure::to_string() const {
  if (is_leaf()) return "*";
  std::string text;
  for (size_t i = 0; i < children().size(); ++i) {
    if (i > 0) text += ", ";
    if (i < node_->keys.size()) text += repr_of(node_->keys[i].get()) + ": ";
    text += children()[i].to_string();
  }
  if (kind() == NestKind::kList) return "[" + text + "]";
  if (kind() == NestKind::kTuple) return "(" + text + (children().size() == 1 ? ",)" : ")");
  Ref name = Ref::steal(PyObject_GetAttrString(type(), "__name__"));
  if (!name) PyErr_Clear();
  std::string prefix =
      kind() == NestKind::kMapping || !name ? "" : std::string(text_of(name.get()));
  return prefix + "{" + text + "}";
}

Structure nest_flatten(PyObject* value, std::vector<Ref>& leaves, NestOptions options) {
  NestKind kind = nest_kind(value, options);
  if (kind == NestKind::kLeaf) {
    leaves.push_back(Ref::borrow(value));
    return Structure();
  }
  RecursionGuard guard;
  Parts parts = open(value, kind);
  std::vector<Structure> children;
  for (const Ref& child : parts.children) {
    children.push_back(nest_flatten(child.get(), leaves, options));
  }
  return make_structure(value, kind, std::move(parts), std::move(children));
}

Structure nest_children(PyObject* value, std::vector<Ref>& children, NestOptions options) {
  NestKind kind = nest_kind(value, options);
  if (kind == NestKind::kLeaf) throw_internal("a leaf has no children");
  Parts parts = open(value, kind);
  children.insert(children.end(), parts.children.begin(), parts.children.end());
  std::vector<Structure> leaves(parts.children.size());
  return make_structure(value, kind, std::move(parts), std::move(leaves));
}

Ref nest_flatten_to_list(PyObject* value, NestOptions options) {
  Ref list = checked_ref(PyList_New(0));
  walk_leaves(value, options, [&](PyObject* leaf) {
    if (PyList_Append(list.get(), leaf) < 0) throw_python_error();
  });
  return list;
}

Ref nest_map(PyObject* value, FunctionRef<Ref(PyObject*)> function, NestOptions options) {
  std::vector<Ref> leaves;
  Structure structure = nest_flatten(value, leaves, options);
  for (Ref& leaf : leaves) leaf = function(leaf.get());
  return structure.pack(leaves);
}

Ref nest_pack_as(PyObject* structure, PyObject* flat, NestOptions options) {
  NestKind flat_kind = nest_kind(flat, options);
  if (flat_kind == NestKind::kLeaf || flat_kind == NestKind::kMapping) {
    throw_type_error("Attempted to pack value:\n  " + repr_of(flat) +
                     "\ninto a structure, but found incompatible type `" +
                     repr_of(type_of_object(flat)) + "` instead.");
  }
  std::vector<Ref> items, old_leaves;
  append_iterable(flat, items);
  Structure taken_apart = nest_flatten(structure, old_leaves, options);
  if (taken_apart.is_leaf() && items.size() != 1) {
    throw_value_error("The target structure is of type `" + repr_of(type_of_object(structure)) +
                      "`, which is no container, but the input is a sequence (" +
                      repr_of(type_of_object(flat)) + ") of length " +
                      std::to_string(items.size()) + ".");
  }
  if (static_cast<int64_t>(items.size()) != taken_apart.leaf_count()) {
    throw_value_error("Could not pack sequence. Structure had " +
                      std::to_string(taken_apart.leaf_count()) + " atoms, but flat_sequence had " +
                      std::to_string(items.size()) + " items.  Structure: " + repr_of(structure) +
                      ", flat_sequence: " + repr_of(flat) + ".");
  }
  return taken_apart.pack(items);
}

namespace {

// How two structures differ, as an error without the frame around it.
class Comparison {
 public:
  Comparison(bool check_types, NestOptions options)
      : check_types_(check_types), options_(options) {}

  void compare(PyObject* first, PyObject* second) {
    NestKind first_kind = nest_kind(first, options_), second_kind = nest_kind(second, options_);
    if (first_kind == NestKind::kLeaf && second_kind == NestKind::kLeaf) return;
    if (first_kind == NestKind::kLeaf || second_kind == NestKind::kLeaf) {
      bool first_nests = first_kind != NestKind::kLeaf;
      throw_value_error("Substructure \"" + described(first_nests ? first : second) +
                        "\" is a sequence, while substructure \"" +
                        described(first_nests ? second : first) + "\" is not");
    }
    RecursionGuard guard;
    if (check_types_) compare_types(first, first_kind, second, second_kind);
    Parts first_parts = open(first, first_kind), second_parts = open(second, second_kind);
    if (first_kind == NestKind::kMapping && second_kind == NestKind::kMapping) {
      compare_keys(first, first_parts, second, second_parts);
    }
    if (first_parts.children.size() != second_parts.children.size()) {
      throw_value_error("The two structures don't have the same number of elements. First: " +
                        described(first) + ". Second: " + described(second));
    }
    for (size_t i = 0; i < first_parts.children.size(); ++i) {
      compare(first_parts.children[i].get(), second_parts.children[i].get());
    }
  }

  static std::string described(PyObject* value) {
    Ref text = Ref::steal(PyObject_Str(value));
    if (!text) PyErr_Clear();
    return "type=" + type_name(value) +
           " str=" + (text ? std::string(text_of(text.get())) : repr_of(value));
  }

 private:
  void compare_types(PyObject* first, NestKind first_kind, PyObject* second, NestKind second_kind) {
    if (Py_TYPE(first) == Py_TYPE(second)) return;
    if (first_kind == NestKind::kMapping && second_kind == NestKind::kMapping) return;
    if (PyList_Check(first) && PyList_Check(second)) return;
    if (first_kind == NestKind::kNamedTuple && second_kind == NestKind::kNamedTuple &&
        same_named_tuple(first, second)) {
      return;
    }
    if (first_kind == NestKind::kTypeSpec && second_kind == NestKind::kComposite) return;
    if (first_kind == NestKind::kComposite && second_kind == NestKind::kTypeSpec) return;
    throw_type_error("The two structures don't have the same sequence type. First (" +
                     described(first) + ") has type " + type_name(first) + ", second (" +
                     described(second) + ") has type " + type_name(second));
  }

  // Named tuples defined twice alike are one type to a program.
  static bool same_named_tuple(PyObject* first, PyObject* second) {
    if (type_name(first) != type_name(second)) return false;
    Ref first_fields = checked_ref(PyObject_GetAttrString(first, "_fields"));
    Ref second_fields = checked_ref(PyObject_GetAttrString(second, "_fields"));
    return python_equal(first_fields.get(), second_fields.get());
  }

  static void compare_keys(PyObject* first, const Parts& first_parts, PyObject* second,
                           const Parts& second_parts) {
    bool equal = first_parts.keys.size() == second_parts.keys.size();
    for (size_t i = 0; equal && i < first_parts.keys.size(); ++i) {
      equal = python_equal(first_parts.keys[i].get(), second_parts.keys[i].get());
    }
    if (equal) return;
    throw_value_error("The two dictionaries don't have the same set of keys. First: " +
                      described(first) + ". Second: " + described(second));
  }

  bool check_types_;
  NestOptions options_;
};

}  // namespace

void nest_assert_same(PyObject* first, PyObject* second, bool check_types, NestOptions options) {
  try {
    Comparison(check_types, options).compare(first, second);
  } catch (const Error& error) {
    if (error.detail().foreign) throw;
    throw Error(error.detail().kind,
                "The two structures don't have the same nested structure.\n\nFirst structure: " +
                    Comparison::described(first) +
                    "\n\nSecond structure: " + Comparison::described(second) +
                    "\n\nMore specifically: " + error.detail().message);
  }
}

}  // namespace graphwright
