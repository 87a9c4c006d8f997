// Checks of values that hand their input on.
#include <cmath>

#include "ops/op_support.h"
#include "tensor/small_float.h"

namespace graphwright {
namespace {

struct Found {
  bool nan = false;
  bool infinity = false;
};

template <class T>
Found look(const Tensor& tensor) {
  Found found;
  const T* data = tensor.data<T>();
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    auto value = static_cast<double>(data[i]);
    found.nan |= std::isnan(value);
    found.infinity |= std::isinf(value);
  }
  return found;
}

// Two-byte floats: all exponent bits set mean infinity, or NaN with a fraction.
Found look_at_bits(const Tensor& tensor, uint16_t exponent, uint16_t fraction) {
  Found found;
  const auto* data = static_cast<const uint16_t*>(tensor.raw_data());
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if ((data[i] & exponent) != exponent) continue;
    (data[i] & fraction ? found.nan : found.infinity) = true;
  }
  return found;
}

void check_numerics_kernel(KernelContext& context) {
  const Tensor& tensor = context.input(0);
  Found found;
  switch (tensor.dtype()) {
    case DType::kFloat:
      found = look<float>(tensor);
      break;
    case DType::kDouble:
      found = look<double>(tensor);
      break;
    case DType::kHalf:
      found = look_at_bits(tensor, 0x7c00, 0x03ff);
      break;
    default:
      found = look_at_bits(tensor, 0x7f80, 0x007f);
      break;
  }
  if (found.nan || found.infinity) {
    std::string what = found.nan && found.infinity ? "Inf and NaN" : found.nan ? "NaN" : "Inf";
    fail(context, context.attributes().string("message") + " : Tensor had " + what + " values");
  }
  forward_input(context);
}

// The gradient is checked as well.
void gradient_check_numerics(GradientContext& context) {
  if (!context.needs(0) || !context.has_dy()) return;
  const OpDef& op = get_op("CheckNumerics");
  OperandVector checked;
  std::string message = "Not a number (NaN) or infinity (Inf) values detected in gradient. " +
                        context.attributes().string("message");
  context.builder().apply(op, std::vector<Operand>{context.dy().operand()},
                          named_attributes(op, {{"message", message}}), checked);
  context.set_dx(0, checked[0]);
}

void forward_check_numerics(ForwardContext& context) {
  if (context.has_dx()) context.set_dy(0, context.dx());
}

constexpr std::array kTable{
    OpDef{
        .name = "CheckNumerics",
        .signature = "tensor: T; message: string='' -> output: T",
        .doc = "The tensor, if none of its elements is NaN or infinite; else InvalidArgument with "
               "`message`.",
        .traits = kStateful,
        .types = {{{"T", kFloating}}},
        .shape = shape_unchanged,
        .compute = {.kind = ComputeKind::kEffect, .kernel = guarded<check_numerics_kernel>},
        .effects = {.io = true},
        .gradient = gradient_check_numerics,
        .forward = forward_check_numerics,
        .reference = {.reason = "raises: tests/python/test_control_flow_recorded.py"},
    },
};

}  // namespace
GW_REGISTER_OPS(kTable)
}  // namespace graphwright
