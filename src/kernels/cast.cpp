#include "kernels/cast.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/thread_pool.h"
#include "tensor/small_float.h"

namespace graphwright {

namespace {

constexpr int64_t kGrain = 65536;

// How elements of a dtype are stored, and the number that stands for one while it is converted.
template <DType Type>
struct Storage;
template <class StoredType, class NumberType>
struct PlainStorage {
  using Stored = StoredType;
  using Number = NumberType;
  static Number load(Stored value) { return static_cast<Number>(value); }
};
template <>
struct Storage<DType::kFloat> : PlainStorage<float, float> {};
template <>
struct Storage<DType::kDouble> : PlainStorage<double, double> {};
template <>
struct Storage<DType::kInt8> : PlainStorage<int8_t, int64_t> {};
template <>
struct Storage<DType::kInt16> : PlainStorage<int16_t, int64_t> {};
template <>
struct Storage<DType::kInt32> : PlainStorage<int32_t, int64_t> {};
template <>
struct Storage<DType::kInt64> : PlainStorage<int64_t, int64_t> {};
template <>
struct Storage<DType::kUint8> : PlainStorage<uint8_t, uint64_t> {};
template <>
struct Storage<DType::kUint16> : PlainStorage<uint16_t, uint64_t> {};
template <>
struct Storage<DType::kUint32> : PlainStorage<uint32_t, uint64_t> {};
template <>
struct Storage<DType::kUint64> : PlainStorage<uint64_t, uint64_t> {};
template <>
struct Storage<DType::kBool> : PlainStorage<bool, uint64_t> {};
template <>
struct Storage<DType::kHalf> {
  using Stored = uint16_t;
  static float load(Stored bits) { return half_to_float(bits); }
  static Stored store(float value) { return float_to_half(value); }
};
template <>
struct Storage<DType::kBfloat16> {
  using Stored = uint16_t;
  static float load(Stored bits) { return bfloat16_to_float(bits); }
  static Stored store(float value) { return float_to_bfloat16(value); }
};
template <>
struct Storage<DType::kFloat8E5m2> {
  using Stored = uint8_t;
  static float load(Stored bits) { return widen<Float8E5m2>(bits); }
  static Stored store(float value) { return narrow<Float8E5m2>(value); }
};
template <>
struct Storage<DType::kFloat8E4m3fn> {
  using Stored = uint8_t;
  static float load(Stored bits) { return widen<Float8E4m3fn>(bits); }
  static Stored store(float value) { return narrow<Float8E4m3fn>(value); }
};
template <class Part>
struct ComplexStorage {
  struct Stored {
    Part real, imaginary;
  };
  static Part load(Stored value) { return value.real; }
};
template <>
struct Storage<DType::kComplex64> : ComplexStorage<float> {};
template <>
struct Storage<DType::kComplex128> : ComplexStorage<double> {};

template <class T, class F>
T from_floating(F value) {
  if constexpr (std::is_same_v<T, int32_t>) {
    return value >= F(-2147483648.0) && value < F(2147483648.0)
               ? static_cast<int32_t>(value)
               : std::numeric_limits<int32_t>::min();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return value >= F(-9223372036854775808.0) && value < F(9223372036854775808.0)
               ? static_cast<int64_t>(value)
               : std::numeric_limits<int64_t>::min();
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    if (value >= F(2147483648.0) && value < F(4294967296.0)) return static_cast<uint32_t>(value);
    return static_cast<uint32_t>(from_floating<int32_t>(value));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    if (value >= F(9223372036854775808.0) && value < F(18446744073709551616.0)) {
      return static_cast<uint64_t>(value);
    }
    return static_cast<uint64_t>(from_floating<int64_t>(value));
  } else {
    return static_cast<T>(from_floating<int32_t>(value));
  }
}

template <DType To, class Number>
typename Storage<To>::Stored convert(Number number) {
  using Stored = typename Storage<To>::Stored;
  if constexpr (To == DType::kBool) {
    return number != 0;
  } else if constexpr (kComplex.contains(To)) {
    using Part = decltype(Stored::real);
    return {static_cast<Part>(number), Part(0)};
  } else if constexpr (requires { Storage<To>::store(0.0f); }) {
    return Storage<To>::store(static_cast<float>(number));
  } else if constexpr (std::is_integral_v<Stored> && std::is_floating_point_v<Number>) {
    return from_floating<Stored>(number);
  } else {
    return static_cast<Stored>(number);
  }
}

template <DType From, DType To>
void cast_run(const void* source, void* target, int64_t count) {
  const auto* from = static_cast<const typename Storage<From>::Stored*>(source);
  auto* to = static_cast<typename Storage<To>::Stored*>(target);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kComplex.contains(From) && kComplex.contains(To)) {
      using Part = decltype(to->real);
      to[i] = {static_cast<Part>(from[i].real), static_cast<Part>(from[i].imaginary)};
    } else {
      to[i] = convert<To>(Storage<From>::load(from[i]));
    }
  }
}

using CastFunction = void (*)(const void* source, void* target, int64_t count);

// Calls visit with the dtype as a template argument.
template <class Visit>
CastFunction with_dtype(DType type, Visit visit) {
  switch (type) {
#define GW_CAST_CASE(name) \
  case DType::name:        \
    return visit.template operator()<DType::name>();
    GW_CAST_CASE(kFloat)
    GW_CAST_CASE(kDouble)
    GW_CAST_CASE(kHalf)
    GW_CAST_CASE(kBfloat16)
    GW_CAST_CASE(kFloat8E5m2)
    GW_CAST_CASE(kFloat8E4m3fn)
    GW_CAST_CASE(kInt8)
    GW_CAST_CASE(kInt16)
    GW_CAST_CASE(kInt32)
    GW_CAST_CASE(kInt64)
    GW_CAST_CASE(kUint8)
    GW_CAST_CASE(kUint16)
    GW_CAST_CASE(kUint32)
    GW_CAST_CASE(kUint64)
    GW_CAST_CASE(kBool)
    GW_CAST_CASE(kComplex64)
    GW_CAST_CASE(kComplex128)
#undef GW_CAST_CASE
    default:
      return nullptr;
  }
}

CastFunction find_cast(DType from, DType to) {
  return with_dtype(from, [to]<DType From>() {
    return with_dtype(to, []<DType To>() -> CastFunction { return &cast_run<From, To>; });
  });
}

}  // namespace

bool can_cast(DType from, DType to) { return kDense.contains(from) && kDense.contains(to); }

void cast_elements(DType from, const void* source, DType to, void* target, int64_t count) {
  const size_t from_size = dtype_size(from), to_size = dtype_size(to);
  CastFunction cast = find_cast(from, to);
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    const char* first = static_cast<const char*>(source) + static_cast<size_t>(begin) * from_size;
    char* result = static_cast<char*>(target) + static_cast<size_t>(begin) * to_size;
    if (from == to) {
      std::memcpy(result, first, static_cast<size_t>(end - begin) * to_size);
    } else {
      cast(first, result, end - begin);
    }
  });
}

}  // namespace graphwright
