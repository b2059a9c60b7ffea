// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// From values with a scale for each block of 32 back to floats.
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/quantised.h"

EMU_OPERATOR(AntiMxQuant, (const aclTensor *x, const aclTensor *mxscale, int64_t axis,
                           int64_t dstType, aclTensor *y)) {
  using namespace emu;
  constexpr const char *op = "aclnnAntiMxQuant";
  Check check(op);
  check.required("x", x).required("mxscale", mxscale).required("y", y);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", x).dtype("mxscale", mxscale).dtype("y", y);
  check.plain_format("x", x).plain_format("mxscale", mxscale).plain_format("y", y);
  check.rank("x", x, 1, 7);
  if (!check.ok()) return check.status();
  const Layout values = layout_of(*x);
  const int dim = check_axis(check, "axis", axis, "x", values.rank);
  check_dst_type(check, "dstType", dstType, "y", y);
  check_float4(check, "x", x);
  check.shape("y", y, values).shape("mxscale", mxscale, mx_scale_layout(values, dim, kMxBlock));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), scale = plan.input(mxscale), output = plan.output(y);
  const MxPlan shape = mx_plan(values, dim, kMxBlock);
  return plan.finish(
      [=](PlanContext &c) {
        if (c.tensor(input).numel() == 0) return Status{0};
        const LowValues from(c.tensor(input)), scales(c.tensor(scale));
        const RowTarget<float> to(view_of(c.tensor(output)));
        // Runs of values that lie side by side: along the blocks themselves, or across them.
        const bool along = shape.inner == 1;
        const int64_t rows = along ? shape.outer : shape.outer * shape.length;
        const int64_t width = along ? shape.length : shape.inner, pairs = shape.pairs();
        const int64_t needed = along ? 2 * pairs : 2 * shape.inner;
        for_each_row<float>(rows, width + needed, 1, [&](int64_t row, float *memory) {
          float *line = memory, *factors = memory + width;
          from.read(row * width, width, line);
          const int64_t block = along ? 0 : row % shape.length / kMxBlock;
          const int64_t first =
              along ? row * needed : (row / shape.length * pairs + block / 2) * needed;
          scales.read(first, needed, factors);
          for (int64_t i = 0; i < width; ++i)
            line[i] *= along ? factors[i / kMxBlock] : factors[2 * i + block % 2];
          to.write(row * width, width, line);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
