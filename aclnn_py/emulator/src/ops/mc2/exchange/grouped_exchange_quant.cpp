// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/mc2.h"
#include "ops/mc2/exchange/grouped_exchange.h"

EMU_OPERATOR(AlltoAllvQuantGroupedMatMul,
             (const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale,
              const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional,
              const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional,
              const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional,
              const aclTensor *mmWeightScaleOptional, int64_t gmmXQuantMode,
              int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode,
              const char *group, int64_t epWorldSize, const aclIntArray *sendCounts,
              const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight,
              int64_t groupSize, bool permuteOutFlag, aclTensor *gmmY, aclTensor *mmYOptional,
              aclTensor *permuteOutOptional)) {
  const emu::OperandScales scales{
      gmmXScale,     gmmWeightScale,     mmXScaleOptional, mmWeightScaleOptional,
      gmmXQuantMode, gmmWeightQuantMode, mmXQuantMode,     mmWeightQuantMode,
      groupSize};
  emu::GroupedExchangeCall call{"aclnnAlltoAllvQuantGroupedMatMul",
                                true,
                                gmmX,
                                gmmWeight,
                                sendCountsTensorOptional,
                                recvCountsTensorOptional,
                                mmXOptional,
                                mmWeightOptional,
                                group,
                                nullptr,
                                epWorldSize,
                                sendCounts,
                                recvCounts,
                                transGmmWeight,
                                transMmWeight,
                                gmmY,
                                mmYOptional};
  call.keeps = permuteOutFlag;
  call.permuted = permuteOutOptional;
  call.scales = &scales;
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AlltoAllvQuantGroupedMatMulV2,
             (const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale,
              const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional,
              const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional,
              const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional,
              const aclTensor *mmWeightScaleOptional, int64_t gmmXQuantMode,
              int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode,
              const char *group, const char *commMode, int64_t epWorldSize,
              const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight,
              bool transMmWeight, int64_t groupSize, bool permuteOutFlag, aclTensor *gmmY,
              aclTensor *mmYOptional, aclTensor *permuteOutOptional)) {
  const emu::OperandScales scales{
      gmmXScale,     gmmWeightScale,     mmXScaleOptional, mmWeightScaleOptional,
      gmmXQuantMode, gmmWeightQuantMode, mmXQuantMode,     mmWeightQuantMode,
      groupSize};
  emu::GroupedExchangeCall call{"aclnnAlltoAllvQuantGroupedMatMulV2",
                                true,
                                gmmX,
                                gmmWeight,
                                sendCountsTensorOptional,
                                recvCountsTensorOptional,
                                mmXOptional,
                                mmWeightOptional,
                                group,
                                commMode,
                                epWorldSize,
                                sendCounts,
                                recvCounts,
                                transGmmWeight,
                                transMmWeight,
                                gmmY,
                                mmYOptional};
  call.keeps = permuteOutFlag;
  call.permuted = permuteOutOptional;
  call.scales = &scales;
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantGroupedMatMulAlltoAllv,
             (const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale,
              const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional,
              const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional,
              const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional,
              const aclTensor *mmWeightScaleOptional, const aclTensor *commQuantScaleOptional,
              int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode,
              int64_t mmWeightQuantMode, int64_t commQuantMode, int64_t commQuantDtype,
              int64_t groupSize, const char *group, int64_t epWorldSize,
              const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight,
              bool transMmWeight, aclTensor *y, aclTensor *mmYOptional)) {
  const emu::OperandScales scales{
      gmmXScale,     gmmWeightScale,         mmXScaleOptional, mmWeightScaleOptional,
      gmmXQuantMode, gmmWeightQuantMode,     mmXQuantMode,     mmWeightQuantMode,
      groupSize,     commQuantScaleOptional, commQuantMode,    commQuantDtype};
  emu::GroupedExchangeCall call{"aclnnQuantGroupedMatMulAlltoAllv",
                                false,
                                gmmX,
                                gmmWeight,
                                sendCountsTensorOptional,
                                recvCountsTensorOptional,
                                mmXOptional,
                                mmWeightOptional,
                                group,
                                nullptr,
                                epWorldSize,
                                sendCounts,
                                recvCounts,
                                transGmmWeight,
                                transMmWeight,
                                y,
                                mmYOptional};
  call.scales = &scales;
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantGroupedMatMulAlltoAllvV2,
             (const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale,
              const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional,
              const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional,
              const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional,
              const aclTensor *mmWeightScaleOptional, const aclTensor *commQuantScaleOptional,
              int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode,
              int64_t mmWeightQuantMode, int64_t commQuantMode, int64_t commQuantDtype,
              int64_t groupSize, const char *group, const char *commMode, int64_t epWorldSize,
              const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight,
              bool transMmWeight, aclTensor *y, aclTensor *mmYOptional)) {
  const emu::OperandScales scales{
      gmmXScale,     gmmWeightScale,         mmXScaleOptional, mmWeightScaleOptional,
      gmmXQuantMode, gmmWeightQuantMode,     mmXQuantMode,     mmWeightQuantMode,
      groupSize,     commQuantScaleOptional, commQuantMode,    commQuantDtype};
  emu::GroupedExchangeCall call{"aclnnQuantGroupedMatMulAlltoAllvV2",
                                false,
                                gmmX,
                                gmmWeight,
                                sendCountsTensorOptional,
                                recvCountsTensorOptional,
                                mmXOptional,
                                mmWeightOptional,
                                group,
                                commMode,
                                epWorldSize,
                                sendCounts,
                                recvCounts,
                                transGmmWeight,
                                transMmWeight,
                                y,
                                mmYOptional};
  call.scales = &scales;
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH
