// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Powers of a matrix scaled until its rows, and its columns, have equal sums.
#include <memory>

#include "aclnnop/math.h"
#include "core/isa.h"
#include "ops/float_kernels.h"
#include "ops/linalg/matrices.h"
#include "ops/op.h"
#include "ops/shared/rows.h"

namespace emu {

EMU_DECLARE_ISA(double dot_of_rows(const double *a, const double *b, int64_t count);
                void add_row(double *sums, double by, const double *row, int64_t count);
                void scale_row(double *row, const double *factors, double by, int64_t count);)

namespace {

constexpr double kDefaultTolerance = 0.0001, kNoDivisionByZero = 1e-8;
// A tolerance that rounding keeps the scales from reaching must not keep the stream busy for ever.
constexpr int kMostRounds = 1000;
constexpr int64_t kMostRows = 10000, kMostColumns = 1024;

class Scaling {
 public:
  explicit Scaling(const View &cost)
      : rows_(cost.layout.shape[0]),
        columns_(cost.layout.shape[1]),
        powers_(new double[static_cast<size_t>(rows_ * columns_)]),
        of_rows_(static_cast<size_t>(rows_), 1.0),
        of_columns_(static_cast<size_t>(columns_), 1.0) {
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
    const auto multiply = EMU_PICK_ISA(scale_row);
    const RowTarget<double> target(result);
    each_row([&](int64_t r, double *row, int64_t count) {
      multiply(row, of_columns_.data(), of_rows_[static_cast<size_t>(r)], count);
      target.write(r * count, count, row);
    });
  }

 private:
  template <class F>
  void each_row(F &&f) {
    for_each_row(rows_, columns_, [&](int64_t r) { f(r, powers_of(r), columns_); });
  }
  double *powers_of(int64_t row) const { return powers_.get() + row * columns_; }

  // New scales of rows, and with them those of columns. The mean change of the latter.
  double scale() {
    // Groups of rows have sums of their own, which are added up in order: the result does not
    // depend on the number of threads.
    constexpr int64_t kGroup = 64;
    const int64_t columns = columns_, groups = (rows_ + kGroup - 1) / kGroup;
    const auto dot = EMU_PICK_ISA(dot_of_rows);
    const auto add = EMU_PICK_ISA(add_row);
    DenseMatrix<double> sums(groups, columns);
    for_each_row(groups, kGroup * columns, [&](int64_t group) {
      double *to = &sums.at(group, 0);
      const int64_t end = std::min(rows_, (group + 1) * kGroup);
      for (int64_t r = group * kGroup; r < end; ++r) {
        const double *row = powers_of(r);
        const double sum = dot(of_columns_.data(), row, columns);
        const double by = 1 / (static_cast<double>(rows_) * (sum + kNoDivisionByZero));
        of_rows_[static_cast<size_t>(r)] = by;
        add(to, by, row, columns);
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

  int64_t rows_, columns_;
  std::unique_ptr<double[]> powers_;  // without zeros first, which would take a pass of their own
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
