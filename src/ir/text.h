// The text form of graphs, for people, tests and caches. It round-trips: printing what parse_graph
// made of a text gives the text again.
//
//   graphwright-ir 2
//   graph "f" next 3
//   scope "mul" in 0 block 0 before 0
//   body(%0: float32[s0] "x", %1: variable<float32[2]>) captures 1 {
//     %2: float32[] = Const() {value = float32[] {2}, dtype = float32} "y" scope 1 id 0
//     %3: float32[s0] = Mul(%0, %2) {} "" scope 1 id 1
//     return %3
//   }
//
// Blocks are numbered in the order of their text, the body being 0. Symbols of unknown dimensions
// are numbered in the order of appearance. Numbers are exact: decimals that read back to the same
// bits, and bits in hexadecimal for NaN and the small floats. Strings may hold any bytes, written
// as \x00 where they are not printable.
//
// Written by hand, `next N`, the name, `id N` and empty attributes {} may be left out; ids then
// count up. `#` starts a comment that ends with the line.
//
// The last arguments of a body stand for what the graph captured. With TextOptions::captures the
// tensors are part of the text, after the number of captures:
//
//   body(%0: float32[2] "x", %1: float32[2], %2: variable<float32[]> "v") captures 2
//       {%1 = float32[2] {1, 2}, %2 = handle} {
//
// Without it, and for handles and values of outer graphs (`outer`) always, captures come back
// without what they stand for. Constants that hold handles can be written but not read back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace graphwright {

inline constexpr int kTextVersion = 2;

// Finds what a call's "calls "name"" means.
using CalleeResolver = std::function<std::shared_ptr<Callee>(std::string_view name)>;

// The graph of a text, verified. InvalidArgument naming the line for a text that is malformed or of
// another version; NotFound for an op or callee that does not exist. The text may be hostile:
// memory and stack stay bounded by its length.
std::shared_ptr<Graph> parse_graph(std::string_view text, const CalleeResolver& callees = {});

// A text of several graphs after one line of version, each of which may call those before it. The
// graphs are finished. `source` names the text in messages: "file.txt:3: expected ...".
std::vector<std::shared_ptr<Graph>> parse_module(std::string_view text, std::string_view source);

struct TextOptions {
  bool captures = false;  // write captured tensors out in full
  bool version = true;    // begin with the line of the version
};
std::string graph_to_text(const Graph& graph, const TextOptions& options);

}  // namespace graphwright
