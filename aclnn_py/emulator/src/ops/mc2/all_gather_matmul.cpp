// SPDX-License-Identifier: Apache-2.0
// output = concat over the ranks of x1, times this rank's own x2.
#include <cinttypes>
#include <memory>

#include "aclnnop/mc2.h"
#include "core/statuses.h"
#include "ops/mc2/sliced.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnAllGatherMatmul";

struct Problem {
  std::shared_ptr<hccl::Communicator> communicator;
  size_t x1, x2, bias, output, gather;
  int64_t m, k, n;
  bool gathers;
};

Status check_rows(const SlicedCall &c, const aclTensor *gathered, uint32_t ranks) {
  const int64_t rows = c.x1->shape[0] * ranks;
  Check check(kOp);
  check.that(c.output->shape[0] == rows,
             "output has %" PRId64 " rows; it must have %" PRId64 ", x1's for each of %u ranks",
             c.output->shape[0], rows, ranks);
  if (!gathered || gathered->numel() == 0) return check.status();
  check.that(gathered->shape[0] == rows,
             "gatherOut has %" PRId64 " rows; it must have %" PRId64 ", x1's for each of %u ranks",
             gathered->shape[0], rows, ranks);
  check.same_dtype("gatherOut", gathered->dtype, "x1", c.x1->dtype);
  return check.status();
}

Status run(const Problem &problem, PlanContext &context) {
  hccl::Communicator &comm = *problem.communicator;
  const aclTensor &x1 = context.tensor(problem.x1), &output = context.tensor(problem.output);
  hccl::Session session(
      comm, hccl::describe("%s(m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64 ", dtype=%s)", kOp,
                           problem.m, problem.k, problem.n, dtype_name(x1.dtype)));
  if (const Status s = session.begin()) return s;
  if (context.has(problem.bias)) {
    if (const Status s = refuse_bias(comm, kOp, context.tensor(problem.bias))) return s;
  }
  const uint64_t bytes = static_cast<uint64_t>(problem.m * problem.k) * 2;
  auto *workspace = static_cast<char *>(context.workspace());
  const aclTensor *gather = problem.gathers ? &context.tensor(problem.gather) : nullptr;
  // the gathered matrix lies in gatherOut where that is possible, else in the workspace
  char *everyone =
      gather && gather->contiguous() ? static_cast<char *>(gather->view_data()) : workspace;
  const int64_t rows = problem.m * comm.size(), shape[] = {rows, problem.k};
  const View all{everyone, x1.dtype, dense_layout(shape, 2)};
  const void *mine = x1.view_data();
  if (!x1.contiguous()) {
    View packed = view_of(x1);
    packed.data = everyone + comm.rank() * bytes;
    packed.layout = dense_like(packed.layout);
    copy_view(view_of(x1), packed);
    mine = packed.data;
  }
  if (const Status s = session.all_gather(mine, everyone, bytes)) return s;
  if (gather && !gather->contiguous()) copy_view(all, view_of(*gather));
  if (problem.n == 0) return 0;
  StackProduct product;
  product.a = matrix_stack(all);
  product.b = matrix_stack(context.tensor(problem.x2));
  product.out = view_of(output);
  multiply(product);
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AllGatherMatmul,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const char *group, int64_t gatherIndex, int64_t commTurn, int64_t streamMode,
              aclTensor *output, aclTensor *gatherOut)) {
  using namespace emu;
  const SlicedCall call{kOp, x1, x2, biasOptional, output, streamMode};
  Check check(kOp);
  check_sliced_arguments(check, call, gatherOut);
  if (!check.ok()) return check.status();
  const bool nothing = x1->numel() == 0;
  if (!nothing) check_sliced_shapes(check, call, gatherOut);
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
  problem.gather = plan.output(gatherOut);
  if (nothing) return plan.finish([](PlanContext &) { return Status{0}; }, workspaceSize, executor);
  if (const Status s = find_group(kOp, group, &problem.communicator)) return s;
  Check tiling = tiling_check(kOp);
  tiling.that(gatherIndex == 0, "gatherIndex is %" PRId64 "; only 0 (x1 is gathered) is supported",
              gatherIndex);
  if (!tiling.ok()) return tiling.status();
  if (const Status s = check_sliced_tiling(call, gatherOut, commTurn, *problem.communicator))
    return s;
  if (const Status s = check_rows(call, gatherOut, problem.communicator->size())) return s;
  problem.m = x1->shape[0];
  problem.k = x1->shape[1];
  problem.n = x2->shape[1];
  problem.gathers = gatherOut && gatherOut->numel() > 0;
  const int64_t gathered =
      check.size("x1", Checked(problem.m) * problem.communicator->size() * problem.k * 2);
  if (!check.ok()) return check.status();
  plan.workspace(static_cast<uint64_t>(gathered));
  return plan.finish(
      [problem](PlanContext &context) {
        return hccl::together(*problem.communicator, kOp, [&] { return run(problem, context); });
      },
      workspaceSize, executor);
}
EMU_CATCH
