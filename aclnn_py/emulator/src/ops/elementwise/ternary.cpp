// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Formulas of three tensors, and interpolation.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_MEET_IN(Addcmul, ~dtype_set(ACL_INT16, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128))
EMU_DIRECT(Addcmul)
EMU_FORMULA_XYZA(Addcmul, plus(x, times(a, times(y, z))))
EMU_TERNARY_VALUE_OF(Addcmul, Addcmul, kPlain, types::kReal)
EMU_TERNARY_VALUE_INPLACE_OF(InplaceAddcmul, Addcmul, kPlain, types::kReal)

EMU_DIRECT(Addcdiv)
EMU_FORMULA_XYZA(Addcdiv, plus(x, times(a, divide_any(y, z))))
EMU_TERNARY_VALUE_OF(Addcdiv, Addcdiv, kKeep, types::kReal)
EMU_TERNARY_VALUE_INPLACE_OF(InplaceAddcdiv, Addcdiv, kKeep, types::kReal)

EMU_FORMULA_XYZ(Lerp, lerp(x, y, z))
EMU_TERNARY_OF(Lerp, Lerp, kExact | kOneDtype, types::kFloat)
EMU_TERNARY_INPLACE_OF(InplaceLerp, Lerp, kKeep | kOneDtype, types::kFloat)
EMU_BINARY_ALPHA_OF(Lerps, Lerp, kAnyResult | kOneDtype, types::kFloat)
EMU_BINARY_ALPHA_INPLACE_OF(InplaceLerps, Lerp, kKeep | kOneDtype, types::kFloat)

}  // namespace emu
