// SPDX-License-Identifier: Apache-2.0
// MX quantisation: blocks of values along one dimension share a scale that is a power of two, kept
// as its exponent in FLOAT8_E8M0. Scales lie in pairs: the dimension of the blocks is halved,
// rounded up, and a last dimension of 2 is added; the second scale of an odd last pair is 0.
#pragma once

#include "core/pool.h"
#include "ops/shared/low_codes.h"
#include "ops/shared/rows.h"

namespace emu {

// How scales are found and values are stored.
struct MxFormat {
  aclDataType dtype = ACL_FLOAT8_E4M3FN;
  LowRounding rounding = LowRounding::kRint;
  // 0: the exponent of the largest value less that of the format. 1: the largest value divided by
  // `limit`, the exponent rounded up. 2: the same for FLOAT4 with a limit of one's choice.
  int algorithm = 0;
  float limit = 0.0f;    // the largest number of the format, or what stands for it
  bool by_bits = false;  // algorithm 2 rounds by the upper bits of the mantissa, without a division
  float low_bound = 0.0f;  // algorithm 1: the largest value counts as at least that

  // The code of the scale of a block. A block with an infinity or a NaN has 255.
  uint8_t scale_of(float largest) const;
};

// What values are multiplied with, by the code of the scale; 0 for the code 255, whose block
// becomes zeros.
float mx_factor(uint8_t scale);

// A tensor seen as (outer, length, inner) with blocks along `length`.
struct MxPlan {
  int64_t outer = 1, length = 0, inner = 1, block = 32;

  int64_t pairs() const { return length / (2 * block) + (length % (2 * block) != 0); }
};
MxPlan mx_plan(const Layout &values, int axis, int64_t block);
// The shape of the scales.
Layout mx_scale_layout(const Layout &values, int axis, int64_t block);

// Quantises `rows` rows (of at most two blocks) of `width` values into codes, one to a byte, and
// 2 * width scales, the two of a column beside each other.
void mx_quantise_pair(const MxFormat &format, const float *values, int64_t rows, int64_t width,
                      int64_t block, uint8_t *codes, uint8_t *scales);

// Rows of `length`, at most those of two blocks, and the place of their pair of scales.
struct MxStep {
  int64_t row, rows, pair;
};
// Adds the steps of the rows [first, first + count), `rows` each, whose scales begin with `pair`.
void add_mx_steps(int64_t first, int64_t count, int64_t pair, int64_t rows,
                  std::vector<MxStep> *steps);
// Writes zeros to the pairs of scales that no step has.
void clear_unused_pairs(const MxPlan &plan, const std::vector<MxStep> &steps, int64_t pairs,
                        const LowCodes &scales);

// Columns that one task takes of a tensor whose blocks do not lie along the last dimension.
constexpr int64_t kMxColumns = 512;

// Quantises the rows of the steps in each of the outer parts, which have `pairs` pairs of scales.
// load(start, count, to) gives consecutive values of the tensor.
template <class Load>
void mx_quantise(const MxPlan &plan, const std::vector<MxStep> &steps, int64_t pairs,
                 const MxFormat &format, const LowCodes &y, const LowCodes &scales,
                 const Load &load) {
  const int64_t inner = plan.inner, most_rows = 2 * plan.block;
  const int64_t width = std::min(inner, kMxColumns);
  if (width == 0 || steps.empty()) return;
  const int64_t pieces = inner / width + (inner % width != 0);
  const int64_t each = static_cast<int64_t>(steps.size()) * pieces;
  const int64_t grain = std::max<int64_t>(1, 8192 / (most_rows * width));
  parallel_for(plan.outer * each, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> values(static_cast<size_t>(most_rows * width));
    std::vector<uint8_t> codes(values.size()), found(static_cast<size_t>(2 * width));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t outer = task / each, column = task % pieces * width;
      const MxStep &step = steps[static_cast<size_t>(task % each / pieces)];
      const int64_t n = std::min(width, inner - column);
      const int64_t start = (outer * plan.length + step.row) * inner + column;
      // Columns that are not all there are are not consecutive.
      const int64_t parts = n == inner ? 1 : step.rows, size = n == inner ? step.rows * n : n;
      for (int64_t r = 0; r < parts; ++r) load(start + r * inner, size, values.data() + r * n);
      mx_quantise_pair(format, values.data(), step.rows, n, plan.block, codes.data(), found.data());
      for (int64_t r = 0; r < parts; ++r) y.write(start + r * inner, size, codes.data() + r * n);
      scales.write(((outer * pairs + step.pair) * inner + column) * 2, 2 * n, found.data());
    }
  });
}

// Quantises the whole tensor.
template <class Load>
void mx_quantise(const MxPlan &plan, const MxFormat &format, const LowCodes &y,
                 const LowCodes &scales, const Load &load) {
  if (plan.outer == 0 || plan.inner == 0) return;  // the length of an empty tensor may be anything
  std::vector<MxStep> steps;
  add_mx_steps(0, plan.length, 0, 2 * plan.block, &steps);
  mx_quantise(plan, steps, plan.pairs(), format, y, scales, load);
}

}  // namespace emu
