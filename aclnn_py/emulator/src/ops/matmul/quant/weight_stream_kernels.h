// SPDX-License-Identifier: Apache-2.0
// The leaf routines of products with quantised weights that are compiled once per instruction set.
// As in gemm_kernels.h, only plain types cross this border.
#pragma once

#include <cstdint>

namespace emu {

// How the numbers of a weight lie: a byte each, or two to a byte, the lower half first.
enum class WeightStorage : int { bytes, halves, count };
enum class WeightRounding : int { float16, bfloat16, count };

constexpr int most_streamed_rows = 4;

// A few rows times the weights round(number * scale + shift), for depths that share their scales.
// Columns are in the order of `scale`.
struct WeightStream {
  const float *a;    // (depth, rows)
  const uint8_t *b;  // depth 0 of the first column
  int64_t step;      // bytes from one depth to the next
  int64_t columns, depth;
  const float *scale, *shift;  // of each column
  bool tame;                   // as `prepare` says
  float *sums;                 // (rows, columns)
  int64_t sums_stride;
  bool add;  // to what the sums are
};
using WeightStreamFn = void (*)(const WeightStream &);

struct WeightStreams {
  // In storage `halves` the columns of each full block of this many stand in the order of their
  // halves: those of the lower ones, then those of the upper ones.
  int64_t block;
  // by rows - 1
  WeightStreamFn across[static_cast<int>(WeightStorage::count)]
                       [static_cast<int>(WeightRounding::count)][most_streamed_rows];
  // Scales, and what is added to number * scale, in the order of the storage. `offset` may be null.
  // True when no weight can leave the finite range of the kind it is rounded to.
  bool (*prepare[static_cast<int>(WeightStorage::count)][static_cast<int>(WeightRounding::count)])(
      const float *scale, const float *offset, int64_t count, float *scales, float *shifts);
  // `count` weights of bytes, rounded: out gets the bits of the 16-bit kind.
  void (*dequantise[static_cast<int>(WeightRounding::count)])(const int8_t *numbers, int64_t count,
                                                              const float *scale,
                                                              const float *shift, uint16_t *out);
};

const WeightStreams &weight_streams();

}  // namespace emu
