// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/mc2.h"
#include "ops/mc2/exchange/exchanged.h"

EMU_OPERATOR(AlltoAllMatmul,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclIntArray *alltoAllAxesOptional, const char *group, bool transposeX1,
              bool transposeX2, aclTensor *output, aclTensor *alltoAllOutOptional)) {
  emu::ExchangedCall call{
      "aclnnAlltoAllMatmul", true,  false,       x1,          x2,    biasOptional,
      alltoAllAxesOptional,  group, transposeX1, transposeX2, output};
  call.exchanged = alltoAllOutOptional;
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AlltoAllMatmulV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclIntArray *alltoAllAxesOptional, const char *group, const char *commMode,
              bool transposeX1, bool transposeX2, aclTensor *output,
              aclTensor *alltoAllOutOptional)) {
  emu::ExchangedCall call{
      "aclnnAlltoAllMatmulV2", true,  false,       x1,          x2,    biasOptional,
      alltoAllAxesOptional,    group, transposeX1, transposeX2, output};
  call.names_mode = true;
  call.comm_mode = commMode;
  call.exchanged = alltoAllOutOptional;
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MatmulAlltoAll,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclIntArray *alltoAllAxesOptional, const char *group, bool transposeX1,
              bool transposeX2, aclTensor *output)) {
  emu::ExchangedCall call{
      "aclnnMatmulAlltoAll", false, false,       x1,          x2,    biasOptional,
      alltoAllAxesOptional,  group, transposeX1, transposeX2, output};
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MatmulAlltoAllV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclIntArray *alltoAllAxesOptional, const char *group, const char *commMode,
              bool transposeX1, bool transposeX2, aclTensor *output)) {
  emu::ExchangedCall call{
      "aclnnMatmulAlltoAllV2", false, false,       x1,          x2,    biasOptional,
      alltoAllAxesOptional,    group, transposeX1, transposeX2, output};
  call.names_mode = true;
  call.comm_mode = commMode;
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AlltoAllQuantMatmul,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x1ScaleOptional, const aclTensor *x2Scale,
              const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional,
              const aclTensor *x2OffsetOptional, const char *group,
              const aclIntArray *alltoAllAxesOptional, int64_t x1QuantMode, int64_t x2QuantMode,
              int64_t commQuantMode, int64_t commQuantDtype, int64_t x1QuantDtype,
              int64_t groupSize, bool transposeX1, bool transposeX2, aclTensor *output,
              aclTensor *alltoAllOutOptional)) {
  emu::ExchangedCall call{
      "aclnnAlltoAllQuantMatmul", true,  true,        x1,          x2,    biasOptional,
      alltoAllAxesOptional,       group, transposeX1, transposeX2, output};
  call.exchanged = alltoAllOutOptional;
  call.x1_scale = x1ScaleOptional;
  call.x2_scale = x2Scale;
  call.comm_scale = commScaleOptional;
  call.x1_offset = x1OffsetOptional;
  call.x2_offset = x2OffsetOptional;
  call.x1_mode = x1QuantMode;
  call.x2_mode = x2QuantMode;
  call.comm_quant_mode = commQuantMode;
  call.comm_quant_dtype = commQuantDtype;
  call.group_size = groupSize;
  call.x1_quant_dtype = x1QuantDtype;
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AlltoAllQuantMatmulV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x1ScaleOptional, const aclTensor *x2Scale,
              const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional,
              const aclTensor *x2OffsetOptional, const char *group, const char *commMode,
              const aclIntArray *alltoAllAxesOptional, int64_t x1QuantMode, int64_t x2QuantMode,
              int64_t commQuantMode, int64_t commQuantDtype, int64_t x1QuantDtype,
              int64_t groupSize, bool transposeX1, bool transposeX2, aclTensor *output,
              aclTensor *alltoAllOutOptional)) {
  emu::ExchangedCall call{
      "aclnnAlltoAllQuantMatmulV2", true,  true,        x1,          x2,    biasOptional,
      alltoAllAxesOptional,         group, transposeX1, transposeX2, output};
  call.names_mode = true;
  call.comm_mode = commMode;
  call.exchanged = alltoAllOutOptional;
  call.x1_scale = x1ScaleOptional;
  call.x2_scale = x2Scale;
  call.comm_scale = commScaleOptional;
  call.x1_offset = x1OffsetOptional;
  call.x2_offset = x2OffsetOptional;
  call.x1_mode = x1QuantMode;
  call.x2_mode = x2QuantMode;
  call.comm_quant_mode = commQuantMode;
  call.comm_quant_dtype = commQuantDtype;
  call.group_size = groupSize;
  call.x1_quant_dtype = x1QuantDtype;
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulAlltoAll,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x1Scale, const aclTensor *x2Scale,
              const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional,
              const aclTensor *x2OffsetOptional, const aclIntArray *alltoAllAxesOptional,
              const char *group, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode,
              int64_t commQuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2,
              aclTensor *output)) {
  emu::ExchangedCall call{
      "aclnnQuantMatmulAlltoAll", false, true,        x1,          x2,    biasOptional,
      alltoAllAxesOptional,       group, transposeX1, transposeX2, output};
  call.x1_scale = x1Scale;
  call.x2_scale = x2Scale;
  call.comm_scale = commScaleOptional;
  call.x1_offset = x1OffsetOptional;
  call.x2_offset = x2OffsetOptional;
  call.x1_mode = x1QuantMode;
  call.x2_mode = x2QuantMode;
  call.comm_quant_mode = commQuantMode;
  call.comm_quant_dtype = commQuantDtype;
  call.group_size = groupSize;
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulAlltoAllV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x1Scale, const aclTensor *x2Scale,
              const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional,
              const aclTensor *x2OffsetOptional, const aclIntArray *alltoAllAxesOptional,
              const char *group, const char *commMode, int64_t x1QuantMode, int64_t x2QuantMode,
              int64_t commQuantMode, int64_t commQuantDtype, int64_t groupSize, bool transposeX1,
              bool transposeX2, aclTensor *output)) {
  emu::ExchangedCall call{
      "aclnnQuantMatmulAlltoAllV2", false, true,        x1,          x2,    biasOptional,
      alltoAllAxesOptional,         group, transposeX1, transposeX2, output};
  call.names_mode = true;
  call.comm_mode = commMode;
  call.x1_scale = x1Scale;
  call.x2_scale = x2Scale;
  call.comm_scale = commScaleOptional;
  call.x1_offset = x1OffsetOptional;
  call.x2_offset = x2OffsetOptional;
  call.x1_mode = x1QuantMode;
  call.x2_mode = x2QuantMode;
  call.comm_quant_mode = commQuantMode;
  call.comm_quant_dtype = commQuantDtype;
  call.group_size = groupSize;
  return emu::plan_exchanged(call, workspaceSize, executor);
}
EMU_CATCH
