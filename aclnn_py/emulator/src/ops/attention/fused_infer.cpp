// SPDX-License-Identifier: Apache-2.0
// The versions of aclnnFusedInferAttentionScore. The second adds separate factors of keys and
// values and a shared prefix, the third rotary parts; the emulator computes none of these and
// refuses them.
#include "aclnnop/attention.h"
#include "ops/attention/attention.h"

namespace emu {
namespace {

void append(std::vector<Named<aclTensor>> *to, std::initializer_list<Named<aclTensor>> more) {
  to->insert(to->end(), more);
}

}  // namespace
}  // namespace emu

#define FUSED_INFER_TENSORS                                                                       \
  const aclTensor *query, const aclTensorList *key, const aclTensorList *value,                   \
      const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,                      \
      const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, \
      const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,                   \
      const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,                   \
      const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,             \
      const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,              \
      const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional
#define FUSED_INFER_ATTRIBUTES                                                                     \
  int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens,                      \
      const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, \
      int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag

// antiquantMode and its kin say how the factors are to be read that are refused where they are
// given.
#define FUSED_INFER_CALL(OP)                                                                 \
  static_cast<void>(antiquantMode);                                                          \
  emu::AttentionCall call{};                                                                 \
  call.op = OP;                                                                              \
  call.query = query;                                                                        \
  call.key.list = key;                                                                       \
  call.value.list = value;                                                                   \
  call.pse = EMU_ARGUMENT(pseShiftOptional);                                                 \
  call.mask = EMU_ARGUMENT(attenMaskOptional);                                               \
  call.query_lengths = EMU_ARGUMENT(actualSeqLengthsOptional);                               \
  call.key_lengths = EMU_ARGUMENT(actualSeqLengthsKvOptional);                               \
  call.absent = {EMU_ARGUMENT(deqScale1Optional),      EMU_ARGUMENT(quantScale1Optional),    \
                 EMU_ARGUMENT(deqScale2Optional),      EMU_ARGUMENT(quantScale2Optional),    \
                 EMU_ARGUMENT(quantOffset2Optional),   EMU_ARGUMENT(antiquantScaleOptional), \
                 EMU_ARGUMENT(antiquantOffsetOptional)};                                     \
  call.block_table = EMU_ARGUMENT(blockTableOptional);                                       \
  call.later_absent = {EMU_ARGUMENT(queryPaddingSizeOptional),                               \
                       EMU_ARGUMENT(kvPaddingSizeOptional)};                                 \
  call.heads = numHeads;                                                                     \
  call.kv_heads = numKeyValueHeads;                                                          \
  call.scale = scaleValue;                                                                   \
  call.before = preTokens;                                                                   \
  call.after = nextTokens;                                                                   \
  call.layout = inputLayout;                                                                 \
  call.sparse_mode = sparseMode;                                                             \
  call.inner_precise = innerPrecise;                                                         \
  call.block_size = blockSize;                                                               \
  call.with_lse = softmaxLseFlag;                                                            \
  call.out = attentionOut;                                                                   \
  call.lse = EMU_ARGUMENT(softmaxLseOptional)

EMU_OPERATOR(FusedInferAttentionScore, (FUSED_INFER_TENSORS, FUSED_INFER_ATTRIBUTES,
                                        aclTensor *attentionOut, aclTensor *softmaxLseOptional)) {
  FUSED_INFER_CALL("aclnnFusedInferAttentionScore");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

#define FUSED_INFER_SECOND                                                                         \
  const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,         \
      const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional, \
      const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,        \
      const aclIntArray *actualSharedPrefixLenOptional
#define FUSED_INFER_SECOND_ATTRIBUTES int64_t keyAntiquantMode, int64_t valueAntiquantMode

#define FUSED_INFER_SECOND_CALL(OP)                                                           \
  FUSED_INFER_CALL(OP);                                                                       \
  call.takes_packed = true;                                                                   \
  static_cast<void>(keyAntiquantMode);                                                        \
  static_cast<void>(valueAntiquantMode);                                                      \
  emu::append(                                                                                \
      &call.later_absent,                                                                     \
      {EMU_ARGUMENT(keyAntiquantScaleOptional), EMU_ARGUMENT(keyAntiquantOffsetOptional),     \
       EMU_ARGUMENT(valueAntiquantScaleOptional), EMU_ARGUMENT(valueAntiquantOffsetOptional), \
       EMU_ARGUMENT(keySharedPrefixOptional), EMU_ARGUMENT(valueSharedPrefixOptional)});      \
  call.prefix_length = EMU_ARGUMENT(actualSharedPrefixLenOptional)

EMU_OPERATOR(FusedInferAttentionScoreV2, (FUSED_INFER_TENSORS, FUSED_INFER_SECOND,
                                          FUSED_INFER_ATTRIBUTES, FUSED_INFER_SECOND_ATTRIBUTES,
                                          aclTensor *attentionOut, aclTensor *softmaxLseOptional)) {
  FUSED_INFER_SECOND_CALL("aclnnFusedInferAttentionScoreV2");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FusedInferAttentionScoreV3,
             (FUSED_INFER_TENSORS, FUSED_INFER_SECOND, const aclTensor *queryRopeOptional,
              const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
              FUSED_INFER_ATTRIBUTES, FUSED_INFER_SECOND_ATTRIBUTES, aclTensor *attentionOut,
              aclTensor *softmaxLseOptional)) {
  FUSED_INFER_SECOND_CALL("aclnnFusedInferAttentionScoreV3");
  emu::append(&call.later_absent, {EMU_ARGUMENT(queryRopeOptional), EMU_ARGUMENT(keyRopeOptional),
                                   EMU_ARGUMENT(keyRopeAntiquantScaleOptional)});
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH
