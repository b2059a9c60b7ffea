// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/norms.h"

#include <cmath>
#include <limits>

namespace emu {

double norm(const RowReader<double> &rows, int64_t row, double p) {
  const bool extreme = std::isinf(p);
  double total = extreme && p < 0 ? std::numeric_limits<double>::infinity() : 0;
  rows.each(row, [&](const double *x, int64_t count, int64_t) {
    for (int64_t i = 0; i < count; ++i) {
      const double size = std::abs(x[i]);
      if (extreme) total = (p > 0 ? size > total : size < total) || std::isnan(size) ? size : total;
      else if (p == 0) total += size != 0;
      else if (p == 1) total += size;
      else if (p == 2) total += size * size;
      else total += std::pow(size, p);
    }
  });
  if (extreme || p == 0 || p == 1) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

}  // namespace emu
