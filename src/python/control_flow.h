// Control flow by hand: tf.cond, tf.while_loop and their kin. Eager, they are Python's own control
// flow; in a graph being built they make control nodes. Everything here needs the GIL and throws
// Error.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/operand.h"
#include "python/python_api.h"

namespace graphwright {

struct Node;

// The text of a name= argument; `otherwise` for None. TypeError for what is no str.
std::string name_or(PyObject* name, std::string_view otherwise);

// One branch of a conditional: a Python function, or code that calls some.
struct BranchFunction {
  std::function<Ref()> call;
  PyObject* function = nullptr;  // borrowed; named in messages
};

Ref control_cond(PyObject* predicate, const BranchFunction& true_branch,
                 const BranchFunction& false_branch, PyObject* name);
Ref control_cond(PyObject* predicate, PyObject* true_function, PyObject* false_function,
                 PyObject* name);
Ref control_case(PyObject* pairs, PyObject* otherwise, bool exclusive, PyObject* name);
Ref control_switch_case(PyObject* index, PyObject* functions, PyObject* otherwise, PyObject* name);

struct LoopArguments {
  PyObject* condition;
  PyObject* body;
  PyObject* variables;
  PyObject* shape_invariants = nullptr;     // null or None: those of the variables
  PyObject* parallel_iterations = nullptr;  // null: 10
  PyObject* maximum_iterations = nullptr;   // null or None: none
  PyObject* name = nullptr;
  bool back_prop = true;
};
Ref control_while_loop(const LoopArguments& arguments);

// An assertion: eager, InvalidArgument unless the condition holds, and null; in a graph an Assert
// node, behind a branch where its data are large, of which the operation is returned.
Ref control_assert(PyObject* condition, PyObject* data, int64_t summarize, PyObject* name);

// --- Order ---

// The nodes that operations, tensors, variables and composite values come from; what is known now
// and arguments of the graph come from none. TypeError for None.
std::vector<Node*> awaited_nodes(PyObject* values);
void enter_control_dependencies(PyObject* values);  // None: no dependencies at all
void leave_control_dependencies();
Ref control_no_op(PyObject* name);
Ref control_group(PyObject* inputs, PyObject* name);
Ref control_tuple(PyObject* tensors, PyObject* control_inputs, PyObject* name);

// Nodes made while it lives wait for the given ones; nothing when eager.
class ControlDependencies {
 public:
  explicit ControlDependencies(std::vector<Node*> nodes);
  ~ControlDependencies();
  ControlDependencies(const ControlDependencies&) = delete;
  ControlDependencies& operator=(const ControlDependencies&) = delete;

 private:
  class GraphBuilder* builder_;
};

}  // namespace graphwright
