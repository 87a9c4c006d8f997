// The error bounds that the elementary functions document, in units in the last place (ulp) of the
// exact result, measured against the C library in extended precision. The skipped case prints a
// table: graphwright_tests --no-skip -tc="table of errors".
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "kernels/formula_kernels.h"

namespace graphwright {
namespace {

using Exact = long double;

struct Function {
  const char* name;
  int arity;
  Exact (*exact)(Exact x, Exact y);
  double low, high;         // where most samples lie
  double bound32, bound64;  // ulp
  double y_low = 0, y_high = 0;
};

const Function kFunctions[] = {
    {"Exp", 1, [](Exact x, Exact) { return expl(x); }, -20, 20, 1.1, 1.1},
    {"Exp", 1, [](Exact x, Exact) { return expl(x); }, -104, 89, 1.1, 1.1},
    {"Expm1", 1, [](Exact x, Exact) { return expm1l(x); }, -2, 2, 2.0, 2.0},
    {"Expm1", 1, [](Exact x, Exact) { return expm1l(x); }, -20, 88, 2.0, 2.0},
    {"Log", 1, [](Exact x, Exact) { return logl(x); }, 0, 10, 1.0, 1.0},
    {"Log", 1, [](Exact x, Exact) { return logl(x); }, 0.5, 1.5, 1.0, 1.0},
    {"Log1p", 1, [](Exact x, Exact) { return log1pl(x); }, -1, 1, 2.0, 2.0},
    {"Log1p", 1, [](Exact x, Exact) { return log1pl(x); }, -0.01, 0.01, 2.0, 2.0},
    {"Tanh", 1, [](Exact x, Exact) { return tanhl(x); }, -1, 1, 6.0, 3.0},
    {"Tanh", 1, [](Exact x, Exact) { return tanhl(x); }, -10, 10, 6.0, 3.0},
    {"Sigmoid", 1, [](Exact x, Exact) { return 1 / (1 + expl(-x)); }, -20, 20, 3.0, 3.0},
    {"Sin", 1, [](Exact x, Exact) { return sinl(x); }, -4, 4, 2.0, 2.0},
    {"Sin", 1, [](Exact x, Exact) { return sinl(x); }, -2e5, 2e5, 2.0, 2.0},
    {"Cos", 1, [](Exact x, Exact) { return cosl(x); }, -4, 4, 2.0, 2.0},
    {"Cos", 1, [](Exact x, Exact) { return cosl(x); }, -2e5, 2e5, 2.0, 2.0},
    {"Tan", 1, [](Exact x, Exact) { return tanl(x); }, -4, 4, 4.0, 4.0},
    {"Pow", 2, [](Exact x, Exact y) { return powl(x, y); }, 0, 10, 0.51, 1.3, -20, 20},
    {"Pow", 2, [](Exact x, Exact y) { return powl(x, y); }, 0.9, 1.1, 0.51, 1.3, -300, 300},
    {"Sqrt", 1, [](Exact x, Exact) { return sqrtl(x); }, 0, 10, 0.501, 0.501},
    {"Rsqrt", 1, [](Exact x, Exact) { return 1 / sqrtl(x); }, 0, 10, 1.5, 1.5},
};

// The distance of the result from the exact value, in ulp of the exact value in T.
template <class T>
double error_in_ulp(T result, Exact exact) {
  if (std::isnan(result) || std::isnan(exact)) {
    return std::isnan(result) == std::isnan(exact) ? 0 : HUGE_VAL;
  }
  const T rounded = static_cast<T>(exact);
  if (std::isinf(rounded) || std::isinf(result)) return result == rounded ? 0 : HUGE_VAL;
  int exponent;
  std::frexp(static_cast<double>(rounded), &exponent);
  const int least = std::numeric_limits<T>::min_exponent;
  const Exact ulp = ldexpl(1, std::max(exponent, least) - std::numeric_limits<T>::digits);
  return static_cast<double>(fabsl(static_cast<Exact>(result) - exact) / ulp);
}

template <class T>
double largest_error(const Function& function, DType type, int count) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> plain(function.low, function.high);
  std::uniform_real_distribution<double> second(function.y_low, function.y_high);
  std::vector<T> x(static_cast<size_t>(count)), y(x.size()), result(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(plain(random));
    // Some of any magnitude within the range.
    if (i % 8 == 0) x[i] = static_cast<T>(static_cast<double>(x[i]) * std::exp2(-double(i % 61)));
    y[i] = static_cast<T>(second(random));
  }
  const void* operands[] = {x.data(), y.data()};
  const int64_t steps[] = {1, 1};
  find_formula(function.name)->elementwise(type)(result.data(), operands, steps, count);
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, error_in_ulp(result[i], function.exact(x[i], y[i])));
  }
  return largest;
}

TEST_CASE("elementary functions keep to their error bounds") {
  for (const Function& function : kFunctions) {
    INFO(std::string(function.name) << " in [" << function.low << ", " << function.high << "]");
    CHECK(largest_error<float>(function, DType::kFloat, 60000) < function.bound32);
    CHECK(largest_error<double>(function, DType::kDouble, 60000) < function.bound64);
  }
}

TEST_CASE("table of errors" * doctest::skip()) {
  std::printf("%-10s %-22s %10s %10s\n", "function", "range", "float32", "float64");
  for (const Function& function : kFunctions) {
    char range[48];
    std::snprintf(range, sizeof range, "[%g, %g]", function.low, function.high);
    std::printf("%-10s %-22s %10.3f %10.3f\n", function.name, range,
                largest_error<float>(function, DType::kFloat, 1000000),
                largest_error<double>(function, DType::kDouble, 1000000));
  }
}

template <class T>
T value(const char* name, DType type, T x, T y = 0) {
  T result;
  find_formula(name)->scalar(type)(&result, &x, &y, nullptr);
  return result;
}

template <class T>
void check_special_values(DType type) {
  const T infinity = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::denorm_min();
  const T largest = std::numeric_limits<T>::max();
  const auto f = [type](const char* name, T x, T y = 0) { return value<T>(name, type, x, y); };
  CHECK(f("Exp", -infinity) == 0);
  CHECK(f("Exp", infinity) == infinity);
  CHECK(std::isnan(f("Exp", nan)));
  CHECK(f("Expm1", -infinity) == -1);
  CHECK(f("Expm1", infinity) == infinity);
  CHECK(f("Expm1", tiny) == tiny);
  CHECK(std::signbit(f("Expm1", T(-0.0))));
  CHECK(f("Log", 0) == -infinity);
  CHECK(f("Log", T(-0.0)) == -infinity);
  CHECK(f("Log", infinity) == infinity);
  CHECK(std::isnan(f("Log", -1)));
  CHECK(f("Log", 1) == 0);
  CHECK(std::fabs(f("Log", tiny) - std::log(tiny)) < T(1e-4));
  CHECK(f("Log1p", -1) == -infinity);
  CHECK(f("Log1p", infinity) == infinity);
  CHECK(std::isnan(f("Log1p", -2)));
  CHECK(std::signbit(f("Log1p", T(-0.0))));
  CHECK(f("Log1p", tiny) == tiny);
  CHECK(f("Tanh", infinity) == 1);
  CHECK(f("Tanh", -infinity) == -1);
  CHECK(f("Tanh", tiny) == tiny);
  CHECK(std::signbit(f("Tanh", T(-0.0))));
  CHECK(f("Sigmoid", infinity) == 1);
  CHECK(f("Sigmoid", -infinity) == 0);
  CHECK(f("Sigmoid", 0) == T(0.5));
  CHECK(std::isnan(f("Sin", infinity)));
  CHECK(std::isnan(f("Cos", -infinity)));
  CHECK(std::signbit(f("Sin", T(-0.0))));
  CHECK(f("Sin", tiny) == tiny);
  CHECK(f("Cos", tiny) == 1);
  CHECK(f("Sin", largest) == static_cast<T>(std::sin(static_cast<double>(largest))));
  CHECK(f("Cos", largest) == static_cast<T>(std::cos(static_cast<double>(largest))));
  CHECK(f("Sqrt", T(-0.0)) == 0);
  CHECK(std::isnan(f("Sqrt", -1)));
  CHECK(f("Rsqrt", 0) == infinity);
  CHECK(f("Rsqrt", T(-0.0)) == -infinity);
  CHECK(f("Rint", T(2.5)) == 2);
  CHECK(f("Rint", T(-0.4)) == 0);
  CHECK(f("Sign", T(-0.0)) == 0);
  CHECK(std::isnan(f("Sign", nan)));
  CHECK(f("FloorDiv", -7, 3) == -3);
  CHECK(f("FloorMod", -7, 3) == 2);
  CHECK(f("FloorMod", 7, -3) == -2);
  CHECK(f("FloorMod", -1, infinity) == infinity);
  CHECK(f("TruncateMod", -7, 3) == -1);
  CHECK(f("DivNoNan", 3, 0) == 0);
  CHECK(std::isnan(f("Maximum", 1, nan)));
  CHECK(std::isnan(f("Minimum", nan, 1)));
}

TEST_CASE("values at the ends of domains") {
  check_special_values<float>(DType::kFloat);
  check_special_values<double>(DType::kDouble);
}

template <class T>
void check_powers(DType type) {
  const T infinity = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T values[] = {0,
                      T(-0.0),
                      1,
                      -1,
                      2,
                      -2,
                      T(0.5),
                      T(-0.5),
                      3,
                      -3,
                      T(1e30),
                      T(-1e30),
                      T(1e-30),
                      infinity,
                      -infinity,
                      nan,
                      T(2.5),
                      T(-2.5),
                      1025,
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::max()};
  for (T x : values) {
    for (T y : values) {
      const T expected = std::pow(x, y), result = value<T>("Pow", type, x, y);
      INFO("pow(" << x << ", " << y << ") = " << result << ", expected " << expected);
      if (std::isnan(expected)) {
        CHECK(std::isnan(result));
      } else if (std::isinf(expected) || expected == 0) {
        CHECK(result == expected);
        CHECK(std::signbit(result) == std::signbit(expected));
      } else {
        CHECK(error_in_ulp(result, static_cast<Exact>(expected)) <= 1);
      }
    }
  }
}

TEST_CASE("powers have the special values of C's pow") {
  check_powers<float>(DType::kFloat);
  check_powers<double>(DType::kDouble);
}

}  // namespace
}  // namespace graphwright
