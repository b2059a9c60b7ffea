// SPDX-License-Identifier: Apache-2.0
// The versions of aclnnIncreFlashAttention: attention of one token over the keys and values before
// it.
#include "aclnnop/attention.h"
#include "ops/attention/attention.h"

#define STEP_TENSORS                                                            \
  const aclTensor *query, const aclTensorList *key, const aclTensorList *value, \
      const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,    \
      const aclIntArray *actualSeqLengthsOptional
#define STEP_SCALES                                                                 \
  const aclTensor *dequantScale1Optional, const aclTensor *quantScale1Optional,     \
      const aclTensor *dequantScale2Optional, const aclTensor *quantScale2Optional, \
      const aclTensor *quantOffset2Optional
#define STEP_FACTORS                                                                 \
  const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, \
      const aclTensor *blocktableOptional
#define STEP_ATTRIBUTES \
  int64_t numHeads, double scaleValue, const char *inputLayout, int64_t numKeyValueHeads

#define STEP_CALL(OP)                                        \
  emu::AttentionCall call{};                                 \
  call.op = OP;                                              \
  call.kind = emu::AttentionKind::kStep;                     \
  call.query = query;                                        \
  call.key.list = key;                                       \
  call.value.list = value;                                   \
  call.pse = EMU_ARGUMENT(pseShiftOptional);                 \
  call.mask = EMU_ARGUMENT(attenMaskOptional);               \
  call.key_lengths = EMU_ARGUMENT(actualSeqLengthsOptional); \
  call.heads = numHeads;                                     \
  call.kv_heads = numKeyValueHeads;                          \
  call.scale = scaleValue;                                   \
  call.layout = inputLayout;                                 \
  call.out = attentionOut

#define STEP_SECOND_CALL(OP)                           \
  STEP_CALL(OP);                                       \
  call.dequant1 = EMU_ARGUMENT(dequantScale1Optional); \
  call.quant1 = EMU_ARGUMENT(quantScale1Optional);     \
  call.dequant2 = EMU_ARGUMENT(dequantScale2Optional); \
  call.quant2 = EMU_ARGUMENT(quantScale2Optional);     \
  call.offset2 = EMU_ARGUMENT(quantOffset2Optional)

#define STEP_THIRD_CALL(OP)                                    \
  STEP_SECOND_CALL(OP);                                        \
  call.factors = EMU_ARGUMENT(antiquantScaleOptional);         \
  call.factor_offsets = EMU_ARGUMENT(antiquantOffsetOptional); \
  call.block_table = EMU_ARGUMENT(blocktableOptional);         \
  call.block_size = blockSize;                                 \
  call.inner_precise = innerPrecise

EMU_OPERATOR(IncreFlashAttention, (STEP_TENSORS, STEP_ATTRIBUTES, aclTensor *attentionOut)) {
  STEP_CALL("aclnnIncreFlashAttention");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(IncreFlashAttentionV2,
             (STEP_TENSORS, STEP_SCALES, STEP_ATTRIBUTES, aclTensor *attentionOut)) {
  STEP_SECOND_CALL("aclnnIncreFlashAttentionV2");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(IncreFlashAttentionV3,
             (STEP_TENSORS, STEP_SCALES, STEP_FACTORS, STEP_ATTRIBUTES, int64_t blockSize,
              int64_t innerPrecise, aclTensor *attentionOut)) {
  STEP_THIRD_CALL("aclnnIncreFlashAttentionV3");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(IncreFlashAttentionV4,
             (STEP_TENSORS, STEP_SCALES, STEP_FACTORS, const aclTensor *kvPaddingSizeOptional,
              STEP_ATTRIBUTES, int64_t blockSize, int64_t innerPrecise, aclTensor *attentionOut)) {
  STEP_THIRD_CALL("aclnnIncreFlashAttentionV4");
  call.kv_padding = EMU_ARGUMENT(kvPaddingSizeOptional);
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH
