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

namespace {

bool above(const aclScalar &low, const aclScalar &high) {
  if (is_integer(low.dtype) && is_integer(high.dtype)) return low.to_int64() > high.to_int64();
  return low.to_double() > high.to_double();
}

// An interval that is upside down is refused, unlike by Clamp. Null and stale arguments are the row's to judge.
Status check_interval(const char *op, const aclScalar *low, const aclScalar *high) {
  Check check(op);
  if (live(low) && live(high)) {
    check.that(!above(*low, *high), "clipValueMin is %g and clipValueMax is %g; the first must not be greater",
               low->to_double(), high->to_double());
  }
  return check.status();
}

}  // namespace

EMU_OPERATOR(Hardtanh, (const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax,
                        aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnHardtanh", &block_table<ClampFormula, types::kReal, 1, 2>, kKeep};
  const Status refused = self && out ? check_interval(row.op, clipValueMin, clipValueMax) : 0;
  if (refused != 0) return refused;
  return elementwise(row, {self, clipValueMin, clipValueMax}, out, workspaceSize, executor);
}

EMU_OPERATOR(InplaceHardtanh, (aclTensor *selfRef, const aclScalar *clipValueMin, const aclScalar *clipValueMax)) {
  static constexpr ElementwiseRow row = {"aclnnInplaceHardtanh", &block_table<ClampFormula, types::kReal, 1, 2>,
                                         kKeep};
  const Status refused = selfRef ? check_interval(row.op, clipValueMin, clipValueMax) : 0;
  if (refused != 0) return refused;
  return elementwise_in_place(row, {selfRef, clipValueMin, clipValueMax}, selfRef, workspaceSize, executor);
}

}  // namespace emu
