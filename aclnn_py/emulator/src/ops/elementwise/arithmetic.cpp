// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Sums, differences and products.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_BINARY_ALPHA(Add, kKeep, types::kNumber, plus(x, times(y, a)))
EMU_BINARY_ALPHA_INPLACE_OF(InplaceAdd, Add, kKeep, types::kNumber)
EMU_SCALAR_ALPHA_OF(Adds, Add, kKeep, types::kNumber)
EMU_SCALAR_ALPHA_INPLACE_OF(InplaceAdds, Add, kAlikeScalars, types::kNumber)

EMU_BINARY_ALPHA(Sub, kKeep, types::kNumber, minus(x, times(y, a)))
EMU_BINARY_ALPHA_INPLACE_OF(InplaceSub, Sub, kKeep, types::kNumber)
EMU_SCALAR_ALPHA_OF(Subs, Sub, kKeep, types::kNumber)
EMU_SCALAR_ALPHA_INPLACE_OF(InplaceSubs, Sub, kKeep, types::kNumber)

EMU_BINARY_ALPHA(Rsub, kKeep, types::kNumber, minus(y, times(x, a)))
EMU_SCALAR_ALPHA_OF(Rsubs, Rsub, kKeep, types::kNumber)

EMU_BINARY(Mul, kKeep, types::kNumber, times(x, y))
EMU_BINARY_INPLACE_OF(InplaceMul, Mul, kKeep, types::kNumber)
EMU_SCALAR_OF(Muls, Mul, kFloatScalar, types::kNumber)
EMU_SCALAR_INPLACE_OF(InplaceMuls, Mul, kFloatScalar, types::kNumber)

}  // namespace emu
