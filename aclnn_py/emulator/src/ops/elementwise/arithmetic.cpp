// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Sums, differences and products.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/sum_blocks.h"

namespace emu {

EMU_DIRECT(Add)
EMU_FORMULA_XYA(Add, plus(x, times(y, a)))
template <>
inline constexpr BlockTable block_table<AddFormula, types::kNumber, 2, 1> =
    with_complex_sums<false>(make_blocks<AddFormula, types::kNumber, 2, 1>());
EMU_BINARY_ALPHA_OF(Add, Add, kKeep, types::kNumber)
EMU_BINARY_ALPHA_INPLACE_OF(InplaceAdd, Add, kKeep, types::kNumber)
template <>
inline constexpr BlockTable block_table<AddFormula, types::kNumber, 1, 2> =
    with_complex_sums_of_one<SumOfOne::kPlus>(make_blocks<AddFormula, types::kNumber, 1, 2>());
EMU_SCALAR_ALPHA_OF(Adds, Add, kKeep, types::kNumber)
EMU_SCALAR_ALPHA_INPLACE_OF(InplaceAdds, Add, kAlikeScalars, types::kNumber)

// The scalar stands in front: the formula's x is the tensor, a the scalar, b the factor.
EMU_MEET_IN(AddV3, dtype_set(ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT32))
EMU_DIRECT(AddV3)
EMU_FORMULA_XAB(AddV3, plus(a, times(b, x)))
EMU_ROW(AddV3, AddV3, kFreeScalars, types::kReal, 1, 2,
        (const aclScalar *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out),
        elementwise, {self, other, attribute(alpha)}, out)
EMU_ROW(InplaceAddV3, AddV3, kFreeScalars, types::kReal, 1, 2,
        (const aclScalar *self, aclTensor *otherRef, const aclScalar *alpha), elementwise_in_place,
        {self, otherRef, attribute(alpha)}, otherRef)

EMU_DIRECT(Sub)
EMU_FORMULA_XYA(Sub, minus(x, times(y, a)))
template <>
inline constexpr BlockTable block_table<SubFormula, types::kNumber, 2, 1> =
    with_complex_sums<true>(make_blocks<SubFormula, types::kNumber, 2, 1>());
EMU_BINARY_ALPHA_OF(Sub, Sub, kKeep, types::kNumber)
EMU_BINARY_ALPHA_INPLACE_OF(InplaceSub, Sub, kKeep, types::kNumber)
template <>
inline constexpr BlockTable block_table<SubFormula, types::kNumber, 1, 2> =
    with_complex_sums_of_one<SumOfOne::kMinus>(make_blocks<SubFormula, types::kNumber, 1, 2>());
EMU_SCALAR_ALPHA_OF(Subs, Sub, kKeep, types::kNumber)
EMU_SCALAR_ALPHA_INPLACE_OF(InplaceSubs, Sub, kKeep, types::kNumber)

EMU_DIRECT(Rsub)
EMU_BINARY_ALPHA(Rsub, kKeep, types::kNumber, minus(y, times(x, a)))
template <>
inline constexpr BlockTable block_table<RsubFormula, types::kNumber, 1, 2> =
    with_complex_sums_of_one<SumOfOne::kFromNumber>(
        make_blocks<RsubFormula, types::kNumber, 1, 2>());
EMU_SCALAR_ALPHA_OF(Rsubs, Rsub, kKeep, types::kNumber)

EMU_DIRECT(Mul)
EMU_BINARY(Mul, kKeep, types::kNumber, times(x, y))
EMU_BINARY_INPLACE_OF(InplaceMul, Mul, kKeep, types::kNumber)
EMU_SCALAR_OF(Muls, Mul, kFloatScalar, types::kNumber)
EMU_SCALAR_INPLACE_OF(InplaceMuls, Mul, kFloatScalar, types::kNumber)

}  // namespace emu
