/* SPDX-License-Identifier: Apache-2.0 */
/* Position embeddings. */
#ifndef ACLNN_PY_ACLNNOP_POSEMBEDDING_H
#define ACLNN_PY_ACLNNOP_POSEMBEDDING_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_APPLY_ROTARY_POS_EMB
#define ACLNN_PY_POSEMBEDDING_ACLNN_APPLY_ROTARY_POS_EMB
/* Rotation of query and key by the sines and cosines of their positions, in place. */
aclnnStatus aclnnApplyRotaryPosEmbGetWorkspaceSize(aclTensor *queryRef, aclTensor *keyRef, const aclTensor *cos, const aclTensor *sin, int64_t layout, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyRotaryPosEmb(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_APPLY_ROTARY_POS_EMB_V2
#define ACLNN_PY_POSEMBEDDING_ACLNN_APPLY_ROTARY_POS_EMB_V2
/* Rotation of query and key by the sines and cosines of their positions, in place; version 2 adds rotaryMode. */
aclnnStatus aclnnApplyRotaryPosEmbV2GetWorkspaceSize(aclTensor *queryRef, aclTensor *keyRef, const aclTensor *cos, const aclTensor *sin, int64_t layout, const char *rotaryMode, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyRotaryPosEmbV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_DEQUANT_ROPE_QUANT_KVCACHE
#define ACLNN_PY_POSEMBEDDING_ACLNN_DEQUANT_ROPE_QUANT_KVCACHE
/* Dequantization, rotary embedding and quantized store of key and value into the cache. [document] */
aclnnStatus aclnnDequantRopeQuantKvcacheGetWorkspaceSize(const aclTensor *x, const aclTensor *cos, const aclTensor *sin, aclTensor *kCacheRef, aclTensor *vCacheRef, const aclTensor *indices, const aclTensor *scaleK, const aclTensor *scaleV, const aclTensor *offsetKOptional, const aclTensor *offsetVOptional, const aclTensor *weightScaleOptional, const aclTensor *activationScaleOptional, const aclTensor *biasOptional, const aclIntArray *sizeSplits, const char *quantModeOptional, const char *layoutOptional, bool kvOutput, const char *cacheModeOptional, aclTensor *qOut, aclTensor *kOut, aclTensor *vOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDequantRopeQuantKvcache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_INPLACE_PARTIAL_ROTARY_MUL
#define ACLNN_PY_POSEMBEDDING_ACLNN_INPLACE_PARTIAL_ROTARY_MUL
/* Rotary embedding of a part of the last dimension, in place. */
aclnnStatus aclnnInplacePartialRotaryMulGetWorkspaceSize(aclTensor *xRef, const aclTensor *cos, const aclTensor *sin, int64_t rotary_mode, const aclIntArray *partialSliceOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplacePartialRotaryMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_INPLACE_PARTIAL_ROTARY_MUL_GRAD
#define ACLNN_PY_POSEMBEDDING_ACLNN_INPLACE_PARTIAL_ROTARY_MUL_GRAD
/* Gradient of the rotary embedding of a part of the last dimension, in place. [document] */
aclnnStatus aclnnInplacePartialRotaryMulGradGetWorkspaceSize(aclTensor *dyRef, const aclTensor *cos, const aclTensor *sin, int64_t rotaryMode, const aclIntArray *partialSlice, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplacePartialRotaryMulGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_INTERLEAVE_ROPE
#define ACLNN_PY_POSEMBEDDING_ACLNN_INTERLEAVE_ROPE
/* Rotary embedding of interleaved pairs. */
aclnnStatus aclnnInterleaveRopeGetWorkspaceSize(const aclTensor *x, const aclTensor *cos, const aclTensor *sin, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInterleaveRope(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_KV_RMS_NORM_ROPE_CACHE
#define ACLNN_PY_POSEMBEDDING_ACLNN_KV_RMS_NORM_ROPE_CACHE
/* Normalization of the compressed value, rotation of the key and store of both into the cache. [document] Direction settled by meaning: cKvScaleOptional read. */
aclnnStatus aclnnKvRmsNormRopeCacheGetWorkspaceSize(const aclTensor *kv, const aclTensor *gamma, const aclTensor *cos, const aclTensor *sin, const aclTensor *index, aclTensor *kCacheRef, aclTensor *ckvCacheRef, const aclTensor *kRopeScaleOptional, const aclTensor *cKvScaleOptional, const aclTensor *kRopeOffsetOptional, const aclTensor *cKvOffsetOptional, double epsilon, const char *cacheModeOptional, bool isOutputKv, aclTensor *kRopeOut, aclTensor *cKvOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKvRmsNormRopeCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_KV_RMS_NORM_ROPE_CACHE_V2
#define ACLNN_PY_POSEMBEDDING_ACLNN_KV_RMS_NORM_ROPE_CACHE_V2
/* Normalization of the compressed value, rotation of the key and store of both into the cache; version 2 adds v. [document] Direction settled by meaning: cKvScaleOptional read. */
aclnnStatus aclnnKvRmsNormRopeCacheV2GetWorkspaceSize(const aclTensor *kv, const aclTensor *gamma, const aclTensor *cos, const aclTensor *sin, const aclTensor *index, aclTensor *kCacheRef, aclTensor *ckvCacheRef, const aclTensor *kRopeScaleOptional, const aclTensor *cKvScaleOptional, const aclTensor *kRopeOffsetOptional, const aclTensor *cKvOffsetOptional, const aclTensor *vOptional, double epsilon, const char *cacheModeOptional, bool isOutputKv, aclTensor *kRopeOut, aclTensor *cKvOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKvRmsNormRopeCacheV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_NORM_ROPE_CONCAT
#define ACLNN_PY_POSEMBEDDING_ACLNN_NORM_ROPE_CONCAT
/* Normalization and rotation of query, key and value parts, concatenated. */
aclnnStatus aclnnNormRopeConcatGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *encoderQueryOptional, const aclTensor *encoderKeyOptional, const aclTensor *encoderValueOptional, const aclTensor *normQueryWeightOptional, const aclTensor *normQueryBiasOptional, const aclTensor *normKeyWeightOptional, const aclTensor *normKeyBiasOptional, const aclTensor *normAddedQueryWeightOptional, const aclTensor *normAddedQueryBiasOptional, const aclTensor *normAddedKeyWeightOptional, const aclTensor *normAddedKeyBiasOptional, const aclTensor *ropeSinOptional, const aclTensor *ropeCosOptional, int64_t normType, int64_t normAddedType, int64_t ropeType, int64_t concatOrder, double eps, bool isTraining, aclTensor *queryOutput, aclTensor *keyOutput, aclTensor *valueOutput, aclTensor *normQueryMeanOptional, aclTensor *normQueryRstdOptional, aclTensor *normKeyMeanOptional, aclTensor *normKeyRstdOptional, aclTensor *normAddedQueryMeanOptional, aclTensor *normAddedQueryRstdOptional, aclTensor *normAddedKeyMeanOptional, aclTensor *normAddedKeyRstdOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNormRopeConcat(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_NORM_ROPE_CONCAT_GRAD
#define ACLNN_PY_POSEMBEDDING_ACLNN_NORM_ROPE_CONCAT_GRAD
/* Gradient of normalization and rotation of query, key and value parts, concatenated. */
aclnnStatus aclnnNormRopeConcatBackwardGetWorkspaceSize(const aclTensor *gradQueryOutput, const aclTensor *gradKeyOutput, const aclTensor *gradValueOutput, const aclTensor *query, const aclTensor *key, const aclTensor *encoderQuery, const aclTensor *encoderKey, const aclTensor *normQueryWeight, const aclTensor *normQueryMean, const aclTensor *normQueryRstd, const aclTensor *normKeyWeight, const aclTensor *normKeyMean, const aclTensor *normKeyRstd, const aclTensor *normAddedQueryWeight, const aclTensor *normAddedQueryMean, const aclTensor *normAddedQueryRstd, const aclTensor *normAddedKeyWeight, const aclTensor *normAddedKeyMean, const aclTensor *normAddedKeyRstd, const aclTensor *ropeSin, const aclTensor *ropeCos, int64_t normType, int64_t normAddedType, int64_t ropeType, int64_t concatOrder, aclTensor *gradQuery, aclTensor *gradKey, aclTensor *gradValue, aclTensor *gradEncoderQuery, aclTensor *gradEncoderKey, aclTensor *gradEncoderValue, aclTensor *gradNormQueryWeight, aclTensor *gradNormQueryBias, aclTensor *gradNormKeyWeight, aclTensor *gradNormKeyBias, aclTensor *gradNormAddedQueryWeight, aclTensor *gradNormAddedQueryBias, aclTensor *gradNormAddedKeyWeight, aclTensor *gradNormAddedKeyBias, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNormRopeConcatBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_QKV_RMS_NORM_ROPE_CACHE
#define ACLNN_PY_POSEMBEDDING_ACLNN_QKV_RMS_NORM_ROPE_CACHE
/* Split of a joint projection, normalization, rotation and quantized store of key and value. */
aclnnStatus aclnnQkvRmsNormRopeCacheGetWorkspaceSize(const aclTensor *qkv, const aclTensor *qGamma, const aclTensor *kGamma, const aclTensor *cos, const aclTensor *sin, const aclTensor *index, aclTensor *qOutRef, aclTensor *kCacheRef, aclTensor *vCacheRef, const aclTensor *kScaleOptional, const aclTensor *vScaleOptional, const aclTensor *kOffsetOptional, const aclTensor *vOffsetOptional, const aclIntArray *qkvSize, const aclIntArray *headNums, double epsilon, const char *cacheModeOptional, aclTensor *qOutBeforeQuantOptional, aclTensor *kOutBeforeQuantOptional, aclTensor *vOutBeforeQuantOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQkvRmsNormRopeCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_QKV_RMS_NORM_ROPE_CACHE_WITH_K_SCALE
#define ACLNN_PY_POSEMBEDDING_ACLNN_QKV_RMS_NORM_ROPE_CACHE_WITH_K_SCALE
/* Split of a joint projection, normalization, rotation and store of key, value and key scales. */
aclnnStatus aclnnQkvRmsNormRopeCacheWithKScaleGetWorkspaceSize(const aclTensor *qkv, const aclTensor *qGamma, const aclTensor *kGamma, const aclTensor *cosSin, const aclTensor *slotMapping, aclTensor *kCacheRef, aclTensor *vCacheRef, aclTensor *kScaleCacheRef, const aclTensor *queryStartLoc, const aclTensor *seqLens, const aclTensor *rotationOptional, const aclTensor *vScaleOptional, const aclIntArray *headNums, const char *layoutQkv, const char *layoutQOut, float epsilon, aclTensor *qOut, aclTensor *qScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQkvRmsNormRopeCacheWithKScale(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_ROPE_WITH_SIN_COS_CACHE
#define ACLNN_PY_POSEMBEDDING_ACLNN_ROPE_WITH_SIN_COS_CACHE
/* Rotary embedding with a table of sines and cosines by position. */
aclnnStatus aclnnRopeWithSinCosCacheGetWorkspaceSize(const aclTensor *positions, const aclTensor *queryIn, const aclTensor *keyIn, const aclTensor *cosSinCache, const aclIntArray *mropeSectionOptional, int64_t headSize, bool isNeoxStyle, aclTensor *queryOut, aclTensor *keyOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRopeWithSinCosCache(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_ROPE_WITH_SIN_COS_CACHE_V2
#define ACLNN_PY_POSEMBEDDING_ACLNN_ROPE_WITH_SIN_COS_CACHE_V2
/* Rotary embedding with a table of sines and cosines by position; version 2 adds cacheMode. */
aclnnStatus aclnnRopeWithSinCosCacheV2GetWorkspaceSize(const aclTensor *positions, const aclTensor *queryIn, const aclTensor *keyIn, const aclTensor *cosSinCache, const aclIntArray *mropeSectionOptional, int64_t headSize, bool isNeoxStyle, int64_t cacheMode, aclTensor *queryOut, aclTensor *keyOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRopeWithSinCosCacheV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_ROTARY_POSITION_EMBEDDING
#define ACLNN_PY_POSEMBEDDING_ACLNN_ROTARY_POSITION_EMBEDDING
/* Rotary position embedding. */
aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(const aclTensor *x, const aclTensor *cos, const aclTensor *sin, int64_t mode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRotaryPositionEmbedding(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_ROTARY_POSITION_EMBEDDING_GRAD
#define ACLNN_PY_POSEMBEDDING_ACLNN_ROTARY_POSITION_EMBEDDING_GRAD
/* Gradient of the rotary position embedding. [document] */
aclnnStatus aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(const aclTensor *dy, const aclTensor *cos, const aclTensor *sin, const aclTensor *xOptional, int64_t mode, aclTensor *dxOut, aclTensor *dcosOut, aclTensor *dsinOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRotaryPositionEmbeddingGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POSEMBEDDING_ACLNN_ROTARY_POSITION_EMBEDDING_V2
#define ACLNN_PY_POSEMBEDDING_ACLNN_ROTARY_POSITION_EMBEDDING_V2
/* Rotary position embedding; version 2 adds rotate. */
aclnnStatus aclnnRotaryPositionEmbeddingV2GetWorkspaceSize(const aclTensor *x, const aclTensor *cos, const aclTensor *sin, int64_t mode, const aclTensor *rotate, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRotaryPositionEmbeddingV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_POSEMBEDDING_H */
