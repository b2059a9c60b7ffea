// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// A product of integers is scaled back, gated, and quantised by the largest value of its row.
#include <cmath>
#include <cstring>

#include "aclnnop/quant.h"
#include "core/chip.h"
#include "ops/quant/dequant_rows.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/gated.h"

namespace emu {
namespace {

// How the halves of a row lie, and what is made of them.
enum class GateForm : int64_t { kSilu = 0, kAlternate = 1, kClipped = 2, kLateClipped = 3 };

struct DequantSwigluArguments {
  const char *op;
  const aclTensor *x, *weight_scale, *row_scale, *bias, *quant_scale, *quant_offset, *groups;
  bool left;
  const char *mode;
  int64_t form;
  GateLimits limits;
  const aclTensor *y, *scale;
};

// One row of values for each group; without groups one row, as a vector or a matrix.
Check &check_columns(Check &check, const char *name, const aclTensor *values, int64_t groups,
                     int64_t width) {
  if (!check.ok() || values == nullptr) return check;
  const Layout given = layout_of(*values);
  const bool row = given.rank == 2 && given.shape[0] == std::max<int64_t>(groups, 1);
  const bool fits =
      (row || (given.rank == 1 && groups == 0)) && given.shape[given.rank - 1] == width;
  return check.that(fits, "%s has shape %s; allowed: (%lld, %lld)%s", name,
                    shape_text(given).c_str(), static_cast<long long>(std::max<int64_t>(groups, 1)),
                    static_cast<long long>(width), groups == 0 ? " or its only row" : "");
}

Check &check_modes(Check &check, const DequantSwigluArguments &a) {
  const char *mode = a.mode == nullptr ? "static" : a.mode;
  check.that(std::strcmp(mode, "static") != 0,
             "quantModeOptional is \"static\"; the documents do not say whether that multiplies by "
             "quantScaleOptional or divides, so the emulator takes \"dynamic\" only");
  check.that(std::strcmp(mode, "dynamic") == 0,
             "quantModeOptional is \"%.40s\"; allowed: \"dynamic\"", mode);
  check.that(a.form >= 0 && a.form <= 3, "swigluMode is %lld; allowed: 0 to 3",
             static_cast<long long>(a.form));
  check.that(a.form == 0 || a.left, "activateLeft is false; with swigluMode %lld it must be true",
             static_cast<long long>(a.form));
  check.that(a.form == 0 || (a.limits.limit > 0 && std::isfinite(a.limits.limit)),
             "clampLimit is %g; it must be positive and finite",
             static_cast<double>(a.limits.limit));
  return check.that(a.quant_offset == nullptr,
                    "quantOffsetOptional is given; dynamic quantisation has no offset");
}

Check check_dequant_swiglu(const DequantSwigluArguments &a) {
  Check check(a.op);
  check.required("x", a.x).required("yOut", a.y).required("scaleOut", a.scale);
  if (check.ok() && a.x->dtype == ACL_INT32) check.required("weightScaleOptional", a.weight_scale);
  check.optional("weightScaleOptional", a.weight_scale);
  check.optional("activationScaleOptional", a.row_scale).optional("biasOptional", a.bias);
  check.optional("quantScaleOptional", a.quant_scale);
  check.optional("quantOffsetOptional", a.quant_offset).optional("groupIndexOptional", a.groups);
  check.dtype("x", a.x).dtype("weightScaleOptional", a.weight_scale);
  check.dtype("activationScaleOptional", a.row_scale).dtype("biasOptional", a.bias);
  check.dtype("quantScaleOptional", a.quant_scale).dtype("groupIndexOptional", a.groups);
  check.dtype("yOut", a.y).dtype("scaleOut", a.scale);
  if (!check_modes(check, a).ok()) return check;
  check.rank("x", a.x, 2, 8).rank("groupIndexOptional", a.groups, 1, 1);
  if (!check.ok()) return check;
  check.that(a.x->dtype == ACL_INT32 || !(a.weight_scale || a.row_scale || a.bias),
             "%s is given; it belongs to x of INT32, not %s",
             a.weight_scale ? "weightScaleOptional"
                            : (a.row_scale ? "activationScaleOptional" : "biasOptional"),
             dtype_name(a.x->dtype));
  Layout half = layout_of(*a.x);
  int64_t &last = half.shape[half.rank - 1];
  const int64_t width = last;
  check.that(width > 0 && width % 2 == 0,
             "x has %lld in its last dimension; it must be even and positive",
             static_cast<long long>(width));
  last /= 2;
  const int64_t groups = a.groups ? a.groups->shape[0] : 0;
  check.that(a.groups == nullptr || groups > 0, "groupIndexOptional is empty");
  check_columns(check, "weightScaleOptional", a.weight_scale, groups, width);
  check_columns(check, "biasOptional", a.bias, groups, width);
  if (check.ok() && a.quant_scale && a.quant_scale->rank() == 1 && groups > 0) {
    check.shape("quantScaleOptional", a.quant_scale, dense_layout(&groups, 1));
  } else {
    check_columns(check, "quantScaleOptional", a.quant_scale, groups, width / 2);
  }
  const Layout outer = dense_layout(half.shape, half.rank - 1);
  if (check.ok() && a.row_scale && a.row_scale->rank() == a.x->rank()) {
    Layout column = outer;
    column.push(1, 1);
    check.shape("activationScaleOptional", a.row_scale, column);
  } else {
    check.shape("activationScaleOptional", a.row_scale, outer);
  }
  return check.shape("yOut", a.y, half).shape("scaleOut", a.scale, outer);
}

Status plan_dequant_swiglu(const DequantSwigluArguments &a, uint64_t *workspace_size,
                           aclOpExecutor **executor) {
  const Check check = check_dequant_swiglu(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), weights = plan.input(a.weight_scale);
  const size_t row_scales = plan.input(a.row_scale), bias = plan.input(a.bias);
  const size_t smooth = plan.input(a.quant_scale);
  plan.unused(a.quant_offset);
  const size_t groups = plan.input(a.groups), y = plan.output(a.y), scale = plan.output(a.scale);
  const char *op = a.op;
  const auto form = static_cast<GateForm>(a.form);
  const GateLimits limits = a.limits;
  const bool left = a.left;
  const int64_t width = a.x->shape[a.x->rank() - 1], half = width / 2;
  const int64_t rows = a.x->numel() / width;
  // A group has one factor for its rows, or one for each column.
  const bool by_column = a.quant_scale && (a.groups == nullptr || a.quant_scale->rank() == 2);
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<int64_t> group_of_row;
        if (c.has(groups)) {
          const Status s = read_row_groups(op, "groupIndexOptional", c.tensor(groups), false, rows,
                                           &group_of_row);
          if (s != 0) return s;
        }
        Operands operands;
        const aclTensor &result = c.tensor(y);
        const View scales = view_of(c.tensor(scale));
        DequantRows from(operands.safe(view_of(c.tensor(input)), {view_of(result), scales}), width);
        const auto count = [&](size_t index) { return c.has(index) ? c.tensor(index).numel() : 0; };
        from.column_scales = read_all<float>(c, weights, count(weights), 1.0f);
        from.row_scales = read_all<float>(c, row_scales, count(row_scales), 1.0f);
        if (c.has(bias) && c.tensor(bias).dtype == ACL_INT32)
          from.integer_bias = read_all<int64_t>(c, bias, count(bias), int64_t{0});
        else from.float_bias = read_all<float>(c, bias, count(bias), 0.0f);
        const auto factors = read_all<float>(c, smooth, count(smooth), 1.0f);
        const QuantTarget to(result);
        const QuantRange range = quant_range(result.dtype);
        const RowTarget<float> scale_to(scales);
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *x) {
          const int64_t group = group_of_row.empty() ? 0 : group_of_row[static_cast<size_t>(row)];
          if (group < 0) return;
          from.read(row, group, x);
          float *gate = left ? x : x + half, *linear = left ? x + half : x;
          if (form == GateForm::kAlternate) {
            gate = x + width;
            linear = gate + half;
            for (int64_t i = 0; i < half; ++i) {
              gate[i] = x[2 * i];
              linear[i] = x[2 * i + 1];
            }
          }
          if (form == GateForm::kSilu) silu_gate(gate, linear, half);
          else if (form == GateForm::kLateClipped)
            late_clipped_gate(gate, linear, half, limits.limit);
          else clipped_gate(gate, linear, half, limits);
          if (!factors.empty()) {
            const float *factor = factors.data() + group * (by_column ? half : 1);
            for (int64_t i = 0; i < half; ++i) gate[i] *= factor[by_column ? i : 0];
          }
          const RowScale found = scale_symmetric(gate, half, range);
          scale_to.write(row, 1, &found.scale);
          to.write(row * half, half, gate);
        });
        return Status{0};
      },
      workspace_size, executor);
}

// The first version keeps its operands in the memory of a core: what does not fit is refused by
// the kernel's tiling.
Check &check_core_memory(Check &check, const DequantSwigluArguments &a) {
  constexpr double kCoreBytes = 192.0 * 1024;
  if (!check.ok() || a.x->rank() < 1) return check;
  const auto bytes = [](const aclTensor *t) {
    return t ? static_cast<double>(t->numel()) * static_cast<double>(item_size(t->dtype)) : 0.0;
  };
  const double row =
      static_cast<double>(a.x->shape[a.x->rank() - 1]) * static_cast<double>(item_size(a.x->dtype));
  const double needed = bytes(a.weight_scale) + bytes(a.bias) + bytes(a.quant_scale) +
                        (bytes(a.row_scale) + bytes(a.scale)) / 40 + row * 10;
  return check.tiling().that(needed < kCoreBytes,
                             "x, its scales and its bias need %.0f bytes of a core; less than %.0f "
                             "are allowed",
                             needed, kCoreBytes);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DequantSwigluQuant,
             (const aclTensor *x, const aclTensor *weightScaleOptional,
              const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
              const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
              const aclTensor *groupIndexOptional, bool activateLeft, const char *quantModeOptional,
              aclTensor *yOut, aclTensor *scaleOut)) {
  const emu::DequantSwigluArguments a{"aclnnDequantSwigluQuant",
                                      x,
                                      weightScaleOptional,
                                      activationScaleOptional,
                                      biasOptional,
                                      quantScaleOptional,
                                      quantOffsetOptional,
                                      groupIndexOptional,
                                      activateLeft,
                                      quantModeOptional,
                                      0,
                                      {1.0f, 1.0f, 0.0f},
                                      yOut,
                                      scaleOut};
  emu::Check check = emu::check_dequant_swiglu(a);
  if (!emu::check_core_memory(check, a).ok()) return check.status();
  return emu::plan_dequant_swiglu(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DequantSwigluQuantV2,
             (const aclTensor *x, const aclTensor *weightScaleOptional,
              const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
              const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
              const aclTensor *groupIndexOptional, bool activateLeft, const char *quantModeOptional,
              int64_t dstType, const char *roundModeOptional, int64_t activateDim,
              int64_t swigluMode, double clampLimit, double gluAlpha, double gluBias,
              aclTensor *yOut, aclTensor *scaleOut)) {
  constexpr const char *op = "aclnnDequantSwigluQuantV2";
  constexpr int64_t kUnit = 64, kWidestGrouped = 7232;
  emu::Check check(op);
  check.required("x", x).required("yOut", yOut).required("scaleOut", scaleOut).dtype("yOut", yOut);
  emu::check_dst_type(check, "dstType", dstType, "yOut", yOut);
  const char *rounding = roundModeOptional == nullptr ? "rint" : roundModeOptional;
  // HiFloat8 rounds away from zero, the others to even.
  const char *only = check.ok() && yOut->dtype == ACL_HIFLOAT8 ? "round" : "rint";
  check.that(std::strcmp(rounding, only) == 0, "roundModeOptional is \"%.40s\"; allowed: \"%s\"",
             rounding, only);
  const bool newer = emu::chip_is_950();
  check.rank("x", x, 2, newer ? 8 : 2);
  if (!check.ok()) return check.status();
  check.that(activateDim == -1 || (newer && activateDim == static_cast<int64_t>(x->rank()) - 1),
             "activateDim is %lld; allowed: -1, the last dimension",
             static_cast<long long>(activateDim));
  check.that(!newer || swigluMode == 0, "swigluMode is %lld; this chip takes 0",
             static_cast<long long>(swigluMode));
  check.that(x->numel() > 0, "x is empty, which is not supported");
  if (!newer) {
    check.that(x->shape[1] % kUnit == 0,
               "x has %lld in its last dimension; allowed: multiples of %lld",
               static_cast<long long>(x->shape[1]), static_cast<long long>(kUnit));
    check.that(groupIndexOptional == nullptr || x->shape[1] <= kWidestGrouped,
               "x has %lld in its last dimension; with groupIndexOptional at most %lld are allowed",
               static_cast<long long>(x->shape[1]), static_cast<long long>(kWidestGrouped));
  }
  if (!check.ok()) return check.status();
  return emu::plan_dequant_swiglu(
      {op,
       x,
       weightScaleOptional,
       activationScaleOptional,
       biasOptional,
       quantScaleOptional,
       quantOffsetOptional,
       groupIndexOptional,
       activateLeft,
       quantModeOptional,
       swigluMode,
       {static_cast<float>(gluAlpha), static_cast<float>(clampLimit), static_cast<float>(gluBias)},
       yOut,
       scaleOut},
      workspaceSize, executor);
}
EMU_CATCH
