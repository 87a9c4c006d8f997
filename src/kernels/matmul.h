// Matrix products.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace graphwright::kernels {

// One of the two factors, or its transpose: elements [row * row_stride + column * column_stride].
struct MatrixOperand {
  const void* data = nullptr;
  bool transposed = false;  // stored as [columns, rows], row-major
  bool conjugated = false;
  // Distance, in elements, of the matrix of batch entry i from the first: offsets[i]; null: all 0.
  const int64_t* offsets = nullptr;
};

struct MatrixProduct {
  int64_t batch = 1, rows = 0, columns = 0, inner = 0;
};

// result[batch, rows, columns] = left[batch, rows, inner] x right[batch, inner, columns]. Sums run
// over the inner index in order, 16-bit floats in float; integers wrap. float32 products that are
// large enough go to oneDNN, float64 ones to OpenBLAS, where these can be loaded. False for dtypes
// that are not numbers.
bool matrix_product(DType dtype, const MatrixProduct& product, const MatrixOperand& left,
                    const MatrixOperand& right, void* result);

}  // namespace graphwright::kernels
