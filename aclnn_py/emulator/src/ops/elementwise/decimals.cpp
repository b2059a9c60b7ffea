// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Rounding to a number of decimals; below 0 it counts digits in front of the point.
#include <algorithm>

#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

// Beyond this no float64 has a digit.
constexpr int64_t kMostDecimals = 400;

double power_of_ten(int exponent) {
  static constexpr double kExact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return exponent < 23 ? kExact[exponent] : std::pow(10.0, exponent);
}

// In float64 for every dtype: the product of a narrower number and a power of ten is all but exact.
double round_real(double x, int decimals) {
  const double scale = power_of_ten(std::abs(decimals));
  if (decimals < 0) return std::isinf(scale) ? 0.0 * x : std::nearbyint(x / scale) * scale;
  const double scaled = x * scale;
  // A number this large, or rounded this far behind its last digit, is what it is.
  return std::isfinite(scaled) ? std::nearbyint(scaled) / scale : x;
}

// Halves become even. A result that the type cannot hold wraps.
int64_t round_whole(int64_t x, int64_t decimals) {
  if (decimals >= 0) return x;
  if (decimals < -19) return 0;  // 10 to the power of 20 is more than twice any integer
  uint64_t unit = 1;
  for (; decimals < 0; ++decimals) unit *= 10;
  const auto bits = static_cast<uint64_t>(x);
  const uint64_t size = x < 0 ? 0 - bits : bits;
  const uint64_t rest = size % unit;
  uint64_t count = size / unit;
  if (rest > unit - rest || (rest == unit - rest && count % 2 != 0)) ++count;
  return static_cast<int64_t>(x < 0 ? 0 - count * unit : count * unit);
}

template <class T>
T round_decimals(T x, T decimals) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(round_whole(x, decimals));
  else return static_cast<T>(round_real(x, static_cast<int>(decimals)));
}

Argument places(int64_t decimals) {
  return number(static_cast<double>(std::clamp(decimals, -kMostDecimals, kMostDecimals)));
}

}  // namespace

EMU_FORMULA_XA(RoundDecimals, round_decimals(x, a))
EMU_ROW(RoundDecimals, RoundDecimals, kExact | kPlain, types::kReal, 1, 1,
        (const aclTensor *self, int64_t decimals, aclTensor *out), elementwise,
        {self, places(decimals)}, out)
EMU_ROW(InplaceRoundDecimals, RoundDecimals, kPlain, types::kReal, 1, 1,
        (aclTensor *selfRef, int64_t decimals), elementwise_in_place, {selfRef, places(decimals)},
        selfRef)

}  // namespace emu
