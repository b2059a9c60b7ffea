// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Exponentials, logarithms, roots and error functions. Integers and bool are computed in float32.
#include "aclnnop/activation.h"
#include "aclnnop/math.h"
#include "ops/elementwise/activation_blocks.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/quotient_blocks.h"
#include "ops/elementwise/rows.h"
#include "ops/vector_math.h"

namespace emu {

EMU_FLOAT_KERNEL(Exp, exp)
EMU_FLOAT_KERNEL(Exp2, exp2)
EMU_FLOAT_KERNEL(Expm1, expm1)
EMU_FLOAT_KERNEL(Log, log)
EMU_FLOAT_KERNEL(Log2, log2)
EMU_FLOAT_KERNEL(Log10, log10)
EMU_FLOAT_KERNEL(Log1p, log1p)
EMU_FLOAT_KERNEL(Erf, erf)
EMU_FLOAT_KERNEL(Erfc, erfc)

EMU_DOUBLE_BLOCK(Exp, wide_block<WideFunction::exp>)
EMU_DOUBLE_BLOCK(Exp2, wide_block<WideFunction::exp2>)
EMU_DOUBLE_BLOCK(Log, wide_block<WideFunction::log>)
EMU_DOUBLE_BLOCK(Log2, wide_block<WideFunction::log2>)
EMU_DOUBLE_BLOCK(Log10, wide_block<WideFunction::log10>)
EMU_DOUBLE_BLOCK(Log1p, wide_block<WideFunction::log1p>)
EMU_DOUBLE_BLOCK(Erf, wide_block<WideFunction::erf>)
EMU_DOUBLE_BLOCK(Erfc, wide_block<WideFunction::erfc>)

EMU_UNARY_PAIR(Exp, kToFloat, types::kFloat | types::kComplex, std::exp(x))
EMU_UNARY_PAIR(Exp2, kToFloat, types::kFloat, std::exp2(x))
EMU_UNARY_PAIR(Expm1, kToFloat, types::kFloat, std::expm1(x))
EMU_UNARY_PAIR(Log, kToFloat, types::kFloat | types::kComplex, std::log(x))
EMU_UNARY_PAIR(Log2, kToFloat, types::kFloat | types::kComplex, log2_of(x))
EMU_UNARY_PAIR(Log10, kToFloat | kExact, types::kFloat | types::kComplex, std::log10(x))
EMU_UNARY_PAIR(Log1p, kToFloat, types::kFloat, std::log1p(x))
EMU_UNARY_PAIR(Sqrt, kToFloat, types::kFloat | types::kComplex, std::sqrt(x))
EMU_FORMULA_X(Rsqrt, T(1) / std::sqrt(x))
EMU_FORMULA_X(Reciprocal, T(1) / x)
constexpr unsigned kInverse = types::kFloat | types::kComplex;
template <>
inline constexpr BlockTable block_table<RsqrtFormula, kInverse, 1, 0> =
    with_complex_inverses<true>(make_blocks<RsqrtFormula, kInverse, 1, 0>());
template <>
inline constexpr BlockTable block_table<ReciprocalFormula, kInverse, 1, 0> =
    with_complex_inverses<false>(make_blocks<ReciprocalFormula, kInverse, 1, 0>());
EMU_UNARY_OF(Rsqrt, Rsqrt, kToFloat | kAnyResult, kInverse)
EMU_UNARY_INPLACE_OF(InplaceRsqrt, Rsqrt, kToFloat | kAnyResult, kInverse)
EMU_UNARY_OF(Reciprocal, Reciprocal, kToFloat | kAnyResult | kPlain, kInverse)
EMU_UNARY_INPLACE_OF(InplaceReciprocal, Reciprocal, kToFloat | kAnyResult | kPlain, kInverse)
EMU_UNARY_PAIR(Erf, kToFloat, types::kFloat, std::erf(x))
EMU_UNARY_PAIR(Erfc, kToFloat, types::kFloat, std::erfc(x))

EMU_FORMULA_XY(LogAddExp, log_add_exp(x, y))
EMU_FORMULA_XY(LogAddExp2, log_add_exp2(x, y))
EMU_FLOAT_BLOCK(LogAddExp, types::kFloat, 2, 0, log_add_exp_block)
EMU_FLOAT_BLOCK(LogAddExp2, types::kFloat, 2, 0, log_add_exp2_block)
EMU_BINARY_OF(LogAddExp, LogAddExp, kToFloat | kPlainFirst, types::kFloat)
EMU_BINARY_OF(LogAddExp2, LogAddExp2, kToFloat | kPlainFirst, types::kFloat)

}  // namespace emu
