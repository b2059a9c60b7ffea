/* SPDX-License-Identifier: Apache-2.0 */
/* Normalizations and their gradients. */
#ifndef ACLNN_PY_ACLNNOP_NORM_H
#define ACLNN_PY_ACLNNOP_NORM_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM
#define ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM
/* Layer normalization whose scale and shift come from a condition, one pair per sample. */
aclnnStatus aclnnAdaLayerNormGetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *shift, const aclTensor *weightOptional, const aclTensor *biasOptional, double epsilon, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaLayerNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM_BACKWARD
#define ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM_BACKWARD
/* Gradient of layer normalization whose scale and shift come from a condition, one pair per sample. */
aclnnStatus aclnnAdaLayerNormBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *rstd, const aclTensor *mean, const aclTensor *scale, const aclTensor *shift, const aclTensor *weightOptional, const aclTensor *biasOptional, aclTensor *gradInputOutOptional, aclTensor *gradScaleOutOptional, aclTensor *gradShiftOutOptional, aclTensor *gradWeightOutOptional, aclTensor *gradBiasOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaLayerNormBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM_QUANT
#define ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM_QUANT
/* Adaptive layer normalization followed by dynamic quantization to int8. */
aclnnStatus aclnnAdaLayerNormQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *shift, const aclTensor *weightOptional, const aclTensor *biasOptional, const aclTensor *smoothScalesOptional, double epsilon, const char *quantMode, aclTensor *out, aclTensor *quantScale, aclTensor *quantOffsetOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaLayerNormQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM_V2
#define ACLNN_PY_NORM_ACLNN_ADA_LAYER_NORM_V2
/* Layer normalization whose scale and shift come from a condition, one pair per sample; version 2 adds meanOut, rstdOut. */
aclnnStatus aclnnAdaLayerNormV2GetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *shift, const aclTensor *weightOptional, const aclTensor *biasOptional, double epsilon, aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaLayerNormV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM
#define ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM
/* Sum of two tensors and an optional bias followed by layer normalization. [document] */
aclnnStatus aclnnAddLayerNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *beta, const aclTensor *biasOptional, double epsilon, bool additionalOutput, aclTensor *yOut, aclTensor *meanOut, aclTensor *rstdOut, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddLayerNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM_GRAD
#define ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM_GRAD
/* Gradient of the sum of two tensors and an optional bias followed by layer normalization. [document] */
aclnnStatus aclnnAddLayerNormGradGetWorkspaceSize(const aclTensor *dy, const aclTensor *x1, const aclTensor *x2, const aclTensor *rstd, const aclTensor *mean, const aclTensor *gamma, const aclTensor *dsumOptional, aclTensor *dxOut, aclTensor *dgammaOut, aclTensor *dbetaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddLayerNormGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM_QUANT
#define ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM_QUANT
/* Sum of two tensors, layer normalization and quantization of the result in one pass. */
aclnnStatus aclnnAddLayerNormQuantGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *beta, const aclTensor *biasOptional, const aclTensor *scales1Optional, const aclTensor *scales2Optional, const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional, const char *quantMode, double epsilon, bool additionalOutput, bool divMode, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *outScales1Out, aclTensor *outScales2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddLayerNormQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM_QUANT_V2
#define ACLNN_PY_NORM_ACLNN_ADD_LAYER_NORM_QUANT_V2
/* Sum of two tensors, layer normalization and quantization of the result in one pass; version 2 adds layernormRes. */
aclnnStatus aclnnAddLayerNormQuantV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *beta, const aclTensor *biasOptional, const aclTensor *scales1Optional, const aclTensor *scales2Optional, const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional, const char *quantMode, double epsilon, bool additionalOutput, bool divMode, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *layernormRes, aclTensor *outScales1Out, aclTensor *outScales2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddLayerNormQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM
#define ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM
/* Sum of two tensors followed by root mean square normalization. */
aclnnStatus aclnnAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, double epsilon, aclTensor *yOut, aclTensor *rstdOutOptional, aclTensor *xOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_CAST
#define ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_CAST
/* Sum of two tensors and root mean square normalization, with a copy of the result in float. [document] */
aclnnStatus aclnnAddRmsNormCastGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, double epsilon, aclTensor *y1Out, aclTensor *y2Out, aclTensor *rstdOut, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRmsNormCast(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_DYNAMIC_MX_QUANT
#define ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_DYNAMIC_MX_QUANT
/* Sum of two tensors, root mean square normalization and block quantization with shared exponents. */
aclnnStatus aclnnAddRmsNormDynamicMxQuantGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *betaOptional, double epsilon, int64_t scaleAlg, const char *roundMode, int64_t dstType, bool outputRstd, aclTensor *yOut, aclTensor *xOut, aclTensor *mxscaleOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRmsNormDynamicMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_DYNAMIC_QUANT
#define ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_DYNAMIC_QUANT
/* Sum of two tensors, root mean square normalization and dynamic quantization per token. */
aclnnStatus aclnnAddRmsNormDynamicQuantGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *smoothScale1Optional, const aclTensor *smoothScale2Optional, double epsilon, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *scale1Out, aclTensor *scale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRmsNormDynamicQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_DYNAMIC_QUANT_V2
#define ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_DYNAMIC_QUANT_V2
/* Sum of two tensors, root mean square normalization and dynamic quantization per token; version 2 adds beta, outputMask. Direction settled by meaning: outputMask read. */
aclnnStatus aclnnAddRmsNormDynamicQuantV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *smoothScale1Optional, const aclTensor *smoothScale2Optional, const aclTensor *betaOptional, double epsilon, const aclBoolArray *outputMask, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *scale1Out, aclTensor *scale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRmsNormDynamicQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_QUANT
#define ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_QUANT
/* Sum of two tensors, root mean square normalization and quantization with given scales. */
aclnnStatus aclnnAddRmsNormQuantGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *scales1, const aclTensor *scales2Optional, const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional, int64_t axis, double epsilon, bool divMode, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRmsNormQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_QUANT_V2
#define ACLNN_PY_NORM_ACLNN_ADD_RMS_NORM_QUANT_V2
/* Sum of two tensors, root mean square normalization and quantization with given scales; version 2 adds beta, rmsNormOut. */
aclnnStatus aclnnAddRmsNormQuantV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, const aclTensor *scales1, const aclTensor *scales2Optional, const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional, const aclTensor *betaOptional, int64_t axis, double epsilon, bool divMode, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *rmsNormOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRmsNormQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_BATCH_NORM
#define ACLNN_PY_NORM_ACLNN_BATCH_NORM
/* Batch normalization. */
aclnnStatus aclnnBatchNormGetWorkspaceSize(const aclTensor *input, const aclTensor *weightOptional, const aclTensor *biasOptional, aclTensor *runningMeanOptionalRef, aclTensor *runningVarOptionalRef, bool training, double momentum, double eps, aclTensor *output, aclTensor *saveMean, aclTensor *saveInvstd, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_BATCH_NORM_BACKWARD
#define ACLNN_PY_NORM_ACLNN_BATCH_NORM_BACKWARD
/* Gradient of batch normalization. */
aclnnStatus aclnnBatchNormBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input, const aclTensor *weight, const aclTensor *runningMean, const aclTensor *runningVar, const aclTensor *saveMean, const aclTensor *saveInvstd, bool training, double eps, const aclBoolArray *outputMask, aclTensor *gradInputOptional, aclTensor *gradWeightOptional, aclTensor *gradBiasOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchNormBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_BATCH_NORM_BACKWARD_REDUCE
#define ACLNN_PY_NORM_ACLNN_BATCH_NORM_BACKWARD_REDUCE
/* Sums over the batch that the gradient of batch normalization needs. */
aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean, const aclTensor *invstd, const aclTensor *weight, bool inputG, bool weightG, bool biasG, aclTensor *sumDyOptional, aclTensor *sumDyXmuOptional, aclTensor *gradWeightOptional, aclTensor *gradBiasOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchNormReduceBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_BATCH_NORM_ELEMT
#define ACLNN_PY_NORM_ACLNN_BATCH_NORM_ELEMT
/* Batch normalization with mean and inverse deviation given. */
aclnnStatus aclnnBatchNormElemtGetWorkspaceSize(const aclTensor *input, const aclTensor *weight, const aclTensor *bias, const aclTensor *mean, const aclTensor *invstd, double eps, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchNormElemt(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_BATCH_NORM_ELEMT_BACKWARD
#define ACLNN_PY_NORM_ACLNN_BATCH_NORM_ELEMT_BACKWARD
/* Gradient of batch normalization with respect to its input from sums given. */
aclnnStatus aclnnBatchNormElemtBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean, const aclTensor *invstd, const aclTensor *weightOptional, const aclTensor *sumDy, const aclTensor *sumDyXmu, const aclTensor *counter, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchNormElemtBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_BATCH_NORM_GATHER_STATS_WITH_COUNTS
#define ACLNN_PY_NORM_ACLNN_BATCH_NORM_GATHER_STATS_WITH_COUNTS
/* Mean and inverse deviation of a batch from those of its parts and their counts. */
aclnnStatus aclnnBatchNormGatherStatsWithCountsGetWorkspaceSize(const aclTensor *input, const aclTensor *mean, const aclTensor *invstd, aclTensor *runningMeanOptionalRef, aclTensor *runningVarOptionalRef, double momentum, double eps, const aclTensor *counts, aclTensor *meanAll, aclTensor *invstdAll, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchNormGatherStatsWithCounts(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_BATCH_NORM_REDUCE
#define ACLNN_PY_NORM_ACLNN_BATCH_NORM_REDUCE
/* Sums over the batch that batch normalization needs. */
aclnnStatus aclnnBatchNormReduceGetWorkspaceSize(const aclTensor *x, aclTensor *sum, aclTensor *squareSum, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchNormReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_DEEP_NORM
#define ACLNN_PY_NORM_ACLNN_DEEP_NORM
/* Residual sum with a scaled shortcut followed by layer normalization. [document] */
aclnnStatus aclnnDeepNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gx, const aclTensor *beta, const aclTensor *gamma, double alpha, double epsilon, aclTensor *meanOut, aclTensor *rstdOut, aclTensor *yOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDeepNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_DEEP_NORM_GRAD
#define ACLNN_PY_NORM_ACLNN_DEEP_NORM_GRAD
/* Gradient of residual sum with a scaled shortcut followed by layer normalization. [document] */
aclnnStatus aclnnDeepNormGradGetWorkspaceSize(const aclTensor *dy, const aclTensor *x, const aclTensor *gx, const aclTensor *gamma, const aclTensor *mean, const aclTensor *rstd, double alpha, aclTensor *dxOut, aclTensor *dgxOut, aclTensor *dbetaOut, aclTensor *dgammaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDeepNormGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_EMBEDDING_RENORM
#define ACLNN_PY_NORM_ACLNN_EMBEDDING_RENORM
/* Rows chosen by index scaled down to a maximal norm. */
aclnnStatus aclnnEmbeddingRenormGetWorkspaceSize(aclTensor *selfRef, const aclTensor *indices, double maxNorm, double normType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEmbeddingRenorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_FAST_BATCH_NORM_BACKWARD
#define ACLNN_PY_NORM_ACLNN_FAST_BATCH_NORM_BACKWARD
/* Gradient of batch normalization, faster form. */
aclnnStatus aclnnFastBatchNormBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input, const aclTensor *weight, const aclTensor *runningMean, const aclTensor *runningVar, const aclTensor *saveMean, const aclTensor *saveInvstd, bool training, double eps, const aclBoolArray *outputMask, int version, aclTensor *gradInputOptional, aclTensor *gradWeightOptional, aclTensor *gradBiasOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFastBatchNormBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_GEMMA_RMS_NORM
#define ACLNN_PY_NORM_ACLNN_GEMMA_RMS_NORM
/* Root mean square normalization with one plus gamma as scale. [document] */
aclnnStatus aclnnGemmaRmsNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, double epsilon, aclTensor *yOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGemmaRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_GROUP_NORM
#define ACLNN_PY_NORM_ACLNN_GROUP_NORM
/* Normalization over groups of channels. */
aclnnStatus aclnnGroupNormGetWorkspaceSize(const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_GROUP_NORM_BACKWARD
#define ACLNN_PY_NORM_ACLNN_GROUP_NORM_BACKWARD
/* Gradient of normalization over groups of channels. */
aclnnStatus aclnnGroupNormBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean, const aclTensor *rstd, const aclTensor *gamma, int64_t N, int64_t C, int64_t HxW, int64_t group, const aclBoolArray *outputMask, aclTensor *gradInput, aclTensor *gradGammaOut, aclTensor *gradBetaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNormBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_GROUP_NORM_SILU
#define ACLNN_PY_NORM_ACLNN_GROUP_NORM_SILU
/* Normalization over groups of channels followed by the sigmoid-weighted activation. */
aclnnStatus aclnnGroupNormSiluGetWorkspaceSize(const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, int64_t group, double eps, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNormSilu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Normalization over groups of channels followed by the sigmoid-weighted activation; version 2 adds activateSilu. */
aclnnStatus aclnnGroupNormSiluV2GetWorkspaceSize(const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, int64_t group, double eps, bool activateSilu, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNormSiluV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_GROUP_NORM_SILU_QUANT
#define ACLNN_PY_NORM_ACLNN_GROUP_NORM_SILU_QUANT
/* Normalization over groups of channels, sigmoid-weighted activation and quantization. Direction settled by meaning: gamma, beta read. */
aclnnStatus aclnnGroupNormSiluQuantGetWorkspaceSize(const aclTensor *self, const aclTensor *gamma, const aclTensor *beta, const aclTensor *quantScale, int64_t group, double eps, bool activateSilu, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNormSiluQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_GROUP_NORM_SWISH
#define ACLNN_PY_NORM_ACLNN_GROUP_NORM_SWISH
/* Normalization over groups of channels followed by the swish activation. [document] */
aclnnStatus aclnnGroupNormSwishGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, const aclTensor *beta, int64_t numGroups, const char *dataFormatOptional, double eps, bool activateSwish, double swishScale, aclTensor *yOut, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNormSwish(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_GROUP_NORM_SWISH_GRAD
#define ACLNN_PY_NORM_ACLNN_GROUP_NORM_SWISH_GRAD
/* Gradient of normalization over groups of channels followed by the swish activation. [document] */
aclnnStatus aclnnGroupNormSwishGradGetWorkspaceSize(const aclTensor *dy, const aclTensor *mean, const aclTensor *rstd, const aclTensor *x, const aclTensor *gamma, const aclTensor *beta, int64_t numGroups, const char *dataFormatOptional, double swishScale, bool dgammaIsRequire, bool dbetaIsRequire, aclTensor *dxOut, aclTensor *dgammaOut, aclTensor *dbetaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNormSwishGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_INPLACE_ADD_RMS_NORM
#define ACLNN_PY_NORM_ACLNN_INPLACE_ADD_RMS_NORM
/* Sum of two tensors followed by root mean square normalization, in place. [document] */
aclnnStatus aclnnInplaceAddRmsNormGetWorkspaceSize(aclTensor *x1Ref, aclTensor *x2Ref, const aclTensor *gamma, double epsilon, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_INSTANCE_NORM
#define ACLNN_PY_NORM_ACLNN_INSTANCE_NORM
/* Normalization of each channel of each sample. */
aclnnStatus aclnnInstanceNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, const aclTensor *beta, const char *dataFormat, double eps, aclTensor *y, aclTensor *mean, aclTensor *variance, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInstanceNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_LAYER_NORM
#define ACLNN_PY_NORM_ACLNN_LAYER_NORM
/* Layer normalization, faster form. */
aclnnStatus aclnnFastLayerNormGetWorkspaceSize(const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional, const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFastLayerNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Layer normalization. */
aclnnStatus aclnnLayerNormGetWorkspaceSize(const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional, const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLayerNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Layer normalization with a choice between precision and speed. */
aclnnStatus aclnnLayerNormWithImplModeGetWorkspaceSize(const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *weightOptional, const aclTensor *biasOptional, double eps, aclTensor *out, aclTensor *meanOutOptional, aclTensor *rstdOutOptional, int32_t implMode, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLayerNormWithImplMode(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_LAYER_NORM_BACKWARD
#define ACLNN_PY_NORM_ACLNN_LAYER_NORM_BACKWARD
/* Gradient of layer normalization. */
aclnnStatus aclnnLayerNormBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *mean, const aclTensor *rstd, const aclTensor *weightOptional, const aclTensor *biasOptional, const aclBoolArray *outputMask, aclTensor *gradInputOutOptional, aclTensor *gradWeightOutOptional, aclTensor *gradBiasOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLayerNormBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_LAYER_NORM_QUANT
#define ACLNN_PY_NORM_ACLNN_LAYER_NORM_QUANT
/* Layer normalization followed by quantization. Direction settled by meaning: gammma read. */
aclnnStatus aclnnLayerNormQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *gammma, const aclTensor *beta, const aclTensor *scale, const aclTensor *zeroPointsOptional, int quantMode, double epsilon, aclTensor *res, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLayerNormQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_LINALG_VECTOR_NORM
#define ACLNN_PY_NORM_ACLNN_LINALG_VECTOR_NORM
/* Vector norm along the dimensions. */
aclnnStatus aclnnLinalgVectorNormGetWorkspaceSize(const aclTensor *self, const aclScalar *ord, const aclIntArray *dims, bool keepDims, aclDataType dtype, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLinalgVectorNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_MASKED_SOFTMAX_WITH_REL_POS_BIAS
#define ACLNN_PY_NORM_ACLNN_MASKED_SOFTMAX_WITH_REL_POS_BIAS
/* Softmax of scores with mask and relative position bias. [document] */
aclnnStatus aclnnMaskedSoftmaxWithRelPosBiasGetWorkspaceSize(const aclTensor *x, const aclTensor *attenMaskOptional, const aclTensor *relativePosBias, double scaleValue, int64_t innerPrecisionMode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaskedSoftmaxWithRelPosBias(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_NORM
#define ACLNN_PY_NORM_ACLNN_NORM
/* Norm along the dimensions. */
aclnnStatus aclnnNormGetWorkspaceSize(const aclTensor *self, const aclScalar *pScalar, const aclIntArray *dim, bool keepdim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_QUANTIZED_BATCH_NORM
#define ACLNN_PY_NORM_ACLNN_QUANTIZED_BATCH_NORM
/* Batch normalization of quantized values. */
aclnnStatus aclnnQuantizedBatchNormGetWorkspaceSize(const aclTensor *input, const aclTensor *mean, const aclTensor *var, const aclScalar *inputScale, const aclScalar *inputZeroPoint, const aclScalar *outputScale, const aclScalar *outputZeroPoint, const aclTensor *weightOptional, const aclTensor *biasOptional, float epsilon, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantizedBatchNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RENORM
#define ACLNN_PY_NORM_ACLNN_RENORM
/* Slices scaled down to a maximal norm, in place. */
aclnnStatus aclnnInplaceRenormGetWorkspaceSize(aclTensor *selfRef, const aclScalar *p, int64_t dim, const aclScalar *maxNorm, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceRenorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Slices scaled down to a maximal norm. */
aclnnStatus aclnnRenormGetWorkspaceSize(const aclTensor *self, const aclScalar *p, int64_t dim, const aclScalar *maxNorm, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRenorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RMS_NORM
#define ACLNN_PY_NORM_ACLNN_RMS_NORM
/* Root mean square normalization. [document] */
aclnnStatus aclnnRmsNormGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, double epsilon, aclTensor *yOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RMS_NORM_DYNAMIC_MX_QUANT
#define ACLNN_PY_NORM_ACLNN_RMS_NORM_DYNAMIC_MX_QUANT
/* Root mean square normalization and block quantization with shared exponents. */
aclnnStatus aclnnRmsNormDynamicMxQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, const aclTensor *betaOptional, double epsilon, int64_t scaleAlg, const char *roundMode, int64_t dstType, bool outputRstd, aclTensor *yOut, aclTensor *mxscaleOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRmsNormDynamicMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RMS_NORM_DYNAMIC_QUANT
#define ACLNN_PY_NORM_ACLNN_RMS_NORM_DYNAMIC_QUANT
/* Root mean square normalization and dynamic quantization per token. [document] */
aclnnStatus aclnnRmsNormDynamicQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, const aclTensor *smoothScalesOptional, const aclTensor *betaOptional, double epsilon, int64_t dstType, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRmsNormDynamicQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RMS_NORM_GRAD
#define ACLNN_PY_NORM_ACLNN_RMS_NORM_GRAD
/* Gradient of root mean square normalization. [document] */
aclnnStatus aclnnRmsNormGradGetWorkspaceSize(const aclTensor *dy, const aclTensor *x, const aclTensor *rstd, const aclTensor *gamma, aclTensor *dxOut, aclTensor *dgammaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRmsNormGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RMS_NORM_GRAD_QUANT
#define ACLNN_PY_NORM_ACLNN_RMS_NORM_GRAD_QUANT
/* Gradient of root mean square normalization followed by quantization. */
aclnnStatus aclnnRmsNormGradQuantGetWorkspaceSize(const aclTensor *dy, const aclTensor *x, const aclTensor *rstd, const aclTensor *gamma, const aclTensor *scalesX, const aclTensor *offsetXOptional, const char *quantMode, bool divMode, aclTensor *dxOut, aclTensor *dgammaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRmsNormGradQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RMS_NORM_QUANT
#define ACLNN_PY_NORM_ACLNN_RMS_NORM_QUANT
/* Root mean square normalization followed by quantization. */
aclnnStatus aclnnRmsNormQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, const aclTensor *beta, const aclTensor *scale, const aclTensor *offset, double epsilon, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRmsNormQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_RMS_NORM_QUANT_V3
#define ACLNN_PY_NORM_ACLNN_RMS_NORM_QUANT_V3
/* Root mean square normalization followed by quantization; version 3 adds divMode, outputRstd, rstd. Direction settled by meaning: offset, beta read. */
aclnnStatus aclnnRmsNormQuantV3GetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, const aclTensor *scale, const aclTensor *offset, const aclTensor *beta, double epsilon, bool divMode, bool outputRstd, aclTensor *y, aclTensor *rstd, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRmsNormQuantV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_NORM_ACLNN_SYNC_BATCH_NORM_GATHER_STATS
#define ACLNN_PY_NORM_ACLNN_SYNC_BATCH_NORM_GATHER_STATS
/* Mean and inverse deviation of a batch from the sums of all ranks. */
aclnnStatus aclnnSyncBatchNormGatherStatsGetWorkspaceSize(const aclTensor *totalSum, const aclTensor *totalSquareSum, const aclTensor *sampleCount, aclTensor *meanRef, aclTensor *varianceRef, float momentum, float eps, aclTensor *batchMean, aclTensor *batchInvstd, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSyncBatchNormGatherStats(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_NORM_H */
