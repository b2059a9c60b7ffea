// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Integers are scaled back, bent and gated, and quantised towards zero.
#include <cstring>

#include "aclnnop/quant.h"
#include "ops/quant/dequant_rows.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/gated.h"

namespace emu {
namespace {

struct DequantSituArguments {
  const aclTensor *x, *weight_scale, *row_scale, *bias, *quant_scale, *quant_offset, *groups;
  SituFactors factors;
  bool left;
  const char *mode;
  const aclTensor *y, *scale;
};

bool dynamic_mode(const DequantSituArguments &a) {
  return a.mode == nullptr || std::strcmp(a.mode, "dynamic") == 0;
}

// One value, or one for each column.
Check &check_vector(Check &check, const char *name, const aclTensor *values, int64_t width) {
  if (!check.ok() || values == nullptr) return check;
  const int64_t count = values->rank() == 1 && values->shape[0] == 1 ? 1 : width;
  return check.shape(name, values, dense_layout(&count, 1));
}

Check check_dequant_situ(const DequantSituArguments &a) {
  Check check("aclnnDequantSituQuant");
  check.required("x", a.x).required("yOut", a.y).required("yScaleOut", a.scale);
  check.dtype("x", a.x);
  const bool bytes = check.ok() && a.x->dtype == ACL_INT8;
  const bool words = check.ok() && a.x->dtype == ACL_INT32;
  if (bytes || words) check.required("weightScaleOptional", a.weight_scale);
  if (words) check.required("activationScaleOptional", a.row_scale);
  check.that(dynamic_mode(a) || std::strcmp(a.mode, "static") == 0,
             "quantTypeOptional is \"%.40s\"; allowed: \"dynamic\", \"static\"",
             a.mode ? a.mode : "");
  if (!dynamic_mode(a)) {
    check.required("quantScaleOptional", a.quant_scale);
    check.required("quantOffsetOptional", a.quant_offset);
  }
  check.optional("weightScaleOptional", a.weight_scale);
  check.optional("activationScaleOptional", a.row_scale).optional("biasOptional", a.bias);
  check.optional("quantScaleOptional", a.quant_scale);
  check.optional("quantOffsetOptional", a.quant_offset).optional("groupIndexOptional", a.groups);
  check.dtype("weightScaleOptional", a.weight_scale).dtype("activationScaleOptional", a.row_scale);
  check.dtype("biasOptional", a.bias).dtype("quantScaleOptional", a.quant_scale);
  check.dtype("quantOffsetOptional", a.quant_offset).dtype("yOut", a.y).dtype("yScaleOut", a.scale);
  check.that(a.groups == nullptr,
             "groupIndexOptional is given; the documents do not say what groups change, so the "
             "emulator takes null only");
  check.that(!bytes || a.row_scale == nullptr,
             "activationScaleOptional is given; with x of INT8 it must be null");
  check.that(bytes || a.quant_scale == nullptr,
             "quantScaleOptional is given; it belongs to x of INT8");
  check.that(bytes || a.quant_offset == nullptr,
             "quantOffsetOptional is given; it belongs to x of INT8");
  check.that(bytes || words || !(a.weight_scale || a.row_scale || a.bias),
             "%s is given; it belongs to x of integers",
             a.weight_scale ? "weightScaleOptional"
                            : (a.row_scale ? "activationScaleOptional" : "biasOptional"));
  check.that(a.factors.beta != 0.0f, "beta is 0; it must be another number");
  check.rank("x", a.x, 2, bytes ? 8 : 2);
  if (!check.ok()) return check;
  Layout half = layout_of(*a.x);
  int64_t &last = half.shape[half.rank - 1];
  check.that(a.x->numel() > 0, "x is empty, which is not supported");
  check.that(last % 2 == 0, "x has %lld in its last dimension; it must be even",
             static_cast<long long>(last));
  check_vector(check, "weightScaleOptional", a.weight_scale, last);
  check_vector(check, "biasOptional", a.bias, last);
  last /= 2;
  check_vector(check, "activationScaleOptional", a.row_scale, 1);
  check_vector(check, "quantScaleOptional", a.quant_scale, last);
  if (check.ok() && a.quant_scale && a.quant_offset)
    check.shape("quantOffsetOptional", a.quant_offset, layout_of(*a.quant_scale));
  check_vector(check, "quantOffsetOptional", a.quant_offset, last);
  return check.shape("yOut", a.y, half)
      .shape("yScaleOut", a.scale, dense_layout(half.shape, half.rank - 1));
}

Status plan_dequant_situ(const DequantSituArguments &a, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  const Check check = check_dequant_situ(a);
  if (!check.ok()) return check.status();
  const bool dynamic = dynamic_mode(a);
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t input = plan.input(a.x), weights = plan.input(a.weight_scale);
  const size_t row_scale = plan.input(a.row_scale), bias = plan.input(a.bias);
  const size_t factor = plan.input(a.quant_scale);
  // The formula of dynamic quantisation has no offset.
  const size_t offset = dynamic ? plan.unused(a.quant_offset) : plan.input(a.quant_offset);
  plan.unused(a.groups);
  const size_t y = plan.output(a.y);
  const size_t scale = dynamic ? plan.output(a.scale) : plan.unused(a.scale);
  const SituFactors factors = a.factors;
  const bool left = a.left;
  const int64_t width = a.x->shape[a.x->rank() - 1], half = width / 2;
  const int64_t rows = a.x->numel() / width;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &result = c.tensor(y);
        const View scales = dynamic ? view_of(c.tensor(scale)) : View();
        DequantRows from(operands.safe(view_of(c.tensor(input)), {view_of(result), scales}), width);
        const auto values = [&](size_t index) {
          return read_all<float>(c, index, c.has(index) ? c.tensor(index).numel() : 0, 0.0f);
        };
        from.column_scales = values(weights);
        from.row_scales = values(row_scale);
        from.float_bias = values(bias);
        const std::vector<float> divisors = values(factor), shifts = values(offset);
        const QuantTarget to(result, Rounding::kTrunc);
        const QuantRange range = quant_range(result.dtype);
        std::optional<RowTarget<float>> scale_to;
        if (dynamic) scale_to.emplace(scales);
        const size_t step = divisors.size() == 1 ? 0 : 1;
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          from.read(row, 0, x);
          float *gate = left ? x : x + half, *up = left ? x + half : x;
          situ_gate(gate, up, half, factors);
          if (dynamic) {
            if (!divisors.empty())
              for (int64_t i = 0; i < half; ++i) gate[i] *= divisors[step * static_cast<size_t>(i)];
            const RowScale found = scale_symmetric(gate, half, range);
            scale_to->write(row, 1, &found.scale);
          } else {
            for (int64_t i = 0; i < half; ++i) {
              const size_t j = step * static_cast<size_t>(i);
              gate[i] = gate[i] / divisors[j] + shifts[j];
            }
          }
          to.write(row * half, half, gate);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DequantSituQuant,
             (const aclTensor *x, const aclTensor *weightScaleOptional,
              const aclTensor *activationScaleOptional, const aclTensor *biasOptional,
              const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional,
              const aclTensor *groupIndexOptional, float beta, float linearBeta, bool activateLeft,
              const char *quantTypeOptional, aclTensor *yOut, aclTensor *yScaleOut)) {
  return emu::plan_dequant_situ({x,
                                 weightScaleOptional,
                                 activationScaleOptional,
                                 biasOptional,
                                 quantScaleOptional,
                                 quantOffsetOptional,
                                 groupIndexOptional,
                                 {beta, linearBeta},
                                 activateLeft,
                                 quantTypeOptional,
                                 yOut,
                                 yScaleOut},
                                workspaceSize, executor);
}
EMU_CATCH
