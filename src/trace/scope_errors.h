// The error for a symbolic tensor that is used where its graph cannot be reached.
#pragma once

#include "ir/graph.h"

namespace graphwright {

// TypeError naming the tensor, where it was made, and its graph. `same_graph`: it was made in
// another branch or loop body of the graph being built; otherwise in another function's graph.
[[noreturn]] void throw_out_of_scope(const Value& value, bool same_graph);

// "add:0", the name that TensorFlow would show for the value.
std::string value_name(const Value& value);

}  // namespace graphwright
