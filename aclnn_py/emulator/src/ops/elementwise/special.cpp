// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Formulas with plain numbers among their parameters, and x*log(y).
#include "aclnnop/activation.h"
#include "aclnnop/math.h"
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

}  // namespace

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
EMU_BINARY_OF(XLogYTensor, XLogY, kToFloat | kAnyResult, types::kFloat)
EMU_BINARY_INPLACE_OF(InplaceXLogYTensor, XLogY, kToFloat | kAnyResult, types::kFloat)
EMU_SCALAR_OF(XLogYScalarOther, XLogY, kToFloat, types::kFloat)
EMU_SCALAR_INPLACE_OF(InplaceXLogYScalarOther, XLogY, kToFloat, types::kFloat)
EMU_SCALAR_FIRST_OF(XLogYScalarSelf, XLogYOf, kToFloat, types::kFloat)

}  // namespace emu
