// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// RepeatInterleaveGrad: as many neighbours along an axis as `repeats` counts are added up, in
// float64. Chips of the 950 series alone have it.
#include "aclnnop/index.h"
#include "core/chip.h"
#include "core/pool.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

struct Runs {
  int64_t outer, extent, inner;  // of yGrad, around its axis
  int64_t results;               // along the axis
  bool single;                   // one number for all of them
};

// Lengths of the runs; a fault where they do not fill the axis.
Status read_runs(const char *op, const View &repeats, const Runs &runs,
                 std::vector<int64_t> *lengths) {
  lengths->resize(static_cast<size_t>(repeats.count()));
  RowSource<int64_t>(repeats).read(0, repeats.count(), lengths->data());
  if (runs.single) lengths->assign(static_cast<size_t>(runs.results), lengths->front());
  int64_t rest = runs.extent;
  for (const int64_t length : *lengths) {
    if (length < 0 || length > rest) {
      return fail(kKernelFault,
                  "%s: repeats holds %lld where %lld of the %lld elements of yGrad "
                  "along axis are left",
                  op, static_cast<long long>(length), static_cast<long long>(rest),
                  static_cast<long long>(runs.extent));
    }
    rest -= length;
  }
  if (rest == 0) return 0;
  return fail(kKernelFault, "%s: repeats leaves %lld of the %lld elements of yGrad along axis", op,
              static_cast<long long>(rest), static_cast<long long>(runs.extent));
}

void add_runs(const View &from, const View &to, const Runs &runs,
              const std::vector<int64_t> &lengths) {
  const int64_t given = runs.extent * runs.inner, made = runs.results * runs.inner;
  const RowSource<float> source(from);
  const RowTarget<double> target(to);
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, given));
  parallel_for(runs.outer, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> slopes(static_cast<size_t>(given));
    std::vector<double> sums(static_cast<size_t>(made));
    for (int64_t row = begin; row < end; ++row) {
      source.read(row * given, given, slopes.data());
      std::fill(sums.begin(), sums.end(), 0.0);
      const float *next = slopes.data();
      double *sum = sums.data();
      for (const int64_t length : lengths) {
        for (int64_t i = 0; i < length; ++i) {
          for (int64_t w = 0; w < runs.inner; ++w) sum[w] += static_cast<double>(*next++);
        }
        sum += runs.inner;
      }
      target.write(row * made, made, sums.data());
    }
  });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RepeatInterleaveGrad,
             (const aclTensor *yGrad, const aclTensor *repeats, int64_t axis, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnRepeatInterleaveGrad";
  Check check(op);
  check.required("yGrad", yGrad).required("repeats", repeats).required("out", out);
  check.that(chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  check.dtype("yGrad", yGrad).dtype("repeats", repeats).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "yGrad", yGrad->dtype)
      .rank("yGrad", yGrad, 0, 8)
      .rank("repeats", repeats, 0, 1);
  int dim = 0;
  check.that(wrap_dim(axis, static_cast<int>(yGrad->rank()), &dim),
             "axis is %lld; yGrad has %zu dimensions", static_cast<long long>(axis), yGrad->rank());
  check.tiling().that(repeats->numel() > 0, "repeats is empty; it needs a number");
  if (!check.ok()) return check.status();
  Checked outer(1), inner(1);
  for (size_t d = 0; d < yGrad->rank(); ++d) {
    if (static_cast<int>(d) < dim) outer *= yGrad->shape[d];
    if (static_cast<int>(d) > dim) inner *= yGrad->shape[d];
  }
  Runs runs{};
  runs.outer = check.size("yGrad", outer);
  runs.inner = check.size("yGrad", inner);
  runs.extent = yGrad->rank() == 0 ? 1 : yGrad->shape[static_cast<size_t>(dim)];
  runs.single = repeats->numel() == 1;
  const int64_t lines = check.size("yGrad", outer * inner);
  if (!check.ok()) return check.status();
  // A single number is known to the device alone; out tells what it must be.
  runs.results = !runs.single ? repeats->numel() : lines == 0 ? 0 : out->numel() / lines;
  const Checked wanted = Checked(runs.results) * lines;
  check.that(wanted.fits() && wanted.value() == out->numel(),
             "out has %lld elements; expected %s%lld", static_cast<long long>(out->numel()),
             runs.single ? "a multiple of " : "",
             static_cast<long long>(runs.single ? lines : wanted.value()));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(yGrad), counts = plan.input(repeats), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        if (lines == 0) return Status{0};
        Operands operands;
        const View slopes = operands.safe(view_of(c.tensor(from)), {result});
        std::vector<int64_t> lengths;
        if (const Status status = read_runs(op, view_of(c.tensor(counts)), runs, &lengths))
          return status;
        add_runs(slopes, result, runs, lengths);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
