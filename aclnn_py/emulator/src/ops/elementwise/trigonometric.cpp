// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math -fno-math-errno
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

EMU_FLOAT_KERNEL(Sin, sin)
EMU_FLOAT_KERNEL(Cos, cos)
EMU_FLOAT_KERNEL(Tan, tan)
EMU_FLOAT_KERNEL(Asin, asin)
EMU_FLOAT_KERNEL(Acos, acos)
EMU_FLOAT_KERNEL(Atan, atan)
EMU_FLOAT_KERNEL(Sinh, sinh)
EMU_FLOAT_KERNEL(Cosh, cosh)
EMU_FLOAT_KERNEL(Tanh, tanh)
EMU_FLOAT_KERNEL(Asinh, asinh)
EMU_FLOAT_KERNEL(Acosh, acosh)
EMU_FLOAT_KERNEL(Atanh, atanh)

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

EMU_FORMULA_XY(Atan2, std::atan2(x, y))
namespace {
void angle_block(void *out, const void *const *in, int64_t count, const void *) {
  float_kernels().atan2(static_cast<const float *>(in[0]), static_cast<const float *>(in[1]), count,
                        static_cast<float *>(out));
}
}  // namespace
EMU_FLOAT_BLOCK(Atan2, types::kFloat, 2, 0, angle_block)
EMU_BINARY_OF(Atan2, Atan2, kToFloat | kAnyResult, types::kFloat)
EMU_BINARY_INPLACE_OF(InplaceAtan2, Atan2, kToFloat | kAnyResult, types::kFloat)

}  // namespace emu
