// SPDX-License-Identifier: Apache-2.0
// What GridSampler2D, GridSampler3D and their gradients share: the places that a grid names,
// between -1 and 1 across the image, and the elements of the image around them.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/pool.h"
#include "ops/shared/rows.h"
#include "ops/window/geometry.h"

namespace emu {

enum GridFilter { kBilinearGrid, kNearestGrid, kBicubicGrid };
enum GridPadding { kZeroPadding, kBorderPadding, kReflectedPadding };

struct GridRules {
  int filter, padding;
  bool align_corners;
  bool backward = false;

  int taps() const { return filter == kNearestGrid ? 1 : filter == kBilinearGrid ? 2 : 4; }
};

// An element of the image and its share; place -1 reads zero.
template <class T>
struct Tap {
  int64_t place = -1;
  T share = 0;
};

template <class T>
class AxisSampler {
 public:
  AxisSampler() = default;
  AxisSampler(int64_t extent, const GridRules &rules) : extent_(extent), rules_(rules) {}

  // Fills the taps of a position; returns how far the place moves when the position does.
  T sample(T position, Tap<T> *taps) const {
    const auto size = static_cast<T>(extent_);
    T x = rules_.align_corners ? (position + 1) / 2 * (size - 1) : ((position + 1) * size - 1) / 2;
    T slope = rules_.align_corners ? (size - 1) / 2 : size / 2;
    if (!std::isfinite(x)) return sample_nowhere(x, taps);
    if (rules_.filter != kBicubicGrid) x = bounded(x, &slope);
    const T low = std::floor(x), part = x - low;
    switch (rules_.filter) {
      case kNearestGrid: taps[0] = {inside(std::nearbyint(x)), 1}; return 0;
      case kBilinearGrid:
        taps[0] = {inside(low), 1 - part};
        taps[1] = {inside(low + 1), part};
        return slope;
      default:
        // The cubic of Keys with a = -0.75; each of its four elements is moved into the image on
        // its own.
        taps[0] = {inside(bounded(low - 1, &slope)), outer(part + 1)};
        taps[1] = {inside(bounded(low, &slope)), inner(part)};
        taps[2] = {inside(bounded(low + 1, &slope)), inner(1 - part)};
        taps[3] = {inside(bounded(low + 2, &slope)), outer(2 - part)};
        return slope;
    }
  }

 private:
  // With zero padding a place that is no number is outside the image. Infinity lies behind the
  // outermost element where padding is the border. Else NaN and infinity read element 0, and NaN
  // where the filter is cubic; they give nothing back.
  T sample_nowhere(T x, Tap<T> *taps) const {
    std::fill(taps, taps + rules_.taps(), Tap<T>());
    if (rules_.padding == kZeroPadding) return 0;
    if (rules_.filter == kBicubicGrid) taps[0] = {0, std::numeric_limits<T>::quiet_NaN()};
    else if (rules_.padding == kBorderPadding && !std::isnan(x))
      taps[0] = {x > 0 ? extent_ - 1 : 0, 1};
    else if (!rules_.backward) taps[0] = {0, 1};
    return 0;
  }

  static constexpr T kA = static_cast<T>(-0.75);
  static T inner(T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; }
  static T outer(T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; }

  T bounded(T x, T *slope) const {
    const auto last = static_cast<T>(extent_ - 1);
    if (rules_.padding == kZeroPadding) return x;
    if (rules_.padding == kReflectedPadding) {
      // Mirrored at the outermost elements, or at their outer edges.
      const T begin = rules_.align_corners ? T(0) : T(-0.5),
              span = rules_.align_corners ? last : last + 1;
      if (span == 0) {
        *slope = 0;
        return 0;
      }
      const T away = std::abs(x - begin), turns = std::floor(away / span),
              rest = away - turns * span;
      const bool back = std::fmod(turns, T(2)) != 0;
      if (back != (x < begin)) *slope = -*slope;
      x = begin + (back ? span - rest : rest);
    }
    // The outermost elements do not move with a position at them or behind them.
    if (!(x > 0 && x < last)) *slope = 0;
    return std::min(std::max(x, T(0)), last);
  }

  int64_t inside(T x) const {
    return x >= 0 && x < static_cast<T>(extent_) ? static_cast<int64_t>(x) : -1;
  }

  int64_t extent_ = 1;
  GridRules rules_{};
};

// The taps of all places that the grid names for one image of the batch: for each place those of
// axis 0, then 1, then 2. An axis that the grid does not name has one element.
template <class T>
class SampledPlaces {
 public:
  SampledPlaces(const Image &image, int spatial, const GridRules &rules, int64_t count)
      : spatial_(spatial), most_(rules.taps()), count_(count) {
    for (int axis = 0; axis < kAxes; ++axis) {
      samplers_[axis] = AxisSampler<T>(image.extent[axis], rules);
      widths_[axis] = axis < kAxes - spatial ? 1 : most_;
    }
    taps_.assign(static_cast<size_t>(count * kAxes * most_), Tap<T>{0, 1});
    slopes_.resize(static_cast<size_t>(count * kAxes));
  }

  void read(const RowSource<T> &grid, int64_t n) {
    parallel_for(count_, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T position[kAxes];
        grid.read((n * count_ + i) * spatial_, spatial_, position);
        // x comes first, which is the last axis.
        for (int d = 0; d < spatial_; ++d) {
          const int axis = kAxes - 1 - d;
          slopes_[static_cast<size_t>(i * kAxes + axis)] =
              samplers_[axis].sample(position[d], taps_.data() + (i * kAxes + axis) * most_);
        }
      }
    });
  }

  const Tap<T> *taps(int64_t i, int axis) const {
    return taps_.data() + (i * kAxes + axis) * most_;
  }
  int width(int axis) const { return widths_[axis]; }
  T slope(int64_t i, int axis) const { return slopes_[static_cast<size_t>(i * kAxes + axis)]; }
  int64_t count() const { return count_; }

 private:
  AxisSampler<T> samplers_[kAxes];
  int spatial_, most_, widths_[kAxes];
  int64_t count_;
  std::vector<Tap<T>> taps_;
  std::vector<T> slopes_;
};

// Checks of phase one.
void check_grid_rules(Check &check, int64_t filter, int highest_filter, int64_t padding);
// `image` is (n, channels, sizes) in its format, `grid` (n, sizes of places, spatial), and `places`
// (n, channels, sizes of places) in the format of the image.
void check_grid_shapes(Check &check, int spatial, const aclTensor *image, const aclTensor *grid,
                       const char *places_name, const aclTensor *places);

}  // namespace emu
