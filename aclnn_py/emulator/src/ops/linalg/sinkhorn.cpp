// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Powers of a matrix scaled until its rows, and its columns, have equal sums.
#include "aclnnop/math.h"
#include "ops/float_kernels.h"
#include "ops/linalg/matrices.h"
#include "ops/norm/rows.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr double kDefaultTolerance = 0.0001, kNoDivisionByZero = 1e-8;
// A tolerance that rounding keeps the scales from reaching must not keep the stream busy for ever.
constexpr int kMostRounds = 1000;
constexpr int64_t kMostRows = 10000, kMostColumns = 1024;

double dot(const double *a, const double *b, int64_t count) {
  constexpr int kLanes = 16;
  double lanes[kLanes] = {}, total = 0;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < count; ++i) total += a[i] * b[i];
  for (const double lane : lanes) total += lane;
  return total;
}

class Scaling {
 public:
  explicit Scaling(const View &cost)
      : powers_(cost.layout.shape[0], cost.layout.shape[1]),
        of_rows_(static_cast<size_t>(powers_.rows), 1.0),
        of_columns_(static_cast<size_t>(powers_.columns), 1.0) {
    const RowSource<double> source(cost);
    each_row([&](int64_t r, double *row, int64_t count) {
      source.read(r * count, count, row);
      float_kernels().wide_powers(row, count);
    });
  }

  void run(double tolerance) {
    double change = 0;
    int rounds = 0;
    do change = scale();
    while (change > tolerance && ++rounds < kMostRounds);  // NaN ends it too
  }

  void write(const View &result) {
    const RowTarget<double> target(result);
    each_row([&](int64_t r, double *row, int64_t count) {
      for (int64_t c = 0; c < count; ++c)
        row[c] *= of_columns_[static_cast<size_t>(c)] * of_rows_[static_cast<size_t>(r)];
      target.write(r * count, count, row);
    });
  }

 private:
  template <class F>
  void each_row(F &&f) {
    for_each_row(powers_.rows, powers_.columns,
                 [&](int64_t r) { f(r, &powers_.at(r, 0), powers_.columns); });
  }

  // New scales of rows, and with them those of columns. The mean change of the latter.
  double scale() {
    // Groups of rows have sums of their own, which are added up in order: the result does not
    // depend on the number of threads.
    constexpr int64_t kGroup = 64;
    const int64_t columns = powers_.columns, groups = (powers_.rows + kGroup - 1) / kGroup;
    DenseMatrix<double> sums(groups, columns);
    for_each_row(groups, kGroup * columns, [&](int64_t group) {
      double *to = &sums.at(group, 0);
      const int64_t end = std::min(powers_.rows, (group + 1) * kGroup);
      for (int64_t r = group * kGroup; r < end; ++r) {
        const double *row = &powers_.at(r, 0);
        const double sum = dot(of_columns_.data(), row, columns);
        const double by = 1 / (static_cast<double>(powers_.rows) * (sum + kNoDivisionByZero));
        of_rows_[static_cast<size_t>(r)] = by;
        for (int64_t c = 0; c < columns; ++c) to[c] += by * row[c];
      }
    });
    for (int64_t group = 1; group < groups; ++group) {
      for (int64_t c = 0; c < columns; ++c) sums.at(0, c) += sums.at(group, c);
    }
    double change = 0;
    for (int64_t c = 0; c < columns; ++c) {
      double &scale = of_columns_[static_cast<size_t>(c)];
      const double before = scale;
      scale = 1 / (static_cast<double>(columns) * (sums.at(0, c) + kNoDivisionByZero));
      change += std::abs(before - scale);
    }
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
        Scaling scaling(view_of(c.tensor(source)));
        scaling.run(tolerance);
        scaling.write(to);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
