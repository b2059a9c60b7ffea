// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// SwigluGroup, which chips of the 950 series have: a gated unit whose rows are weighted.
#include "aclnnop/activation.h"
#include "core/statuses.h"
#include "ops/ffn/gated_units.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

Status plan_swiglu_group(const aclTensor *x, const aclTensor *weight, const aclTensor *groups,
                         double limit, const aclTensor *out, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  constexpr const char *op = "aclnnSwigluGroup";
  Check check(op);
  check.required("x", x).required("out", out).optional("weightOptional", weight);
  check.optional("groupIndexOptional", groups);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.dtype("x", x).dtype("out", out);
  if (check.ok()) check.same_dtype("out", out->dtype, "x", x->dtype);
  check.tiling();
  check.dtype("weightOptional", weight).dtype("groupIndexOptional", groups);
  check.that(limit == -1.0 || limit > 0, "clampLimit is %g; it must be positive, or -1 for none",
             limit);
  Halves halves{0, 0, false, true};
  check_unit(check, {op, "x", x, -1, "out", out}, 1, &halves);
  if (!check.ok()) return check.status();
  check.that(x->numel() > 0, "x is empty, which is not supported");
  check.that(weight == nullptr || weight->numel() == halves.rows,
             "weightOptional has %lld elements; x has %lld rows",
             static_cast<long long>(weight ? weight->numel() : 0),
             static_cast<long long>(halves.rows));
  check.rank("groupIndexOptional", groups, 1, 1);
  check.that(groups == nullptr || groups->numel() > 0, "groupIndexOptional is empty");
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t from = plan.input(x), weights = plan.input(weight), counts = plan.input(groups),
               to = plan.output(out);
  const float bound = static_cast<float>(limit);
  return plan.finish(
      [=](PlanContext &c) {
        int64_t rows = halves.rows;
        if (c.has(counts)) {
          const Status s = grouped_rows(op, c.tensor(counts), halves.rows, &rows);
          if (s != 0) return s;
        }
        Operands operands;
        const View result = view_of(c.tensor(to));
        const RowSource<float> source(operands.safe(view_of(c.tensor(from)), {result}));
        const RowTarget<float> target(result);
        const auto factors = read_all<float>(c, weights, halves.rows, 1.0f);
        const int64_t width = halves.width;
        for_each_row<float>(rows, 2 * width, 1, [&](int64_t row, float *gate) {
          float *linear = gate + width;
          source.read(row * 2 * width, 2 * width, gate);
          if (bound > 0) {
            for (int64_t i = 0; i < width; ++i) {
              gate[i] = std::min(gate[i], bound);
              linear[i] = std::max(std::min(linear[i], bound), -bound);
            }
          }
          silu_gate(gate, linear, width);
          const float factor = factors[static_cast<size_t>(row)];
          for (int64_t i = 0; i < width; ++i) gate[i] *= factor;
          target.write(row * width, width, gate);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwigluGroup,
             (const aclTensor *x, const aclTensor *weightOptional,
              const aclTensor *groupIndexOptional, double clampLimit, aclTensor *out)) {
  return emu::plan_swiglu_group(x, weightOptional, groupIndexOptional, clampLimit, out,
                                workspaceSize, executor);
}
EMU_CATCH
