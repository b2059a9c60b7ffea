// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Lists of numbers rounded to integers in the way that a number chooses.
#include <limits>

#include "aclnnop/foreach.h"
#include "ops/block_kernels.h"
#include "ops/foreach/foreach.h"

namespace emu {
namespace {

// All roundings without a branch, so that the compiler makes vectors: numbers beyond the last
// fraction, infinities and NaN stay as they are.
template <class T>
T round_by(T x, T mode) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kWhole = T(int64_t{1} << (std::numeric_limits<T>::digits - 1));
    const T size = std::abs(x), nearest = (size + kWhole) - kWhole;
    const T below = nearest > size ? nearest - T(1) : nearest;  // that is towards zero
    const T above = below < size ? below + T(1) : below;        // away from zero
    const T away = size - below < T(0.5) ? below : above;
    const T half = below * T(0.5), pairs = (half + kWhole) - kWhole;
    const T odd = pairs == half && below < size ? above : below;
    const T low = x < T{} ? above : below, high = x < T{} ? below : above;
    const T chosen = mode == T(kDown)       ? low
                     : mode == T(kUp)       ? high
                     : mode == T(kHalfAway) ? away
                     : mode == T(kToZero)   ? below
                     : mode == T(kToOdd)    ? odd
                                            : nearest;
    return size < kWhole ? std::copysign(chosen, x) : x;
  } else {
    return x;
  }
}

void round_floats(void *out, const void *const *in, int64_t count, const void *mode) {
  block_kernels().round_by(static_cast<const float *>(in[0]), count,
                           static_cast<const float *>(mode), static_cast<float *>(out));
}

}  // namespace

EMU_FORMULA_XA(RoundBy, round_by(x, a))
template <>
inline constexpr BlockTable block_table<RoundByFormula, types::kReal, 1, 1> =
    of_any_count(with_floats(make_blocks<RoundByFormula, types::kReal, 1, 1>(), round_floats));
EMU_FOREACH(ForeachRoundOffNumber, RoundBy, types::kReal, 1, 1,
            (const aclTensorList *x, const aclTensor *roundMode, aclTensorList *out), (x),
            roundMode, out)
EMU_FOREACH(ForeachRoundOffNumberV2, RoundBy, types::kReal, 1, 1,
            (const aclTensorList *x, const aclScalar *roundMode, aclTensorList *out), (x),
            roundMode, out)

}  // namespace emu
