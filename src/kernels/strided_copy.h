// One loop nest for everything that only moves elements: transpose, slices, broadcasting, tiling,
// concatenation, padding and their reverses differ in offsets and strides alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace graphwright::kernels {

// Copies target[target_offset + i . target_strides] = source[source_offset + i . source_strides]
// for every index i of a box with the given dims. Offsets and strides count elements; strides may
// be zero (source only) or negative. Source and target must not overlap. Runs in parallel when
// large.
void strided_copy(DType dtype, std::span<const int64_t> dims, const void* source,
                  int64_t source_offset, std::span<const int64_t> source_strides, void* target,
                  int64_t target_offset, std::span<const int64_t> target_strides);

// Strides, in elements, of a dense row-major tensor.
std::vector<int64_t> row_major_strides(std::span<const int64_t> dims);

// Sets `count` elements to the element at `value`.
void fill_elements(DType dtype, void* target, int64_t count, const void* value);
// Copies `count` consecutive elements.
void copy_elements(DType dtype, const void* source, int64_t source_offset, void* target,
                   int64_t target_offset, int64_t count);
// Zeros, or empty strings, or null objects.
void clear_elements(DType dtype, void* target, int64_t count);

// Input broadcast to the output's shape, which it must fit.
void broadcast_to(const Tensor& input, Tensor& output);
// output.dims[i] = input.dims[permutation[i]].
void transpose(const Tensor& input, std::span<const int> permutation, Tensor& output);

}  // namespace graphwright::kernels
