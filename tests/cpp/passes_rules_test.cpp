// Every algebraic rule holds bit for bit: small expressions over special values of every dtype, as
// the rules leave them and as they were.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include "base/status.h"
#include "graph_interpreter.h"
#include "ir/graph_builder.h"
#include "ir/graph_copy.h"
#include "ir/opdef.h"
#include "passes/pass.h"
#include "passes/rules/rule.h"

namespace graphwright {
namespace {

constexpr DType kDtypes[] = {DType::kFloat, DType::kDouble,    DType::kHalf,      DType::kBfloat16,
                             DType::kInt8,  DType::kInt16,     DType::kInt32,     DType::kInt64,
                             DType::kUint8, DType::kUint16,    DType::kUint32,    DType::kUint64,
                             DType::kBool,  DType::kComplex64, DType::kComplex128};

Tensor cast_to(const Tensor& tensor, DType dtype) {
  const OpDef& cast = get_op("Cast");
  return eager_builder()
      .op("Cast", {Operand(tensor)}, named_attributes(cast, {{"DstT", dtype}}))
      .tensor();
}

Tensor special_values(DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> values{0.0,   -0.0,   1,       -1,      0.5,        -0.5,
                             2,     -2,     3,       1.5,     -1.5,       2.5,
                             127,   -128,   32767,   -32768,  2147483647, -2147483648.0,
                             1e-3,  3.4e38, -3.4e38, 1e-38,   5e-324,     2e-45,
                             65504, 1e300,  0.1,     1.0 / 3, 123456789.0};
  if (kFloating.contains(dtype) || kComplex.contains(dtype)) {
    values.insert(values.end(), {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()});
  }
  // And numbers of every size, with many digits.
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    double digits = 1 + static_cast<double>(random()) / 4294967296.0;
    values.push_back(std::ldexp(digits, static_cast<int>(random() % 160) - 80));
  }
  Tensor doubles =
      Tensor::vector<double>(DType::kDouble, std::span<const double>(values.data(), values.size()));
  if (!kComplex.contains(dtype)) return cast_to(doubles, dtype);
  // All pairs of a few.
  std::vector<double> few{
      0.0, -0.0, 1, -2.5, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> re, im;
  for (double a : few) {
    for (double b : few) {
      re.push_back(a);
      im.push_back(b);
    }
  }
  DType part = dtype == DType::kComplex64 ? DType::kFloat : DType::kDouble;
  auto vector = [&](const std::vector<double>& from) {
    return cast_to(Tensor::vector<double>(DType::kDouble, std::span(from.data(), from.size())),
                   part);
  };
  const OpDef& complex = get_op("Complex");
  return eager_builder()
      .op("Complex", {Operand(vector(re)), Operand(vector(im))},
          named_attributes(complex, {{"Tout", dtype}}))
      .tensor();
}

template <class T>
bool same_reals(const Tensor& left, const Tensor& right) {
  const auto count = left.byte_size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, static_cast<const char*>(left.raw_data()) + i * sizeof(T), sizeof(T));
    std::memcpy(&b, static_cast<const char*>(right.raw_data()) + i * sizeof(T), sizeof(T));
    if (a != a && b != b) continue;  // NaN: sign and payload may differ
    if (std::memcmp(&a, &b, sizeof(T)) != 0) return false;
  }
  return true;
}

bool same_numbers(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || !(left.shape() == right.shape())) return false;
  switch (left.dtype()) {
    case DType::kFloat:
    case DType::kComplex64:
      return same_reals<float>(left, right);
    case DType::kDouble:
    case DType::kComplex128:
      return same_reals<double>(left, right);
    case DType::kHalf:
      return same_reals<_Float16>(left, right);
    case DType::kBfloat16:
      return same_numbers(cast_to(left, DType::kFloat), cast_to(right, DType::kFloat));
    default:
      return std::memcmp(left.raw_data(), right.raw_data(), left.byte_size()) == 0;
  }
}

class RuleTester {
 public:
  // Runs the rules over one expression of x and y; compares if any applied.
  template <class Expression>
  void check(DType dtype, const std::string& what, Expression expression, bool with_values = true,
             std::initializer_list<Dim> dims = {}) {
    auto graph = std::make_shared<Graph>("rule");
    GraphBuilder builder(*graph);
    Tensor values = special_values(dtype);
    PartialShape shape = dims.size() ? PartialShape(dims) : values.shape();
    Operand x = graph->add_argument(graph->body(), tensor_type(dtype, shape), "x");
    Operand y = graph->add_argument(graph->body(), tensor_type(dtype, shape), "y");
    try {
      graph->body().results.push_back(builder.import(expression(builder, x, y)));
    } catch (const Error&) {
      return;  // not for this dtype
    }
    std::shared_ptr<Graph> changed = copy_graph(*graph);
    passes::PassContext context;
    bool any = false;
    context.on_rule = [&](std::string_view rule) {
      any = true;
      applied_.insert(std::string(rule));
    };
    passes::run_passes(*changed, passes::parse_pipeline("algebra"), context, true);
    if (!any || !with_values) return;
    ++compared_;
    if (dims.size()) values = counting(dtype, shape);
    Tensor other = reversed(values);
    std::vector<Tensor> inputs{values, other};
    Tensor expected = run(*graph, inputs);
    Tensor given = run(*changed, inputs);
    INFO(what, " of ", std::string(dtype_name(dtype)));
    CHECK(static_cast<bool>(expected) == static_cast<bool>(given));
    CHECK((!expected || same_numbers(expected, given)));
  }
  const std::set<std::string>& applied() const { return applied_; }
  int compared() const { return compared_; }

 private:
  // Null if it fails: a rule must not change that either.
  static Tensor run(const Graph& graph, std::span<const Tensor> inputs) {
    try {
      return testing::GraphInterpreter::run(graph, inputs)[0];
    } catch (const Error&) {
      return {};
    }
  }
  static Tensor counting(DType dtype, const PartialShape& shape) {
    Tensor tensor = Tensor::empty(DType::kDouble, shape.dims());
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      tensor.mutable_data<double>()[i] = static_cast<double>(i) - 3;
    }
    return cast_to(tensor, dtype);
  }
  static Tensor reversed(const Tensor& tensor) {
    return eager_builder()
        .op("ReverseV2", {Operand(tensor), eager_builder().int32_vector(std::array<int64_t, 1>{0})})
        .tensor();
  }
  std::set<std::string> applied_;
  int compared_ = 0;
};

constexpr const char* kUnary[] = {"Neg",  "Abs",   "Square",       "LogicalNot",     "Identity",
                                  "Relu", "Floor", "Ceil",         "Rint",           "Round",
                                  "Sign", "Conj",  "StopGradient", "PreventGradient"};
constexpr const char* kBinary[] = {
    "AddV2",    "Sub",     "Mul",       "RealDiv",    "FloorDiv",    "TruncateDiv",
    "Pow",      "Maximum", "Minimum",   "LogicalAnd", "LogicalOr",   "Equal",
    "NotEqual", "Less",    "LessEqual", "Greater",    "GreaterEqual"};
constexpr double kConstants[] = {0.0, -0.0, 1, -1, 2, 0.5, -0.25, 1024, 3, 1.2e-38};

}  // namespace

TEST_CASE("algebraic rules keep every bit") {
  RuleTester tester;
  for (DType dtype : kDtypes) {
    for (const char* outer : kUnary) {
      for (const char* inner : kUnary) {
        tester.check(dtype, std::string(outer) + "(" + inner + "(x))",
                     [&](GraphBuilder& b, const Operand& x, const Operand&) {
                       return b.op(outer, {b.op(inner, {x})});
                     });
      }
      for (const char* inner : kBinary) {
        // Division by zero is an error for integers.
        bool divides = std::string_view(inner).ends_with("Div");
        if (divides) continue;
        tester.check(dtype, std::string(outer) + "(x " + inner + " y)",
                     [&](GraphBuilder& b, const Operand& x, const Operand& y) {
                       return b.op(outer, {b.op(inner, {x, y})});
                     });
      }
    }
    for (const char* op : kBinary) {
      tester.check(
          dtype, std::string("x ") + op + " x",
          [&](GraphBuilder& b, const Operand& x, const Operand&) { return b.op(op, {x, x}); });
      for (double number : kConstants) {
        auto constant = [&](GraphBuilder& b) {
          return b.constant(cast_to(Tensor::scalar(DType::kDouble, number), dtype));
        };
        tester.check(dtype, std::string("x ") + op + " " + std::to_string(number),
                     [&](GraphBuilder& b, const Operand& x, const Operand&) {
                       return b.op(op, {x, constant(b)});
                     });
        // A constant of the same shape, too.
        auto full = [&](GraphBuilder& b, const Operand& x) {
          Tensor tensor = Tensor::empty(DType::kDouble, shape_of(x).dims());
          for (double& element : std::span(tensor.mutable_data<double>(),
                                           static_cast<size_t>(tensor.element_count()))) {
            element = number;
          }
          return b.constant(cast_to(tensor, dtype));
        };
        tester.check(dtype, std::string("x ") + op + " full " + std::to_string(number),
                     [&](GraphBuilder& b, const Operand& x, const Operand&) {
                       return b.op(op, {x, full(b, x)});
                     });
        tester.check(dtype, "full " + std::to_string(number) + " " + op + " x",
                     [&](GraphBuilder& b, const Operand& x, const Operand&) {
                       return b.op(op, {full(b, x), x});
                     });
        tester.check(dtype, std::to_string(number) + " " + op + " x",
                     [&](GraphBuilder& b, const Operand& x, const Operand&) {
                       return b.op(op, {constant(b), x});
                     });
      }
    }
    for (DType middle : kDtypes) {
      for (DType last : kDtypes) {
        tester.check(dtype, "cast", [&](GraphBuilder& b, const Operand& x, const Operand&) {
          const OpDef& cast = get_op("Cast");
          return b.op("Cast", {b.op("Cast", {x}, named_attributes(cast, {{"DstT", middle}}))},
                      named_attributes(cast, {{"DstT", last}}));
        });
      }
    }
    for (bool truth : {true, false}) {
      tester.check(dtype, "select", [&](GraphBuilder& b, const Operand& x, const Operand& y) {
        return b.op("SelectV2", {b.constant(Tensor::bool_scalar(truth)), x, y});
      });
    }
    tester.check(dtype, "select same", [&](GraphBuilder& b, const Operand& x, const Operand& y) {
      return b.op("SelectV2", {b.op("Equal", {x, y}), x, x});
    });
    tester.check(dtype, "select not", [&](GraphBuilder& b, const Operand& x, const Operand& y) {
      return b.op("SelectV2", {b.op("LogicalNot", {x}), x, y});
    });
    for (const char* part : {"Real", "Imag"}) {
      tester.check(dtype, part, [&](GraphBuilder& b, const Operand& x, const Operand& y) {
        DType whole = dtype == DType::kFloat ? DType::kComplex64 : DType::kComplex128;
        Attributes made = named_attributes(get_op("Complex"), {{"Tout", whole}});
        Attributes taken = named_attributes(get_op(part), {{"Tout", dtype}});
        return b.op(part, {b.op("Complex", {x, y}, made)}, taken);
      });
    }
    auto ints = [](GraphBuilder& b, std::vector<int64_t> values) { return b.int32_vector(values); };
    auto array = [&](const std::string& what, auto expression) {
      tester.check(dtype, what, expression, true, {2, 3, 4});
    };
    using Orders = std::vector<std::vector<int64_t>>;
    for (const auto& first : Orders{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}}) {
      for (const auto& second : Orders{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {2, 1, 0}}) {
        array("transpose", [&](GraphBuilder& b, const Operand& x, const Operand&) {
          return b.op("Transpose", {b.op("Transpose", {x, ints(b, first)}), ints(b, second)});
        });
      }
    }
    for (const auto& first : Orders{{6, 4}, {24}, {-1, 2}, {2, 3, 4}}) {
      for (const auto& second : Orders{{2, 3, 4}, {-1}, {4, 6}}) {
        array("reshape", [&](GraphBuilder& b, const Operand& x, const Operand&) {
          return b.op("Reshape", {b.op("Reshape", {x, ints(b, first)}), ints(b, second)});
        });
      }
    }
    array("squeeze", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      Operand axis = b.constant(Tensor::int32_scalar(1));
      return b.op("Squeeze", {b.op("Squeeze", {b.op("ExpandDims", {x, axis})})});
    });
    array("broadcast_to", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      return b.op("BroadcastTo", {x, ints(b, {2, 3, 4})});
    });
    array("tile", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      return b.op("Tile", {x, ints(b, {1, 1, 1})});
    });
    Tensor no_padding = Tensor::empty(DType::kInt32, std::array<int64_t, 2>{3, 2});
    std::memset(no_padding.mutable_raw_data(), 0, no_padding.byte_size());
    array("pad", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      return b.op("Pad", {x, b.constant(no_padding)});
    });
    array("pad_v2", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      Operand zero = b.constant(cast_to(Tensor::int32_scalar(0), dtype));
      return b.op("PadV2", {x, b.constant(no_padding), zero});
    });
    array("slice", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      return b.op("Slice", {x, ints(b, {0, 0, 0}), ints(b, {-1, 3, -1})});
    });
    array("concat", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      return b.op("ConcatV2", {x, b.constant(Tensor::int32_scalar(0))});
    });
    array("add_n",
          [&](GraphBuilder& b, const Operand& x, const Operand&) { return b.op("AddN", {x}); });
    array("reverse", [&](GraphBuilder& b, const Operand& x, const Operand&) {
      Operand axes = ints(b, {0, 2});
      return b.op("ReverseV2", {b.op("ReverseV2", {x, axes}), axes});
    });
  }
  MESSAGE(tester.compared() << " expressions compared");
  // No rule is there that nothing above makes apply.
  for (const passes::Rule* rule : passes::all_rules()) {
    INFO(std::string(rule->text));
    CHECK(tester.applied().contains(std::string(rule->text)));
  }
}

}  // namespace graphwright
