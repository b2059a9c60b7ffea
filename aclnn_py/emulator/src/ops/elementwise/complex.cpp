// SPDX-License-Identifier: Apache-2.0
// Complex numbers from their parts.
#include "aclnnop/math.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_FORMULA_XY(Complex, std::complex<T>(x, y))
EMU_ROW(Complex, Complex, kOneDtype | kExact | kPlainFirst, types::kFloat, 2, 0,
        (const aclTensor *real, const aclTensor *imag, aclTensor *out), elementwise, {real, imag},
        out)

}  // namespace emu
