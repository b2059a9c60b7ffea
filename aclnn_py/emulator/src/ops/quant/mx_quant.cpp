// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Quantisation in blocks along one dimension, and the way back.
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kLargestBlock = 1024;

struct MxQuantArguments {
  const char *op;
  const aclTensor *x;
  int64_t axis, block;
  MxAttributes attributes;
  double low_bound;
  const aclTensor *y, *scale;
};

Status plan_mx_quant(const MxQuantArguments &a, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).required("yOut", a.y).required("mxscaleOut", a.scale);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", a.x).dtype("yOut", a.y).dtype("mxscaleOut", a.scale);
  check.plain_format("x", a.x).plain_format("yOut", a.y).plain_format("mxscaleOut", a.scale);
  check.rank("x", a.x, 1, 7);
  if (!check.ok()) return check.status();
  const Layout values = layout_of(*a.x);
  const int axis = check_axis(check, "axis", a.axis, "x", values.rank);
  MxFormat format = check_mx_format(check, a.attributes, "yOut", a.y);
  check.that(a.block > 0 && a.block % 32 == 0 && a.block <= kLargestBlock,
             "blocksize is %lld; allowed: multiples of 32 up to %lld",
             static_cast<long long>(a.block), static_cast<long long>(kLargestBlock));
  check.that((a.x->dtype != ACL_FLOAT && format.algorithm != 2) || a.block == 32,
             "blocksize is %lld; with x of FLOAT and with scaleAlg 2 it must be 32",
             static_cast<long long>(a.block));
  check.that(a.x->dtype != ACL_FLOAT || values.shape[axis] >= 32 || a.x->numel() == 0,
             "x has dtype FLOAT and shape %s; then dimension %d must have at least 32 values",
             shape_text(values).c_str(), axis);
  check.that(a.low_bound >= 0.0 && std::isfinite(a.low_bound) &&
                 (a.low_bound == 0.0 || format.algorithm == 1),
             "maxLowBound is %g; it must be finite and not negative, and 0 unless scaleAlg is 1",
             a.low_bound);
  if (!check.ok()) return check.status();
  check_mx_results(check, values, axis, a.block, "yOut", a.y, "mxscaleOut", a.scale);
  if (!check.ok()) return check.status();
  format.low_bound = limited(static_cast<float>(a.low_bound), 0x1.fffffep127f);
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), y = plan.output(a.y), scale = plan.output(a.scale);
  const MxPlan shape = mx_plan(values, axis, a.block);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &values_to = c.tensor(y), &scales_to = c.tensor(scale);
        const RowSource<float> from(
            operands.safe(view_of(c.tensor(input)), {code_view(values_to), code_view(scales_to)}));
        mx_quantise(shape, format, LowCodes(values_to), LowCodes(scales_to),
                    [&](int64_t start, int64_t count, float *to) { from.read(start, count, to); });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DynamicMxQuant,
             (const aclTensor *x, int64_t axis, const char *roundModeOptional, int64_t dstType,
              int64_t blocksize, int64_t scaleAlg, aclTensor *yOut, aclTensor *mxscaleOut)) {
  return emu::plan_mx_quant(
      {"aclnnDynamicMxQuant",
       x,
       axis,
       blocksize,
       {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg, emu::kTwoAlgorithms},
       0.0,
       yOut,
       mxscaleOut},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DynamicMxQuantV2, (const aclTensor *x, int64_t axis, const char *roundModeOptional,
                                int64_t dstType, int64_t blocksize, int64_t scaleAlg,
                                double dstTypeMax, aclTensor *yOut, aclTensor *mxscaleOut)) {
  return emu::plan_mx_quant({"aclnnDynamicMxQuantV2",
                             x,
                             axis,
                             blocksize,
                             {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg,
                              emu::kThreeAlgorithms, "dstTypeMax", dstTypeMax},
                             0.0,
                             yOut,
                             mxscaleOut},
                            workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DynamicMxQuantV3,
             (const aclTensor *x, int64_t axis, const char *roundModeOptional, int64_t dstType,
              int64_t blocksize, int64_t scaleAlg, double dstTypeMax, double maxLowBound,
              aclTensor *yOut, aclTensor *mxscaleOut)) {
  return emu::plan_mx_quant({"aclnnDynamicMxQuantV3",
                             x,
                             axis,
                             blocksize,
                             {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg,
                              emu::kThreeAlgorithms, "dstTypeMax", dstTypeMax},
                             maxLowBound,
                             yOut,
                             mxscaleOut},
                            workspaceSize, executor);
}
EMU_CATCH
