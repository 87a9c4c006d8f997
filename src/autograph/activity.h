// Which symbols every part of a function reads, modifies, binds and deletes.
//
// A scope is the activity of one piece of code: a statement, a test, a block, a function. Scopes
// that are not isolated report to the scope around them; a function's own scope is isolated, and
// reports only what it reads and does not bind.
#pragma once

#include <vector>

#include "autograph/node_table.h"
#include "autograph/symbols.h"

namespace graphwright::autograph {

using ScopeId = uint32_t;  // 0: no scope

struct Scope {
  ScopeId parent = 0;
  bool isolated = false;
  SymbolSet read = {};
  SymbolSet modified = {};
  SymbolSet deleted = {};
  SymbolSet bound = {};
  SymbolSet globals = {};    // declared `global` here
  SymbolSet nonlocals = {};  // declared `nonlocal` here
  SymbolSet params = {};
  SymbolSet isolated_names = {};  // not reported: the name of an except clause
};

class Activity {
 public:
  // Analyses the tree under `root`. The table must not change while this object is used.
  Activity(const NodeTable& table, Symbols* symbols, NodeId root);

  const Scope& scope(ScopeId id) const { return scopes_[id]; }
  // The activity of a statement, a test, an iterated expression, a with item, the arguments of a
  // function.
  ScopeId of(NodeId node) const { return at(node_scope_, node); }
  ScopeId body(NodeId node) const { return at(body_scope_, node); }      // of a function, loop, if
  ScopeId orelse(NodeId node) const { return at(orelse_scope_, node); }  // of an if
  ScopeId iterate(NodeId node) const { return at(iterate_scope_, node); }  // binding a for's target
  ScopeId arguments_and_body(NodeId node) const { return at(whole_scope_, node); }  // of a function

  // What the scope and all scopes around it read.
  SymbolSet referenced(ScopeId scope) const;

 private:
  class Builder;
  static ScopeId at(const std::vector<ScopeId>& scopes, NodeId node) {
    return node < scopes.size() ? scopes[node] : 0;
  }
  std::vector<Scope> scopes_;
  std::vector<ScopeId> node_scope_, body_scope_, orelse_scope_, iterate_scope_, whole_scope_;
};

}  // namespace graphwright::autograph
