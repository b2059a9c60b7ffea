// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// The logarithm of the odds of a probability, and its gradient. A bound keeps probabilities away
// from 0 and 1.
#include "aclnnop/loss.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/slope_blocks.h"

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

// In float32 the logarithm comes from its kernel.
void logit_block(void *out, const void *const *in, int64_t count, const void *scalars) {
  const float bound = *static_cast<const float *>(scalars), most = 1.0f - bound;
  const auto *x = static_cast<const float *>(in[0]);
  auto *to = static_cast<float *>(out);
  for (int64_t i = 0; i < count; ++i) {
    const float z = x[i] < bound ? bound : x[i] > most ? most : x[i];
    to[i] = z / (1.0f - z);
  }
  float_kernel_fn(FloatKernel::log)(to, count, nullptr, to);
}

constexpr unsigned kOneKind = kExact | kOneDtype | kOneShape;

}  // namespace

EMU_FORMULA_XA(Logit, logit(x, a))
EMU_OPERATOR(Logit, (const aclTensor *input, double eps, aclTensor *out)) {
  static constexpr BlockTable blocks =
      with_floats(block_table<LogitFormula, types::kFloat, 1, 1>, logit_block);
  static constexpr ElementwiseRow row = {"aclnnLogit", &blocks, kOneKind};
  return elementwise(row, {input, number(eps)}, out, workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XYA(LogitGrad, logit_gradient(x, y, a))
EMU_ROW(LogitGrad, LogitGrad, kOneKind, types::kFloat, 2, 1,
        (const aclTensor *x, const aclTensor *dy, double eps, aclTensor *out), elementwise,
        {x, dy, number(eps)}, out)

}  // namespace emu
