// SPDX-License-Identifier: Apache-2.0
// The gradients of FlashAttentionScore and FlashAttentionVarLenScore.
#include "aclnnop/attention.h"
#include "ops/attention/training.h"

// A tensor of the operator under the name that it has there.
#define EMU_TAKE(MEMBER, NAME) call.take(&emu::TrainingCall::MEMBER, #NAME, NAME)
#define EMU_PASS(NAME) call.pass(#NAME, NAME)

EMU_OPERATOR(FlashAttentionScoreGrad,
             (const aclTensor *query, const aclTensor *keyIn, const aclTensor *value,
              const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclIntArray *prefixOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScoreGrad", true);
  EMU_TAKE(query, query);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
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

EMU_OPERATOR(FlashAttentionScoreGradV2,
             (const aclTensor *query, const aclTensor *keyIn, const aclTensor *value,
              const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclIntArray *prefixOptional,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              int64_t pseType, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut,
              aclTensor *dpseOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScoreGradV2", true);
  EMU_TAKE(query, query);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
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

EMU_OPERATOR(FlashAttentionScoreGradV3,
             (const aclTensor *query, const aclTensor *keyIn, const aclTensor *value,
              const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclTensor *sinkInOptional,
              const aclIntArray *prefixOptional, const aclIntArray *qStartIdxOptional,
              const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *dqOut,
              aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut, aclTensor *dsinkOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScoreGradV3", true);
  EMU_TAKE(query, query);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(sink, sinkInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
  EMU_TAKE(sink_gradient, dsinkOut);
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

EMU_OPERATOR(FlashAttentionScoreGradV4,
             (const aclTensor *query, const aclTensor *keyIn, const aclTensor *value,
              const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclTensor *sinkInOptional,
              const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional,
              const aclTensor *dScaleQOptional, const aclTensor *dScaleKOptional,
              const aclTensor *dScaleVOptional, const aclTensor *dScaleDyOptional,
              const aclTensor *dScaleOOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, const char *softmaxInLayout,
              int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
              [[maybe_unused]] int64_t seed, [[maybe_unused]] int64_t offset,
              [[maybe_unused]] int64_t outDtype, aclTensor *dqOut, aclTensor *dkOut,
              aclTensor *dvOut, aclTensor *dqRopeOut, aclTensor *dkRopeOut, aclTensor *dpseOut,
              aclTensor *dsinkOut)) {
  emu::TrainingCall call("aclnnFlashAttentionScoreGradV4", true);
  call.united = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(sink, sinkInOptional);
  EMU_TAKE(query_rope, queryRopeOptional);
  EMU_TAKE(key_rope, keyRopeOptional);
  EMU_PASS(dScaleQOptional);
  EMU_PASS(dScaleKOptional);
  EMU_PASS(dScaleVOptional);
  EMU_PASS(dScaleDyOptional);
  EMU_PASS(dScaleOOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_TAKE(query_rope_gradient, dqRopeOut);
  EMU_TAKE(key_rope_gradient, dkRopeOut);
  EMU_PASS(dpseOut);
  EMU_TAKE(sink_gradient, dsinkOut);
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
  call.softmax_layout = EMU_ARGUMENT(softmaxInLayout);
  call.inner_precise = innerPrecise;
  call.sparse_mode = sparseMode;
  call.pse_type = pseType;
  call.reserved = {EMU_ARGUMENT(dScaleQOptional), EMU_ARGUMENT(dScaleKOptional),
                   EMU_ARGUMENT(dScaleVOptional), EMU_ARGUMENT(dScaleDyOptional),
                   EMU_ARGUMENT(dScaleOOptional)};
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionUnpaddingScoreGrad,
             (const aclTensor *query, const aclTensor *keyIn, const aclTensor *value,
              const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut)) {
  emu::TrainingCall call("aclnnFlashAttentionUnpaddingScoreGrad", true);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
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

EMU_OPERATOR(FlashAttentionUnpaddingScoreGradV2,
             (const aclTensor *query, const aclTensor *keyIn, const aclTensor *value,
              const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              int64_t pseType, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut,
              aclTensor *dpseOut)) {
  emu::TrainingCall call("aclnnFlashAttentionUnpaddingScoreGradV2", true);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
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

EMU_OPERATOR(FlashAttentionUnpaddingScoreGradV3,
             (const aclTensor *query, const aclTensor *queryRope, const aclTensor *keyIn,
              const aclTensor *keyInRope, const aclTensor *value, const aclTensor *dy,
              const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional,
              const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional,
              const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional,
              const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional,
              const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb,
              int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout,
              int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *dqOut,
              aclTensor *dqRopeOut, aclTensor *dkOut, aclTensor *dkRopeOut, aclTensor *dvOut,
              aclTensor *dpseOut)) {
  emu::TrainingCall call("aclnnFlashAttentionUnpaddingScoreGradV3", true);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(query_rope, queryRope);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(key_rope, keyInRope);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(query_rope_gradient, dqRopeOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(key_rope_gradient, dkRopeOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
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

EMU_OPERATOR(FlashAttentionUnpaddingScoreGradV4,
             (const aclTensor *query, const aclTensor *keyIn, const aclTensor *value,
              const aclTensor *dy, const aclTensor *pseShiftOptional,
              const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional,
              const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional,
              const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional,
              const aclTensor *attentionInOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut,
              const char *softmaxInLayout)) {
  emu::TrainingCall call("aclnnFlashAttentionUnpaddingScoreGradV4", true);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
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
  call.softmax_layout = EMU_ARGUMENT(softmaxInLayout);
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlashAttentionUnpaddingScoreGradV5,
             (const aclTensor *query, const aclTensor *queryRope, const aclTensor *keyIn,
              const aclTensor *keyInRope, const aclTensor *value, const aclTensor *dy,
              const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional,
              const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional,
              const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional,
              const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional,
              const aclTensor *sinkInOptional, const aclIntArray *prefixOptional,
              const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional,
              const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional,
              double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
              int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode,
              int64_t pseType, const char *softmaxInLayout, aclTensor *dqOut, aclTensor *dqRopeOut,
              aclTensor *dkOut, aclTensor *dkRopeOut, aclTensor *dvOut, aclTensor *dpseOut,
              aclTensor *dsinkOut)) {
  emu::TrainingCall call("aclnnFlashAttentionUnpaddingScoreGradV5", true);
  call.var_len = true;
  EMU_TAKE(query, query);
  EMU_TAKE(query_rope, queryRope);
  EMU_TAKE(key, keyIn);
  EMU_TAKE(key_rope, keyInRope);
  EMU_TAKE(value, value);
  EMU_TAKE(dy, dy);
  EMU_TAKE(pse, pseShiftOptional);
  EMU_TAKE(drop, dropMaskOptional);
  EMU_TAKE(padding, paddingMaskOptional);
  EMU_TAKE(mask, attenMaskOptional);
  EMU_TAKE(highest, softmaxMaxOptional);
  EMU_TAKE(sum, softmaxSumOptional);
  EMU_PASS(softmaxInOptional);
  EMU_TAKE(out, attentionInOptional);
  EMU_TAKE(sink, sinkInOptional);
  EMU_TAKE(query_gradient, dqOut);
  EMU_TAKE(query_rope_gradient, dqRopeOut);
  EMU_TAKE(key_gradient, dkOut);
  EMU_TAKE(key_rope_gradient, dkRopeOut);
  EMU_TAKE(value_gradient, dvOut);
  EMU_PASS(dpseOut);
  EMU_TAKE(sink_gradient, dsinkOut);
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
  call.softmax_layout = EMU_ARGUMENT(softmaxInLayout);
  return emu::plan_training(call, workspaceSize, executor);
}
EMU_CATCH
