// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Maxima, minima and truth over elements. NaN propagates.
#include "aclnnop/math.h"
#include "ops/reduce/forms.h"

namespace emu {
EMU_FOLD(Max, lowest<T>(), maximum(a, x), maximum(a, b), a)
EMU_FOLD(Min, highest<T>(), minimum(a, x), minimum(a, b), a)
template <>
inline constexpr FoldKernel fold_kernel<MaxFold> = FoldKernel::kGreatest;
template <>
inline constexpr FoldKernel fold_kernel<MinFold> = FoldKernel::kLeast;

EMU_FOLD(Any, T{}, truth(a) || truth(x) ? T{1} : T{}, truth(a) || truth(b) ? T{1} : T{}, truth(a))
EMU_FOLD(All, T{1}, truth(a) && truth(x) ? T{1} : T{}, truth(a) && truth(b) ? T{1} : T{}, truth(a))
template <>
inline constexpr FoldKernel fold_kernel<AnyFold> = FoldKernel::kAny;
template <>
inline constexpr FoldKernel fold_kernel<AllFold> = FoldKernel::kAll;

EMU_REDUCE_ALL(Max, Max, kKeep | kNeedsElements, types::kReal)
EMU_REDUCE_ALL(Min, Min, kKeep | kNeedsElements, types::kReal)
EMU_REDUCE_DIMS(Amax, Max, kExact | kNeedsElements | kExactRank, types::kReal)
EMU_REDUCE_DIMS(Amin, Min, kExact | kNeedsElements | kExactRank, types::kReal)
EMU_REDUCE_DIMS_NOOP(MaxV2, Max, kExact | kNeedsElements | kExactRank, types::kReal)
EMU_REDUCE_DIMS(Any, Any, kToBool, types::kReal)
EMU_REDUCE_DIMS(All, All, kToBool | kPlainSelf, types::kReal)

namespace {

// Both extremes of the same axes.
Status plan_both(Check &check, const aclTensor *self, AxisSet axes, bool keep, aclTensor *low,
                 aclTensor *high, uint64_t *workspace_size, aclOpExecutor **executor) {
  static constexpr ReduceRow minimum = {"", &fold_table<MinFold, types::kReal>, kKeep};
  static constexpr ReduceRow maximum = {"", &fold_table<MaxFold, types::kReal>, kKeep};
  if (!check.ok()) return check.status();
  const Layout in = layout_of(*self), shape = reduced_shape(in, axes, keep);
  check.same_dtype("minOut", low->dtype, "self", self->dtype);
  check.same_dtype("maxOut", high->dtype, "self", self->dtype);
  check.shape_or_one_element("minOut", low, shape).shape_or_one_element("maxOut", high, shape);
  check.that(reduced_count(in, axes) > 0 || shape.count() == 0,
             "self of shape %s has no element to reduce", shape_text(in).c_str());
  FoldTask first, second;
  const bool known =
      resolve_fold(minimum, self->dtype, &first) && resolve_fold(maximum, self->dtype, &second);
  check.that(known, "self has dtype %s, which is not supported", dtype_name(self->dtype));
  if (!check.ok()) return check.status();
  first.axes = second.axes = axes;
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t source = plan.input(self), least = plan.output(low), most = plan.output(high);
  return plan.finish(
      [first, second, source, least, most](PlanContext &context) {
        const View from = view_of(context.tensor(source));
        run_fold(first, from, view_of(context.tensor(least)));
        run_fold(second, from, view_of(context.tensor(most)));
        return Status{0};
      },
      workspace_size, executor);
}

void check_both(Check &check, const aclTensor *self, const aclTensor *low, const aclTensor *high) {
  check.required("self", self).required("minOut", low).required("maxOut", high);
  check.dtype("self", self).dtype("minOut", low).dtype("maxOut", high).rank("self", self, 0, 8);
}

}  // namespace

EMU_OPERATOR(Aminmax, (const aclTensor *self, const aclIntArray *dim, bool keepDim,
                       aclTensor *minOut, aclTensor *maxOut)) {
  Check check("aclnnAminmax");
  check.required("self", self).required("dim", dim);
  check_both(check, self, minOut, maxOut);
  const AxisSet axes = check.ok() ? axes_of(check, "dim", dim, static_cast<int>(self->rank())) : 0;
  return plan_both(check, self, axes, keepDim, minOut, maxOut, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AminmaxAll, (const aclTensor *self, aclTensor *minOut, aclTensor *maxOut)) {
  Check check("aclnnAminmaxAll");
  check_both(check, self, minOut, maxOut);
  const AxisSet axes = check.ok() ? all_axes(static_cast<int>(self->rank())) : 0;
  return plan_both(check, self, axes, false, minOut, maxOut, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AminmaxDim, (const aclTensor *self, int64_t dim, bool keepDim, aclTensor *minOut,
                          aclTensor *maxOut)) {
  Check check("aclnnAminmaxDim");
  check_both(check, self, minOut, maxOut);
  const AxisSet axes = check.ok() ? axis_of(check, "dim", dim, static_cast<int>(self->rank())) : 0;
  return plan_both(check, self, axes, keepDim, minOut, maxOut, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
