// Static shapes: a rank that may be unknown, and dimensions that may be unknown or symbolic.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace graphwright {

// A dimension: >= 0 known; kUnknownDim anonymous; <= kFirstSymbol a symbol, equal only to itself.
using Dim = int64_t;
inline constexpr Dim kUnknownDim = -1;
inline constexpr Dim kFirstSymbol = -2;
inline constexpr bool is_known(Dim dim) { return dim >= 0; }
inline constexpr bool is_symbol(Dim dim) { return dim <= kFirstSymbol; }
// A symbol that no other call has returned.
Dim new_symbol();

inline constexpr int kMaxRank = 254;

class PartialShape {
 public:
  PartialShape() = default;  // unknown rank
  PartialShape(std::initializer_list<Dim> dims)
      : PartialShape(std::span(dims.begin(), dims.size())) {}
  explicit PartialShape(std::span<const Dim> dims);  // InvalidArgument above kMaxRank
  static PartialShape unknown() { return {}; }
  static PartialShape unknown_dims(int rank);
  static PartialShape scalar() { return PartialShape(std::initializer_list<Dim>{}); }

  PartialShape(const PartialShape& other);
  PartialShape& operator=(const PartialShape& other);
  PartialShape(PartialShape&&) noexcept = default;
  PartialShape& operator=(PartialShape&&) noexcept = default;

  bool has_rank() const { return rank_ >= 0; }
  int rank() const { return rank_; }  // -1 if unknown
  Dim dim(int index) const { return dims()[index]; }
  void set_dim(int index, Dim dim) { mutable_dims()[index] = dim; }
  std::span<const Dim> dims() const {
    return {heap_ ? heap_.get() : inline_.data(), static_cast<size_t>(rank_ < 0 ? 0 : rank_)};
  }
  bool is_fully_defined() const;
  // Product of the dimensions; nullopt unless fully defined. InvalidArgument on overflow.
  std::optional<int64_t> element_count() const;

  // Same rank and dims, unknown equal only to the same unknown or symbol.
  bool operator==(const PartialShape& other) const;
  // Could describe the same tensor.
  bool is_compatible_with(const PartialShape& other) const;
  // Every tensor of `other` is a tensor of this shape.
  bool is_supertype_of(const PartialShape& other) const;
  // The most specific shape that both allow; ValueError "Shapes (2,) and (3,) are not compatible".
  PartialShape merged_with(const PartialShape& other) const;
  // The most specific shape that covers both.
  PartialShape common_supertype(const PartialShape& other) const;
  PartialShape concatenated(const PartialShape& other) const;
  // With every symbol made anonymous.
  PartialShape without_symbols() const;

  // "(2, None)"; "<unknown>" for unknown rank.
  std::string to_string() const;

 private:
  std::span<Dim> mutable_dims() {
    return {heap_ ? heap_.get() : inline_.data(), static_cast<size_t>(rank_ < 0 ? 0 : rank_)};
  }
  int16_t rank_ = -1;
  std::array<Dim, 5> inline_{};
  std::unique_ptr<Dim[]> heap_;
};

// NumPy's broadcasting of partly known shapes. nullopt when they cannot be broadcast.
std::optional<PartialShape> broadcast_shapes(const PartialShape& left, const PartialShape& right);

// Known dims only, for error messages: "[2,3]", as TensorFlow's run-time errors print shapes.
std::string dims_to_string(std::span<const int64_t> dims);

}  // namespace graphwright
