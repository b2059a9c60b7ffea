// SPDX-License-Identifier: Apache-2.0
// Gated units: of the two halves of a dimension one is activated and multiplied with the other.
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/shared/rows.h"

namespace emu {

// The values of a gated unit, computed in float32 as they are asked for. `half` is the distance of
// gate and linear part: the values of the result from the halved dimension on.
class GatedValues {
 public:
  GatedValues(const View &x, int64_t half, bool left, bool interleaved)
      : from_(x), half_(half), left_(left), interleaved_(interleaved) {}

  // Calls unit(gate, linear) for `count` consecutive values of the result, from `start` on.
  template <class Unit>
  void read(int64_t start, int64_t count, float *to, const Unit &unit) const {
    float first[kBlock], second[kBlock];
    while (count > 0) {
      const int64_t at = start % half_, base = start / half_ * 2 * half_;
      const int64_t n = std::min({count, half_ - at, interleaved_ ? kBlock / 2 : kBlock});
      if (interleaved_) {
        from_.read(base + 2 * at, 2 * n, first);
        for (int64_t i = 0; i < n; ++i) to[i] = unit(first[2 * i], first[2 * i + 1]);
      } else {
        from_.read(base + at + (left_ ? 0 : half_), n, first);
        from_.read(base + at + (left_ ? half_ : 0), n, second);
        for (int64_t i = 0; i < n; ++i) to[i] = unit(first[i], second[i]);
      }
      start += n;
      count -= n;
      to += n;
    }
  }

 private:
  RowSource<float> from_;
  int64_t half_;
  bool left_, interleaved_;
};

inline float sigmoid(float x) { return 1.0f / (1.0f + std::exp(-x)); }
inline float swish(float x) { return x / (1.0f + std::exp(-x)); }

}  // namespace emu
