// SPDX-License-Identifier: Apache-2.0
#include "ops/boxes/region_samples.h"

#include <algorithm>
#include <cmath>

namespace emu {
namespace {

constexpr float kMostSamples = 2147483648.0f;

// The first sample, of those of a bin, at a position of at least `least`: none of those in front
// is.
int64_t first_from(double least, double base, double step, int64_t each) {
  const double at = (least - base) / step - 2;
  return at <= 0 ? 0 : at >= static_cast<double>(each) ? each : static_cast<int64_t>(at);
}

}  // namespace

RegionBins region_bins(const RegionRule &rule, float first, float last, int64_t bins,
                       int64_t extent) {
  const float shift = rule.aligned ? 0.5f : 0.0f;
  const float start = first * rule.scale - shift;
  float size = last * rule.scale - shift - start;
  if (!rule.aligned) size = std::max(size, 1.0f);
  RegionBins made;
  made.begin.assign(static_cast<size_t>(bins) + 1, 0);
  if (!std::isfinite(start) || !std::isfinite(size)) return made;
  const float bin = size / static_cast<float>(bins);
  made.each = rule.ratio > 0 ? rule.ratio
                             : static_cast<int64_t>(std::clamp(std::ceil(bin), 0.0f, kMostSamples));
  const auto each = static_cast<float>(made.each), reach = static_cast<float>(extent);
  for (int64_t p = 0; p < bins; ++p) {
    const float base = start + static_cast<float>(p) * bin, step = bin / each;
    int64_t i = 0, end = made.each;
    if (step > 0) {
      const auto from = static_cast<double>(base), by = static_cast<double>(step);
      i = first_from(-1.0, from, by, made.each);
      end = std::min(end, first_from(static_cast<double>(extent), from, by, made.each) + 5);
    }
    for (; i < end; ++i) {
      float at = base + (static_cast<float>(i) + 0.5f) * bin / each;
      if (!(at >= -1 && at <= reach)) continue;
      at = std::max(at, 0.0f);
      const auto low = static_cast<int64_t>(at);
      if (low >= extent - 1) {
        made.samples.push_back({extent - 1, extent - 1, 0});
      } else {
        made.samples.push_back({low, low + 1, at - static_cast<float>(low)});
      }
    }
    made.begin[static_cast<size_t>(p) + 1] = static_cast<int64_t>(made.samples.size());
  }
  return made;
}

std::vector<BinWeights> bin_weights(const RegionBins &bins) {
  std::vector<BinWeights> made(static_cast<size_t>(bins.bins()));
  for (size_t p = 0; p < made.size(); ++p) {
    const auto *from = bins.samples.data() + bins.begin[p],
               *end = bins.samples.data() + bins.begin[p + 1];
    if (from == end) continue;
    int64_t low = from->low, high = from->high;
    for (const auto *s = from; s != end; ++s) {
      low = std::min(low, s->low);
      high = std::max(high, s->high);
    }
    made[p].first = low;
    made[p].weights.assign(static_cast<size_t>(high - low + 1), 0.0);
    for (const auto *s = from; s != end; ++s) {
      made[p].weights[static_cast<size_t>(s->low - low)] +=
          static_cast<double>(1.0f - s->toward_high);
      made[p].weights[static_cast<size_t>(s->high - low)] += static_cast<double>(s->toward_high);
    }
  }
  return made;
}

}  // namespace emu
