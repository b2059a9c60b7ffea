// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Logits with -inf in place of the tokens that top-k and top-p filter out.
#include "aclnnop/index.h"
#include "ops/sampling/filter.h"
#include "ops/shared/rows.h"

EMU_OPERATOR(ApplyTopKTopP, (const aclTensor *logits, const aclTensor *pOptional,
                             const aclTensor *kOptional, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnApplyTopKTopP";
  Check check(op);
  check.required("logits", logits)
      .optional("pOptional", pOptional)
      .optional("kOptional", kOptional)
      .required("out", out);
  if (pOptional == nullptr) check.required("kOptional (like pOptional)", kOptional);
  check.dtype("logits", logits)
      .dtype("pOptional", pOptional)
      .dtype("kOptional", kOptional)
      .dtype("out", out);
  if (!check.ok()) return check.status();
  if (pOptional) check.same_dtype("pOptional", pOptional->dtype, "logits", logits->dtype);
  check.same_dtype("out", out->dtype, "logits", logits->dtype);
  check.rank("logits", logits, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t rows = logits->shape[0], width = logits->shape[1];
  check.shape("out", out, layout_of(*logits));
  check.shape("pOptional", pOptional, dense_layout(&rows, 1))
      .shape("kOptional", kOptional, dense_layout(&rows, 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t input = plan.input(logits), top_p = plan.input(pOptional),
               top_k = plan.input(kOptional);
  const size_t output = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(output));
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {result}));
        const RowTarget<float> to(result);
        const auto ps = read_all<float>(c, top_p, rows, 1.0f);
        const auto ks = read_all<int32_t>(c, top_k, rows, 0);
        const bool by_p = c.has(top_p);
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *values) {
          const int64_t most = ks[static_cast<size_t>(row)];
          from.read(row * width, width, values);
          if (most > 0 && most < width) keep_top_k(values, width, most, values + width);
          if (by_p) keep_top_p(values, width, ps[static_cast<size_t>(row)], values + width);
          to.write(row * width, width, values);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
