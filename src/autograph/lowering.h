// From a function as the user wrote it to the function that AutoGraph runs.
//
// The same passes make two shapes. The TensorFlow shape is what `tf.autograph.to_code` shows: every
// construct an operator of `ag__`, with explicit functions that get and set the state. The lean
// shape is what runs: calls go straight to the call operator, variables are read directly, and the
// state of a construct lives in the closure cells of its body, which the operators read and write
// by name.
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "autograph/node_table.h"
#include "base/function_ref.h"

namespace graphwright::autograph {

enum class Shape : uint8_t { kTensorFlow, kLean };

struct LoweringOptions {
  Shape shape = Shape::kLean;
  bool recursive = true;
  bool user_requested = true;
  bool internal_convert_user_code = true;
  std::vector<std::string> optional_features =
      {};  // names of tf.autograph.experimental.Feature members
  // Whether the user's function sees a global or closure variable of this name.
  FunctionRef<bool(std::string_view)> in_namespace;
  // Whether the expression (a Name or Attribute node, not bound in the function) is the loop
  // options directive.
  FunctionRef<bool(NodeId)> is_loop_options;
  // Filled with the names that the lowering has made, if given.
  std::unordered_set<std::string>* made_names = nullptr;

  bool uses_feature(std::string_view name) const;
};

// Lowers the function or lambda `root` in place. Returns the node that takes its place: the
// function renamed to `tf__<name>`, or in the TensorFlow shape of a lambda its assignment to
// `tf__lam`. Throws Error for constructs that cannot be converted, naming the construct and the
// line.
NodeId lower(NodeTable* table, NodeId root, const LoweringOptions& options);

}  // namespace graphwright::autograph
