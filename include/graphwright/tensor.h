// Tensors: multidimensional arrays of one dtype, eager or symbolic.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <graphwright/dtype.h>
#include <graphwright/handle.h>
#include <graphwright/shape.h>

namespace graphwright::api {
inline namespace v1 {

class Input;

namespace detail {

// Copies `count` elements of the C++ type's dtype, then converts them unless `to` is kInvalid.
GW_API Handle* tensor_from_elements(DType dtype, const int64_t* dims, int rank,
                                    const void* elements, size_t count, DType to);
GW_API Handle* tensor_from_bytes(DType dtype, const int64_t* dims, int rank, const void* bytes,
                                 size_t size);
[[noreturn]] GW_API void fail_ragged(size_t row, size_t length, size_t expected);
GW_API Handle* make_strings(const int64_t* dims, int rank, const char* const* texts,
                            const size_t* sizes);
GW_API DType handle_dtype(Handle* handle);
GW_API int handle_rank(Handle* handle);                  // -1 unknown
GW_API void handle_dims(Handle* handle, int64_t* dims);  // kUnknownDim where unknown
GW_API bool is_symbolic(Handle* handle);
// The elements of an eager tensor of this dtype. InvalidArgument otherwise.
GW_API const void* tensor_data(Handle* handle, DType dtype);
GW_API const void* tensor_item(Handle* handle, DType dtype);  // the only one
GW_API int64_t tensor_size(Handle* handle);
GW_API bool tensor_truth(Handle* handle);
GW_API const char* string_element(Handle* handle, int64_t index, size_t* size);

// Text that the library made: calls back with it, so that no string crosses the border.
using TextSink = void (*)(void* target, const char* text, size_t size);
GW_API void tensor_text(Handle* handle, TextSink sink, void* target);
GW_API void tensor_name(Handle* handle, TextSink sink, void* target);
inline void append_text(void* target, const char* text, size_t size) {
  static_cast<std::string*>(target)->append(text, size);
}

template <class T>
constexpr DType dtype_for() {
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    switch (sizeof(T) * 2 + (std::is_signed_v<T> ? 1 : 0)) {
      case 3:
        return DType::kInt8;
      case 2:
        return DType::kUint8;
      case 5:
        return DType::kInt16;
      case 4:
        return DType::kUint16;
      case 9:
        return DType::kInt32;
      case 8:
        return DType::kUint32;
      case 17:
        return DType::kInt64;
      case 16:
        return DType::kUint64;
    }
  }
  return DType::kInvalid;
}

}  // namespace detail

// C++ types that are elements of tensors as they are: bool, float (float32), double (float64) and
// the integers of 8 to 64 bits. Of the other dtypes, from_bytes makes tensors.
template <class T>
concept Element = std::is_arithmetic_v<T> && detail::dtype_for<T>() != DType::kInvalid;

// A value. An eager tensor holds elements, which never change; a symbolic one stands for a value of
// a graph that is being traced, and becomes one when the traced function is called. Both have a
// dtype and a shape and are operands of the same functions.
//
// One pointer; copies share the elements. A default-constructed tensor is null, and using it is
// InvalidArgument. Any number of threads may read, copy and destroy copies of one tensor, and use
// eager ones as operands; a graph is traced by one thread, whose symbolic tensors others must leave
// alone until the trace is finished.
//
// A symbolic tensor may be used by ops within the trace that made it, in the block that made it and
// blocks inside (a loop body sees tensors from outside, not the reverse). Any other use is
// InvalidArgument, also after the trace.
class Tensor {
 public:
  Tensor() = default;

  // Not null.
  bool defined() const { return handle_.get() != nullptr; }
  DType dtype() const { return detail::handle_dtype(get()); }
  // What is known of it; all of it for an eager tensor.
  Shape shape() const {
    int rank = detail::handle_rank(get());
    if (rank < 0) return Shape::unknown_rank();
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    detail::handle_dims(get(), dims.data());
    return Shape(std::move(dims));
  }
  bool is_symbolic() const { return detail::is_symbolic(get()); }

  // --- Elements: eager tensors only; InvalidArgument for a symbolic one ---

  // How many: the product of the dimensions.
  int64_t size() const { return detail::tensor_size(get()); }
  // All of them in row-major order. They live as long as any copy of this tensor. T must be the
  // C++ type of the dtype (InvalidArgument).
  template <Element T>
  std::span<const T> elements() const {
    const void* data = detail::tensor_data(get(), detail::dtype_for<T>());
    return {static_cast<const T*>(data), static_cast<size_t>(size())};
  }
  template <Element T>
  std::vector<T> to_vector() const {
    std::span<const T> all = elements<T>();
    return std::vector<T>(all.begin(), all.end());
  }
  // The only element. InvalidArgument unless there is exactly one, of the C++ type's dtype.
  template <Element T>
  T item() const {
    return *static_cast<const T*>(detail::tensor_item(get(), detail::dtype_for<T>()));
  }
  // Element `index`, counted in row-major order, of a tensor of strings. OutOfRange for an index
  // outside [0, size()).
  std::string string_at(int64_t index = 0) const {
    size_t size = 0;
    const char* text = detail::string_element(get(), index, &size);
    return std::string(text, size);
  }
  // The truth of one number, so that `while (error > 1e-3)` works on eager tensors. InvalidArgument
  // for several elements, and for a symbolic tensor, whose branches and loops are gw::cond and
  // gw::while_loop.
  explicit operator bool() const { return detail::tensor_truth(get()); }

  // --- Text ---

  // As TensorFlow prints it: "tf.Tensor([1. 2.], shape=(2,), dtype=float32)", and
  // "Tensor("add:0", shape=(None,), dtype=float32)" for a symbolic tensor.
  std::string to_string() const {
    std::string text;
    detail::tensor_text(get(), detail::append_text, &text);
    return text;
  }
  // "add:0" of a symbolic tensor.
  std::string name() const {
    std::string text;
    detail::tensor_name(get(), detail::append_text, &text);
    return text;
  }

  // tensor[i] along the first dimension; counted from the end for a negative index. `index` is an
  // integer or an integer scalar. OutOfRange (eager: at once; traced: when it runs).
  Tensor operator[](const Input& index) const;

  // --- For the headers ---
  explicit Tensor(detail::Reference handle) : handle_(std::move(handle)) {}
  detail::Handle* get() const { return handle_.get(); }
  const detail::Reference& reference() const& { return handle_; }
  detail::Reference&& reference() && { return std::move(handle_); }

 private:
  detail::Reference handle_;
};

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                             const Tensor& tensor) {
  return stream << tensor.to_string();
}

// --- Making eager tensors ---
//
// constant(2.0f) is a scalar, constant({1, 2, 3}) a vector, constant({{1.0, 2.0}, {3.0, 4.0}}) a
// matrix. The C++ type of the elements is the dtype, so 1.0 makes float64 and 1.0f float32; a dtype
// given beside them converts, as gw::cast does. Used while a function is traced, small ones become
// constants of its graph, larger ones are captured.

namespace detail {

template <class T>
Tensor make_constant(const T* elements, size_t count, const Shape& shape, DType dtype) {
  return Tensor(Reference(tensor_from_elements(dtype_for<T>(), shape.dims().data(), shape.rank(),
                                               elements, count, dtype)));
}
// Elements one after the other; std::vector<bool> has none.
template <class T>
struct Wrapped {
  T value;
};
template <class T>
class Elements {
 public:
  void append(const T& value) { values_.push_back({value}); }
  const T* data() const { return values_.empty() ? nullptr : &values_.data()->value; }
  size_t size() const { return values_.size(); }

 private:
  std::vector<Wrapped<T>> values_;
};
template <class T>
void append_rows(Elements<T>& all, std::initializer_list<std::initializer_list<T>> rows,
                 size_t width) {
  size_t number = 0;
  for (const auto& row : rows) {
    if (row.size() != width) fail_ragged(number, row.size(), width);
    for (const T& value : row) all.append(value);
    ++number;
  }
}

}  // namespace detail

// Row-major elements, copied. InvalidArgument unless the shape is known and has as many elements as
// are given.
template <Element T>
Tensor constant(std::span<const T> elements, const Shape& shape, DType dtype = DType::kInvalid) {
  return detail::make_constant(elements.data(), elements.size(), shape, dtype);
}
template <Element T>
  requires(!std::is_same_v<T, bool>)
Tensor constant(const std::vector<T>& elements, const Shape& shape, DType dtype = DType::kInvalid) {
  return detail::make_constant(elements.data(), elements.size(), shape, dtype);
}
// A vector.
template <Element T>
  requires(!std::is_same_v<T, bool>)
Tensor constant(const std::vector<T>& elements) {
  return detail::make_constant(elements.data(), elements.size(),
                               Shape{static_cast<int64_t>(elements.size())}, DType::kInvalid);
}
// A scalar.
template <Element T>
Tensor constant(T value, DType dtype = DType::kInvalid) {
  return detail::make_constant(&value, 1, Shape(), dtype);
}
// A vector, a matrix, and a tensor of rank 3. InvalidArgument for rows of different lengths.
template <Element T>
Tensor constant(std::initializer_list<T> values, DType dtype = DType::kInvalid) {
  return detail::make_constant(values.begin(), values.size(),
                               Shape{static_cast<int64_t>(values.size())}, dtype);
}
template <Element T>
Tensor constant(std::initializer_list<std::initializer_list<T>> rows,
                DType dtype = DType::kInvalid) {
  detail::Elements<T> all;
  size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
  detail::append_rows(all, rows, width);
  return detail::make_constant(
      all.data(), all.size(), Shape{static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)},
      dtype);
}
template <Element T>
Tensor constant(std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes,
                DType dtype = DType::kInvalid) {
  detail::Elements<T> all;
  size_t height = planes.size() == 0 ? 0 : planes.begin()->size();
  size_t width = height == 0 ? 0 : planes.begin()->begin()->size();
  size_t number = 0;
  for (const auto& rows : planes) {
    if (rows.size() != height) detail::fail_ragged(number, rows.size(), height);
    detail::append_rows(all, rows, width);
    ++number;
  }
  return detail::make_constant(all.data(), all.size(),
                               Shape{static_cast<int64_t>(planes.size()),
                                     static_cast<int64_t>(height), static_cast<int64_t>(width)},
                               dtype);
}
// A scalar and a vector of strings, which may hold any bytes.
inline Tensor constant(std::string_view text) {
  const char* data = text.data();
  size_t size = text.size();
  return Tensor(detail::Reference(detail::make_strings(nullptr, 0, &data, &size)));
}
inline Tensor constant(const char* text) { return constant(std::string_view(text)); }
inline Tensor constant(std::initializer_list<std::string_view> texts) {
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (std::string_view text : texts) {
    data.push_back(text.data());
    sizes.push_back(text.size());
  }
  int64_t count = static_cast<int64_t>(texts.size());
  return Tensor(detail::Reference(detail::make_strings(&count, 1, data.data(), sizes.data())));
}
// From memory: size_of(dtype) bytes for each element, any dtype of fixed size. InvalidArgument for
// another number of bytes, or bools that are neither 0 nor 1.
inline Tensor from_bytes(std::span<const unsigned char> bytes, const Shape& shape, DType dtype) {
  return Tensor(detail::Reference(detail::tensor_from_bytes(
      dtype, shape.dims().data(), shape.rank(), bytes.data(), bytes.size())));
}

}  // namespace v1
}  // namespace graphwright::api
