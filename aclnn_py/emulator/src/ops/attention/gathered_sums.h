// SPDX-License-Identifier: Apache-2.0
// Gradients of the keys and values of one sequence and head, which chosen rows add to.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

class GatheredSums {
 public:
  GatheredSums(int64_t keys, int64_t width, int64_t value_width)
      : width_(width),
        value_width_(value_width),
        key_(static_cast<size_t>(keys * width), 0.0f),
        value_(static_cast<size_t>(keys * value_width), 0.0f) {}

  // Row i belongs to key `places[i]`.
  void add(const GatheredSlopes &found, const std::vector<int64_t> &places) {
    for (size_t i = 0; i < places.size(); ++i) {
      const auto from = static_cast<int64_t>(i);
      add_row(found.key.data() + from * width_, width_, key_.data() + places[i] * width_);
      add_row(found.value.data() + from * value_width_, value_width_,
              value_.data() + places[i] * value_width_);
    }
  }
  const float *key(int64_t place) const { return key_.data() + place * width_; }
  const float *value(int64_t place) const { return value_.data() + place * value_width_; }

 private:
  static void add_row(const float *from, int64_t count, float *to) {
    for (int64_t i = 0; i < count; ++i) to[i] += from[i];
  }

  const int64_t width_, value_width_;
  std::vector<float> key_, value_;
};

// The sum of dy * out of one row.
inline float sum_along(const float *dy, const float *out, int64_t count) {
  double sum = 0.0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(dy[i]) * out[i];
  return static_cast<float>(sum);
}

}  // namespace emu
