// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/mc2.h"
#include "ops/mc2/experts/halves.h"

EMU_OPERATOR(MoeDistributeDispatchSetup,
             (const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional,
              const aclTensor *xActiveMaskOptional, const char *groupEp, int64_t epWorldSize,
              int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode,
              int64_t globalBs, int64_t commType, const char *commAlgOptional, aclTensor *yOut,
              aclTensor *expandIdxOut, aclTensor *commCmdInfoOut)) {
  emu::DispatchSetupCall call{
      {{"aclnnMoeDistributeDispatchSetup", 2, groupEp, epWorldSize, epRankId, moeExpertNum},
       "expertShardType",
       "quantMode",
       quantMode,
       commType},
      x,
      expertIds,
      scalesOptional,
      xActiveMaskOptional,
      yOut,
      expandIdxOut,
      commCmdInfoOut};
  emu::ExpertAttributes &a = call.half.attributes;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  a.comm_alg = commAlgOptional;
  return emu::plan_dispatch_setup(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeDispatchTeardown,
             (const aclTensor *x, const aclTensor *y, const aclTensor *expertIds,
              const aclTensor *commCmdInfo, const char *groupEp, int64_t epWorldSize,
              int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode,
              int64_t globalBs, int64_t expertTokenNumsType, int64_t commType,
              const char *commAlgOptional, aclTensor *expandXOut, aclTensor *dynamicScalesOut,
              aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut)) {
  emu::DispatchCall call{
      {"aclnnMoeDistributeDispatchTeardown", 2, groupEp, epWorldSize, epRankId, moeExpertNum},
      x,
      expertIds,
      nullptr,
      nullptr,
      nullptr};
  emu::ExpertAttributes &a = call.attributes;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  a.comm_alg = commAlgOptional;
  call.count_type = expertTokenNumsType;
  call.y = y;
  call.commands = commCmdInfo;
  call.expanded = expandXOut;
  call.dynamic_scales = dynamicScalesOut;
  call.assist = assistInfoForCombineOut;
  call.expert_counts = expertTokenNumsOut;
  const emu::HalfCall half{a, "expertShardType", "quantMode", quantMode, commType};
  return emu::plan_dispatch(call, workspaceSize, executor, &half);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeCombineSetup,
             (const aclTensor *expandX, const aclTensor *expertIds,
              const aclTensor *assistInfoForCombine, const char *groupEp, int64_t epWorldSize,
              int64_t epRankId, int64_t moeExpertNum, int64_t expertSharedType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
              int64_t commQuantMode, int64_t commType, const char *commAlgOptional,
              aclTensor *quantExpandXOut, aclTensor *commCmdInfoOut)) {
  emu::CombineSetupCall call{
      {{"aclnnMoeDistributeCombineSetup", 2, groupEp, epWorldSize, epRankId, moeExpertNum},
       "expertSharedType",
       "commQuantMode",
       commQuantMode,
       commType},
      expandX,
      expertIds,
      assistInfoForCombine,
      quantExpandXOut,
      commCmdInfoOut};
  emu::ExpertAttributes &a = call.half.attributes;
  a.shard_type = expertSharedType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  a.comm_alg = commAlgOptional;
  return emu::plan_combine_setup(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeDistributeCombineTeardown,
             (const aclTensor *expandX, const aclTensor *quantExpandX, const aclTensor *expertIds,
              const aclTensor *expandIdx, const aclTensor *expertScales,
              const aclTensor *commCmdInfo, const aclTensor *xActiveMaskOptional,
              const aclTensor *sharedExpertXOptional, const char *groupEp, int64_t epWorldSize,
              int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType,
              int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs,
              int64_t commQuantMode, int64_t commType, const char *commAlgOptional,
              aclTensor *xOut)) {
  emu::CombineCall call{
      {"aclnnMoeDistributeCombineTeardown", 2, groupEp, epWorldSize, epRankId, moeExpertNum},
      expandX,
      expertIds,
      nullptr,
      nullptr,
      expertScales,
      nullptr,
      xActiveMaskOptional};
  emu::ExpertAttributes &a = call.attributes;
  a.shard_type = expertShardType;
  a.shared_experts = sharedExpertNum;
  a.shared_ranks = sharedExpertRankNum;
  a.global_bs = globalBs;
  a.comm_alg = commAlgOptional;
  call.quantised = quantExpandX;
  call.places = expandIdx;
  call.commands = commCmdInfo;
  call.shared = sharedExpertXOptional;
  call.out = xOut;
  const emu::HalfCall half{a, "expertShardType", "commQuantMode", commQuantMode, commType};
  return emu::plan_combine(call, workspaceSize, executor, &half);
}
EMU_CATCH
