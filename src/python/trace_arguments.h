// The arguments of a call as a trace sees them: a key that decides which trace serves the call, and
// the tensors that are its inputs, in order. The same walk later rebuilds the arguments around the
// placeholders of a new trace, so that both always agree.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "ir/operand.h"
#include "ir/value_type.h"
#include "python/function_signature.h"
#include "python/nest.h"
#include "python/python_api.h"
#include "trace/function_cache.h"

namespace graphwright {

// Serial numbers for objects that are compared by identity or by their own __eq__: one number for
// all that are equal, never used again after they died. Belongs to one function.
class ObjectSerials {
 public:
  // TypeError for an object that cannot be hashed.
  int64_t serial_of(PyObject* object);
  int64_t serial_of(const Structure& structure);

 private:
  struct Hash {
    size_t operator()(const Structure& structure) const { return structure.hash(); }
  };
  std::unordered_map<Structure, int64_t, Hash> structures_;
  Ref weak_;    // WeakKeyDictionary: object -> serial
  Ref strong_;  // of objects that cannot be referred to weakly
  int64_t next_ = 0;
};

// One tensor input of a call.
struct TensorLeaf {
  Operand operand;        // the tensor, or a variable's handle; null for a TensorSpec
  Ref source;             // the argument itself where it is no tensor: a variable, a TensorArray or
                          // a TensorSpec; else null
  std::string_view name;  // of the parameter it came in
};
// The type that an argument for the leaf has in a trace.
ValueType leaf_type(const TensorLeaf& leaf);

class ArgumentEncoder {
 public:
  // `shapeless`: the key says nothing of shapes, so that calls which differ in nothing else agree.
  explicit ArgumentEncoder(ObjectSerials& serials, bool shapeless = false)
      : serials_(serials), shapeless_(shapeless) {}
  void clear() {
    writer_.clear();
    leaves_.clear();
  }
  // Appends one argument. Throws Error: TypeError for a value that no trace can be keyed by.
  void add(PyObject* value, std::string_view parameter);
  // The whole call, in the order of the signature.
  void add_all(const FunctionSignature& signature, const BoundArguments& bound);
  std::string_view key() const { return writer_.view(); }
  const std::vector<TensorLeaf>& leaves() const { return leaves_; }
  TraceKeyWriter& writer() { return writer_; }

 private:
  void add_slow(PyObject* value);
  void write_tensor(DType dtype, const PartialShape& shape);
  void add_sequence(PyObject* value);
  void add_variable(PyObject* value);
  void add_tensor_array(PyObject* value);
  void add_int(PyObject* value);
  void add_text(PyObject* value);
  void add_object(PyObject* value);
  TraceKeyWriter writer_;
  std::vector<TensorLeaf> leaves_;
  std::string_view parameter_;
  ObjectSerials& serials_;
  bool shapeless_;
};

// What stands in for the tensor leaves of an argument: called once per leaf, in the encoder's
// order.
using LeafReplacement = FunctionRef<Ref(PyObject* leaf)>;
// Which leaves a walk replaces: those that an encoder takes for tensors, or all but None.
enum class Leaves : uint8_t { kTensors, kAll };
// The same value with those leaves replaced. Containers are copied, other values shared.
Ref replace_leaves(PyObject* value, Leaves which, LeafReplacement replacement);

// What stands for the leaf in a trace, of which `argument` is an argument.
Ref leaf_around(const TensorLeaf& leaf, const Operand& argument);
// The same for a result: a tensor, or the TensorArray that `leaf` is around another list.
Ref result_around(PyObject* leaf, const Operand& operand);

// Leaves that become tensors: tensors, NumPy arrays and scalars, anything with __tf_tensor__.
bool is_tensor_leaf(PyObject* value);

}  // namespace graphwright
