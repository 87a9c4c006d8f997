// Convolutions.
#include <algorithm>

#include "kernels/conv2d.h"
#include "kernels/strided_copy.h"
#include "ops/op_support.h"

namespace graphwright {
namespace {

// The attributes of a convolution, checked.
struct ConvAttributes {
  bool channels_last;
  std::string padding;
  std::array<int64_t, 2> stride, dilation;  // height, width
  std::array<int64_t, 4> explicit_padding;  // top, bottom, left, right
  int height_axis() const { return channels_last ? 1 : 2; }
  int channel_axis() const { return channels_last ? 3 : 1; }
};
ConvAttributes conv_attributes(const AttributeReader& attributes) {
  ConvAttributes result;
  result.channels_last = attributes.string("data_format") == "NHWC";
  result.padding = attributes.string("padding");
  size_t height = static_cast<size_t>(result.height_axis());
  size_t channel = static_cast<size_t>(result.channel_axis());
  auto spatial = [&](std::string_view name) -> std::array<int64_t, 2> {
    const std::vector<int64_t>& values = attributes.integers(name);
    if (values.size() != 4) {
      throw_invalid_argument("The attribute " + std::string(name) +
                             " must specify 4 dimensions, got " + std::to_string(values.size()));
    }
    if (values[0] != 1 || values[channel] != 1) {
      throw_unimplemented("Convolutions with " + std::string(name) +
                          " in the batch and depth dimensions are not supported");
    }
    if (values[height] < 1 || values[height + 1] < 1) {
      throw_invalid_argument("The " + std::string(name) + " of a convolution must be positive");
    }
    return {values[height], values[height + 1]};
  };
  result.stride = spatial("strides");
  result.dilation = spatial("dilations");
  const std::vector<int64_t>& paddings = attributes.integers("explicit_paddings");
  result.explicit_padding = {};
  if (result.padding == "EXPLICIT") {
    if (paddings.size() != 8) {
      throw_invalid_argument("explicit_paddings must hold 8 values, got " +
                             std::to_string(paddings.size()));
    }
    if (std::ranges::any_of(paddings, [](int64_t value) { return value < 0; })) {
      throw_invalid_argument("All elements of explicit_paddings must be nonnegative");
    }
    if (paddings[0] || paddings[1] || paddings[2 * channel] || paddings[2 * channel + 1]) {
      throw_invalid_argument("Nonzero explicit padding in the batch or depth dimension");
    }
    for (size_t i = 0; i < 4; ++i) result.explicit_padding[i] = paddings[2 * height + i];
  } else if (!paddings.empty()) {
    throw_invalid_argument(
        "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
  }
  return result;
}

// One spatial dimension: its output size and padding before and after.
struct Window {
  int64_t output, before, after;
};
Window window_of(const ConvAttributes& attributes, size_t axis, int64_t input, int64_t kernel) {
  int64_t stride = attributes.stride[axis];
  int64_t extent = (kernel - 1) * attributes.dilation[axis] + 1;
  if (attributes.padding == "SAME") {
    int64_t output = (input + stride - 1) / stride;
    int64_t total = std::max<int64_t>(0, (output - 1) * stride + extent - input);
    return {output, total / 2, total - total / 2};
  }
  int64_t before = attributes.explicit_padding[2 * axis];
  int64_t after = attributes.explicit_padding[2 * axis + 1];
  int64_t rest = input + before + after - extent;
  if (rest + stride < 0) {
    throw_invalid_argument(
        "Computed output size would be negative: " + std::to_string((rest + stride) / stride) +
        " [input_size: " + std::to_string(input) + ", effective_filter_size: " +
        std::to_string(extent) + ", stride: " + std::to_string(stride) + "]");
  }
  int64_t output = rest < 0 ? 0 : rest / stride + 1;
  return {output, before, after};
}

// Everything about a convolution of these images and filters.
GwConv2d geometry(const ConvAttributes& attributes, std::span<const int64_t> input,
                  std::span<const int64_t> filter) {
  if (input.size() != 4 || filter.size() != 4) {
    throw_invalid_argument("input and filter must be 4-dimensional, got shapes " +
                           dims_to_string(input) + " and " + dims_to_string(filter));
  }
  size_t height = static_cast<size_t>(attributes.height_axis());
  size_t channel = static_cast<size_t>(attributes.channel_axis());
  GwConv2d shape{};
  shape.batch = input[0];
  shape.in_channels = input[channel];
  shape.in_height = input[height];
  shape.in_width = input[height + 1];
  shape.kernel_height = filter[0];
  shape.kernel_width = filter[1];
  shape.out_channels = filter[3];
  if (filter[0] < 1 || filter[1] < 1 || filter[2] < 1) {
    throw_invalid_argument(
        "filter must not have zero elements (i.e. all dimensions must be "
        "non-zero), got shape " +
        dims_to_string(filter));
  }
  if (shape.in_channels % filter[2] != 0) {
    throw_invalid_argument("input depth must be evenly divisible by filter depth: " +
                           std::to_string(shape.in_channels) + " vs " + std::to_string(filter[2]));
  }
  shape.groups = std::max<int64_t>(1, shape.in_channels / filter[2]);
  if (shape.out_channels % shape.groups != 0) {
    throw_invalid_argument("output depth must be evenly divisible by number of groups: " +
                           std::to_string(shape.out_channels) + " vs " +
                           std::to_string(shape.groups));
  }
  Window rows = window_of(attributes, 0, shape.in_height, shape.kernel_height);
  Window columns = window_of(attributes, 1, shape.in_width, shape.kernel_width);
  shape.out_height = rows.output;
  shape.out_width = columns.output;
  shape.stride_height = attributes.stride[0];
  shape.stride_width = attributes.stride[1];
  shape.dilation_height = attributes.dilation[0];
  shape.dilation_width = attributes.dilation[1];
  shape.pad_top = rows.before;
  shape.pad_bottom = rows.after;
  shape.pad_left = columns.before;
  shape.pad_right = columns.after;
  shape.channels_last = attributes.channels_last;
  return shape;
}
std::array<int64_t, 4> output_dims(const GwConv2d& shape) {
  if (shape.channels_last) {
    return {shape.batch, shape.out_height, shape.out_width, shape.out_channels};
  }
  return {shape.batch, shape.out_channels, shape.out_height, shape.out_width};
}

// --- Shapes ---

ConvAttributes checked_attributes(ShapeContext& context) {
  try {
    return conv_attributes(context.attributes());
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
}
void shape_conv2d(ShapeContext& context) {
  ConvAttributes attributes = checked_attributes(context);
  PartialShape input = context.require_rank(0, 4), filter = context.require_rank(1, 4);
  int height = attributes.height_axis(), channel = attributes.channel_axis();
  PartialShape output = PartialShape::unknown_dims(4);
  output.set_dim(0, input.dim(0));
  output.set_dim(channel, filter.dim(3));
  try {
    if (is_known(input.dim(channel)) && is_known(filter.dim(2)) &&
        (filter.dim(2) == 0 || input.dim(channel) % filter.dim(2) != 0)) {
      throw_invalid_argument("input depth must be evenly divisible by filter depth: " +
                             std::to_string(input.dim(channel)) + " vs " +
                             std::to_string(filter.dim(2)));
    }
    for (size_t axis : {0, 1}) {
      Dim size = input.dim(height + static_cast<int>(axis));
      Dim kernel = filter.dim(static_cast<int>(axis));
      if (attributes.padding == "SAME" && attributes.stride[axis] == 1) {
        output.set_dim(height + static_cast<int>(axis), size);
      } else if (is_known(size) && is_known(kernel)) {
        output.set_dim(height + static_cast<int>(axis),
                       window_of(attributes, axis, size, kernel).output);
      }
    }
  } catch (const Error& error) {
    context.fail(error.detail().message);
  }
  context.set_output(0, std::move(output));
}
// The result has the sizes that input `Sizes` holds.
template <int Sizes>
void shape_backprop(ShapeContext& context) {
  checked_attributes(context);
  context.require_rank(Sizes, 1);
  for (int i = 0; i < 3; ++i) {
    if (i != Sizes) context.require_rank(i, 4);
  }
  PartialShape sizes = constant_as_shape(context.input(Sizes));
  if (sizes.has_rank() && sizes.rank() != 4) {
    // TensorFlow also takes the spatial sizes alone; batch and depth follow from the gradient.
    if (Sizes == 0 && sizes.rank() == 2)
      return context.set_output(0, PartialShape::unknown_dims(4));
    context.fail("the sizes must be a vector of 4 integers");
  }
  context.set_output(0, sizes.has_rank() ? sizes : PartialShape::unknown_dims(4));
}

// --- Kernels ---

void conv2d_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  const Tensor& filter = context.input(1);
  GwConv2d shape = geometry(conv_attributes(context.attributes()), input.dims(), filter.dims());
  Tensor& output = context.require_output(0, input.dtype(), output_dims(shape));
  if (output.element_count() == 0) return;
  if (input.element_count() == 0) {
    return kernels::clear_elements(output.dtype(), output.mutable_raw_data(),
                                   output.element_count());
  }
  kernels::conv2d_forward(input.dtype(), shape, input.raw_data(), filter.raw_data(),
                          output.mutable_raw_data());
}
// Geometry of a gradient, whose output gradient must have the convolution's output shape.
GwConv2d gradient_geometry(KernelContext& context, std::span<const int64_t> input,
                           std::span<const int64_t> filter, const Tensor& gradient) {
  GwConv2d shape = geometry(conv_attributes(context.attributes()), input, filter);
  std::array<int64_t, 4> wanted = output_dims(shape);
  if (!std::ranges::equal(gradient.dims(), wanted)) {
    fail(context, "out_backprop",
         "Size of out_backprop doesn't match computed: actual = " +
             dims_to_string(gradient.dims()) + ", computed = " + dims_to_string(wanted));
  }
  return shape;
}
void backprop_input_kernel(KernelContext& context) {
  std::vector<int64_t> sizes = integer_values(context.input(0));
  const Tensor& filter = context.input(1);
  const Tensor& gradient = context.input(2);
  ConvAttributes attributes = conv_attributes(context.attributes());
  if (sizes.size() == 2 && gradient.rank() == 4 && filter.rank() == 4) {
    sizes = attributes.channels_last
                ? std::vector<int64_t>{gradient.dim(0), sizes[0], sizes[1], filter.dim(2)}
                : std::vector<int64_t>{gradient.dim(0), filter.dim(2), sizes[0], sizes[1]};
  }
  checked_element_count(sizes);
  GwConv2d shape = gradient_geometry(context, sizes, filter.dims(), gradient);
  Tensor& output = context.require_output(0, filter.dtype(), sizes);
  if (output.element_count() == 0) return;
  if (gradient.element_count() == 0) {
    return kernels::clear_elements(output.dtype(), output.mutable_raw_data(),
                                   output.element_count());
  }
  kernels::conv2d_backward_input(filter.dtype(), shape, filter.raw_data(), gradient.raw_data(),
                                 output.mutable_raw_data());
}
void backprop_filter_kernel(KernelContext& context) {
  const Tensor& input = context.input(0);
  std::vector<int64_t> sizes = integer_values(context.input(1));
  const Tensor& gradient = context.input(2);
  checked_element_count(sizes);
  GwConv2d shape = gradient_geometry(context, input.dims(), sizes, gradient);
  Tensor& output = context.require_output(0, input.dtype(), sizes);
  if (output.element_count() == 0) return;
  if (gradient.element_count() == 0 || input.element_count() == 0) {
    return kernels::clear_elements(output.dtype(), output.mutable_raw_data(),
                                   output.element_count());
  }
  kernels::conv2d_backward_filter(input.dtype(), shape, input.raw_data(), gradient.raw_data(),
                                  output.mutable_raw_data());
}

// --- Derivatives: all three ops are linear in both of their tensors, and each other's gradients
// ---

Expression same_conv(Builder& builder, const AttributeReader& attributes, std::string_view op,
                     std::initializer_list<Operand> inputs) {
  return {builder, builder.op(op, inputs, copy_attributes(attributes, op))};
}
void gradient_conv2d(GradientContext& context) {
  if (!context.has_dy()) return;
  Builder& b = context.builder();
  Algebra f(b);
  const AttributeReader& a = context.attributes();
  Expression x = context.x(0), filter = context.x(1), dy = context.dy();
  if (context.needs(0)) {
    context.set_dx(0, same_conv(b, a, "Conv2DBackpropInput", {f.shape_of(x), filter, dy}));
  }
  if (context.needs(1)) {
    context.set_dx(1, same_conv(b, a, "Conv2DBackpropFilter", {x, f.shape_of(filter), dy}));
  }
}
void gradient_backprop_input(GradientContext& context) {
  if (!context.has_dy()) return;
  Builder& b = context.builder();
  Algebra f(b);
  const AttributeReader& a = context.attributes();
  Expression filter = context.x(1), slope = context.x(2), dy = context.dy();
  if (context.needs(1)) {
    context.set_dx(1, same_conv(b, a, "Conv2DBackpropFilter", {dy, f.shape_of(filter), slope}));
  }
  if (context.needs(2)) context.set_dx(2, same_conv(b, a, "Conv2D", {dy, filter}));
}
void gradient_backprop_filter(GradientContext& context) {
  if (!context.has_dy()) return;
  Builder& b = context.builder();
  Algebra f(b);
  const AttributeReader& a = context.attributes();
  Expression x = context.x(0), slope = context.x(2), dy = context.dy();
  if (context.needs(0)) {
    context.set_dx(0, same_conv(b, a, "Conv2DBackpropInput", {f.shape_of(x), dy, slope}));
  }
  if (context.needs(2)) context.set_dx(2, same_conv(b, a, "Conv2D", {x, dy}));
}
// The sum of the op with either of its two tensors replaced by its tangent.
template <int First, int Second>
void forward_bilinear(ForwardContext& context) {
  Expression total;
  for (int varied : {First, Second}) {
    if (!context.has_dx(varied)) continue;
    OperandVector inputs(context.inputs().begin(), context.inputs().end());
    inputs[static_cast<size_t>(varied)] = context.dx(varied);
    OperandVector outputs;
    context.builder().apply(context.attributes().op(), inputs, context.attributes().attributes(),
                            outputs);
    Expression part{context.builder(), outputs[0]};
    total = total ? total + part : part;
  }
  if (total) context.set_dy(0, total);
}

#define GW_CONV_ATTRIBUTES                                                  \
  "strides: list(int), use_cudnn_on_gpu: bool=true, "                       \
  "padding: {'SAME','VALID','EXPLICIT'}, explicit_paddings: list(int)=[], " \
  "data_format: {'NHWC','NCHW'}='NHWC', dilations: list(int)=[1,1,1,1]"

constexpr Reference kTested{.reason = "recorded from TensorFlow: tests/python/test_conv2d.py"};

constexpr std::array kTable{
    OpDef{
        .name = "Conv2D",
        .signature = "input: T, filter: T; " GW_CONV_ATTRIBUTES " -> output: T",
        .doc = "Two-dimensional convolution (cross-correlation) of images [batch, height, width, "
               "channels] (or [batch, channels, height, width]) with filters [height, width, "
               "channels / groups, output channels]. InvalidArgument where sizes do not fit.",
        .traits = kPure,
        .types = {{{"T", kFloating | DTypeSet::of(DType::kInt32)}}},
        .shape = shape_conv2d,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<conv2d_kernel>},
        .gradient = gradient_conv2d,
        .forward = forward_bilinear<0, 1>,
        .reference = kTested,
    },
    OpDef{
        .name = "Conv2DBackpropInput",
        .signature =
            "input_sizes: int32, filter: T, out_backprop: T; " GW_CONV_ATTRIBUTES " -> output: T",
        .doc = "The gradient of Conv2D by its input, whose shape is input_sizes, given that of its "
               "output.",
        .traits = kPure,
        .types = {{{"T", kFloating | DTypeSet::of(DType::kInt32)}}},
        .shape = shape_backprop<0>,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<backprop_input_kernel>},
        .gradient = gradient_backprop_input,
        .forward = forward_bilinear<1, 2>,
        .reference = kTested,
    },
    OpDef{
        .name = "Conv2DBackpropFilter",
        .signature =
            "input: T, filter_sizes: int32, out_backprop: T; " GW_CONV_ATTRIBUTES " -> output: T",
        .doc = "The gradient of Conv2D by its filter, whose shape is filter_sizes, given that of "
               "its output.",
        .traits = kPure,
        .types = {{{"T", kFloating}}},
        .shape = shape_backprop<1>,
        .compute = {.kind = ComputeKind::kLibrary, .kernel = guarded<backprop_filter_kernel>},
        .gradient = gradient_backprop_filter,
        .forward = forward_bilinear<0, 2>,
        .reference = kTested,
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
