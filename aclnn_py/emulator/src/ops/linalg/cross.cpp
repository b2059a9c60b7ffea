// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The cross product of vectors of three elements.
#include "aclnnop/math.h"
#include "core/pool.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/kept.h"

namespace emu {
namespace {

// The place `index` of an axis.
View component(const View &view, int axis, int index) {
  View one = view;
  one.data += view.layout.stride[axis] * index * item_size(view.dtype);
  one.layout = Layout();
  for (int d = 0; d < view.layout.rank; ++d) {
    if (d != axis) one.layout.push(view.layout.shape[d], view.layout.stride[d]);
  }
  return one;
}

// Vectors of float32 of which each begins as far behind the one before it as any other.
struct Line {
  float *first = nullptr;
  int64_t vector = 0, component = 0;  // elements to the next one

  float *of(int64_t i) const { return first + i * vector; }
};

bool in_line(const View &view, int axis, Line *line) {
  const Layout vectors = coalesced(component(view, axis, 0).layout);
  if (view.dtype != ACL_FLOAT || vectors.rank > 1) return false;
  *line = {reinterpret_cast<float *>(view.data), vectors.rank == 0 ? 0 : vectors.stride[0],
           view.layout.stride[axis]};
  return true;
}

void multiply(const Line &u, const Line &v, const Line &to, int64_t count) {
  parallel_for(count, 16 * kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float *a = u.of(i), *b = v.of(i);
      const float a0 = a[0], a1 = a[u.component], a2 = a[2 * u.component], b0 = b[0],
                  b1 = b[v.component], b2 = b[2 * v.component];
      float *result = to.of(i);
      result[0] = a1 * b2 - a2 * b1;
      result[to.component] = a2 * b0 - a0 * b2;
      result[2 * to.component] = a0 * b1 - a1 * b0;
    }
  });
}

}  // namespace

EMU_FORMULA(LinalgCross, (T x, T y, T z, T w), minus(times(x, y), times(z, w)))
EMU_OPERATOR(LinalgCross,
             (const aclTensor *self, const aclTensor *other, int64_t dim, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnLinalgCross", &block_table<LinalgCrossFormula, types::kNumber, 4, 0>, kKeep};
  Check check(row.op);
  check.required("self", self).required("other", other).required("out", out);
  check.dtype("self", self).dtype("other", other).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("other", other->dtype, "self", self->dtype)
      .same_dtype("out", out->dtype, "self", self->dtype)
      .rank("self", self, 1, 8)
      .rank("other", other, 0, 8)
      .rank("out", out, 0, 8);
  if (!check.ok()) return check.status();
  const Layout left = layout_of(*self), right = layout_of(*other);
  Layout shape;
  check.that(broadcast_shapes(left, right, &shape),
             "other has shape %s, which does not broadcast with %s", shape_text(right).c_str(),
             shape_text(left).c_str());
  int axis = 0;
  check.that(wrap_dim(dim, left.rank, &axis), "dim is %lld; allowed: %d to %d",
             static_cast<long long>(dim), -left.rank, left.rank - 1);
  if (!check.ok()) return check.status();
  axis += shape.rank - left.rank;
  check.that(shape.shape[axis] == 3, "self and other have %lld elements along dim %lld; expected 3",
             static_cast<long long>(shape.shape[axis]), static_cast<long long>(dim));
  check.shape("out", out, shape);
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, self->dtype, 4, &task)) return check.status();
  PlanBuilder plan(row.op);
  const size_t x = plan.input(self), y = plan.input(other), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        // Each component needs two of either side, so what the result overwrites is copied first.
        const Kept a(view_of(c.tensor(x)), result), b(view_of(c.tensor(y)), result);
        View u = a.view(), v = b.view();
        u.layout = broadcast_to(u.layout, result.layout);
        v.layout = broadcast_to(v.layout, result.layout);
        Line left, right, target;
        if (in_line(u, axis, &left) && in_line(v, axis, &right) && in_line(result, axis, &target)) {
          multiply(left, right, target, result.count() / 3);
          return Status{0};
        }
        for (int i = 0; i < 3; ++i) {
          const int next = (i + 1) % 3, last = (i + 2) % 3;
          const View in[] = {component(u, axis, next), component(v, axis, last),
                             component(u, axis, last), component(v, axis, next)};
          run_elementwise(task, in, component(result, axis, i));
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
