// SPDX-License-Identifier: Apache-2.0
// What pools share: where their windows lie, and the walk over planes.
#pragma once

#include "core/pool.h"
#include "ops/window/plane.h"

namespace emu {

// One number for all dimensions or one for each; `none` where the array is empty.
inline int64_t value_of(const aclIntArray *array, size_t d, int64_t none) {
  const auto &values = array->values;
  return values.empty() ? none : values[values.size() == 1 ? 0 : d];
}

// Axis d of the last `spatial` dimensions.
inline Axis &axis_of(Windows &windows, int spatial, size_t d) {
  return windows.axes[static_cast<size_t>(kAxes - spatial) + d];
}

// Window, step (that of the window where `stride` is empty) and equal margins of each dimension. At
// most half of a window may lie in the margins.
Check &set_windows(Check &check, Windows *windows, int spatial, const char *kernel_name,
                   const aclIntArray *kernel, const aclIntArray *stride, const char *padding_name,
                   const aclIntArray *padding);

// What operators of maximum pools with places are asked: arrays of one number or one for each
// dimension.
struct MaxWindows {
  const aclIntArray *kernel, *stride, *padding, *dilation;
  bool ceil;
  int spatial;
};
Check &check_given(Check &check, const MaxWindows &how);
// The rank and format of self, the windows, and the shape of the result. After a refusal the shape
// is empty.
Layout check_highest(Check &check, const MaxWindows &how, const aclTensor *self, Windows *windows);

// The same for average pools, whose arrays have names of their own.
struct AverageWindows {
  const char *kernel_name, *stride_name, *padding_name;
  const aclIntArray *kernel, *stride, *padding;
  bool ceil;
  int64_t divisor;
  int8_t cube_math_type;
  int spatial;
};
Check &check_given(Check &check, const AverageWindows &how);
Layout check_average(Check &check, const AverageWindows &how, const aclTensor *self,
                     Windows *windows);

// Counts the windows and returns the shape of the result; a window that does not fit is refused.
Layout place_windows(Check &check, const aclTensor *self, int spatial, bool ceil, Windows *windows);

// How many elements a window of an average counts: those inside the image, with `margins` those in
// the margins as well; what a window of ceil mode has beyond them never counts.
inline int64_t counted(const Axis &axis, int64_t i, bool margins) {
  const int64_t begin = i * axis.step - axis.before,
                end = std::min(begin + axis.window, axis.extent + axis.after);
  return margins ? end - begin : std::min(end, axis.extent) - std::max<int64_t>(begin, 0);
}

// Calls pool(taps, z, y, results, at) for each row of windows of each plane: the results of the row
// begin at `at` of those of the plane, which `store` makes room for and writes. T is what planes
// are read as.
template <class T, class Pool, class Store>
void pool_planes(const Image &input, const Windows &windows, T filling, Pool pool, Store store) {
  const int64_t work = windows.positions() * windows.elements();
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, work));
  parallel_for(input.batch * input.channels, grain, [&](int64_t begin, int64_t end) {
    Plane<T> plane(windows, filling);
    std::vector<const T *> taps(static_cast<size_t>(windows.elements()));
    auto results = store.make(windows.positions());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / input.channels, channel = i % input.channels;
      plane.load(input.plane(n, channel));
      int64_t at = 0;
      for (int64_t z = 0; z < windows.axes[0].count; ++z) {
        for (int64_t y = 0; y < windows.axes[1].count; ++y, at += windows.axes[2].count) {
          plane.taps(z, y, taps.data());
          pool(taps, z, y, results, at);
        }
      }
      store.write(n, channel, results);
    }
  });
}

// The values of one plane.
template <class R>
struct Values {
  const Image &output;
  std::vector<R> make(int64_t positions) const {
    return std::vector<R>(static_cast<size_t>(positions));
  }
  void write(int64_t n, int64_t channel, const std::vector<R> &values) const {
    RowTarget<R>(output.plane(n, channel))
        .write(0, static_cast<int64_t>(values.size()), values.data());
  }
};

// Each element has one window at most.
inline bool apart(const Windows &windows) {
  for (const Axis &axis : windows.axes) {
    if (axis.spread != 1 || (axis.count > 1 && axis.step < axis.window)) return false;
  }
  return true;
}

// Where windows overlap, elements do not say how often they are read.
inline KernelTime time_of(const Windows &windows) {
  return apart(windows) ? KernelTime::linear : KernelTime::any;
}

// Plans a pool: body(input, output) gets an input that may be read while the output is written.
template <class F>
Status plan_pool(const char *op, const aclTensor *self, const aclTensor *out,
                 const Windows &windows, F body, uint64_t *workspace_size,
                 aclOpExecutor **executor) {
  PlanBuilder plan(op, time_of(windows));
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [from, to, body](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        body(operands.safe(view_of(c.tensor(from)), {result}), result);
        return Status{0};
      },
      workspace_size, executor);
}

// Cells of adaptive pools: cell i of `count` covers these elements of `extent`; neighbours may
// share one.
inline Span cell_of(int64_t i, int64_t count, int64_t extent) {
  return {i * extent / count, ((i + 1) * extent + count - 1) / count};
}

// Calls cell(plane, spans, results, at) for each cell of each plane, which is read into dense
// memory.
template <class T, class Cell, class Store>
void adapt_planes(const Image &input, const int64_t (&counts)[kAxes], Cell cell, Store store) {
  const int64_t area = input.area(), positions = counts[0] * counts[1] * counts[2];
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, area));
  parallel_for(input.batch * input.channels, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> plane(static_cast<size_t>(area));
    auto results = store.make(positions);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / input.channels, channel = i % input.channels;
      RowSource<T>(input.plane(n, channel)).read(0, area, plane.data());
      for (int64_t at = 0; at < positions; ++at) {
        const Span spans[kAxes] = {cell_of(at / counts[2] / counts[1], counts[0], input.extent[0]),
                                   cell_of(at / counts[2] % counts[1], counts[1], input.extent[1]),
                                   cell_of(at % counts[2], counts[2], input.extent[2])};
        cell(plane.data(), spans, results, at);
      }
      store.write(n, channel, results);
    }
  });
}

// What adaptive pools have in common in phase one: the counts asked for and the shape of the
// result.
Layout adaptive_shape(Check &check, const aclTensor *self, int spatial,
                      const aclIntArray *output_size);

}  // namespace emu
