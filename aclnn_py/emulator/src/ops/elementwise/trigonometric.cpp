// SPDX-License-Identifier: Apache-2.0
// Trigonometric and hyperbolic functions. Integers and bool are computed in float32.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

// The whole part is taken off first, which is exact, so that the sine is right for a large x too.
template <class T>
T sinc(T x) {
  if (x == T{}) return T(1);
  const T whole = std::nearbyint(x);
  const T sine = std::sin(T(3.14159265358979323846) * (x - whole));
  return (std::fmod(whole, T(2)) == T{} ? sine : -sine) / (T(3.14159265358979323846) * x);
}

}  // namespace

EMU_FLOAT_KERNEL(Tanh, tanh)

EMU_UNARY_PAIR(Sin, kToFloat | kAnyResult, types::kFloat | types::kComplex, std::sin(x))
EMU_UNARY_PAIR(Cos, kToFloat | kAnyResult, types::kFloat | types::kComplex, std::cos(x))
EMU_UNARY_PAIR(Tan, kToFloat, types::kFloat | types::kComplex, std::tan(x))
EMU_UNARY_PAIR(Asin, kToFloat, types::kFloat, std::asin(x))
EMU_UNARY_PAIR(Acos, kToFloat, types::kFloat, std::acos(x))
EMU_UNARY_PAIR(Atan, kToFloat, types::kFloat, std::atan(x))
EMU_UNARY_PAIR(Sinh, kToFloat | kAnyResult, types::kFloat | types::kComplex, std::sinh(x))
EMU_UNARY_PAIR(Cosh, kToFloat | kAnyResult | kPlain, types::kFloat | types::kComplex, std::cosh(x))
EMU_UNARY_PAIR(Tanh, kToFloat | kPlainFirst, types::kFloat, std::tanh(x))
EMU_UNARY_PAIR(Asinh, kToFloat | kAnyResult | kPlain, types::kFloat | types::kComplex,
               std::asinh(x))
EMU_UNARY_PAIR(Acosh, kToFloat | kPlain, types::kFloat | types::kComplex, std::acosh(x))
EMU_UNARY_PAIR(Atanh, kToFloat | kAnyResult, types::kFloat | types::kComplex, std::atanh(x))
EMU_UNARY_PAIR(Sinc, kToFloat, types::kFloat, sinc(x))

EMU_BINARY(Atan2, kToFloat | kAnyResult, types::kFloat, std::atan2(x, y))
EMU_BINARY_INPLACE_OF(InplaceAtan2, Atan2, kToFloat | kAnyResult, types::kFloat)

}  // namespace emu
