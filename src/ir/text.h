// The text form of graphs, for people, tests and caches. It round-trips: printing what parse_graph
// made of a text gives the text again.
//
//   graphwright-ir 1
//   graph "f" next 3
//   scope "mul" in 0 block 0 before 0
//   body(%0: float32[s0] "x", %1: variable<float32[2]>) captures 1 {
//     %2: float32[] = Const() {value = float32[] {2}, dtype = float32} "y" scope 1 id 0
//     %3: float32[s0] = Mul(%0, %2) {} "" scope 1 id 1
//     return %3
//   }
//
// Blocks are numbered in the order of their text, the body being 0. Symbols of unknown dimensions
// are numbered in the order of appearance. Captures come back without the tensors or outer values
// that they stand for, and constants that hold handles cannot be read back.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "ir/graph.h"

namespace graphwright {

inline constexpr int kTextVersion = 1;

// Finds what a call's "calls "name"" means.
using CalleeResolver = std::function<std::shared_ptr<Callee>(std::string_view name)>;

// The graph of a text, verified. InvalidArgument naming the line for a text that is malformed or of
// another version; NotFound for an op or callee that does not exist. The text may be hostile:
// memory and stack stay bounded by its length.
std::shared_ptr<Graph> parse_graph(std::string_view text, const CalleeResolver& callees = {});

}  // namespace graphwright
