// SPDX-License-Identifier: Apache-2.0
// AllReduce of products with weights of 8 or 4 bits. The weight is brought to the dtype of x1, and
// rounded to it, before the product.
#include <algorithm>
#include <cinttypes>
#include <climits>

#include "aclnnop/mc2.h"
#include "core/statuses.h"
#include "hccl/arguments.h"
#include "ops/mc2/reduction/all_reduce.h"

namespace emu {
namespace {

constexpr int64_t kGroupStep = 32;

Status plan_few_bit(const AllReduceCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(c.op);
  check_presence(check, c);
  if (!check.ok()) return check.status();
  if (!c.x2->data)
    return fail(kInnerNull, "%s: x2 has no data; phase one needs its address.", c.op);
  const DtypeSet floats = hccl::chip() == hccl::Chip::p310 ? dtype_set(ACL_FLOAT16) : dt::kHalf;
  const aclDataType dtype = c.x1->dtype;
  check.dtype_in("x1", dtype, floats).dtype_in("x2", c.x2->dtype, dtype_set(ACL_INT8, ACL_INT4));
  check.dtype_in("antiquantScale", c.antiquant_scale->dtype, floats)
      .dtype_in(c.output_name(), c.output->dtype, floats);
  check.same_dtype("antiquantScale", c.antiquant_scale->dtype, "x1", dtype);
  check.same_dtype(c.output_name(), c.output->dtype, "x1", dtype);
  if (c.bias) check.same_dtype("bias", c.bias->dtype, "x1", dtype);
  if (c.antiquant_offset)
    check.same_dtype("antiquantOffset", c.antiquant_offset->dtype, "x1", dtype);
  check_addends(check, c);
  check_modes(check, c);
  if (!check.ok()) return check.status();
  const int64_t size = c.group_size, k = c.x1->rank() > 0 ? c.depth() : 0;
  const int64_t most = std::min<int64_t>(k - 1, INT32_MAX);
  check.that(size == 0 || (size % kGroupStep == 0 && size >= kGroupStep && size <= most),
             "antiquantGroupSize is %" PRId64
             "; it must be 0, or a multiple of 32 within [32, %" PRId64 "]",
             size, most);
  check_shapes(check, c);
  if (!check.ok()) return check.status();
  return plan_all_reduce(c, workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(WeightQuantMatmulAllReduce,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional,
              const aclTensor *x3Optional, const char *group, const char *reduceOp,
              int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize,
              aclTensor *output)) {
  emu::AllReduceCall call{"aclnnWeightQuantMatmulAllReduce", emu::Product::few_bit_weight, x1, x2};
  call.bias = biasOptional;
  call.few_bits(antiquantScale, antiquantOffsetOptional, antiquantGroupSize);
  call.x3 = x3Optional;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_few_bit(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(WeightQuantMatmulAllReduceV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional,
              const aclTensor *x3Optional, const char *group, const char *reduceOp,
              const char *commMode, int64_t commTurn, int64_t streamMode,
              int64_t antiquantGroupSize, aclTensor *output)) {
  emu::AllReduceCall call{"aclnnWeightQuantMatmulAllReduceV2", emu::Product::few_bit_weight, x1,
                          x2};
  call.bias = biasOptional;
  call.few_bits(antiquantScale, antiquantOffsetOptional, antiquantGroupSize);
  call.x3 = x3Optional;
  call.names_mode = true;
  call.comm_mode = commMode;
  call.output = output;
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_few_bit(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(WeightQuantMatmulAllReduceAddRmsNorm,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional,
              const aclTensor *residual, const aclTensor *gamma, double epsilon, const char *group,
              const char *reduceOp, int64_t commTurn, int64_t streamMode,
              int64_t antiquantGroupSize, aclTensor *y, aclTensor *normOut)) {
  emu::AllReduceCall call{"aclnnWeightQuantMatmulAllReduceAddRmsNorm", emu::Product::few_bit_weight,
                          x1, x2};
  call.bias = biasOptional;
  call.few_bits(antiquantScale, antiquantOffsetOptional, antiquantGroupSize);
  call.norm(residual, gamma, epsilon, y, normOut);
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_few_bit(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceWeightQuantMatmulAllReduceAddRmsNorm,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional,
              aclTensor *residualRef, const aclTensor *gamma, double epsilon, const char *group,
              const char *reduceOp, int64_t commTurn, int64_t streamMode,
              int64_t antiquantGroupSize, aclTensor *normOut)) {
  emu::AllReduceCall call{"aclnnInplaceWeightQuantMatmulAllReduceAddRmsNorm",
                          emu::Product::few_bit_weight, x1, x2};
  call.bias = biasOptional;
  call.few_bits(antiquantScale, antiquantOffsetOptional, antiquantGroupSize);
  call.norm(residualRef, gamma, epsilon, residualRef, normOut);
  call.modes(group, reduceOp, commTurn, streamMode);
  return emu::plan_few_bit(call, workspaceSize, executor);
}
EMU_CATCH
