// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Pooling over windows of two dimensions: AvgPool2d and MaxPool.
#include <limits>

#include "aclnnop/pooling.h"
#include "ops/window/plane.h"

namespace emu {
namespace {

// One number for both dimensions, or one for each; `none` where the array is empty.
int64_t value_of(const aclIntArray *array, size_t d, int64_t none) {
  const auto &values = array->values;
  return values.empty() ? none : values[values.size() == 1 ? 0 : d];
}

// The axes of the last two dimensions and the shape of the result; a window that does not fit is refused.
Layout place_windows(Check &check, const aclTensor *self, bool ceil, Windows *windows) {
  Layout shape = layout_of(*self);
  for (int d = 0; d < 2; ++d) {
    Axis &axis = windows->axes[1 + d];
    axis.extent = shape.shape[shape.rank - 2 + d];
    axis.count = window_count(axis, ceil);
    check.that(axis.count > 0, "self has %lld elements along dimension %d; a window of %lld does not fit",
               static_cast<long long>(axis.extent), shape.rank - 2 + d, static_cast<long long>(axis.window));
    shape.shape[shape.rank - 2 + d] = axis.count;
  }
  return shape;
}

// Calls pool(taps, width, z, y, row) for each row of windows; `row` takes the results. T is what planes are read
// as, R what results are made in.
template <class T, class R, class F>
void pool_planes(const View &from, const View &to, const Windows &windows, T filling, F pool) {
  const Image input = image_of(from, 2), output = image_of(to, 2);
  const int64_t positions = windows.positions(), work = positions * windows.elements();
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, work));
  parallel_for(input.batch * input.channels, grain, [&](int64_t begin, int64_t end) {
    Plane<T> plane(windows, filling);
    std::vector<const T *> taps(static_cast<size_t>(windows.elements()));
    std::vector<R> results(static_cast<size_t>(positions));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / input.channels, channel = i % input.channels, width = windows.axes[2].count;
      plane.load(input.plane(n, channel));
      for (int64_t y = 0; y < windows.axes[1].count; ++y) {
        plane.taps(0, y, taps.data());
        pool(taps, y, results.data() + y * width);
      }
      RowTarget<R>(output.plane(n, channel)).write(0, positions, results.data());
    }
  });
}

// NaN wins, as in comparisons that carry it on.
template <class T>
void highest(const View &from, const View &to, const Windows &windows) {
  constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                              : std::numeric_limits<T>::lowest();
  const int64_t width = windows.axes[2].count;
  pool_planes<T, T>(from, to, windows, kLowest, [width](const std::vector<const T *> &taps, int64_t, T *row) {
    std::copy(taps[0], taps[0] + width, row);
    for (size_t t = 1; t < taps.size(); ++t) {
      const T *tap = taps[t];
      for (int64_t i = 0; i < width; ++i) row[i] = tap[i] > row[i] || tap[i] != tap[i] ? tap[i] : row[i];
    }
  });
}

// How many elements a window counts: those inside the image, with `margins` those in the margins as well; what a
// window of ceil mode has beyond them never counts.
int64_t counted(const Axis &axis, int64_t i, bool margins) {
  const int64_t begin = i * axis.step - axis.before,
                end = std::min(begin + axis.window, axis.extent + axis.after);
  return margins ? end - begin : std::min(end, axis.extent) - std::max<int64_t>(begin, 0);
}

// Sums in fp64, so that large windows lose nothing; one rounding.
void averages(const View &from, const View &to, const Windows &windows, bool margins, int64_t divisor) {
  const int64_t width = windows.axes[2].count;
  pool_planes<float, double>(
      from, to, windows, 0.0f, [&](const std::vector<const float *> &taps, int64_t y, double *row) {
        std::fill(row, row + width, 0.0);
        for (const float *tap : taps) {
          for (int64_t i = 0; i < width; ++i) row[i] += static_cast<double>(tap[i]);
        }
        const int64_t tall = counted(windows.axes[1], y, margins);
        for (int64_t i = 0; i < width; ++i) {
          row[i] /= static_cast<double>(divisor != 0 ? divisor : tall * counted(windows.axes[2], i, margins));
        }
      });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AvgPool2d, (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *strides,
                         const aclIntArray *paddings, bool ceilMode, bool countIncludePad, int64_t divisorOverride,
                         int8_t cubeMathType, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnAvgPool2d");
  check.required("self", self).required("kernelSize", kernelSize).required("strides", strides);
  check.required("paddings", paddings).required("out", out);
  check.dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype).rank("self", self, 3, 4);
  if (!check.ok()) return check.status();
  const aclFormat format = self->rank() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL;
  format_in(check, "self", self, {format});
  format_in(check, "out", out, {format});
  values_from(check, "kernelSize", kernelSize, 1);
  values_from(check, "strides", strides, 1);
  values_from(check, "paddings", paddings, 0);
  only_batch_empty(check, "self", self, 2);
  length_in(check, "kernelSize", kernelSize, {1, 2});
  length_in(check, "paddings", paddings, {1, 2});
  length_in(check, "strides", strides, {0, 1, 2});
  if (!check.ok()) return check.status();
  Windows windows;
  for (size_t d = 0; d < 2; ++d) {
    Axis &axis = windows.axes[1 + d];
    axis.window = value_of(kernelSize, d, 1);
    axis.step = value_of(strides, d, axis.window);
    axis.before = axis.after = value_of(paddings, d, 0);
    check.that(2 * axis.before <= axis.window, "paddings has the value %lld; at most half of the kernelSize %lld",
               static_cast<long long>(axis.before), static_cast<long long>(axis.window));
  }
  if (!check.ok()) return check.status();
  check.shape("out", out, place_windows(check, self, ceilMode, &windows));
  // 1 permits less precision and gets all of it; 2 rounds fp32 to fp16 first.
  check.that(cubeMathType >= 0 && cubeMathType <= 2, "cubeMathType is %d; allowed: 0 to 2", cubeMathType);
  check.that(cubeMathType != 2 || self->dtype != ACL_BF16, "cubeMathType is 2, which BF16 cannot have");
  if (!check.ok()) return check.status();
  const bool through_half = cubeMathType == 2 && self->dtype == ACL_FLOAT;
  PlanBuilder plan("aclnnAvgPool2d");
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        View source = operands.safe(view_of(c.tensor(from)), {result});
        std::unique_ptr<char[]> memory;
        if (through_half) source = dense_as(source, ACL_FLOAT16, &memory);
        averages(source, result, windows, countIncludePad, divisorOverride);
        return Status{0};
      },
      workspaceSize, executor);
}

EMU_OPERATOR(MaxPool, (const aclTensor *self, const aclIntArray *kernelShape, const aclIntArray *strides,
                       int64_t autoPad, const aclIntArray *pads, const aclIntArray *dilations, int64_t ceilMode,
                       aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMaxPool");
  check.required("self", self).required("kernelShape", kernelShape).required("strides", strides);
  check.required("pads", pads).required("dilations", dilations).required("out", out);
  // Chips before the 950 take two dtypes alone.
  check.dtype("self", self, chip_is_950() ? 0 : ~dtype_set(ACL_FLOAT16, ACL_FLOAT));
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  check.that(out->format == self->format, "out has format %s; it must have that of self, %s",
             format_name(out->format), format_name(self->format));
  check.rank("self", self, 3, 4);
  if (!check.ok()) return check.status();
  format_in(check, "self", self, {ACL_FORMAT_ND, self->rank() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL});
  length_in(check, "kernelShape", kernelShape, {1, 2});
  length_in(check, "strides", strides, {0, 1, 2});
  length_in(check, "pads", pads, {0, 1, 2, 4});
  length_in(check, "dilations", dilations, {0, 1, 2, 4});
  check.that(autoPad == 0, "autoPad is %lld; allowed: 0", static_cast<long long>(autoPad));
  for (const int64_t value : check.ok() ? dilations->values : std::vector<int64_t>()) {
    check.that(value == 1, "dilations has the value %lld; allowed: 1", static_cast<long long>(value));
  }
  values_from(check, "kernelShape", kernelShape, 1);
  values_from(check, "strides", strides, 1);
  values_from(check, "pads", pads, 0);
  if (!check.ok()) return check.status();
  Windows windows;
  for (size_t d = 0; d < 2; ++d) {
    Axis &axis = windows.axes[1 + d];
    axis.window = value_of(kernelShape, d, 1);
    axis.step = value_of(strides, d, 1);
    // Four numbers are the margins before height and width, then those behind them.
    const bool four = pads->values.size() == 4;
    axis.before = four ? pads->values[d] : value_of(pads, d, 0);
    axis.after = four ? pads->values[2 + d] : axis.before;
    check.that(axis.before + axis.after <= axis.window,
               "pads has %lld and %lld around one dimension; together at most the kernelShape %lld",
               static_cast<long long>(axis.before), static_cast<long long>(axis.after),
               static_cast<long long>(axis.window));
  }
  only_batch_empty(check, "self", self, 2);
  if (!check.ok()) return check.status();
  check.shape("out", out, place_windows(check, self, ceilMode != 0, &windows));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnMaxPool");
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const View source = operands.safe(view_of(c.tensor(from)), {result});
        switch (compute_for(source.dtype)) {
          case Compute::I32: highest<int32_t>(source, result, windows); break;
          case Compute::I64: highest<int64_t>(source, result, windows); break;
          default: highest<float>(source, result, windows);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
