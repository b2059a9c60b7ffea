/* SPDX-License-Identifier: Apache-2.0 */
/* Attention and its caches. */
#ifndef ACLNN_PY_ACLNNOP_ATTENTION_H
#define ACLNN_PY_ACLNNOP_ATTENTION_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_ATTENTION_ACLNN_ATTENTION_UPDATE
#define ACLNN_PY_ATTENTION_ACLNN_ATTENTION_UPDATE
/* Merge of partial attention results by their log-sum-exp. */
aclnnStatus aclnnAttentionUpdateGetWorkspaceSize(const aclTensorList *lse, const aclTensorList *localOut, int64_t updateType, aclTensor *out, aclTensor *lseOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAttentionUpdate(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_ATTENTION_WORKER_COMBINE
#define ACLNN_PY_ATTENTION_ACLNN_ATTENTION_WORKER_COMBINE
/* Weighted combination of expert results received by an attention worker. [document] */
aclnnStatus aclnnAttentionWorkerCombineGetWorkspaceSize(const aclTensor *scheduleContext, const aclTensor *expertScales, const aclTensor *layerId, int64_t hiddenSize, int64_t tokenDtype, int64_t needSchedule, aclTensor *y, aclTensor *nextLayerId, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAttentionWorkerCombine(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_ATTENTION_WORKER_SCHEDULER
#define ACLNN_PY_ATTENTION_ACLNN_ATTENTION_WORKER_SCHEDULER
/* Wait of an attention worker for the expert results of its micro batch, in place. */
aclnnStatus aclnnInplaceAttentionWorkerSchedulerGetWorkspaceSize(aclTensor *scheduleContextRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceAttentionWorkerScheduler(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_BLOCK_SPARSE_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_BLOCK_SPARSE_ATTENTION
/* Attention restricted to the blocks of a mask. Direction settled by meaning: actualSeqLengthsOptional read. */
aclnnStatus aclnnBlockSparseAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *blockSparseMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *blockShapeOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *blockTableOptional, const char *qInputLayout, const char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t innerPrecise, int64_t blockSize, int64_t preTokens, int64_t nextTokens, int64_t softmaxLseFlag, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBlockSparseAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_BLOCK_SPARSE_ATTENTION_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_BLOCK_SPARSE_ATTENTION_GRAD
/* Gradient of attention restricted to the blocks of a mask. */
aclnnStatus aclnnBlockSparseAttentionGradGetWorkspaceSize(const aclTensor *dout, const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *attentionOut, const aclTensor *softmaxLse, const aclTensor *blockSparseMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *blockShapeOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const char *qInputLayout, const char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t preTokens, int64_t nextTokens, aclTensor *dq, aclTensor *dk, aclTensor *dv, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBlockSparseAttentionGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_BLOCK_SPARSE_ATTENTION_V2
#define ACLNN_PY_ATTENTION_ACLNN_BLOCK_SPARSE_ATTENTION_V2
/* Attention restricted to the blocks of a mask; version 2 adds qDequantScale, kDequantScale, vDequantScale. Direction settled by meaning: actualSeqLengthsOptional read. */
aclnnStatus aclnnBlockSparseAttentionV2GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *blockSparseMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *blockShapeOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *blockTableOptional, const aclTensor *qDequantScaleOptional, const aclTensor *kDequantScaleOptional, const aclTensor *vDequantScaleOptional, const char *qInputLayout, const char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t innerPrecise, int64_t blockSize, int64_t preTokens, int64_t nextTokens, int64_t softmaxLseFlag, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBlockSparseAttentionV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_BSA_SELECT_BLOCK_MASK
#define ACLNN_PY_ATTENTION_ACLNN_BSA_SELECT_BLOCK_MASK
/* Choice of the key blocks each query block attends to. [document] */
aclnnStatus aclnnBSASelectBlockMaskGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclIntArray *blockShapeOptional, const aclIntArray *postBlockShapeOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKVOptional, const aclIntArray *actualBlockLenQueryOptional, const aclIntArray *actualBlockLenKeyOptional, const char *qInputLayout, const char *kvInputLayout, int64_t numKeyValueHeads, double scaleValue, double sparsity, aclTensor *blockSparseMaskOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBSASelectBlockMask(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_CHUNK_GATED_DELTA_RULE
#define ACLNN_PY_ATTENTION_ACLNN_CHUNK_GATED_DELTA_RULE
/* Gated delta rule of linear attention, a chunk of the sequence at a time. */
aclnnStatus aclnnChunkGatedDeltaRuleGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *beta, const aclTensor *initialState, const aclTensor *actualSeqLengths, const aclTensor *gOptional, float scaleValue, aclTensor *out, aclTensor *finalState, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnChunkGatedDeltaRule(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_COMPRESSOR
#define ACLNN_PY_ATTENTION_ACLNN_COMPRESSOR
/* Compression of hidden states of neighbouring tokens into one cache entry. [document] Direction settled by meaning: stateCache written. */
aclnnStatus aclnnCompressorGetWorkspaceSize(const aclTensor *x, const aclTensor *wkv, const aclTensor *wgate, aclTensor *stateCacheRef, const aclTensor *ape, const aclTensor *stateBlockTable, const aclTensor *cuSeqlens, const aclTensor *seqused, const aclTensor *startPos, int64_t cmpRatio, int64_t coff, int64_t cacheMode, int64_t stateCacheStrideDim0, aclTensor *cmpKv, aclTensor *stateCache, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCompressor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_DENSE_LIGHTNING_INDEXER_GRAD_KL_LOSS
#define ACLNN_PY_ATTENTION_ACLNN_DENSE_LIGHTNING_INDEXER_GRAD_KL_LOSS
/* Divergence between the index scores and the attention distribution, with its gradients. [document] */
aclnnStatus aclnnDenseLightningIndexerGradKLLossGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *queryIndex, const aclTensor *keyIndex, const aclTensor *weights, const aclTensor *softmaxMax, const aclTensor *softmaxSum, const aclTensor *softmaxMaxIndex, const aclTensor *softmaxSumIndex, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclIntArray *actualSeqLengthsQueryOptional, const aclIntArray *actualSeqLengthsKeyOptional, double scaleValue, const char *layout, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, aclTensor *dQueryIndex, aclTensor *dKeyIndex, aclTensor *dWeights, aclTensor *loss, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDenseLightningIndexerGradKLLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_DENSE_LIGHTNING_INDEXER_SOFTMAX_LSE
#define ACLNN_PY_ATTENTION_ACLNN_DENSE_LIGHTNING_INDEXER_SOFTMAX_LSE
/* Row maximum and sum of exponentials of the index scores. [document] */
aclnnStatus aclnnDenseLightningIndexerSoftmaxLseGetWorkspaceSize(const aclTensor *queryIndex, const aclTensor *keyIndex, const aclTensor *weight, const aclIntArray *actualSeqLengthsQueryOptional, const aclIntArray *actualSeqLengthsKeyOptional, const char *layoutOptional, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDenseLightningIndexerSoftmaxLse(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTENTION_SCORE
#define ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTENTION_SCORE
/* Attention with softmax computed in blocks, with the row maxima and sums its gradient needs. */
aclnnStatus aclnnFlashAttentionScoreGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScore(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Attention with softmax computed in blocks, with the row maxima and sums its gradient needs; version 2 adds qStartIdx, kvStartIdx, pseType. */
aclnnStatus aclnnFlashAttentionScoreV2GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScoreV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Attention with softmax computed in blocks, with the row maxima and sums its gradient needs; version 3 adds sink. */
aclnnStatus aclnnFlashAttentionScoreV3GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *sinkOptional, const aclIntArray *prefixOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScoreV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Attention with softmax computed in blocks, with the row maxima and sums its gradient needs; version 4 adds queryRope, keyRope, dScaleQ, dScaleK, dScaleV, actualSeqQLen, actualSeqKvLen, outDtype, softmaxOutLayout, seed, offset. Direction settled by meaning: softmaxOutOut written. */
aclnnStatus aclnnFlashAttentionScoreV4GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclTensor *dScaleQOptional, const aclTensor *dScaleKOptional, const aclTensor *dScaleVOptional, const aclTensor *sinkOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t outDtype, int64_t pseType, const char *softmaxOutLayout, int64_t seed, int64_t offset, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScoreV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Blockwise attention over packed sequences of their own lengths. */
aclnnStatus aclnnFlashAttentionVarLenScoreGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionVarLenScore(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Blockwise attention over packed sequences of their own lengths; version 2 adds qStartIdx, kvStartIdx, pseType. */
aclnnStatus aclnnFlashAttentionVarLenScoreV2GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionVarLenScoreV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Blockwise attention over packed sequences of their own lengths; version 3 adds queryRope, keyRope. */
aclnnStatus aclnnFlashAttentionVarLenScoreV3GetWorkspaceSize(const aclTensor *query, const aclTensor *queryRope, const aclTensor *key, const aclTensor *keyRope, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionVarLenScoreV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Blockwise attention over packed sequences of their own lengths; version 4 adds softmaxOutLayout, drops queryRope, keyRope, qStartIdx, kvStartIdx, pseType. */
aclnnStatus aclnnFlashAttentionVarLenScoreV4GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, const char *softmaxOutLayout, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionVarLenScoreV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Blockwise attention over packed sequences of their own lengths; version 5 adds queryRope, keyRope, sink, qStartIdx, kvStartIdx, pseType. */
aclnnStatus aclnnFlashAttentionVarLenScoreV5GetWorkspaceSize(const aclTensor *query, const aclTensor *queryRope, const aclTensor *key, const aclTensor *keyRope, const aclTensor *value, const aclTensor *realShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *sinkOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, const char *softmaxOutLayout, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionVarLenScoreV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Blockwise attention of quantized inputs. Direction settled by meaning: softmaxOutout written. */
aclnnStatus aclnnQuantFlashAttentionScoreGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *attenMaskOptional, const aclTensor *dScaleQ, const aclTensor *dScaleK, const aclTensor *dScaleV, const aclTensor *pScale, double scaleValue, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t sparseMode, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *softmaxOutout, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantFlashAttentionScore(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTENTION_SCORE_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTENTION_SCORE_GRAD
/* Gradient of attention with softmax computed in blocks, with the row maxima and sums its gradient needs. */
aclnnStatus aclnnFlashAttentionScoreGradGetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclIntArray *prefixOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScoreGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of attention with softmax computed in blocks, with the row maxima and sums its gradient needs; version 2 adds qStartIdx, kvStartIdx, pseType. */
aclnnStatus aclnnFlashAttentionScoreGradV2GetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclIntArray *prefixOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScoreGradV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of attention with softmax computed in blocks, with the row maxima and sums its gradient needs; version 3 adds sinkIn, dsinkOut. */
aclnnStatus aclnnFlashAttentionScoreGradV3GetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclTensor *sinkInOptional, const aclIntArray *prefixOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut, aclTensor *dsinkOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScoreGradV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of attention with softmax computed in blocks, with the row maxima and sums its gradient needs; version 4, with a parameter list of its own. */
aclnnStatus aclnnFlashAttentionScoreGradV4GetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclTensor *sinkInOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclTensor *dScaleQOptional, const aclTensor *dScaleKOptional, const aclTensor *dScaleVOptional, const aclTensor *dScaleDyOptional, const aclTensor *dScaleOOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, const char *softmaxInLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, int64_t seed, int64_t offset, int64_t outDtype, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dqRopeOut, aclTensor *dkRopeOut, aclTensor *dpseOut, aclTensor *dsinkOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionScoreGradV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of blockwise attention over packed sequences. */
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionUnpaddingScoreGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of blockwise attention over packed sequences; version 2 adds qStartIdx, kvStartIdx, pseType. */
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV2GetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of blockwise attention over packed sequences; version 3 adds queryRope, keyInRope, dqRopeOut, dkRopeOut. */
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV3GetWorkspaceSize(const aclTensor *query, const aclTensor *queryRope, const aclTensor *keyIn, const aclTensor *keyInRope, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, aclTensor *dqOut, aclTensor *dqRopeOut, aclTensor *dkOut, aclTensor *dkRopeOut, aclTensor *dvOut, aclTensor *dpseOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of blockwise attention over packed sequences; version 4 adds softmaxInLayout, drops queryRope, keyInRope, qStartIdx, kvStartIdx, pseType, dqRopeOut, dkRopeOut. */
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, aclTensor *dpseOut, const char *softmaxInLayout, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of blockwise attention over packed sequences; version 5 adds queryRope, keyInRope, sinkIn, qStartIdx, kvStartIdx, pseType, dqRopeOut, dkRopeOut, dsinkOut. Direction settled by meaning: dqRopeOut, dkRopeOut written. */
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV5GetWorkspaceSize(const aclTensor *query, const aclTensor *queryRope, const aclTensor *keyIn, const aclTensor *keyInRope, const aclTensor *value, const aclTensor *dy, const aclTensor *pseShiftOptional, const aclTensor *dropMaskOptional, const aclTensor *paddingMaskOptional, const aclTensor *attenMaskOptional, const aclTensor *softmaxMaxOptional, const aclTensor *softmaxSumOptional, const aclTensor *softmaxInOptional, const aclTensor *attentionInOptional, const aclTensor *sinkInOptional, const aclIntArray *prefixOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType, const char *softmaxInLayout, aclTensor *dqOut, aclTensor *dqRopeOut, aclTensor *dkOut, aclTensor *dkRopeOut, aclTensor *dvOut, aclTensor *dpseOut, aclTensor *dsinkOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTN
#define ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTN
/* Blockwise attention over padded, packed or paged sequences. Direction settled by meaning: attnOut, softmaxLseOptional written; q, k, v, blockTableOptional, cuSeqlensQOptional, cuSeqlensKvOptional, sequsedQOptional, sequsedKvOptional, sinksOptional, attnMaskOptional, metadataOptional read. */
aclnnStatus aclnnFlashAttnGetWorkspaceSize(const aclTensor *q, const aclTensor *k, const aclTensor *v, const aclTensor *blockTableOptional, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional, const aclTensor *sinksOptional, const aclTensor *attnMaskOptional, const aclTensor *metadataOptional, double softmaxScale, int64_t maskMode, int64_t winLeft, int64_t winRight, int64_t maxSeqlenQ, int64_t maxSeqlenKV, const char *layoutQ, const char *layoutKv, const char *layoutOut, int64_t returnSoftmaxLse, aclTensor *attnOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTN_INNER
#define ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTN_INNER
/* Blockwise attention over padded, packed or paged sequences, inner form. Direction settled by meaning: attnOut, softmaxLse written; q, k, v, blockTableOptional, cuSeqlensQOptional, cuSeqlensKvOptional, sequsedQOptional, sequsedKvOptional, sinksOptional, attnMaskOptional, metadataOptional read. */
aclnnStatus aclnnInnerFlashAttnGetWorkspaceSize(const aclTensor *q, const aclTensor *k, const aclTensor *v, const aclTensor *blockTableOptional, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional, const aclTensor *sinksOptional, const aclTensor *attnMaskOptional, const aclTensor *metadataOptional, double softmaxScale, int64_t maskMode, int64_t winLeft, int64_t winRight, int64_t maxSeqlenQ, int64_t maxSeqlenKV, const char *layoutQ, const char *layoutKv, const char *layoutOut, int64_t returnSoftmaxLse, aclTensor *attnOut, aclTensor *softmaxLse, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInnerFlashAttn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTN_METADATA
#define ACLNN_PY_ATTENTION_ACLNN_FLASH_ATTN_METADATA
/* Work partition for blockwise attention over padded, packed or paged sequences. Direction settled by meaning: metaData written; cuSeqlensQOptional, cuSeqlensKvOptional, sequsedQOptional, sequsedKvOptional read. */
aclnnStatus aclnnFlashAttnMetadataGetWorkspaceSize(const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenKv, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t maskMode, int64_t winLeft, int64_t winRight, const char *layoutQ, const char *layoutKv, const char *layoutOut, aclTensor *metaData, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlashAttnMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_CAUSAL_CONV1D
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_CAUSAL_CONV1D
/* Causal convolution along a sequence with states kept in a cache. */
aclnnStatus aclnnFusedCausalConv1dGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, aclTensor *convStatesRef, const aclTensor *queryStartLoc, const aclTensor *cacheIndices, const aclTensor *initialStateMode, const aclTensor *bias, const aclTensor *numAcceptedTokens, const aclTensor *numComputedTokens, const aclTensor *blockIdxFirstScheduledToken, const aclTensor *blockIdxLastScheduledToken, const aclTensor *initialStateIdx, int64_t activationMode, int64_t padSlotId, int64_t runMode, int64_t maxQueryLen, int64_t residualConnection, int64_t blockSize, int64_t convMode, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedCausalConv1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_FLOYD_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_FLOYD_ATTENTION
/* Attention over triples of positions. [document] */
aclnnStatus aclnnFusedFloydAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key1, const aclTensor *value1, const aclTensor *key2, const aclTensor *value2, const aclTensor *attenMaskOptional, double scaleValue, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *attentionOutOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedFloydAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_FLOYD_ATTENTION_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_FLOYD_ATTENTION_GRAD
/* Gradient of attention over triples of positions. [document] */
aclnnStatus aclnnFusedFloydAttentionGradGetWorkspaceSize(const aclTensor *query, const aclTensor *key1, const aclTensor *value1, const aclTensor *key2, const aclTensor *value2, const aclTensor *dy, const aclTensor *attenMaskOptional, const aclTensor *softmaxMax, const aclTensor *softmaxSum, const aclTensor *attentionIn, double scaleValue, aclTensor *dqOut, aclTensor *dk1Out, aclTensor *dv1Out, aclTensor *dk2Out, aclTensor *dv2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedFloydAttentionGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE
/* Attention of inference for prompts and single steps, with cache pages, quantization and rotary parts on request. */
aclnnStatus aclnnFusedInferAttentionScoreGetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedInferAttentionScore(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V2
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V2
/* Attention of inference for prompts and single steps, with cache pages, quantization and rotary parts on request; version 2 adds keyAntiquantScale, keyAntiquantOffset, valueAntiquantScale, valueAntiquantOffset, keySharedPrefix, valueSharedPrefix, actualSharedPrefixLen, keyAntiquantMode, valueAntiquantMode. */
aclnnStatus aclnnFusedInferAttentionScoreV2GetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional, const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional, const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional, const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional, const aclIntArray *actualSharedPrefixLenOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedInferAttentionScoreV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V3
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V3
/* Attention of inference for prompts and single steps, with cache pages, quantization and rotary parts on request; version 3 adds queryRope, keyRope, keyRopeAntiquantScale. */
aclnnStatus aclnnFusedInferAttentionScoreV3GetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional, const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional, const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional, const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional, const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedInferAttentionScoreV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V4
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V4
/* Attention of inference for prompts and single steps, with cache pages, quantization and rotary parts on request; version 4 adds dequantScaleQuery, learnableSink, queryQuantMode. */
aclnnStatus aclnnFusedInferAttentionScoreV4GetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional, const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional, const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional, const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional, const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional, const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedInferAttentionScoreV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V5
#define ACLNN_PY_ATTENTION_ACLNN_FUSED_INFER_ATTENTION_SCORE_V5
/* Attention of inference for prompts and single steps, with cache pages, quantization and rotary parts on request; version 5 adds qStartIdx, kvStartIdx, pseType. */
aclnnStatus aclnnFusedInferAttentionScoreV5GetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional, const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional, const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional, const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional, const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional, const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional, const aclTensor *dequantScaleQueryOptional, const aclTensor *learnableSinkOptional, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode, int64_t pseType, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedInferAttentionScoreV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_GATHER_PA_KV_CACHE
#define ACLNN_PY_ATTENTION_ACLNN_GATHER_PA_KV_CACHE
/* Keys and values collected from cache pages. */
aclnnStatus aclnnGatherPaKvCacheGetWorkspaceSize(const aclTensor *keyCache, const aclTensor *valueCache, const aclTensor *blockTables, const aclTensor *seqLens, aclTensor *keyRef, aclTensor *valueRef, const aclTensor *seqOffsetOptional, const char *cacheMode, bool isSeqLensCumsum, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGatherPaKvCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION
/* Attention of one decoding step over a key and value cache. */
aclnnStatus aclnnIncreFlashAttentionGetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, int64_t numHeads, double scaleValue, const char *inputLayout, int64_t numKeyValueHeads, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIncreFlashAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION_V2
#define ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION_V2
/* Attention of one decoding step over a key and value cache; version 2 adds dequantScale1, quantScale1, dequantScale2, quantScale2, quantOffset2. */
aclnnStatus aclnnIncreFlashAttentionV2GetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclTensor *dequantScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *dequantScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, int64_t numHeads, double scaleValue, const char *inputLayout, int64_t numKeyValueHeads, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIncreFlashAttentionV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION_V3
#define ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION_V3
/* Attention of one decoding step over a key and value cache; version 3 adds antiquantScale, antiquantOffset, blocktable, blockSize, innerPrecise. */
aclnnStatus aclnnIncreFlashAttentionV3GetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclTensor *dequantScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *dequantScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *blocktableOptional, int64_t numHeads, double scaleValue, const char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize, int64_t innerPrecise, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIncreFlashAttentionV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION_V4
#define ACLNN_PY_ATTENTION_ACLNN_INCRE_FLASH_ATTENTION_V4
/* Attention of one decoding step over a key and value cache; version 4 adds kvPaddingSize. */
aclnnStatus aclnnIncreFlashAttentionV4GetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclTensor *dequantScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *dequantScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *blocktableOptional, const aclTensor *kvPaddingSizeOptional, int64_t numHeads, double scaleValue, const char *inputLayout, int64_t numKeyValueHeads, int64_t blockSize, int64_t innerPrecise, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIncreFlashAttentionV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_INDEXER_QUANT_CACHE
#define ACLNN_PY_ATTENTION_ACLNN_INDEXER_QUANT_CACHE
/* Quantized store of index keys into their cache. */
aclnnStatus aclnnIndexerQuantCacheGetWorkspaceSize(aclTensor *cacheRef, aclTensor *cacheScaleRef, const aclTensor *x, const aclTensor *slotMapping, int64_t quantMode, bool roundScale, float xScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexerQuantCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_INPLACE_FUSED_CAUSAL_CONV1D
#define ACLNN_PY_ATTENTION_ACLNN_INPLACE_FUSED_CAUSAL_CONV1D
/* Causal convolution along a sequence with states kept in a cache, in place. */
aclnnStatus aclnnInplaceFusedCausalConv1dGetWorkspaceSize(aclTensor *xRef, const aclTensor *weight, aclTensor *convStatesRef, const aclTensor *queryStartLoc, const aclTensor *cacheIndices, const aclTensor *initialStateMode, const aclTensor *bias, const aclTensor *numAcceptedTokens, const aclTensor *numComputedTokens, const aclTensor *blockIdxFirstScheduledToken, const aclTensor *blockIdxLastScheduledToken, const aclTensor *initialStateIdx, int64_t activationMode, int64_t padSlotId, int64_t runMode, int64_t maxQueryLen, int64_t residualConnection, int64_t blockSize, int64_t convMode, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceFusedCausalConv1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_KV_COMPRESS_EPILOG
#define ACLNN_PY_ATTENTION_ACLNN_KV_COMPRESS_EPILOG
/* Normalization, rotation and quantized store of compressed keys and values. */
aclnnStatus aclnnKvCompressEpilogGetWorkspaceSize(aclTensor *cacheRef, const aclTensor *x, const aclTensor *slotMapping, int64_t quantGroupSize, int64_t quantMode, bool roundScale, float xScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKvCompressEpilog(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER
#define ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER
/* Choice of the keys with the largest index scores for each query. */
aclnnStatus aclnnLightningIndexerGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *weights, const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKeyOptional, const aclTensor *blockTableOptional, const char *layoutQueryOptional, const char *layoutKeyOptional, int64_t sparseCount, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, bool returnValues, aclTensor *sparseIndicesOut, aclTensor *sparseValuesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLightningIndexer(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER_GRAD
/* Gradient of choice of the keys with the largest index scores for each query. Direction settled by meaning: dqOut, dkOut, dweightsOut written; actualSeqQLenOptional, actualSeqKvLenOptional read. */
aclnnStatus aclnnLightningIndexerGradGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *dy, const aclTensor *sparseIndices, const aclTensor *weights, const aclTensor *actualSeqQLenOptional, const aclTensor *actualSeqKvLenOptional, int64_t headNum, const char *inputLayout, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, bool deterministic, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dweightsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLightningIndexerGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER_V2
#define ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER_V2
/* Choice of the keys with the largest index scores for each query; version 2, with a parameter list of its own. [document] */
aclnnStatus aclnnLightningIndexerV2GetWorkspaceSize(const aclTensor *q, const aclTensor *k, const aclTensor *w, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKOptional, const aclTensor *cmpResidualKOptional, const aclTensor *blockTableOptional, const aclTensor *outputIdxOffsetOptional, const aclTensor *metadataOptional, int64_t topk, int64_t maxSeqlenQ, const char *layoutQ, const char *layoutK, int64_t maskMode, int64_t cmpRatio, int64_t returnValue, aclTensor *sparseIndices, aclTensor *sparseValues, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLightningIndexerV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER_V2_METADATA
#define ACLNN_PY_ATTENTION_ACLNN_LIGHTNING_INDEXER_V2_METADATA
/* Work partition for choice of the keys with the largest index scores for each query. */
aclnnStatus aclnnLightningIndexerV2MetadataGetWorkspaceSize(const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKOptional, const aclTensor *cmpResidualKOptional, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim, int64_t topk, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenK, const char *layoutQOptional, const char *layoutKOptional, int64_t maskMode, int64_t cmpRatio, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLightningIndexerV2Metadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MASKED_CAUSAL_CONV1D
#define ACLNN_PY_ATTENTION_ACLNN_MASKED_CAUSAL_CONV1D
/* Causal convolution along a sequence under a mask. [document] */
aclnnStatus aclnnMaskedCausalConv1dGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *maskOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaskedCausalConv1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MASKED_CAUSAL_CONV1D_BACKWARD
#define ACLNN_PY_ATTENTION_ACLNN_MASKED_CAUSAL_CONV1D_BACKWARD
/* Gradient of causal convolution along a sequence under a mask. [document] */
aclnnStatus aclnnMaskedCausalConv1dBackwardGetWorkspaceSize(const aclTensor *gradY, const aclTensor *x, const aclTensor *weight, const aclTensor *maskOptional, aclTensor *gradXOut, aclTensor *gradWeightOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaskedCausalConv1dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MIXED_QUANT_SPARSE_FLASH_MLA
#define ACLNN_PY_ATTENTION_ACLNN_MIXED_QUANT_SPARSE_FLASH_MLA
/* Sparse attention over latent keys and values of mixed precision. [document] */
aclnnStatus aclnnMixedQuantSparseFlashMlaGetWorkspaceSize(const aclTensor *q, const aclTensor *oriKvOptional, const aclTensor *cmpKvOptional, const aclTensor *oriSparseIndicesOptional, const aclTensor *cmpSparseIndicesOptional, const aclTensor *oriBlockTableOptional, const aclTensor *cmpBlockTableOptional, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional, const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional, const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional, const aclTensor *cmpTopkLengthOptional, const aclTensor *sinksOptional, const aclTensor *metadataOptional, int64_t quantMode, int64_t ropeHeadDim, double softmaxScale, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, int64_t topkValueMode, bool returnSoftmaxLse, aclTensor *attnOutOut, aclTensor *softmaxLseOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMixedQuantSparseFlashMla(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MIXED_QUANT_SPARSE_FLASH_MLA_METADATA
#define ACLNN_PY_ATTENTION_ACLNN_MIXED_QUANT_SPARSE_FLASH_MLA_METADATA
/* Work partition for sparse attention over latent keys and values of mixed precision. Direction settled by meaning: metaData written. */
aclnnStatus aclnnMixedQuantSparseFlashMlaMetadataGetWorkspaceSize(const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional, const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional, const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional, const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t quantMode, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv, int64_t oriTopk, int64_t cmpTopk, int64_t ropeHeadDim, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, aclTensor *metaData, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMixedQuantSparseFlashMlaMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MLA_PREPROCESS
#define ACLNN_PY_ATTENTION_ACLNN_MLA_PREPROCESS
/* Projections, normalization and rotation in front of latent attention. [document] */
aclnnStatus aclnnMlaPreprocessGetWorkspaceSize(const aclTensor *input, const aclTensor *gamma0, const aclTensor *beta0, const aclTensor *quantScale0, const aclTensor *quantOffset0, const aclTensor *wdqkv, const aclTensor *deScale0, const aclTensor *bias0, const aclTensor *gamma1, const aclTensor *beta1, const aclTensor *quantScale1, const aclTensor *quantOffset1, const aclTensor *wuq, const aclTensor *deScale1, const aclTensor *bias1, const aclTensor *gamma2, const aclTensor *cos, const aclTensor *sin, const aclTensor *wuk, const aclTensor *kvCache, const aclTensor *kvCacheRopeOptional, const aclTensor *slotMapping, const aclTensor *ctkvScaleOptional, const aclTensor *qNopeScaleOptional, int64_t wdqDim, int64_t qRopeDim, int64_t kRopeDim, double epsilon, int64_t qRotaryCoeff, int64_t kRotaryCoeff, bool transposeWdq, bool transposeWuq, bool transposeWuk, int64_t cacheMode, int64_t quantMode, bool doRmsNorm, int64_t wdkvSplitCount, aclTensor *qOut, aclTensor *kvCacheOut, aclTensor *qRopeOutOptional, aclTensor *krCacheOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMlaPreprocess(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MLA_PREPROCESS_V2
#define ACLNN_PY_ATTENTION_ACLNN_MLA_PREPROCESS_V2
/* Projections, normalization and rotation in front of latent attention; version 2 adds qDownOutFlag, qDownOut. [document] */
aclnnStatus aclnnMlaPreprocessV2GetWorkspaceSize(const aclTensor *input, const aclTensor *gamma0, const aclTensor *beta0, const aclTensor *quantScale0, const aclTensor *quantOffset0, const aclTensor *wdqkv, const aclTensor *deScale0, const aclTensor *bias0, const aclTensor *gamma1, const aclTensor *beta1, const aclTensor *quantScale1, const aclTensor *quantOffset1, const aclTensor *wuq, const aclTensor *deScale1, const aclTensor *bias1, const aclTensor *gamma2, const aclTensor *cos, const aclTensor *sin, const aclTensor *wuk, const aclTensor *kvCache, const aclTensor *kvCacheRopeOptional, const aclTensor *slotMapping, const aclTensor *ctkvScaleOptional, const aclTensor *qNopeScaleOptional, int64_t wdqDim, int64_t qRopeDim, int64_t kRopeDim, double epsilon, int64_t qRotaryCoeff, int64_t kRotaryCoeff, bool transposeWdq, bool transposeWuq, bool transposeWuk, int64_t cacheMode, int64_t quantMode, bool doRmsNorm, int64_t wdkvSplitCount, bool qDownOutFlag, aclTensor *qOut, aclTensor *kvCacheOut, aclTensor *qRopeOutOptional, aclTensor *krCacheOutOptional, aclTensor *qDownOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMlaPreprocessV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MLA_PROLOG
#define ACLNN_PY_ATTENTION_ACLNN_MLA_PROLOG
/* Projections, normalization and rotation in front of latent attention, with the cache store. */
aclnnStatus aclnnMlaPrologGetWorkspaceSize(const aclTensor *tokenX, const aclTensor *weightDq, const aclTensor *weightUqQr, const aclTensor *weightUk, const aclTensor *weightDkvKr, const aclTensor *rmsnormGammaCq, const aclTensor *rmsnormGammaCkv, const aclTensor *ropeSin, const aclTensor *ropeCos, const aclTensor *cacheIndex, aclTensor *kvCacheRef, aclTensor *krCacheRef, const aclTensor *dequantScaleXOptional, const aclTensor *dequantScaleWDqOptional, const aclTensor *dequantScaleWUqQrOptional, const aclTensor *dequantScaleWDkvKrOptional, const aclTensor *quantScaleCkvOptional, const aclTensor *quantScaleCkrOptional, const aclTensor *smoothScalesCqOptional, double rmsnormEpsilonCq, double rmsnormEpsilonCkv, const char *cacheModeOptional, aclTensor *queryOut, aclTensor *queryRopeOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMlaProlog(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MLA_PROLOG_V2_WEIGHT_NZ
#define ACLNN_PY_ATTENTION_ACLNN_MLA_PROLOG_V2_WEIGHT_NZ
/* Projections, normalization and rotation in front of latent attention, the weights in FRACTAL_NZ. */
aclnnStatus aclnnMlaPrologV2WeightNzGetWorkspaceSize(const aclTensor *tokenX, const aclTensor *weightDq, const aclTensor *weightUqQr, const aclTensor *weightUk, const aclTensor *weightDkvKr, const aclTensor *rmsnormGammaCq, const aclTensor *rmsnormGammaCkv, const aclTensor *ropeSin, const aclTensor *ropeCos, const aclTensor *cacheIndex, aclTensor *kvCacheRef, aclTensor *krCacheRef, const aclTensor *dequantScaleXOptional, const aclTensor *dequantScaleWDqOptional, const aclTensor *dequantScaleWUqQrOptional, const aclTensor *dequantScaleWDkvKrOptional, const aclTensor *quantScaleCkvOptional, const aclTensor *quantScaleCkrOptional, const aclTensor *smoothScalesCqOptional, double rmsnormEpsilonCq, double rmsnormEpsilonCkv, const char *cacheModeOptional, aclTensor *queryOut, aclTensor *queryRopeOut, aclTensor *dequantScaleQNopeOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMlaPrologV2WeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_MLA_PROLOG_V3_WEIGHT_NZ
#define ACLNN_PY_ATTENTION_ACLNN_MLA_PROLOG_V3_WEIGHT_NZ
/* Projections, normalization and rotation in front of latent attention, the weights in FRACTAL_NZ. */
aclnnStatus aclnnMlaPrologV3WeightNzGetWorkspaceSize(const aclTensor *tokenX, const aclTensor *weightDq, const aclTensor *weightUqQr, const aclTensor *weightUk, const aclTensor *weightDkvKr, const aclTensor *rmsnormGammaCq, const aclTensor *rmsnormGammaCkv, const aclTensor *ropeSin, const aclTensor *ropeCos, aclTensor *kvCacheRef, aclTensor *krCacheRef, const aclTensor *cacheIndexOptional, const aclTensor *dequantScaleXOptional, const aclTensor *dequantScaleWDqOptional, const aclTensor *dequantScaleWUqQrOptional, const aclTensor *dequantScaleWDkvKrOptional, const aclTensor *quantScaleCkvOptional, const aclTensor *quantScaleCkrOptional, const aclTensor *smoothScalesCqOptional, const aclTensor *actualSeqLenOptional, const aclTensor *kNopeClipAlphaOptional, double rmsnormEpsilonCq, double rmsnormEpsilonCkv, const char *cacheModeOptional, int64_t weightQuantMode, int64_t kvCacheQuantMode, int64_t queryQuantMode, int64_t ckvkrRepoMode, int64_t quantScaleRepoMode, int64_t tileSize, double qcQrScale, double kcScale, aclTensor *queryOut, aclTensor *queryRopeOut, aclTensor *dequantScaleQNopeOutOptional, aclTensor *queryNormOutOptional, aclTensor *dequantScaleQNormOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMlaPrologV3WeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS
#define ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS
/* Blocks of keys compressed by learned weights. */
aclnnStatus aclnnNsaCompressGetWorkspaceSize(const aclTensor *input, const aclTensor *weight, const aclIntArray *actSeqLenOptional, const char *layoutOptional, int64_t compressBlockSize, int64_t compressStride, int64_t actSeqLenType, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaCompress(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_ATTENTION
/* Attention over compressed blocks, with the blocks each query selects. Direction settled by meaning: attentionOutOut written. */
aclnnStatus aclnnNsaCompressAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *attenMaskOptional, const aclTensor *topkMaskOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualCmpSeqKvLenOptional, const aclIntArray *actualSelSeqKvLenOptional, double scaleValue, int64_t headNum, const char *inputLayout, int64_t sparseMode, int64_t compressBlockSize, int64_t compressStride, int64_t selectBlockSize, int64_t selectBlockCount, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *attentionOutOut, aclTensor *topkIndicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaCompressAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_ATTENTION_INFER
#define ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_ATTENTION_INFER
/* Attention of inference over compressed blocks, with the blocks each query selects. */
aclnnStatus aclnnNsaCompressAttentionInferGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *attentionMaskOptional, const aclTensor *blockTableOptional, const aclIntArray *actualQSeqLenOptional, const aclIntArray *actualCmpKvSeqLenOptional, const aclIntArray *actualSelKvSeqLenOptional, const aclTensor *topKMaskOptional, int64_t numHeads, int64_t numKeyValueHeads, int64_t selectBlockSize, int64_t selectBlockCount, int64_t compressBlockSize, int64_t compressBlockStride, double scaleValue, const char *layoutOptional, int64_t pageBlockSize, int64_t sparseMode, aclTensor *output, aclTensor *topKOutput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaCompressAttentionInfer(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_GRAD
/* Gradient of the blocks of keys compressed by learned weights. [document] */
aclnnStatus aclnnNsaCompressGradGetWorkspaceSize(const aclTensor *outputGrad, const aclTensor *input, const aclTensor *weight, const aclIntArray *actSeqLenOptionalOptional, int64_t compressBlockSize, int64_t compressStride, int64_t actSeqLenType, const char *layoutOptionalOptional, aclTensor *inputGradOut, aclTensor *weightGradOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaCompressGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_WITH_CACHE
#define ACLNN_PY_ATTENTION_ACLNN_NSA_COMPRESS_WITH_CACHE
/* Newest block of keys compressed into its cache. */
aclnnStatus aclnnNsaCompressWithCacheGetWorkspaceSize(const aclTensor *input, const aclTensor *weight, const aclTensor *slotMapping, const aclIntArray *actSeqLenOptional, const aclTensor *blockTableOptional, const char *layoutOptional, int64_t compressBlockSize, int64_t compressStride, int64_t actSeqLenType, int64_t pageBlockSize, aclTensor *outputCache, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaCompressWithCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_SELECTED_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_NSA_SELECTED_ATTENTION
/* Attention over selected blocks. Direction settled by meaning: softmaxMaxOut, softmaxSumOut, attentionOut written; query, key, value, topkIndices, attenMaskOptional, actualSeqQLenOptional, actualSeqKvLenOptional read. */
aclnnStatus aclnnNsaSelectedAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *topkIndices, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, double scaleValue, int64_t headNum, const char *inputLayout, int64_t sparseMode, int64_t selectedBlockSize, int64_t selectedBlockCount, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaSelectedAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_SELECTED_ATTENTION_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_NSA_SELECTED_ATTENTION_GRAD
/* Gradient of attention over selected blocks. Direction settled by meaning: dqOut, dkOut, dvOut written; query, key, value, attentionOut, attentionOutGrad, softmaxMax, softmaxSum, topkIndices, actualSeqQLenOptional, actualSeqKvLenOptional, attenMaskOptional read. */
aclnnStatus aclnnNsaSelectedAttentionGradGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *attentionOut, const aclTensor *attentionOutGrad, const aclTensor *softmaxMax, const aclTensor *softmaxSum, const aclTensor *topkIndices, const aclIntArray *actualSeqQLenOptional, const aclIntArray *actualSeqKvLenOptional, const aclTensor *attenMaskOptional, double scaleValue, int64_t selectedBlockSize, int64_t selectedBlockCount, int64_t headNum, const char *inputLayout, int64_t sparseMode, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaSelectedAttentionGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_NSA_SELECTED_ATTENTION_INFER
#define ACLNN_PY_ATTENTION_ACLNN_NSA_SELECTED_ATTENTION_INFER
/* Attention of inference over selected blocks. Direction settled by meaning: attenMaskOptional read. */
aclnnStatus aclnnNsaSelectedAttentionInferGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *topkIndices, const aclTensor *attenMaskOptional, const aclTensor *blockTableOptional, const aclIntArray *actualQSeqLenOptional, const aclIntArray *actualKvSeqLenOptional, const char *layoutOptional, int64_t numHeads, int64_t numKeyValueHeads, int64_t selectBlockSize, int64_t selectBlockCount, int64_t pageBlockSize, double scaleValue, int64_t sparseMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNsaSelectedAttentionInfer(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_PROMPT_FLASH_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_PROMPT_FLASH_ATTENTION
/* Attention of inference over whole prompts. */
aclnnStatus aclnnPromptFlashAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnPromptFlashAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_PROMPT_FLASH_ATTENTION_V2
#define ACLNN_PY_ATTENTION_ACLNN_PROMPT_FLASH_ATTENTION_V2
/* Attention of inference over whole prompts; version 2 adds actualSeqLengthsKv, deqScale1, quantScale1, deqScale2, quantScale2, quantOffset2, sparseMode. */
aclnnStatus aclnnPromptFlashAttentionV2GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnPromptFlashAttentionV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_PROMPT_FLASH_ATTENTION_V3
#define ACLNN_PY_ATTENTION_ACLNN_PROMPT_FLASH_ATTENTION_V3
/* Attention of inference over whole prompts; version 3 adds innerPrecise. */
aclnnStatus aclnnPromptFlashAttentionV3GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, aclTensor *attentionOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnPromptFlashAttentionV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_QUANT_LIGHTNING_INDEXER
#define ACLNN_PY_ATTENTION_ACLNN_QUANT_LIGHTNING_INDEXER
/* Choice of keys by index scores of quantized inputs. */
aclnnStatus aclnnQuantLightningIndexerGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *weights, const aclTensor *queryDequantScale, const aclTensor *keyDequantScale, const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKeyOptional, const aclTensor *blockTableOptional, int64_t queryQuantMode, int64_t keyQuantMode, const char *layoutQueryOptional, const char *layoutKeyOptional, int64_t sparseCount, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantLightningIndexer(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_QUANT_LIGHTNING_INDEXER_V2_METADATA
#define ACLNN_PY_ATTENTION_ACLNN_QUANT_LIGHTNING_INDEXER_V2_METADATA
/* Work partition for choice of keys by index scores of quantized inputs. */
aclnnStatus aclnnQuantLightningIndexerV2MetadataGetWorkspaceSize(const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKOptional, const aclTensor *cmpResidualKOptional, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim, int64_t topk, int64_t quantMode, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenK, const char *layoutQOptional, const char *layoutKOptional, int64_t maskMode, int64_t cmpRatio, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantLightningIndexerV2Metadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_RAIN_FUSION_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_RAIN_FUSION_ATTENTION
/* Sparse attention over blocks chosen for video frames. */
aclnnStatus aclnnRainFusionAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *selectIdx, const aclTensor *selectNumIdx, const aclIntArray *blockShape, const aclTensor *attenMaskOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *blockTableOptional, const char *qInputLayout, const char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType, double scaleValue, int64_t innerPrecise, int64_t blockSize, aclTensor *attentionOut, aclTensor *softmaxLseOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRainFusionAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_RECURRENT_GATED_DELTA_RULE
#define ACLNN_PY_ATTENTION_ACLNN_RECURRENT_GATED_DELTA_RULE
/* Gated delta rule of linear attention, a token at a time. */
aclnnStatus aclnnRecurrentGatedDeltaRuleGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *beta, aclTensor *stateRef, const aclTensor *actualSeqLengths, const aclTensor *ssmStateIndices, const aclTensor *gOptional, const aclTensor *gkOptional, const aclTensor *numAcceptedTokens, float scaleValue, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRecurrentGatedDeltaRule(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_RING_ATTENTION_UPDATE
#define ACLNN_PY_ATTENTION_ACLNN_RING_ATTENTION_UPDATE
/* Merge of the attention results of two rounds of a ring by their maxima and sums. */
aclnnStatus aclnnRingAttentionUpdateGetWorkspaceSize(const aclTensor *prevAttnOut, const aclTensor *prevSoftmaxMax, const aclTensor *prevSoftmaxSum, const aclTensor *curAttnOut, const aclTensor *curSoftmaxMax, const aclTensor *curSoftmaxSum, const aclTensor *actualSeqQlenOptional, const char *inputLayoutOptional, aclTensor *attnOutOut, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRingAttentionUpdate(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Merge of the attention results of two rounds of a ring by their maxima and sums; version 2 adds inputSoftmaxLayout. */
aclnnStatus aclnnRingAttentionUpdateV2GetWorkspaceSize(const aclTensor *prevAttnOut, const aclTensor *prevSoftmaxMax, const aclTensor *prevSoftmaxSum, const aclTensor *curAttnOut, const aclTensor *curSoftmaxMax, const aclTensor *curSoftmaxSum, const aclTensor *actualSeqQlenOptional, const char *inputLayoutOptional, const char *inputSoftmaxLayoutOptional, aclTensor *attnOutOut, aclTensor *softmaxMaxOut, aclTensor *softmaxSumOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRingAttentionUpdateV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SCATTER_PA_CACHE
#define ACLNN_PY_ATTENTION_ACLNN_SCATTER_PA_CACHE
/* Keys written into cache pages. [document] */
aclnnStatus aclnnScatterPaCacheGetWorkspaceSize(const aclTensor *key, aclTensor *keyCacheRef, const aclTensor *slotMapping, const aclTensor *compressLensOptional, const aclTensor *compressSeqOffsetOptional, const aclTensor *seqLensOptional, const char *cacheMode, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterPaCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SCATTER_PA_KV_CACHE
#define ACLNN_PY_ATTENTION_ACLNN_SCATTER_PA_KV_CACHE
/* Keys and values written into cache pages. */
aclnnStatus aclnnScatterPaKvCacheGetWorkspaceSize(const aclTensor *key, aclTensor *keyCacheOptionalRef, const aclTensor *slotMapping, const aclTensor *value, aclTensor *valueCacheOptionalRef, const aclTensor *compressLensOptional, const aclTensor *compressSeqOffsetOptional, const aclTensor *seqLensOptional, const char *cacheModeOptional, const char *scatterModeOptional, const aclIntArray *stridesOptional, const aclIntArray *offsetsOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterPaKvCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SCATTER_PA_KV_CACHE_WITH_K_SCALE
#define ACLNN_PY_ATTENTION_ACLNN_SCATTER_PA_KV_CACHE_WITH_K_SCALE
/* Keys, values and key scales written into cache pages. */
aclnnStatus aclnnScatterPaKvCacheWithKScaleGetWorkspaceSize(const aclTensor *key, const aclTensor *value, aclTensor *keyCacheRef, aclTensor *valueCacheRef, const aclTensor *slotMapping, const aclTensor *keyScale, aclTensor *keyScaleCacheRef, const char *cacheLayoutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterPaKvCacheWithKScale(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_ATTENTION
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_ATTENTION
/* Attention over the keys an index list names. Direction settled by meaning: softmaxMax, softmaxSum written; blockTableOptional, actualSeqLengthsQueryOptional, actualSeqLengthsKvOptional, queryRopeOptional, keyRopeOptional read. */
aclnnStatus aclnnSparseFlashAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *sparseIndices, const aclTensor *blockTableOptional, const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKvOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, double scaleValue, int64_t sparseBlockSize, const char *layoutQueryOptional, const char *layoutKvOptional, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, int64_t attentionMode, bool returnSoftmaxLse, aclTensor *attentionOut, aclTensor *softmaxMax, aclTensor *softmaxSum, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseFlashAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_ATTENTION_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_ATTENTION_GRAD
/* Gradient of attention over the keys an index list names. Direction settled by meaning: dQueryOut, dKeyOut, dValueOutOptional, dQueryRopeOutOptional, dKeyRopeOutOptional written; actualSeqLengthsKvOptional read. */
aclnnStatus aclnnSparseFlashAttentionGradGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *valueOptional, const aclTensor *sparseIndices, const aclTensor *dOut, const aclTensor *out, const aclTensor *softmaxMax, const aclTensor *softmaxSum, const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKvOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, double scaleValue, int64_t sparseBlockSize, const char *layoutOptional, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, bool deterministic, aclTensor *dQueryOut, aclTensor *dKeyOut, aclTensor *dValueOutOptional, aclTensor *dQueryRopeOutOptional, aclTensor *dKeyRopeOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseFlashAttentionGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_ATTENTION_V2
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_ATTENTION_V2
/* Attention over the keys an index list names; version 2 adds sinks. Direction settled by meaning: softmaxMax, softmaxSum written. */
aclnnStatus aclnnSparseFlashAttentionV2GetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *sparseIndices, const aclTensor *blockTableOptional, const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKvOptional, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclTensor *sinksOptional, double scaleValue, int64_t sparseBlockSize, const char *layoutQueryOptional, const char *layoutKvOptional, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, int64_t attentionMode, bool returnSoftmaxLse, aclTensor *attentionOut, aclTensor *softmaxMax, aclTensor *softmaxSum, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseFlashAttentionV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA
/* Attention over latent keys and values an index list names. [document] */
aclnnStatus aclnnSparseFlashMlaGetWorkspaceSize(const aclTensor *q, const aclTensor *oriKvOptional, const aclTensor *cmpKvOptional, const aclTensor *oriSparseIndicesOptional, const aclTensor *cmpSparseIndicesOptional, const aclTensor *oriBlockTableOptional, const aclTensor *cmpBlockTableOptional, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional, const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional, const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional, const aclTensor *cmpTopkLengthOptional, const aclTensor *sinksOptional, const aclTensor *metadataOptional, double softmaxScale, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, int64_t topkValueMode, bool returnSoftmaxLse, aclTensor *attnOutOut, aclTensor *softmaxLseOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseFlashMla(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA_GRAD
/* Gradient of attention over latent keys and values an index list names. [document] Direction settled by meaning: dCmpKvOutOptional written. */
aclnnStatus aclnnSparseFlashMlaGradGetWorkspaceSize(const aclTensor *query, const aclTensor *dOut, const aclTensor *out, const aclTensor *lse, const aclTensor *oriKvOptional, const aclTensor *cmpKvOptional, const aclTensor *oriSparseIndicesOptional, const aclTensor *cmpSparseIndicesOptional, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional, const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional, const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional, const aclTensor *cmpTopkLengthOptional, const aclTensor *sinksOptional, const aclTensor *metadataOptional, double scaleValue, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, aclTensor *dQueryOut, aclTensor *dOriKvOutOptional, aclTensor *dCmpKvOutOptional, aclTensor *dSinksOutOptional, aclTensor *oriSoftmaxL1NormOptional, aclTensor *cmpSoftmaxL1NormOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseFlashMlaGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA_GRAD_METADATA
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA_GRAD_METADATA
/* Work partition for the gradient of attention over latent keys and values an index list names. Direction settled by meaning: metaData written. */
aclnnStatus aclnnSparseFlashMlaGradMetadataGetWorkspaceSize(const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional, const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional, const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional, const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv, int64_t oriTopk, int64_t cmpTopk, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, aclTensor *metaData, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseFlashMlaGradMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA_METADATA
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_FLASH_MLA_METADATA
/* Work partition for attention over latent keys and values an index list names. */
aclnnStatus aclnnSparseFlashMlaMetadataGetWorkspaceSize(const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional, const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional, const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional, const aclTensor *cmpTopkLengthOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenOriKv, int64_t maxSeqlenCmpKv, int64_t oriTopk, int64_t cmpTopk, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, aclTensor *metaData, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseFlashMlaMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_LIGHTNING_INDEXER_GRAD_KL_LOSS
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_LIGHTNING_INDEXER_GRAD_KL_LOSS
/* Divergence between the index scores and the attention distribution over selected keys, with its gradients. [document] */
aclnnStatus aclnnSparseLightningIndexerGradKLLossGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *queryIndex, const aclTensor *keyIndex, const aclTensor *weights, const aclTensor *sparseIndices, const aclTensor *softmaxMax, const aclTensor *softmaxSum, const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional, const aclIntArray *actualSeqLengthsQueryOptional, const aclIntArray *actualSeqLengthsKeyOptional, double scaleValue, const char *layout, int64_t sparseMode, int64_t pre_tokens, int64_t next_tokens, bool deterministic, aclTensor *dQueryIndex, aclTensor *dKeyIndex, aclTensor *dWeights, aclTensor *loss, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseLightningIndexerGradKLLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_LIGHTNING_INDEXER_KL_LOSS_GRAD
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_LIGHTNING_INDEXER_KL_LOSS_GRAD
/* Gradient of the divergence between the index scores and the attention distribution over selected keys. [document] */
aclnnStatus aclnnSparseLightningIndexerKLLossGradGetWorkspaceSize(const aclTensor *q, const aclTensor *k, const aclTensor *w, const aclTensor *sparseIndices, const aclTensor *attnSoftmaxL1Norm, const aclTensor *cuSeqLensQOptional, const aclTensor *cuSeqLensKOptional, const aclTensor *seqUsedQOptional, const aclTensor *seqUsedKOptional, const aclTensor *cmpResidualKOptional, const aclTensor *metadataOptional, const char *layoutQ, const char *layoutK, int64_t maskMode, int64_t cmpRatio, aclTensor *dq, aclTensor *dk, aclTensor *dw, aclTensor *softmaxOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseLightningIndexerKLLossGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SPARSE_LIGHTNING_INDEXER_KL_LOSS_GRAD_METADATA
#define ACLNN_PY_ATTENTION_ACLNN_SPARSE_LIGHTNING_INDEXER_KL_LOSS_GRAD_METADATA
/* Work partition for the gradient of the divergence between the index scores and the attention distribution over selected keys. Direction settled by meaning: cuSeqlensQOptional, cuSeqlensKOptional, sequsedQOptional, sequsedKOptional read. */
aclnnStatus aclnnSparseLightningIndexerKLLossGradMetadataGetWorkspaceSize(const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKOptional, const aclTensor *cmpResidualKOptional, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenK, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim, int64_t topk, const char *layoutQOptional, const char *layoutKOptional, int64_t maskMode, int64_t cmpRatio, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseLightningIndexerKLLossGradMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ATTENTION_ACLNN_SWIN_ATTENTION_SCORE_QUANT
#define ACLNN_PY_ATTENTION_ACLNN_SWIN_ATTENTION_SCORE_QUANT
/* Attention of quantized windows. [document] */
aclnnStatus aclnnSwinAttentionScoreQuantGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *scaleQuant, const aclTensor *scaleDequant1, const aclTensor *scaleDequant2, const aclTensor *biasQuantOptional, const aclTensor *biasDequant1Optional, const aclTensor *biasDequant2Optional, const aclTensor *paddingMask1Optional, const aclTensor *paddingMask2Optional, bool queryTranspose, bool keyTranspose, bool valueTranspose, int64_t softmaxAxes, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwinAttentionScoreQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_ATTENTION_H */
