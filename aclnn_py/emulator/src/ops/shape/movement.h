// SPDX-License-Identifier: Apache-2.0
// Operators that only move elements: they describe source and target as views and leave the copying
// to one engine.
#pragma once

#include "ops/op.h"

namespace emu {

// Copies elements between views of one shape; overlapping memory is copied aside first.
void move_view(const View &from, const View &to);
// Sets every element to zero bits, or to a scalar converted to the view's dtype.
void fill_zero(const View &view);
void fill_scalar(const View &view, const aclScalar &value);

// `length` entries of dimension `dim` from `start`, `step` apart (which may be negative).
View narrowed(const View &view, int dim, int64_t start, int64_t length, int64_t step = 1);
// Dimension `dim` fixed at `index`, and gone.
View selected(const View &view, int dim, int64_t index);
// The elements of a dense view under another shape of the same count.
View reshaped(const View &dense, const Layout &shape);

// Element sizes the copying engine handles: whole bytes.
Check &movable(Check &check, const char *parameter, const aclTensor *tensor);
// A dimension number against the rank of a tensor; the wrapped value in *axis.
Check &dimension(Check &check, const char *parameter, int64_t dim, const char *tensor_name,
                 size_t rank, int *axis);

// out = source(self) where `source` makes the view whose elements out receives: the whole body of a
// data movement operator.
template <class F>
Status plan_movement(const char *op, const aclTensor *self, const aclTensor *out, F source,
                     uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        View part = source(view_of(c.tensor(from)));
        // one element, () or (1)
        if (part.layout.rank != target.layout.rank) part.layout = target.layout;
        move_view(part, target);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace emu
