// Products, convolutions, reductions, casts and ops of neural networks.
#include <cmath>

#include <doctest/doctest.h>

#include "ops_support.h"

namespace graphwright::ops_test {
namespace {

using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>;

TEST_CASE("MatMul in every orientation") {
  Tensor a = doubles({2, 3}, {1, 2, 3, 4, 5, 6}), b = doubles({3, 2}, {1, 0, 2, 1, 0, 3});
  CHECK(values_of(run("MatMul", {a, b})) == Numbers{5, 11, 14, 23});
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      Named attributes{{"transpose_a", ta}, {"transpose_b", tb}};
      check_derivatives(
          "MatMul",
          {some_doubles(ta ? Dims{3, 2} : Dims{2, 3}), some_doubles(tb ? Dims{4, 3} : Dims{3, 4})},
          attributes);
    }
  }
  CHECK(values_of(run("MatMul", {ints({1, 2}, {1, 2}), ints({2, 1}, {3, 4})})) == Numbers{11});
  CHECK(dims_of(run("MatMul", {doubles({2, 0}, {}), doubles({0, 3}, {})})) == Dims{2, 3});
  CHECK(values_of(run("MatMul", {doubles({1, 0}, {}), doubles({0, 1}, {})})) == Numbers{0});
  CHECK(error_of("MatMul", {a, a}).find("Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]") !=
        std::string::npos);
  error_of("MatMul", {doubles({2}, {1, 2}), b});
}

TEST_CASE("large float32 products agree with double ones") {
  Tensor a = some_doubles({40, 50}), b = some_doubles({50, 30});
  Tensor exact = run("MatMul", {a, b});
  Tensor af = Tensor::empty(DType::kFloat, a.dims()), bf = Tensor::empty(DType::kFloat, b.dims());
  for (int64_t i = 0; i < 2000; ++i) {
    af.mutable_data<float>()[i] = static_cast<float>(a.data<double>()[i]);
  }
  for (int64_t i = 0; i < 1500; ++i) {
    bf.mutable_data<float>()[i] = static_cast<float>(b.data<double>()[i]);
  }
  Tensor single = run("MatMul", {af, bf});
  double worst = 0;
  for (int64_t i = 0; i < 1200; ++i) {
    worst = std::max(
        worst, std::abs(exact.data<double>()[i] - static_cast<double>(single.data<float>()[i])));
  }
  CHECK(worst < 1e-4);
}

TEST_CASE("BatchMatMulV2 broadcasts the batch") {
  Tensor product = run("BatchMatMulV2", {some_doubles({2, 1, 2, 3}), some_doubles({4, 3, 2})});
  CHECK(dims_of(product) == Dims{2, 4, 2, 2});
  for (bool ax : {false, true}) {
    for (bool ay : {false, true}) {
      check_derivatives("BatchMatMulV2",
                        {some_doubles(ax ? Dims{2, 1, 3, 2} : Dims{2, 1, 2, 3}),
                         some_doubles(ay ? Dims{3, 2, 3} : Dims{3, 3, 2})},
                        {{"adj_x", ax}, {"adj_y", ay}});
    }
  }
  error_of("BatchMatMulV2", {some_doubles({2, 2, 3}), some_doubles({3, 3, 2})});
}

Tensor naive_conv(const Tensor& x, const Tensor& f, int64_t stride, int64_t dilation, int64_t top,
                  int64_t left, const Tensor& like) {
  Tensor y = Tensor::zeros(DType::kDouble, like.dims());
  for (int64_t n = 0; n < x.dim(0); ++n)
    for (int64_t i = 0; i < y.dim(1); ++i)
      for (int64_t j = 0; j < y.dim(2); ++j)
        for (int64_t o = 0; o < f.dim(3); ++o)
          for (int64_t ki = 0; ki < f.dim(0); ++ki)
            for (int64_t kj = 0; kj < f.dim(1); ++kj)
              for (int64_t c = 0; c < f.dim(2); ++c) {
                int64_t r = i * stride + ki * dilation - top, s = j * stride + kj * dilation - left;
                if (r < 0 || s < 0 || r >= x.dim(1) || s >= x.dim(2)) continue;
                y.mutable_data<double>()[((n * y.dim(1) + i) * y.dim(2) + j) * f.dim(3) + o] +=
                    x.data<double>()[((n * x.dim(1) + r) * x.dim(2) + s) * x.dim(3) + c] *
                    f.data<double>()[((ki * f.dim(1) + kj) * f.dim(2) + c) * f.dim(3) + o];
              }
  return y;
}

TEST_CASE("Conv2D against its definition") {
  Tensor x = some_doubles({2, 6, 5, 3}), f = some_doubles({3, 2, 3, 4});
  for (int64_t stride : {1, 2}) {
    for (int64_t dilation : {1, 2}) {
      Named attributes{{"strides", Dims{1, stride, stride, 1}},
                       {"padding", std::string("VALID")},
                       {"dilations", Dims{1, dilation, dilation, 1}}};
      Tensor y = run("Conv2D", {x, f}, attributes);
      Tensor wanted = naive_conv(x, f, stride, dilation, 0, 0, y);
      for (int64_t i = 0; i < y.element_count(); ++i) {
        CHECK(y.data<double>()[i] == doctest::Approx(wanted.data<double>()[i]));
      }
    }
  }
  Tensor same =
      run("Conv2D", {x, f}, {{"strides", Dims{1, 2, 2, 1}}, {"padding", std::string("SAME")}});
  CHECK(dims_of(same) == Dims{2, 3, 3, 4});
  // Total padding: rows (3 - 1) * 2 + 3 - 6 = 1, columns (3 - 1) * 2 + 2 - 5 = 1; none before.
  Tensor wanted = naive_conv(x, f, 2, 1, 0, 0, same);
  for (int64_t i = 0; i < same.element_count(); ++i) {
    CHECK(same.data<double>()[i] == doctest::Approx(wanted.data<double>()[i]));
  }
  Tensor padded = run("Conv2D", {x, f},
                      {{"strides", Dims{1, 1, 1, 1}},
                       {"padding", std::string("EXPLICIT")},
                       {"explicit_paddings", Dims{0, 0, 1, 2, 2, 0, 0, 0}}});
  CHECK(dims_of(padded) == Dims{2, 7, 6, 4});
  wanted = naive_conv(x, f, 1, 1, 1, 2, padded);
  for (int64_t i = 0; i < padded.element_count(); ++i) {
    CHECK(padded.data<double>()[i] == doctest::Approx(wanted.data<double>()[i]));
  }
}

TEST_CASE("Conv2D in NCHW is the transpose of that in NHWC") {
  Tensor x = some_doubles({1, 4, 4, 4}), f = some_doubles({2, 2, 2, 4});  // two groups
  Named last{{"strides", Dims{1, 1, 2, 1}}, {"padding", std::string("SAME")}};
  Named first{{"strides", Dims{1, 1, 1, 2}},
              {"padding", std::string("SAME")},
              {"data_format", std::string("NCHW")}};
  Tensor y = run("Conv2D", {x, f}, last);
  Tensor turned = run("Conv2D", {run("Transpose", {x, ints({4}, {0, 3, 1, 2})}), f}, first);
  CHECK(values_of(run("Transpose", {turned, ints({4}, {0, 2, 3, 1})})) == values_of(y));
}

TEST_CASE("float32 convolutions through the library agree with double ones") {
  Tensor x = some_doubles({2, 12, 12, 8}), f = some_doubles({3, 3, 8, 16});
  auto narrowed = [](const Tensor& from) { return run("Cast", {from}, {{"DstT", DType::kFloat}}); };
  Named attributes{{"strides", Dims{1, 2, 2, 1}}, {"padding", std::string("SAME")}};
  Tensor y = run("Conv2D", {x, f}, attributes);
  auto check_close = [](const Tensor& single, const Tensor& exact) {
    Numbers a = values_of(single), b = values_of(exact);
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    CHECK(worst < 1e-3);
  };
  check_close(run("Conv2D", {narrowed(x), narrowed(f)}, attributes), y);
  Tensor sizes = run("Shape", {x}), filter_sizes = run("Shape", {f});
  check_close(run("Conv2DBackpropInput", {sizes, narrowed(f), narrowed(y)}, attributes),
              run("Conv2DBackpropInput", {sizes, f, y}, attributes));
  check_close(run("Conv2DBackpropFilter", {narrowed(x), filter_sizes, narrowed(y)}, attributes),
              run("Conv2DBackpropFilter", {x, filter_sizes, y}, attributes));
}

TEST_CASE("derivatives of convolutions, and of their gradients") {
  for (const char* padding : {"SAME", "VALID"}) {
    for (int64_t stride : {1, 2}) {
      Named attributes{{"strides", Dims{1, stride, stride, 1}},
                       {"padding", std::string(padding)},
                       {"dilations", Dims{1, 1, 2, 1}}};
      Tensor x = some_doubles({1, 4, 5, 2}), f = some_doubles({2, 2, 2, 2});
      check_derivatives("Conv2D", {x, f}, attributes);
      Tensor y = run("Conv2D", {x, f}, attributes);
      check_derivatives("Conv2DBackpropInput", {run("Shape", {x}), f, some_doubles(dims_of(y))},
                        attributes);
      check_derivatives("Conv2DBackpropFilter", {x, run("Shape", {f}), some_doubles(dims_of(y))},
                        attributes);
    }
  }
  check_derivatives("Conv2D", {some_doubles({1, 2, 3, 3}), some_doubles({2, 2, 1, 2})},
                    {{"strides", Dims{1, 1, 1, 1}},
                     {"padding", std::string("EXPLICIT")},
                     {"explicit_paddings", Dims{0, 0, 0, 0, 1, 0, 0, 2}},
                     {"data_format", std::string("NCHW")}});
}

TEST_CASE("convolutions that do not fit are refused") {
  Tensor x = some_doubles({1, 3, 3, 2}), f = some_doubles({2, 2, 2, 2});
  Named plain{{"strides", Dims{1, 1, 1, 1}}, {"padding", std::string("VALID")}};
  error_of("Conv2D", {x, some_doubles({2, 2, 3, 2})}, plain);
  error_of("Conv2D", {x, some_doubles({5, 2, 2, 2})}, plain);
  error_of("Conv2D", {some_doubles({3, 3, 2}), f}, plain);
  error_of("Conv2D", {x, f}, {{"strides", Dims{1, 0, 1, 1}}, {"padding", std::string("VALID")}});
  error_of("Conv2D", {x, f}, {{"strides", Dims{2, 1, 1, 1}}, {"padding", std::string("VALID")}});
  error_of("Conv2D", {x, f}, {{"strides", Dims{1, 1}}, {"padding", std::string("VALID")}});
  error_of("Conv2D", {x, f},
           {{"strides", Dims{1, 1, 1, 1}},
            {"padding", std::string("EXPLICIT")},
            {"explicit_paddings", Dims{0, 0, -1, 0, 0, 0, 0, 0}}});
  error_of("Conv2DBackpropInput", {ints({4}, {1, 3, 3, 2}), f, some_doubles({1, 3, 3, 2})}, plain);
  CHECK(dims_of(run("Conv2D", {Tensor::empty(DType::kDouble, {0, 3, 3, 2}), f}, plain)) ==
        Dims{0, 2, 2, 2});
}

TEST_CASE("reductions over axes") {
  Tensor x = doubles({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(values_of(run("Sum", {x, ints({1}, {0})})) == Numbers{5, 7, 9});
  CHECK(values_of(run("Sum", {x, ints({2}, {0, -1})})) == Numbers{21});
  CHECK(dims_of(run("Sum", {x, ints({1}, {1})}, {{"keep_dims", true}})) == Dims{2, 1});
  CHECK(values_of(run("Sum", {x, ints({0}, {})})) == values_of(x));
  CHECK(values_of(run("Prod", {x, Tensor::int32_scalar(1)})) == Numbers{6, 120});
  CHECK(values_of(run("Max", {x, ints({1}, {1})})) == Numbers{3, 6});
  CHECK(values_of(run("Min", {x, ints({1}, {0})})) == Numbers{1, 2, 3});
  CHECK(values_of(run("Mean", {x, ints({1}, {1})})) == Numbers{2, 5});
  CHECK(values_of(run("Mean", {ints({3}, {1, 2, 4}), ints({1}, {0})})) == Numbers{2});
  CHECK(values_of(run("Sum", {Tensor::empty(DType::kDouble, {0, 2}), ints({1}, {0})})) ==
        Numbers{0, 0});
  CHECK(std::isinf(values_of(run("Max", {Tensor::empty(DType::kDouble, {0}), ints({1}, {0})}))[0]));
  CHECK(values_of(run("All", {bools({2, 2}, {true, false, true, true}), ints({1}, {1})})) ==
        Numbers{0, 1});
  CHECK(values_of(run("Any", {bools({2, 2}, {true, false, false, false}), ints({1}, {1})})) ==
        Numbers{1, 0});
  CHECK(error_of("Sum", {x, ints({1}, {3})}).find("Invalid reduction dimension (3") !=
        std::string::npos);
  error_of("Sum", {x, ints({2}, {0, 0})});
  for (bool keep : {false, true}) {
    for (const char* op : {"Sum", "Prod", "Max", "Min", "Mean"}) {
      check_derivatives(op, {some_doubles({2, 3, 2}), ints({2}, {0, 2})}, {{"keep_dims", keep}});
    }
  }
  // Products with one and with two zeros.
  check_derivatives("Prod", {doubles({2, 3}, {0, 2, 3, 0, 0, 5}), ints({1}, {1})});
  CHECK(values_of(run("ArgMax", {doubles({2, 3}, {1, 3, 3, 5, 4, 5}), Tensor::int32_scalar(1)})) ==
        Numbers{1, 0});
  CHECK(run("ArgMin", {x, Tensor::int32_scalar(-1)}, {{"output_type", DType::kInt32}}).dtype() ==
        DType::kInt32);
  error_of("ArgMax", {x, Tensor::int32_scalar(2)});
  error_of("ArgMax", {Tensor::empty(DType::kDouble, {0}), Tensor::int32_scalar(0)});
  CHECK(values_of(run("AddN", {x, x, x})) == Numbers{3, 6, 9, 12, 15, 18});
  error_of("AddN", {x, doubles({1}, {1})});
  check_derivatives("AddN", {some_doubles({2}), some_doubles({2})});
}

TEST_CASE("Cast between dtypes") {
  Tensor x = doubles({4}, {1.9, -1.9, NAN, 1e300});
  CHECK(values_of(run("Cast", {x}, {{"DstT", DType::kInt32}})) ==
        Numbers{1, -1, -2147483648.0, -2147483648.0});
  CHECK(values_of(run("Cast", {bools({2}, {true, false})}, {{"DstT", DType::kFloat}})) ==
        Numbers{1, 0});
  CHECK(values_of(run("Cast", {doubles({2}, {0, 0.5})}, {{"DstT", DType::kBool}})) ==
        Numbers{0, 1});
  error_of("Cast", {strings({1}, {"1"})}, {{"DstT", DType::kInt32}});
}

TEST_CASE("Softmax, biases and cross entropy") {
  Tensor x = some_doubles({2, 3});
  Tensor p = run("Softmax", {x});
  CHECK(p.data<double>()[0] + p.data<double>()[1] + p.data<double>()[2] == doctest::Approx(1));
  Tensor large = run("Softmax", {doubles({1, 2}, {1000, 0})});
  CHECK(values_of(large) == Numbers{1, 0});
  check_derivatives("Softmax", {x});
  check_derivatives("LogSoftmax", {x});
  check_derivatives("BiasAdd", {some_doubles({2, 2, 3}), some_doubles({3})});
  check_derivatives("BiasAdd", {some_doubles({2, 3, 2}), some_doubles({3})},
                    {{"data_format", std::string("NCHW")}});
  check_derivatives("BiasAddGrad", {some_doubles({2, 3, 2})},
                    {{"data_format", std::string("NCHW")}});
  error_of("BiasAdd", {some_doubles({2, 3}), some_doubles({2})});
  check_derivatives("SparseSoftmaxCrossEntropyWithLogits", {x, ints({2}, {2, 0})});
  error_of("SparseSoftmaxCrossEntropyWithLogits", {x, ints({2}, {3, 0})});
}

}  // namespace
}  // namespace graphwright::ops_test
