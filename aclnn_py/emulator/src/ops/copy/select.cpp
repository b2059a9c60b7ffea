// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Choice by a truth value: where and masked fill.
#include "aclnnop/conversion.h"
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_FORMULA_XYZ(Where, truth(x) ? y : z)
EMU_OPERATOR(SWhere, (const aclTensor *condition, const aclTensor *self, const aclTensor *other,
                      aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnSWhere", &block_table<WhereFormula, types::kAll, 3, 0>,
                                         kKeep | kCondition};
  Check check(row.op);
  check.required("condition", condition);
  if (check.ok()) check.dtype_in("condition", condition->dtype, dtype_set(ACL_BOOL, ACL_UINT8));
  if (!check.ok()) return check.status();
  return elementwise(row, {condition, self, other}, out, workspaceSize, executor);
} EMU_CATCH

EMU_FORMULA_XYA(MaskedFill, truth(y) ? a : x)
EMU_ROW(InplaceMaskedFillScalar, MaskedFill, kKeep | kLeadShape, types::kReal, 2, 1,
        (aclTensor *selfRef, const aclTensor *mask, const aclScalar *value), elementwise_in_place,
        {selfRef, mask, attribute(value)}, selfRef)
EMU_ROW(InplaceMaskedFillTensor, MaskedFill, kKeep | kLeadShape, types::kReal, 3, 0,
        (aclTensor *selfRef, const aclTensor *mask, const aclTensor *value), elementwise_in_place,
        {selfRef, mask, value}, selfRef)

}  // namespace emu
