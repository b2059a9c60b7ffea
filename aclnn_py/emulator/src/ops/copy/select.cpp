// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Choice by a truth value: where and masked fill.
#include "aclnnop/conversion.h"
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

#include <cstring>

namespace emu {
namespace {

// One of two elements by their bits: a branch would often be guessed wrongly.
template <class T>
T chosen(T condition, T yes, T no) {
  if constexpr (sizeof(T) == 4) {
    return truth(condition) ? yes : no;  // such loops run in registers as they are
  } else {
    constexpr size_t kParts = sizeof(T) / 8;
    const uint64_t mask = uint64_t{0} - (truth(condition) ? uint64_t{1} : uint64_t{0});
    uint64_t a[kParts], b[kParts];
    std::memcpy(a, &yes, sizeof(T));
    std::memcpy(b, &no, sizeof(T));
    for (size_t i = 0; i < kParts; ++i) a[i] = (a[i] & mask) | (b[i] & ~mask);
    std::memcpy(&yes, a, sizeof(T));
    return yes;
  }
}

}  // namespace

EMU_FORMULA_XYZ(Where, chosen(x, y, z))
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

EMU_FORMULA_XYA(MaskedFill, chosen(y, a, x))
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
