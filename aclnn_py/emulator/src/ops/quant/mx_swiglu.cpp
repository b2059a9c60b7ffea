// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gated units whose result is quantised in blocks.
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/quant/mx_glu.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kMostGroups = 256;

// The attribute names one of the last two dimensions.
int check_late_axis(Check &check, const char *name, int64_t given, int rank) {
  const int axis = check_axis(check, name, given, "x", rank);
  check.that(axis >= rank - 2, "%s is %lld; allowed: the last two dimensions of x, -1 and -2", name,
             static_cast<long long>(given));
  return axis;
}

// The shape of the result: that of x with a dimension halved.
Layout check_halved(Check &check, const aclTensor &x, int axis) {
  Layout values = layout_of(x);
  check.that(values.shape[axis] % 2 == 0, "x has shape %s; dimension %d must be even",
             shape_text(values).c_str(), axis);
  values.shape[axis] /= 2;
  return values;
}

struct Unit {
  int64_t mode;
  float limit, alpha, bias;

  float operator()(float gate, float linear) const {
    if (mode == 0) return swish(gate) * linear;
    linear = limited(linear, limit);
    if (mode == 3) {
      gate = swish(gate);
      return (gate > limit ? limit : gate) * linear;
    }
    gate = gate > limit ? limit : gate;
    return gate * sigmoid(alpha * gate) * (linear + bias);
  }
};

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwigluMxQuant,
             (const aclTensor *x, const aclTensor *groupIndexOptional, int64_t activateDim,
              bool activateLeft, int64_t swigluMode, double clampLimit, double gluAlpha,
              double gluBias, int64_t groupMode, int64_t axis, int64_t dstType,
              const char *roundModeOptional, int64_t scaleAlg, double maxDtypeValue,
              aclTensor *yOut, aclTensor *mxscaleOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnSwigluMxQuant";
  Check check(op);
  check.required("x", x).optional("groupIndexOptional", groupIndexOptional);
  check.required("yOut", yOut).required("mxscaleOut", mxscaleOut);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.dtype("x", x).dtype("groupIndexOptional", groupIndexOptional);
  check.dtype("yOut", yOut).dtype("mxscaleOut", mxscaleOut);
  check.rank("x", x, 2, 7).rank("groupIndexOptional", groupIndexOptional, 1, 1);
  check.plain_format("x", x);
  if (!check.ok()) return check.status();
  const int rank = static_cast<int>(x->rank()), last = rank - 1;
  const int halved = check_late_axis(check, "activateDim", activateDim, rank);
  const int along = check_late_axis(check, "axis", axis, rank);
  check.that(swigluMode >= 0 && swigluMode <= 3, "swigluMode is %lld; allowed: 0 to 3",
             static_cast<long long>(swigluMode));
  check.that(halved == last || swigluMode == 0,
             "activateDim is %lld and swigluMode %lld; modes but 0 need activateDim -1",
             static_cast<long long>(activateDim), static_cast<long long>(swigluMode));
  check.that(along == last || swigluMode < 2,
             "axis is %lld and swigluMode %lld; modes 2 and 3 need axis -1",
             static_cast<long long>(axis), static_cast<long long>(swigluMode));
  check.that(clampLimit > 0.0 && std::isfinite(clampLimit),
             "clampLimit is %g; it must be positive and finite", clampLimit);
  check.that(groupMode == 0 || groupMode == 1,
             "groupMode is %lld; allowed: 0 (sizes of groups), 1 (their ends)",
             static_cast<long long>(groupMode));
  check.that(maxDtypeValue >= 0.0, "maxDtypeValue is %g; it must not be negative", maxDtypeValue);
  if (groupIndexOptional) {
    const int64_t count = groupIndexOptional->numel();
    check.that(count >= 1 && count <= kMostGroups,
               "groupIndexOptional has %lld groups; allowed: 1 to %lld",
               static_cast<long long>(count), static_cast<long long>(kMostGroups));
    check.that(
        halved == last && along == last,
        "groupIndexOptional is given with activateDim %lld and axis %lld; the emulator takes "
        "groups only where both are -1: the documents do not say where their scales lie",
        static_cast<long long>(activateDim), static_cast<long long>(axis));
  }
  const MxFormat format = check_mx_format(
      check, {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg, kTwoAlgorithms},
      "yOut", yOut);
  const Layout values = check_halved(check, *x, halved);
  check_mx_results(check, values, along, kMxBlock, "yOut", yOut, "mxscaleOut", mxscaleOut);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), groups = plan.input(groupIndexOptional);
  const size_t y = plan.output(yOut), scale = plan.output(mxscaleOut);
  const MxPlan shape = mx_plan(values, along, kMxBlock);
  const int64_t half =
      values.count() == 0 ? 0 : count_of(values.shape + halved, static_cast<size_t>(rank - halved));
  const Unit unit{swigluMode, limited(static_cast<float>(clampLimit), 0x1.fffffep127f),
                  static_cast<float>(gluAlpha), static_cast<float>(gluBias)};
  const bool ends = groupMode == 1;
  return plan.finish(
      [=](PlanContext &c) {
        if (half == 0) return Status{0};
        MxPlan rows = shape;
        if (c.has(groups)) {
          std::vector<int64_t> group_of_row;
          const Status s = read_row_groups(op, "groupIndexOptional", c.tensor(groups), ends,
                                           shape.outer, &group_of_row);
          if (s != 0) return s;
          rows.outer = std::count_if(group_of_row.begin(), group_of_row.end(),
                                     [](int64_t group) { return group >= 0; });
        }
        Operands operands;
        const aclTensor &values_to = c.tensor(y), &scales_to = c.tensor(scale);
        const GatedValues gated(
            operands.safe(view_of(c.tensor(input)), {code_view(values_to), code_view(scales_to)}),
            half, activateLeft, unit.mode == 1);
        mx_quantise(
            rows, format, LowCodes(values_to), LowCodes(scales_to),
            [&](int64_t start, int64_t count, float *to) { gated.read(start, count, to, unit); });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SwigluMxQuantWithDualAxis,
             (const aclTensor *x, const aclTensor *groupIndexOptional, bool activateLeft,
              const char *roundModeOptional, int64_t scaleAlg, int64_t dstType,
              double maxDtypeValue, aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out,
              aclTensor *mxscale2Out)) {
  using namespace emu;
  constexpr const char *op = "aclnnSwigluMxQuantWithDualAxis";
  Check check(op);
  check.required("x", x).optional("groupIndexOptional", groupIndexOptional);
  check.required("y1Out", y1Out).required("mxscale1Out", mxscale1Out);
  check.required("y2Out", y2Out).required("mxscale2Out", mxscale2Out);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", x).dtype("groupIndexOptional", groupIndexOptional);
  check.dtype("y1Out", y1Out).dtype("mxscale1Out", mxscale1Out);
  check.dtype("y2Out", y2Out).dtype("mxscale2Out", mxscale2Out);
  check.rank("x", x, 2, 2).rank("groupIndexOptional", groupIndexOptional, 1, 1);
  check.plain_format("x", x);
  if (!check.ok()) return check.status();
  check.same_dtype("y2Out", y2Out->dtype, "y1Out", y1Out->dtype);
  const MxFormat format = check_mx_format(
      check, {"roundModeOptional", roundModeOptional, "dstType", dstType, scaleAlg, kTwoAlgorithms},
      "y1Out", y1Out);
  check.that(maxDtypeValue == 0.0, "maxDtypeValue is %g; allowed: 0", maxDtypeValue);
  const Layout values = check_halved(check, *x, 1);
  check.that(values.count() > 0, "x has shape %s; it must not be empty",
             shape_text(layout_of(*x)).c_str());
  check.that(groupIndexOptional == nullptr || groupIndexOptional->numel() > 0,
             "groupIndexOptional has no groups; it needs at least one, or null");
  check_mx_results(check, values, 1, kMxBlock, "y1Out", y1Out, "mxscale1Out", mxscale1Out);
  check.shape("y2Out", y2Out, values);
  check_float4(check, "y2Out", y2Out);
  Layout across = mx_scale_layout(values, 0, kMxBlock);
  if (groupIndexOptional)
    across.shape[0] = values.shape[0] / (2 * kMxBlock) + groupIndexOptional->numel();
  check.shape("mxscale2Out", mxscale2Out, across);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), groups = plan.input(groupIndexOptional);
  const size_t y1 = plan.output(y1Out), scale1 = plan.output(mxscale1Out);
  const size_t y2 = plan.output(y2Out), scale2 = plan.output(mxscale2Out);
  const MxPlan by_row = mx_plan(values, 1, kMxBlock), by_column = mx_plan(values, 0, kMxBlock);
  const int64_t pairs = across.shape[0];
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<MxStep> steps;
        MxPlan rows = by_row;
        if (c.has(groups)) {
          const Status s = read_group_steps(op, "groupIndexOptional", c.tensor(groups),
                                            by_column.length, 2 * kMxBlock, &steps, &rows.outer);
          if (s != 0) return s;
        } else {
          add_mx_steps(0, by_column.length, 0, 2 * kMxBlock, &steps);
        }
        Operands operands;
        const GatedValues gated(
            operands.safe(view_of(c.tensor(input)),
                          {code_view(c.tensor(y1)), code_view(c.tensor(scale1)),
                           code_view(c.tensor(y2)), code_view(c.tensor(scale2))}),
            by_row.length, activateLeft, false);
        const auto load = [&](int64_t start, int64_t count, float *to) {
          gated.read(start, count, to,
                     [](float gate, float linear) { return swish(gate) * linear; });
        };
        mx_quantise(rows, format, LowCodes(c.tensor(y1)), LowCodes(c.tensor(scale1)), load);
        const LowCodes scales(c.tensor(scale2));
        clear_unused_pairs(by_column, steps, pairs, scales);
        mx_quantise(by_column, steps, pairs, format, LowCodes(c.tensor(y2)), scales, load);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SituMxQuant, (const aclTensor *x, float beta, float linearBeta, bool activateLeft,
                           int64_t axis, int64_t dstType, const char *roundModeOptional,
                           aclTensor *yOut, aclTensor *yScaleOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnSituMxQuant";
  Check check(op);
  check.required("x", x).required("yOut", yOut).required("yScaleOut", yScaleOut);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", x).dtype("yOut", yOut).dtype("yScaleOut", yScaleOut);
  check.rank("x", x, 1, 8).plain_format("x", x);
  if (!check.ok()) return check.status();
  const int last = static_cast<int>(x->rank()) - 1;
  check.that(axis == -1, "axis is %lld; allowed: -1", static_cast<long long>(axis));
  check.that(beta != 0.0f, "beta is 0; it divides the gate, so that it must be another number");
  constexpr MxAlgorithms kOnlyFirst{0b001, 0, 0};
  const MxFormat format = check_mx_format(
      check, {"roundModeOptional", roundModeOptional, "dstType", dstType, 0, kOnlyFirst}, "yOut",
      yOut);
  const Layout values = check_halved(check, *x, last);
  check.that(values.count() > 0, "x has shape %s; it must not be empty",
             shape_text(layout_of(*x)).c_str());
  check_mx_results(check, values, last, kMxBlock, "yOut", yOut, "yScaleOut", yScaleOut);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), y = plan.output(yOut), scale = plan.output(yScaleOut);
  const MxPlan shape = mx_plan(values, last, kMxBlock);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &values_to = c.tensor(y), &scales_to = c.tensor(scale);
        const GatedValues gated(
            operands.safe(view_of(c.tensor(input)), {code_view(values_to), code_view(scales_to)}),
            shape.length, activateLeft, false);
        const auto unit = [&](float gate, float up) {
          if (linearBeta > 0.0f) up = linearBeta * std::tanh(up / linearBeta);
          return beta * std::tanh(gate / beta) * sigmoid(gate) * up;
        };
        mx_quantise(
            shape, format, LowCodes(values_to), LowCodes(scales_to),
            [&](int64_t start, int64_t count, float *to) { gated.read(start, count, to, unit); });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
