// SPDX-License-Identifier: Apache-2.0
// Im2col: every window of an image as a column.
#include "aclnnop/conversion.h"
#include "ops/norm/rows.h"
#include "ops/window/columns.h"

EMU_OPERATOR(Im2col,
             (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *dilation,
              const aclIntArray *padding, const aclIntArray *stride, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnIm2col");
  check.required("self", self).required("kernelSize", kernelSize).required("dilation", dilation);
  check.required("padding", padding).required("stride", stride).required("out", out);
  check.dtype("self", self).dtype("out", out).rank("self", self, 3, 4);
  if (!check.ok()) return check.status();
  only_batch_empty(check, "self", self, 2);
  length_in(check, "kernelSize", kernelSize, {2});
  length_in(check, "dilation", dilation, {2});
  length_in(check, "padding", padding, {2});
  length_in(check, "stride", stride, {2});
  values_from(check, "kernelSize", kernelSize, 1);
  values_from(check, "stride", stride, 1);
  values_from(check, "dilation", dilation, 1);
  values_from(check, "padding", padding, 0);
  if (!check.ok()) return check.status();
  Windows windows;
  const size_t lead = self->rank() - 2;
  for (size_t d = 0; d < 2; ++d) {
    Axis &axis = windows.axes[1 + d];
    axis = {self->shape[lead + d], kernelSize->values[d], stride->values[d],
            dilation->values[d],   padding->values[d],    padding->values[d]};
    axis.count = window_count(axis, false);
    check.that(
        axis.count >= 1,
        "kernelSize %lld with dilation %lld does not fit into %lld elements with padding %lld",
        static_cast<long long>(axis.window), static_cast<long long>(axis.spread),
        static_cast<long long>(axis.extent), static_cast<long long>(axis.before));
  }
  if (!check.ok()) return check.status();
  Layout columns;
  if (lead == 2) columns.push(self->shape[0], 0);
  const Checked elements =
      Checked(self->shape[lead - 1]) * windows.axes[1].window * windows.axes[2].window;
  columns.push(check.size("kernelSize", elements), 0);
  columns.push(check.size("kernelSize", Checked(windows.axes[1].count) * windows.axes[2].count), 0);
  check.shape("out", out, columns);
  if (!check.ok()) return check.status();
  check.castable(self->dtype, "out", out->dtype);
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      "aclnnIm2col", self, out,
      [=](const View &source, const View &result) {
        if (result.count() == 0) return;
        const Image image = image_of(source, 2);
        std::unique_ptr<char[]> memory;
        const bool direct = result.dtype == image.dtype && result.layout.is_dense();
        const View target = direct ? result : dense_as(result, image.dtype, &memory, false);
        const int64_t rows = image.channels * windows.elements(), width = windows.positions();
        for (int64_t n = 0; n < image.batch; ++n) {
          unfold(image, n, windows, 0, rows, 0, width,
                 target.data + n * rows * width * item_size(image.dtype), width);
        }
        if (!direct) copy_view(target, result);
      },
      workspaceSize, executor);
}
EMU_CATCH
