// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Signs, magnitudes and rounding.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_UNARY(Abs, kKeep, types::kNumber, absolute(x))
EMU_UNARY_PAIR(Neg, kKeep, types::kNumber, negate(x))
EMU_UNARY(Square, kKeep, types::kReal, times(x, x))
EMU_UNARY(Signbit, kToBool, types::kReal | types::kUnsigned, sign_bit(x))
EMU_UNARY_PAIR(Round, kKeep, types::kReal, round_half_even(x))
EMU_UNARY_PAIR(Ceil, kKeep, types::kFloat, round_up(x))
EMU_UNARY_PAIR(Trunc, kKeep, types::kFloat, round_to_zero(x))
EMU_UNARY_PAIR(Frac, kKeep, types::kReal, minus(x, round_to_zero(x)))

// Programs written for CANN expect FLOAT16 to be turned away here, though the documents list it.
EMU_FORMULA_X(Floor, round_down(x))
EMU_UNARY_NARROW_OF(Floor, Floor, kKeep, types::kReal | types::kUnsigned, dtype_set(ACL_FLOAT16))
EMU_UNARY_INPLACE_NARROW_OF(InplaceFloor, Floor, kKeep, types::kReal | types::kUnsigned,
                            dtype_set(ACL_FLOAT16))

EMU_FORMULA_X(Sign, sign(x))
EMU_ROW(Sign, Sign, kKeep, types::kNumber, 1, 0, (const aclTensor *self, aclTensor *result), elementwise,
        {self}, result)

}  // namespace emu
