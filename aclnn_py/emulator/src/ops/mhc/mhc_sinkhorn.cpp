// SPDX-License-Identifier: Apache-2.0
// Mixing matrices made doubly stochastic, on chips of the 950 series.
#include "aclnnop/mhc.h"
#include "ops/mhc/mixing.h"
#include "ops/quant/mx_check.h"

EMU_OPERATOR(MhcSinkhorn, (const aclTensor *x, float eps, int64_t numIters, aclTensor *output,
                           aclTensor *normOutOptional, aclTensor *sumOutOptional)) {
  using namespace emu;
  Check check("aclnnMhcSinkhorn");
  check.required("x", x).required("output", output);
  check.optional("normOutOptional", normOutOptional).optional("sumOutOptional", sumOutOptional);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  check.dtype("x", x).dtype("output", output).plain_format("x", x).rank("x", x, 3, 4);
  // The documents give the sizes of these results, not how the stages lie in them.
  check.that(normOutOptional == nullptr,
             "normOutOptional is given; this device has no such result");
  check.that(sumOutOptional == nullptr, "sumOutOptional is given; this device has no such result");
  check.that(numIters >= 1 && numIters <= 100, "numIters is %lld; allowed: 1 to 100",
             static_cast<long long>(numIters));
  if (!check.ok()) return check.status();
  const size_t rank = x->rank();
  const int64_t n = x->shape[rank - 1];
  check.that((n == 4 || n == 6 || n == 8) && x->shape[rank - 2] == n,
             "x has shape %s; its last two dimensions must be 4, 6 or 8, and equal",
             shape_text(layout_of(*x)).c_str());
  check.that(x->numel() > 0, "x is empty: %s", shape_text(layout_of(*x)).c_str());
  check.shape("output", output, layout_of(*x));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(x), to = plan.output(output);
  plan.unused(normOutOptional);
  plan.unused(sumOutOptional);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        Operands operands;
        const RowSource<float> source(operands.safe(view_of(c.tensor(from)), {result}));
        const RowTarget<float> target(result);
        for_each_row<float>(result.count() / (n * n), n * n, 1, [&](int64_t row, float *matrix) {
          source.read(row * n * n, n * n, matrix);
          sinkhorn(matrix, n, numIters, eps, [](int64_t, const float *, const float *) {});
          target.write(row * n * n, n * n, matrix);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
