// Variables: tensors that programs change.
#pragma once

#include <string>
#include <utility>

#include <graphwright/input.h>

namespace graphwright::api {
inline namespace v1 {

namespace detail {
// shape null: the initial value's.
GW_API Handle* make_variable(const Argument& initial, DType dtype, const RawShape* shape,
                             const char* name, bool trainable);
GW_API Handle* read_variable(Handle* variable, Site site);
GW_API void write_variable(Handle* variable, const char* op, const Argument& value);
GW_API DType variable_dtype(Handle* variable);
GW_API int variable_rank(Handle* variable);
GW_API void variable_dims(Handle* variable, int64_t* dims);
GW_API bool variable_trainable(Handle* variable);
GW_API void variable_text(Handle* variable, TextSink sink, void* target);
GW_API void variable_name(Handle* variable, TextSink sink, void* target);
}  // namespace detail

struct VariableOptions {
  std::string name = "Variable";
  // kInvalid: the initial value's.
  DType dtype = DType::kInvalid;
  // Of all values it will ever have, at least the initial value's; by default exactly that.
  Maybe<Shape> shape{};
  // Gradient tapes watch it as soon as it is read.
  bool trainable = true;
};

// A place that holds a tensor of one dtype and of shapes that fit one shape. Copies are the same
// variable, which lives as long as any of them, or a function that uses it.
//
// Reads and writes are atomic and may come from any threads. In a traced function they are nodes,
// which happen in program order whenever the function runs; the function must be able to see the
// variable, which is made outside of it (FailedPrecondition if it is made while one is traced).
class Variable {
 public:
  // InvalidArgument if the value does not fit the options.
  explicit Variable(const Input& initial_value, const VariableOptions& options = {}) {
    detail::RawShape shape = options.shape.value().raw();
    handle_ = detail::Reference(detail::make_variable(initial_value.argument(), options.dtype,
                                                      options.shape.has_value() ? &shape : nullptr,
                                                      options.name.c_str(), options.trainable));
  }

  DType dtype() const { return detail::variable_dtype(get()); }
  Shape shape() const {
    int rank = detail::variable_rank(get());
    if (rank < 0) return Shape::unknown_rank();
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    detail::variable_dims(get(), dims.data());
    return Shape(std::move(dims));
  }
  bool trainable() const { return detail::variable_trainable(get()); }
  std::string name() const {
    std::string text;
    detail::variable_name(get(), detail::append_text, &text);
    return text;
  }

  // The value now. It does not change when the variable does.
  Tensor read(detail::Site site = detail::Site::here()) const {
    return Tensor(detail::Reference(detail::read_variable(get(), site)));
  }
  // InvalidArgument for a value of another dtype or of a shape that does not fit.
  const Variable& assign(const Input& value) const { return write("AssignVariableOp", value); }
  // value += delta and value -= delta, of the variable's whole shape.
  const Variable& assign_add(const Input& delta) const {
    return write("AssignAddVariableOp", delta);
  }
  const Variable& assign_sub(const Input& delta) const {
    return write("AssignSubVariableOp", delta);
  }

  // "<tf.Variable 'w:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
  std::string to_string() const {
    std::string text;
    detail::variable_text(get(), detail::append_text, &text);
    return text;
  }

  // --- For the headers ---
  const detail::Reference& reference() const { return handle_; }
  detail::Handle* get() const { return handle_.get(); }

 private:
  const Variable& write(const char* op, const Input& value) const {
    detail::write_variable(get(), op, value.argument());
    return *this;
  }
  detail::Reference handle_;
};

inline Input::Input(const Variable& variable, detail::Site site)
    : reference_(variable.reference()), kind_(Kind::kVariable), site_(site) {}

template <class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& stream,
                                             const Variable& variable) {
  return stream << variable.to_string();
}

}  // namespace v1
}  // namespace graphwright::api
