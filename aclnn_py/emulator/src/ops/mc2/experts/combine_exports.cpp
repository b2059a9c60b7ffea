// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/mc2.h"
#include "ops/mc2/experts/combine.h"

EMU_OPERATOR(MoeDistributeCombine,
             (const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *expandIdx,
              const aclTensor *epSendCounts, const aclTensor *expertScales,
              const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional,
              const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional,
              const aclTensor *groupListOptional, const aclTensor *expandScales,
              const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
              const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
              int64_t outDtype, int64_t commQuantMode, int64_t groupListType, aclTensor *x)) {
  emu::CombineCall call{
      {"aclnnMoeDistributeCombine", 1, groupEp, epWorldSize, epRankId, moeExpertNum},
      expandX,
      expertIds,
      expandIdx,
      epSendCounts,
      expertScales,
      tpSendCountsOptional,
      xActiveMaskOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  call.activation_scale = activationScaleOptional;
  call.weight_scale = weightScaleOptional;
  call.group_list = groupListOptional;
  call.expanded_weights = expandScales;
  call.out_dtype = outDtype;
  call.quant_mode = commQuantMode;
  call.group_list_type = groupListType;
  call.out = x;
  return emu::plan_combine(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeCombineV2,
             (const aclTensor *expandX, const aclTensor *expertIds,
              const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts,
              const aclTensor *expertScales, const aclTensor *tpSendCountsOptional,
              const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional,
              const aclTensor *weightScaleOptional, const aclTensor *groupListOptional,
              const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional,
              const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
              const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
              int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlg,
              aclTensor *xOut)) {
  emu::CombineCall call{
      {"aclnnMoeDistributeCombineV2", 2, groupEp, epWorldSize, epRankId, moeExpertNum},
      expandX,
      expertIds,
      assistInfoForCombine,
      epSendCounts,
      expertScales,
      tpSendCountsOptional,
      xActiveMaskOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  call.activation_scale = activationScaleOptional;
  call.weight_scale = weightScaleOptional;
  call.group_list = groupListOptional;
  call.expanded_weights = expandScalesOptional;
  call.out_dtype = outDtype;
  call.quant_mode = commQuantMode;
  call.group_list_type = groupListType;
  a.comm_alg = commAlg;
  call.shared = sharedExpertXOptional;
  call.out = xOut;
  return emu::plan_combine(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeCombineV3,
             (const aclTensor *expandX, const aclTensor *expertIds,
              const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts,
              const aclTensor *expertScales, const aclTensor *tpSendCountsOptional,
              const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional,
              const aclTensor *weightScaleOptional, const aclTensor *groupListOptional,
              const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional,
              const aclTensor *elasticInfoOptional, const aclTensor *oriXOptional,
              const aclTensor *constExpertAlpha1Optional,
              const aclTensor *constExpertAlpha2Optional, const aclTensor *constExpertVOptional,
              const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
              const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
              int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlg,
              int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum,
              aclTensor *xOut)) {
  emu::CombineCall call{
      {"aclnnMoeDistributeCombineV3", 3, groupEp, epWorldSize, epRankId, moeExpertNum},
      expandX,
      expertIds,
      assistInfoForCombine,
      epSendCounts,
      expertScales,
      tpSendCountsOptional,
      xActiveMaskOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  call.activation_scale = activationScaleOptional;
  call.weight_scale = weightScaleOptional;
  call.group_list = groupListOptional;
  call.expanded_weights = expandScalesOptional;
  call.out_dtype = outDtype;
  call.quant_mode = commQuantMode;
  call.group_list_type = groupListType;
  a.comm_alg = commAlg;
  call.shared = sharedExpertXOptional;
  a.zero_experts = zeroExpertNum;
  a.copy_experts = copyExpertNum;
  a.constant_experts = constExpertNum;
  call.elastic = elasticInfoOptional;
  call.x = oriXOptional;
  call.alpha = constExpertAlpha1Optional;
  call.beta = constExpertAlpha2Optional;
  call.constant = constExpertVOptional;
  call.out = xOut;
  return emu::plan_combine(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeCombineV4,
             (const aclTensor *expandX, const aclTensor *expertIds,
              const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts,
              const aclTensor *expertScales, const aclTensor *tpSendCountsOptional,
              const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional,
              const aclTensor *weightScaleOptional, const aclTensor *groupListOptional,
              const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional,
              const aclTensor *elasticInfoOptional, const aclTensor *oriXOptional,
              const aclTensor *constExpertAlpha1Optional,
              const aclTensor *constExpertAlpha2Optional, const aclTensor *constExpertVOptional,
              const aclTensor *performanceInfoOptional, const char *groupEp, int64_t epWorldSize,
              int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize,
              int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum,
              int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype,
              int64_t commQuantMode, int64_t groupListType, const char *commAlg,
              int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum,
              aclTensor *xOut)) {
  emu::CombineCall call{
      {"aclnnMoeDistributeCombineV4", 4, groupEp, epWorldSize, epRankId, moeExpertNum},
      expandX,
      expertIds,
      assistInfoForCombine,
      epSendCounts,
      expertScales,
      tpSendCountsOptional,
      xActiveMaskOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  call.activation_scale = activationScaleOptional;
  call.weight_scale = weightScaleOptional;
  call.group_list = groupListOptional;
  call.expanded_weights = expandScalesOptional;
  call.out_dtype = outDtype;
  call.quant_mode = commQuantMode;
  call.group_list_type = groupListType;
  a.comm_alg = commAlg;
  call.shared = sharedExpertXOptional;
  a.zero_experts = zeroExpertNum;
  a.copy_experts = copyExpertNum;
  a.constant_experts = constExpertNum;
  call.elastic = elasticInfoOptional;
  call.x = oriXOptional;
  call.alpha = constExpertAlpha1Optional;
  call.beta = constExpertAlpha2Optional;
  call.constant = constExpertVOptional;
  call.times = performanceInfoOptional;
  call.out = xOut;
  return emu::plan_combine(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeCombineAddRmsNorm,
             (const aclTensor *expandX, const aclTensor *expertIds,
              const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts,
              const aclTensor *expertScales, const aclTensor *residualX, const aclTensor *gamma,
              const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional,
              const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional,
              const aclTensor *groupListOptional, const aclTensor *expandScalesOptional,
              const aclTensor *sharedExpertXOptional, const char *groupEp, int64_t epWorldSize,
              int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize,
              int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum,
              int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype,
              int64_t commQuantMode, int64_t groupListType, const char *commAlgOptional,
              float normEps, aclTensor *yOut, aclTensor *rstdOut, aclTensor *xOut)) {
  emu::CombineCall call{
      {"aclnnMoeDistributeCombineAddRmsNorm", 2, groupEp, epWorldSize, epRankId, moeExpertNum},
      expandX,
      expertIds,
      assistInfoForCombine,
      epSendCounts,
      expertScales,
      tpSendCountsOptional,
      xActiveMaskOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  call.activation_scale = activationScaleOptional;
  call.weight_scale = weightScaleOptional;
  call.group_list = groupListOptional;
  call.expanded_weights = expandScalesOptional;
  call.out_dtype = outDtype;
  call.quant_mode = commQuantMode;
  call.group_list_type = groupListType;
  a.comm_alg = commAlgOptional;
  call.shared = sharedExpertXOptional;
  call.residual = residualX;
  call.gamma = gamma;
  call.epsilon = static_cast<double>(normEps);
  call.y = yOut;
  call.rstd = rstdOut;
  call.sum = xOut;
  call.normalises = true;
  return emu::plan_combine(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeCombineAddRmsNormV2,
             (const aclTensor *expandX, const aclTensor *expertIds,
              const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts,
              const aclTensor *expertScales, const aclTensor *residualX, const aclTensor *gamma,
              const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional,
              const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional,
              const aclTensor *groupListOptional, const aclTensor *expandScalesOptional,
              const aclTensor *sharedExpertXOptional, const aclTensor *elasticInfoOptional,
              const aclTensor *oriXOptional, const aclTensor *constExpertAlpha1Optional,
              const aclTensor *constExpertAlpha2Optional, const aclTensor *constExpertVOptional,
              const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum,
              const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
              int64_t outDtype, int64_t commQuantMode, int64_t groupListType,
              const char *commAlgOptional, float normEps, int64_t zeroExpertNum,
              int64_t copyExpertNum, int64_t constExpertNum, aclTensor *yOut, aclTensor *rstdOut,
              aclTensor *xOut)) {
  emu::CombineCall call{
      {"aclnnMoeDistributeCombineAddRmsNormV2", 3, groupEp, epWorldSize, epRankId, moeExpertNum},
      expandX,
      expertIds,
      assistInfoForCombine,
      epSendCounts,
      expertScales,
      tpSendCountsOptional,
      xActiveMaskOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.group_tp = groupTp;
  a.tp_size = tpWorldSize;
  a.tp_rank = tpRankId;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  call.activation_scale = activationScaleOptional;
  call.weight_scale = weightScaleOptional;
  call.group_list = groupListOptional;
  call.expanded_weights = expandScalesOptional;
  call.out_dtype = outDtype;
  call.quant_mode = commQuantMode;
  call.group_list_type = groupListType;
  a.comm_alg = commAlgOptional;
  call.shared = sharedExpertXOptional;
  a.zero_experts = zeroExpertNum;
  a.copy_experts = copyExpertNum;
  a.constant_experts = constExpertNum;
  call.elastic = elasticInfoOptional;
  call.x = oriXOptional;
  call.alpha = constExpertAlpha1Optional;
  call.beta = constExpertAlpha2Optional;
  call.constant = constExpertVOptional;
  call.residual = residualX;
  call.gamma = gamma;
  call.epsilon = static_cast<double>(normEps);
  call.y = yOut;
  call.rstd = rstdOut;
  call.sum = xOut;
  call.normalises = true;
  return emu::plan_combine(call, workspaceSize, executor);
}
EMU_CATCH
