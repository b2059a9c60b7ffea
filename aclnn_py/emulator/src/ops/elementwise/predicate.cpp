// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Questions about elements, and logic. The result is BOOL, which the out parameter may widen.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_DIRECT(IsFinite)
EMU_UNARY(IsFinite, kToBool, types::kNumber, is_finite(x))
EMU_DIRECT(IsInf)
EMU_UNARY(IsInf, kToBool, types::kReal, is_infinite(x))
EMU_DIRECT(IsPosInf)
EMU_UNARY(IsPosInf, kToBool, types::kReal, is_infinite(x) && x > T{})
EMU_DIRECT(IsNegInf)
EMU_UNARY(IsNegInf, kToBool, types::kReal, is_infinite(x) && x < T{})

EMU_DIRECT(LogicalNot)
EMU_UNARY_PAIR(LogicalNot, kToBool, types::kReal, !truth(x))
EMU_DIRECT(LogicalAnd)
EMU_BINARY(LogicalAnd, kToBool, types::kNumber, truth(x) && truth(y))
EMU_BINARY_INPLACE_OF(InplaceLogicalAnd, LogicalAnd, kToBool, types::kNumber)
EMU_DIRECT(LogicalOr)
EMU_BINARY(LogicalOr, kToBool, types::kNumber, truth(x) || truth(y))
EMU_BINARY_INPLACE_OF(InplaceLogicalOr, LogicalOr, kToBool, types::kNumber)
EMU_DIRECT(LogicalXor)
EMU_BINARY(LogicalXor, kToBool, types::kNumber, truth(x) != truth(y))

}  // namespace emu
