// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/shared/mx_format.h"

namespace emu {
namespace {

constexpr uint8_t kNotFinite = 255;
constexpr uint32_t kMantissa = 0x7fffff, kHalfMantissa = 0x400000, kMagnitude = 0x7fffffff;

// The exponent of the largest number of a format.
int largest_exponent(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT8_E5M2: return 15;
    case ACL_FLOAT8_E4M3FN: return 8;
    case ACL_FLOAT4_E2M1: return 2;
    default: return 0;
  }
}

}  // namespace

uint8_t MxFormat::scale_of(float largest) const {
  if (!std::isfinite(largest)) return kNotFinite;
  if (algorithm == 0 || by_bits) {
    const uint32_t bits = bits_of(largest);
    int exponent = static_cast<int>(bits >> 23) - largest_exponent(dtype);
    // The mantissa of the limit is the largest that does not need the next exponent.
    if (by_bits && bits >> 23 > 0 && (bits & kMantissa) > (bits_of(limit) & kMantissa)) ++exponent;
    return static_cast<uint8_t>(std::clamp(exponent, 0, 254));
  }
  const uint32_t quotient = bits_of(std::max(largest, low_bound) / limit);
  const uint32_t exponent = quotient >> 23, mantissa = quotient & kMantissa;
  const bool up =
      exponent > 0 ? exponent < 254 && mantissa > 0 : algorithm == 1 && mantissa > kHalfMantissa;
  return static_cast<uint8_t>(exponent + (up ? 1 : 0));
}

float mx_factor(uint8_t scale) {
  if (scale == kNotFinite) return 0.0f;
  return scale == 254 ? 0x1p-127f : float_of(static_cast<uint32_t>(254 - scale) << 23);
}

MxPlan mx_plan(const Layout &values, int axis, int64_t block) {
  MxPlan plan;
  plan.outer = count_of(values.shape, static_cast<size_t>(axis));
  plan.length = values.shape[axis];
  plan.inner = count_of(values.shape + axis + 1, static_cast<size_t>(values.rank - axis - 1));
  plan.block = block;
  return plan;
}

Layout mx_scale_layout(const Layout &values, int axis, int64_t block) {
  const int64_t pair = 2 * block;
  int64_t shape[kMaxRank];
  std::copy_n(values.shape, values.rank, shape);
  shape[axis] = values.shape[axis] / pair + (values.shape[axis] % pair != 0);
  shape[values.rank] = 2;
  return dense_layout(shape, values.rank + 1);
}

void mx_quantise_pair(const MxFormat &format, const float *values, int64_t rows, int64_t width,
                      int64_t block, uint8_t *codes, uint8_t *scales) {
  const EncodeFn encode = encoder(format.dtype, format.rounding);
  std::vector<uint32_t> largest(static_cast<size_t>(width));
  std::vector<float> factors(largest.size()), scaled(largest.size());
  std::fill_n(scales, 2 * width, uint8_t{0});
  for (int64_t half = 0; half < 2 && half * block < rows; ++half) {
    const int64_t count = std::min(block, rows - half * block);
    const float *from = values + half * block * width;
    uint8_t *to = codes + half * block * width;
    // Infinities and NaN have larger bits than all finite values.
    std::fill(largest.begin(), largest.end(), 0u);
    for (int64_t row = 0; row < count; ++row) {
      for (int64_t i = 0; i < width; ++i) {
        const uint32_t bits = bits_of(from[row * width + i]) & kMagnitude;
        uint32_t &most = largest[static_cast<size_t>(i)];
        most = bits > most ? bits : most;
      }
    }
    for (int64_t i = 0; i < width; ++i) {
      const uint8_t scale = format.scale_of(float_of(largest[static_cast<size_t>(i)]));
      factors[static_cast<size_t>(i)] = mx_factor(scale);
      scales[2 * i + half] = scale;
    }
    if (width == 1) {
      encode(from, count, factors[0], to);
    } else {
      for (int64_t row = 0; row < count; ++row) {
        for (int64_t i = 0; i < width; ++i)
          scaled[static_cast<size_t>(i)] = from[row * width + i] * factors[static_cast<size_t>(i)];
        encode(scaled.data(), width, 1.0f, to + row * width);
      }
    }
    for (int64_t i = 0; i < width; ++i) {
      if (scales[2 * i + half] != kNotFinite) continue;
      for (int64_t row = 0; row < count; ++row) to[row * width + i] = 0;
    }
  }
}

void add_mx_steps(int64_t first, int64_t count, int64_t pair, int64_t rows,
                  std::vector<MxStep> *steps) {
  for (int64_t done = 0; done < count; done += rows)
    steps->push_back({first + done, std::min(rows, count - done), pair++});
}

void clear_unused_pairs(const MxPlan &plan, const std::vector<MxStep> &steps, int64_t pairs,
                        const LowCodes &scales) {
  std::vector<bool> used(static_cast<size_t>(pairs), false);
  for (const MxStep &step : steps) used[static_cast<size_t>(step.pair)] = true;
  const std::vector<uint8_t> zeros(static_cast<size_t>(2 * plan.inner), 0);
  for (int64_t pair = 0; pair < pairs; ++pair) {
    if (!used[static_cast<size_t>(pair)])
      scales.write(2 * pair * plan.inner, 2 * plan.inner, zeros.data());
  }
}

}  // namespace emu
