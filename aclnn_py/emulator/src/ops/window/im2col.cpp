// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Im2col: every window of an image as a column; Im2colBackward adds the columns up where their
// windows overlap, many in float64.
#include "aclnnop/conversion.h"
#include "aclnnop/image.h"
#include "core/pool.h"
#include "ops/shared/rows.h"
#include "ops/window/columns.h"

namespace emu {
namespace {

struct ColumnArrays {
  const aclIntArray *kernel, *dilation, *padding, *stride;
};

void check_arrays(Check &check, const ColumnArrays &a) {
  const struct {
    const char *name;
    const aclIntArray *array;
    int64_t lowest;
  } arrays[] = {{"kernelSize", a.kernel, 1},
                {"dilation", a.dilation, 1},
                {"padding", a.padding, 0},
                {"stride", a.stride, 1}};
  for (const auto &one : arrays) length_in(check, one.name, one.array, {2});
  for (const auto &one : arrays) values_from(check, one.name, one.array, one.lowest);
}

// The windows of an image with these extents, which ends with height and width.
void place_columns(Check &check, const ColumnArrays &a, const int64_t *extents, Windows *windows) {
  for (size_t d = 0; check.ok() && d < 2; ++d) {
    Axis &axis = windows->axes[1 + d];
    axis = {extents[d],           a.kernel->values[d], a.stride->values[d], a.dilation->values[d],
            a.padding->values[d], a.padding->values[d]};
    axis.count = window_count(axis, false);
    check.that(
        axis.count >= 1,
        "kernelSize %lld with dilation %lld does not fit into %lld elements with padding %lld",
        static_cast<long long>(axis.window), static_cast<long long>(axis.spread),
        static_cast<long long>(axis.extent), static_cast<long long>(axis.before));
  }
}

// (n, channels * elements of a window, windows), without n where the image has none.
Layout columns_shape(Check &check, const aclTensor *image, const Windows &windows) {
  Layout columns;
  if (!check.ok()) return columns;
  const size_t lead = image->rank() - 2;
  if (lead == 2) columns.push(image->shape[0], 0);
  const Checked elements =
      Checked(image->shape[lead - 1]) * windows.axes[1].window * windows.axes[2].window;
  columns.push(check.size("kernelSize", elements), 0);
  columns.push(check.size("kernelSize", Checked(windows.axes[1].count) * windows.axes[2].count), 0);
  return columns;
}

// Of so few columns the sum in float32 is as good as that in float64.
constexpr int64_t kFewColumns = 64;

template <class Sum>
void fold_columns(const View &source, const Image &result, const Windows &windows) {
  const int64_t size = windows.elements() * windows.positions(), area = result.area();
  const int64_t lines = windows.axes[1].count;
  const RowSource<Sum> columns(source);
  const bool ready = source.dtype == row_dtype<Sum>() && source.layout.is_dense();
  parallel_for(result.batch * result.channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<Sum> memory(static_cast<size_t>(ready ? 0 : size)),
        plane(static_cast<size_t>(area));
    for (int64_t i = begin; i < end; ++i) {
      const Sum *from = reinterpret_cast<const Sum *>(source.data) + i * size;
      if (!ready) {
        columns.read(i * size, size, memory.data());
        from = memory.data();
      }
      std::fill(plane.begin(), plane.end(), Sum{});
      fold_add<Sum>(from, windows.positions(), windows, 0, lines, plane.data());
      RowTarget<Sum>(result.plane(i / result.channels, i % result.channels))
          .write(0, area, plane.data());
    }
  });
}

}  // namespace
}  // namespace emu

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
  const ColumnArrays arrays = {kernelSize, dilation, padding, stride};
  check_arrays(check, arrays);
  Windows windows;
  place_columns(check, arrays, self->shape.data() + (self->rank() - 2), &windows);
  const Layout columns = columns_shape(check, self, windows);
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

EMU_OPERATOR(Im2colBackward,
             (const aclTensor *gradOutput, const aclIntArray *inputSize,
              const aclIntArray *kernelSize, const aclIntArray *dilation,
              const aclIntArray *padding, const aclIntArray *stride, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnIm2colBackward");
  check.required("gradOutput", gradOutput).required("inputSize", inputSize);
  check.required("kernelSize", kernelSize).required("dilation", dilation);
  check.required("padding", padding).required("stride", stride).required("out", out);
  check.dtype("gradOutput", gradOutput).dtype("out", out).rank("gradOutput", gradOutput, 2, 3);
  if (!check.ok()) return check.status();
  const int rank = static_cast<int>(gradOutput->rank()) + 1;
  check.rank("out", out, rank, rank);
  length_in(check, "inputSize", inputSize, {2});
  values_from(check, "inputSize", inputSize, 1);
  const ColumnArrays arrays = {kernelSize, dilation, padding, stride};
  check_arrays(check, arrays);
  if (!check.ok()) return check.status();
  Layout image = layout_of(*out);
  for (size_t d = 0; d < 2; ++d) image.shape[rank - 2 + static_cast<int>(d)] = inputSize->values[d];
  check.shape("out", out, image);
  Windows windows;
  place_columns(check, arrays, inputSize->values.data(), &windows);
  const Layout columns = columns_shape(check, out, windows);
  check.shape("gradOutput", gradOutput, columns);
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      "aclnnIm2colBackward", gradOutput, out,
      [=](const View &source, const View &result) {
        const auto fold =
            windows.elements() <= kFewColumns ? fold_columns<float> : fold_columns<double>;
        fold(source, image_of(result, 2), windows);
      },
      workspaceSize, executor);
}
EMU_CATCH
