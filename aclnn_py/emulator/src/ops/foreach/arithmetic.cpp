// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Arithmetic of lists with lists and with scalars.
#include "aclnnop/foreach.h"
#include "ops/foreach/foreach.h"

// The forms of one function of two operands: with a scalar on the device, on the host, and one
// each.
#define EMU_FOREACH_SCALARS(NAME, FORMULA, TYPES)               \
  EMU_FOREACH_SCALAR(NAME##Scalar, FORMULA, TYPES, aclTensor)   \
  EMU_FOREACH_SCALAR(NAME##ScalarV2, FORMULA, TYPES, aclScalar) \
  EMU_FOREACH_SCALAR(NAME##ScalarList, FORMULA, TYPES, aclScalarList)

namespace emu {

EMU_FORMULA_XY(Plus, plus(x, y))
EMU_FORMULA_XY(Minus, minus(x, y))
EMU_FORMULA_XY(Times, times(x, y))
EMU_FORMULA_XY(Quotient, x / y)
EMU_FORMULA_XY(Larger, maximum(x, y))
EMU_FORMULA_XY(Smaller, minimum(x, y))
EMU_FORMULA_XY(Power, power(x, y))

EMU_FOREACH_SCALARS(ForeachAdd, Plus, types::kReal)
EMU_FOREACH_SCALARS(ForeachSub, Minus, types::kReal)
EMU_FOREACH_SCALARS(ForeachMul, Times, types::kReal)
EMU_FOREACH_SCALARS(ForeachDiv, Quotient, types::kFloat)
EMU_FOREACH_SCALARS(ForeachMaximum, Larger, types::kReal)
EMU_FOREACH_SCALARS(ForeachMinimum, Smaller, types::kReal)
EMU_FOREACH_SCALARS(ForeachPow, Power, types::kReal)

EMU_FORMULA_XA(PowerOf, power(a, x))
EMU_FOREACH(ForeachPowScalarAndTensor, PowerOf, types::kReal, 1, 1,
            (const aclScalar *scalar, const aclTensorList *x, aclTensorList *out), (x), scalar, out)

EMU_FOREACH_LIST(ForeachMulList, Times, types::kReal)
EMU_FOREACH_LIST(ForeachDivList, Quotient, types::kFloat)
EMU_FOREACH_LIST(ForeachMaximumList, Larger, types::kReal)
EMU_FOREACH_LIST(ForeachMinimumList, Smaller, types::kReal)
EMU_FOREACH_LIST(ForeachPowList, Power, types::kReal)

EMU_FORMULA_XYA(PlusScaled, plus(x, times(y, a)))
EMU_FORMULA_XYA(MinusScaled, minus(x, times(y, a)))
EMU_FOREACH_ALPHA(ForeachAddList, PlusScaled, types::kReal, aclTensor)
EMU_FOREACH_ALPHA(ForeachAddListV2, PlusScaled, types::kReal, aclScalar)
EMU_FOREACH_ALPHA(ForeachSubList, MinusScaled, types::kReal, aclTensor)
EMU_FOREACH_ALPHA(ForeachSubListV2, MinusScaled, types::kReal, aclScalar)
EMU_FORMULA_XYA(Between, lerp(x, y, a))
EMU_FOREACH_ALPHA(ForeachLerpScalar, Between, types::kFloat, aclScalar)
EMU_FORMULA_XYZ(BetweenEach, lerp(x, y, z))
EMU_FOREACH(ForeachLerpList, BetweenEach, types::kFloat, 3, 0,
            (const aclTensorList *x1, const aclTensorList *x2, const aclTensorList *weight,
             aclTensorList *out),
            (x1, x2, weight), ForeachScalar(), out)

EMU_FORMULA_XYZA(PlusProduct, plus(x, times(a, times(y, z))))
EMU_FORMULA_XYZA(PlusQuotient, x + a * (y / z))
EMU_FOREACH_TERNARY(ForeachAddcmulScalar, PlusProduct, types::kReal, aclTensor, scalar)
EMU_FOREACH_TERNARY(ForeachAddcmulScalarV2, PlusProduct, types::kReal, aclScalar, scalar)
EMU_FOREACH_TERNARY(ForeachAddcmulScalarList, PlusProduct, types::kReal, aclTensor, each(scalar))
EMU_FOREACH_TERNARY(ForeachAddcmulList, PlusProduct, types::kReal, aclTensor, each(scalar))
EMU_FOREACH_TERNARY(ForeachAddcdivScalar, PlusQuotient, types::kFloat, aclTensor, scalar)
EMU_FOREACH_TERNARY(ForeachAddcdivScalarV2, PlusQuotient, types::kFloat, aclScalar, scalar)
EMU_FOREACH_TERNARY(ForeachAddcdivScalarList, PlusQuotient, types::kFloat, aclTensor, each(scalar))
EMU_FOREACH_TERNARY(ForeachAddcdivList, PlusQuotient, types::kFloat, aclTensor, each(scalar))

EMU_FOREACH(ForeachMulListInplace, Times, types::kReal, 2, 0,
            (aclTensorList *x1Ref, const aclTensorList *x2), (x1Ref, x2), ForeachScalar(), x1Ref)
EMU_FOREACH(ForeachDivListInplace, Quotient, types::kFloat, 2, 0,
            (aclTensorList *x1Ref, const aclTensorList *x2), (x1Ref, x2), ForeachScalar(), x1Ref)
EMU_FOREACH(ForeachAddListInplace, PlusScaled, types::kReal, 2, 1,
            (aclTensorList *x1Ref, const aclTensorList *x2, const aclTensor *alpha), (x1Ref, x2),
            alpha, x1Ref)
EMU_FOREACH(ForeachSubListInplace, MinusScaled, types::kReal, 2, 1,
            (aclTensorList *x1Ref, const aclTensorList *x2, const aclTensor *alpha), (x1Ref, x2),
            alpha, x1Ref)
EMU_FOREACH(ForeachMulScalarInplace, Times, types::kReal, 1, 1,
            (aclTensorList *xRef, const aclTensor *scalar), (xRef), scalar, xRef)
EMU_FOREACH(ForeachSubScalarInplace, Minus, types::kReal, 1, 1,
            (aclTensorList *xRef, const aclTensor *scalar), (xRef), scalar, xRef)

}  // namespace emu
