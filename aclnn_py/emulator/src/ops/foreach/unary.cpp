// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Functions of one list of tensors.
#include "aclnnop/foreach.h"
#include "ops/foreach/foreach.h"

namespace emu {

EMU_FLOAT_KERNEL(ForeachAcos, acos)
EMU_FLOAT_KERNEL(ForeachAsin, asin)
EMU_FLOAT_KERNEL(ForeachAtan, atan)
EMU_FLOAT_KERNEL(ForeachCos, cos)
EMU_FLOAT_KERNEL(ForeachCosh, cosh)
EMU_FLOAT_KERNEL(ForeachErf, erf)
EMU_FLOAT_KERNEL(ForeachErfc, erfc)
EMU_FLOAT_KERNEL(ForeachExp, exp)
EMU_FLOAT_KERNEL(ForeachExpm1, expm1)
EMU_FLOAT_KERNEL(ForeachLog, log)
EMU_FLOAT_KERNEL(ForeachLog10, log10)
EMU_FLOAT_KERNEL(ForeachLog1p, log1p)
EMU_FLOAT_KERNEL(ForeachLog2, log2)
EMU_FLOAT_KERNEL(ForeachSigmoid, sigmoid)
EMU_FLOAT_KERNEL(ForeachSin, sin)
EMU_FLOAT_KERNEL(ForeachSinh, sinh)
EMU_FLOAT_KERNEL(ForeachTan, tan)
EMU_FLOAT_KERNEL(ForeachTanh, tanh)

EMU_FOREACH_UNARY(ForeachAbs, types::kFloat, absolute(x))
EMU_FOREACH_UNARY(ForeachAcos, types::kFloat, std::acos(x))
EMU_FOREACH_UNARY(ForeachAsin, types::kFloat, std::asin(x))
EMU_FOREACH_UNARY(ForeachAtan, types::kFloat, std::atan(x))
EMU_FOREACH_UNARY(ForeachCopy, types::kAll, x)
EMU_FOREACH_UNARY(ForeachCos, types::kFloat, std::cos(x))
EMU_FOREACH_UNARY(ForeachCosh, types::kFloat, std::cosh(x))
EMU_FOREACH_UNARY(ForeachErf, types::kFloat, std::erf(x))
EMU_FOREACH_UNARY(ForeachErfc, types::kFloat, std::erfc(x))
EMU_FOREACH_UNARY(ForeachExp, types::kFloat, std::exp(x))
EMU_FOREACH_UNARY(ForeachExpm1, types::kFloat, std::expm1(x))
EMU_FOREACH_UNARY(ForeachLog, types::kFloat, std::log(x))
EMU_FOREACH_UNARY(ForeachLog10, types::kFloat, std::log10(x))
EMU_FOREACH_UNARY(ForeachLog1p, types::kFloat, std::log1p(x))
EMU_FOREACH_UNARY(ForeachLog2, types::kFloat, std::log2(x))
EMU_FOREACH_UNARY(ForeachNeg, types::kReal, negate(x))
EMU_FOREACH_UNARY(ForeachReciprocal, types::kFloat, T(1) / x)
EMU_FOREACH_UNARY(ForeachSigmoid, types::kFloat, sigmoid(x))
EMU_FOREACH_UNARY(ForeachSign, types::kReal, sign(x))
EMU_FOREACH_UNARY(ForeachSin, types::kFloat, std::sin(x))
EMU_FOREACH_UNARY(ForeachSinh, types::kFloat, std::sinh(x))
EMU_FOREACH_UNARY(ForeachSqrt, types::kFloat, std::sqrt(x))
EMU_FOREACH_UNARY(ForeachTan, types::kFloat, std::tan(x))
EMU_FOREACH_UNARY(ForeachTanh, types::kFloat, std::tanh(x))

EMU_FOREACH(ForeachACosInplace, ForeachAcos, types::kFloat, 1, 0, (aclTensorList *xRef), (xRef),
            ForeachScalar(), xRef)
EMU_FOREACH(ForeachLogInplace, ForeachLog, types::kFloat, 1, 0, (aclTensorList *xRef), (xRef),
            ForeachScalar(), xRef)

}  // namespace emu
