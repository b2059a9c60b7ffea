// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Systems with a triangular matrix, by substitution.
#include "aclnnop/math.h"
#include "ops/linalg/blocked.h"
#include "ops/op.h"

namespace emu {
namespace {

// How the matrix is read.
struct Triangle {
  bool upper, transpose, unit;
};

template <class T>
void turn(DenseMatrix<T> *a) {
  for (int64_t i = 0; i < a->rows; ++i) {
    for (int64_t j = 0; j < i; ++j) std::swap(a->at(i, j), a->at(j, i));
  }
}

// `b` becomes the solution.
template <class T>
void substitute(DenseMatrix<T> a, const Triangle &how, DenseMatrix<T> *b) {
  if (how.transpose) turn(&a);
  solve_triangle(whole(&a), how.upper != how.transpose, how.unit, whole(b));
}

// Shape of the matrices `inner` behind the batch the two operands broadcast to; false when they do
// not.
bool shared_batch(const aclTensor *self, const aclTensor *a, std::initializer_list<int64_t> inner,
                  Layout *result) {
  const Layout left = batch_shape(layout_of(*self), {1, 1}),
               right = batch_shape(layout_of(*a), {1, 1});
  Layout batch;
  if (!broadcast_shapes(left, right, &batch)) return false;
  *result = batch_shape(batch, inner);
  return true;
}

}  // namespace

EMU_OPERATOR(TriangularSolve,
             (const aclTensor *self, const aclTensor *A, bool upper, bool transpose,
              bool unitriangular, aclTensor *xOut, aclTensor *mOut)) {
  Check check("aclnnTriangularSolve");
  check.required("self", self).required("A", A).required("xOut", xOut).required("mOut", mOut);
  check.dtype("self", self).dtype("A", A).dtype("xOut", xOut).dtype("mOut", mOut);
  if (!check.ok()) return check.status();
  check.same_dtype("A", A->dtype, "self", self->dtype)
      .same_dtype("xOut", xOut->dtype, "self", self->dtype);
  check.same_dtype("mOut", mOut->dtype, "self", self->dtype);
  check.that(!unitriangular || self->dtype == ACL_FLOAT,
             "unitriangular is true, which goes with FLOAT, not with %s", dtype_name(self->dtype));
  square(check.rank("self", self, 2, 8).rank("A", A, 2, 8), "A", A);
  if (!check.ok()) return check.status();
  const int64_t n = A->shape[A->rank() - 1], k = self->shape[self->rank() - 1];
  check.that(self->shape[self->rank() - 2] == n,
             "self has shape %s; its last dimension but one must be %lld as in A",
             shape_text(layout_of(*self)).c_str(), static_cast<long long>(n));
  Layout x, m;
  check.that(shared_batch(self, A, {n, k}, &x) && shared_batch(self, A, {n, n}, &m),
             "self %s and A %s do not broadcast outside their last two dimensions",
             shape_text(layout_of(*self)).c_str(), shape_text(layout_of(*A)).c_str());
  check.shape("xOut", xOut, x).shape("mOut", mOut, m);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnTriangularSolve");
  const size_t right = plan.input(self), left = plan.input(A), first = plan.output(xOut),
               second = plan.output(mOut);
  const Triangle how{upper, transpose, unitriangular};
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(first)), copy = view_of(context.tensor(second));
        const SafeView b(view_of(context.tensor(right), to.layout), {to, copy});
        const SafeView a(view_of(context.tensor(left), copy.layout), {to, copy});
        copy_view(a.view(), copy);
        with_wide_type(to.dtype, [&](auto zero) {
          using T = decltype(zero);
          const MatrixReader<T> read_a(a.view()), read_b(b.view());
          const MatrixWriter<T> write(to);
          const int64_t rows = to.layout.shape[to.layout.rank - 2],
                        columns = to.layout.shape[to.layout.rank - 1];
          for_each_matrix(batch_count(to.layout), rows, std::max(rows, columns),
                          [&](int64_t index) {
                            DenseMatrix<T> solution = read_b.read(index);
                            substitute(read_a.read(index), how, &solution);
                            write.put(index, solution.items);
                          });
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
