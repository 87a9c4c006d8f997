// The public interface: variables, lists, control flow, traced functions, gradients. Only public
// headers.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "api_support.h"

using Floats = std::vector<float>;

TEST_CASE("api: variables") {
  gw::Variable v({1, 2}, {.name = "v", .dtype = gw::float32});
  CHECK(v.dtype() == gw::float32);
  CHECK(v.shape() == gw::Shape{2});
  gw::Tensor before = v.read();
  v.assign_add(gw::constant({1.0f, 1.0f})).assign_sub(gw::constant({0.0f, 1.0f}));
  CHECK(before.to_vector<float>() == Floats{1, 2});
  CHECK(v.read().to_vector<float>() == Floats{2, 2});
  CHECK((v * 2 + v).to_vector<float>() == Floats{6, 6});
  gw::Variable same = v;
  same.assign(gw::constant({7.0f, 8.0f}));
  CHECK(gw::reduce_sum(v).item<float>() == 15);
  CHECK(v.to_string() ==
        "<tf.Variable 'v:0' shape=(2,) dtype=float32, numpy=array([7., 8.], dtype=float32)>");
  CHECK(error_of([&] { v.assign(gw::constant({1.0f})); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { v.assign(gw::constant({1, 2})); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([] { gw::Variable(1.5, {.dtype = gw::int32}); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(error_of([] { gw::Variable(gw::constant({1}), {.shape = gw::Shape{2}}); }).code() ==
        gw::Code::kInvalidArgument);
  gw::Variable open(gw::constant({1}), {.shape = gw::Shape{gw::kUnknownDim}});
  open.assign(gw::constant({1, 2, 3}));
  CHECK(open.read().shape() == gw::Shape{3});
  CHECK(open.shape() == gw::Shape{gw::kUnknownDim});
}

TEST_CASE("api: lists are values") {
  gw::List list(gw::float32, {2}, 2);
  gw::List written = list.write(1, gw::constant({1.0f, 2.0f}));
  CHECK(list.read(1).to_vector<float>() == Floats{0, 0});
  CHECK(written.push_back(gw::constant({5.0f, 6.0f})).stack().shape() == gw::Shape{3, 2});
  CHECK(written.size().item<int>() == 2);
  gw::List rows = gw::List::from_tensor(gw::constant({{1, 2}, {3, 4}}));
  CHECK(rows.read(1).to_vector<int>() == std::vector<int>{3, 4});
  CHECK(rows.gather({1, 0, 1}).shape() == gw::Shape{3, 2});
  CHECK(error_of([&] { list.read(2); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { static_cast<void>(list.write(-1, gw::constant({1.0f, 2.0f}))); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(error_of([&] { static_cast<void>(list.write(0, gw::constant({1.0f}))); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(error_of([&] { static_cast<void>(list.write(0, gw::constant({1, 2}))); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(error_of([] { gw::List(gw::float32, {}, -1); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([] { gw::List::from_tensor(1); }).code() == gw::Code::kInvalidArgument);
}

namespace {

// Sum of i * x for i in [0, n), and the partial sums.
std::tuple<gw::Tensor, gw::Tensor> weighted_sums(gw::Tensor x, const gw::Input& n) {
  gw::Tensor limit = n.to_tensor();
  auto [i, sum, sums] =
      gw::while_loop([&](gw::Tensor i, gw::Tensor, gw::List) { return i < limit; },
                     [&](gw::Tensor i, gw::Tensor sum, gw::List sums) {
                       gw::Tensor next = sum + gw::cast(i, gw::float32) * x;
                       return std::tuple(i + 1, next, sums.push_back(next));
                     },
                     0, 0.0, gw::List(gw::float32, {}));
  return {sum, sums.stack()};
}

}  // namespace

TEST_CASE("api: loops give the same eagerly and traced") {
  auto [sum, sums] = weighted_sums(gw::constant(2.0f), 5);
  CHECK(sum.item<float>() == 20);
  CHECK(sums.to_vector<float>() == Floats{0, 2, 6, 12, 20});
  auto traced = gw::trace([](gw::Tensor x, gw::Tensor n) { return weighted_sums(x, n); },
                          gw::TensorSpec({}, gw::float32, "x"), gw::TensorSpec({}, gw::int32, "n"));
  auto [traced_sum, traced_sums] = traced(2, 5);
  CHECK(traced_sum.item<float>() == 20);
  CHECK(traced_sums.to_vector<float>() == Floats{0, 2, 6, 12, 20});
  CHECK(std::get<1>(traced(1, 0)).shape() == gw::Shape{0});
  gw::Tensor only =
      gw::while_loop([](gw::Tensor x) { return x < 100; }, [](gw::Tensor x) { return x * 2; }, 1);
  CHECK(only.item<int>() == 128);
  gw::Tensor limited = gw::while_loop(
      {.maximum_iterations = 3}, [](gw::Tensor) { return true; },
      [](gw::Tensor x) { return x * 2; }, 1);
  CHECK(limited.item<int>() == 8);
}

TEST_CASE("api: shape invariants let a carried value grow") {
  auto grow = [](gw::Tensor n) {
    auto [i, all] = gw::while_loop(
        {.shape_invariants = {gw::Shape{}, gw::Shape{gw::kUnknownDim}}},
        [&](gw::Tensor i, gw::Tensor) { return i < n; },
        [](gw::Tensor i, gw::Tensor all) {
          return std::tuple(i + 1, gw::concat({all, gw::reshape(i, {1})}, 0));
        },
        0, gw::constant({0}));
    return all;
  };
  auto traced = gw::trace(grow, gw::TensorSpec({}, gw::int32));
  CHECK(traced(3).to_vector<int>() == std::vector<int>{0, 0, 1, 2});
  gw::Error error = error_of([] {
    gw::trace(
        [](gw::Tensor n) {
          return std::get<1>(gw::while_loop([&](gw::Tensor i, gw::Tensor) { return i < n; },
                                            [](gw::Tensor i, gw::Tensor all) {
                                              return std::tuple(i + 1, gw::concat({all, all}, 0));
                                            },
                                            0, gw::constant({0})));
        },
        gw::TensorSpec({}, gw::int32));
  });
  CHECK(error.code() == gw::Code::kInvalidArgument);
  CHECK(mentions(error.what(), "shape_invariants"));
}

TEST_CASE("api: branches") {
  auto sign = [](gw::Tensor x) {
    return gw::cond(
        x > 0, [&] { return gw::constant(1.0f); },
        [&] { return gw::cond(x < 0, [] { return gw::constant(-1.0f); }, [&] { return x; }); });
  };
  CHECK(sign(gw::constant(5.0f)).item<float>() == 1);
  auto traced = gw::trace(sign, scalar_spec());
  CHECK(traced(5).item<float>() == 1);
  CHECK(traced(-5).item<float>() == -1);
  CHECK(traced(0).item<float>() == 0);
  gw::Variable count(0);
  auto counting = gw::trace(
      [&](gw::Tensor x) { gw::cond(x > 0, [&] { count.assign_add(1); }, [] {}); }, scalar_spec());
  counting(1);
  counting(-1);
  counting(2);
  CHECK(count.read().item<int>() == 2);
  auto [a, b] = gw::cond(
      gw::constant(true), [] { return std::tuple(1, 2.0); }, [] { return std::tuple(3, 4.0); });
  CHECK(a.item<int>() == 1);
  CHECK(b.item<float>() == 2);
}

TEST_CASE("api: wrong loops and branches are refused") {
  CHECK(error_of([] {
          gw::trace(
              [](gw::Tensor x) {
                return gw::while_loop([](gw::Tensor x) { return x; },
                                      [](gw::Tensor x) { return x; }, x);
              },
              scalar_spec());
        }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([] {
          gw::trace(
              [](gw::Tensor x) {
                return gw::cond(x > 0, [&] { return x; }, [] { return gw::constant(1); });
              },
              scalar_spec());
        }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([] {
          gw::while_loop(
              {.shape_invariants = {gw::Shape{}}}, [](gw::Tensor, gw::Tensor) { return false; },
              [](gw::Tensor a, gw::Tensor b) { return std::tuple(a, b); }, 1, 2);
        }).code() == gw::Code::kInvalidArgument);
  gw::Tensor leaked;
  auto traced = gw::trace(
      [&](gw::Tensor x) {
        return gw::cond(x > 0, [&] { return leaked = x * 2; }, [&] { return x; });
      },
      scalar_spec());
  CHECK(error_of([&] { leaked + 1; }).code() == gw::Code::kInvalidArgument);
}

TEST_CASE("api: symbolic tensors are refused where they have no meaning, at any time") {
  gw::Tensor leaked;
  {
    auto f = gw::trace(
        [&](gw::Tensor x) {
          leaked = gw::tanh(x);
          CHECK(leaked.is_symbolic());
          CHECK(leaked.dtype() == gw::float32);
          CHECK(leaked.shape() == gw::Shape{gw::kUnknownDim});
          CHECK(mentions(leaked.to_string().c_str(), "shape=(None,), dtype=float32"));
          CHECK(error_of([&] { leaked.elements<float>(); }).code() == gw::Code::kInvalidArgument);
          CHECK(error_of([&] { leaked.size(); }).code() == gw::Code::kInvalidArgument);
          gw::Error truth = error_of([&] {
            if (gw::reduce_any(leaked > 0)) leaked = x;
          });
          CHECK(mentions(truth.what(), "gw::cond"));
          CHECK(error_of([&] { gw::Variable v(0); }).code() == gw::Code::kFailedPrecondition);
          return leaked;
        },
        gw::TensorSpec({gw::kUnknownDim}, gw::float32));
    CHECK(f(gw::constant({0.0f})).to_vector<float>() == Floats{0});
    CHECK(error_of([&] { f(leaked); }).code() == gw::Code::kInvalidArgument);
  }
  // The function and its graph are gone, the tensor still knows what it was.
  CHECK(leaked.name().find("Tanh") == 0);
  CHECK(error_of([&] { leaked + 1.0f; }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { gw::Variable v(leaked); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { gw::List(gw::float32, {1}).push_back(leaked).stack(); }).code() ==
        gw::Code::kInvalidArgument);
  CHECK(error_of([&] {
          gw::while_loop([](gw::Tensor) { return false; }, [](gw::Tensor x) { return x; }, leaked);
        }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] {
          gw::trace([&](gw::Tensor x) { return x + leaked; }, scalar_spec());
        }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([&] { gw::GradientTape().watch(leaked); }).code() == gw::Code::kOk);
}

TEST_CASE("api: traced functions check their arguments") {
  auto f =
      gw::trace([](gw::Tensor x, gw::Tensor y) { return x + y; }, scalar_spec(), scalar_spec());
  CHECK(f.argument_count() == 2);
  CHECK(f.result_count() == 1);
  CHECK(f(1, 2.5).item<float>() == 3.5f);
  CHECK(f.call({1, 2}).front().item<float>() == 3);
  CHECK(error_of([&] { f.call({1}); }).code() == gw::Code::kInvalidArgument);
  gw::Error dtype = error_of([&] { f(gw::constant(1.0), 2); });
  CHECK(dtype.code() == gw::Code::kInvalidArgument);
  CHECK(mentions(dtype.location(), "api_function_test.cpp:"));
  CHECK(error_of([&] { f(gw::constant({1.0f}), 2); }).code() == gw::Code::kInvalidArgument);
  CHECK(error_of([] {
          gw::trace([](gw::Tensor x) { return x; }, gw::TensorSpec({}, gw::DType::kVariant));
        }).code() == gw::Code::kInvalidArgument);
  // Called while another is traced it becomes part of it.
  auto g = gw::trace([&](gw::Tensor x) { return f(x, x) * 2; }, scalar_spec());
  CHECK(g(3).item<float>() == 12);
  auto nothing = gw::trace([] {});
  nothing();
  auto number = gw::trace("seven", [] { return 7; });
  CHECK(number().item<int>() == 7);
  CHECK(mentions(number.name().c_str(), "seven"));
}

TEST_CASE("api: the nodes of a graph know the line that made them") {
  auto f = gw::trace(
      [](gw::Tensor x, gw::Tensor y) {
        return gw::reshape(x, y);  // the line of the error
      },
      gw::TensorSpec({gw::kUnknownDim}, gw::float32), gw::TensorSpec({1}, gw::int32));
  const int line = __LINE__ - 3;
  gw::Error error = error_of([&] { f(gw::constant({1.0f, 2.0f}), gw::constant({3})); });
  CHECK(error.code() == gw::Code::kInvalidArgument);
  CHECK(std::string(error.location()) == "api_function_test.cpp:" + std::to_string(line));
  CHECK(std::string(error.op()) == "Reshape");
  CHECK(std::string(error.node()) == "Reshape");
}

TEST_CASE("api: exceptions of the program pass, and leave nothing behind") {
  gw::Variable v(0);
  CHECK_THROWS_AS(
      gw::trace([](gw::Tensor) -> gw::Tensor { throw std::runtime_error("the program's own"); },
                scalar_spec()),
      std::runtime_error);
  CHECK_THROWS_AS(gw::trace(
                      [](gw::Tensor x) {
                        return gw::while_loop([](gw::Tensor) { return true; },
                                              [](gw::Tensor) -> gw::Tensor { throw 42; }, x);
                      },
                      scalar_spec()),
                  int);
  CHECK((gw::constant(1) + 1).item<int>() == 2);
  gw::Variable eager_again(1);
}

TEST_CASE("api: staged functions trace once per dtype and shape") {
  int traces = 0;
  auto norm = gw::function([&](gw::Tensor x) {
    ++traces;
    return gw::sqrt(gw::reduce_sum(x * x));
  });
  CHECK(norm(gw::constant({3.0f, 4.0f})).item<float>() == 5);
  CHECK(norm(gw::constant({6.0f, 8.0f})).item<float>() == 10);
  CHECK(traces == 1);
  CHECK(norm(gw::constant({6.0, 8.0})).item<double>() == 10);
  CHECK(norm(gw::constant({1.0f})).item<float>() == 1);
  CHECK(norm.trace_count() == 3);
  auto copy = norm;
  copy(gw::constant({1.0f}));
  CHECK(traces == 3);
  auto pair = gw::function([](gw::Tensor a, gw::Tensor b) { return std::tuple(a + b, a - b); });
  auto [sum, difference] = pair(5, 3);
  CHECK(sum.item<int>() == 8);
  CHECK(difference.item<int>() == 2);
}

TEST_CASE("api: gradients, eager and traced, of any order") {
  auto derivative = [](gw::Tensor x) {
    gw::GradientTape outer;
    outer.watch(x);
    gw::Tensor first;
    {
      gw::GradientTape inner;
      inner.watch(x);
      gw::Tensor y = x * x * x;
      first = inner.gradient(y, x);
    }
    return std::tuple(first, outer.gradient(first, x));
  };
  auto [first, second] = derivative(gw::constant(2.0f));
  CHECK(first.item<float>() == 12);
  CHECK(second.item<float>() == 12);
  auto traced = gw::trace(derivative, scalar_spec());
  auto [traced_first, traced_second] = traced(2);
  CHECK(traced_first.item<float>() == 12);
  CHECK(traced_second.item<float>() == 12);
}

TEST_CASE("api: gradients through loops, lists, calls and variables") {
  gw::Variable w(3.0);
  auto power = gw::trace(
      [&](gw::Tensor x) {
        auto [i, y, all] = gw::while_loop([](gw::Tensor i, gw::Tensor, gw::List) { return i < 4; },
                                          [&](gw::Tensor i, gw::Tensor y, gw::List all) {
                                            return std::tuple(i + 1, y * w, all.write(i, y));
                                          },
                                          0, x, gw::List(gw::float32, {}, 4));
        return y + gw::reduce_sum(all.stack());
      },
      scalar_spec());
  // x (w^4 + w^3 + w^2 + w + 1)
  gw::Tensor x = gw::constant(2.0f);
  gw::GradientTape tape({.persistent = true});
  tape.watch(x);
  gw::Tensor y = power(x);
  CHECK(y.item<float>() == 242);
  std::vector<gw::Tensor> gradients = tape.gradient(y, {x, w});
  CHECK(gradients[0].item<float>() == 121);
  CHECK(gradients[1].item<float>() == 2 * (4 * 27 + 3 * 9 + 2 * 3 + 1));
  gw::Tensor unrelated = gw::constant(1.0f);
  CHECK(!tape.gradient(y, unrelated).defined());
  CHECK(tape.gradient(y, unrelated, gw::Unconnected::kZero).item<float>() == 0);
  tape.stop_recording();
}

TEST_CASE("api: tapes refuse wrong use") {
  gw::Tensor x = gw::constant(2.0f);
  gw::GradientTape tape;
  tape.watch(x);
  gw::Tensor y = x * x;
  CHECK(tape.gradient(y, x).item<float>() == 4);
  CHECK(error_of([&] { tape.gradient(y, x); }).code() == gw::Code::kFailedPrecondition);
  CHECK(error_of([&] { tape.watch(1); }).code() == gw::Code::kInvalidArgument);
  gw::GradientTape other;
  std::thread([&] {
    CHECK(error_of([&] { other.watch(x); }).code() == gw::Code::kFailedPrecondition);
  }).join();
  gw::trace(
      [&](gw::Tensor symbolic) {
        CHECK(error_of([&] { other.gradient(symbolic, x); }).code() ==
              gw::Code::kFailedPrecondition);
        return symbolic;
      },
      scalar_spec());
  gw::Variable table(gw::constant({{1.0f}, {2.0f}, {3.0f}}));
  gw::GradientTape rows;
  gw::Tensor picked = gw::gather(table, {2, 2});
  CHECK(rows.gradient(picked, table).to_vector<float>() == Floats{0, 0, 2});
}

TEST_CASE("api: a token ends a run from another thread") {
  auto endless = gw::trace(
      [](gw::Tensor x) {
        return gw::while_loop([](gw::Tensor) { return true; }, [](gw::Tensor x) { return x + 1; },
                              x);
      },
      gw::TensorSpec({}, gw::int32));
  gw::CancellationToken token;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    token.cancel();
  });
  gw::Error error = error_of([&] { endless(token, 0); });
  canceller.join();
  CHECK(error.code() == gw::Code::kCancelled);
  CHECK(token.is_cancelled());
  auto quick = gw::trace([](gw::Tensor x) { return x; }, scalar_spec());
  CHECK(error_of([&] { quick(token, 1); }).code() == gw::Code::kCancelled);
  token.reset();
  CHECK(quick(token, 1).item<float>() == 1);
  gw::trace(
      [&](gw::Tensor x) {
        CHECK(error_of([&] { quick(token, x); }).code() == gw::Code::kFailedPrecondition);
        return x;
      },
      scalar_spec());
}

TEST_CASE("api: functions are called from many threads at once") {
  gw::Variable total(0.0);
  auto f = gw::function([&](gw::Tensor x) {
    total.assign_add(1);
    return std::get<0>(weighted_sums(x, 10)) + x;
  });
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        float x = static_cast<float>(t * 100 + i);
        wrong += f(gw::constant(x)).item<float>() != 46 * x;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(f.trace_count() == 1);
  CHECK(total.read().item<float>() == 200);
}

TEST_CASE("api: graphs as text and GraphDef") {
  auto f = gw::trace(
      "halved", [](gw::Tensor x) { return x / 2; },
      gw::TensorSpec({gw::kUnknownDim}, gw::float32, "x"));
  std::string text = f.to_text();
  CHECK(text.starts_with("graphwright-ir "));
  gw::Function back = gw::Function::from_text(text);
  CHECK(back.to_text() == text);
  CHECK(back.call({gw::constant({4.0f})}).front().item<float>() == 2);
  CHECK(mentions(f.graph_def().c_str(), "x"));
  CHECK(error_of([] { gw::Function::from_text("nonsense"); }).code() == gw::Code::kInvalidArgument);
  gw::Variable v(1.0);
  auto g = gw::trace([&] { return v.read(); });
  gw::Error error = error_of([&] { gw::Function::from_text(g.to_text()); });
  CHECK(mentions(error.what(), "captures variables"));
}
