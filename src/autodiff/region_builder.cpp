#include "autodiff/region_builder.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "ir/opdef.h"

namespace graphwright {
namespace {

size_t position_of(const Node& node) {
  const std::vector<Node*>& nodes = node.block->nodes;
  auto found = std::find(nodes.begin(), nodes.end(), &node);
  if (found == nodes.end()) throw_internal("a loop's gradient was asked for before the loop ended");
  return static_cast<size_t>(found - nodes.begin());
}

// A constant in front of the node.
Value* constant_before(Node& node, const Tensor& tensor) {
  const OpDef& op = get_op("Const");
  Attributes attributes = named_attributes(op, {{"value", tensor}, {"dtype", tensor.dtype()}});
  return node.block->graph
      ->insert_node(*node.block, position_of(node), op, {}, std::move(attributes),
                    {tensor_type(tensor.dtype(), tensor.shape())})
      ->outputs[0];
}

// An element shape as list ops take it: -1 for unknown dims, a scalar -1 for unknown rank.
Tensor element_shape_tensor(const PartialShape& shape) {
  if (!shape.has_rank()) return Tensor::int32_scalar(-1);
  std::vector<int32_t> dims;
  for (Dim dim : shape.dims()) dims.push_back(is_known(dim) ? static_cast<int32_t>(dim) : -1);
  return Tensor::vector<int32_t>(DType::kInt32, dims);
}

// A value of the same type for the branch that does not compute it; it is never read.
Value* unused_value(Graph& graph, Block& block, const ValueType& type) {
  if (type.dtype == DType::kVariant) {
    auto constant = [&](Tensor tensor) {
      const OpDef& op = get_op("Const");
      PartialShape shape = tensor.shape();
      DType dtype = tensor.dtype();
      return graph
          .add_node(block, op, {}, named_attributes(op, {{"value", tensor}, {"dtype", dtype}}),
                    {tensor_type(dtype, shape)})
          ->outputs[0];
    };
    DType element = type.handle ? type.handle->dtype : DType::kFloat;
    const OpDef& op = get_op("EmptyTensorList");
    Value* shape = constant(Tensor::int32_scalar(-1));
    Value* count = constant(Tensor::int32_scalar(-1));
    return graph
        .add_node(block, op, {shape, count}, named_attributes(op, {{"element_dtype", element}}),
                  {type})
        ->outputs[0];
  }
  if (type.dtype == DType::kResource) {
    throw_unimplemented(
        "the gradient of a branch needs a resource that the branch itself makes; make it outside");
  }
  const OpDef& op = get_op("Const");
  std::vector<int64_t> dims;
  if (type.shape.is_fully_defined()) {
    dims.assign(type.shape.dims().begin(), type.shape.dims().end());
  }
  // Zeros of a large shape would be kept by the graph: without elements they say as much.
  if (!dims.empty() && type.shape.element_count().value_or(0) > 64) dims.assign(1, 0);
  Tensor zeros = Tensor::zeros(type.dtype, dims);
  return graph
      .add_node(block, op, {}, named_attributes(op, {{"value", zeros}, {"dtype", type.dtype}}),
                {tensor_type(type.dtype, zeros.shape())})
      ->outputs[0];
}

}  // namespace

CarriedValue add_carried_value(Node& loop, Value* initial) {
  Graph& graph = *loop.block->graph;
  loop.inputs.push_back(initial);
  graph.add_argument(*loop.blocks[0], initial->type);
  CarriedValue carried;
  carried.position = loop.blocks[1]->results.size();
  carried.body_argument = graph.add_argument(*loop.blocks[1], initial->type);
  loop.blocks[1]->results.push_back(carried.body_argument);
  carried.output = graph.add_output(loop, initial->type);
  return carried;
}

RegionBuilder::RegionBuilder(GraphBuilder& outer, Node& node)
    : GraphBuilder(outer.graph(), outer.block()), outer_(outer), node_(node) {}

void RegionBuilder::enter_region(const Block& region, Operand iteration) {
  region_ = &region;
  home_ = &block();
  iteration_ = std::move(iteration);
  recalled_.clear();
}

Value* RegionBuilder::import(const Operand& operand) {
  if (operand.is_value()) {
    Value* value = operand.value();
    if (value->block == region_) return recall(*value);
    if (block().sees(*value)) return value;
  }
  return outer_.import(operand);
}

void RegionBuilder::apply(const OpDef& op, std::span<const Operand> inputs,
                          const Attributes& attributes, OperandVector& outputs,
                          std::string_view name) {
  Value* list = inputs.size() == 1 && inputs[0].is_value() ? inputs[0].value() : nullptr;
  bool of_list = op.name == "TensorListLength" || op.name == "TensorListElementShape";
  if (!of_list || !list || list->block != region_) {
    return GraphBuilder::apply(op, inputs, attributes, outputs, name);
  }
  // Of an argument, at the start of the block; else right behind the node.
  Block& block = *list->block;
  size_t position = list->node ? position_of(*list->node) + 1 : 0;
  PartialShape shape = PartialShape::scalar();
  if (op.name == "TensorListElementShape") {
    PartialShape element = list->type.is_list() ? list->type.handle->shape : PartialShape();
    shape = element.has_rank() ? PartialShape{element.rank()} : PartialShape();
  }
  DType dtype = DType::kInt32;
  if (op.name == "TensorListElementShape") {
    dtype = AttributeReader(op, attributes).type("shape_type");
  }
  Node* node = block.graph->insert_node(block, position, op, {list}, attributes,
                                        {tensor_type(dtype, std::move(shape))});
  outputs.push_back(Operand(import(Operand(node->outputs[0]))));
}

Value* RegionBuilder::recall(Value& value) {
  auto known = recalled_.find(&value);
  if (known != recalled_.end()) return known->second;
  Value* result;
  if (value.node && value.node->op->name == "Const") {
    AttributeReader attributes(*value.node->op, value.node->attributes);
    result = add_constant(std::get<Tensor>(attributes.value("value")), {});
  } else if (iteration_ && !value.node && value.index == 0) {
    return iteration_.value();  // the loop's counter
  } else {
    result = iteration_ ? recall_from_loop(value) : recall_from_branch(value);
  }
  // Made in an inner block, it is not visible outside it.
  if (&block() == home_) recalled_.emplace(&value, result);
  return result;
}

// The list of the value's iterations that the loop hands out already, for an earlier gradient.
Value* RegionBuilder::list_of_iterations(const Value& value) const {
  const Block& body = *node_.blocks[1];
  for (size_t i = 0; i < body.results.size(); ++i) {
    const Node* push = body.results[i]->node;
    const Node* initial = node_.inputs[i + 1]->node;
    if (push && push->op->name == "TensorListPushBack" && push->inputs[1] == &value &&
        push->inputs[0] == body.arguments[i + 1] && initial &&
        initial->op->name == "EmptyTensorList") {
      return node_.outputs[i + 1];
    }
  }
  return nullptr;
}

Value* RegionBuilder::recall_from_loop(Value& value) {
  DType dtype = value.dtype();
  Tensor element_shape = element_shape_tensor(value.shape());
  if (dtype == DType::kVariant) element_shape = Tensor::vector<int32_t>(DType::kInt32, {});
  Value* list = list_of_iterations(value);
  if (!list) list = push_in_loop(value, element_shape);
  // The gradient reads the element of its iteration.
  Value* handle = outer_.import(Operand(list));
  const OpDef& get = get_op("TensorListGetItem");
  Value* element_shape_here = add_constant(element_shape, {});
  return add(get, {handle, iteration_.value(), element_shape_here},
             named_attributes(get, {{"element_dtype", dtype}}), {value.type})
      ->outputs[0];
}

// The forward loop pushes the value to a list in every iteration.
Value* RegionBuilder::push_in_loop(Value& value, const Tensor& element_shape) {
  Graph& graph = *node_.block->graph;
  DType dtype = value.dtype();
  const OpDef& make = get_op("EmptyTensorList");
  Value* shape = constant_before(node_, element_shape);
  Value* count = constant_before(node_, Tensor::int32_scalar(-1));
  ValueType type = list_type(dtype, value.shape().without_symbols());
  Value* empty = graph
                     .insert_node(*node_.block, position_of(node_), make, {shape, count},
                                  named_attributes(make, {{"element_dtype", dtype}}), {type})
                     ->outputs[0];
  CarriedValue list = add_carried_value(node_, empty);
  Block& body = *node_.blocks[1];
  const OpDef& push = get_op("TensorListPushBack");
  body.results[list.position] =
      graph.add_node(body, push, {list.body_argument, &value}, {}, {type})->outputs[0];
  return list.output;
}

Value* RegionBuilder::recall_from_branch(Value& value) {
  Graph& graph = *node_.block->graph;
  ValueType type = value.type;
  for (auto& branch : node_.blocks) {
    if (branch.get() == region_) {
      branch->results.push_back(&value);
    } else {
      Value* unused = unused_value(graph, *branch, value.type);
      branch->results.push_back(unused);
      if (unused->type.dtype != DType::kVariant) {
        type.shape = type.shape.common_supertype(unused->shape());
      }
    }
  }
  Value* output = outer_.import(Operand(graph.add_output(node_, type)));
  // In the gradient of this branch it has the type that it has in the branch.
  if (output->shape() == value.shape()) return output;
  return add(get_op("Identity"), {output}, {}, {value.type})->outputs[0];
}

}  // namespace graphwright
