// Shapes: what is known of a tensor's dimensions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <graphwright/dtype.h>
#include <graphwright/handle.h>

namespace graphwright::api {
inline namespace v1 {

// A dimension of unknown size.
inline constexpr int64_t kUnknownDim = -1;

// Dimensions from the outermost to the innermost (tensors are row-major), each a size >= 0 or
// kUnknownDim; or nothing at all, when even their number is unknown.
class Shape {
 public:
  // A scalar's: no dimensions.
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims)  // NOLINT(google-explicit-constructor): {2, 3}
      : dims_(dims) {}
  Shape(std::vector<int64_t> dims)  // NOLINT(google-explicit-constructor)
      : dims_(std::move(dims)) {}
  static Shape unknown_rank() {
    Shape shape;
    shape.has_rank_ = false;
    return shape;
  }

  bool has_rank() const { return has_rank_; }
  // -1 when unknown.
  int rank() const { return has_rank_ ? static_cast<int>(dims_.size()) : -1; }
  // Empty when the rank is unknown.
  std::span<const int64_t> dims() const { return dims_; }
  // From the end for a negative index. kUnknownDim for one outside the rank, or when that is
  // unknown.
  int64_t dim(int index) const {
    int rank = static_cast<int>(dims_.size());
    if (index < 0) index += rank;
    return index >= 0 && index < rank ? dims_[static_cast<size_t>(index)] : kUnknownDim;
  }
  // Rank and every dimension are known.
  bool is_known() const {
    for (int64_t dim : dims_) {
      if (dim < 0) return false;
    }
    return has_rank_;
  }
  // "(2, None)" as TensorFlow prints it; "<unknown>" when the rank is unknown.
  std::string to_string() const {
    if (!has_rank_) return "<unknown>";
    std::string text = "(";
    for (size_t i = 0; i < dims_.size(); ++i) {
      if (i > 0) text += ", ";
      text += dims_[i] < 0 ? "None" : std::to_string(dims_[i]);
    }
    return text + (dims_.size() == 1 ? ",)" : ")");
  }
  // For the headers.
  detail::RawShape raw() const { return {dims_.data(), rank()}; }
  // Equal as descriptions: unknown equals unknown.
  bool operator==(const Shape& other) const = default;

 private:
  std::vector<int64_t> dims_;
  bool has_rank_ = true;
};

// dtype and shape of an argument of a traced function. Unknown dimensions let one trace serve
// tensors of any such size.
struct TensorSpec {
  TensorSpec(Shape of_shape, DType of_dtype, std::string argument_name = {})
      : shape(std::move(of_shape)), dtype(of_dtype), name(std::move(argument_name)) {}
  Shape shape;
  DType dtype;
  std::string name;  // of the argument's node; "" for none
};

}  // namespace v1
}  // namespace graphwright::api
