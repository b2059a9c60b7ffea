// SPDX-License-Identifier: Apache-2.0
// What gradients of pools and margins share: the walk over planes. Slopes of one element are summed
// in float64, and rounded once.
#pragma once

#include <vector>

#include "core/pool.h"
#include "ops/shared/rows.h"
#include "ops/window/geometry.h"

namespace emu {

// Whether the planes of an image lie ready as elements T.
template <class T>
bool planes_ready(const Image &image) {
  int64_t step = 0;
  return image.dtype == row_dtype<T>() && image.even(&step) && step == 1;
}

// Calls add(n, channel, slopes, sums) for each plane: the slopes of the results of the pool, and a
// sum for each element of the image, all 0 at first unless `cleared` is false. T is what slopes are
// read as, and Sum what they are added up in.
template <class T = float, class Sum = double, class Add>
void sum_planes(const Image &slopes, const Image &result, Add add, bool cleared = true) {
  const int64_t area = result.area(), given = slopes.area();
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, area));
  // A result at the place of the slopes would be cleared before they are read.
  const bool ready = planes_ready<T>(slopes) && slopes.data != result.data,
             direct = planes_ready<Sum>(result);
  parallel_for(result.batch * result.channels, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> read(static_cast<size_t>(ready ? 0 : given));
    std::vector<Sum> made(static_cast<size_t>(direct ? 0 : area));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / result.channels, channel = i % result.channels;
      const T *from = reinterpret_cast<const T *>(slopes.at(n, channel));
      if (!ready) {
        RowSource<T>(slopes.plane(n, channel)).read(0, given, read.data());
        from = read.data();
      }
      Sum *sums = direct ? reinterpret_cast<Sum *>(result.at(n, channel)) : made.data();
      if (cleared) std::fill(sums, sums + area, Sum{});
      add(n, channel, from, sums);
      if (!direct) RowTarget<Sum>(result.plane(n, channel)).write(0, area, sums);
    }
  });
}

// gradOutput has the dtype and format of self and the shape of the pool's result; `result` is like
// self.
inline Check &check_slopes(Check &check, const aclTensor *slopes, const Layout &pooled,
                           const aclTensor *self, const char *name, const aclTensor *result) {
  if (!check.ok()) return check;
  same_format(check, "gradOutput", slopes, self);
  same_format(check, name, result, self);
  return check.shape("gradOutput", slopes, pooled).shape(name, result, layout_of(*self));
}

// Plans a gradient whose kernel does not read self: body(slopes, result) gets slopes that may be
// read while the result is written.
template <class F>
Status plan_slopes(const char *op, const aclTensor *slopes, const aclTensor *self,
                   const aclTensor *result, KernelTime time, F body, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  PlanBuilder plan(op, time);
  const size_t from = plan.input(slopes);
  plan.input(self);
  const size_t to = plan.output(result);
  return plan.finish(
      [from, to, body](PlanContext &c) {
        Operands operands;
        const View target = view_of(c.tensor(to));
        body(operands.safe(view_of(c.tensor(from)), {target}), target);
        return Status{0};
      },
      workspace_size, executor);
}

// Of adaptive pools: the shape of gradOutput, whose last dimensions are free, but not empty.
inline Layout free_cells(Check &check, const aclTensor *slopes, const aclTensor *self,
                         int spatial) {
  check.rank("self", self, spatial + 1, spatial + 2);
  if (!check.ok()) return Layout();
  check.that(slopes->rank() == self->rank(),
             "gradOutput has %zu dimensions; it must have as many as self, %zu", slopes->rank(),
             self->rank());
  if (!check.ok()) return Layout();
  only_batch_empty(check, "self", self, spatial);
  only_batch_empty(check, "gradOutput", slopes, spatial);
  Layout pooled = layout_of(*self);
  for (int d = pooled.rank - spatial; d < pooled.rank; ++d)
    pooled.shape[d] = slopes->shape[static_cast<size_t>(d)];
  return pooled;
}

}  // namespace emu
