// SPDX-License-Identifier: Apache-2.0
// The first two versions of the quantised product, and those with gelu behind it.
#include "aclnnop/matmul.h"
#include "ops/matmul/quant/quant_matmul.h"

namespace emu {
namespace {

constexpr QuantMatmulNames kFusedNames = {"x1Scale",          "x2Scale",          "yScaleOptional",
                                          "x1OffsetOptional", "x2OffsetOptional", "yOffsetOptional",
                                          "biasOptional"};
constexpr QuantMatmulNames kOldNames = {"x1Scale",  "deqScale", "yScale", "x1Offset",
                                        "x2Offset", "yOffset",  "bias"};

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantMatmul, (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
                           float deqScale, aclTensor *out)) {
  emu::QuantMatmulCall call{"aclnnQuantMatmul", emu::kQuantMatmulFirst, emu::kOldNames, x1, x2};
  call.bias = bias;
  call.scale = deqScale;
  call.out = out;
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulV2, (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
                             const aclTensor *deqScale, bool adjX1, bool adjX2, aclTensor *out)) {
  emu::QuantMatmulCall call{"aclnnQuantMatmulV2", emu::kQuantMatmulV2, emu::kOldNames, x1, x2};
  call.bias = bias;
  call.x2_scale = deqScale;
  call.transpose_x1 = adjX1;
  call.transpose_x2 = adjX2;
  call.out = out;
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH

#define FUSED_QUANT_MATMUL                                                                      \
  const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale, const aclTensor *x2Scale, \
      const aclTensor *yScaleOptional, const aclTensor *x1OffsetOptional,                       \
      const aclTensor *x2OffsetOptional, const aclTensor *yOffsetOptional,                      \
      const aclTensor *biasOptional, const aclTensor *x3Optional, const char *fusedOpType,      \
      int64_t groupSize, aclTensor *out
#define FUSED_QUANT_MATMUL_CALL(OP, VERSION) \
  {OP,                                       \
   emu::VERSION,                             \
   emu::kFusedNames,                         \
   x1,                                       \
   x2,                                       \
   x1Scale,                                  \
   x2Scale,                                  \
   yScaleOptional,                           \
   x1OffsetOptional,                         \
   x2OffsetOptional,                         \
   yOffsetOptional,                          \
   biasOptional,                             \
   false,                                    \
   false,                                    \
   groupSize,                                \
   out,                                      \
   1,                                        \
   fusedOpType,                              \
   x3Optional}

EMU_OPERATOR(FusedQuantMatmul, (FUSED_QUANT_MATMUL)) {
  const emu::QuantMatmulCall call =
      FUSED_QUANT_MATMUL_CALL("aclnnFusedQuantMatmul", kFusedQuantMatmul);
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FusedQuantMatmulWeightNz, (FUSED_QUANT_MATMUL)) {
  const emu::QuantMatmulCall call =
      FUSED_QUANT_MATMUL_CALL("aclnnFusedQuantMatmulWeightNz", kFusedQuantMatmulNz);
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH
