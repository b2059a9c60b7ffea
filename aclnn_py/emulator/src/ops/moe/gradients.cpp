// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/moe/gradients.h"

#include "core/statuses.h"

namespace emu {

Status spread_gradient(const char *op, const char *parameter, const CopyGradient &g,
                       const std::vector<TokenCopy> &copies, std::vector<float> *slopes) {
  const int64_t width = g.out.layout.shape[g.out.layout.rank - 1];
  const int64_t rows = width == 0 ? 0 : g.out.count() / width;
  if (slopes) slopes->assign(copies.size(), 0.0f);
  if (rows == 0) return 0;
  constexpr int64_t kNone = -1;
  std::vector<int64_t> from(static_cast<size_t>(rows), kNone);
  for (size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].row < 0) continue;
    int64_t &copy = from[static_cast<size_t>(copies[i].row)];
    if (copy != kNone)
      return fail(kKernelFault, "%s: %s has row %lld twice", op, parameter,
                  static_cast<long long>(copies[i].row));
    copy = static_cast<int64_t>(i);
  }
  const RowSource<float> gradient(g.gradient);
  const RowTarget<float> out(g.out);
  std::vector<RowSource<float>> made, bias;
  if (slopes) made.emplace_back(g.rows);
  if (slopes && g.bias.data) bias.emplace_back(g.bias);
  for_each_row<float>(rows, width, 3, [&](int64_t row, float *values) {
    const int64_t i = from[static_cast<size_t>(row)];
    std::fill(values, values + width, 0.0f);
    if (i != kNone) {
      const TokenCopy &copy = copies[static_cast<size_t>(i)];
      float *x = values + width, *shift = x + width;
      gradient.read(copy.token * width, width, values);
      if (slopes) {
        made[0].read(row * width, width, x);
        if (!bias.empty()) {
          bias[0].read(copy.expert * width, width, shift);
          for (int64_t k = 0; k < width; ++k) x[k] += shift[k];
        }
        double sum = 0.0;
        for (int64_t k = 0; k < width; ++k) sum += static_cast<double>(x[k]) * values[k];
        (*slopes)[static_cast<size_t>(i)] = static_cast<float>(sum);
      }
      if (!g.weights.empty()) {
        const float weight = g.weights[static_cast<size_t>(i)];
        for (int64_t k = 0; k < width; ++k) values[k] *= weight;
      }
    }
    out.write(row * width, width, values);
  });
  return 0;
}

}  // namespace emu
