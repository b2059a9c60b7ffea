// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Quantisation in blocks along both of the last two dimensions, and along the rows of groups.
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

struct DualArguments {
  const char *op;
  const aclTensor *x;
  MxAttributes attributes;
  const aclTensor *y[2], *scale[2];
};

Status plan_dual(const DualArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  constexpr const char *kY[] = {"y1Out", "y2Out"}, *kScale[] = {"mxscale1Out", "mxscale2Out"};
  Check check(a.op);
  check.required("x", a.x);
  for (int i = 0; i < 2; ++i) check.required(kY[i], a.y[i]).required(kScale[i], a.scale[i]);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", a.x).rank("x", a.x, 2, 7).plain_format("x", a.x);
  for (int i = 0; i < 2; ++i) check.dtype(kY[i], a.y[i]).dtype(kScale[i], a.scale[i]);
  if (!check.ok()) return check.status();
  check.same_dtype(kY[1], a.y[1]->dtype, kY[0], a.y[0]->dtype);
  const MxFormat format = check_mx_format(check, a.attributes, kY[0], a.y[0]);
  const Layout values = layout_of(*a.x);
  MxPlan shape[2];
  for (int i = 0; i < 2; ++i) {
    const int axis = values.rank - 1 - i;
    check_mx_results(check, values, axis, kMxBlock, kY[i], a.y[i], kScale[i], a.scale[i]);
    shape[i] = mx_plan(values, axis, kMxBlock);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x);
  const size_t y1 = plan.output(a.y[0]), scale1 = plan.output(a.scale[0]);
  const size_t y2 = plan.output(a.y[1]), scale2 = plan.output(a.scale[1]);
  const MxPlan along = shape[0], across = shape[1];
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const RowSource<float> from(operands.safe(
            view_of(c.tensor(input)), {code_view(c.tensor(y1)), code_view(c.tensor(scale1)),
                                       code_view(c.tensor(y2)), code_view(c.tensor(scale2))}));
        const auto load = [&](int64_t start, int64_t count, float *to) {
          from.read(start, count, to);
        };
        mx_quantise(along, format, LowCodes(c.tensor(y1)), LowCodes(c.tensor(scale1)), load);
        mx_quantise(across, format, LowCodes(c.tensor(y2)), LowCodes(c.tensor(scale2)), load);
        return Status{0};
      },
      workspace_size, executor);
}

// The shape of scales along the rows of groups.
Layout group_scale_layout(const Layout &values, const aclTensor &groups) {
  const int64_t pair = 2 * kMxBlock;
  const int64_t shape[] = {values.shape[0] / pair + groups.numel(), values.shape[1], 2};
  return dense_layout(shape, 3);
}

struct GroupedArguments {
  const char *op;
  const aclTensor *x, *groups;
  int64_t block;
  MxAttributes attributes;
  const aclTensor *y, *scale;
};

Status plan_grouped(const GroupedArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).required("groupIndex", a.groups);
  check.required_text("roundMode", a.attributes.rounding);
  check.required("y", a.y).required("mxscale", a.scale);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", a.x).dtype("groupIndex", a.groups).dtype("y", a.y).dtype("mxscale", a.scale);
  check.rank("x", a.x, 2, 2).rank("groupIndex", a.groups, 1, 1);
  check.plain_format("x", a.x).plain_format("y", a.y);
  if (!check.ok()) return check.status();
  const MxFormat format = check_mx_format(check, a.attributes, "y", a.y);
  check.that(a.block == kMxBlock, "blocksize is %lld; allowed: 32",
             static_cast<long long>(a.block));
  check.that(a.groups->numel() > 0, "groupIndex has no groups; it needs at least one");
  const Layout values = layout_of(*a.x);
  check.shape("y", a.y, values);
  check_float4(check, "y", a.y);
  check.shape("mxscale", a.scale, group_scale_layout(values, *a.groups));
  check.that(layout_of(*a.scale).is_dense(), "mxscale has gaps; it must be contiguous");
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), groups = plan.input(a.groups);
  const size_t y = plan.output(a.y), scale = plan.output(a.scale);
  const char *op = a.op;
  const MxPlan shape = mx_plan(values, 0, kMxBlock);
  const int64_t pairs = a.scale->shape[0];
  return plan.finish(
      [=](PlanContext &c) {
        if (shape.inner == 0) return Status{0};
        std::vector<MxStep> steps;
        int64_t end = 0;
        const Status s = read_group_steps(op, "groupIndex", c.tensor(groups), shape.length,
                                          2 * kMxBlock, &steps, &end);
        if (s != 0) return s;
        Operands operands;
        const aclTensor &values_to = c.tensor(y);
        const LowCodes scales(c.tensor(scale));
        const RowSource<float> from(operands.safe(
            view_of(c.tensor(input)), {code_view(values_to), code_view(c.tensor(scale))}));
        clear_unused_pairs(shape, steps, pairs, scales);
        mx_quantise(shape, steps, pairs, format, LowCodes(values_to), scales,
                    [&](int64_t start, int64_t count, float *to) { from.read(start, count, to); });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DynamicMxQuantWithDualAxis,
             (const aclTensor *x, const char *roundModeOptional, int64_t dstType, int64_t scaleAlg,
              aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out, aclTensor *mxscale2Out)) {
  return emu::plan_dual(
      {"aclnnDynamicMxQuantWithDualAxis",
       x,
       {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg, emu::kTwoAlgorithms},
       {y1Out, y2Out},
       {mxscale1Out, mxscale2Out}},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DynamicMxQuantWithDualAxisV2,
             (const aclTensor *x, const char *roundModeOptional, int64_t dstType, int64_t scaleAlg,
              double dstTypeMax, aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out,
              aclTensor *mxscale2Out)) {
  return emu::plan_dual({"aclnnDynamicMxQuantWithDualAxisV2",
                         x,
                         {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg,
                          emu::kThreeAlgorithms, "dstTypeMax", dstTypeMax},
                         {y1Out, y2Out},
                         {mxscale1Out, mxscale2Out}},
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedDynamicMxQuant,
             (const aclTensor *x, const aclTensor *groupIndex, const char *roundMode,
              int64_t dstType, int64_t blocksize, aclTensor *y, aclTensor *mxscale)) {
  return emu::plan_grouped({"aclnnGroupedDynamicMxQuant",
                            x,
                            groupIndex,
                            blocksize,
                            {"roundMode", roundMode, "dstType", dstType, 0, emu::kTwoAlgorithms},
                            y,
                            mxscale},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedDynamicMxQuantV2,
             (const aclTensor *x, const aclTensor *groupIndex, const char *roundMode,
              int64_t dstType, int64_t blocksize, int64_t scaleAlg, double dstTypeMax, aclTensor *y,
              aclTensor *mxscale)) {
  constexpr emu::MxAlgorithms kAlgorithms{0b011, 0b101, 0b101};
  return emu::plan_grouped({"aclnnGroupedDynamicMxQuantV2",
                            x,
                            groupIndex,
                            blocksize,
                            {"roundMode", roundMode, "dstType", dstType, scaleAlg, kAlgorithms,
                             "dstTypeMax", dstTypeMax},
                            y,
                            mxscale},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedDynamicMxQuantWithDualAxis,
             (const aclTensor *x, const aclTensor *groupIndex, const char *roundModeOptional,
              int64_t scaleAlg, int64_t dstDtype, double maxDtypeValue, aclTensor *y1Out,
              aclTensor *y1ScaleOut, aclTensor *y2Out, aclTensor *y2ScaleOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnGroupedDynamicMxQuantWithDualAxis";
  Check check(op);
  check.required("x", x).required("groupIndex", groupIndex);
  check.required("y1Out", y1Out).required("y1ScaleOut", y1ScaleOut);
  check.required("y2Out", y2Out).required("y2ScaleOut", y2ScaleOut);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", x).dtype("groupIndex", groupIndex).dtype("y1Out", y1Out).dtype("y2Out", y2Out);
  check.dtype("y1ScaleOut", y1ScaleOut).dtype("y2ScaleOut", y2ScaleOut);
  check.rank("x", x, 2, 2).rank("groupIndex", groupIndex, 1, 1).plain_format("x", x);
  if (!check.ok()) return check.status();
  check.same_dtype("y2Out", y2Out->dtype, "y1Out", y1Out->dtype);
  constexpr MxAlgorithms kOnlySecond{0b010, 0, 0};
  const MxFormat format = check_mx_format(
      check, {"roundModeOptional", roundModeOptional, "dstDtype", dstDtype, scaleAlg, kOnlySecond},
      "y1Out", y1Out);
  const Layout values = layout_of(*x);
  check.that(maxDtypeValue == 0.0, "maxDtypeValue is %g; allowed: 0", maxDtypeValue);
  check.that(groupIndex->numel() > 0, "groupIndex has no groups; it needs at least one");
  check.that(values.shape[1] > 0 && values.shape[1] % (2 * kMxBlock) == 0,
             "x has shape %s; its last dimension must be a multiple of 64, and not 0",
             shape_text(values).c_str());
  check_mx_results(check, values, 1, kMxBlock, "y1Out", y1Out, "y1ScaleOut", y1ScaleOut);
  check.shape("y2Out", y2Out, values);
  check.shape("y2ScaleOut", y2ScaleOut, group_scale_layout(values, *groupIndex));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), groups = plan.input(groupIndex);
  const size_t y1 = plan.output(y1Out), scale1 = plan.output(y1ScaleOut);
  const size_t y2 = plan.output(y2Out), scale2 = plan.output(y2ScaleOut);
  const MxPlan along = mx_plan(values, 1, kMxBlock), across = mx_plan(values, 0, kMxBlock);
  const int64_t pairs = y2ScaleOut->shape[0];
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<MxStep> steps;
        MxPlan rows = along;
        const Status s = read_group_steps(op, "groupIndex", c.tensor(groups), across.length,
                                          2 * kMxBlock, &steps, &rows.outer);
        if (s != 0) return s;
        Operands operands;
        const RowSource<float> from(operands.safe(
            view_of(c.tensor(input)), {code_view(c.tensor(y1)), code_view(c.tensor(scale1)),
                                       code_view(c.tensor(y2)), code_view(c.tensor(scale2))}));
        const auto load = [&](int64_t start, int64_t count, float *to) {
          from.read(start, count, to);
        };
        mx_quantise(rows, format, LowCodes(c.tensor(y1)), LowCodes(c.tensor(scale1)), load);
        const LowCodes scales(c.tensor(scale2));
        clear_unused_pairs(across, steps, pairs, scales);
        mx_quantise(across, steps, pairs, format, LowCodes(c.tensor(y2)), scales, load);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
