#include <cblas.h>

#include "plugins/lapack_interface.h"

namespace {

CBLAS_TRANSPOSE operation(int32_t transpose) { return transpose ? CblasTrans : CblasNoTrans; }

const char* description() { return scipy_openblas_get_config(); }

void sgemm(int32_t transpose_a, int32_t transpose_b, int32_t m, int32_t n, int32_t k, float alpha,
           const float* a, int32_t lda, const float* b, int32_t ldb, float beta, float* c,
           int32_t ldc) {
  scipy_cblas_sgemm(CblasRowMajor, operation(transpose_a), operation(transpose_b), m, n, k, alpha,
                    a, lda, b, ldb, beta, c, ldc);
}

void dgemm(int32_t transpose_a, int32_t transpose_b, int32_t m, int32_t n, int32_t k, double alpha,
           const double* a, int32_t lda, const double* b, int32_t ldb, double beta, double* c,
           int32_t ldc) {
  scipy_cblas_dgemm(CblasRowMajor, operation(transpose_a), operation(transpose_b), m, n, k, alpha,
                    a, lda, b, ldb, beta, c, ldc);
}

constexpr GwLapackInterface kInterface = {kGwLapackInterfaceVersion, description, sgemm, dgemm};

}  // namespace

extern "C" __attribute__((visibility("default"))) const GwLapackInterface* gw_lapack_interface() {
  // Its own threads would compete with the pool; the loader also asks for one before loading.
  scipy_openblas_set_num_threads(1);
  return &kInterface;
}
