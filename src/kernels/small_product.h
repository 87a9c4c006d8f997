// Products of matrices so small that the call of a library costs more than the arithmetic.
//
// Every element of the result is a sum over the inner index in order, each term a rounded product
// that is then added: the same bits for every vector width, and for every shape around it.
#pragma once

#include <cstdint>

#include "formulas/isa.h"

namespace graphwright {

struct SmallProduct {
  int64_t rows, columns, inner;
  // Elements between neighbours in the left factor, which may so be a transpose; the right factor
  // and the result are row-major and dense.
  int64_t left_row_step, left_inner_step;
};

struct SmallProductKernels {
  void (*float32)(const SmallProduct& product, const float* left, const float* right, float* out);
  void (*float64)(const SmallProduct& product, const double* left, const double* right,
                  double* out);
};

#define GW_DECLARE_SMALL_PRODUCT_KERNELS(isa)             \
  namespace isa {                                         \
  extern const SmallProductKernels small_product_kernels; \
  }
GW_FOR_EACH_ISA(GW_DECLARE_SMALL_PRODUCT_KERNELS)
#undef GW_DECLARE_SMALL_PRODUCT_KERNELS

}  // namespace graphwright
