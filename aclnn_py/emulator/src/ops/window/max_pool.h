// SPDX-License-Identifier: Apache-2.0
// Maxima of windows with their places. NaN wins, as in comparisons that carry it on; of equal
// elements the first one does.
#pragma once

#include <limits>
#include <vector>

#include "ops/window/pool.h"

namespace emu {

template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

// Maxima with their places, counted in elements of the plane.
template <class T>
struct Found {
  std::vector<T> values;
  std::vector<int64_t> places;

  void offer(size_t at, T value, int64_t place) {
    if (value > values[at] || value != value) {
      values[at] = value;
      places[at] = place;
    }
  }
};

// The maximum of each window of each plane, which `store` makes room for and writes.
template <class Store>
void find_highest(const Image &from, const Windows &windows, Store store) {
  const Axis *a = windows.axes;
  const auto place = [a](int d, int64_t i, int64_t k) {
    return i * a[d].step - a[d].before + k * a[d].spread;
  };
  const auto pool = [&](const std::vector<const float *> &taps, int64_t z, int64_t y,
                        Found<float> &found, int64_t at) {
    // Where nothing is above the lowest number, the first element inside is the place.
    const int64_t slice = std::max<int64_t>(0, place(0, z, 0)),
                  row = std::max<int64_t>(0, place(1, y, 0));
    const int64_t first = (slice * a[1].extent + row) * a[2].extent;
    for (int64_t i = 0; i < a[2].count; ++i) {
      found.values[static_cast<size_t>(at + i)] = lowest<float>();
      found.places[static_cast<size_t>(at + i)] = first + std::max<int64_t>(0, place(2, i, 0));
    }
    for (size_t t = 0; t < taps.size(); ++t) {
      const auto k = static_cast<int64_t>(t);
      const int64_t k2 = k % a[2].window, k1 = k / a[2].window % a[1].window,
                    k0 = k / a[2].window / a[1].window;
      const int64_t line = (place(0, z, k0) * a[1].extent + place(1, y, k1)) * a[2].extent;
      for (int64_t i = 0; i < a[2].count; ++i) {
        found.offer(static_cast<size_t>(at + i), taps[t][i], line + place(2, i, k2));
      }
    }
  };
  pool_planes<float>(from, windows, lowest<float>(), pool, store);
}

}  // namespace emu
