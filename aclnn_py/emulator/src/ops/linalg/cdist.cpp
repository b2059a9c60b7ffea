// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Distances between all pairs of rows of two matrices, or of one.
#include "aclnnop/math.h"
#include "ops/linalg/matrices.h"
#include "ops/op.h"

namespace emu {
namespace {

double distance(const double *x, const double *y, int64_t count, double p) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double size = std::abs(x[i] - y[i]);
    if (std::isinf(p)) total = size > total || std::isnan(size) ? size : total;
    else if (p == 0) total += size != 0;
    else if (p == 1) total += size;
    else if (p == 2) total += size * size;
    else total += std::pow(size, p);
  }
  if (p == 2) return std::sqrt(total);
  return std::isinf(p) || p == 0 || p == 1 ? total : std::pow(total, 1 / p);
}

void fill_distances(const View &x1, const View &x2, double p, const View &out) {
  const MatrixReader<double> left(x1), right(x2);
  const RowWriter<double> write(out);
  const int64_t m = out.layout.shape[out.layout.rank - 2],
                n = out.layout.shape[out.layout.rank - 1];
  for (int64_t index = 0; index < batch_count(out.layout); ++index) {
    const DenseMatrix<double> a = left.read(index), b = right.read(index);
    const int64_t length = a.columns;
    for_each_row(m, n * length, [&](int64_t row) {
      double block[kBlock];
      for (int64_t start = 0; start < n; start += kBlock) {
        const int64_t count = std::min(kBlock, n - start);
        for (int64_t j = 0; j < count; ++j) {
          block[j] = distance(a.items.data() + row * length, b.items.data() + (start + j) * length,
                              length, p);
        }
        write.put((index * m + row) * n + start, count, block);
      }
    });
  }
}

// A view of matrices with the batch of `out`.
View with_batch_of(const View &out, const aclTensor &tensor) {
  const Layout own = layout_of(tensor);
  return view_of(tensor,
                 batch_shape(out.layout, {own.shape[own.rank - 2], own.shape[own.rank - 1]}));
}

// Row i holds the distances to the rows behind it; the rows lie one after the other.
void fill_pair_distances(const View &self, double p, const View &out) {
  const MatrixReader<double> reader(self);
  const RowWriter<double> write(out);
  const DenseMatrix<double> a = reader.read(0);
  const int64_t n = a.rows, length = a.columns;
  for_each_row(n, n * length, [&](int64_t row) {
    double block[kBlock];
    const int64_t pairs = n - row - 1, first = row * (2 * n - row - 1) / 2;
    for (int64_t start = 0; start < pairs; start += kBlock) {
      const int64_t count = std::min(kBlock, pairs - start);
      for (int64_t j = 0; j < count; ++j) {
        block[j] = distance(a.items.data() + row * length,
                            a.items.data() + (row + 1 + start + j) * length, length, p);
      }
      write.put(first + start, count, block);
    }
  });
}

// Both forms of the operator, checked but for the order p.
Status pair_distances(Check &check, const char *order_name, const aclTensor *self, double p,
                      const aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype).rank("self", self, 2, 2);
  check.that(p >= 0, "%s is %g; it must not be negative or NaN", order_name, p);
  if (!check.ok()) return check.status();
  const int64_t n = self->shape[0], twice = check.size("self", Checked(n) * (Checked(n) - 1));
  const int64_t pairs = twice / 2;
  check.shape("out", out, dense_layout(&pairs, 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t source = plan.input(self), target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(target));
        const SafeView from(view_of(context.tensor(source)), {to});
        fill_pair_distances(from.view(), p, to);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

// `compute_mode` chooses between ways to the same numbers.
EMU_OPERATOR(Cdist, (const aclTensor *x1, const aclTensor *x2, float p, int64_t /* compute_mode */,
                     aclTensor *out)) {
  Check check("aclnnCdist");
  check.required("x1", x1).required("x2", x2).required("out", out).dtype("x1", x1);
  check.dtype("x2", x2).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("x2", x2->dtype, "x1", x1->dtype).same_dtype("out", out->dtype, "x1", x1->dtype);
  check.rank("x1", x1, 2, 8).rank("x2", x2, 2, 8);
  if (!check.ok()) return check.status();
  const Layout left = layout_of(*x1), right = layout_of(*x2);
  check.that(left.shape[left.rank - 1] == right.shape[right.rank - 1],
             "x1 %s and x2 %s have rows of different lengths", shape_text(left).c_str(),
             shape_text(right).c_str());
  Layout batch;
  check.that(broadcast_shapes(batch_shape(left, {1, 1}), batch_shape(right, {1, 1}), &batch),
             "x1 %s and x2 %s do not broadcast outside their last two dimensions",
             shape_text(left).c_str(), shape_text(right).c_str());
  check.that(p >= 0, "p is %g; it must not be negative or NaN", static_cast<double>(p));
  if (!check.ok()) return check.status();
  check.shape("out", out,
              batch_shape(batch, {left.shape[left.rank - 2], right.shape[right.rank - 2]}));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnCdist");
  const size_t first = plan.input(x1), second = plan.input(x2), target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(target));
        const SafeView a(with_batch_of(to, context.tensor(first)), {to});
        const SafeView b(with_batch_of(to, context.tensor(second)), {to});
        fill_distances(a.view(), b.view(), p, to);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Pdist, (const aclTensor *self, float p, aclTensor *out)) {
  Check check("aclnnPdist");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  return pair_distances(check, "p", self, p, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(PdistForward, (const aclTensor *self, const aclScalar *pScalar, aclTensor *out)) {
  Check check("aclnnPdistForward");
  check.required("self", self).required("pScalar", pScalar).required("out", out);
  check.dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  return pair_distances(check, "pScalar", self, pScalar->to_double(), out, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
