// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Mixing matrices made doubly stochastic, and their gradients, on chips of the 950 series.
#include <optional>

#include "aclnnop/mhc.h"
#include "ops/mhc/mixing.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kPadded = 8;  // what n is padded to where stages are kept
constexpr int64_t kMostRounds = 100;

// Where the stages of all matrices are kept: stage by stage, matrix by matrix, and padded rows.
struct StagePlaces {
  int64_t matrices, n, stages;

  int64_t sum(int64_t stage, int64_t matrix) const { return (stage * matrices + matrix) * kPadded; }
  int64_t norm(int64_t stage, int64_t matrix) const { return sum(stage, matrix) * n; }
};

// x is (.., n, n), of which there are T.
Check &check_matrices(Check &check, const char *name, const aclTensor *x) {
  check.plain_format(name, x).rank(name, x, 3, 4);
  if (!check.ok()) return check;
  const size_t rank = x->rank();
  const int64_t n = x->shape[rank - 1];
  check.that((n == 4 || n == 6 || n == 8) && x->shape[rank - 2] == n,
             "%s has shape %s; its last two dimensions must be 4, 6 or 8, and equal", name,
             shape_text(layout_of(*x)).c_str());
  return check.that(x->numel() > 0, "%s is empty: %s", name, shape_text(layout_of(*x)).c_str());
}

Check &check_kept(Check &check, const char *name, const aclTensor *kept, Checked count) {
  if (kept == nullptr || !check.ok()) return check;
  const int64_t expected = check.size(name, count);
  return check.shape(name, kept, dense_layout(&expected, 1));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MhcSinkhorn, (const aclTensor *x, float eps, int64_t numIters, aclTensor *output,
                           aclTensor *normOutOptional, aclTensor *sumOutOptional)) {
  using namespace emu;
  Check check("aclnnMhcSinkhorn");
  check.required("x", x).required("output", output);
  check.optional("normOutOptional", normOutOptional).optional("sumOutOptional", sumOutOptional);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  check.dtype("x", x).dtype("output", output);
  check.dtype("normOutOptional", normOutOptional).dtype("sumOutOptional", sumOutOptional);
  check.that(numIters >= 1 && numIters <= kMostRounds, "numIters is %lld; allowed: 1 to 100",
             static_cast<long long>(numIters));
  if (!check_matrices(check, "x", x).ok()) return check.status();
  const int64_t n = x->shape.back(), matrices = x->numel() / (n * n), stages = 2 * numIters;
  check.shape("output", output, layout_of(*x));
  const Checked sums = Checked(matrices) * stages * kPadded;
  check_kept(check, "normOutOptional", normOutOptional, sums * n);
  check_kept(check, "sumOutOptional", sumOutOptional, sums);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(x), to = plan.output(output);
  const size_t norms = plan.output(normOutOptional), kept_sums = plan.output(sumOutOptional);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        View given = view_of(c.tensor(from));
        Operands operands;
        std::optional<RowTarget<float>> norm_to, sum_to;
        if (c.has(norms)) norm_to.emplace(view_of(c.tensor(norms)));
        if (c.has(kept_sums)) sum_to.emplace(view_of(c.tensor(kept_sums)));
        for (const size_t written : {to, norms, kept_sums}) {
          if (c.has(written)) given = operands.safe(given, {view_of(c.tensor(written))});
        }
        const RowSource<float> source(given);
        const RowTarget<float> target(result);
        const StagePlaces places{matrices, n, stages};
        for_each_row<float>(matrices, n * n, 1, [&](int64_t row, float *matrix) {
          source.read(row * n * n, n * n, matrix);
          sinkhorn(matrix, n, numIters, eps,
                   [&](int64_t stage, const float *stage_sums, const float *norm) {
                     for (int64_t r = 0; norm_to && r < n; ++r)
                       norm_to->write(places.norm(stage, row) + r * kPadded, n, norm + r * n);
                     if (sum_to && stage_sums) sum_to->write(places.sum(stage, row), n, stage_sums);
                   });
          target.write(row * n * n, n * n, matrix);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MhcSinkhornBackward, (const aclTensor *gradOutput, const aclTensor *normOut,
                                   const aclTensor *sumOut, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMhcSinkhornBackward");
  check.required("gradOutput", gradOutput).required("normOut", normOut);
  check.required("sumOut", sumOut).required("out", out);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  check.dtype("gradOutput", gradOutput).dtype("normOut", normOut).dtype("sumOut", sumOut);
  check.dtype("out", out);
  if (!check_matrices(check, "gradOutput", gradOutput).ok()) return check.status();
  check.shape("out", out, layout_of(*gradOutput)).rank("sumOut", sumOut, 1, 1);
  if (!check.ok()) return check.status();
  const int64_t n = gradOutput->shape.back(), matrices = gradOutput->numel() / (n * n);
  const int64_t round = check.size("gradOutput", Checked(matrices) * 2 * kPadded);
  if (!check.ok()) return check.status();
  const int64_t rounds = sumOut->numel() / round;
  check.that(sumOut->numel() % round == 0 && rounds >= 1 && rounds <= kMostRounds,
             "sumOut has %lld elements; expected %lld for each of 1 to 100 iterations",
             static_cast<long long>(sumOut->numel()), static_cast<long long>(round));
  check_kept(check, "normOut", normOut, Checked(sumOut->numel()) * n);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t from = plan.input(gradOutput), norms = plan.input(normOut),
               sums = plan.input(sumOut), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        Operands operands;
        const auto operand = [&](size_t at) {
          return RowSource<float>(operands.safe(view_of(c.tensor(at)), {result}));
        };
        const RowSource<float> source = operand(from), norm_of = operand(norms),
                               sum_of = operand(sums);
        const RowTarget<float> target(result);
        const StagePlaces places{matrices, n, 2 * rounds};
        const int64_t kept = places.stages * n;
        // A matrix, then the sums and the matrices of its stages.
        for_each_row<float>(matrices, n * n + kept + kept * n, 1, [&](int64_t row, float *matrix) {
          float *own_sums = matrix + n * n, *own_norms = own_sums + kept;
          source.read(row * n * n, n * n, matrix);
          for (int64_t stage = 0; stage < places.stages; ++stage) {
            sum_of.read(places.sum(stage, row), n, own_sums + stage * n);
            for (int64_t r = 0; r < n; ++r)
              norm_of.read(places.norm(stage, row) + r * kPadded, n,
                           own_norms + (stage * n + r) * n);
          }
          sinkhorn_back(matrix, n, rounds, own_sums, own_norms);
          target.write(row * n * n, n * n, matrix);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
