// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/sampling/filter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/per_thread.h"

namespace emu {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

}  // namespace

void softmax_of(const float *values, int64_t count, float *probabilities) {
  float most = kNever;
  for (int64_t i = 0; i < count; ++i) most = greater(values[i], most) ? values[i] : most;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    probabilities[i] = std::exp(values[i] - most);
    sum += static_cast<double>(probabilities[i]);
  }
  for (int64_t i = 0; i < count; ++i)
    probabilities[i] = static_cast<float>(static_cast<double>(probabilities[i]) / sum);
}

void keep_top_k(float *values, int64_t width, int64_t k, float *scratch) {
  std::copy(values, values + width, scratch);
  std::nth_element(scratch, scratch + (k - 1), scratch + width, greater);
  const float least = scratch[k - 1];
  for (int64_t i = 0; i < width; ++i) values[i] = values[i] < least ? kNever : values[i];
}

void keep_top_p(float *values, int64_t width, float p, float *scratch) {
  softmax_of(values, width, scratch);
  auto &order = PerThread<std::vector<int64_t>, struct TopPOrder>::get();
  order.clear();
  for (int64_t i = 0; i < width; ++i) {
    if (values[i] != kNever) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return greater(values[b], values[a]) || (!greater(values[a], values[b]) && a < b);
  });
  const auto limit = static_cast<double>(1.0f - p);
  double passed = 0;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    passed += static_cast<double>(scratch[order[i]]);
    // A sum that is NaN has passed: such a row stays as it is.
    if (!(passed <= limit)) break;
    values[order[i]] = kNever;
  }
}

}  // namespace emu
