// SPDX-License-Identifier: Apache-2.0
// output = concat over the ranks of x1, times this rank's own x2.
#include <cinttypes>
#include <cstring>
#include <memory>

#include "aclnnop/mc2.h"
#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnAllGatherMatmul";
constexpr int64_t kLowestK = 256, kEndK = 65535;

struct Problem {
  std::shared_ptr<hccl::Communicator> communicator;
  size_t x1, x2, bias, output, gather;
  int64_t m, k, n;
  bool gathers;
};

bool empty(const aclTensor *tensor) { return tensor->numel() == 0; }

// The library's first line of checks: 161001 and 161002, in its order. `nothing` is set when x1 has no rows.
Status check_arguments(const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, int64_t stream_mode,
                       const aclTensor *output, const aclTensor *gather, bool *nothing) {
  Check check(kOp);
  check.required("x1", x1).required("x2", x2).required("output", output);
  check.optional("bias", bias).optional("gatherOut", gather);
  if (!check.ok()) return check.status();
  check.dtype_in("x1", x1->dtype, dt::kHalf).dtype_in("x2", x2->dtype, dt::kHalf);
  check.dtype_in("output", output->dtype, dt::kHalf);
  if (bias) check.dtype_in("bias", bias->dtype, dt::kHalf);
  check.same_dtype("x2", x2->dtype, "x1", x1->dtype).same_dtype("output", output->dtype, "x1", x1->dtype);
  if (bias) check.same_dtype("bias", bias->dtype, "x1", x1->dtype);
  check.that(stream_mode == 1, "streamMode is %" PRId64 "; only 1 (stop on failure) is allowed", stream_mode);
  check.that(x1->rank() < 2 || x1->shape[1] != 0, "x1 has no columns: dimension 1 (k) is 0");
  if (!check.ok()) return check.status();
  *nothing = empty(x1);
  if (*nothing) return 0;
  check.rank("x1", x1, 2, 2).rank("x2", x2, 2, 2);
  if (!check.ok()) return check.status();
  check.that(!is_transposed_view(*x1), "x1 is a transposed view; only x2 may be one");
  const int64_t k = x1->shape[1];
  check.that(x2->shape[0] == k, "x1 has %" PRId64 " columns, but x2 has %" PRId64 " rows", k, x2->shape[0]);
  if (gather && !empty(gather)) {
    check.that(gather->rank() == 2 && gather->shape[1] == k, "gatherOut must have %" PRId64 " columns like x1, or be empty", k);
  }
  check.that(k >= kLowestK && k < kEndK, "x1 has %" PRId64 " columns (k); k must be in [256, 65535)", k);
  check.that(output->rank() == 2 && output->shape[1] == x2->shape[1],
             "output must have %" PRId64 " columns like x2", x2->shape[1]);
  return check.status();
}

// The second line: the communicator, and what the tiling of the kernel refuses.
Status check_inner(const aclTensor *x1, const aclTensor *x2, const char *group, int64_t gather_index, int64_t comm_turn,
                   const aclTensor *output, const aclTensor *gather, std::shared_ptr<hccl::Communicator> *communicator) {
  if (Status s = find_group(kOp, group, communicator)) return s;
  if (gather_index != 0) {
    return fail(kTiling, "%s: gatherIndex is %" PRId64 "; only 0 (x1 is gathered) is supported.", kOp, gather_index);
  }
  if (comm_turn != 0) return fail(kTiling, "%s: commTurn is %" PRId64 "; only 0 is supported.", kOp, comm_turn);
  const aclTensor *const all[] = {x1, x2, output, gather};
  const char *const names[] = {"x1", "x2", "output", "gatherOut"};
  for (int i = 0; i < 4; ++i) {
    if (all[i] && !is_plain_format(all[i]->format)) {
      return fail(kTiling, "%s: %s has the format %s; only ND is supported.", kOp, names[i], format_name(all[i]->format));
    }
  }
  return check_world_size(kOp, **communicator);
}

Status check_rows(const aclTensor *x1, const aclTensor *output, const aclTensor *gather, uint32_t ranks) {
  const int64_t rows = x1->shape[0] * ranks;
  Check check(kOp);
  check.that(output->shape[0] == rows, "output has %" PRId64 " rows; it must have %" PRId64 ", x1's for each of %u ranks",
             output->shape[0], rows, ranks);
  if (!gather || empty(gather)) return check.status();
  check.that(gather->shape[0] == rows, "gatherOut has %" PRId64 " rows; it must have %" PRId64 ", x1's for each of %u ranks",
             gather->shape[0], rows, ranks);
  check.same_dtype("gatherOut", gather->dtype, "x1", x1->dtype);
  return check.status();
}

Status run(const Problem &problem, PlanContext &context) {
  hccl::Communicator &comm = *problem.communicator;
  const aclTensor &x1 = context.tensor(problem.x1), &x2 = context.tensor(problem.x2);
  hccl::Session session(comm, hccl::describe("%s(m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64 ", dtype=%s)", kOp, problem.m,
                                             problem.k, problem.n, dtype_name(x1.dtype)));
  if (Status s = session.begin()) return s;
  if (context.has(problem.bias) && !all_zero(context.tensor(problem.bias))) {
    return comm.abandon("EZ9999", ACL_ERROR_RT_AICORE_EXCEPTION, "%s: bias has elements that are not zero; the operator does not add one", kOp);
  }
  const uint64_t bytes = static_cast<uint64_t>(problem.m * problem.k) * 2;
  auto *workspace = static_cast<char *>(context.workspace());
  const aclTensor *gather = problem.gathers ? &context.tensor(problem.gather) : nullptr;
  // the gathered matrix lies in gatherOut where that is possible, else in the workspace
  char *everyone = gather && gather->contiguous() ? static_cast<char *>(gather->view_data()) : workspace;
  const void *mine = x1.view_data();
  if (!x1.contiguous()) {
    char *packed = everyone + comm.rank() * bytes;
    copy_rows(x1, packed);
    mine = packed;
  }
  if (Status s = session.all_gather(mine, everyone, bytes)) return s;
  if (gather && !gather->contiguous()) copy_to_view(everyone, *gather);
  if (problem.n == 0) return 0;
  multiply(everyone, problem.m * comm.size(), problem.k, x2, context.tensor(problem.output));
  return 0;
}

}  // namespace
}  // namespace emu

EMU_EXPORT aclnnStatus aclnnAllGatherMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const char *group, int64_t gatherIndex, int64_t commTurn, int64_t streamMode, aclTensor *output, aclTensor *gatherOut, uint64_t *workspaceSize, aclOpExecutor **executor) {
  using namespace emu;
  bool nothing = false;
  if (Status s = check_arguments(x1, x2, biasOptional, streamMode, output, gatherOut, &nothing)) return s;
  PlanBuilder plan(kOp);
  plan.rule(WorkspaceRule::kSkipEmpty);
  plan.phase_two_code(kInner);
  Problem problem{};
  problem.x1 = plan.input(x1);
  problem.x2 = plan.input(x2);
  problem.bias = plan.input(biasOptional);
  problem.output = plan.output(output);
  problem.gather = plan.output(gatherOut);
  if (nothing) {
    return plan.finish([](PlanContext &) { return Status{0}; }, workspaceSize, executor);
  }
  if (Status s = check_inner(x1, x2, group, gatherIndex, commTurn, output, gatherOut, &problem.communicator)) return s;
  if (Status s = check_rows(x1, output, gatherOut, problem.communicator->size())) return s;
  problem.m = x1->shape[0];
  problem.k = x1->shape[1];
  problem.n = x2->shape[1];
  problem.gathers = gatherOut && !empty(gatherOut);
  plan.workspace(static_cast<uint64_t>(problem.m * problem.communicator->size() * problem.k) * 2);
  return plan.finish([problem](PlanContext &context) { return run(problem, context); }, workspaceSize, executor);
}

EMU_EXPORT aclnnStatus aclnnAllGatherMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream) {
  return emu::run_plan(emu::kOp, workspace, workspaceSize, executor, stream);
}
