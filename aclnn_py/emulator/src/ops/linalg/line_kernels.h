// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/isa.h"

namespace emu {

// Sweeps of rotations that are applied together, see LineKernels::turn.
constexpr int kSweepsAtOnce = 4;

// For float64, in the best instruction set.
struct LineKernels {
  // out[k] = sum of line k times x
  void (*dots)(const double *lines, int64_t stride, int64_t count, const double *x, int64_t length,
               double *out);
  // y += sum of the lines, each times its factor
  void (*add)(const double *lines, int64_t stride, int64_t count, const double *factors,
              int64_t length, double *y);
  // Rotations of rows of `width` numbers that lie `step` apart. In step j sweep s turns rows
  // j + 3 - s and j + 4 - s: x, y become c x + s y, c y - s x, where c is not negative. Of each
  // rotation of a step there are s / (1 + c) and s, sweep after sweep.
  void (*turn)(double *rows, int64_t step, const double *turns, int64_t steps);
  int64_t width;
  // to[j][i] = from[i][j]; rows of each lie so many numbers apart
  void (*turn_over)(const double *from, int64_t from_step, int64_t rows, int64_t columns,
                    double *to, int64_t to_step);
};

EMU_DECLARE_ISA(extern const LineKernels line_kernels;)

inline const LineKernels &line_kernels() {
  static const LineKernels &chosen = *EMU_PICK_ISA(line_kernels);
  return chosen;
}

}  // namespace emu
