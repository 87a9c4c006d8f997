// Eager tensors as memory that Python can read: the buffer protocol.
#include <cstdlib>

#include "python/tensor_slots.h"

namespace graphwright {
namespace {

// The buffer protocol joined the stable ABI with Python 3.11, without a change of its layout, so
// that its names are missing in the limited headers of 3.10:
// https://docs.python.org/3/c-api/buffer.html
struct BufferView {
  void* data;
  PyObject* owner;
  Py_ssize_t bytes;
  Py_ssize_t item_size;
  int read_only;
  int rank;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};
constexpr int kGetBufferSlot = 1;
constexpr int kReleaseBufferSlot = 2;
constexpr int kWritable = 0x1;
constexpr int kFormat = 0x4;
constexpr int kShape = 0x8;
constexpr int kStrides = 0x10 | kShape;

// The struct module's code of an element; null for types that it does not know.
const char* element_format(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return "f";
    case DType::kDouble:
      return "d";
    case DType::kHalf:
      return "e";
    case DType::kInt8:
      return "b";
    case DType::kInt16:
      return "h";
    case DType::kInt32:
      return "i";
    case DType::kInt64:
      return "l";
    case DType::kUint8:
      return "B";
    case DType::kUint16:
      return "H";
    case DType::kUint32:
      return "I";
    case DType::kUint64:
      return "L";
    case DType::kBool:
      return "?";
    case DType::kComplex64:
      return "Zf";
    case DType::kComplex128:
      return "Zd";
    default:
      return nullptr;
  }
}
static_assert(sizeof(long) == sizeof(int64_t));

int get_buffer(PyObject* self, void* untyped_view, int flags) {
  auto* view = static_cast<BufferView*>(untyped_view);
  view->owner = nullptr;
  TensorImpl* impl = operand_in(self).impl();
  const char* format = element_format(impl->dtype);
  if (!format || (flags & kWritable)) {
    PyErr_SetString(PyExc_BufferError,
                    format ? "tensors cannot be written to"
                           : "the elements of this dtype have no format in the buffer protocol");
    return -1;
  }
  Py_ssize_t item_size = static_cast<Py_ssize_t>(dtype_size(impl->dtype));
  auto* strides =
      static_cast<Py_ssize_t*>(std::malloc((size_t{impl->rank} + 1) * sizeof(Py_ssize_t)));
  if (!strides) {
    PyErr_NoMemory();
    return -1;
  }
  Py_ssize_t stride = item_size;
  for (int i = impl->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= impl->dims()[i];
  }
  view->data = impl->data;
  view->bytes = impl->element_count * item_size;
  view->item_size = item_size;
  view->read_only = 1;
  view->rank = impl->rank;
  view->format = flags & kFormat ? const_cast<char*>(format) : nullptr;
  view->shape = flags & kShape ? const_cast<int64_t*>(impl->dims()) : nullptr;
  view->strides = (flags & kStrides) == kStrides ? strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = strides;
  Py_INCREF(self);
  view->owner = self;
  return 0;
}

void release_buffer_view(PyObject*, void* view) {
  std::free(static_cast<BufferView*>(view)->internal);
}

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::span<const PyType_Slot> buffer_slots() {
  static const PyType_Slot slots[] = {{kGetBufferSlot, slot(get_buffer)},
                                      {kReleaseBufferSlot, slot(release_buffer_view)}};
  return slots;
}

}  // namespace graphwright
