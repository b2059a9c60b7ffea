// SPDX-License-Identifier: Apache-2.0
// Whether elements are zero, asked as they lie in memory, compiled once per instruction set. They
// are words of `size` bytes, 1, 2, 4 or 8; `has_sign` says that the highest bit does not count:
// there are two zeros of floats.
#pragma once

#include <cstdint>

namespace emu {

struct TruthKernels {
  // Whether any of the elements is not zero, and whether any is.
  bool (*any_set)(const void *x, int64_t count, int64_t size, bool has_sign);
  bool (*any_zero)(const void *x, int64_t count, int64_t size, bool has_sign);
  // The same of columns: element c of row r lies r * step + c elements behind `x`. There are at
  // most kMostColumns of them.
  void (*columns_set)(const void *x, int64_t rows, int64_t step, int64_t count, int64_t size,
                      bool has_sign, bool *to);
  void (*columns_zero)(const void *x, int64_t rows, int64_t step, int64_t count, int64_t size,
                       bool has_sign, bool *to);
};

constexpr int64_t kMostColumns = 1024;

const TruthKernels &truth_kernels();

}  // namespace emu
