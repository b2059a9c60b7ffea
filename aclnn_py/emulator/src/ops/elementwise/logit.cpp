// SPDX-License-Identifier: Apache-2.0
// The logarithm of the odds of a probability, and its gradient. A bound keeps probabilities away
// from 0 and 1.
#include "aclnnop/loss.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

template <class T>
T logit(T x, T bound) {
  const T z = x < bound ? bound : x > T(1) - bound ? T(1) - bound : x;
  return std::log(z / (T(1) - z));
}

// Without a bound (below 0) what is no probability has no gradient; beyond the bound it is 0.
template <class T>
T logit_slope(T x, T bound) {
  const T none = std::numeric_limits<T>::quiet_NaN();
  if (is_nan(bound) || is_infinite(x)) return none;
  if (bound < T(0)) return x < T(0) || x > T(1) ? none : T(1) / (x * (T(1) - x));
  return x < bound || x > T(1) - bound ? T(0) : T(1) / (x * (T(1) - x));
}
template <class T>
T logit_gradient(T x, T dy, T bound) {
  const T slope = logit_slope(x, bound);
  return slope == T(0) ? slope : dy * slope;
}

constexpr unsigned kOneKind = kExact | kOneDtype | kOneShape;

}  // namespace

EMU_FORMULA_XA(Logit, logit(x, a))
EMU_ROW(Logit, Logit, kOneKind, types::kFloat, 1, 1,
        (const aclTensor *input, double eps, aclTensor *out), elementwise, {input, number(eps)},
        out)

EMU_FORMULA_XYA(LogitGrad, logit_gradient(x, y, a))
EMU_ROW(LogitGrad, LogitGrad, kOneKind, types::kFloat, 2, 1,
        (const aclTensor *x, const aclTensor *dy, double eps, aclTensor *out), elementwise,
        {x, dy, number(eps)}, out)

}  // namespace emu
