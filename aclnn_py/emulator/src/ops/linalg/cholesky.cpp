// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Symmetric positive definite matrices as the product of a triangular one and its transpose.
#include <limits>

#include "aclnnop/math.h"
#include "ops/linalg/blocked.h"
#include "ops/op.h"

namespace emu {
namespace {

// Rows that take the products of all rows above them at a time, and so few rows that each takes
// those above it one by one.
constexpr int64_t kPanel = 64, kFew = 16;
constexpr int64_t kTile = 32;

// The upper triangle of a matrix becomes the factor, whose transpose is multiplied from the left.
class Factor {
 public:
  explicit Factor(DenseMatrix<double> *u) : u_(*u), n_(u->rows) {}

  // False where a pivot is not positive: the matrix is not positive definite.
  bool run() {
    for (int64_t first = 0; first < n_; first += kPanel) {
      const int64_t end = std::min(n_, first + kPanel);
      subtract_products(0, first, end);
      if (!finish(first, end)) return false;
    }
    return true;
  }

 private:
  // Rows [middle, end) less what rows [first, middle), which are finished, have a part in.
  void subtract_products(int64_t first, int64_t middle, int64_t end) {
    if (first == middle) return;
    const double *above = &u_.at(first, middle);
    const auto rows_above = [&](int64_t columns) {
      return Matrix{above, ACL_DOUBLE, middle - first, columns, {n_}, {1}};
    };
    gemm_f64_less(rows_above(end - middle).transposed(), rows_above(n_ - middle),
                  &u_.at(middle, middle), n_);
  }

  // Rows [first, end) lack only what they have a part in themselves.
  bool finish(int64_t first, int64_t end) {
    if (end - first > kFew) {
      const int64_t middle = first + (end - first) / 2;
      if (!finish(first, middle)) return false;
      subtract_products(first, middle, end);
      return finish(middle, end);
    }
    for (int64_t j = first; j < end; ++j) {
      double *row = &u_.at(j, 0);
      double factors[kFew];
      for (int64_t k = first; k < j; ++k) factors[k - first] = -u_.at(k, j);
      add_lines({&u_.at(first, j), j - first, n_ - j, n_}, factors, row + j);
      if (!(row[j] > 0)) return false;
      const double root = std::sqrt(row[j]);
      for (int64_t c = j; c < n_; ++c) row[c] /= root;
    }
    return true;
  }

  DenseMatrix<double> &u_;
  const int64_t n_;
};

// One triangle becomes the transpose of the other, in tiles that stay in the cache.
void mirror(DenseMatrix<double> *a, bool to_upper) {
  const int64_t n = a->rows;
  const Part<double> all = whole(a);
  for (int64_t top = 0; top < n; top += kTile) {
    const int64_t height = std::min(kTile, n - top);
    for (int64_t i = top; i < top + height; ++i) {
      for (int64_t j = i + 1; j < top + height; ++j)
        (to_upper ? a->at(i, j) : a->at(j, i)) = to_upper ? a->at(j, i) : a->at(i, j);
    }
    for (int64_t left = top + height; left < n; left += kTile) {
      const int64_t width = std::min(kTile, n - left);
      const Part<double> upper = all.part(top, left, height, width),
                         lower = all.part(left, top, width, height);
      if (to_upper) turn_over(lower, upper);
      else turn_over(upper, lower);
    }
  }
}

// The matrix becomes its factor. Only the triangle that `upper` names is read.
void factorise(DenseMatrix<double> *a, bool upper) {
  const int64_t n = a->rows;
  if (!upper) mirror(a, true);
  if (!Factor(a).run()) {
    std::fill(a->items.begin(), a->items.end(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  if (!upper) mirror(a, false);
  for (int64_t i = 0; i < n; ++i) {
    double *row = &a->at(i, 0);
    if (upper) std::fill(row, row + i, 0.0);
    else std::fill(row + i + 1, row + n, 0.0);
  }
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
          DenseMatrix<double> matrix = reader.read(index);
          factorise(&matrix, upper);
          write.put(index, matrix.items);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
