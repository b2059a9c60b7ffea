// SPDX-License-Identifier: Apache-2.0
// Products of matrices and stacks of them: see product.h.
#include "aclnnop/matmul.h"
#include "core/chip.h"
#include "ops/matmul/product.h"

namespace emu {
namespace {

// A weight in FRACTAL_NZ that neither dimension of makes a vector, of the dtype of the other
// operand.
Check &check_fractal_weight(Check &check, const char *other_name, const aclTensor *other,
                            const char *name, const aclTensor *weight) {
  check.required(other_name, other).required(name, weight);
  check.dtype(other_name, other).dtype(name, weight);
  if (!check.ok()) return check;
  check.that(is_fractal(*weight), "%s is not in FRACTAL_NZ", name);
  check.same_dtype(name, weight->dtype, other_name, other->dtype);
  const size_t rank = weight->rank();
  return check.that(rank < 2 || (weight->shape[rank - 1] != 1 && weight->shape[rank - 2] != 1),
                    "%s has shape %s; none of the last two dimensions may be 1", name,
                    shape_text(layout_of(*weight)).c_str());
}

}  // namespace
}  // namespace emu

using emu::plan_product;
using emu::plan_sum;

EMU_OPERATOR(Matmul,
             (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType)) {
  emu::ProductArguments call{};
  call.op = "aclnnMatmul";
  call.self = self;
  call.mat2 = mat2;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.lowest_rank = 1;
  call.highest_rank = 6;
  call.fractal = true;
  return plan_product(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Mm,
             (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType)) {
  emu::ProductArguments call{};
  call.op = "aclnnMm";
  call.self = self;
  call.mat2 = mat2;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.lowest_rank = 2;
  call.highest_rank = 2;
  call.fractal = true;
  return plan_product(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BatchMatMul,
             (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType)) {
  emu::ProductArguments call{};
  call.op = "aclnnBatchMatMul";
  call.self = self;
  call.mat2 = mat2;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.lowest_rank = 3;
  call.highest_rank = 3;
  call.fractal = true;
  call.highest_math_type = emu::kUseHf32;
  return plan_product(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MatmulWeightNz,
             (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType)) {
  emu::Check check("aclnnMatmulWeightNz");
  check.required("self", self).required("mat2", mat2);
  if (check.ok()) check.that(emu::is_fractal(*mat2), "mat2 is not in FRACTAL_NZ");
  if (!check.ok()) return check.status();
  emu::ProductArguments call{};
  call.op = "aclnnMatmulWeightNz";
  call.self = self;
  call.mat2 = mat2;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.lowest_rank = 2;
  call.highest_rank = 2;
  call.fractal = true;
  return plan_product(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BatchMatMulWeightNz,
             (const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType)) {
  constexpr const char *op = "aclnnBatchMatMulWeightNz";
  emu::Check check(op);
  emu::check_fractal_weight(check, "self", self, "mat2", mat2);
  if (!check.ok()) return check.status();
  emu::ProductArguments call{};
  call.op = op;
  call.self = self;
  call.mat2 = mat2;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.lowest_rank = 3;
  call.highest_rank = 3;
  call.fractal = true;
  call.highest_math_type = emu::kUseHf32;
  return plan_product(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AddmmWeightNz,
             (const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2,
              const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType)) {
  constexpr const char *op = "aclnnAddmmWeightNz";
  emu::Check check(op);
  check.required("self", self);
  emu::check_fractal_weight(check, "mat1", mat1, "mat2", mat2);
  if (!check.ok()) return check.status();
  emu::SumArguments call{};
  call.op = op;
  call.without = emu::NoProduct::product_of_any;
  call.self = self;
  call.mat1 = mat1;
  call.mat2 = mat2;
  call.beta = beta;
  call.alpha = alpha;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.fractal = true;
  call.broadcasts_in_fp32 = !emu::chip_is_950();
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Gemm,
             (const aclTensor *A, const aclTensor *B, const aclTensor *C, float alpha, float beta,
              int64_t transA, int64_t transB, aclTensor *out, int8_t cubeMathType)) {
  emu::SumArguments call{};
  call.op = "aclnnGemm";
  call.without = emu::chip_is_950() ? emu::NoProduct::self : emu::NoProduct::product_of_any;
  call.self = C;
  call.mat1 = A;
  call.mat2 = B;
  call.plain_factors = true;
  call.plain_beta = beta;
  call.plain_alpha = alpha;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.transpose[0] = transA != 0;
  call.transpose[1] = transB != 0;
  call.names[0] = "C";
  call.names[1] = "A";
  call.names[2] = "B";
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Addmm,
             (const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2,
              const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType)) {
  emu::SumArguments call{};
  call.op = "aclnnAddmm";
  call.without = emu::NoProduct::self;
  call.self = self;
  call.mat1 = mat1;
  call.mat2 = mat2;
  call.beta = beta;
  call.alpha = alpha;
  call.out = out;
  call.cube_math_type = cubeMathType;
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceAddmm, (aclTensor *selfRef, const aclTensor *mat1, const aclTensor *mat2,
                            const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType)) {
  emu::SumArguments call{};
  call.op = "aclnnInplaceAddmm";
  call.without = emu::NoProduct::self;
  call.self = selfRef;
  call.mat1 = mat1;
  call.mat2 = mat2;
  call.beta = beta;
  call.alpha = alpha;
  call.out = selfRef;
  call.cube_math_type = cubeMathType;
  call.names[0] = "selfRef";
  call.out_name = "selfRef";
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Baddbmm,
             (const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2,
              const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType)) {
  emu::SumArguments call{};
  call.op = "aclnnBaddbmm";
  call.self = self;
  call.mat1 = batch1;
  call.mat2 = batch2;
  call.beta = beta;
  call.alpha = alpha;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.rank = 3;
  call.names[1] = "batch1";
  call.names[2] = "batch2";
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceBaddbmm, (aclTensor *selfRef, const aclTensor *batch1, const aclTensor *batch2,
                              const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType)) {
  emu::SumArguments call{};
  call.op = "aclnnInplaceBaddbmm";
  call.self = selfRef;
  call.mat1 = batch1;
  call.mat2 = batch2;
  call.beta = beta;
  call.alpha = alpha;
  call.out = selfRef;
  call.cube_math_type = cubeMathType;
  call.rank = 3;
  call.names[0] = "selfRef";
  call.names[1] = "batch1";
  call.names[2] = "batch2";
  call.out_name = "selfRef";
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Addbmm,
             (const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2,
              const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType)) {
  emu::SumArguments call{};
  call.op = "aclnnAddbmm";
  call.without = emu::NoProduct::beta_first;
  call.self = self;
  call.mat1 = batch1;
  call.mat2 = batch2;
  call.beta = beta;
  call.alpha = alpha;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.rank = 3;
  call.sum_batches = true;
  call.names[1] = "batch1";
  call.names[2] = "batch2";
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceAddbmm, (aclTensor *selfRef, const aclTensor *batch1, const aclTensor *batch2,
                             const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType)) {
  emu::SumArguments call{};
  call.op = "aclnnInplaceAddbmm";
  call.without = emu::NoProduct::beta_first;
  call.self = selfRef;
  call.mat1 = batch1;
  call.mat2 = batch2;
  call.beta = beta;
  call.alpha = alpha;
  call.out = selfRef;
  call.cube_math_type = cubeMathType;
  call.rank = 3;
  call.sum_batches = true;
  call.names[0] = "selfRef";
  call.names[1] = "batch1";
  call.names[2] = "batch2";
  call.out_name = "selfRef";
  return plan_sum(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Mv,
             (const aclTensor *self, const aclTensor *vec, aclTensor *out, int8_t cubeMathType)) {
  emu::Check check("aclnnMv");
  check.required("self", self).required("vec", vec).required("out", out);
  check.dtype("self", self).dtype("vec", vec).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "vec", vec->dtype)
      .same_dtype("self", self->dtype, "vec", vec->dtype);
  check.rank("self", self, 2, 2).rank("vec", vec, 1, 1).rank("out", out, 1, 1);
  if (!check.ok()) return check.status();
  emu::ProductArguments call{};
  call.op = "aclnnMv";
  call.self = self;
  call.mat2 = vec;
  call.out = out;
  call.cube_math_type = cubeMathType;
  call.lowest_rank = 1;
  call.highest_rank = 2;
  call.names[1] = "vec";
  return plan_product(call, workspaceSize, executor);
}
EMU_CATCH
