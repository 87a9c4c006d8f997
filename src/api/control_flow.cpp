// Loops and branches: the builder's own, with bodies that call back.
#include <fmt/format.h>
#include <graphwright/control_flow.h>

#include "api/handles.h"
#include "api/numbers.h"
#include "ir/builder.h"
#include "ir/thread_state.h"

namespace graphwright::api {
inline namespace v1 {
namespace detail {
namespace {

// Arguments and results of one call of a body.
core::OperandVector call_body(Body body, void* function, std::span<const core::Operand> arguments,
                              size_t result_count, const DType* preferred) {
  HandleArray given(arguments.size()), results(result_count + 1);
  for (size_t i = 0; i < arguments.size(); ++i) given[i] = handle_of(arguments[i]);
  body(function, given.data(), results.data(), preferred);
  core::OperandVector operands;
  for (size_t i = 0; i < result_count; ++i) operands.push_back(operand_of(results[i]));
  return operands;
}

std::vector<DType> dtypes_of(std::span<const core::Operand> operands) {
  std::vector<DType> dtypes;
  for (const core::Operand& operand : operands) {
    dtypes.push_back(static_cast<DType>(core::dtype_of(operand)));
  }
  return dtypes;
}

}  // namespace

void while_loop(const Argument& limit, const RawShape* invariants, size_t invariant_count,
                const char* name, Body condition, void* condition_function, Body body,
                void* body_function, Handle** carried, size_t count, Site site) {
  guarded(site, [&] {
    core::WhileOptions options;
    options.name = name;
    if (limit.kind != Argument::Kind::kNone) {
      options.maximum_iterations =
          tensor_argument(limit, core::DType::kInt32, "maximum_iterations");
    }
    if (invariant_count > 0 && invariant_count != count) {
      core::throw_invalid_argument(
          fmt::format("{} shape invariants were given for {} carried "
                      "values",
                      invariant_count, count));
    }
    core::OperandVector first;
    for (size_t i = 0; i < count; ++i) {
      first.push_back(operand_of(carried[i]));
      if (invariant_count == 0) continue;
      bool is_list = core::type_of(first.back()).is_list();
      options.shape_invariants.push_back(is_list ? core::PartialShape::scalar()
                                                 : core_shape(invariants[i]));
    }
    std::vector<DType> dtypes = dtypes_of(first);
    const DType condition_dtype = DType::kBool;
    // Both get the loop's counter first, which the program does not see.
    auto test = [&](std::span<const core::Operand> arguments) {
      return call_body(condition, condition_function, arguments.subspan(1), 1, &condition_dtype);
    };
    auto step = [&](std::span<const core::Operand> arguments) {
      return call_body(body, body_function, arguments.subspan(1), count, dtypes.data());
    };
    core::Builder& builder = core::current_builder();
    if (builder.is_eager()) {
      for (const core::Operand& operand : first) {
        if (operand.is_value()) {
          core::throw_invalid_argument(
              "a loop that runs eagerly carries a symbolic tensor, which has no value here");
        }
      }
    }
    core::OperandVector last = builder.while_loop(options, first, test, step);
    HandleArray results(count);
    for (size_t i = 0; i < count; ++i) results[i] = handle_of(last.at(i + 1));
    for (size_t i = 0; i < count; ++i) carried[i] = std::exchange(results[i], nullptr);
  });
}

void branch(const Argument& condition, Body then_branch, void* then_function, Body else_branch,
            void* else_function, Handle** results, size_t count, const char* name) {
  guarded(condition.site, [&] {
    core::Operand test = tensor_argument(condition, core::DType::kBool, "condition");
    std::vector<DType> dtypes;
    auto block = [&](Body body, void* function) {
      core::OperandVector operands =
          call_body(body, function, {}, count, dtypes.empty() ? nullptr : dtypes.data());
      // Numbers in the second branch take the dtypes of the first.
      if (dtypes.empty()) dtypes = dtypes_of(operands);
      return operands;
    };
    auto then_block = [&](std::span<const core::Operand>) {
      return block(then_branch, then_function);
    };
    auto else_block = [&](std::span<const core::Operand>) {
      return block(else_branch, else_function);
    };
    core::OperandVector outputs =
        core::current_builder().if_else(test, then_block, else_block, name);
    HandleArray made(count);
    for (size_t i = 0; i < count; ++i) made[i] = handle_of(outputs.at(i));
    for (size_t i = 0; i < count; ++i) results[i] = std::exchange(made[i], nullptr);
  });
}

}  // namespace detail
}  // namespace v1
}  // namespace graphwright::api
