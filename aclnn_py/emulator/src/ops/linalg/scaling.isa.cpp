// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Rows of float64 that are multiplied and added up while a matrix is scaled.
#include <cstdint>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {

// In 16 sums side by side, whatever the instruction set: the result is the same with each.
double dot_of_rows(const double *a, const double *b, int64_t count) {
  constexpr int kLanes = 16;
  double lanes[kLanes] = {}, total = 0;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) total += a[i] * b[i];
  for (const double lane : lanes) total += lane;
  return total;
}

// sums[i] += by * row[i]
void add_row(double *sums, double by, const double *row, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += by * row[i];
}

// row[i] *= factors[i] * by
void scale_row(double *row, const double *factors, double by, int64_t count) {
  for (int64_t i = 0; i < count; ++i) row[i] *= factors[i] * by;
}

}  // namespace EMU_ISA_NS
}  // namespace emu
