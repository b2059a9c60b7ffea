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
  static constexpr ElementwiseRow row = {
      "aclnnSWhere", &block_table<WhereFormula, types::kAll, 3, 0>, kKeep | kCondition};
  Check check(row.op);
  check.required("condition", condition);
  if (check.ok()) check.dtype_in("condition", condition->dtype, dtype_set(ACL_BOOL, ACL_UINT8));
  if (!check.ok()) return check.status();
  return elementwise(row, {condition, self, other}, out, workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XYA(MaskedFill, truth(y) ? a : x)
EMU_ROW(InplaceMaskedFillScalar, MaskedFill, kKeep | kLeadShape | kLeadDtype | kCastScalars,
        types::kReal, 2, 1, (aclTensor *selfRef, const aclTensor *mask, const aclScalar *value),
        elementwise_in_place, {selfRef, mask, attribute(value)}, selfRef)
EMU_OPERATOR(InplaceMaskedFillTensor,
             (aclTensor *selfRef, const aclTensor *mask, const aclTensor *value)) {
  static constexpr ElementwiseRow row = {"aclnnInplaceMaskedFillTensor",
                                         &block_table<MaskedFillFormula, types::kReal, 3, 0>,
                                         kKeep | kLeadShape | kLeadDtype};
  Check check(row.op);
  check.required("selfRef", selfRef).required("mask", mask).required("value", value);
  check.dtype("selfRef", selfRef)
      .dtype("mask", mask)
      .dtype("value", value)
      .rank("value", value, 0, 0);
  if (!check.ok()) return check.status();
  return elementwise_in_place(row, {selfRef, mask, value}, selfRef, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
