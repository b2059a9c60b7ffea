// SPDX-License-Identifier: Apache-2.0
// One plane of an image with its margins filled in, so that every element of a window is a row of
// its own: the elements k of neighbouring windows lie side by side, whatever the step between
// windows.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/shared/rows.h"
#include "ops/window/geometry.h"

namespace emu {

template <class T>
class Plane {
 public:
  // Margins read as `filling`. The plane holds what windows reach, in ceil mode beyond the margin
  // behind.
  Plane(const Windows &windows, T filling)
      // A single window does not move, however far it would.
      : windows_(windows), step_(windows.axes[2].count > 1 ? windows.axes[2].step : 1) {
    const Axis *a = windows.axes;
    for (int d = 0; d < kAxes; ++d) {
      reach_[d] =
          std::max<int64_t>(a[d].before + a[d].extent,
                            (a[d].count - 1) * a[d].step + (a[d].window - 1) * a[d].spread + 1);
    }
    phase_ = (reach_[2] + step_ - 1) / step_;
    values_.assign(static_cast<size_t>(reach_[0] * reach_[1] * phase_ * step_), filling);
    dense_.resize(static_cast<size_t>(windows.area()));
    for (int64_t k0 = 0; k0 < a[0].window; ++k0) {
      for (int64_t k1 = 0; k1 < a[1].window; ++k1) {
        const int64_t line = row(k0 * a[0].spread, k1 * a[1].spread) - values_.data();
        for (int64_t k2 = 0; k2 < a[2].window; ++k2)
          offsets_.push_back(line + place(k2 * a[2].spread));
      }
    }
  }

  void load(const View &plane) {
    const Axis *a = windows_.axes;
    const T *from = RowSource<T>(plane).row(0, windows_.area(), dense_.data());
    for (int64_t z = 0; z < a[0].extent; ++z) {
      for (int64_t y = 0; y < a[1].extent; ++y, from += a[2].extent) {
        T *to = row(z + a[0].before, y + a[1].before);
        if (step_ == 1) {
          std::copy(from, from + a[2].extent, to + a[2].before);
          continue;
        }
        for (int64_t x = 0; x < std::min(step_, a[2].extent); ++x) {
          T *lane = to + place(x + a[2].before);
          for (int64_t i = x; i < a[2].extent; i += step_) *lane++ = from[i];
        }
      }
    }
  }

  // Where each element of the windows in row (z, y) of windows begins; neighbouring windows follow.
  void taps(int64_t z, int64_t y, const T **to) {
    const T *from = row(z * windows_.axes[0].step, y * windows_.axes[1].step);
    for (const int64_t offset : offsets_) *to++ = from + offset;
  }

 private:
  T *row(int64_t z, int64_t y) { return values_.data() + (z * reach_[1] + y) * phase_ * step_; }
  // Elements a step apart lie side by side.
  int64_t place(int64_t x) const { return x % step_ * phase_ + x / step_; }

  const Windows &windows_;
  const int64_t step_;  // between windows of a row
  int64_t reach_[kAxes], phase_;
  std::vector<T> values_, dense_;
  std::vector<int64_t> offsets_;  // of the elements of a window
};

}  // namespace emu
