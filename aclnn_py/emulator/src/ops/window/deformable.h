// SPDX-License-Identifier: Apache-2.0
// Convolution over samples that offsets move: what both directions judge, and where a sample lies.
// The channels of offset are x for each group and element of a window, then y, then the masks that
// samples are multiplied by. Samples lie between four elements; those outside the image are 0.
#pragma once

#include <cmath>

#include "ops/window/convolution.h"

namespace emu {

struct DeformableCall {
  const char *op;
  const char *input_name, *output_name, *sampled_name;
  const aclTensor *input, *weight, *offset, *bias, *output, *sampled;  // bias, sampled may be null
  const aclIntArray *kernel, *stride, *padding, *dilation;
  int64_t groups, deformable_groups;
  bool modulated;
};

struct Deformable {
  Windows windows;      // over the image
  int64_t groups;       // of channels that share offsets
  Convolution product;  // of the samples, whose windows lie side by side, with the filters

  int64_t elements() const { return windows.elements(); }
  int64_t positions() const { return windows.positions(); }
};

// Nulls, dtypes and formats are judged before; shapes and values here.
void check_deformable(Check &check, const DeformableCall &call, Deformable *result);
// The shape of all samples: (n, channels, rows of windows, columns of windows).
Layout samples_shape(const DeformableCall &call, const Deformable &d);

// Where a sample lies in a plane.
struct SamplePlace {
  int64_t row = 0, column = 0;  // of the element before it
  float down = 0, across = 0;   // from that element
  bool inside = false;

  // The four weights of the elements around it.
  void weights(float (&to)[4]) const {
    to[0] = (1 - down) * (1 - across);
    to[1] = (1 - down) * across;
    to[2] = down * (1 - across);
    to[3] = down * across;
  }
};

// Element k of window p, moved by offsets.
inline SamplePlace place_of(const Windows &w, int64_t k, int64_t p, float x, float y) {
  const Axis &rows = w.axes[1], &columns = w.axes[2];
  const float at_y = static_cast<float>(p / columns.count * rows.step - rows.before +
                                        k / columns.window * rows.spread) +
                     y;
  const float at_x = static_cast<float>(p % columns.count * columns.step - columns.before +
                                        k % columns.window * columns.spread) +
                     x;
  SamplePlace place;
  place.inside = at_y > -1 && at_y < static_cast<float>(rows.extent) && at_x > -1 &&
                 at_x < static_cast<float>(columns.extent);
  if (!place.inside) return place;
  const float top = std::floor(at_y), left = std::floor(at_x);
  place.row = static_cast<int64_t>(top);
  place.column = static_cast<int64_t>(left);
  place.down = at_y - top;
  place.across = at_x - left;
  return place;
}

// Calls corner(index of 0 to 3, element of the plane) for the elements around a place that the
// plane has.
template <class F>
void for_corners(const Windows &w, const SamplePlace &place, F corner) {
  for (int i = 0; i < 4; ++i) {
    const int64_t row = place.row + i / 2, column = place.column + i % 2;
    if (row < 0 || row >= w.axes[1].extent || column < 0 || column >= w.axes[2].extent) continue;
    corner(i, row * w.axes[2].extent + column);
  }
}

// Where element k of window p lies among the samples of a plane.
inline int64_t sample_at(const Windows &w, int64_t k, int64_t p) {
  const Axis &rows = w.axes[1], &columns = w.axes[2];
  const int64_t row = p / columns.count * rows.window + k / columns.window,
                column = p % columns.count * columns.window + k % columns.window;
  return row * columns.count * columns.window + column;
}

}  // namespace emu
