// The C interface of libgraphwright_lapack.so, which wraps OpenBLAS: a separate shared object,
// opened on first need. OpenBLAS runs single-threaded here; callers cut their work into tiles for
// the thread pool.
//
// Matrices are dense and row-major; leading dimensions are in elements from one row to the next.
#pragma once

#include <cstdint>

extern "C" {

struct GwLapackInterface {
  int32_t interface_version;
  const char* (*description)();  // name and version of the library behind it
  // c[m, n] = alpha * op(a)[m, k] * op(b)[k, n] + beta * c, where op transposes if its flag is
  // nonzero.
  void (*sgemm)(int32_t transpose_a, int32_t transpose_b, int32_t m, int32_t n, int32_t k,
                float alpha, const float* a, int32_t lda, const float* b, int32_t ldb, float beta,
                float* c, int32_t ldc);
  void (*dgemm)(int32_t transpose_a, int32_t transpose_b, int32_t m, int32_t n, int32_t k,
                double alpha, const double* a, int32_t lda, const double* b, int32_t ldb,
                double beta, double* c, int32_t ldc);
};

// The one symbol that the shared object exports.
typedef const GwLapackInterface* (*GwLapackEntryPoint)();
}

constexpr int32_t kGwLapackInterfaceVersion = 1;
constexpr const char* kGwLapackEntryPoint = "gw_lapack_interface";
