// SPDX-License-Identifier: Apache-2.0
// What the gates of a mixture of experts share: the softmax of a row of scores and the experts with
// the highest ones.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/refusal.h"
#include "ops/float_kernels.h"
#include "ops/shared/rows.h"

namespace emu {

// x becomes its softmax, in float32.
inline void soften(float *x, int64_t width) {
  if (width == 0) return;
  const FloatKernels &kernels = float_kernels();
  const double total = kernels.shifted_powers(x, width, kernels.highest(x, width), false);
  const float sum = static_cast<float>(total);
  for (int64_t i = 0; i < width; ++i) x[i] /= sum;
}

// Moves the `count` candidates with the highest scores to the front, the highest first. The order
// is that of Topk: of equal scores the lower index comes first, NaN counts as the highest.
inline void highest_first(const float *scores, int64_t count, std::vector<int64_t> &candidates) {
  const auto before = [scores](int64_t a, int64_t b) {
    const float x = scores[a], y = scores[b];
    if (std::isnan(x) || std::isnan(y)) {
      return std::isnan(x) == std::isnan(y) ? a < b : std::isnan(x);
    }
    return x != y ? x > y : a < b;
  };
  std::partial_sort(candidates.begin(), candidates.begin() + count, candidates.end(), before);
}

// The status of a refused call whose operator notices what the tiling would refuse before it asks:
// 561103 in place of 561002.
inline Status noticed_early(const Check &check) {
  return check.status() == kTiling ? reported_as(kInnerNull) : check.status();
}

// The values of a tensor of integers or truth values in row-major order; none when it is absent.
inline std::vector<int64_t> integers(PlanContext &c, size_t index) {
  if (!c.has(index)) return {};
  const View view = view_of(c.tensor(index));
  std::vector<int64_t> values(static_cast<size_t>(view.count()));
  RowSource<int64_t>(view).read(0, view.count(), values.data());
  return values;
}

}  // namespace emu
