// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Determinants and inverses by elimination with the largest element of a column as pivot.
#include <limits>

#include "aclnnop/index.h"
#include "aclnnop/math.h"
#include "ops/linalg/blocked.h"
#include "ops/op.h"

namespace emu {
namespace {

template <class T>
struct Determinant {
  T sign;            // of magnitude 1; 0 for a singular matrix
  double logarithm;  // of the magnitude
};

template <class T>
Determinant<T> determinant(DenseMatrix<T> a) {
  Elimination<T> factors(&a);
  if (!factors.run()) return {T{}, -std::numeric_limits<double>::infinity()};
  Determinant<T> result{T(1), 0};
  for (int64_t k = 0; k < a.rows; ++k) {
    const T pivot = a.at(k, k);
    const double size = std::abs(pivot);
    result.sign *= (factors.pivot(k) == k ? 1.0 : -1.0) * (pivot / size);
    result.logarithm += std::log(size);
  }
  return result;
}

// Of the determinant itself: NaN where a real one is negative.
double logarithm(const Determinant<double> &of) {
  return of.sign < 0 ? std::numeric_limits<double>::quiet_NaN() : of.logarithm + 0 * of.sign;
}
Complex128 logarithm(const Determinant<Complex128> &of) {
  // The branch of a negative number is pi, whatever the sign of its imaginary zero.
  return {of.logarithm, std::atan2(of.sign.imag() + 0.0, of.sign.real())};
}

// All of it NaN for a singular matrix.
template <class T>
DenseMatrix<T> inverse(DenseMatrix<T> a) {
  const int64_t n = a.rows;
  DenseMatrix<T> result(n, n);
  Elimination<T> factors(&a);
  if (!factors.run()) {
    std::fill(result.items.begin(), result.items.end(),
              T(std::numeric_limits<double>::quiet_NaN()));
    return result;
  }
  for (int64_t i = 0; i < n; ++i) result.at(i, i) = T(1);
  const Part<T> columns = whole(&result);
  for (int64_t k = 0; k < n; ++k) {
    if (factors.pivot(k) == k) continue;
    std::swap_ranges(columns.row(k), columns.row(k) + n, columns.row(factors.pivot(k)));
  }
  solve_triangle(whole(&a), false, true, columns);
  solve_triangle(whole(&a), true, false, columns);
  return result;
}

}  // namespace

EMU_OPERATOR(Slogdet, (const aclTensor *self, aclTensor *signOut, aclTensor *logOut)) {
  Check check("aclnnSlogdet");
  check.required("self", self).required("signOut", signOut).required("logOut", logOut);
  check.dtype("self", self).dtype("signOut", signOut).dtype("logOut", logOut);
  if (!check.ok()) return check.status();
  check.castable(self->dtype, "signOut", signOut->dtype)
      .castable(self->dtype, "logOut", logOut->dtype);
  square(check.rank("self", self, 2, 8), "self", self);
  if (!check.ok()) return check.status();
  const Layout in = layout_of(*self);
  check.shape("signOut", signOut, batch_shape(in, {})).shape("logOut", logOut, batch_shape(in, {}));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnSlogdet");
  const size_t source = plan.input(self), first = plan.output(signOut),
               second = plan.output(logOut);
  const bool empty = self->numel() == 0;
  return plan.finish(
      [=](PlanContext &context) {
        // CANN leaves the results as they are, also for a batch of 0 x 0 matrices
        if (empty) return Status{0};
        const View signs = view_of(context.tensor(first)), logs = view_of(context.tensor(second));
        const SafeView from(view_of(context.tensor(source)), {signs, logs});
        const Layout &shape = from.view().layout;
        const int64_t n = shape.shape[shape.rank - 1];
        with_wide_type(from.view().dtype, [&](auto zero) {
          using T = decltype(zero);
          const MatrixReader<T> reader(from.view());
          const MatrixWriter<T> write_sign(signs), write_log(logs);
          for_each_matrix(signs.count(), n, n, [&](int64_t index) {
            const Determinant<T> result = determinant(reader.read(index));
            write_sign.put(index, result.sign);
            write_log.put(index, T(result.logarithm));
          });
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Logdet, (const aclTensor *self, aclTensor *out)) {
  Check check("aclnnLogdet");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.castable(self->dtype, "out", out->dtype);
  square(check.rank("self", self, 2, 8), "self", self);
  if (!check.ok()) return check.status();
  check.shape("out", out, batch_shape(layout_of(*self), {}));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnLogdet");
  const size_t source = plan.input(self), target = plan.output(out);
  const bool empty = self->numel() == 0;
  return plan.finish(
      [=](PlanContext &context) {
        if (empty) return Status{0};  // as Slogdet
        const View to = view_of(context.tensor(target));
        const SafeView from(view_of(context.tensor(source)), {to});
        const Layout &shape = from.view().layout;
        const int64_t n = shape.shape[shape.rank - 1];
        with_wide_type(from.view().dtype, [&](auto zero) {
          using T = decltype(zero);
          const MatrixReader<T> reader(from.view());
          const MatrixWriter<T> write(to);
          for_each_matrix(to.count(), n, n, [&](int64_t index) {
            write.put(index, logarithm(determinant(reader.read(index))));
          });
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Inverse, (const aclTensor *self, aclTensor *out)) {
  Check check("aclnnInverse");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.castable(self->dtype, "out", out->dtype).shape("out", out, layout_of(*self));
  check.rank("self", self, self->numel() == 0 ? 0 : 2, 8);
  if (check.ok() && self->numel() > 0) square(check, "self", self);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnInverse");
  const size_t source = plan.input(self), target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(target));
        if (to.count() == 0) return Status{0};
        const SafeView from(view_of(context.tensor(source)), {to});
        const int64_t n = to.layout.shape[to.layout.rank - 1];
        with_wide_type(from.view().dtype, [&](auto zero) {
          using T = decltype(zero);
          const MatrixReader<T> reader(from.view());
          const MatrixWriter<T> write(to);
          for_each_matrix(batch_count(to.layout), n, n, [&](int64_t index) {
            write.put(index, inverse(reader.read(index)).items);
          });
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
