// Ops that rearrange, slice, join and gather.
#include <doctest/doctest.h>

#include "ops_support.h"

namespace graphwright::ops_test {
namespace {

using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>;

Tensor iota(Dims dims) {
  Tensor tensor = Tensor::empty(DType::kDouble, dims);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.mutable_data<double>()[i] = static_cast<double>(i);
  }
  return tensor;
}
ValueType doubles_type(PartialShape shape) { return tensor_type(DType::kDouble, shape); }
ValueType ints_type(PartialShape shape) { return tensor_type(DType::kInt32, shape); }

TEST_CASE("constants, identities and what is known of shapes") {
  Tensor value = ints({2}, {3, 4});
  CHECK(values_of(run("Const", {}, {{"value", value}, {"dtype", DType::kInt32}})) == Numbers{3, 4});
  error_of("Const", {}, {{"value", value}, {"dtype", DType::kFloat}});
  error_of("Placeholder", {}, {{"dtype", DType::kFloat}});
  std::vector<Tensor> same = run_all("IdentityN", {value, floats({}, {1.5f})});
  CHECK(values_of(same[1]) == Numbers{1.5});
  std::vector<Tensor> shapes = run_all("ShapeN", {iota({2, 3}), iota({})});
  CHECK(values_of(shapes[0]) == Numbers{2, 3});
  CHECK(values_of(shapes[1]).empty());
  CHECK(run("Shape", {iota({2})}, {{"out_type", DType::kInt64}}).dtype() == DType::kInt64);
  CHECK(values_of(run("Fill", {ints({2}, {1, 2}), floats({}, {7})})) == Numbers{7, 7});
  CHECK(error_of("Fill", {ints({1}, {-1}), floats({}, {7})}).find("Dimension -1 must be >= 0") !=
        std::string::npos);
  check_derivatives("Fill", {ints({2}, {2, 3}), some_doubles({})});
  check_derivatives("Identity", {some_doubles({2, 3})});
}

TEST_CASE("Reshape infers one size and refuses what does not fit") {
  Tensor x = iota({2, 3});
  CHECK(dims_of(run("Reshape", {x, ints({2}, {3, -1})})) == Dims{3, 2});
  CHECK(dims_of(run("Reshape", {x, ints({3}, {1, 6, 1})})) == Dims{1, 6, 1});
  CHECK(dims_of(run("Reshape", {iota({0, 3}), ints({2}, {-1, 3})})) == Dims{0, 3});
  CHECK(error_of("Reshape", {x, ints({1}, {5})}).find("tensor with 6 values") != std::string::npos);
  CHECK(error_of("Reshape", {x, ints({2}, {4, -1})}).find("multiple of 4") != std::string::npos);
  error_of("Reshape", {x, ints({2}, {-1, -1})});
  error_of("Reshape", {x, ints({2}, {-2, -3})});
  error_of("Reshape", {iota({0}), ints({2}, {0, -1})});
  check_derivatives("Reshape", {some_doubles({2, 3}), ints({1}, {6})});
  CHECK(static_shape("Reshape", {doubles_type({kUnknownDim, 2}), ints_type({3})}).rank() == 3);
}

TEST_CASE("ExpandDims and Squeeze undo each other") {
  Tensor x = iota({2, 3});
  CHECK(dims_of(run("ExpandDims", {x, Tensor::int32_scalar(-1)})) == Dims{2, 3, 1});
  CHECK(dims_of(run("ExpandDims", {x, Tensor::int32_scalar(1)})) == Dims{2, 1, 3});
  error_of("ExpandDims", {x, Tensor::int32_scalar(4)});
  CHECK(dims_of(run("Squeeze", {iota({1, 2, 1})})) == Dims{2});
  CHECK(dims_of(run("Squeeze", {iota({1, 2, 1})}, {{"squeeze_dims", Dims{-1}}})) == Dims{1, 2});
  error_of("Squeeze", {x}, {{"squeeze_dims", Dims{0}}});
  error_of("Squeeze", {x}, {{"squeeze_dims", Dims{7}}});
  check_derivatives("ExpandDims", {some_doubles({2, 3}), Tensor::int32_scalar(1)});
  check_derivatives("Squeeze", {some_doubles({2, 1, 3})});
}

TEST_CASE("Transpose moves elements of every size") {
  Tensor x = iota({2, 3, 4});
  Tensor y = run("Transpose", {x, ints({3}, {2, 0, 1})});
  CHECK(dims_of(y) == Dims{4, 2, 3});
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 4; ++k) {
        CHECK(y.data<double>()[(k * 2 + i) * 3 + j] == x.data<double>()[(i * 3 + j) * 4 + k]);
      }
    }
  }
  // Large enough for tiles and threads.
  Tensor big = iota({300, 257});
  Tensor turned = run("Transpose", {big, ints({2}, {1, 0})});
  bool equal = true;
  for (int64_t i = 0; i < 300; ++i) {
    for (int64_t j = 0; j < 257; ++j) {
      equal = equal && turned.data<double>()[j * 300 + i] == big.data<double>()[i * 257 + j];
    }
  }
  CHECK(equal);
  Tensor words = run("Transpose", {strings({1, 2}, {"a", "b"}), ints({2}, {1, 0})});
  CHECK(words.data<StringElement>()[1] == "b");
  error_of("Transpose", {x, ints({3}, {0, 0, 1})});
  error_of("Transpose", {x, ints({2}, {0, 1})});
  error_of("Transpose", {x, ints({3}, {0, 1, 3})});
  check_derivatives("Transpose", {some_doubles({2, 3}), ints({2}, {1, 0})});
}

TEST_CASE("BroadcastTo, Tile, ReverseV2, Pad") {
  CHECK(values_of(run("BroadcastTo", {iota({2, 1}), ints({2}, {2, 3})})) ==
        Numbers{0, 0, 0, 1, 1, 1});
  error_of("BroadcastTo", {iota({3}), ints({2}, {2, 2})});
  error_of("BroadcastTo", {iota({3, 1}), ints({1}, {3})});
  check_derivatives("BroadcastTo", {some_doubles({2, 1}), ints({3}, {2, 2, 3})});
  CHECK(values_of(run("Tile", {iota({2}), ints({1}, {3})})) == Numbers{0, 1, 0, 1, 0, 1});
  CHECK(values_of(run("Tile", {iota({1, 2}), ints({2}, {2, 2})})) ==
        Numbers{0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(dims_of(run("Tile", {iota({2}), ints({1}, {0})})) == Dims{0});
  error_of("Tile", {iota({2}), ints({1}, {-1})});
  error_of("Tile", {iota({2}), ints({2}, {1, 1})});
  check_derivatives("Tile", {some_doubles({2, 3}), ints({2}, {2, 3})});
  CHECK(values_of(run("ReverseV2", {iota({2, 3}), ints({1}, {1})})) == Numbers{2, 1, 0, 5, 4, 3});
  CHECK(values_of(run("ReverseV2", {iota({2, 2}), ints({2}, {0, -1})})) == Numbers{3, 2, 1, 0});
  error_of("ReverseV2", {iota({2}), ints({2}, {0, 0})});
  error_of("ReverseV2", {iota({2}), ints({1}, {1})});
  check_derivatives("ReverseV2", {some_doubles({2, 3}), ints({1}, {1})});
  CHECK(values_of(run("Pad", {iota({1, 2}), ints({2, 2}, {1, 0, 0, 1})})) ==
        Numbers{0, 0, 0, 0, 1, 0});
  CHECK(values_of(run("PadV2", {iota({1}), ints({1, 2}, {1, 1}),
                                Tensor::scalar(DType::kDouble, 7.0)})) == Numbers{7, 0, 7});
  error_of("Pad", {iota({1}), ints({1, 2}, {-1, 1})});
  error_of("Pad", {iota({1}), ints({2, 2}, {0, 0, 0, 0})});
  check_derivatives("Pad", {some_doubles({2, 2}), ints({2, 2}, {1, 0, 2, 1})});
  check_derivatives("PadV2", {some_doubles({2}), ints({1, 2}, {1, 2}), some_doubles({})});
}

TEST_CASE("InvertPermutation and BroadcastGradientArgs") {
  CHECK(values_of(run("InvertPermutation", {ints({3}, {2, 0, 1})})) == Numbers{1, 2, 0});
  error_of("InvertPermutation", {ints({2}, {0, 0})});
  error_of("InvertPermutation", {ints({2}, {0, 2})});
  std::vector<Tensor> axes =
      run_all("BroadcastGradientArgs", {ints({3}, {2, 1, 3}), ints({2}, {4, 1})});
  CHECK(values_of(axes[0]) == Numbers{1});
  CHECK(values_of(axes[1]) == Numbers{0, 2});
}

Named masks(int64_t begin, int64_t end, int64_t ellipsis, int64_t new_axis, int64_t shrink) {
  return {{"begin_mask", begin},
          {"end_mask", end},
          {"ellipsis_mask", ellipsis},
          {"new_axis_mask", new_axis},
          {"shrink_axis_mask", shrink}};
}

TEST_CASE("StridedSlice slices as Python does") {
  Tensor x = iota({3, 4});
  // x[1]
  Tensor row = run("StridedSlice", {x, ints({1}, {1}), ints({1}, {2}), ints({1}, {1})},
                   masks(0, 0, 0, 0, 1));
  CHECK(dims_of(row) == Dims{4});
  CHECK(values_of(row) == Numbers{4, 5, 6, 7});
  // x[-1, ::-2]
  Tensor back = run("StridedSlice", {x, ints({2}, {-1, 0}), ints({2}, {0, 0}), ints({2}, {1, -2})},
                    masks(2, 2, 0, 0, 1));
  CHECK(values_of(back) == Numbers{11, 9});
  // x[..., None, 1:3]
  Tensor wide =
      run("StridedSlice", {x, ints({3}, {0, 0, 1}), ints({3}, {0, 0, 3}), ints({3}, {1, 1, 1})},
          masks(0, 0, 1, 2, 0));
  CHECK(dims_of(wide) == Dims{3, 1, 2});
  CHECK(values_of(wide) == Numbers{1, 2, 5, 6, 9, 10});
  // x[5:1] is empty; bounds far outside are clamped.
  CHECK(dims_of(run("StridedSlice", {x, ints({1}, {5}), ints({1}, {1}), ints({1}, {1})})) ==
        Dims{0, 4});
  CHECK(dims_of(run("StridedSlice", {x, ints({1}, {-100}), ints({1}, {100}), ints({1}, {2})})) ==
        Dims{2, 4});
  CHECK(error_of("StridedSlice", {x, ints({1}, {3}), ints({1}, {4}), ints({1}, {1})},
                 masks(0, 0, 0, 0, 1))
            .find("slice index 3 of dimension 0 out of bounds") != std::string::npos);
  CHECK(error_of("StridedSlice", {x, ints({1}, {0}), ints({1}, {4}), ints({1}, {0})})
            .find("must be non-zero") != std::string::npos);
  CHECK(error_of("StridedSlice",
                 {x, ints({3}, {0, 0, 0}), ints({3}, {1, 1, 1}), ints({3}, {1, 1, 1})})
            .find("input has only 2 dims") != std::string::npos);
  error_of("StridedSlice", {x, ints({2}, {0, 0}), ints({2}, {1, 1}), ints({2}, {1, 1})},
           masks(0, 0, 3, 0, 0));
  check_derivatives(
      "StridedSlice",
      {some_doubles({3, 4}), ints({2}, {2, 1}), ints({2}, {-4, 4}), ints({2}, {-2, 2})},
      masks(0, 0, 0, 0, 0));
  check_derivatives("StridedSlice",
                    {some_doubles({3, 4}), ints({1}, {1}), ints({1}, {2}), ints({1}, {1})},
                    masks(0, 0, 0, 0, 1));
  check_derivatives(
      "StridedSliceGrad",
      {ints({1}, {5}), ints({1}, {4}), ints({1}, {0}), ints({1}, {-2}), some_doubles({2})},
      masks(0, 2, 0, 0, 0));
  error_of("StridedSliceGrad",
           {ints({1}, {5}), ints({1}, {0}), ints({1}, {2}), ints({1}, {1}), some_doubles({3})});
}

TEST_CASE("a slice of an unknown dimension keeps what is known") {
  PartialShape shape =
      static_shape("StridedSlice",
                   {doubles_type({kUnknownDim, 4}), ints_type({1}), ints_type({1}), ints_type({1})},
                   masks(0, 0, 0, 0, 1));
  CHECK(shape == PartialShape{4});
  shape = static_shape("StridedSlice",
                       {doubles_type({3, 4}), ints_type({2}), ints_type({2}), ints_type({2})},
                       masks(0, 0, 0, 0, 2));
  CHECK(shape == PartialShape{kUnknownDim});
  CHECK_FALSE(static_shape("StridedSlice", {doubles_type(PartialShape::unknown()), ints_type({2}),
                                            ints_type({2}), ints_type({2})})
                  .has_rank());
}

TEST_CASE("Slice takes a box") {
  Tensor x = iota({3, 4});
  CHECK(values_of(run("Slice", {x, ints({2}, {1, 2}), ints({2}, {-1, 1})})) == Numbers{6, 10});
  error_of("Slice", {x, ints({2}, {1, 2}), ints({2}, {1, 3})});
  error_of("Slice", {x, ints({2}, {-1, 2}), ints({2}, {1, 1})});
  error_of("Slice", {x, ints({1}, {0}), ints({1}, {1})});
  check_derivatives("Slice", {some_doubles({3, 4}), ints({2}, {1, 2}), ints({2}, {2, -1})});
}

TEST_CASE("ConcatV2 joins, Split and SplitV cut") {
  Tensor a = iota({2, 1}), b = iota({2, 2});
  CHECK(values_of(run("ConcatV2", {a, b, Tensor::int32_scalar(1)})) == Numbers{0, 0, 1, 1, 2, 3});
  CHECK(dims_of(run("ConcatV2", {iota({0, 2}), b, Tensor::int32_scalar(-2)})) == Dims{2, 2});
  error_of("ConcatV2", {a, b, Tensor::int32_scalar(0)});
  error_of("ConcatV2", {a, iota({2}), Tensor::int32_scalar(0)});
  error_of("ConcatV2", {iota({}), iota({}), Tensor::int32_scalar(0)});
  error_of("ConcatV2", {a, b, Tensor::int32_scalar(2)});
  check_derivatives("ConcatV2", {some_doubles({2, 1}), some_doubles({2, 3}), some_doubles({2, 2}),
                                 Tensor::int32_scalar(-1)});
  std::vector<Tensor> pieces =
      run_all("Split", {Tensor::int32_scalar(1), iota({2, 4})}, {{"num_split", int64_t{2}}});
  CHECK(values_of(pieces[1]) == Numbers{2, 3, 6, 7});
  error_of("Split", {Tensor::int32_scalar(1), iota({2, 3})}, {{"num_split", int64_t{2}}});
  check_derivatives("Split", {Tensor::int32_scalar(-1), some_doubles({2, 4})},
                    {{"num_split", int64_t{2}}});
  pieces = run_all("SplitV", {iota({4}), ints({2}, {-1, 1}), Tensor::int32_scalar(0)},
                   {{"num_split", int64_t{2}}});
  CHECK(values_of(pieces[0]) == Numbers{0, 1, 2});
  error_of("SplitV", {iota({4}), ints({2}, {2, 1}), Tensor::int32_scalar(0)},
           {{"num_split", int64_t{2}}});
  error_of("SplitV", {iota({4}), ints({2}, {-1, -1}), Tensor::int32_scalar(0)},
           {{"num_split", int64_t{2}}});
  check_derivatives("SplitV", {some_doubles({2, 5}), ints({2}, {2, 3}), Tensor::int32_scalar(1)},
                    {{"num_split", int64_t{2}}});
}

TEST_CASE("Pack and Unpack") {
  CHECK(values_of(run("Pack", {iota({2}), iota({2})}, {{"axis", int64_t{1}}})) ==
        Numbers{0, 0, 1, 1});
  CHECK(dims_of(run("Pack", {iota({}), iota({}), iota({})})) == Dims{3});
  error_of("Pack", {iota({2}), iota({3})});
  error_of("Pack", {iota({2})}, {{"axis", int64_t{3}}});
  check_derivatives("Pack", {some_doubles({2, 2}), some_doubles({2, 2})}, {{"axis", int64_t{-1}}});
  std::vector<Tensor> columns =
      run_all("Unpack", {iota({2, 3})}, {{"num", int64_t{3}}, {"axis", int64_t{1}}});
  CHECK(values_of(columns[2]) == Numbers{2, 5});
  error_of("Unpack", {iota({2, 3})}, {{"num", int64_t{2}}, {"axis", int64_t{1}}});
  check_derivatives("Unpack", {some_doubles({2, 3})}, {{"num", int64_t{3}}, {"axis", int64_t{1}}});
}

TEST_CASE("GatherV2 along axes and batches") {
  Tensor x = iota({2, 3});
  CHECK(values_of(run("GatherV2", {x, ints({2}, {1, 1}), Tensor::int32_scalar(0)})) ==
        Numbers{3, 4, 5, 3, 4, 5});
  CHECK(values_of(run("GatherV2", {x, ints({2, 1}, {2, 0}), Tensor::int32_scalar(1)},
                      {{"batch_dims", int64_t{1}}})) == Numbers{2, 3});
  CHECK(dims_of(run("GatherV2", {x, Tensor::int32_scalar(1), Tensor::int32_scalar(-1)})) ==
        Dims{2});
  CHECK(error_of("GatherV2", {x, ints({1, 2}, {0, 5}), Tensor::int32_scalar(1)})
            .find("indices[0,1] = 5 is not in [0, 3)") != std::string::npos);
  CHECK(error_of("GatherV2", {x, Tensor::int32_scalar(-1), Tensor::int32_scalar(0)})
            .find("indices = -1 is not in [0, 2)") != std::string::npos);
  check_derivatives("GatherV2",
                    {some_doubles({3, 2}), ints({4}, {2, 0, 2, 1}), Tensor::int32_scalar(0)});
  check_derivatives("GatherV2",
                    {some_doubles({2, 3, 2}), ints({2, 2}, {2, 0, 2, 1}), Tensor::int32_scalar(1)});
  check_derivatives(
      "GatherV2", {some_doubles({2, 2, 3, 2}), ints({2, 2}, {2, 0, 2, 2}), Tensor::int32_scalar(2)},
      {{"batch_dims", int64_t{1}}});
}

TEST_CASE("GatherNd, ScatterNd and updates") {
  Tensor x = iota({2, 3});
  CHECK(values_of(run("GatherNd", {x, ints({2, 2}, {0, 1, 1, 2})})) == Numbers{1, 5});
  CHECK(dims_of(run("GatherNd", {x, ints({2, 0}, {})})) == Dims{2, 2, 3});
  CHECK(error_of("GatherNd", {x, ints({1, 2}, {0, 5})})
            .find("indices[0] = [0, 5] does not index into shape [2,3]") != std::string::npos);
  check_derivatives("GatherNd", {some_doubles({2, 3}), ints({3, 2}, {0, 1, 1, 2, 0, 1})});
  check_derivatives("GatherNd", {some_doubles({2, 3}), ints({2, 1}, {1, 1})});
  CHECK(values_of(run("ScatterNd", {ints({2, 1}, {1, 1}), doubles({2}, {1, 4}), ints({1}, {3})})) ==
        Numbers{0, 5, 0});
  error_of("ScatterNd", {ints({1, 1}, {3}), doubles({1}, {1}), ints({1}, {3})});
  error_of("ScatterNd", {ints({2, 1}, {0, 1}), doubles({3}, {1, 2, 3}), ints({1}, {3})});
  check_derivatives("ScatterNd", {ints({2, 1}, {1, 1}), some_doubles({2, 2}), ints({2}, {3, 2})});
  CHECK(values_of(run("TensorScatterUpdate", {iota({3}), ints({1, 1}, {1}), doubles({1}, {9})})) ==
        Numbers{0, 9, 2});
  check_derivatives("TensorScatterUpdate",
                    {some_doubles({3, 2}), ints({1, 1}, {1}), some_doubles({1, 2})});
  check_derivatives("TensorScatterAdd",
                    {some_doubles({3, 2}), ints({2, 1}, {1, 1}), some_doubles({2, 2})});
}

TEST_CASE("UnsortedSegmentSum drops negative ids and refuses large ones") {
  CHECK(values_of(run("UnsortedSegmentSum", {iota({4}), ints({4}, {1, 0, 1, -1}),
                                             Tensor::int32_scalar(3)})) == Numbers{1, 2, 0});
  CHECK(error_of("UnsortedSegmentSum", {iota({2}), ints({2}, {0, 5}), Tensor::int32_scalar(3)})
            .find("segment_ids[1] = 5 is out of range [0, 3)") != std::string::npos);
  check_derivatives("UnsortedSegmentSum",
                    {some_doubles({4, 2}), ints({4}, {1, 0, -1, 1}), Tensor::int32_scalar(2)});
}

TEST_CASE("Where and OneHot") {
  Tensor where = run("Where", {bools({2, 2}, {true, false, true, true})});
  CHECK(dims_of(where) == Dims{3, 2});
  CHECK(values_of(where) == Numbers{0, 0, 1, 0, 1, 1});
  CHECK(dims_of(run("Where", {iota({})})) == Dims{0, 0});
  CHECK(values_of(run("OneHot", {ints({3}, {0, 2, -1}), Tensor::int32_scalar(3), floats({}, {1}),
                                 floats({}, {0})})) == Numbers{1, 0, 0, 0, 0, 1, 0, 0, 0});
  CHECK(
      values_of(run("OneHot",
                    {ints({2}, {1, 0}), Tensor::int32_scalar(2), floats({}, {5}), floats({}, {1})},
                    {{"axis", int64_t{0}}})) == Numbers{1, 5, 5, 1});
  error_of("OneHot", {ints({1}, {0}), Tensor::int32_scalar(-1), floats({}, {5}), floats({}, {1})});
}

TEST_CASE("Range follows TensorFlow's steps and errors") {
  CHECK(values_of(run("Range", {Tensor::int32_scalar(2), Tensor::int32_scalar(9),
                                Tensor::int32_scalar(3)})) == Numbers{2, 5, 8});
  CHECK(values_of(run("Range", {Tensor::int32_scalar(3), Tensor::int32_scalar(0),
                                Tensor::int32_scalar(-2)})) == Numbers{3, 1});
  Tensor tenths = run("Range", {floats({}, {0}), floats({}, {1}), floats({}, {0.1f})});
  REQUIRE(tenths.element_count() == 10);
  CHECK(tenths.data<float>()[9] == 0.90000004f);
  CHECK(
      error_of("Range", {Tensor::int32_scalar(5), Tensor::int32_scalar(3), Tensor::int32_scalar(1)})
          .find("Requires start <= limit when delta > 0: 5/3") != std::string::npos);
  error_of("Range", {Tensor::int32_scalar(0), Tensor::int32_scalar(3), Tensor::int32_scalar(0)});
  check_derivatives("LinSpace", {some_doubles({}), doubles({}, {3}), Tensor::int32_scalar(4)});
}

}  // namespace
}  // namespace graphwright::ops_test
