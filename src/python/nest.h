// Nested structures of Python values (tf.nest): taken apart into leaves and an immutable
// description that can be hashed, compared and packed again. Everything here needs the GIL and
// throws Error.
//
// Structures are lists, tuples, named tuples, mappings (keys sorted), attrs classes, dataclasses
// with
// __tf_flatten__ and __tf_unflatten__, mapping views, and, with expand_composites, composite
// tensors and TypeSpecs of several components. Everything else is a leaf.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "python/python_api.h"

namespace graphwright {

enum class NestKind : uint8_t {
  kLeaf,
  kList,   // list, and every other collections.abc.Sequence but text and tuples
  kTuple,  // tuple and its subclasses without fields
  kNamedTuple,
  kMapping,      // dict, OrderedDict, defaultdict, any collections.abc.Mapping
  kMappingView,  // the views of a mapping's keys, values or items
  kAttrs,
  kDataclass,  // with __tf_flatten__
  kComposite,  // a CompositeTensor: its _type_spec and components
  kTypeSpec,   // a TypeSpec of a composite, seen as its component specs
};

struct NestOptions {
  bool expand_composites = false;
};

// How the walk opens `value`; kLeaf if it does not.
NestKind nest_kind(PyObject* value, NestOptions options = {});
// The keys of a mapping, sorted; Python's TypeError where they cannot be.
Ref sorted_mapping_keys(PyObject* mapping);

class Structure {
 public:
  Structure() = default;  // a leaf
  NestKind kind() const { return node_ ? node_->kind : NestKind::kLeaf; }
  bool is_leaf() const { return !node_; }
  int64_t leaf_count() const { return node_ ? node_->leaf_count : 1; }
  const std::vector<Structure>& children() const { return node_->children; }
  PyObject* type() const { return node_ ? node_->type.get() : nullptr; }

  // Same kinds, types, keys and children.
  bool operator==(const Structure& other) const;
  size_t hash() const { return node_ ? node_->hash : 0x9e3779b9; }

  // The structure around other leaves, which must be leaf_count(): what to build is decided by the
  // value that was taken apart (a defaultdict keeps its factory, a dict the order of its keys).
  Ref pack(const std::vector<Ref>& leaves) const;
  // "[*, {'a': *}]", for messages.
  std::string to_string() const;

  struct Node {
    NestKind kind;
    Ref type;       // of the container
    Ref prototype;  // what packing needs beyond the type: keys in their own order, the default
                    // factory, metadata of a dataclass, the spec of a composite
    std::vector<Ref> keys;  // sorted keys, field or attribute names
    std::vector<Structure> children;
    int64_t leaf_count = 0;
    size_t hash = 0;
  };
  explicit Structure(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  const Node& node() const { return *node_; }  // of a container

 private:
  std::shared_ptr<const Node> node_;
};

// Appends the leaves in order and returns what they were in.
Structure nest_flatten(PyObject* value, std::vector<Ref>& leaves, NestOptions options = {});
// One level only: appends the children of a container, every one a leaf of the result.
Structure nest_children(PyObject* value, std::vector<Ref>& children, NestOptions options = {});
// The leaves alone, as a new list: tf.nest.flatten.
Ref nest_flatten_to_list(PyObject* value, NestOptions options = {});
// The leaves of one list around the structure of `structure`: tf.nest.pack_sequence_as.
Ref nest_pack_as(PyObject* structure, PyObject* flat, NestOptions options = {});
// ValueError or TypeError with TensorFlow's text if the two differ.
void nest_assert_same(PyObject* first, PyObject* second, bool check_types,
                      NestOptions options = {});
// The same structure with every leaf replaced.
Ref nest_map(PyObject* value, FunctionRef<Ref(PyObject*)> function, NestOptions options = {});

}  // namespace graphwright
