// Variables, lists, strings, and other ops with effects.
#include <doctest/doctest.h>

#include "ir/resources.h"
#include "ops_support.h"
#include "runtime/eager.h"

namespace graphwright::ops_test {
namespace {

using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>;

Tensor handle(DType dtype, PartialShape shape) {
  return run("VarHandleOp", {}, {{"dtype", dtype}, {"shape", std::move(shape)}});
}
void apply(std::string_view op, std::vector<Operand> inputs, Named attributes = {}) {
  run_all(op, std::move(inputs), std::move(attributes));
}
Tensor read(const Tensor& variable, DType dtype = DType::kFloat) {
  return run("ReadVariableOp", {variable}, {{"dtype", dtype}});
}

TEST_CASE("a variable is read, assigned and updated in place") {
  Tensor v = handle(DType::kFloat, {2});
  CHECK(values_of(run("VarIsInitializedOp", {v})) == Numbers{0});
  CHECK(error_of("ReadVariableOp", {v}, {{"dtype", DType::kFloat}}).find("uninitialized") !=
        std::string::npos);
  apply("AssignVariableOp", {v, floats({2}, {1, 2})}, {{"dtype", DType::kFloat}});
  CHECK(values_of(run("VarIsInitializedOp", {v})) == Numbers{1});
  Tensor before = read(v);
  apply("AssignAddVariableOp", {v, floats({2}, {10, 20})}, {{"dtype", DType::kFloat}});
  CHECK(values_of(read(v)) == Numbers{11, 22});
  CHECK(values_of(before) == Numbers{1, 2});  // what was read before does not change
  apply("AssignSubVariableOp", {v, floats({2}, {1, 1})}, {{"dtype", DType::kFloat}});
  CHECK(values_of(read(v)) == Numbers{10, 21});
  error_of("AssignAddVariableOp", {v, floats({3}, {1, 1, 1})}, {{"dtype", DType::kFloat}});
  error_of("AssignVariableOp", {v, ints({2}, {1, 1})}, {{"dtype", DType::kInt32}});
  error_of("AssignVariableOp", {v, floats({3}, {1, 1, 1})},
           {{"dtype", DType::kFloat}, {"validate_shape", true}});
  error_of("ReadVariableOp", {v}, {{"dtype", DType::kInt32}});
  apply("DestroyResourceOp", {v});
  error_of("ReadVariableOp", {v}, {{"dtype", DType::kFloat}});
}

TEST_CASE("an update in place leaves the memory where it is") {
  Tensor v = handle(DType::kFloat, {100});
  apply("AssignVariableOp", {v, Tensor::zeros(DType::kFloat, Dims{100})},
        {{"dtype", DType::kFloat}});
  const void* before = read(v).raw_data();
  apply("AssignAddVariableOp", {v, Tensor::zeros(DType::kFloat, Dims{100})},
        {{"dtype", DType::kFloat}});
  CHECK(read(v).raw_data() == before);
}

TEST_CASE("handles of one shared name are one variable") {
  Named shared{{"dtype", DType::kFloat},
               {"shape", PartialShape::scalar()},
               {"shared_name", std::string("ops_state_test")}};
  Tensor a = run("VarHandleOp", {}, shared), b = run("VarHandleOp", {}, shared);
  apply("AssignVariableOp", {a, floats({}, {3})}, {{"dtype", DType::kFloat}});
  CHECK(values_of(read(b)) == Numbers{3});
}

TEST_CASE("rows of a variable are gathered and scattered") {
  Tensor v = handle(DType::kFloat, {3, 2});
  apply("AssignVariableOp", {v, floats({3, 2}, {0, 1, 2, 3, 4, 5})}, {{"dtype", DType::kFloat}});
  Named dtype{{"dtype", DType::kFloat}};
  CHECK(values_of(run("ResourceGather", {v, ints({2}, {2, 0})}, dtype)) == Numbers{4, 5, 0, 1});
  CHECK(error_of("ResourceGather", {v, ints({1}, {7})}, dtype)
            .find("indices[0] = 7 is not in [0, 3)") != std::string::npos);
  apply("ResourceScatterAdd", {v, ints({2}, {1, 1}), floats({2, 2}, {10, 10, 1, 1})}, dtype);
  CHECK(values_of(read(v)) == Numbers{0, 1, 13, 14, 4, 5});
  apply("ResourceScatterSub", {v, ints({1}, {0}), floats({}, {1})}, dtype);
  apply("ResourceScatterUpdate", {v, ints({1}, {2}), floats({1, 2}, {8, 9})}, dtype);
  CHECK(values_of(read(v)) == Numbers{-1, 0, 13, 14, 8, 9});
  error_of("ResourceScatterAdd", {v, ints({1}, {3}), floats({1, 2}, {1, 1})}, dtype);
  error_of("ResourceScatterAdd", {v, ints({1}, {0}), floats({1, 3}, {1, 1, 1})}, dtype);
  CHECK(values_of(run("VariableShape", {v})) == Numbers{3, 2});
}

TEST_CASE("a slice of a variable is assigned") {
  Tensor v = handle(DType::kFloat, {2, 3});
  apply("AssignVariableOp", {v, floats({2, 3}, {0, 1, 2, 3, 4, 5})}, {{"dtype", DType::kFloat}});
  apply("ResourceStridedSliceAssign",
        {v, ints({2}, {0, 0}), ints({2}, {2, 3}), ints({2}, {1, 2}), floats({2, 1}, {7, 8})});
  CHECK(values_of(read(v)) == Numbers{7, 1, 7, 8, 4, 8});
  error_of("ResourceStridedSliceAssign",
           {v, ints({1}, {0}), ints({1}, {1}), ints({1}, {1}), floats({2}, {7, 8})});
}

Tensor reserve(int32_t count, std::vector<int32_t> shape = {2}) {
  int64_t rank = static_cast<int64_t>(shape.size());
  return run("TensorListReserve", {ints({rank}, std::move(shape)), Tensor::int32_scalar(count)},
             {{"element_dtype", DType::kDouble}});
}
Tensor set_item(const Tensor& list, int32_t index, const Tensor& item) {
  return run("TensorListSetItem", {list, Tensor::int32_scalar(index), item});
}
Tensor get_item(const Tensor& list, int32_t index) {
  return run("TensorListGetItem", {list, Tensor::int32_scalar(index), ints({1}, {2})},
             {{"element_dtype", DType::kDouble}});
}
Tensor stacked(const Tensor& list) {
  return run("TensorListStack", {list, ints({1}, {2})}, {{"element_dtype", DType::kDouble}});
}

TEST_CASE("lists are values") {
  Tensor empty = reserve(3);
  Tensor one = set_item(empty, 1, doubles({2}, {5, 6}));
  CHECK(values_of(get_item(one, 1)) == Numbers{5, 6});
  CHECK(values_of(get_item(one, 0)) == Numbers{0, 0});
  CHECK(values_of(stacked(empty)) == Numbers{0, 0, 0, 0, 0, 0});  // the original is as it was
  CHECK(values_of(stacked(one)) == Numbers{0, 0, 5, 6, 0, 0});
  CHECK(values_of(run("TensorListLength", {one})) == Numbers{3});
  CHECK(error_of("TensorListGetItem", {one, Tensor::int32_scalar(4), ints({1}, {2})},
                 {{"element_dtype", DType::kDouble}})
            .find("Trying to access element 4 in a list with 3 elements.") != std::string::npos);
  CHECK(error_of("TensorListSetItem", {one, Tensor::int32_scalar(4), doubles({2}, {1, 2})})
            .find("Trying to modify element 4 in a list with 3 elements.") != std::string::npos);
  error_of("TensorListSetItem", {one, Tensor::int32_scalar(0), doubles({3}, {1, 2, 3})});
  error_of("TensorListSetItem", {one, Tensor::int32_scalar(0), floats({2}, {1, 2})});
  Tensor longer = run("TensorListSetItem", {one, Tensor::int32_scalar(4), doubles({2}, {1, 2})},
                      {{"resize_if_index_out_of_bounds", true}});
  CHECK(values_of(run("TensorListLength", {longer})) == Numbers{5});
}

TEST_CASE("lists grow and shrink at their end") {
  Tensor list = run("EmptyTensorList", {Tensor::int32_scalar(-1), Tensor::int32_scalar(-1)},
                    {{"element_dtype", DType::kDouble}});
  CHECK(values_of(run("TensorListElementShape", {list}, {{"shape_type", DType::kInt32}})) ==
        Numbers{-1});
  error_of("TensorListPopBack", {list, Tensor::int32_scalar(-1)},
           {{"element_dtype", DType::kDouble}});
  error_of("TensorListStack", {list, Tensor::int32_scalar(-1)},
           {{"element_dtype", DType::kDouble}});
  for (double value : {1.0, 2.0, 3.0}) {
    list = run("TensorListPushBack", {list, doubles({2}, {value, -value})});
  }
  std::vector<Tensor> popped = run_all("TensorListPopBack", {list, Tensor::int32_scalar(-1)},
                                       {{"element_dtype", DType::kDouble}});
  CHECK(values_of(popped[1]) == Numbers{3, -3});
  CHECK(values_of(stacked(popped[0])) == Numbers{1, -1, 2, -2});
  CHECK(values_of(stacked(list)) == Numbers{1, -1, 2, -2, 3, -3});
  // Elements of different shapes are kept, but cannot be stacked.
  Tensor ragged = run("TensorListPushBack", {list, doubles({1}, {9})});
  error_of("TensorListStack", {ragged, Tensor::int32_scalar(-1)},
           {{"element_dtype", DType::kDouble}});
  Tensor shorter = run("TensorListResize", {list, Tensor::int32_scalar(1)});
  CHECK(values_of(stacked(shorter)) == Numbers{1, -1});
  Tensor sum = run("AddN", {list, list});
  CHECK(values_of(stacked(sum)) == Numbers{2, -2, 4, -4, 6, -6});
  CHECK(values_of(stacked(run("ZerosLike", {list}))) == Numbers{0, 0, 0, 0, 0, 0});
}

TEST_CASE("lists and tensors") {
  Tensor list = run("TensorListFromTensor", {doubles({2, 2}, {1, 2, 3, 4}), ints({1}, {2})});
  CHECK(values_of(get_item(list, 1)) == Numbers{3, 4});
  CHECK(values_of(run("TensorListGather", {list, ints({2}, {1, 1}), ints({1}, {2})},
                      {{"element_dtype", DType::kDouble}})) == Numbers{3, 4, 3, 4});
  Tensor scattered = run("TensorListScatterIntoExistingList",
                         {reserve(2), doubles({2, 2}, {1, 2, 3, 4}), ints({2}, {1, 0})});
  CHECK(values_of(stacked(scattered)) == Numbers{3, 4, 1, 2});
  error_of("TensorListFromTensor", {doubles({}, {1}), ints({0}, {})});
  error_of("TensorListFromTensor", {doubles({2, 2}, {1, 2, 3, 4}), ints({1}, {3})});
}

// A gradient of a list is a list: run a chain of list ops and the gradient rules by hand.
Gradient gradient_of(std::string_view op_name, std::vector<Operand> inputs, Named named,
                     size_t output, Operand dy, size_t input) {
  const OpDef& op = get_op(op_name);
  Attributes attributes = attributes_of(op_name, std::move(named));
  std::vector<Operand> outputs = eager_builder().op_outputs(op_name, inputs, attributes);
  std::vector<Gradient> output_gradients(outputs.size()), input_gradients(inputs.size());
  output_gradients[output].values = std::move(dy);
  std::vector<bool> needed(inputs.size(), false);
  needed[input] = true;
  GradientContext context(eager_builder(), op, attributes, inputs, outputs, output_gradients,
                          needed, input_gradients);
  op.gradient.function()(context);
  return input_gradients[input];
}

TEST_CASE("gradients of lists are lists") {
  Tensor list = run("TensorListFromTensor", {doubles({2, 2}, {1, 2, 3, 4}), ints({1}, {2})});
  Tensor dlist =
      gradient_of("TensorListStack", {list, ints({1}, {2})}, {{"element_dtype", DType::kDouble}}, 0,
                  doubles({2, 2}, {5, 6, 7, 8}), 0)
          .values.tensor();
  CHECK(values_of(stacked(dlist)) == Numbers{5, 6, 7, 8});
  Gradient item = gradient_of(
      "TensorListSetItem", {list, Tensor::int32_scalar(1), doubles({2}, {0, 0})}, {}, 0, dlist, 2);
  CHECK(values_of(item.values.tensor()) == Numbers{7, 8});
  Gradient rest = gradient_of(
      "TensorListSetItem", {list, Tensor::int32_scalar(1), doubles({2}, {0, 0})}, {}, 0, dlist, 0);
  CHECK(values_of(stacked(rest.values.tensor())) == Numbers{5, 6, 0, 0});
  Gradient read_one =
      gradient_of("TensorListGetItem", {list, Tensor::int32_scalar(0), ints({1}, {2})},
                  {{"element_dtype", DType::kDouble}}, 0, doubles({2}, {1, 1}), 0);
  CHECK(values_of(stacked(read_one.values.tensor())) == Numbers{1, 1, 0, 0});
  Gradient pushed = gradient_of("TensorListPushBack", {list, doubles({2}, {0, 0})}, {}, 0,
                                run("TensorListPushBack", {dlist, doubles({2}, {9, 9})}), 1);
  CHECK(values_of(pushed.values.tensor()) == Numbers{9, 9});
  Gradient tensor = gradient_of("TensorListFromTensor",
                                {doubles({2, 2}, {1, 2, 3, 4}), ints({1}, {2})}, {}, 0, dlist, 0);
  CHECK(values_of(tensor.values.tensor()) == Numbers{5, 6, 7, 8});
}

std::string text_of(const Tensor& tensor) { return tensor.data<StringElement>()[0]; }

TEST_CASE("strings are formatted, joined and measured") {
  CHECK(text_of(run("StringFormat", {floats({2}, {1.5f, 2}), strings({}, {"x"})},
                    {{"template", std::string("a {} b {}")},
                     {"placeholder", std::string("{}")}})) == "a [1.5 2] b \"x\"");
  error_of("StringFormat", {ints({}, {1})},
           {{"template", std::string("{} {}")}, {"placeholder", std::string("{}")}});
  Tensor joined = run("StringJoin", {strings({}, {"a"}), strings({2}, {"b", "c"})},
                      {{"separator", std::string("-")}});
  CHECK(joined.data<StringElement>()[1] == "a-c");
  error_of("StringJoin", {strings({1}, {"a"}), strings({2}, {"b", "c"})});
  CHECK(values_of(run("StringLength", {strings({2}, {"a\xc3\xa9", "b"})})) == Numbers{3, 1});
  CHECK(values_of(run("StringLength", {strings({2}, {"a\xc3\xa9", "b"})},
                      {{"unit", std::string("UTF8_CHAR")}})) == Numbers{2, 1});
  CHECK(text_of(run("Add", {strings({}, {"a"}), strings({1}, {"b"})})) == "ab");
}

TEST_CASE("AsString formats numbers as TensorFlow does") {
  Tensor x = floats({3}, {1.5f, 2e10f, 0.1f});
  auto all = [](const Tensor& tensor) {
    auto span = tensor.elements<StringElement>();
    return std::vector<std::string>(span.begin(), span.end());
  };
  using Strings = std::vector<std::string>;
  CHECK(all(run("AsString", {x})) == Strings{"1.500000", "20000000000.000000", "0.100000"});
  CHECK(all(run("AsString", {x}, {{"precision", int64_t{2}}})) ==
        Strings{"1.50", "20000000000.00", "0.10"});
  CHECK(all(run("AsString", {x}, {{"scientific", true}})) ==
        Strings{"1.500000e+00", "2.000000e+10", "1.000000e-01"});
  CHECK(all(run("AsString", {x}, {{"shortest", true}})) == Strings{"1.5", "2e+10", "0.1"});
  CHECK(all(run("AsString", {ints({2}, {1, 20})},
                {{"width", int64_t{5}}, {"fill", std::string("0")}})) == Strings{"00001", "00020"});
  CHECK(all(run("AsString", {bools({1}, {true})})) == Strings{"true"});
  error_of("AsString", {x}, {{"fill", std::string("x")}});
  error_of("AsString", {x}, {{"scientific", true}, {"shortest", true}});
}

TEST_CASE("Assert raises with the text of its data") {
  CHECK(run_all("Assert", {bools({}, {true}), ints({}, {1})}).empty());
  CHECK(error_of("Assert", {bools({}, {false}), ints({}, {1}), strings({}, {"hi"}),
                            floats({3}, {1.5f, 2, 3})})
            .find("assertion failed: [1] [hi] [1.5 2 3]") != std::string::npos);
}

}  // namespace
}  // namespace graphwright::ops_test
