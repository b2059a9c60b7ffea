// SPDX-License-Identifier: Apache-2.0
// The inner loops of depthwise convolution, its gradient, resizing and average pools, compiled once
// per instruction set.
#pragma once

#include <cstdint>

namespace emu {

// What each of `count` places of a line is made of.
struct BlendMap {
  int64_t count;
  const int64_t *starts, *places;
  const float *shares;
};
constexpr int kBlendRows = 8;

struct WindowKernels {
  // out[i] = start + sum over t of weights[t] * taps[t][i], for i in [0, width); the sum in the
  // order of t.
  void (*weigh)(const float *const *taps, const float *weights, int64_t count, int64_t width,
                float start, float *out);
  // sums[t] += sum over i of taps[t][i] * row[i], for i in [0, width).
  void (*correlate)(const float *const *taps, const float *row, int64_t count, int64_t width,
                    double *sums);
  // averages[i] = (sum over t of taps[t][i]) / (lines * across[i]), for i in [0, width); in
  // float64, the sum in the order of t, one rounding to float32.
  void (*average)(const float *const *taps, int64_t count, int64_t width, double lines,
                  const double *across, float *averages);
  // The same without a rounding.
  void (*average_wide)(const float *const *taps, int64_t count, int64_t width, double lines,
                       const double *across, double *averages);
  // to[r * stride + i] = sum over k in [starts[i], starts[i + 1]) of shares[k] *
  // rows[r][places[k]], for each of kBlendRows rows of `width` elements and i in [0, count). Room
  // for kBlendRows * (width + count) elements is at `scratch`.
  void (*blend)(const float *const *rows, int64_t width, const BlendMap &map, float *scratch,
                float *to, int64_t stride);
};

const WindowKernels &window_kernels();

}  // namespace emu
