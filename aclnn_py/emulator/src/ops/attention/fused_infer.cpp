// SPDX-License-Identifier: Apache-2.0
// The versions of aclnnFusedInferAttentionScore. The second adds separate factors of keys and
// values and a shared prefix, the third rotary parts, the fourth factors of the query and a sink.
#include "aclnnop/attention.h"
#include "ops/attention/attention.h"

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
#define FUSED_INFER_RESULTS aclTensor *attentionOut, aclTensor *softmaxLseOptional

#define FUSED_INFER_CALL(OP)                                   \
  emu::AttentionCall call{};                                   \
  call.op = OP;                                                \
  call.query = query;                                          \
  call.key.list = key;                                         \
  call.value.list = value;                                     \
  call.pse = EMU_ARGUMENT(pseShiftOptional);                   \
  call.mask = EMU_ARGUMENT(attenMaskOptional);                 \
  call.query_lengths = EMU_ARGUMENT(actualSeqLengthsOptional); \
  call.key_lengths = EMU_ARGUMENT(actualSeqLengthsKvOptional); \
  call.dequant1 = EMU_ARGUMENT(deqScale1Optional);             \
  call.quant1 = EMU_ARGUMENT(quantScale1Optional);             \
  call.dequant2 = EMU_ARGUMENT(deqScale2Optional);             \
  call.quant2 = EMU_ARGUMENT(quantScale2Optional);             \
  call.offset2 = EMU_ARGUMENT(quantOffset2Optional);           \
  call.factors = EMU_ARGUMENT(antiquantScaleOptional);         \
  call.factor_offsets = EMU_ARGUMENT(antiquantOffsetOptional); \
  call.block_table = EMU_ARGUMENT(blockTableOptional);         \
  call.query_padding = EMU_ARGUMENT(queryPaddingSizeOptional); \
  call.kv_padding = EMU_ARGUMENT(kvPaddingSizeOptional);       \
  call.heads = numHeads;                                       \
  call.kv_heads = numKeyValueHeads;                            \
  call.scale = scaleValue;                                     \
  call.before = preTokens;                                     \
  call.after = nextTokens;                                     \
  call.layout = inputLayout;                                   \
  call.sparse_mode = sparseMode;                               \
  call.inner_precise = innerPrecise;                           \
  call.block_size = blockSize;                                 \
  call.factor_mode = antiquantMode;                            \
  call.with_lse = softmaxLseFlag;                              \
  call.out = attentionOut;                                     \
  call.lse = EMU_ARGUMENT(softmaxLseOptional)

EMU_OPERATOR(FusedInferAttentionScore,
             (FUSED_INFER_TENSORS, FUSED_INFER_ATTRIBUTES, FUSED_INFER_RESULTS)) {
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

#define FUSED_INFER_SECOND_CALL(OP)                                \
  FUSED_INFER_CALL(OP);                                            \
  call.layouts = emu::AttentionLayouts::kPacked;                   \
  call.key_factors = EMU_ARGUMENT(keyAntiquantScaleOptional);      \
  call.key_offsets = EMU_ARGUMENT(keyAntiquantOffsetOptional);     \
  call.value_factors = EMU_ARGUMENT(valueAntiquantScaleOptional);  \
  call.value_offsets = EMU_ARGUMENT(valueAntiquantOffsetOptional); \
  call.key_mode = keyAntiquantMode;                                \
  call.value_mode = valueAntiquantMode;                            \
  call.key_prefix = EMU_ARGUMENT(keySharedPrefixOptional);         \
  call.value_prefix = EMU_ARGUMENT(valueSharedPrefixOptional);     \
  call.prefix_length = EMU_ARGUMENT(actualSharedPrefixLenOptional)

EMU_OPERATOR(FusedInferAttentionScoreV2,
             (FUSED_INFER_TENSORS, FUSED_INFER_SECOND, FUSED_INFER_ATTRIBUTES,
              FUSED_INFER_SECOND_ATTRIBUTES, FUSED_INFER_RESULTS)) {
  FUSED_INFER_SECOND_CALL("aclnnFusedInferAttentionScoreV2");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

#define FUSED_INFER_THIRD                                               \
  const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, \
      const aclTensor *keyRopeAntiquantScaleOptional

#define FUSED_INFER_THIRD_CALL(OP)                   \
  FUSED_INFER_SECOND_CALL(OP);                       \
  call.layouts = emu::AttentionLayouts::kAll;        \
  call.query_rope = EMU_ARGUMENT(queryRopeOptional); \
  call.key_rope = EMU_ARGUMENT(keyRopeOptional);     \
  call.key_rope_scale = EMU_ARGUMENT(keyRopeAntiquantScaleOptional)

EMU_OPERATOR(FusedInferAttentionScoreV3,
             (FUSED_INFER_TENSORS, FUSED_INFER_SECOND, FUSED_INFER_THIRD, FUSED_INFER_ATTRIBUTES,
              FUSED_INFER_SECOND_ATTRIBUTES, FUSED_INFER_RESULTS)) {
  FUSED_INFER_THIRD_CALL("aclnnFusedInferAttentionScoreV3");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

#define FUSED_INFER_FOURTH \
  const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional

#define FUSED_INFER_FOURTH_CALL(OP)                           \
  FUSED_INFER_THIRD_CALL(OP);                                 \
  call.relaxed = true;                                        \
  call.query_scale = EMU_ARGUMENT(dequantScaleQueryOptional); \
  call.sink = EMU_ARGUMENT(learnableSinkOptional);            \
  call.query_mode = queryQuantMode

EMU_OPERATOR(FusedInferAttentionScoreV4,
             (FUSED_INFER_TENSORS, FUSED_INFER_SECOND, FUSED_INFER_THIRD, FUSED_INFER_FOURTH,
              FUSED_INFER_ATTRIBUTES, FUSED_INFER_SECOND_ATTRIBUTES, int64_t queryQuantMode,
              FUSED_INFER_RESULTS)) {
  FUSED_INFER_FOURTH_CALL("aclnnFusedInferAttentionScoreV4");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

// Where sequences start matters to a pseType that inference does not have.
EMU_OPERATOR(FusedInferAttentionScoreV5,
             (FUSED_INFER_TENSORS, FUSED_INFER_SECOND, FUSED_INFER_THIRD, FUSED_INFER_FOURTH,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              FUSED_INFER_ATTRIBUTES, FUSED_INFER_SECOND_ATTRIBUTES, int64_t queryQuantMode,
              int64_t pseType, FUSED_INFER_RESULTS)) {
  FUSED_INFER_FOURTH_CALL("aclnnFusedInferAttentionScoreV5");
  call.query_starts = EMU_ARGUMENT(qStartIdxOptional);
  call.key_starts = EMU_ARGUMENT(kvStartIdxOptional);
  call.pse_type = pseType;
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH
