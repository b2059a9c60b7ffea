// SPDX-License-Identifier: Apache-2.0
// Normalisation over groups of channels of a dense order (sample, channel, inner).
#pragma once

#include "ops/norm/layer.h"

namespace emu {

struct GroupedChannels {
  int64_t samples, channels, inner, groups;

  int64_t rows() const { return samples * groups; }
};

// Mean and 1 / sqrt(variance + eps) of each group, in the order of rows.
struct GroupStatistics {
  std::vector<float> means, rstds;
};

// Each group is normalised, scaled and shifted channel by channel, and then activated. `to` has
// write(start, count, values) and may change the values.
template <class Target, class F>
GroupStatistics group_normalise(const GroupedChannels &g, const RowSource<float> &from,
                                const Target &to, const std::vector<float> &scale,
                                const std::vector<float> &shift, double eps, F activate) {
  const int64_t each = g.channels / g.groups, width = each * g.inner, rows = g.rows();
  GroupStatistics all{std::vector<float>(static_cast<size_t>(rows)),
                      std::vector<float>(static_cast<size_t>(rows))};
  for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
    from.read(row * width, width, x);
    const RowStatistics found = statistics_of(x, width, eps);
    const int64_t first = row % g.groups * each;
    for (int64_t channel = 0; channel < each; ++channel) {
      const float a = scale[static_cast<size_t>(first + channel)],
                  b = shift[static_cast<size_t>(first + channel)];
      float *part = x + channel * g.inner;
      for (int64_t i = 0; i < g.inner; ++i)
        part[i] = activate((part[i] - found.mean) * found.rstd * a + b);
    }
    to.write(row * width, width, x);
    all.means[static_cast<size_t>(row)] = found.mean;
    all.rstds[static_cast<size_t>(row)] = found.rstd;
  });
  return all;
}

}  // namespace emu
