#include "autograph/dataflow.h"

namespace graphwright::autograph {
namespace {

using namespace field;
using FunctionSet = SymbolSet;  // of function numbers

class Analyzer {
 public:
  Analyzer(const NodeTable& table, const Activity& activity, NodeId root)
      : t_(table), a_(activity), graphs_(build_control_flow_graphs(table, root)) {
    for (auto& [function, graph] : graphs_) {
      numbers_.emplace(function, static_cast<uint32_t>(functions_.size()));
      functions_.push_back(function);
    }
    for (auto& [function, graph] : graphs_) {
      if (!reached_.contains(numbers_[function])) has_point_of_parent(graph);
    }
    // Functions that stand at a point of another are analysed from there, with the functions that
    // reach them.
    for (auto& [function, graph] : graphs_) {
      if (!reached_.contains(numbers_[function])) analyse(function, {});
    }
  }

  std::unordered_map<NodeId, StatementFlow> result;

 private:
  void has_point_of_parent(const ControlFlowGraph& graph) {
    for (const auto& point : graph.points) {
      auto found = numbers_.find(point.node);
      if (found != numbers_.end()) reached_.add(found->second);
    }
  }

  void analyse(NodeId function, const FunctionSet& outer_functions) {
    const ControlFlowGraph& graph = graphs_.at(function);
    size_t count = graph.points.size();
    std::vector<bool> forward = reachable(graph, {0}, &ControlFlowGraph::Point::next);
    std::vector<bool> backward = reachable(graph, graph.exits, &ControlFlowGraph::Point::previous);

    // Which functions may exist.
    std::vector<FunctionSet> functions_in(count), functions_out(count);
    functions_in[0] = outer_functions;
    fixpoint(count, true, [&](uint32_t id) {
      if (!forward[id]) return false;
      FunctionSet in = functions_in[id];
      for (uint32_t from : graph.points[id].previous) in |= functions_out[from];
      FunctionSet out = in;
      auto found = numbers_.find(graph.points[id].node);
      if (found != numbers_.end()) out.add(found->second);
      bool changed = !(out == functions_out[id]) || !(in == functions_in[id]);
      functions_in[id] = std::move(in);
      functions_out[id] = std::move(out);
      return changed;
    });

    // What may be defined.
    std::vector<SymbolSet> defined(count);
    fixpoint(count, true, [&](uint32_t id) {
      if (!forward[id]) return false;
      SymbolSet out;
      for (uint32_t from : graph.points[id].previous) out |= defined[from];
      if (ScopeId scope_id = a_.of(graph.points[id].node)) {
        const Scope& scope = a_.scope(scope_id);
        out -= scope.modified;
        out -= scope.deleted;
        SymbolSet made = scope.bound;
        made |= scope.globals;
        made -= scope.deleted;
        out |= made;
        out |= scope.params;
      }
      bool changed = !(out == defined[id]);
      defined[id] = std::move(out);
      return changed;
    });

    // What is live.
    std::vector<SymbolSet> live(count);
    fixpoint(count, false, [&](uint32_t id) {
      if (!backward[id]) return false;
      SymbolSet in;
      for (uint32_t to : graph.points[id].next) in |= live[to];
      if (ScopeId scope_id = a_.of(graph.points[id].node)) {
        const Scope& scope = a_.scope(scope_id);
        in -= scope.modified;
        in -= scope.deleted;
        in |= scope.read;
        for (uint32_t number : functions_in[id].members()) {
          NodeId reaching = functions_[number];
          if (t_.kind(reaching) == Kind::kLambda) continue;
          const Scope& whole = a_.scope(a_.arguments_and_body(reaching));
          SymbolSet closure = whole.read;
          closure -= whole.bound;
          in |= closure;
        }
      }
      bool changed = !(in == live[id]);
      live[id] = std::move(in);
      return changed;
    });

    for (const auto& [statement, after] : graph.after) {
      NodeId entry = 0;
      switch (t_.kind(statement)) {
        case Kind::kIf:
          entry = t_.get(statement, kIfTest);
          break;
        case Kind::kWhile:
          entry = t_.get(statement, kWhileTest);
          break;
        case Kind::kFor:
          entry = t_.get(statement, kForIter);
          break;
        default:
          continue;
      }
      StatementFlow& flow = result[statement];
      flow.live_in = live[graph.index.at(entry)];
      for (uint32_t id : after) flow.live_out |= live[id];
      auto before = graph.before.find(statement);
      if (before != graph.before.end()) {
        for (uint32_t id : before->second) flow.defined_in |= defined[id];
      }
    }

    for (uint32_t id = 0; id < count; ++id) {
      NodeId node = graph.points[id].node;
      if (numbers_.count(node) != 0) analyse(node, functions_in[id]);
    }
  }

  static std::vector<bool> reachable(const ControlFlowGraph& graph, std::vector<uint32_t> open,
                                     std::vector<uint32_t> ControlFlowGraph::Point::* edges) {
    std::vector<bool> seen(graph.points.size(), false);
    while (!open.empty()) {
      uint32_t id = open.back();
      open.pop_back();
      if (seen[id]) continue;
      seen[id] = true;
      for (uint32_t other : graph.points[id].*edges) open.push_back(other);
    }
    return seen;
  }

  // The equations only ever add, so sweeping until nothing changes gives the least solution. Points
  // are in textual order, so code without loops needs one sweep, and one to see that.
  template <typename F>
  static void fixpoint(size_t count, bool forwards, F update) {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < count; ++i) {
        changed |= update(static_cast<uint32_t>(forwards ? i : count - 1 - i));
      }
    }
  }

  const NodeTable& t_;
  const Activity& a_;
  std::unordered_map<NodeId, ControlFlowGraph> graphs_;
  std::vector<NodeId> functions_;
  std::unordered_map<NodeId, uint32_t> numbers_;
  FunctionSet reached_;
};

}  // namespace

std::unordered_map<NodeId, StatementFlow> analyse_dataflow(const NodeTable& table,
                                                           const Activity& activity, NodeId root) {
  return std::move(Analyzer(table, activity, root).result);
}

}  // namespace graphwright::autograph
