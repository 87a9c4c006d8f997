// The passes of the lowering, in the order in which they run; each rewrites the tree in place.
#pragma once

#include <memory>
#include <unordered_set>

#include "autograph/activity.h"
#include "autograph/lowering.h"
#include "autograph/symbols.h"
#include "autograph/tree_maker.h"

namespace graphwright::autograph {

// Makes names that clash with nothing the function can see.
class Namer {
 public:
  Namer(NodeTable& table, Symbols& symbols, const LoweringOptions& options)
      : t_(table), s_(symbols), options_(options) {}

  // `root`, or `root_1`, `root_2`, ... `scope` is the place in `activity` whose names (and those
  // around it) are taken; without an activity, every identifier of the function is.
  StringId new_name(std::string_view root, const Activity* activity, ScopeId scope);
  bool made(const std::string& name) const { return made_.count(name) != 0; }
  const std::unordered_set<std::string>& all_made() const { return made_; }

 private:
  NodeTable& t_;
  Symbols& s_;
  const LoweringOptions& options_;
  std::unordered_set<std::string> made_;
};

struct LoweringState {
  LoweringState(NodeTable& table_in, const LoweringOptions& options_in)
      : table(table_in),
        options(options_in),
        symbols(table_in),
        namer(table_in, symbols, options_in) {}

  bool lean() const { return options.shape == Shape::kLean; }

  NodeTable& table;
  const LoweringOptions& options;
  Symbols symbols;
  Namer namer;
  // Of the tree before any pass; made only where a clash of names is possible.
  std::unique_ptr<Activity> original_activity;
};

// Refuses what cannot be converted, and marks functions inside that stay as they are.
void check_supported(NodeTable* table, NodeId root, Shape shape);
// Marks the names whose reading the TensorFlow shape shows as `ag__.ld`.
void mark_user_names(NodeTable* table, NodeId root);

NodeId wrap_functions(LoweringState* state, NodeId root);      // function scopes
NodeId take_directives(LoweringState* state, NodeId root);     // loop options
NodeId lower_breaks(LoweringState* state, NodeId root);        // break to a flag and continue
NodeId lower_continues(LoweringState* state, NodeId root);     // continue to a flag
NodeId lower_returns(LoweringState* state, NodeId root);       // return to a flag and a value
NodeId lower_calls(LoweringState* state, NodeId root);         // calls to the call operator
NodeId lower_control_flow(LoweringState* state, NodeId root);  // if, while, for to operators
NodeId lower_expressions(LoweringState* state, NodeId root);  // conditional and logical expressions
NodeId lower_variables(LoweringState* state, NodeId root);    // reads and deletions of variables

}  // namespace graphwright::autograph
