// SPDX-License-Identifier: Apache-2.0
// Quotients, remainders and powers. Division of integers by zero gives 0.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

constexpr unsigned kQuotient = types::kFloat | types::kComplex;

EMU_BINARY(Div, kToFloat, kQuotient, x / y)
EMU_BINARY_INPLACE_OF(InplaceDiv, Div, kToFloat, kQuotient)
EMU_SCALAR_OF(Divs, Div, kToFloat, kQuotient)
EMU_SCALAR_INPLACE_OF(InplaceDivs, Div, kToFloat, kQuotient)

EMU_FORMULA_XY(DivTrunc, divide_trunc(x, y))
EMU_FORMULA_XY(DivFloor, divide_floor(x, y))

// The rows of a division with a rounding mode: 0 true division, 1 towards zero, 2 downwards.
#define EMU_DIV_MODE(NAME, TENSORS, SCALARS, PARAMETERS, BODY, OTHER, FIRST, OUT)                         \
  EMU_OPERATOR(NAME, PARAMETERS) {                                                                        \
    static constexpr ElementwiseRow rows[] = {                                                            \
        {"aclnn" #NAME, &block_table<DivFormula, kQuotient, TENSORS, SCALARS>, kToFloat},                 \
        {"aclnn" #NAME, &block_table<DivTruncFormula, types::kReal, TENSORS, SCALARS>, kKeep},            \
        {"aclnn" #NAME, &block_table<DivFloorFormula, types::kReal, TENSORS, SCALARS>, kKeep},            \
    };                                                                                                    \
    Check check("aclnn" #NAME);                                                                           \
    check.required(check.facts().name(0), FIRST).required("other", OTHER);                                \
    check.that(mode >= 0 && mode <= 2, "mode is %d; allowed: 0 (true), 1 (trunc), 2 (floor)", mode);      \
    if (!check.ok()) return check.status();                                                               \
    return BODY(rows[mode], {FIRST, OTHER, skipped()}, OUT, workspaceSize, executor);                     \
  }

EMU_DIV_MODE(DivMod, 2, 0, (const aclTensor *self, const aclTensor *other, int mode, aclTensor *out),
             elementwise, other, self, out)
EMU_DIV_MODE(DivMods, 1, 1, (const aclTensor *self, const aclScalar *other, int mode, aclTensor *out),
             elementwise, other, self, out)
EMU_DIV_MODE(InplaceDivMod, 2, 0, (aclTensor *selfRef, const aclTensor *other, int mode),
             elementwise_in_place, other, selfRef, selfRef)
EMU_DIV_MODE(InplaceDivMods, 1, 1, (aclTensor *selfRef, const aclScalar *other, int mode),
             elementwise_in_place, other, selfRef, selfRef)

EMU_BINARY_OF(FloorDivide, DivFloor, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceFloorDivide, DivFloor, kKeep, types::kReal)
EMU_SCALAR_OF(FloorDivides, DivFloor, kKeep, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceFloorDivides, DivFloor, kKeep, types::kReal)

EMU_FORMULA_XY(Fmod, mod_trunc(x, y))
EMU_BINARY_OF(FmodTensor, Fmod, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceFmodTensor, Fmod, kKeep, types::kReal)
EMU_SCALAR_OF(FmodScalar, Fmod, kKeep, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceFmodScalar, Fmod, kKeep, types::kReal)

EMU_FORMULA_XY(Remainder, mod_floor(x, y))
EMU_FORMULA_XY(RemainderOf, mod_floor(y, x))
EMU_BINARY_OF(RemainderTensorTensor, Remainder, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceRemainderTensorTensor, Remainder, kKeep, types::kReal)
EMU_SCALAR_OF(RemainderTensorScalar, Remainder, kKeep, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceRemainderTensorScalar, Remainder, kKeep, types::kReal)
EMU_SCALAR_FIRST_OF(RemainderScalarTensor, RemainderOf, kKeep, types::kReal)

EMU_FORMULA_XY(Pow, power(x, y))
EMU_FORMULA_XY(PowOf, power(y, x))
EMU_BINARY_OF(PowTensorTensor, Pow, kKeep, types::kNumber)
EMU_BINARY_INPLACE_OF(InplacePowTensorTensor, Pow, kKeep, types::kNumber)
EMU_SCALAR_OF(PowTensorScalar, Pow, kKeep, types::kNumber)
EMU_SCALAR_INPLACE_OF(InplacePowTensorScalar, Pow, kKeep, types::kNumber)
EMU_SCALAR_FIRST_OF(PowScalarTensor, PowOf, kKeep, types::kNumber)

}  // namespace emu
