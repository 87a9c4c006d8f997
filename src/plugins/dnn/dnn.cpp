#include <exception>
#include <string>

#include <dnnl.hpp>

#include "plugins/dnn/primitive_cache.h"
#include "plugins/dnn_interface.h"

namespace graphwright::dnn {

using dnnl::memory;

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& thread_stream() {
  thread_local dnnl::stream stream(cpu_engine());
  return stream;
}

void execute(const Prepared& prepared, const void* first, const void* second, void* output) {
  dnnl::stream& stream = thread_stream();
  std::unordered_map<int, memory> arguments;
  const void* data[2] = {first, second};
  for (int i = 0; i < 2; ++i) {
    const Prepared::Argument& input = prepared.inputs[i];
    memory given(input.given, cpu_engine(), const_cast<void*>(data[i]));
    if (input.given != input.wanted) {
      memory wanted(input.wanted, cpu_engine());
      dnnl::reorder(given, wanted).execute(stream, given, wanted);
      given = wanted;
    }
    arguments.emplace(input.number, given);
  }
  memory result(prepared.output.given, cpu_engine(), output);
  bool convert = prepared.output.given != prepared.output.wanted;
  memory computed = convert ? memory(prepared.output.wanted, cpu_engine()) : result;
  arguments.emplace(prepared.output.number, computed);
  prepared.primitive.execute(stream, arguments);
  if (convert) dnnl::reorder(computed, result).execute(stream, computed, result);
  stream.wait();
}

namespace {

constexpr auto kFloat = memory::data_type::f32;

thread_local std::string last_error_text;

// Exceptions must not cross the C boundary.
template <class Body>
int guarded(Body body) {
  try {
    body();
    return 0;
  } catch (const dnnl::error& error) {
    last_error_text = error.what();
    return error.status == dnnl_success ? -1 : static_cast<int>(error.status);
  } catch (const std::exception& error) {
    last_error_text = error.what();
    return -1;
  }
}

// A factor of [rows, columns] matrices. One matrix is two-dimensional: oneDNN has no fast kernel
// for a batch dimension with a stride that no dense tensor has.
memory::desc factor(int64_t batch, int64_t stride, int64_t rows, int64_t columns, bool transposed) {
  memory::dims dims = {rows, columns};
  memory::dims strides = {columns, 1};
  if (transposed) strides = {1, rows};
  if (batch > 1) {
    // A factor that all products share has a batch of one, which oneDNN broadcasts.
    dims.insert(dims.begin(), stride ? batch : 1);
    strides.insert(strides.begin(), stride ? stride : rows * columns);
  }
  return memory::desc(dims, kFloat, strides);
}

Prepared prepare_matmul(const GwMatmul& s) {
  memory::desc a = factor(s.batch, s.batch_stride_a, s.m, s.k, s.transpose_a);
  memory::desc b = factor(s.batch, s.batch_stride_b, s.k, s.n, s.transpose_b);
  memory::desc c = factor(s.batch, s.m * s.n, s.m, s.n, false);
  dnnl::matmul::primitive_desc description(cpu_engine(), a, b, c);
  return {dnnl::matmul(description),
          {{DNNL_ARG_SRC, a, a}, {DNNL_ARG_WEIGHTS, b, b}},
          {DNNL_ARG_DST, c, c}};
}

int matmul_f32(const GwMatmul* shape, const float* a, const float* b, float* c) {
  return guarded(
      [&] { execute(find_or_make('m', *shape, [&] { return prepare_matmul(*shape); }), a, b, c); });
}

// Layouts of one convolution, as the caller has them and as the primitive may choose them.
struct ConvolutionLayouts {
  explicit ConvolutionLayouts(const GwConv2d& s)
      : strides({s.stride_height, s.stride_width}),
        // oneDNN counts the gaps between taps, not their distance.
        dilates({s.dilation_height - 1, s.dilation_width - 1}),
        padding_before({s.pad_top, s.pad_left}),
        padding_after({s.pad_bottom, s.pad_right}) {
    auto image = s.channels_last ? memory::format_tag::nhwc : memory::format_tag::nchw;
    memory::dims filter_dims = {s.out_channels, s.in_channels, s.kernel_height, s.kernel_width};
    auto filter_tag = memory::format_tag::hwio;
    if (s.groups > 1) {
      filter_dims = {s.groups, s.out_channels / s.groups, s.in_channels / s.groups, s.kernel_height,
                     s.kernel_width};
      filter_tag = memory::format_tag::hwigo;
    }
    input = memory::desc({s.batch, s.in_channels, s.in_height, s.in_width}, kFloat, image);
    output = memory::desc({s.batch, s.out_channels, s.out_height, s.out_width}, kFloat, image);
    filter = memory::desc(filter_dims, kFloat, filter_tag);
    // Letting oneDNN choose the filter's layout and converting it is worth the 5 us: its kernels on
    // TensorFlow's layout are up to three times slower.
    any_filter = memory::desc(filter_dims, kFloat, memory::format_tag::any);
  }

  memory::dims strides, dilates, padding_before, padding_after;
  memory::desc input, output, filter, any_filter;
};

dnnl::convolution_forward::primitive_desc describe_forward(const ConvolutionLayouts& l) {
  return {cpu_engine(),
          dnnl::prop_kind::forward_training,
          dnnl::algorithm::convolution_direct,
          l.input,
          l.any_filter,
          l.output,
          l.strides,
          l.dilates,
          l.padding_before,
          l.padding_after};
}

Prepared prepare_forward(const GwConv2d& s) {
  ConvolutionLayouts l(s);
  auto description = describe_forward(l);
  return {
      dnnl::convolution_forward(description),
      {{DNNL_ARG_SRC, l.input, l.input}, {DNNL_ARG_WEIGHTS, l.filter, description.weights_desc()}},
      {DNNL_ARG_DST, l.output, l.output}};
}

Prepared prepare_backward_input(const GwConv2d& s) {
  ConvolutionLayouts l(s);
  memory::desc gradient = l.output;
  if (s.in_channels == 1) {
    // With one input channel the channels-first kernel is several times faster, conversion
    // included.
    gradient = memory::desc(l.output.get_dims(), kFloat, memory::format_tag::nchw);
  }
  memory::desc input = l.input;
  if (s.in_channels == 1) input = memory::desc(input.get_dims(), kFloat, memory::format_tag::nchw);
  ConvolutionLayouts hint = l;
  hint.input = input;
  hint.output = gradient;
  dnnl::convolution_backward_data::primitive_desc description(
      cpu_engine(), dnnl::algorithm::convolution_direct, input, l.any_filter, gradient, l.strides,
      l.dilates, l.padding_before, l.padding_after, describe_forward(hint));
  return {dnnl::convolution_backward_data(description),
          {{DNNL_ARG_WEIGHTS, l.filter, description.weights_desc()},
           {DNNL_ARG_DIFF_DST, l.output, gradient}},
          {DNNL_ARG_DIFF_SRC, l.input, input}};
}

Prepared prepare_backward_filter(const GwConv2d& s) {
  ConvolutionLayouts l(s);
  dnnl::convolution_backward_weights::primitive_desc description(
      cpu_engine(), dnnl::algorithm::convolution_direct, l.input, l.any_filter, l.output, l.strides,
      l.dilates, l.padding_before, l.padding_after, describe_forward(l));
  return {dnnl::convolution_backward_weights(description),
          {{DNNL_ARG_SRC, l.input, l.input}, {DNNL_ARG_DIFF_DST, l.output, l.output}},
          {DNNL_ARG_DIFF_WEIGHTS, l.filter, description.diff_weights_desc()}};
}

int conv2d_forward_f32(const GwConv2d* shape, const float* input, const float* filter,
                       float* output) {
  return guarded([&] {
    execute(find_or_make('f', *shape, [&] { return prepare_forward(*shape); }), input, filter,
            output);
  });
}

int conv2d_backward_input_f32(const GwConv2d* shape, const float* filter,
                              const float* output_gradient, float* input_gradient) {
  return guarded([&] {
    execute(find_or_make('i', *shape, [&] { return prepare_backward_input(*shape); }), filter,
            output_gradient, input_gradient);
  });
}

int conv2d_backward_filter_f32(const GwConv2d* shape, const float* input,
                               const float* output_gradient, float* filter_gradient) {
  return guarded([&] {
    execute(find_or_make('w', *shape, [&] { return prepare_backward_filter(*shape); }), input,
            output_gradient, filter_gradient);
  });
}

const char* description() {
  static const std::string text = [] {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }();
  return text.c_str();
}

const char* last_error() { return last_error_text.c_str(); }

constexpr GwDnnInterface kInterface = {kGwDnnInterfaceVersion,
                                       description,
                                       last_error,
                                       matmul_f32,
                                       conv2d_forward_f32,
                                       conv2d_backward_input_f32,
                                       conv2d_backward_filter_f32};

}  // namespace
}  // namespace graphwright::dnn

extern "C" __attribute__((visibility("default"))) const GwDnnInterface* gw_dnn_interface() {
  return &graphwright::dnn::kInterface;
}
