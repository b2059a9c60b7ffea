// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Powers of a matrix scaled until its rows, and its columns, have equal sums.
#include "aclnnop/math.h"
#include "ops/float_kernels.h"
#include "ops/linalg/matrices.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr double kDefaultTolerance = 0.0001, kNoDivisionByZero = 1e-8;
// A tolerance that rounding keeps the scales from reaching must not keep the stream busy for ever.
constexpr int kMostRounds = 1000;
constexpr int64_t kMostRows = 10000, kMostColumns = 1024;

double dot(const double *a, const double *b, int64_t count) {
  double lanes[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int lane = 0; lane < 4; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) lanes[0] += a[i] * b[i];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

class Scaling {
 public:
  explicit Scaling(DenseMatrix<double> cost)
      : powers_(std::move(cost)),
        of_rows_(static_cast<size_t>(powers_.rows), 1.0),
        of_columns_(static_cast<size_t>(powers_.columns), 1.0) {
    each_row([](int64_t, double *row, int64_t count) { float_kernels().wide_powers(row, count); });
  }

  void run(double tolerance) {
    double change = 0;
    int rounds = 0;
    do {
      scale_rows();
      change = scale_columns();
    } while (change > tolerance && ++rounds < kMostRounds);  // NaN ends it too
    each_row([&](int64_t r, double *row, int64_t count) {
      for (int64_t c = 0; c < count; ++c)
        row[c] *= of_columns_[static_cast<size_t>(c)] * of_rows_[static_cast<size_t>(r)];
    });
  }

  const DenseMatrix<double> &result() const { return powers_; }

 private:
  template <class F>
  void each_row(F &&f) {
    for_each_row(powers_.rows, powers_.columns,
                 [&](int64_t r) { f(r, &powers_.at(r, 0), powers_.columns); });
  }

  void scale_rows() {
    each_row([&](int64_t r, const double *row, int64_t count) {
      const double sum = dot(of_columns_.data(), row, count);
      of_rows_[static_cast<size_t>(r)] =
          1 / (static_cast<double>(powers_.rows) * (sum + kNoDivisionByZero));
    });
  }

  // The mean change of the scales of columns.
  double scale_columns() {
    std::vector<double> before = of_columns_;
    constexpr int64_t kAtOnce = 64;
    const int64_t columns = powers_.columns;
    parallel_for((columns + kAtOnce - 1) / kAtOnce, 1, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t first = piece * kAtOnce, count = std::min(kAtOnce, columns - first);
        double sums[kAtOnce] = {};
        for (int64_t r = 0; r < powers_.rows; ++r) {
          const double *row = &powers_.at(r, first), by = of_rows_[static_cast<size_t>(r)];
          for (int64_t c = 0; c < count; ++c) sums[c] += by * row[c];
        }
        for (int64_t c = 0; c < count; ++c) {
          of_columns_[static_cast<size_t>(first + c)] =
              1 / (static_cast<double>(columns) * (sums[c] + kNoDivisionByZero));
        }
      }
    });
    double change = 0;
    for (size_t c = 0; c < before.size(); ++c) change += std::abs(before[c] - of_columns_[c]);
    return change / static_cast<double>(columns);
  }

  DenseMatrix<double> powers_;
  std::vector<double> of_rows_, of_columns_;
};

}  // namespace

EMU_OPERATOR(Sinkhorn, (const aclTensor *cost, const aclScalar *tol, aclTensor *p)) {
  Check check("aclnnSinkhorn");
  check.required("cost", cost).optional("tol", tol).required("p", p);
  check.dtype("cost", cost).dtype("p", p);
  if (!check.ok()) return check.status();
  check.same_dtype("p", p->dtype, "cost", cost->dtype).rank("cost", cost, 2, 2);
  check.shape("p", p, layout_of(*cost));
  const double tolerance = tol != nullptr && check.ok() ? tol->to_double() : kDefaultTolerance;
  check.that(tolerance >= 0, "tol is %g; it must be a number of at least 0", tolerance);
  if (!check.ok()) return check.status();
  check.tiling().that(cost->shape[0] <= kMostRows && cost->shape[1] <= kMostColumns,
                      "cost has shape %s; it may have up to 10000 rows and 1024 columns",
                      shape_text(layout_of(*cost)).c_str());
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnSinkhorn");
  const size_t source = plan.input(cost), target = plan.output(p);
  return plan.finish(
      [=](PlanContext &c) {
        const View to = view_of(c.tensor(target));
        if (to.count() == 0) return Status{0};
        Scaling scaling(MatrixReader<double>(view_of(c.tensor(source))).read(0));
        scaling.run(tolerance);
        MatrixWriter<double>(to).put(0, scaling.result().items);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
