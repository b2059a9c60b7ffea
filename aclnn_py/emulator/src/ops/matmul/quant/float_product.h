// SPDX-License-Identifier: Apache-2.0
// Products of matrices of floats of 8 and 4 bits with the scales of their rows, columns or groups.
#pragma once

#include <vector>

#include "ops/matmul/gemm.h"
#include "ops/op.h"

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

// Powers of two for each 32 of the inner axis lie in pairs: (rows, depth / 64, 2), or
// (depth / 64, rows, 2) where they are turned.
constexpr int64_t kPairedGroup = 32;
ScaleMap paired_scales(int64_t rows, int64_t depth, bool turned);
Layout paired_scale_layout(int64_t rows, int64_t depth, bool turned);

// Every value of scales in row-major order, powers of two and packed ones included.
std::vector<float> float_scales(const aclTensor &scale);

// groupSize has 16 bits each for k, n and m, from the lowest on: each is 0 or the size given here.
void check_group_size(Check &check, int64_t given, int64_t m, int64_t n, int64_t k);

// x (rows, depth) @ w (depth, cols), both float32. Sums over a group of the inner axis are
// multiplied by the scales of their row and column and added in order, all in float32.
struct FloatProduct {
  Matrix x, w;
  const float *left = nullptr, *right = nullptr;  // null: 1
  ScaleMap left_map, right_map;                   // of rows of x, and of columns of w
  int64_t group = 0;                              // elements of the inner axis; 0: all of them
};
// `count` indices of the inner axis of both from `first` on.
void cut_inner(FloatProduct *product, int64_t first, int64_t count);
// Writes rows * cols values.
void multiply(const FloatProduct &product, float *out);

}  // namespace emu
