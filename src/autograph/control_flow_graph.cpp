#include "autograph/control_flow_graph.h"

#include <algorithm>

namespace graphwright::autograph {
namespace {

using namespace field;
using PointIds = std::vector<uint32_t>;

void add_unique(PointIds* ids, uint32_t id) {
  if (std::find(ids->begin(), ids->end(), id) == ids->end()) ids->push_back(id);
}
void merge(PointIds* into, const PointIds& from) {
  for (uint32_t id : from) add_unique(into, id);
}

// Builds the graph of one function; points arrive in the order of the text, and follow the current
// leaves.
class GraphBuilder {
 public:
  GraphBuilder(const NodeTable& table, NodeId function,
               std::unordered_map<NodeId, ControlFlowGraph>* graphs)
      : t_(table), function_(function), graphs_(*graphs) {}

  ControlFlowGraph build() {
    bool is_lambda = t_.kind(function_) == Kind::kLambda;
    NodeId arguments = t_.get(function_, is_lambda ? int{kLambdaArgs} : int{kFunctionArgs});
    expressions(arguments);
    point(arguments);
    if (is_lambda) {
      NodeId body = t_.get(function_, kLambdaBody);
      expressions(body);
      jump(body);
      function_exits_.push_back({static_cast<uint32_t>(graph_.points.size() - 1), {}});
    } else {
      block(t_.list_field(function_, kFunctionBody));
    }
    for (const Jump& exit : function_exits_) merge(&leaves_, through_finally(exit));
    graph_.exits = leaves_;
    statement_edges();
    return std::move(graph_);
  }

  // For code outside any function's graph (a class body): only the functions in it matter.
  void functions_in(NodeId node) { expressions(node); }

 private:
  struct Jump {
    uint32_t point;
    std::vector<NodeId> guards;  // try statements whose finally block runs first, innermost first
  };
  struct Loop {
    NodeId node;
    size_t lexical_depth;
    std::vector<Jump> breaks;
    std::vector<Jump> continues;
  };
  struct Finally {
    uint32_t first = UINT32_MAX;
    PointIds last;
  };

  void connect(uint32_t from, uint32_t to) {
    add_unique(&graph_.points[from].next, to);
    add_unique(&graph_.points[to].previous, from);
  }

  uint32_t point(NodeId node) {
    uint32_t id = static_cast<uint32_t>(graph_.points.size());
    graph_.points.push_back({node, {}, {}});
    graph_.index[node] = id;
    owners_.push_back(active_);
    for (uint32_t leaf : leaves_) connect(leaf, id);
    for (NodeId pending : pending_finally_) finally_[pending].first = id;
    pending_finally_.clear();
    leaves_ = {id};
    return id;
  }

  uint32_t jump(NodeId node) {
    uint32_t id = point(node);
    leaves_.clear();
    return id;
  }

  // Try statements with a finally block, from the innermost out to lexical depth `depth`.
  std::vector<NodeId> finally_guards(size_t depth) const {
    std::vector<NodeId> guards;
    for (size_t i = tries_.size(); i-- > depth;) {
      if (t_.get(tries_[i], kTryFinalbody) != 0) guards.push_back(tries_[i]);
    }
    return guards;
  }

  PointIds through_finally(const Jump& jump) {
    PointIds cursor = {jump.point};
    for (NodeId guard : jump.guards) {
      auto found = finally_.find(guard);
      if (found == finally_.end() || found->second.first == UINT32_MAX) continue;
      for (uint32_t from : cursor) connect(from, found->second.first);
      cursor = found->second.last;
    }
    return cursor;
  }

  // Functions and lambdas inside an expression get graphs of their own, and a point in this one.
  void expressions(NodeId node) {
    if (node == 0) return;
    Kind kind = t_.kind(node);
    if (kind == Kind::kLambda || kind == Kind::kFunctionDef || kind == Kind::kAsyncFunctionDef) {
      if (function_ != 0) point(node);
      ControlFlowGraph graph = GraphBuilder(t_, node, &graphs_).build();
      graphs_.emplace(node, std::move(graph));
      return;
    }
    std::span<const FieldSpec> specs = kind_spec(kind).fields;
    for (size_t i = 0; i < specs.size(); ++i) {
      if (specs[i].type == FieldType::kNode) {
        expressions(t_.get(node, i));
      } else if (specs[i].type == FieldType::kNodeList || specs[i].type == FieldType::kBlock) {
        for (NodeId child : t_.list_field(node, i)) expressions(child);
      }
    }
  }

  void block(std::span<const uint32_t> statements) {
    for (NodeId statement : statements) visit(statement);
  }

  void simple(NodeId node) {
    expressions(node);
    point(node);
  }

  void visit(NodeId node) {
    switch (t_.kind(node)) {
      case Kind::kFunctionDef:
      case Kind::kAsyncFunctionDef:
        expressions(node);
        break;
      case Kind::kClassDef:
        point(node);
        for (int f : {kClassBases, kClassKeywords, kClassBody, kClassDecorators}) {
          for (NodeId child : t_.list_field(node, f))
            GraphBuilder(t_, 0, &graphs_).functions_in(child);
        }
        break;
      case Kind::kReturn:
        expressions(node);
        function_exits_.push_back({jump(node), finally_guards(0)});
        break;
      case Kind::kRaise: {
        expressions(node);
        uint32_t id = jump(node);
        function_exits_.push_back({id, finally_guards(0)});
        for (size_t i = tries_.size(); i-- > 0;) {
          for (NodeId handler : t_.list_field(tries_[i], kTryHandlers))
            raises_[handler].push_back(id);
        }
        break;
      }
      case Kind::kBreak:
        if (!loops_.empty()) {
          loops_.back().breaks.push_back({jump(node), finally_guards(loops_.back().lexical_depth)});
        }
        break;
      case Kind::kContinue:
        if (!loops_.empty()) {
          loops_.back().continues.push_back(
              {jump(node), finally_guards(loops_.back().lexical_depth)});
        }
        break;
      case Kind::kIf:
        if_statement(node);
        break;
      case Kind::kWhile:
        loop(node, t_.get(node, kWhileTest), 0, kWhileBody, kWhileOrelse);
        break;
      case Kind::kFor:
      case Kind::kAsyncFor:
        loop(node, t_.get(node, kForIter), t_.get(node, kForExtraTest), kForBody, kForOrelse);
        break;
      case Kind::kTry:
      case Kind::kTryStar:
        try_statement(node);
        break;
      case Kind::kWith:
      case Kind::kAsyncWith:
        for (NodeId item : t_.list_field(node, kWithItems)) simple(item);
        block(t_.list_field(node, kWithBody));
        break;
      case Kind::kMatch:
        match_statement(node);
        break;
      default:
        simple(node);
    }
  }

  void if_statement(NodeId node) {
    active_.push_back(node);
    NodeId test = t_.get(node, kIfTest);
    simple(test);
    PointIds split = leaves_;
    block(t_.list_field(node, kIfBody));
    PointIds after_body = std::move(leaves_);
    leaves_ = std::move(split);
    block(t_.list_field(node, kIfOrelse));
    merge(&leaves_, after_body);
    active_.pop_back();
  }

  void match_statement(NodeId node) {
    active_.push_back(node);
    simple(t_.get(node, 0));
    PointIds split = leaves_;
    PointIds after = leaves_;  // no case may fit
    for (NodeId match_case : t_.list_field(node, 1)) {
      leaves_ = split;
      block(t_.list_field(match_case, 2));
      merge(&after, leaves_);
    }
    leaves_ = std::move(after);
    active_.pop_back();
  }

  void loop(NodeId node, NodeId entry, NodeId extra_test, int body, int orelse) {
    active_.push_back(node);
    loops_.push_back({node, tries_.size(), {}, {}});
    expressions(entry);
    uint32_t entry_point = point(entry);
    if (extra_test != 0) simple(extra_test);
    block(t_.list_field(node, body));
    for (uint32_t leaf : leaves_) connect(leaf, entry_point);
    Loop done = std::move(loops_.back());
    loops_.pop_back();
    for (const Jump& again : done.continues) {
      for (uint32_t from : through_finally(again)) connect(from, entry_point);
    }
    leaves_ = {entry_point};
    block(t_.list_field(node, orelse));
    for (const Jump& out : done.breaks) merge(&leaves_, through_finally(out));
    active_.pop_back();
  }

  void try_statement(NodeId node) {
    active_.push_back(node);
    tries_.push_back(node);
    block(t_.list_field(node, kTryBody));
    if (!t_.list_field(node, kTryOrelse).empty()) {
      PointIds before = leaves_;
      block(t_.list_field(node, kTryOrelse));
      merge(&leaves_, before);
    }
    tries_.pop_back();
    auto handlers = t_.list_field(node, kTryHandlers);
    if (!handlers.empty()) {
      PointIds split = leaves_;
      PointIds after;
      for (NodeId handler : handlers) {
        merge(&split, raises_[handler]);
        leaves_ = split;
        active_.push_back(handler);
        expressions(t_.get(handler, kHandlerType));
        block(t_.list_field(handler, kHandlerBody));
        active_.pop_back();
        merge(&after, leaves_);
      }
      merge(&after, split);
      leaves_ = std::move(after);
    }
    auto finally_block = t_.list_field(node, kTryFinalbody);
    if (!finally_block.empty()) {
      bool direct = !leaves_.empty();
      finally_[node] = {};
      pending_finally_.push_back(node);
      block(finally_block);
      finally_[node].last = leaves_;
      if (!direct) leaves_.clear();
    }
    active_.pop_back();
  }

  void statement_edges() {
    for (uint32_t id = 0; id < graph_.points.size(); ++id) {
      for (NodeId owner : owners_[id]) {
        graph_.before[owner];
        graph_.after[owner];
      }
    }
    auto contains = [](const std::vector<NodeId>& owners, NodeId owner) {
      return std::find(owners.begin(), owners.end(), owner) != owners.end();
    };
    for (uint32_t from = 0; from < graph_.points.size(); ++from) {
      for (uint32_t to : graph_.points[from].next) {
        for (NodeId owner : owners_[from]) {
          if (!contains(owners_[to], owner)) add_unique(&graph_.after[owner], to);
        }
        for (NodeId owner : owners_[to]) {
          if (!contains(owners_[from], owner)) add_unique(&graph_.before[owner], from);
        }
      }
    }
  }

  const NodeTable& t_;
  NodeId function_;
  std::unordered_map<NodeId, ControlFlowGraph>& graphs_;
  ControlFlowGraph graph_;
  PointIds leaves_;
  std::vector<NodeId> active_;               // compound statements around
  std::vector<std::vector<NodeId>> owners_;  // the same, per point
  std::vector<NodeId> tries_;
  std::vector<Loop> loops_;
  std::vector<Jump> function_exits_;
  std::unordered_map<NodeId, Finally> finally_;
  std::vector<NodeId> pending_finally_;
  std::unordered_map<NodeId, PointIds> raises_;
};

}  // namespace

std::unordered_map<NodeId, ControlFlowGraph> build_control_flow_graphs(const NodeTable& table,
                                                                       NodeId root) {
  std::unordered_map<NodeId, ControlFlowGraph> graphs;
  GraphBuilder(table, 0, &graphs).functions_in(root);
  return graphs;
}

}  // namespace graphwright::autograph
