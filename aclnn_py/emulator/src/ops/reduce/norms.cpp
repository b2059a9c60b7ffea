// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/reduce/norms.h"

#include <cmath>
#include <limits>

#include "ops/scan_kernels.h"

namespace emu {

namespace {

// Of an infinite order.
template <class T>
double extreme_norm(const RowReader<T> &rows, int64_t row, bool largest) {
  double total = largest ? 0 : std::numeric_limits<double>::infinity();
  rows.each(row, [&](const T *x, int64_t count, int64_t) {
    for (int64_t i = 0; i < count; ++i) {
      const double size = std::abs(static_cast<double>(x[i]));
      total = (largest ? size > total : size < total) || std::isnan(size) ? size : total;
    }
  });
  return total;
}

template <class T>
double square_sum(const T *x, int64_t count) {
  if constexpr (std::is_same_v<T, float>) return scan_kernels().squares(x, count);
  double total = 0;
  for (int64_t i = 0; i < count; ++i) total += static_cast<double>(x[i]) * x[i];
  return total;
}

}  // namespace

template <class T>
double norm(const RowReader<T> &rows, int64_t row, double p) {
  if (std::isinf(p)) return extreme_norm(rows, row, p > 0);
  const double total = total_over(rows, row, [p](const T *x, int64_t count) {
    if (p == 2) return square_sum(x, count);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double size = std::abs(static_cast<double>(x[i]));
      if (p == 0) sum += size != 0;
      else if (p == 1) sum += size;
      else sum += std::pow(size, p);
    }
    return sum;
  });
  if (p == 0 || p == 1) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

template double norm(const RowReader<float> &, int64_t, double);
template double norm(const RowReader<double> &, int64_t, double);

}  // namespace emu
