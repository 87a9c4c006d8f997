#include <algorithm>
#include <array>

#include <doctest/doctest.h>

#include "ir/type_inference.h"
#include "ir_support.h"

namespace graphwright {
namespace {

using test::contains;
using test::error_kind;
using test::error_text;

Status run_nothing(KernelContext&) { return {}; }

constexpr OpDef kDefaults{
    .name = "TestDefaults",
    .signature =
        "x: T; flag: bool=true, count: int=-3, rate: float=0.5, "
        "padding: {'SAME','VALID'}='SAME', kind: type=float32, shape: shape=[2,?], "
        "strides: list(int)=[1, 2], names: list(string)=['a','b'], needed: int -> y: T",
    .doc = "A row that the tests of attributes use.",
    .shape = Absent{"not run"},
    .compute = {.kind = ComputeKind::kLibrary, .kernel = run_nothing},
};

constexpr OpDef kVariadic{
    .name = "TestVariadic",
    .signature = "values: N * T, index: Tindex, rest: [Tin] -> pieces: N * T, all: [Tin]",
    .doc = "A row that the tests of type resolution use.",
    .types = {TypeConstraint{"T", kFloating}, TypeConstraint{"Tindex", kIndex}},
    .shape = Absent{"not run"},
    .compute = {.kind = ComputeKind::kLibrary, .kernel = run_nothing},
};

constexpr DType kF = DType::kFloat;
constexpr DType kI = DType::kInt32;

TEST_CASE("attribute defaults are read from the signature") {
  Attributes none;
  AttributeReader reader(kDefaults, none);
  CHECK(reader.boolean("flag"));
  CHECK(reader.integer("count") == -3);
  CHECK(reader.real("rate") == 0.5);
  CHECK(reader.string("padding") == "SAME");
  CHECK(reader.type("kind") == DType::kFloat);
  CHECK(reader.shape("shape") == PartialShape({2, kUnknownDim}));
  CHECK(reader.integers("strides") == std::vector<int64_t>{1, 2});
  CHECK(reader.strings("names") == std::vector<std::string>{"a", "b"});
  CHECK(contains(error_text([&] { reader.integer("needed"); }), "not set"));
  CHECK(contains(error_text([&] { reader.integer("absent"); }), "no attribute absent"));
  CHECK(contains(error_text([&] { reader.integer("rate"); }), "rate is no int"));
}

TEST_CASE("attributes are checked when they are set by name") {
  Attributes set = named_attributes(kDefaults, {{"rate", int64_t{2}}, {"padding", "VALID"}});
  CHECK(AttributeReader(kDefaults, set).real("rate") == 2.0);
  CHECK(AttributeReader(kDefaults, set).string("padding") == "VALID");
  CHECK(contains(error_text([] { named_attributes(kDefaults, {{"padding", "OTHER"}}); }),
                 "not in the list of allowed values"));
  CHECK(contains(error_text([] { named_attributes(kDefaults, {{"flag", int64_t{1}}}); }),
                 "must be of kind bool"));
  CHECK(contains(error_text([] { named_attributes(kDefaults, {{"other", true}}); }),
                 "no attribute named 'other'"));
  Attributes explicit_default = named_attributes(kDefaults, {{"flag", true}});
  CHECK(attributes_equal(kDefaults, Attributes(), explicit_default));
  CHECK_FALSE(attributes_equal(kDefaults, Attributes(), set));
}

TEST_CASE("type variables, counts and lists are bound from the inputs") {
  std::array inputs{kF, kF, kI, DType::kBool, kF};
  Attributes attributes;
  // Two open counts share what is left: 2 values, 2 others.
  TypeBindings bindings = resolve_types(kVariadic, inputs, attributes, Tier::kEager);
  CHECK(std::ranges::equal(bindings.input_counts, std::array<int64_t, 3>{2, 1, 2}));
  CHECK(std::ranges::equal(bindings.outputs, std::array{kF, kF, DType::kBool, kF}));
  CHECK(bindings.variable("Tindex") == kI);
}

TEST_CASE("type errors have the classes and texts of each tier") {
  const OpDef& add = get_op("AddV2");
  std::array mixed{kF, kI};
  auto eager = [&] { resolve_types(add, mixed, {}, Tier::kEager); };
  CHECK(error_kind(eager) == ErrorKind::kOp);
  CHECK(error_text(eager) ==
        "cannot compute AddV2 as input #1(zero-based) was expected to be a float tensor but is a "
        "int32 tensor");
  auto staged = [&] { resolve_types(add, mixed, {}, Tier::kGraph); };
  CHECK(error_kind(staged) == ErrorKind::kTypeError);
  CHECK(error_text(staged) ==
        "Input 'y' of 'AddV2' Op has type int32 that does not match type float32 of argument 'x'.");
  const OpDef& tanh = get_op("Tanh");
  std::array integer{kI};
  CHECK(contains(error_text([&] { resolve_types(tanh, integer, {}, Tier::kGraph); }),
                 "Value passed to parameter 'x' has DataType int32 not in list of allowed"));
  CHECK(contains(error_text([&] { resolve_types(tanh, integer, {}, Tier::kEager); }),
                 "Value for attr 'T' of int32 is not in the list of allowed values"));
  std::array one{kF};
  CHECK(contains(error_text([&] { resolve_types(add, one, {}, Tier::kGraph); }),
                 "takes 2 inputs, but 1 were given"));
}

TEST_CASE("shape errors are InvalidArgument eager and ValueError staged") {
  Operand a(test::float_tensor({1, 2}));
  Operand b(test::float_tensor({1, 2, 3}));
  std::array inputs{a, b};
  const OpDef& add = get_op("AddV2");
  auto eager = [&] { infer_types(add, inputs, {}, Tier::kEager); };
  auto staged = [&] { infer_types(add, inputs, {}, Tier::kGraph); };
  CHECK(error_kind(eager) == ErrorKind::kOp);
  CHECK(error_kind(staged) == ErrorKind::kValueError);
  CHECK(error_text(eager) == "Incompatible shapes: [2] vs. [3]");
}

}  // namespace
}  // namespace graphwright
