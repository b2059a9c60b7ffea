// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// The logarithm of the sigmoid and its gradient, with the buffer that neither uses.
#include "aclnnop/activation.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/slope_blocks.h"

namespace emu {

EMU_FORMULA_X(LogSigmoidForward, log_sigmoid(x))
EMU_FLOAT_BLOCK(LogSigmoidForward, types::bit(Compute::F32), 1, 0, log_sigmoid_block)
EMU_OPERATOR(LogSigmoidForward, (const aclTensor *self, aclTensor *out, aclTensor *buffer)) {
  static constexpr ElementwiseRow row = {
      "aclnnLogSigmoidForward",
      &block_table<LogSigmoidForwardFormula, types::bit(Compute::F32), 1, 0>, kExact};
  Check check(row.op);
  check.required("self", self).required("out", out).optional("buffer", buffer);
  check.dtype("self", self).dtype("out", out).dtype("buffer", buffer);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype)
      .rank("self", self, 0, 8)
      .shape("out", out, layout_of(*self));
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, self->dtype, 1, &task)) return check.status();
  PlanBuilder plan(row.op, KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  plan.unused(buffer);
  return plan.finish(
      [=](PlanContext &c) {
        const View x = view_of(c.tensor(from));
        run_elementwise(task, &x, view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XY(LogSigmoidBackward, x *sigmoid(-y))
EMU_FLOAT_BLOCK(LogSigmoidBackward, types::bit(Compute::F32), 2, 0, log_sigmoid_gradient_block)
EMU_OPERATOR(LogSigmoidBackward, (const aclTensor *gradOutput, const aclTensor *self,
                                  const aclTensor *buffer, aclTensor *gradInput)) {
  static constexpr ElementwiseRow row = {
      "aclnnLogSigmoidBackward",
      &block_table<LogSigmoidBackwardFormula, types::bit(Compute::F32), 2, 0>, kExact};
  Check check(row.op);
  check.required("gradOutput", gradOutput).required("self", self).required("buffer", buffer);
  check.required("gradInput", gradInput);
  check.dtype("gradOutput", gradOutput).dtype("self", self).dtype("gradInput", gradInput);
  check.dtype("buffer", buffer);
  if (!check.ok()) return check.status();
  check.same_dtype("gradOutput", gradOutput->dtype, "gradInput", gradInput->dtype)
      .same_dtype("self", self->dtype, "gradInput", gradInput->dtype)
      .rank("gradInput", gradInput, 0, 8)
      .shape("gradOutput", gradOutput, layout_of(*gradInput))
      .shape("self", self, layout_of(*gradInput));
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, self->dtype, 2, &task)) return check.status();
  PlanBuilder plan(row.op, KernelTime::linear);
  const size_t incoming = plan.input(gradOutput), from = plan.input(self);
  plan.unused(buffer);
  const size_t to = plan.output(gradInput);
  return plan.finish(
      [=](PlanContext &c) {
        const View in[] = {view_of(c.tensor(incoming)), view_of(c.tensor(from))};
        run_elementwise(task, in, view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
