#include "tensor/shape.h"

#include <algorithm>
#include <atomic>

#include "base/status.h"

namespace graphwright {

Dim new_symbol() {
  static std::atomic<Dim> next{kFirstSymbol};
  return next.fetch_sub(1, std::memory_order_relaxed);
}

PartialShape::PartialShape(std::span<const Dim> dims) {
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    throw_invalid_argument("A shape has at most " + std::to_string(kMaxRank) + " dimensions, but " +
                           std::to_string(dims.size()) + " were given.");
  }
  rank_ = static_cast<int16_t>(dims.size());
  if (dims.size() > inline_.size()) heap_ = std::make_unique<Dim[]>(dims.size());
  std::copy(dims.begin(), dims.end(), mutable_dims().begin());
}

PartialShape PartialShape::unknown_dims(int rank) {
  std::array<Dim, kMaxRank> dims;
  dims.fill(kUnknownDim);
  if (rank < 0) return {};
  if (rank > kMaxRank) {
    throw_invalid_argument("A shape has at most " + std::to_string(kMaxRank) + " dimensions, but " +
                           std::to_string(rank) + " were given.");
  }
  return PartialShape(std::span<const Dim>(dims.data(), static_cast<size_t>(rank)));
}

PartialShape::PartialShape(const PartialShape& other) : rank_(other.rank_), inline_(other.inline_) {
  if (other.heap_) {
    heap_ = std::make_unique<Dim[]>(static_cast<size_t>(rank_));
    std::copy_n(other.heap_.get(), rank_, heap_.get());
  }
}

PartialShape& PartialShape::operator=(const PartialShape& other) {
  if (this != &other) *this = PartialShape(other);
  return *this;
}

bool PartialShape::is_fully_defined() const {
  return has_rank() && std::ranges::all_of(dims(), is_known);
}

std::optional<int64_t> PartialShape::element_count() const {
  if (!is_fully_defined()) return std::nullopt;
  int64_t count = 1;
  bool overflow = false;
  for (Dim dim : dims()) {
    if (dim == 0) return 0;
    overflow = overflow || __builtin_mul_overflow(count, dim, &count);
  }
  if (overflow) {
    throw_invalid_argument("Shape " + to_string() + " would have more than 2**63 - 1 elements.");
  }
  return count;
}

bool PartialShape::operator==(const PartialShape& other) const {
  return rank_ == other.rank_ && std::ranges::equal(dims(), other.dims());
}

bool PartialShape::is_compatible_with(const PartialShape& other) const {
  if (!has_rank() || !other.has_rank()) return true;
  return std::ranges::equal(dims(), other.dims(), [](Dim left, Dim right) {
    return left == right || !is_known(left) || !is_known(right);
  });
}

bool PartialShape::is_supertype_of(const PartialShape& other) const {
  if (!has_rank()) return true;
  return other.has_rank() && std::ranges::equal(dims(), other.dims(), [](Dim mine, Dim theirs) {
           return mine == kUnknownDim || mine == theirs;
         });
}

PartialShape PartialShape::merged_with(const PartialShape& other) const {
  if (!has_rank()) return other;
  if (!other.has_rank()) return *this;
  if (!is_compatible_with(other)) {
    throw_value_error("Shapes " + to_string() + " and " + other.to_string() +
                      " are not compatible");
  }
  PartialShape result = *this;
  for (int i = 0; i < rank_; ++i) {
    // Known beats symbol, symbol beats anonymous.
    Dim mine = dim(i), theirs = other.dim(i);
    if (is_known(theirs) || mine == kUnknownDim) result.set_dim(i, theirs);
  }
  return result;
}

PartialShape PartialShape::common_supertype(const PartialShape& other) const {
  if (!has_rank() || !other.has_rank() || rank_ != other.rank_) return {};
  PartialShape result = *this;
  for (int i = 0; i < rank_; ++i) {
    if (dim(i) != other.dim(i)) result.set_dim(i, kUnknownDim);
  }
  return result;
}

PartialShape PartialShape::concatenated(const PartialShape& other) const {
  if (!has_rank() || !other.has_rank()) return {};
  std::array<Dim, 2 * kMaxRank> joined;
  auto end = std::ranges::copy(dims(), joined.begin()).out;
  end = std::ranges::copy(other.dims(), end).out;
  return PartialShape(std::span<const Dim>(joined.begin(), end));
}

PartialShape PartialShape::without_symbols() const {
  PartialShape result = *this;
  for (Dim& dim : result.mutable_dims()) {
    if (is_symbol(dim)) dim = kUnknownDim;
  }
  return result;
}

std::string PartialShape::to_string() const {
  if (!has_rank()) return "<unknown>";
  std::string text = "(";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ", ";
    text += is_known(dim(i)) ? std::to_string(dim(i)) : "None";
  }
  return text + (rank_ == 1 ? ",)" : ")");
}

std::optional<PartialShape> broadcast_shapes(const PartialShape& left, const PartialShape& right) {
  if (!left.has_rank() || !right.has_rank()) return PartialShape::unknown();
  const PartialShape& longer = left.rank() >= right.rank() ? left : right;
  const PartialShape& shorter = left.rank() >= right.rank() ? right : left;
  PartialShape result = longer;
  int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    Dim a = longer.dim(offset + i), b = shorter.dim(i);
    Dim dim;
    if (a == b || b == 1) {
      dim = a;
    } else if (a == 1) {
      dim = b;
    } else if (is_known(a) && is_known(b)) {
      return std::nullopt;
    } else if (is_known(a)) {
      dim = a;  // the unknown one must turn out to be 1 or equal
    } else if (is_known(b)) {
      dim = b;
    } else {
      dim = kUnknownDim;  // either of two different unknowns may be the 1
    }
    result.set_dim(offset + i, dim);
  }
  return result;
}

std::string dims_to_string(std::span<const int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

}  // namespace graphwright
