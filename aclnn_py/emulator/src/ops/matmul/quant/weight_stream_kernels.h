// SPDX-License-Identifier: Apache-2.0
// The leaf routines of products with quantised weights that are compiled once per instruction set.
// As in gemm_kernels.h, only plain types cross this border.
#pragma once

#include <cstdint>

namespace emu {

// How the numbers of a weight lie: a byte each, or two to a byte, the lower half first. Where
// depths are neighbours, `turn` makes rows of words: a word of a column has its next four or eight
// depths.
enum class WeightStorage : int { bytes, halves, words_of_bytes, words_of_halves, count };
constexpr int stored_forms = 2;  // those without words
enum class WeightRounding : int { float16, bfloat16, count };

// Kernels take any number of rows up to the first, or just as many as `WeightStreams::rows`.
constexpr int any_streamed_rows = 4, most_streamed_rows = 8;

// What is known of weights that share their scales, which chooses how they are rounded.
enum class WeightRange {
  exact,  // number * scale is exact in float32 and zero or in the normal range of the rounded kind
  tame,   // no weight can leave the finite range of that kind
  any
};

// The weights round(number * scale + shift) of depths that share their scales. Columns are in the
// order of `scale`.
struct WeightBlock {
  const uint8_t *b;  // depth 0 of the first column
  int64_t step;      // bytes from one row to the next
  int64_t columns, depth;
  const float *scale, *shift;  // as `prepare` left them, for full blocks
  WeightRange range;           // as `prepare` says
};

// A few rows times these weights.
struct WeightStream {
  WeightBlock weight;
  const float *a;  // (depth, rows)
  float *sums;     // (rows, columns)
  int64_t sums_stride;
  bool add;  // to what the sums are
};
using WeightStreamFn = void (*)(const WeightStream &);

struct WeightStreams {
  // The sums of a full block of `vectors` vectors stand in this order: column i of the block is in
  // vector i % vectors. Columns that fill no block stand as they are.
  int lanes;
  int vectors[static_cast<int>(WeightStorage::count)];
  int rows[static_cast<int>(WeightStorage::count)];
  // By rows - 1: some numbers of rows up to `any_streamed_rows`, the same for all kinds, this one
  // itself, and as many as `rows` says.
  WeightStreamFn across[static_cast<int>(WeightStorage::count)]
                       [static_cast<int>(WeightRounding::count)][most_streamed_rows];
  // Scales, and offsets that become what is added to number * scale, are put in the order of the
  // storage; where the range is `exact`, both become factors of the number. Without `shifted` the
  // offsets are not read. `same_kind`: the scales are values of the kind that weights are rounded
  // to.
  WeightRange (
      *prepare[static_cast<int>(WeightStorage::count)][static_cast<int>(WeightRounding::count)])(
      float *scale, float *shift, int64_t count, bool shifted, bool same_kind);
  // The same for scales that are values of that kind, given as its bits, and no offsets; false
  // where the range is not `exact`.
  bool (*prepare_exact[static_cast<int>(WeightStorage::count)]
                      [static_cast<int>(WeightRounding::count)])(const uint16_t *bits, float *scale,
                                                                 float *shift, int64_t count);
  // Depths of `columns`, which lie `step` bytes apart, become rows of words that are `row_step`
  // bytes apart. What lies `ahead` bytes further in each column is asked for.
  void (*turn[stored_forms])(const uint8_t *from, int64_t step, int64_t columns, int64_t depth,
                             uint8_t *to, int64_t row_step, int64_t ahead);
  // `count` weights of bytes, rounded: out gets the bits of the 16-bit kind.
  void (*dequantise[static_cast<int>(WeightRounding::count)])(const int8_t *numbers, int64_t count,
                                                              const float *scale,
                                                              const float *shift, uint16_t *out);
};

const WeightStreams &weight_streams();

}  // namespace emu
