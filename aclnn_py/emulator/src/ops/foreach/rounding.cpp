// SPDX-License-Identifier: Apache-2.0
// Lists of numbers rounded to integers in the way that a number chooses.
#include "aclnnop/foreach.h"
#include "ops/foreach/foreach.h"

namespace emu {
namespace {

enum RoundMode { kDown = 2, kUp = 3, kHalfAway = 4, kToZero = 5, kToOdd = 6 };

// The odd one of the two neighbours of what is no integer.
template <class T>
T round_to_odd(T x) {
  const T low = std::floor(x);
  if (low == x || !std::isfinite(x)) return x;
  return std::fmod(low, T(2)) != T{} ? low : low + T(1);
}

// Integers stay as they are; what is no mode is that to the nearest, half to even.
template <class T>
T round_by(T x, T mode) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (static_cast<int>(mode)) {
      case kDown: return std::floor(x);
      case kUp: return std::ceil(x);
      case kHalfAway: return std::round(x);
      case kToZero: return std::trunc(x);
      case kToOdd: return round_to_odd(x);
      default: return std::nearbyint(x);
    }
  }
  return x;
}

}  // namespace

EMU_FORMULA_XA(RoundBy, round_by(x, a))
EMU_FOREACH(ForeachRoundOffNumber, RoundBy, types::kReal, 1, 1,
            (const aclTensorList *x, const aclTensor *roundMode, aclTensorList *out), (x),
            roundMode, out)
EMU_FOREACH(ForeachRoundOffNumberV2, RoundBy, types::kReal, 1, 1,
            (const aclTensorList *x, const aclScalar *roundMode, aclTensorList *out), (x),
            roundMode, out)

}  // namespace emu
