// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Formulas with plain numbers among their parameters, x*log(y) and x*log(1 + y).
#include <cmath>
#include <limits>

#include "aclnnop/activation.h"
#include "aclnnop/math.h"
#include "core/chip.h"
#include "ops/convert.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

template <class T>
bool close(T x, T y, T relative, T absolute_bound, T equal_nan) {
  if (is_nan(x) || is_nan(y)) return equal_nan != T{} && is_nan(x) && is_nan(y);
  if (x == y) return true;
  return is_finite(y) && std::abs(x - y) <= absolute_bound + relative * std::abs(y);
}

template <class T>
T nan_to_num(T x, T nan, T positive, T negative) {
  if (is_nan(x)) return nan;
  if (is_infinite(x)) return x > T{} ? positive : negative;
  return x;
}

template <class T>
T x_log_y(T x, T y) {
  if (is_nan(y)) return y;
  return x == T{} ? x : x * std::log(y);
}

void x_log_y_block(void *out, const void *const *in, int64_t count, const void *) {
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  auto *to = static_cast<float *>(out);
  float value[kBlock];
  float_kernel_fn(FloatKernel::log)(y, count, nullptr, value);
  for (int64_t i = 0; i < count; ++i) value[i] *= x[i];
  for (int64_t i = 0; i < count; ++i) value[i] = x[i] == 0 ? x[i] : value[i];
  for (int64_t i = 0; i < count; ++i) to[i] = is_nan(y[i]) ? y[i] : value[i];
}

template <class T>
T x_log1p_y(T x, T y) {
  if (is_nan(y)) return y;
  return x == T{} ? T{} : x * std::log1p(y);
}

// A polynomial of the logarithm (Giles 2010) and two steps of Newton, in float64: the result is
// within one unit of float32 also where erf is nearly 0 or 1.
double erf_inverse_wide(double x) {
  constexpr double kHalfRootPi = 0.88622692545275801365;
  static constexpr double kNear[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                     -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                     -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kFar[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                    -0.00367342844,  0.00573950773,  -0.0076224613,
                                    0.00943887047,   1.00167406,     2.83297682};
  const double size = std::abs(x);
  if (size == 1.0) return std::copysign(std::numeric_limits<double>::infinity(), x);
  if (!(size < 1.0)) return std::numeric_limits<double>::quiet_NaN();
  const double w = -std::log((1.0 - size) * (1.0 + size));
  const bool near = w < 5.0;
  const double at = near ? w - 2.5 : std::sqrt(w) - 3.0;
  double y = 0.0;
  for (const double c : near ? kNear : kFar) y = y * at + c;
  y *= size;
  for (int step = 0; step < 2; ++step) {
    const double off = size < 0.5 ? size - std::erf(y) : std::erfc(y) - (1.0 - size);
    y += off * kHalfRootPi * std::exp(y * y);
  }
  return std::copysign(y, x);
}
template <class T>
T erf_inverse(T x) {
  return static_cast<T>(erf_inverse_wide(static_cast<double>(x)));
}

}  // namespace

EMU_UNARY_PAIR(Erfinv, kToFloat, types::bit(Compute::F32), erf_inverse(x))

EMU_FORMULA(IsClose, (T x, T y, T a, T b, T c), close(x, y, a, b, c))
EMU_ROW(IsClose, IsClose, kToBool | kToFloat | kOneDtype, types::kFloat, 2, 3,
        (const aclTensor *self, const aclTensor *other, double rtol, double atol, bool equalNan,
         aclTensor *out),
        elementwise, {self, other, number(rtol), number(atol), number(equalNan)}, out)

EMU_FORMULA_XABC(NanToNum, nan_to_num(x, a, b, c))
EMU_ROW(NanToNum, NanToNum, kExact, types::kReal, 1, 3,
        (const aclTensor *self, float nan, float posinf, float neginf, aclTensor *out), elementwise,
        {self, number(nan), number(posinf), number(neginf)}, out)
EMU_ROW(InplaceNanToNum, NanToNum, kKeep, types::kReal, 1, 3,
        (aclTensor *selfRef, float nan, float posinf, float neginf), elementwise_in_place,
        {selfRef, number(nan), number(posinf), number(neginf)}, selfRef)

EMU_BINARY(Heaviside, kExact | kOneDtype, types::kFloat,
           is_nan(x)  ? x
           : x == T{} ? y
           : x < T{}  ? T(0)
                      : T(1))

EMU_FORMULA_XY(XLogY, x_log_y(x, y))
EMU_FORMULA_XY(XLogYOf, x_log_y(y, x))
EMU_FLOAT_BLOCK(XLogY, types::kFloat, 2, 0, x_log_y_block)
EMU_BINARY_OF(XLogYTensor, XLogY, kToFloat | kAnyResult, types::kFloat)
EMU_BINARY_INPLACE_OF(InplaceXLogYTensor, XLogY, kToFloat | kAnyResult, types::kFloat)
EMU_SCALAR_OF(XLogYScalarOther, XLogY, kToFloat, types::kFloat)
EMU_SCALAR_INPLACE_OF(InplaceXLogYScalarOther, XLogY, kToFloat, types::kFloat)
EMU_SCALAR_FIRST_OF(XLogYScalarSelf, XLogYOf, kToFloat, types::kFloat)

EMU_FORMULA_XY(Xlog1py, x_log1p_y(x, y))
EMU_OPERATOR(Xlog1py, (const aclTensor *x, const aclTensor *y, aclTensor *z)) {
  static constexpr ElementwiseRow row = {"aclnnXlog1py",
                                         &block_table<Xlog1pyFormula, types::kFloat, 2, 0>,
                                         kExact | kOneDtype | kPlain};
  Check check(row.op);
  check.required("x", x).required("y", y).required("z", z);
  check.that(chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  if (!check.ok()) return check.status();
  return elementwise(row, {x, y}, z, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
