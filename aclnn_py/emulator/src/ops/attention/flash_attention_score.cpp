// SPDX-License-Identifier: Apache-2.0
// Attention of training: FlashAttentionScore and FlashAttentionVarLenScore.
#include "aclnnop/attention.h"
#include "ops/attention/training.h"

// A tensor of the operator under the name that it has there.
#define EMU_TAKE(MEMBER, NAME) call.take(&emu::TrainingCall::MEMBER, #NAME, NAME)
#define EMU_PASS(NAME) call.pass(#NAME, NAME)

EMU_OPERATOR(FlashAttentionScore,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *prefixOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, aclTensor *softmaxMaxOut,
              aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScore", false);
  EMU_TAKE(query, query);
  EMU_TAKE(key, key);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionScoreV2,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *prefixOptional, const aclIntArray *qStartIdxOptional,
              const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *softmaxMaxOut,
              aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScoreV2", false);
  EMU_TAKE(query, query);
  EMU_TAKE(key, key);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_start = EMU_ARGUMENT(qStartIdxOptional);
  call.key_start = EMU_ARGUMENT(kvStartIdxOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.pse_type = pseType;
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionScoreV3,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclTensor *sinkOptional, const aclIntArray *prefixOptional,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              int64_t pseType, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut,
              aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScoreV3", false);
  EMU_TAKE(query, query);
  EMU_TAKE(key, key);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(sink, sinkOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_start = EMU_ARGUMENT(qStartIdxOptional);
  call.key_start = EMU_ARGUMENT(kvStartIdxOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.pse_type = pseType;
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionScoreV4,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional,
              const aclTensor *dScaleQOptional, const aclTensor *dScaleKOptional,
              const aclTensor *dScaleVOptional, const aclTensor *sinkOptional,
              const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional,
              const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, [[maybe_unused]] int64_t outDtype,
              int64_t pseType, const char *softmaxOutLayout, [[maybe_unused]] int64_t seed,
              [[maybe_unused]] int64_t offset, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut,
              aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScoreV4", false);
  call.united = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, key);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(query_rope, queryRopeOptional);
  EMU_TAKE(key_rope, keyRopeOptional);
  EMU_PASS(dScaleQOptional);
  EMU_PASS(dScaleKOptional);
  EMU_PASS(dScaleVOptional);
  EMU_TAKE(sink, sinkOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_ends = EMU_ARGUMENT(actualSeqQLenOptional);
  call.key_ends = EMU_ARGUMENT(actualSeqKvLenOptional);
  call.query_start = EMU_ARGUMENT(qStartIdxOptional);
  call.key_start = EMU_ARGUMENT(kvStartIdxOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.pse_type = pseType;
  call.softmax_layout = EMU_ARGUMENT(softmaxOutLayout);
  call.reserved = {EMU_ARGUMENT(dScaleQOptional), EMU_ARGUMENT(dScaleKOptional),
                   EMU_ARGUMENT(dScaleVOptional)};
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionVarLenScore,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, aclTensor *softmaxMaxOut,
              aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionVarLenScore", false);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, key);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_ends = EMU_ARGUMENT(actualSeqQLenOptional);
  call.key_ends = EMU_ARGUMENT(actualSeqKvLenOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionVarLenScoreV2,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional,
              const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *softmaxMaxOut,
              aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionVarLenScoreV2", false);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, key);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_ends = EMU_ARGUMENT(actualSeqQLenOptional);
  call.key_ends = EMU_ARGUMENT(actualSeqKvLenOptional);
  call.query_start = EMU_ARGUMENT(qStartIdxOptional);
  call.key_start = EMU_ARGUMENT(kvStartIdxOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.pse_type = pseType;
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionVarLenScoreV3,
             (const aclTensor *query, const aclTensor *queryRope, const aclTensor *key,
              const aclTensor *keyRope, const aclTensor *value, const aclTensor *realShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              int64_t pseType, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut,
              aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionVarLenScoreV3", false);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(query_rope, queryRope);
  EMU_TAKE(key, key);
  EMU_TAKE(key_rope, keyRope);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_ends = EMU_ARGUMENT(actualSeqQLenOptional);
  call.key_ends = EMU_ARGUMENT(actualSeqKvLenOptional);
  call.query_start = EMU_ARGUMENT(qStartIdxOptional);
  call.key_start = EMU_ARGUMENT(kvStartIdxOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.pse_type = pseType;
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionVarLenScoreV4,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, const char *softmaxOutLayout,
              aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut,
              aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionVarLenScoreV4", false);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, key);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_ends = EMU_ARGUMENT(actualSeqQLenOptional);
  call.key_ends = EMU_ARGUMENT(actualSeqKvLenOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.softmax_layout = EMU_ARGUMENT(softmaxOutLayout);
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionVarLenScoreV5,
             (const aclTensor *query, const aclTensor *queryRope, const aclTensor *key,
              const aclTensor *keyRope, const aclTensor *value, const aclTensor *realShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *sinkOptional,
              const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional,
              const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
              const char *softmaxOutLayout, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut,
              aclTensor *softmaxOutOut, aclTensor *attentionOutOut)) {
  emu::TrainingCall call("aclnnFlashAttentionVarLenScoreV5", false);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(query_rope, queryRope);
  EMU_TAKE(key, key);
  EMU_TAKE(key_rope, keyRope);
  EMU_TAKE(value, value);
  EMU_TAKE(pse, realShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(sink, sinkOptional);
  EMU_TAKE(highest, softmaxMaxOut);
  EMU_TAKE(sum, softmaxSumOut);
  EMU_PASS(softmaxOutOut);
  EMU_TAKE(out, attentionOutOut);
  call.prefix = EMU_ARGUMENT(prefixOptional);
  call.query_ends = EMU_ARGUMENT(actualSeqQLenOptional);
  call.key_ends = EMU_ARGUMENT(actualSeqKvLenOptional);
  call.query_start = EMU_ARGUMENT(qStartIdxOptional);
  call.key_start = EMU_ARGUMENT(kvStartIdxOptional);
  call.scale = scaleValue;
  call.keep = keepProb;
  call.before = preTokens;
  call.after = nextTokens;
  call.heads = headNum;
  call.layout = inputLayout;
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.pse_type = pseType;
  call.softmax_layout = EMU_ARGUMENT(softmaxOutLayout);
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH
