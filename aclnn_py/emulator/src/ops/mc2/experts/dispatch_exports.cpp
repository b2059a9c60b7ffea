// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/mc2.h"
#include "ops/mc2/experts/dispatch.h"

EMU_OPERATOR(MoeDistributeDispatch,
             (const aclTensor *x, const aclTensor *expertIds, const aclTensor *scales,
              const aclTensor *xActiveMaskOptional, const aclTensor *expertScales,
              const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
              const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode,
              int64_t globalBs, int64_t expertTokenNumsType, aclTensor *expandX,
              aclTensor *dynamicScales, aclTensor *expandIdx, aclTensor *expertTokenNums,
              aclTensor *epRecvCounts, aclTensor *tpRecvCountsOptional, aclTensor *expandScales)) {
  emu::DispatchCall call{
      {"aclnnMoeDistributeDispatch", 1, groupEp, epWorldSize, epRankId, moeExpertNum},
      x,
      expertIds,
      scales,
      xActiveMaskOptional,
      expertScales};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  call.quant_mode = quantMode;
  call.count_type = expertTokenNumsType;
  call.expanded = expandX;
  call.dynamic_scales = dynamicScales;
  call.assist = expandIdx;
  call.expert_counts = expertTokenNums;
  call.ep_counts = epRecvCounts;
  call.tp_counts = tpRecvCountsOptional;
  call.expanded_weights = expandScales;
  return emu::plan_dispatch(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeDispatchV2,
             (const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional,
              const aclTensor *xActiveMaskOptional, const aclTensor *expertScalesOptional,
              const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
              const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode,
              int64_t globalBs, int64_t expertTokenNumsType, const char *commAlg,
              aclTensor *expandXOut, aclTensor *dynamicScalesOut,
              aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut,
              aclTensor *epRecvCountsOut, aclTensor *tpRecvCountsOutOptional,
              aclTensor *expandScalesOut)) {
  emu::DispatchCall call{
      {"aclnnMoeDistributeDispatchV2", 2, groupEp, epWorldSize, epRankId, moeExpertNum},
      x,
      expertIds,
      scalesOptional,
      xActiveMaskOptional,
      expertScalesOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  a.comm_alg = commAlg;
  call.quant_mode = quantMode;
  call.count_type = expertTokenNumsType;
  call.expanded = expandXOut;
  call.dynamic_scales = dynamicScalesOut;
  call.assist = assistInfoForCombineOut;
  call.expert_counts = expertTokenNumsOut;
  call.ep_counts = epRecvCountsOut;
  call.tp_counts = tpRecvCountsOutOptional;
  call.expanded_weights = expandScalesOut;
  return emu::plan_dispatch(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeDispatchV3,
             (const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional,
              const aclTensor *xActiveMaskOptional, const aclTensor *expertScalesOptional,
              const aclTensor *elasticInfoOptional, const char *groupEp, int64_t epWorldSize,
              int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize,
              int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum,
              int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs,
              int64_t expertTokenNumsType, const char *commAlg, int64_t zeroExpertNum,
              int64_t copyExpertNum, int64_t constExpertNum, aclTensor *expandXOut,
              aclTensor *dynamicScalesOut, aclTensor *assistInfoForCombineOut,
              aclTensor *expertTokenNumsOut, aclTensor *epRecvCountsOut,
              aclTensor *tpRecvCountsOutOptional, aclTensor *expandScalesOut)) {
  emu::DispatchCall call{
      {"aclnnMoeDistributeDispatchV3", 3, groupEp, epWorldSize, epRankId, moeExpertNum},
      x,
      expertIds,
      scalesOptional,
      xActiveMaskOptional,
      expertScalesOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  a.comm_alg = commAlg;
  a.zero_experts = zeroExpertNum;
  a.copy_experts = copyExpertNum;
  a.constant_experts = constExpertNum;
  call.elastic = elasticInfoOptional;
  call.quant_mode = quantMode;
  call.count_type = expertTokenNumsType;
  call.expanded = expandXOut;
  call.dynamic_scales = dynamicScalesOut;
  call.assist = assistInfoForCombineOut;
  call.expert_counts = expertTokenNumsOut;
  call.ep_counts = epRecvCountsOut;
  call.tp_counts = tpRecvCountsOutOptional;
  call.expanded_weights = expandScalesOut;
  return emu::plan_dispatch(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeDispatchV4,
             (const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional,
              const aclTensor *xActiveMaskOptional, const aclTensor *expertScalesOptional,
              const aclTensor *elasticInfoOptional, const aclTensor *performanceInfoOptional,
              const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
              const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode,
              int64_t globalBs, int64_t expertTokenNumsType, const char *commAlg,
              int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum,
              aclTensor *expandXOut, aclTensor *dynamicScalesOut,
              aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut,
              aclTensor *epRecvCountsOut, aclTensor *tpRecvCountsOutOptional,
              aclTensor *expandScalesOut)) {
  emu::DispatchCall call{
      {"aclnnMoeDistributeDispatchV4", 4, groupEp, epWorldSize, epRankId, moeExpertNum},
      x,
      expertIds,
      scalesOptional,
      xActiveMaskOptional,
      expertScalesOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  a.comm_alg = commAlg;
  a.zero_experts = zeroExpertNum;
  a.copy_experts = copyExpertNum;
  a.constant_experts = constExpertNum;
  call.elastic = elasticInfoOptional;
  call.times = performanceInfoOptional;
  call.quant_mode = quantMode;
  call.count_type = expertTokenNumsType;
  call.expanded = expandXOut;
  call.dynamic_scales = dynamicScalesOut;
  call.assist = assistInfoForCombineOut;
  call.expert_counts = expertTokenNumsOut;
  call.ep_counts = epRecvCountsOut;
  call.tp_counts = tpRecvCountsOutOptional;
  call.expanded_weights = expandScalesOut;
  return emu::plan_dispatch(call, workspaceSize, executor);
}
EMU_CATCH
