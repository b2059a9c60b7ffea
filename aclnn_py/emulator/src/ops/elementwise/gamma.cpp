// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// The logarithm of the magnitude of the gamma function, and its derivative.
#include <cmath>
#include <limits>

#include "aclnnop/math.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

// Not std::lgamma, which writes the sign to a variable that all threads share.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// Far from 0 by the asymptotic series, which the recurrence leads to; below 0 by reflection.
double digamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0.0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  if (x < 0.0) {
    const double whole = std::nearbyint(x);
    if (whole == x || std::isinf(x)) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1.0 - x) - kPi / std::tan(kPi * (x - whole));
  }
  double result = 0.0;
  for (; x < 12.0; x += 1.0) result -= 1.0 / x;
  if (std::isinf(x)) return x;
  const double z = 1.0 / (x * x);
  // The Bernoulli numbers B(2n) / 2n, the last one first.
  static constexpr double kSeries[] = {-3617.0 / 8160.0, 1.0 / 12.0,  -691.0 / 32760.0, 1.0 / 132.0,
                                       -1.0 / 240.0,     1.0 / 252.0, -1.0 / 120.0,     1.0 / 12.0};
  double sum = 0.0;
  for (const double c : kSeries) sum = (sum + c) * z;
  return result + std::log(x) - 0.5 / x - sum;
}

}  // namespace

EMU_UNARY(Lgamma, kExact, types::kFloat, static_cast<T>(log_gamma(static_cast<double>(x))))
EMU_UNARY(Digamma, kExact, types::kFloat, static_cast<T>(digamma(static_cast<double>(x))))

}  // namespace emu
