// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Extremes of pairs, and bounds. NaN propagates.
#include "aclnnop/conversion.h"
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_BINARY(Maximum, kKeep, types::kReal, maximum(x, y))
EMU_BINARY(Minimum, kKeep, types::kReal, minimum(x, y))

EMU_SCALAR_OF(ClampMin, Maximum, kKeep, types::kReal)
EMU_SCALAR_OF(ClampMax, Minimum, kKeep, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceClampMax, Minimum, kKeep, types::kReal)
EMU_BINARY_OF(ClampMinTensor, Maximum, kKeep, types::kReal)
EMU_BINARY_OF(ClampMaxTensor, Minimum, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceClampMinTensor, Maximum, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceClampMaxTensor, Minimum, kKeep, types::kReal)

EMU_FORMULA_XYZ(Clamp, clamp(x, y, z))
EMU_TERNARY_OF(ClampTensor, Clamp, kKeep, types::kReal)

// Either bound may be null, not both.
EMU_OPERATOR(Clamp, (const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax,
                     aclTensor *out)) {
  static constexpr ElementwiseRow both = {"aclnnClamp", &block_table<ClampFormula, types::kReal, 1, 2>, kKeep};
  static constexpr ElementwiseRow low = {"aclnnClamp", &block_table<MaximumFormula, types::kReal, 1, 1>, kKeep};
  static constexpr ElementwiseRow high = {"aclnnClamp", &block_table<MinimumFormula, types::kReal, 1, 1>, kKeep};
  if (clipValueMin == nullptr && clipValueMax != nullptr) {
    return elementwise(high, {self, skipped(), clipValueMax}, out, workspaceSize, executor);
  }
  if (clipValueMin != nullptr && clipValueMax == nullptr) {
    return elementwise(low, {self, clipValueMin, skipped()}, out, workspaceSize, executor);
  }
  return elementwise(both, {self, clipValueMin, clipValueMax}, out, workspaceSize, executor);
}

EMU_ROW(Hardtanh, Clamp, kKeep, types::kReal, 1, 2,
        (const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax, aclTensor *out),
        elementwise, {self, clipValueMin, clipValueMax}, out)
EMU_ROW(InplaceHardtanh, Clamp, kKeep, types::kReal, 1, 2,
        (aclTensor *selfRef, const aclScalar *clipValueMin, const aclScalar *clipValueMax),
        elementwise_in_place, {selfRef, clipValueMin, clipValueMax}, selfRef)

}  // namespace emu
