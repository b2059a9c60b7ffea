// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The residual and the norm that follow a reduction.
#include <cmath>

#include "ops/mc2/reduction/all_reduce_plan.h"
#include "ops/shared/rows.h"

namespace emu {

void add_and_normalise(const View &sum, const View &residual, const std::vector<float> &gamma,
                       double epsilon, const View &y, const View &norm) {
  const auto width = static_cast<int64_t>(gamma.size());
  Operands operands;
  const RowSource<float> sums(sum), added(operands.safe(residual, {y, norm}));
  const RowTarget<float> y_rows(y), norm_rows(norm);
  for_each_row<float>(y.count() / width, width, 2, [&](int64_t row, float *x) {
    float *other = x + width;
    sums.read(row * width, width, x);
    added.read(row * width, width, other);
    for (int64_t i = 0; i < width; ++i) x[i] += other[i];
    // the norm is that of y as it is stored
    std::vector<uint16_t> stored(static_cast<size_t>(width));
    store_f32(x, stored.data(), y.dtype, 0, 1, width);
    load_f32(stored.data(), y.dtype, 0, 1, width, x);
    y_rows.write(row * width, width, x);
    const double inverse =
        1.0 / std::sqrt(square_sum(x, width, 0.0) / static_cast<double>(width) + epsilon);
    const auto factor = static_cast<float>(inverse);
    for (int64_t i = 0; i < width; ++i) x[i] = x[i] * factor * gamma[static_cast<size_t>(i)];
    norm_rows.write(row * width, width, x);
  });
}

}  // namespace emu
