// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Matrices as an orthogonal (unitary) factor times an upper triangular one.
#include "aclnnop/math.h"
#include "ops/linalg/householder.h"
#include "ops/op.h"

namespace emu {
namespace {

enum Mode : int64_t { kReduced = 0, kComplete = 1, kTriangleOnly = 2 };

void decompose(const View &in, bool keep_q, const View &q, const View &r) {
  const SafeView safe(in, {keep_q ? q : r, r});
  const int64_t m = in.layout.shape[in.layout.rank - 2], n = in.layout.shape[in.layout.rank - 1];
  const int64_t inner = r.layout.shape[r.layout.rank - 2];
  with_wide_type(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    const MatrixReader<T> reader(safe.view());
    const MatrixWriter<T> write_q(keep_q ? q : r), write_r(r);
    for_each_matrix(batch_count(in.layout), m, n, [&](int64_t index) {
      DenseMatrix<T> matrix = reader.read(index);
      Lines<T> columns(n, m);
      turn_over(whole(&matrix), columns.part(0, 0, n));
      std::vector<Reflections<T>> factors = triangulate(&columns);
      if (keep_q) {
        Lines<T> of_q = orthogonal_columns(factors, inner, m);
        DenseMatrix<T> result(m, inner);
        turn_over(of_q.part(0, 0, inner), whole(&result));
        write_q.put(index, result.items);
      }
      DenseMatrix<T> result(inner, n);
      const Part<T> upper = whole(&result);
      turn_over(columns.part(0, 0, n).part(0, 0, n, inner), upper);
      for (int64_t i = 1; i < inner; ++i) std::fill_n(upper.row(i), std::min(i, n), T{});
      write_r.put(index, result.items);
    });
  });
}

Status plan_qr(Check &check, const aclTensor *self, int64_t mode, const aclTensor *Q,
               const aclTensor *R, uint64_t *workspace_size, aclOpExecutor **executor) {
  check.required("self", self).required("Q", Q).required("R", R);
  check.dtype("self", self).dtype("Q", Q).dtype("R", R);
  if (check.ok()) {
    check.castable(self->dtype, "Q", Q->dtype).castable(self->dtype, "R", R->dtype);
  }
  check.rank("self", self, 2, 8);
  check.that(mode >= kReduced && mode <= kTriangleOnly,
             "mode is %lld; allowed: 0 (reduced), 1 (complete), 2 (r)",
             static_cast<long long>(mode));
  if (!check.ok()) return check.status();
  const Layout in = layout_of(*self);
  const int64_t m = in.shape[in.rank - 2], n = in.shape[in.rank - 1];
  const int64_t inner = mode == kComplete ? m : std::min(m, n);
  if (mode == kTriangleOnly) {
    check.that(Q->numel() == 0, "Q has shape %s; it must have no elements with mode 2",
               shape_text(layout_of(*Q)).c_str());
  } else {
    check.shape("Q", Q, batch_shape(in, {m, inner}));
  }
  check.shape("R", R, batch_shape(in, {inner, n}));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t source = plan.input(self), first = plan.output(Q), second = plan.output(R);
  const bool keep_q = mode != kTriangleOnly;
  return plan.finish(
      [=](PlanContext &context) {
        decompose(view_of(context.tensor(source)), keep_q, view_of(context.tensor(first)),
                  view_of(context.tensor(second)));
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

EMU_OPERATOR(LinalgQr, (const aclTensor *self, int64_t mode, aclTensor *Q, aclTensor *R)) {
  Check check("aclnnLinalgQr");
  return plan_qr(check, self, mode, Q, R, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Qr, (const aclTensor *self, bool some, aclTensor *Q, aclTensor *R)) {
  Check check("aclnnQr");
  return plan_qr(check, self, some ? kReduced : kComplete, Q, R, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
