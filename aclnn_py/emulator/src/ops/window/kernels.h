// SPDX-License-Identifier: Apache-2.0
// The inner loops of depthwise convolution and its gradient, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace emu {

struct WindowKernels {
  // out[i] = start + sum over t of weights[t] * taps[t][i], for i in [0, width); the sum in the
  // order of t.
  void (*weigh)(const float *const *taps, const float *weights, int64_t count, int64_t width,
                float start, float *out);
  // sums[t] += sum over i of taps[t][i] * row[i], for i in [0, width).
  void (*correlate)(const float *const *taps, const float *row, int64_t count, int64_t width,
                    double *sums);
};

const WindowKernels &window_kernels();

}  // namespace emu
