// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Trigonometric and hyperbolic functions. Integers and bool are computed in float32.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/sinc_block.h"
#include "ops/vector_math.h"

namespace emu {

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

EMU_DOUBLE_BLOCK(Sin, wide_block<WideFunction::sin>)
EMU_DOUBLE_BLOCK(Cos, wide_block<WideFunction::cos>)
EMU_DOUBLE_BLOCK(Tan, wide_block<WideFunction::tan>)
EMU_DOUBLE_BLOCK(Asin, wide_block<WideFunction::asin>)
EMU_DOUBLE_BLOCK(Acos, wide_block<WideFunction::acos>)
EMU_DOUBLE_BLOCK(Atan, wide_block<WideFunction::atan>)
EMU_DOUBLE_BLOCK(Sinh, wide_block<WideFunction::sinh>)
EMU_DOUBLE_BLOCK(Cosh, wide_block<WideFunction::cosh>)
EMU_DOUBLE_BLOCK(Asinh, wide_block<WideFunction::asinh>)
EMU_DOUBLE_BLOCK(Acosh, wide_block<WideFunction::acosh>)
EMU_DOUBLE_BLOCK(Atanh, wide_block<WideFunction::atanh>)

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

// Rows that have loops of their own in both types, and so no formula.
namespace {
struct SincFormula;
struct Atan2Formula;
}  // namespace
template <>
inline constexpr BlockTable block_table<SincFormula, types::kFloat, 1, 0> =
    with_doubles(with_floats(BlockTable{}, sinc_block<float>), sinc_block<double>);
EMU_UNARY_OF(Sinc, Sinc, kToFloat, types::kFloat)
EMU_UNARY_INPLACE_OF(InplaceSinc, Sinc, kToFloat, types::kFloat)

namespace {
void angle_block(void *out, const void *const *in, int64_t count, const void *) {
  float_kernels().atan2(static_cast<const float *>(in[0]), static_cast<const float *>(in[1]), count,
                        static_cast<float *>(out));
}
void wide_angle_block(void *out, const void *const *in, int64_t count, const void *) {
  wide_atan2(static_cast<const double *>(in[0]), static_cast<const double *>(in[1]), count,
             static_cast<double *>(out));
}
}  // namespace
template <>
inline constexpr BlockTable block_table<Atan2Formula, types::kFloat, 2, 0> =
    with_doubles(with_floats(BlockTable{}, angle_block), wide_angle_block);
EMU_BINARY_OF(Atan2, Atan2, kToFloat | kAnyResult, types::kFloat)
EMU_BINARY_INPLACE_OF(InplaceAtan2, Atan2, kToFloat | kAnyResult, types::kFloat)

}  // namespace emu
