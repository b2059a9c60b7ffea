// SPDX-License-Identifier: Apache-2.0
// AllReduce of int8 products. Scales, x3 and the rounding to the output's dtype come before the
// sum, so each rank may have its own.
#include "aclnnop/mc2.h"
#include "hccl/arguments.h"
#include "ops/mc2/all_reduce.h"

namespace emu {
namespace {

constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64);

void check_dtypes(Check &check, const AllReduceCall &c) {
  const bool p310 = hccl::chip() == hccl::Chip::p310;
  const aclDataType scale = c.dequant_scale->dtype, output = c.output->dtype;
  check.dtype_in("x1", c.x1->dtype, dtype_set(ACL_INT8))
      .dtype_in("x2", c.x2->dtype, dtype_set(ACL_INT8));
  check.dtype_in(c.dequant_name, scale, p310 ? kPacked : kPacked | dtype_set(ACL_BF16, ACL_FLOAT));
  check.dtype_in(c.output_name(), output, p310 ? dtype_set(ACL_FLOAT16) : dt::kHalf);
  if (c.bias) check.dtype_in("bias", c.bias->dtype, dtype_set(ACL_INT32));
  check_addends(check, c);
  if (output == ACL_BF16) check.dtype_in(c.dequant_name, scale, dtype_set(ACL_BF16));
  check.that(scale != ACL_BF16 || output == ACL_BF16,
             "%s has dtype BF16; %s has to have it too, but has %s", c.dequant_name,
             c.output_name(), dtype_name(output));
  if (!c.pertoken_scale) return;
  check.dtype_in(c.pertoken_name, c.pertoken_scale->dtype, dtype_set(ACL_FLOAT));
  if (output == ACL_FLOAT16) check.dtype_in(c.dequant_name, scale, dtype_set(ACL_FLOAT));
}

void check_communication_scales(Check &check, const AllReduceCall &c) {
  if (!check.ok() || (!c.comm_scale1 && !c.comm_scale2)) return;
  check.that(c.comm_scale1 && c.comm_scale2,
             "commQuantScale%d is null, but commQuantScale%d is not", c.comm_scale1 ? 2 : 1,
             c.comm_scale1 ? 1 : 2);
  if (!check.ok()) return;
  check.that(c.output->rank() > 0, "output has no dimensions");
  if (!check.ok()) return;
  const int64_t n = c.output->shape.back();
  const char *name = "commQuantScale1";
  for (const aclTensor *scale : {c.comm_scale1, c.comm_scale2}) {
    check.same_dtype(name, scale->dtype, c.output_name(), c.output->dtype);
    check.that(is_per_column(*scale, n) && scale->shape.back() == n,
               "%s has shape %s; expected (%lld,) or (1, %lld)", name,
               shape_text(layout_of(*scale)).c_str(), static_cast<long long>(n),
               static_cast<long long>(n));
    name = "commQuantScale2";
  }
}

Status plan_int8(const AllReduceCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(c.op);
  check_presence(check, c);
  if (!check.ok()) return check.status();
  check_dtypes(check, c);
  check_modes(check, c);
  check_shapes(check, c);
  check_communication_scales(check, c);
  if (!check.ok()) return check.status();
  // CANN relabels the caller's own tensor; programs can see it
  if (c.dequant_scale->dtype == ACL_INT64)
    const_cast<aclTensor *>(c.dequant_scale)->dtype = ACL_UINT64;
  return plan_all_reduce(c, workspace_size, executor);
}

// What the versions with scales named after x1 and x2 add is for floats of 8 bits.
Status plan_later_int8(const AllReduceCall &c, int64_t group_size, int64_t comm_quant_mode,
                       uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(c.op);
  check_presence(check, c);
  check.that(group_size == 0, "groupSize is %lld; int8 products have no groups, it must be 0",
             static_cast<long long>(group_size));
  check.that(comm_quant_mode == 0,
             "commQuantMode is %lld; 1 is for floats of 8 bits, int8 takes 0 only",
             static_cast<long long>(comm_quant_mode));
  return check.ok() ? plan_int8(c, workspace_size, executor) : check.status();
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantMatmulAllReduce,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *x3,
              const aclTensor *dequantScale, const char *group, const char *reduceOp,
              int64_t commTurn, int64_t streamMode, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnQuantMatmulAllReduce", emu::Product::int8, x1, x2};
  call.bias = bias;
  call.x3 = x3;
  call.dequant_scale = dequantScale;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_int8(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulAllReduceV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x3Optional, const aclTensor *dequantScale,
              const aclTensor *pertokenScaleOptional, const char *group, const char *reduceOp,
              int64_t commTurn, int64_t streamMode, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnQuantMatmulAllReduceV2", emu::Product::int8, x1, x2};
  call.bias = biasOptional;
  call.x3 = x3Optional;
  call.dequant_scale = dequantScale;
  call.pertoken_scale = pertokenScaleOptional;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_int8(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulAllReduceV3,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x3Optional, const aclTensor *dequantScale,
              const aclTensor *pertokenScaleOptional, const aclTensor *commQuantScale1Optional,
              const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp,
              int64_t commTurn, int64_t streamMode, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnQuantMatmulAllReduceV3", emu::Product::int8, x1, x2};
  call.bias = biasOptional;
  call.x3 = x3Optional;
  call.dequant_scale = dequantScale;
  call.pertoken_scale = pertokenScaleOptional;
  call.comm_scale1 = commQuantScale1Optional;
  call.comm_scale2 = commQuantScale2Optional;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_int8(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulAllReduceV4,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x3Optional, const aclTensor *x1ScaleOptional,
              const aclTensor *x2Scale, const aclTensor *commQuantScale1Optional,
              const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp,
              int64_t commTurn, int64_t streamMode, int64_t groupSize, int64_t commQuantMode,
              aclTensor *output)) {
  emu::AllReduceCall call{"aclnnQuantMatmulAllReduceV4", emu::Product::int8, x1, x2};
  call.bias = biasOptional;
  call.x3 = x3Optional;
  call.operand_scales(x1ScaleOptional, x2Scale);
  call.comm_scale1 = commQuantScale1Optional;
  call.comm_scale2 = commQuantScale2Optional;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_later_int8(call, groupSize, commQuantMode, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulAllReduceV5,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x3Optional, const aclTensor *x1ScaleOptional,
              const aclTensor *x2Scale, const aclTensor *commQuantScale1Optional,
              const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp,
              const char *commMode, int64_t commTurn, int64_t streamMode, int64_t groupSize,
              int64_t commQuantMode, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnQuantMatmulAllReduceV5", emu::Product::int8, x1, x2};
  call.bias = biasOptional;
  call.x3 = x3Optional;
  call.operand_scales(x1ScaleOptional, x2Scale);
  call.comm_scale1 = commQuantScale1Optional;
  call.comm_scale2 = commQuantScale2Optional;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  call.comm_mode = commMode;
  return emu::plan_later_int8(call, groupSize, commQuantMode, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulAllReduceAddRmsNorm,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *dequantScale, const aclTensor *residual, const aclTensor *gamma,
              double epsilon, const char *group, const char *reduceOp, int64_t commTurn,
              int64_t streamMode, aclTensor *y, aclTensor *normOut)) {
  emu::AllReduceCall call{"aclnnQuantMatmulAllReduceAddRmsNorm", emu::Product::int8, x1, x2};
  call.bias = biasOptional;
  call.dequant_scale = dequantScale;
  call.norm(residual, gamma, epsilon, y, normOut);
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_int8(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceQuantMatmulAllReduceAddRmsNorm,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *dequantScale, aclTensor *residualRef, const aclTensor *gamma,
              double epsilon, const char *group, const char *reduceOp, int64_t commTurn,
              int64_t streamMode, aclTensor *normOut)) {
  emu::AllReduceCall call{"aclnnInplaceQuantMatmulAllReduceAddRmsNorm", emu::Product::int8, x1, x2};
  call.bias = biasOptional;
  call.dequant_scale = dequantScale;
  call.norm(residualRef, gamma, epsilon, residualRef, normOut);
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_int8(call, workspaceSize, executor);
}
EMU_CATCH
