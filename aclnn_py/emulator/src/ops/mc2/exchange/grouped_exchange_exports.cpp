// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/mc2.h"
#include "ops/mc2/exchange/grouped_exchange.h"

EMU_OPERATOR(AlltoAllvGroupedMatMul,
             (const aclTensor *gmmX, const aclTensor *gmmWeight,
              const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional,
              const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group,
              int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts,
              bool transGmmWeight, bool transMmWeight, bool permuteOutFlag, aclTensor *gmmY,
              aclTensor *mmYOptional, aclTensor *permuteOutOptional)) {
  emu::GroupedExchangeCall call{"aclnnAlltoAllvGroupedMatMul",
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
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AlltoAllvGroupedMatMulV2,
             (const aclTensor *gmmX, const aclTensor *gmmWeight,
              const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional,
              const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group,
              const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts,
              const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight,
              bool permuteOutFlag, aclTensor *gmmY, aclTensor *mmYOptional,
              aclTensor *permuteOutOptional)) {
  emu::GroupedExchangeCall call{"aclnnAlltoAllvGroupedMatMulV2",
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
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatMulAlltoAllv,
             (const aclTensor *gmmX, const aclTensor *gmmWeight,
              const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional,
              const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group,
              int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts,
              bool transGmmWeight, bool transMmWeight, aclTensor *y, aclTensor *mmYOptional)) {
  emu::GroupedExchangeCall call{"aclnnGroupedMatMulAlltoAllv",
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
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatMulAlltoAllvV2,
             (const aclTensor *gmmX, const aclTensor *gmmWeight,
              const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional,
              const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group,
              const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts,
              const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, aclTensor *y,
              aclTensor *mmYOptional)) {
  emu::GroupedExchangeCall call{"aclnnGroupedMatMulAlltoAllvV2",
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
  return emu::plan_grouped_exchange(call, workspaceSize, executor);
}
EMU_CATCH
