// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Symmetric positive definite matrices as the product of a triangular one and its transpose.
#include <limits>

#include "aclnnop/math.h"
#include "ops/linalg/matrices.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr int64_t kPanel = 32;  // rows whose updates are made together

// Row `to` less `by` times row `from`, from column `to` on.
void subtract_row(DenseMatrix<double> *u, int64_t to, int64_t from) {
  const double by = u->at(from, to);
  double *row = &u->at(to, 0);
  const double *other = &u->at(from, 0);
  for (int64_t c = to; c < u->columns; ++c) row[c] -= by * other[c];
}

// The upper triangle of `u` becomes the factor, whose transpose is multiplied from the left. False
// where a pivot is not positive: the matrix is not positive definite.
bool factorise(DenseMatrix<double> *u) {
  const int64_t n = u->rows;
  for (int64_t first = 0; first < n; first += kPanel) {
    const int64_t end = std::min(n, first + kPanel);
    for (int64_t j = first; j < end; ++j) {
      for (int64_t k = first; k < j; ++k) subtract_row(u, j, k);
      const double pivot = u->at(j, j);
      if (!(pivot > 0)) return false;
      const double root = std::sqrt(pivot);
      for (int64_t c = j; c < n; ++c) u->at(j, c) /= root;
    }
    for_each_row(n - end, kPanel * (n - end), [&](int64_t row) {
      for (int64_t k = first; k < end; ++k) subtract_row(u, end + row, k);
    });
  }
  return true;
}

// Only the triangle that `upper` names is read.
DenseMatrix<double> factor_of(const DenseMatrix<double> &a, bool upper) {
  const int64_t n = a.rows;
  DenseMatrix<double> u(n, n), result(n, n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) u.at(i, j) = upper ? a.at(i, j) : a.at(j, i);
  }
  if (!factorise(&u)) {
    std::fill(result.items.begin(), result.items.end(), std::numeric_limits<double>::quiet_NaN());
    return result;
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) (upper ? result.at(i, j) : result.at(j, i)) = u.at(i, j);
  }
  return result;
}

}  // namespace

EMU_OPERATOR(LinalgCholesky, (const aclTensor *self, bool upper, aclTensor *out)) {
  Check check("aclnnLinalgCholesky");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype).plain_format("self", self);
  square(check.rank("self", self, 2, 8), "self", self);
  if (!check.ok()) return check.status();
  check.shape("out", out, layout_of(*self));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnLinalgCholesky");
  const size_t source = plan.input(self), target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(target));
        if (to.count() == 0) return Status{0};
        const SafeView from(view_of(context.tensor(source)), {to});
        const int64_t n = to.layout.shape[to.layout.rank - 1];
        const MatrixReader<double> reader(from.view());
        const MatrixWriter<double> write(to);
        for_each_matrix(batch_count(to.layout), n, n, [&](int64_t index) {
          write.put(index, factor_of(reader.read(index), upper).items);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
