// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Signs, magnitudes and rounding.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_UNARY(Abs, kExact | kPlainFirst, types::kNumber, absolute(x))
EMU_UNARY_PAIR(Neg, kKeep, types::kNumber, negate(x))
EMU_UNARY(Square, kExact | kPlainFirst, types::kReal, times(x, x))
EMU_UNARY(Signbit, kToBool, types::kReal | types::kUnsigned, sign_bit(x))
EMU_UNARY_PAIR(Round, kExact | kPlain, types::kReal, round_half_even(x))
EMU_UNARY_PAIR(Ceil, kExact, types::kFloat, round_up(x))
EMU_UNARY_PAIR(Trunc, kExact, types::kFloat, round_to_zero(x))
EMU_UNARY_PAIR(Frac, kExact, types::kReal, minus(x, round_to_zero(x)))

EMU_UNARY_PAIR(Floor, kExact | kPlain, types::kReal | types::kUnsigned, round_down(x))

EMU_FORMULA_X(Sign, sign(x))
EMU_ROW(Sign, Sign, kExact, types::kNumber, 1, 0, (const aclTensor *self, aclTensor *result),
        elementwise, {self}, result)

}  // namespace emu
