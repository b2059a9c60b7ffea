// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Powers of the sums of all runs of a row, and their gradient: element (i, j) of a matrix belongs
// to the run of the elements behind j up to i.
#include "aclnnop/math.h"
#include "ops/float_kernels.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// Columns of a matrix that one thread computes together.
constexpr int64_t kColumns = 256;

void check_lists(Check &check, const char *wide_name, const aclTensor *wide, const char *row_name,
                 const aclTensor *row) {
  if (!check.ok()) return;
  check.rank(row_name, row, 3, 4).same_dtype(wide_name, wide->dtype, row_name, row->dtype);
  if (!check.ok()) return;
  Layout expected = layout_of(*row);
  expected.push(row->shape.back(), 0);
  check.shape(wide_name, wide, dense_like(expected));
}

// Columns [first, first + kColumns) of the matrix of one row.
void write_powers(const float *x, int64_t length, int64_t matrix, int64_t first,
                  const RowTarget<float> &out) {
  const FloatKernelFn exp = float_kernel_fn(FloatKernel::exp);
  const int64_t count = std::min(kColumns, length - first);
  double sums[kColumns] = {};
  float powers[kColumns];
  for (int64_t i = 0; i < length; ++i) {
    const int64_t below = std::clamp<int64_t>(i - first, 0, count);  // runs that are not empty
    for (int64_t j = 0; j < below; ++j) powers[j] = static_cast<float>(sums[j] += double{x[i]});
    exp(powers, below, nullptr, powers);
    for (int64_t j = below; j < count; ++j) powers[j] = j + first == i ? 1.0f : 0.0f;
    out.write((matrix * length + i) * length + first, count, powers);
  }
}

void powers_of_runs(const View &self, const View &out) {
  if (out.count() == 0) return;
  const int64_t length = self.layout.shape[self.layout.rank - 1];
  const int64_t rows = self.count() / length, pieces = (length + kColumns - 1) / kColumns;
  const RowSource<float> source(self);
  const RowTarget<float> target(out);
  const int64_t grain = std::max<int64_t>(1, 8192 / (length * std::min(length, kColumns)));
  parallel_for(rows * pieces, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> x(static_cast<size_t>(length));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / pieces;
      source.read(row * length, length, x.data());
      write_powers(x.data(), length, row, task % pieces * kColumns, target);
    }
  });
}

// The slope of x[i] is the sum over all runs that it is part of.
void slopes_of_runs(const View &slopes, const View &powers, const View &out) {
  if (out.count() == 0) return;
  const int64_t length = out.layout.shape[out.layout.rank - 1], rows = out.count() / length;
  const RowSource<float> given(slopes), made(powers);
  const RowTarget<double> target(out);
  parallel_for(rows, std::max<int64_t>(1, 8192 / (length * length)),
               [&](int64_t begin, int64_t end) {
                 const auto size = static_cast<size_t>(length);
                 std::vector<float> slope(size), power(size);
                 std::vector<double> sums(size), result(size);
                 for (int64_t row = begin; row < end; ++row) {
                   std::fill(sums.begin(), sums.end(), 0.0);
                   for (int64_t i = length - 1; i >= 0; --i) {
                     const int64_t at = (row * length + i) * length;
                     given.read(at, i, slope.data());
                     made.read(at, i, power.data());
                     double total = 0;
                     for (size_t j = 0; j < static_cast<size_t>(i); ++j) {
                       sums[j] += double{slope[j]} * double{power[j]};
                       total += sums[j];
                     }
                     result[static_cast<size_t>(i)] = total;
                   }
                   target.write(row * length, length, result.data());
                 }
               });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ExpSegsum, (const aclTensor *self, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnExpSegsum");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  check_lists(check, "out", out, "self", self);
  if (!check.ok()) return check.status();
  return plan_one_to_one(check.op(), self, out, powers_of_runs, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ExpSegsumBackward,
             (const aclTensor *gradOutput, const aclTensor *gradSelf, aclTensor *gradInput)) {
  using namespace emu;
  Check check("aclnnExpSegsumBackward");
  check.required("gradOutput", gradOutput).required("gradSelf", gradSelf);
  check.required("gradInput", gradInput).dtype("gradOutput", gradOutput);
  check.dtype("gradSelf", gradSelf).dtype("gradInput", gradInput);
  check_lists(check, "gradOutput", gradOutput, "gradInput", gradInput);
  if (!check.ok()) return check.status();
  check.same_dtype("gradSelf", gradSelf->dtype, "gradOutput", gradOutput->dtype);
  check.shape("gradSelf", gradSelf, layout_of(*gradOutput));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t slopes = plan.input(gradOutput), powers = plan.input(gradSelf),
               target = plan.output(gradInput);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View to = view_of(c.tensor(target));
        const View given = operands.safe(view_of(c.tensor(slopes)), {to});
        slopes_of_runs(given, operands.safe(view_of(c.tensor(powers)), {to}), to);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
