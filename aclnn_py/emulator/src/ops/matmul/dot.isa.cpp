// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Products of two dense vectors, added up.
#include "ops/matmul/dot.h"

#include "ops/matmul/gemm_kinds.isa.h"

namespace emu {
namespace EMU_ISA_NS {

namespace {

using V = Vec<float>::type;
constexpr int width = Vec<float>::lanes;

// Lane by lane, of one block at most.
inline V block_products(const float *x, const float *y, int64_t count) {
  using L = Vec<float>::loose;
  // Enough that no addition waits for the one before it.
  constexpr int side_by_side = 8;
  static_assert(dot_block % (width * side_by_side) == 0 && width <= dot_lanes);
  const auto at = [](const float *from) { return *reinterpret_cast<const L *>(from); };
  V sums[side_by_side] = {};
  int64_t j = 0;
  for (; j + width * side_by_side <= count; j += width * side_by_side)
#pragma GCC unroll 8
    for (int s = 0; s < side_by_side; ++s) sums[s] += at(x + j + s * width) * at(y + j + s * width);
  for (; j + width <= count; j += width) sums[0] += at(x + j) * at(y + j);
  if (j < count) {
    float left[width] = {}, right[width] = {};
    memcpy(left, x + j, static_cast<size_t>(count - j) * sizeof(float));
    memcpy(right, y + j, static_cast<size_t>(count - j) * sizeof(float));
    sums[1] += at(left) * at(right);
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

void add_products(const float *x, const float *y, int64_t count, double *lanes) {
  for (int64_t i = 0; i < count; i += dot_block) {
    const V all = block_products(x + i, y + i, count - i < dot_block ? count - i : dot_block);
    float block[width];
    memcpy(block, &all, sizeof block);
    for (int lane = 0; lane < width; ++lane) lanes[lane] += static_cast<double>(block[lane]);
  }
}

void row_products(const float *x, int64_t step, int64_t rows, const float *y, int64_t depth,
                  float *sums) {
  for (int64_t i = 0; i < rows; ++i, x += step) {
    double sum = 0;
    for (int64_t p = 0; p < depth; p += dot_piece) {
      const int64_t count = depth - p < dot_piece ? depth - p : dot_piece;
      double lanes[width] = {};
      add_products(x + p, y + p, count, lanes);
      for (const double lane : lanes) sum += lane;
    }
    sums[i] = static_cast<float>(sum);
  }
}

uint32_t wrapping_products(const int32_t *x, const int32_t *y, int64_t count) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += static_cast<uint32_t>(x[i]) * static_cast<uint32_t>(y[i]);
  return sum;
}

}  // namespace EMU_ISA_NS
}  // namespace emu
