// Helpers for tests of op rows and function rows: run them eagerly, and compare derivatives with
// differences.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ir/functiondef.h"
#include "ops/op_support.h"

namespace graphwright::ops_test {

using Named = std::vector<std::pair<std::string_view, AttributeValue>>;

Tensor doubles(std::vector<int64_t> dims, std::vector<double> values);
Tensor floats(std::vector<int64_t> dims, std::vector<float> values);
Tensor ints(std::vector<int64_t> dims, std::vector<int32_t> values);
Tensor bools(std::vector<int64_t> dims, std::vector<bool> values);
Tensor strings(std::vector<int64_t> dims, std::vector<std::string> values);
// Different numbers in [low, high] of a dtype float64, the same on every call.
Tensor some_doubles(std::vector<int64_t> dims, double low = -2, double high = 2);

Tensor run(std::string_view op, std::vector<Operand> inputs, Named attributes = {});
std::vector<Tensor> run_all(std::string_view op, std::vector<Operand> inputs,
                            Named attributes = {});
// A function row, with arguments as its body gets them.
Tensor call(std::string_view function, std::vector<Argument> arguments);

std::vector<int64_t> dims_of(const Tensor& tensor);
// Elements of a real numeric or bool tensor.
std::vector<double> values_of(const Tensor& tensor);
// The code and text of the error that running the op gives; fails the test if there is none.
std::string error_of(std::string_view op, std::vector<Operand> inputs, Named attributes = {});

// Reverse and forward derivatives of an op by its float64 inputs against central differences, for
// all outputs that are float64.
void check_derivatives(std::string_view op, std::vector<Tensor> inputs, Named attributes = {});
// What the shape rule says when the given inputs are known by dtype and shape alone; an input that
// is a scalar or a vector of integers is known by value unless it is listed in `hidden`.
PartialShape static_shape(std::string_view op, std::vector<ValueType> types, Named attributes = {});

}  // namespace graphwright::ops_test
