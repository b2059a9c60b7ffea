// SPDX-License-Identifier: Apache-2.0
// AllReduce of int8 products. Scales, x3 and the rounding to the output's dtype come before the
// sum, so each rank may have its own.
#include "aclnnop/mc2.h"
#include "core/chip.h"
#include "hccl/arguments.h"
#include "ops/matmul/quant/operand.h"
#include "ops/mc2/reduction/all_reduce.h"

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

void check_float_dtypes(Check &check, const AllReduceCall &c) {
  const aclDataType x = c.x1->dtype, scale = c.dequant_scale->dtype;
  const bool four = x == ACL_FLOAT4_E2M1;
  check.same_dtype("x2", c.x2->dtype, "x1", x);
  check.dtype_in(c.dequant_name, scale,
                 four                ? kPowers
                 : x == ACL_HIFLOAT8 ? kPacked | dtype_set(ACL_FLOAT)
                                     : kPacked | kPowers | dtype_set(ACL_FLOAT));
  check.dtype_in(c.output_name(), c.output->dtype,
                 contains(kPacked, scale) ? dt::kHalf : dt::kFloat);
  if (c.bias) check.dtype_in("bias", c.bias->dtype, dtype_set(ACL_FLOAT));
  check_addends(check, c);
  check.that(!c.comm_scale1 && !c.comm_scale2,
             "commQuantScale%d is given; with x1 of %s it must be null", c.comm_scale1 ? 1 : 2,
             dtype_name(x));
  if (!check.ok()) return;
  check.that(contains(kPacked, scale) == (c.pertoken_scale == nullptr),
             "%s is %s; with %s of %s it must%s be null", c.pertoken_name,
             c.pertoken_scale ? "given" : "null", c.dequant_name, dtype_name(scale),
             c.pertoken_scale ? "" : " not");
  if (c.pertoken_scale && check.ok())
    check.same_dtype(c.pertoken_name, c.pertoken_scale->dtype, c.dequant_name, scale);
}

void check_float_scales(Check &check, AllReduceCall &c, int64_t group_size) {
  if (!check.ok()) return;
  FloatForm &f = c.floats;
  const int64_t k = c.depth(), n = c.columns(), rows = c.rows();
  const aclTensor &right = *c.dequant_scale;
  f.mode = contains(kPowers, right.dtype)                     ? FloatMode::kMx
           : c.pertoken_scale && c.pertoken_scale->rank() > 1 ? FloatMode::kBlocks
                                                              : FloatMode::kWhole;
  check_float_groups(check, f.mode, group_size);
  check.that(c.x1->contiguous(), "x1 is a strided view; it must be contiguous");
  check_float4(check, "x1", c.x1);
  check.that(!c.bias || f.mode != FloatMode::kBlocks, "bias is given; scales of blocks take none");
  const bool turned = is_transposed_view(*c.x2);
  if (f.mode == FloatMode::kWhole) {
    check.that(is_per_column(right, n), "%s has shape %s; it must be (1,), (%lld,) or (1, %lld)",
               c.dequant_name, shape_text(layout_of(right)).c_str(), static_cast<long long>(n),
               static_cast<long long>(n));
    f.left.row_step = 1;
    f.right.row_step = right.numel() == n ? 1 : 0;
    if (c.pertoken_scale) check.shape(c.pertoken_name, c.pertoken_scale, dense_layout(&rows, 1));
    return;
  }
  if (f.mode == FloatMode::kMx) {
    check.that(turned || n == 1, "x2 is no transposed view; with scales of FLOAT8_E8M0 it is one");
    check.that(c.x1->dtype != ACL_FLOAT4_E2M1 || (k + 31) / 32 % 2 == 0,
               "x1 has %lld columns; FLOAT4_E2M1 needs an even number of groups of 32",
               static_cast<long long>(k));
    check_row_scales(check, c.pertoken_name, *c.pertoken_scale, f.mode, rows, k, &f.left);
    check_row_scales(check, c.dequant_name, right, f.mode, n, k, &f.right);
    return;
  }
  const int64_t each = c.x1->shape[c.x1->rank() - 2], deep = inner_entries(f.mode, k),
                tall = inner_entries(f.mode, each);
  Layout left;
  if (c.x1->rank() == 3) left.push(c.x1->shape[0], 0);
  left.push(tall, 0);
  left.push(deep, 0);
  check.shape(c.pertoken_name, c.pertoken_scale, left);
  f.left = {128, deep, 1, 0, false};
  f.left_count = tall * deep;
  check_weight_scales(check, c.dequant_name, right, f.mode, {1, k, n, turned}, false, &f.right);
}

// What the versions with scales named after x1 and x2 take on a 950.
bool takes_floats(const AllReduceCall &c) {
  return chip_is_950() && c.x1 && live(c.x1) && contains(kLowFloats, c.x1->dtype);
}

Status plan_floats(AllReduceCall c, int64_t group_size, int64_t comm_quant_mode,
                   uint64_t *workspace_size, aclOpExecutor **executor) {
  c.product = Product::low_floats;
  Check check(c.op);
  check_presence(check, c);
  check.that(comm_quant_mode == 0,
             "commQuantMode is %lld; only 0 is supported: how many values share a scale on their "
             "way with 1 is not documented",
             static_cast<long long>(comm_quant_mode));
  if (!check.ok()) return check.status();
  check.that(!c.blocked(), "x2 has the format FRACTAL_NZ; with x1 of %s it is ND",
             dtype_name(c.x1->dtype));
  check_float_dtypes(check, c);
  check_modes(check, c);
  check_shapes(check, c);
  if (check.ok()) check_matrix_layout(check, "x2", *c.x2);
  check_float_scales(check, c, group_size);
  return check.ok() ? plan_all_reduce(c, workspace_size, executor) : check.status();
}

Status plan_later_int8(const AllReduceCall &c, int64_t group_size, int64_t comm_quant_mode,
                       uint64_t *workspace_size, aclOpExecutor **executor) {
  if (takes_floats(c)) return plan_floats(c, group_size, comm_quant_mode, workspace_size, executor);
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
  call.names_mode = true;
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
