// SPDX-License-Identifier: Apache-2.0
// The sum over the ranks of x1 @ x2, of which each rank gets its share of the rows.
#include <cinttypes>
#include <cstring>
#include <memory>

#include "aclnnop/mc2.h"
#include "core/statuses.h"
#include "ops/mc2/partial.h"
#include "ops/mc2/sliced.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnMatmulReduceScatter";

struct Problem {
  std::shared_ptr<hccl::Communicator> communicator;
  size_t x1, x2, bias, output;
  int64_t m, k, n;
  aclDataType travelling;

  uint64_t product_bytes() const {
    return aligned(static_cast<uint64_t>(m * n * item_size(travelling)));
  }
};

Status run(const Problem &problem, PlanContext &context) {
  hccl::Communicator &comm = *problem.communicator;
  const aclTensor &output = context.tensor(problem.output);
  hccl::Session session(
      comm, hccl::describe("%s(m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64 ", dtype=%s%s)", kOp,
                           problem.m, problem.k, problem.n, dtype_name(output.dtype),
                           problem.travelling != output.dtype ? ", summed in FLOAT" : ""));
  if (const Status s = session.begin()) return s;
  if (context.has(problem.bias)) {
    if (const Status s = refuse_bias(comm, kOp, context.tensor(problem.bias))) return s;
  }
  const FlatMatrix left(context.tensor(problem.x1));
  Contribution mine;
  mine.left = left.matrix();
  mine.right = matrix_stack(context.tensor(problem.x2)).first;
  mine.rows = context.workspace();
  mine.dtype = problem.travelling;
  contribute(mine);
  char *share = static_cast<char *>(context.workspace()) + problem.product_bytes();
  const uint64_t count = static_cast<uint64_t>(problem.m / comm.size() * problem.n);
  if (const Status s =
          session.reduce_scatter(context.workspace(), share, count, sum_of(problem.travelling)))
    return s;
  copy_view({share, problem.travelling, dense_like(layout_of(output))}, view_of(output));
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MatmulReduceScatter,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode,
              aclTensor *output)) {
  using namespace emu;
  const SlicedCall call{kOp, x1, x2, biasOptional, output, streamMode};
  Check check(kOp);
  check_sliced_arguments(check, call, nullptr);
  if (!check.ok()) return check.status();
  const bool nothing = x1->numel() == 0 || x2->numel() == 0;
  if (!nothing) check_sliced_shapes(check, call, nullptr);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  plan.rule(WorkspaceRule::kSkipEmpty);
  plan.phase_two_code(emu::kInner);
  plan.waits();
  Problem problem{};
  problem.x1 = plan.input(x1);
  problem.x2 = plan.input(x2);
  problem.bias = plan.input(biasOptional);
  problem.output = plan.output(output);
  if (nothing) return plan.finish([](PlanContext &) { return Status{0}; }, workspaceSize, executor);
  if (const Status s = find_group(kOp, group, &problem.communicator)) return s;
  Check tiling = tiling_check(kOp);
  tiling.that(reduceOp && std::strcmp(reduceOp, "sum") == 0,
              "reduceOp is %.40s; only \"sum\" is supported", reduceOp ? reduceOp : "null");
  if (!tiling.ok()) return tiling.status();
  if (const Status s = check_sliced_tiling(call, nullptr, commTurn, *problem.communicator))
    return s;
  problem.m = x1->shape[0];
  problem.k = x1->shape[1];
  problem.n = x2->shape[1];
  const int64_t ranks = problem.communicator->size();
  tiling.that(problem.m % ranks == 0,
              "x1 has %" PRId64 " rows (m), which %" PRId64 " ranks cannot share evenly", problem.m,
              ranks);
  if (!tiling.ok()) return tiling.status();
  // the product of all ranks, in whatever it travels as
  check.size("output", Checked(problem.m) * problem.n * 8);
  check.that(output->shape[0] == problem.m / ranks,
             "output has %" PRId64 " rows; it must have %" PRId64 ", this rank's share",
             output->shape[0], problem.m / ranks);
  if (!check.ok()) return check.status();
  if (const Status s = travelling_dtype(kOp, output->dtype, &problem.travelling)) return s;
  const auto share =
      static_cast<uint64_t>(problem.m / ranks * problem.n * item_size(problem.travelling));
  plan.workspace(problem.product_bytes() + share);
  return plan.finish(
      [problem](PlanContext &context) {
        return hccl::together(*problem.communicator, kOp, [&] { return run(problem, context); });
      },
      workspaceSize, executor);
}
EMU_CATCH
