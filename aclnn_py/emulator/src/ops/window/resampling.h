// SPDX-License-Identifier: Apache-2.0
// How images of another size are made: which elements each place along an axis takes, and their
// shares. The gradients use the same maps, turned around.
#pragma once

#include <array>
#include <vector>

#include "ops/window/geometry.h"

namespace emu {

enum class Filter {
  kBelow,         // the nearest element below
  kMiddle,        // the element nearest to the middle
  kLinear,        // two neighbours
  kCubic,         // four neighbours
  kSmoothLinear,  // a triangle as wide as the step between places, at least two elements
  kSmoothCubic,   // a cubic as wide as four steps, at least four elements
};

using Scales = std::array<double, kAxes>;

// Which of the scales that are given count; where one does not, the sizes decide. A 950 knows the
// first two alone and takes the others as kEach.
enum class ScaleUse {
  kEach,      // each that is positive
  kTogether,  // all of them where all are positive
  kFitting,   // all of them where each leads from the size of the image to that of the result
  kNever,
};

struct Resampling {
  Filter filter;
  int spatial;
  bool align_corners;
  Scales scales;  // of the last dimensions; not positive: that of the sizes
  ScaleUse use = ScaleUse::kEach;
  // On a 910B, an axis that keeps its size takes no scale;
  bool size_first = false;
  // only float32 and the halves do;
  bool floats_only = false;
  // nor does an axis of twice the size in a result of few rows and columns.
  bool doubles_by_size = false;

  // The scales that count for these sizes, and 0 for the others. `backward`: for the gradient.
  Resampling counted(const Image &image, const Image &result, bool backward = false) const;
  // Of an axis; 0 where the sizes decide.
  double scale_of(int axis) const { return scales[static_cast<size_t>(axis - (kAxes - spatial))]; }
  bool nearest() const { return filter == Filter::kBelow || filter == Filter::kMiddle; }
  bool smooth() const { return filter == Filter::kSmoothLinear || filter == Filter::kSmoothCubic; }
};

// A linear map along one axis: place i of the result takes the elements places[k] with the weights
// shares[k], for k in [starts[i], starts[i + 1]).
struct Blend {
  std::vector<int64_t> starts = {0}, places;
  std::vector<double> shares;

  void take(int64_t place, double share) {
    places.push_back(place);
    shares.push_back(share);
  }
  void finish_place() { starts.push_back(static_cast<int64_t>(places.size())); }
  int64_t count() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t most() const;    // elements that one place takes
  bool untouched() const;  // one place that takes the one element there is
};

// For each of `count` places along an axis the one element it takes, of the first two filters.
std::vector<int64_t> nearest_places(const Resampling &how, int axis, int64_t extent, int64_t count);

// Of axis 0 to kAxes - 1; axes in front of the spatial ones stay as they are.
Blend blend_of(const Resampling &how, int axis, int64_t extent, int64_t count);
// The map with its matrix transposed: from results to the `extent` elements of the image.
Blend transposed(const Blend &blend, int64_t extent);
// From results to the elements of the image, for the first two filters. As the kernels do it, each
// element takes a stretch of results; none takes those that a scale leaves over at the end.
Blend nearest_gradient(const Resampling &how, int axis, int64_t extent, int64_t count);

// Applies a map to each axis of each plane. T is what sums are made in, float or double.
template <class T>
void blend_images(const Image &from, const Image &to, const Blend (&axes)[kAxes]);

}  // namespace emu
