// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Extremes of pairs, and bounds. NaN propagates.
#include "aclnnop/conversion.h"
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

EMU_DIRECT(Maximum)
EMU_BINARY(Maximum, kKeep, types::kReal, maximum(x, y))
EMU_DIRECT(Minimum)
EMU_BINARY(Minimum, kKeep, types::kReal, minimum(x, y))

EMU_SCALAR_OF(ClampMin, Maximum, kKeep, types::kReal)
EMU_SCALAR_OF(ClampMax, Minimum, kKeep, types::kReal)
EMU_SCALAR_INPLACE_OF(InplaceClampMax, Minimum, kKeep, types::kReal)
EMU_BINARY_OF(ClampMinTensor, Maximum, kKeep, types::kReal)
EMU_BINARY_OF(ClampMaxTensor, Minimum, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceClampMinTensor, Maximum, kKeep, types::kReal)
EMU_BINARY_INPLACE_OF(InplaceClampMaxTensor, Minimum, kKeep, types::kReal)

EMU_DIRECT(Clamp)
EMU_FORMULA_XYZ(Clamp, clamp(x, y, z))

// Either bound may be null, not both.
#define EMU_CLAMP(NAME, BOUND, TENSORS, SCALARS)                                                   \
  EMU_OPERATOR(NAME, (const aclTensor *self, const BOUND *clipValueMin, const BOUND *clipValueMax, \
                      aclTensor *out)) {                                                           \
    static constexpr ElementwiseRow both = {                                                       \
        "aclnn" #NAME, &block_table<ClampFormula, types::kReal, 1 + 2 * TENSORS, 2 * SCALARS>,     \
        kKeep};                                                                                    \
    static constexpr ElementwiseRow low = {                                                        \
        "aclnn" #NAME, &block_table<MaximumFormula, types::kReal, 1 + TENSORS, SCALARS>, kKeep};   \
    static constexpr ElementwiseRow high = {                                                       \
        "aclnn" #NAME, &block_table<MinimumFormula, types::kReal, 1 + TENSORS, SCALARS>, kKeep};   \
    if (clipValueMin == nullptr && clipValueMax != nullptr) {                                      \
      return elementwise(high, {self, skipped(), clipValueMax}, out, workspaceSize, executor);     \
    }                                                                                              \
    if (clipValueMin != nullptr && clipValueMax == nullptr) {                                      \
      return elementwise(low, {self, clipValueMin, skipped()}, out, workspaceSize, executor);      \
    }                                                                                              \
    return elementwise(both, {self, clipValueMin, clipValueMax}, out, workspaceSize, executor);    \
  }                                                                                                \
  EMU_CATCH

EMU_CLAMP(Clamp, aclScalar, 0, 1)
EMU_CLAMP(ClampTensor, aclTensor, 1, 0)

namespace {

bool above(const aclScalar &low, const aclScalar &high) {
  if (is_integer(low.dtype) && is_integer(high.dtype)) return low.to_int64() > high.to_int64();
  return low.to_double() > high.to_double();
}

// An interval that is upside down is refused, unlike by Clamp. Null and stale arguments are the
// row's to judge.
Status check_interval(const char *op, const aclScalar *low, const aclScalar *high) {
  Check check(op);
  if (live(low) && live(high)) {
    check.that(!above(*low, *high),
               "clipValueMin is %g and clipValueMax is %g; the first must not be greater",
               low->to_double(), high->to_double());
  }
  return check.status();
}

}  // namespace

// The bounds are cast to the tensor's dtype.
constexpr unsigned kHardtanh = kExact | kAlikeScalars | kCastScalars;

EMU_OPERATOR(Hardtanh, (const aclTensor *self, const aclScalar *clipValueMin,
                        const aclScalar *clipValueMax, aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnHardtanh",
                                         &block_table<ClampFormula, types::kReal, 1, 2>, kHardtanh};
  const Status refused = self && out ? check_interval(row.op, clipValueMin, clipValueMax) : 0;
  if (refused != 0) return refused;
  return elementwise(row, {self, attribute(clipValueMin), attribute(clipValueMax)}, out,
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceHardtanh,
             (aclTensor *selfRef, const aclScalar *clipValueMin, const aclScalar *clipValueMax)) {
  static constexpr ElementwiseRow row = {"aclnnInplaceHardtanh",
                                         &block_table<ClampFormula, types::kReal, 1, 2>, kHardtanh};
  const Status refused = selfRef ? check_interval(row.op, clipValueMin, clipValueMax) : 0;
  if (refused != 0) return refused;
  return elementwise_in_place(row, {selfRef, attribute(clipValueMin), attribute(clipValueMax)},
                              selfRef, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
