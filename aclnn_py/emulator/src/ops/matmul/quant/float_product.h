// SPDX-License-Identifier: Apache-2.0
// Products of matrices of floats of 8 and 4 bits with the scales of their rows, columns or groups.
#pragma once

#include <vector>

#include "ops/matmul/gemm.h"

namespace emu {

// How the scales of a matrix lie: a place for a row of it and a group of the inner axis.
struct ScaleMap {
  int64_t rows = 1;                                     // rows of the matrix that share a scale
  int64_t row_step = 0, group_step = 0, pair_step = 0;  // groups come in pairs where pair_step is
  bool pairs = false;

  int64_t at(int64_t row, int64_t group) const {
    const int64_t r = row / rows * row_step;
    return pairs ? r + group / 2 * pair_step + group % 2 : r + group * group_step;
  }
};

// x (rows, depth) @ w (depth, cols), both float32. Sums over a group of the inner axis are
// multiplied by the scales of their row and column and added in order, all in float32.
struct FloatProduct {
  Matrix x, w;
  const float *left = nullptr, *right = nullptr;  // null: 1
  ScaleMap left_map, right_map;                   // of rows of x, and of columns of w
  int64_t group = 0;                              // elements of the inner axis; 0: all of them
};
// Writes rows * cols values.
void multiply(const FloatProduct &product, float *out);

}  // namespace emu
