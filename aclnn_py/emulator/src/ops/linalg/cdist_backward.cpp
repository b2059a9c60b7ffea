// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradient of the distances between the rows of two matrices for the rows of the first.
#include "aclnnop/math.h"
#include "ops/linalg/matrices.h"
#include "ops/op.h"

namespace emu {
namespace {

double sign_of(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }

// Adds the slope of one distance, times `grad`, to the gradient of the row x. A distance and a
// difference of 0 have none.
void add_slope(const double *x, const double *y, int64_t count, double p, double grad,
               double distance, double *sums) {
  if (p == 0) return;
  if (p == 1) {
    for (int64_t i = 0; i < count; ++i) sums[i] += grad * sign_of(x[i] - y[i]);
    return;
  }
  if (std::isinf(p)) {
    // The largest difference decides, and each of several equal ones. It is found anew, since the
    // distance was rounded when it was stored.
    double largest = 0;
    for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
    for (int64_t i = 0; i < count; ++i) {
      if (std::abs(x[i] - y[i]) >= largest) sums[i] += grad * sign_of(x[i] - y[i]);
    }
    return;
  }
  if (distance == 0) return;
  if (p == 2) {
    for (int64_t i = 0; i < count; ++i) sums[i] += grad / distance * (x[i] - y[i]);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const double step = x[i] - y[i];
    if (step != 0) sums[i] += grad * sign_of(step) * std::pow(std::abs(step) / distance, p - 1);
  }
}

void fill_gradient(const View &grad, const View &x1, const View &x2, const View &cdist, double p,
                   const View &out) {
  const MatrixReader<double> slopes(grad), left(x1), right(x2), lengths(cdist);
  const RowWriter<double> write(out);
  const int rank = out.layout.rank;
  const int64_t rows = out.layout.shape[rank - 2], width = out.layout.shape[rank - 1];
  for (int64_t index = 0; index < batch_count(out.layout); ++index) {
    const DenseMatrix<double> g = slopes.read(index), a = left.read(index), b = right.read(index),
                              d = lengths.read(index);
    for_each_row(rows, b.rows * width, [&](int64_t row) {
      std::vector<double> sums(static_cast<size_t>(width));
      for (int64_t j = 0; j < b.rows; ++j) {
        add_slope(a.items.data() + row * width, b.items.data() + j * width, width, p, g.at(row, j),
                  d.at(row, j), sums.data());
      }
      for (int64_t start = 0; start < width; start += kBlock) {
        write.put((index * rows + row) * width + start, std::min(kBlock, width - start),
                  sums.data() + start);
      }
    });
  }
}

}  // namespace

EMU_OPERATOR(CdistBackward, (const aclTensor *grad, const aclTensor *x1, const aclTensor *x2,
                             const aclTensor *cdist, float p, aclTensor *out)) {
  Check check("aclnnCdistBackward");
  check.required("grad", grad).required("x1", x1).required("x2", x2).required("cdist", cdist);
  check.required("out", out).dtype("grad", grad).dtype("x1", x1).dtype("x2", x2);
  check.dtype("cdist", cdist).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("x1", x1->dtype, "grad", grad->dtype)
      .same_dtype("x2", x2->dtype, "grad", grad->dtype)
      .same_dtype("cdist", cdist->dtype, "grad", grad->dtype)
      .same_dtype("out", out->dtype, "grad", grad->dtype);
  check.rank("grad", grad, 2, 7).shape("cdist", cdist, layout_of(*grad));
  check.shape("out", out, layout_of(*x1));
  if (!check.ok()) return check.status();
  const int rank = static_cast<int>(grad->rank());
  check.rank("x1", x1, rank, rank).rank("x2", x2, rank, rank);
  if (!check.ok()) return check.status();
  const Layout g = layout_of(*grad), a = layout_of(*x1), b = layout_of(*x2);
  check.shape("x1", x1, batch_shape(g, {g.shape[rank - 2], a.shape[rank - 1]}));
  Layout meeting;
  check.that(b.shape[rank - 2] == g.shape[rank - 1] && b.shape[rank - 1] == a.shape[rank - 1] &&
                 broadcast_shapes(batch_shape(b, {}), batch_shape(g, {}), &meeting) &&
                 same_shape(meeting, batch_shape(g, {})),
             "x2 has shape %s, which does not belong to grad %s and x1 %s", shape_text(b).c_str(),
             shape_text(g).c_str(), shape_text(a).c_str());
  check.that(p >= 0, "p is %g; it must not be negative or NaN", static_cast<double>(p));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnCdistBackward");
  const size_t slopes = plan.input(grad), left = plan.input(x1), right = plan.input(x2),
               lengths = plan.input(cdist), target = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View to = view_of(c.tensor(target));
        const Layout other = layout_of(c.tensor(right));
        const SafeView of_grad(view_of(c.tensor(slopes)), {to});
        const SafeView first(view_of(c.tensor(left)), {to});
        const SafeView second(
            view_of(c.tensor(right), batch_shape(to.layout, {other.shape[other.rank - 2],
                                                             other.shape[other.rank - 1]})),
            {to});
        const SafeView of_pairs(view_of(c.tensor(lengths)), {to});
        fill_gradient(of_grad.view(), first.view(), second.view(), of_pairs.view(), p, to);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
