// SPDX-License-Identifier: Apache-2.0
// AllReduce of products of floating matrices; bias and x3 are added on every rank, before the sum.
#include "aclnnop/mc2.h"
#include "hccl/arguments.h"
#include "ops/mc2/reduction/all_reduce.h"

namespace emu {
namespace {

Status plan_floating(const AllReduceCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(c.op);
  check_presence(check, c);
  if (!check.ok()) return check.status();
  const bool p310 = hccl::chip() == hccl::Chip::p310;
  const DtypeSet allowed = p310 ? dtype_set(ACL_FLOAT16) : dt::kHalf;
  check.dtype_in("x1", c.x1->dtype, allowed).dtype_in("x2", c.x2->dtype, allowed);
  check.dtype_in(c.output_name(), c.output->dtype, allowed);
  check.same_dtype("x2", c.x2->dtype, "x1", c.x1->dtype);
  check.same_dtype(c.output_name(), c.output->dtype, "x1", c.x1->dtype);
  if (c.bias) check.same_dtype("bias", c.bias->dtype, "x1", c.x1->dtype);
  check_addends(check, c);
  check.that(!p310 || !c.x3, "x3 must be null on %s", hccl::chip_text());
  check_modes(check, c);
  check.that(p310 || !c.blocked(), "x2 has format FRACTAL_NZ; on %s only ND is supported",
             hccl::chip_text());
  check_shapes(check, c);
  if (!check.ok()) return check.status();
  return plan_all_reduce(c, workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MatmulAllReduce,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const char *group,
              const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnMatmulAllReduce", emu::Product::floating, x1, x2};
  call.bias = bias;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_floating(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MatmulAllReduceV2, (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
                                 const aclTensor *x3, const char *group, const char *reduceOp,
                                 int64_t commTurn, int64_t streamMode, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnMatmulAllReduceV2", emu::Product::floating, x1, x2};
  call.bias = bias;
  call.x3 = x3;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_floating(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MatmulAllReduceV3,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x3Optional, const char *group, const char *reduceOp,
              const char *commMode, int64_t commTurn, int64_t streamMode, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnMatmulAllReduceV3", emu::Product::floating, x1, x2};
  call.bias = biasOptional;
  call.x3 = x3Optional;
  call.names_mode = true;
  call.comm_mode = commMode;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_floating(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MatmulAllReduceAddRmsNorm,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
              const aclTensor *residual, const aclTensor *gamma, double epsilon, const char *group,
              const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *y,
              aclTensor *normOut)) {
  emu::AllReduceCall call{"aclnnMatmulAllReduceAddRmsNorm", emu::Product::floating, x1, x2};
  call.bias = bias;
  call.norm(residual, gamma, epsilon, y, normOut);
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_floating(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceMatmulAllReduceAddRmsNorm,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              aclTensor *residualRef, const aclTensor *gamma, double epsilon, const char *group,
              const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *normOut)) {
  emu::AllReduceCall call{"aclnnInplaceMatmulAllReduceAddRmsNorm", emu::Product::floating, x1, x2};
  call.bias = biasOptional;
  call.norm(residualRef, gamma, epsilon, residualRef, normOut);
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_floating(call, workspaceSize, executor);
}
EMU_CATCH
