// SPDX-License-Identifier: Apache-2.0
// The versions of aclnnPromptFlashAttention: attention of prompts, whose keys and values are one
// tensor each.
#include "aclnnop/attention.h"
#include "ops/attention/attention.h"

#define PROMPT_SCALES                                                           \
  const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,     \
      const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, \
      const aclTensor *quantOffset2Optional
#define PROMPT_ATTRIBUTES                                                     \
  int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, \
      const char *inputLayout, int64_t numKeyValueHeads
#define PROMPT_ATTRIBUTE_VALUES \
  numHeads, scaleValue, preTokens, nextTokens, inputLayout, numKeyValueHeads

// Without innerPrecise rows of which all keys are masked are not cleared.
#define PROMPT_CALL(OP)                                                                  \
  emu::AttentionCall call = emu::prompt(OP, query, key, value, PROMPT_ATTRIBUTE_VALUES); \
  call.pse = EMU_ARGUMENT(pseShiftOptional);                                             \
  call.mask = EMU_ARGUMENT(attenMaskOptional);                                           \
  call.query_lengths = EMU_ARGUMENT(actualSeqLengthsOptional);                           \
  call.out = attentionOut

#define PROMPT_SECOND_CALL(OP)                                 \
  PROMPT_CALL(OP);                                             \
  call.key_lengths = EMU_ARGUMENT(actualSeqLengthsKvOptional); \
  call.dequant1 = EMU_ARGUMENT(deqScale1Optional);             \
  call.quant1 = EMU_ARGUMENT(quantScale1Optional);             \
  call.dequant2 = EMU_ARGUMENT(deqScale2Optional);             \
  call.quant2 = EMU_ARGUMENT(quantScale2Optional);             \
  call.offset2 = EMU_ARGUMENT(quantOffset2Optional);           \
  call.sparse_mode = sparseMode

namespace emu {
namespace {

AttentionCall prompt(const char *op, const aclTensor *query, const aclTensor *key,
                     const aclTensor *value, int64_t heads, double scale, int64_t before,
                     int64_t after, const char *layout, int64_t kv_heads) {
  AttentionCall call{};
  call.op = op;
  call.kind = AttentionKind::kPrompt;
  call.query = query;
  call.key.tensor = key;
  call.value.tensor = value;
  call.heads = heads;
  call.kv_heads = kv_heads;
  call.scale = scale;
  call.before = before;
  call.after = after;
  call.layout = layout;
  return call;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(PromptFlashAttention,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *actualSeqLengthsOptional, PROMPT_ATTRIBUTES,
              aclTensor *attentionOut)) {
  PROMPT_CALL("aclnnPromptFlashAttention");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(PromptFlashAttentionV2,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, PROMPT_SCALES, PROMPT_ATTRIBUTES,
              int64_t sparseMode, aclTensor *attentionOut)) {
  PROMPT_SECOND_CALL("aclnnPromptFlashAttentionV2");
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(PromptFlashAttentionV3,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, PROMPT_SCALES, PROMPT_ATTRIBUTES,
              int64_t sparseMode, int64_t innerPrecise, aclTensor *attentionOut)) {
  PROMPT_SECOND_CALL("aclnnPromptFlashAttentionV3");
  call.inner_precise = innerPrecise;
  return emu::plan_attention(call, workspaceSize, executor);
}
EMU_CATCH
