#include "runtime/row_slices.h"

#include <algorithm>
#include <cstring>

#include "ir/kernel_context.h"
#include "ir/opdef.h"
#include "runtime/op_dispatch.h"

namespace graphwright::runtime {
namespace {

bool is_index(const TreeValue& value) {
  return value.dense && value.element_count == 1 && value.dims.empty() &&
         (value.dtype == DType::kInt32 || value.dtype == DType::kInt64);
}

// The values that the vector is made of, or nothing.
std::vector<ValueId> packed_indices(const PlanTree& tree, ValueId vector) {
  const TreeValue& value = tree.value(vector);
  if (!value.definition || value.definition->node->op->name != "Pack") return {};
  for (ValueId id : value.definition->inputs) {
    if (!is_index(tree.value(id))) return {};
  }
  return value.definition->inputs;
}

void consider(PlanTree& tree, TreeNode& node) {
  if (node.kind != NodeKind::kOp || node.node->op->name != "StridedSlice") return;
  const AttributeReader attributes(*node.node->op, node.node->attributes);
  for (const char* mask : {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"}) {
    if (attributes.integer(mask) != 0) return;
  }
  std::vector<ValueId> indices = packed_indices(tree, node.inputs[1]);
  const TreeValue& steps = tree.value(node.inputs[3]);
  if (indices.empty() || indices.size() > kMaxRowIndices || !steps.constant) return;
  if (attributes.integer("shrink_axis_mask") != (int64_t{1} << indices.size()) - 1) return;
  for (size_t i = 0; i < indices.size(); ++i) {
    const bool wide = steps.dtype == DType::kInt64;
    if ((wide ? steps.constant.data<int64_t>()[i] : steps.constant.data<int32_t>()[i]) != 1) return;
  }
  const TreeValue& source = tree.value(node.inputs[0]);
  const TreeValue& row = tree.value(node.outputs[0]);
  if (!source.dense || !row.dense || source.dims.size() < indices.size() ||
      row.dims.size() != source.dims.size() - indices.size() ||
      !std::equal(row.dims.begin(), row.dims.end(),
                  source.dims.begin() + static_cast<std::ptrdiff_t>(indices.size()))) {
    return;
  }
  node.inputs.resize(1);
  node.inputs.insert(node.inputs.end(), indices.begin(), indices.end());
  node.is_row_slice = true;
}

void visit(PlanTree& tree, TreeBlock& block) {
  for (auto& node : block.nodes) {
    consider(tree, *node);
    for (auto& inner : node->blocks) visit(tree, *inner);
  }
}

// What the kernel itself says.
[[gnu::noinline, gnu::cold]] Status out_of_bounds(const Tensor& source, const Node& node,
                                                  std::span<const int64_t> indices) {
  const DType dtype = node.inputs[1]->dtype();
  const std::array<int64_t, 1> dims{static_cast<int64_t>(indices.size())};
  Tensor bounds[3];
  for (int k = 0; k < 3; ++k) {
    bounds[k] = Tensor::empty(dtype, dims);
    for (size_t i = 0; i < indices.size(); ++i) {
      const int64_t value = k == 0 ? indices[i] : k == 1 ? indices[i] + 1 : 1;
      if (dtype == DType::kInt64) {
        bounds[k].mutable_data<int64_t>()[i] = value;
      } else {
        bounds[k].mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
      }
    }
  }
  const Tensor* inputs[] = {&source, &bounds[0], &bounds[1], &bounds[2]};
  Tensor output;
  KernelContext context(*node.op, node.attributes, inputs, std::span(&output, 1));
  Status status = call_kernel(node.op->compute.kernel, context);
  return status.ok() ? Status(Code::kInternal, "An index in bounds was refused.") : status;
}

}  // namespace

void find_row_slices(PlanTree& tree) { visit(tree, tree.root()); }

Status run_row_slice(const RowSlice& slice, Frame& frame, const Node& node) {
  const Tensor& source = frame.tensors[static_cast<size_t>(slice.source)];
  const int64_t* dims = source.impl()->inline_dims;
  int64_t offset = 0;
  bool inside = true;
  int64_t indices[kMaxRowIndices];
  for (int i = 0; i < slice.count; ++i) {
    const void* at = frame.data[static_cast<size_t>(slice.indices[i])];
    indices[i] =
        slice.wide[i] ? *static_cast<const int64_t*>(at) : *static_cast<const int32_t*>(at);
    const int64_t index = indices[i] < 0 ? indices[i] + dims[i] : indices[i];
    inside = inside && index >= 0 && index < dims[i];
    offset = offset * dims[i] + index;
  }
  if (!inside) [[unlikely]] {
    try {
      return out_of_bounds(source, node, std::span(indices, static_cast<size_t>(slice.count)));
    } catch (...) {
      return status_of_exception();
    }
  }
  const size_t bytes = frame.tensors[static_cast<size_t>(slice.out)].byte_size();
  if (bytes > 0) {
    std::memcpy(frame.data[static_cast<size_t>(slice.out)],
                static_cast<const char*>(source.raw_data()) + static_cast<size_t>(offset) * bytes,
                bytes);
  }
  return Status();
}

}  // namespace graphwright::runtime
