/* SPDX-License-Identifier: Apache-2.0 */
/* Contributed operators; their packages are not part of the operator library. */
#ifndef ACLNN_PY_ACLNNOP_EXPERIMENTAL_H
#define ACLNN_PY_ACLNNOP_EXPERIMENTAL_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ACOS_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ACOS_GRAD
/* Gradient of the arc cosine of each element. Direction settled by meaning: x_grad written; y_grad, x read. */
aclnnStatus aclnnAcosGradGetWorkspaceSize(const aclTensor *y_grad, const aclTensor *x, aclTensor *x_grad, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAcosGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ACOS_GRAD_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ACOS_GRAD_V2
/* Gradient of the arc cosine of each element; version 2 adds y, dy, z, drops y_grad, x, x_grad. Direction settled by meaning: z written; y, dy read. */
aclnnStatus aclnnAcosGradV2GetWorkspaceSize(const aclTensor *y, const aclTensor *dy, aclTensor *z, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAcosGradV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ACOSH_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ACOSH_GRAD
/* Gradient of the inverse hyperbolic cosine of each element. [document] */
aclnnStatus aclnnAcoshGradGetWorkspaceSize(const aclTensor *y, const aclTensor *dy, aclTensor *dx, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAcoshGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ADD_MAT_MAT_ELEMENTS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ADD_MAT_MAT_ELEMENTS
/* Elementwise product of two matrices scaled by alpha plus a third scaled by beta. Direction settled by meaning: cOut written; a, b, c, alpha, beta read. */
aclnnStatus aclnnAddMatMatElementsGetWorkspaceSize(const aclTensor *a, const aclTensor *b, const aclTensor *c, const aclScalar *alpha, const aclScalar *beta, aclTensor *cOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddMatMatElements(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ADD_MAT_MAT_ELEMENTS_PLUS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ADD_MAT_MAT_ELEMENTS_PLUS
/* Elementwise product of two matrices scaled by alpha plus a third scaled by beta, the factors being tensors. Direction settled by meaning: cOut written; c, a, b, beta, alpha read. */
aclnnStatus aclnnAddMatMatElementsPlusGetWorkspaceSize(const aclTensor *c, const aclTensor *a, const aclTensor *b, const aclTensor *beta, const aclTensor *alpha, aclTensor *cOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddMatMatElementsPlus(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ADDR_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ADDR_V2
/* Sum of a matrix scaled by beta and the outer product of two vectors scaled by alpha; version 2 with the parameters of aclnnAddr. */
aclnnStatus aclnnAddrV2GetWorkspaceSize(const aclTensor *self, const aclTensor *vec1, const aclTensor *vec2, const aclScalar *betaOptional, const aclScalar *alphaOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddrV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Sum of a matrix scaled by beta and the outer product of two vectors scaled by alpha, in place; version 2 with the parameters of aclnnInplaceAddr. */
aclnnStatus aclnnInplaceAddrV2GetWorkspaceSize(aclTensor *selfRef, const aclTensor *vec1, const aclTensor *vec2, const aclScalar *betaOptional, const aclScalar *alphaOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceAddrV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_ADADELTA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_ADADELTA
/* Adadelta step. Direction settled by meaning: varOut, accumOut, accumUpdateOut written; var, accum, accumUpdate, lr, rho, epsilon, grad read. */
aclnnStatus aclnnApplyAdadeltaGetWorkspaceSize(const aclTensor *var, const aclTensor *accum, const aclTensor *accumUpdate, const aclScalar *lr, const aclScalar *rho, const aclScalar *epsilon, const aclTensor *grad, aclTensor *varOut, aclTensor *accumOut, aclTensor *accumUpdateOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyAdadelta(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_ADAM_D
#define ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_ADAM_D
/* Adam step with decoupled parameters. */
aclnnStatus aclnnApplyAdamDGetWorkspaceSize(const aclTensor *var, const aclTensor *m, const aclTensor *v, const aclTensor *beta1Power, const aclTensor *beta2Power, const aclTensor *lr, const aclTensor *beta1, const aclTensor *beta2, const aclTensor *epsilon, const aclTensor *grad, bool useLocking, bool useNesterov, aclTensor *varOut, aclTensor *mOut, aclTensor *vOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyAdamD(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_ADAMAX
#define ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_ADAMAX
/* Adamax step. Direction settled by meaning: varOut, mOut, vOut written; var, m, v, beta1Power, lr, beta1, beta2, epsilon, grad read. */
aclnnStatus aclnnApplyAdamaxGetWorkspaceSize(const aclTensor *var, const aclTensor *m, const aclTensor *v, const aclScalar *beta1Power, const aclScalar *lr, const aclScalar *beta1, const aclScalar *beta2, const aclScalar *epsilon, const aclTensor *grad, aclTensor *varOut, aclTensor *mOut, aclTensor *vOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyAdamax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_FTRL
#define ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_FTRL
/* Follow-the-regularized-leader step. */
aclnnStatus aclnnApplyFtrlGetWorkspaceSize(aclTensor *varRef, aclTensor *accumRef, aclTensor *linearRef, const aclTensor *grad, const aclTensor *lr, const aclTensor *l1, const aclTensor *l2, const aclTensor *lrPower, bool useLocking, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyFtrl(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_GRADIENT_DESCENT
#define ACLNN_PY_EXPERIMENTAL_ACLNN_APPLY_GRADIENT_DESCENT
/* Gradient descent step. */
aclnnStatus aclnnApplyGradientDescentGetWorkspaceSize(aclTensor *varRef, const aclTensor *alpha, const aclTensor *delta, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyGradientDescent(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_APPROXIMATE_EQUAL
#define ACLNN_PY_EXPERIMENTAL_ACLNN_APPROXIMATE_EQUAL
/* Whether two tensors differ by less than a tolerance, element by element. Direction settled by meaning: y written; x1, x2 read. */
aclnnStatus aclnnApproximateEqualGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, float tolerance, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApproximateEqual(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_AS_STRIDED
#define ACLNN_PY_EXPERIMENTAL_ACLNN_AS_STRIDED
/* Copy of a view given by sizes, strides and an offset. [document] */
aclnnStatus aclnnAsStridedGetWorkspaceSize(const aclTensor *x, const aclIntArray *size, const aclIntArray *stride, const aclIntArray *storageOffset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAsStrided(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ASIN_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ASIN_GRAD
/* Gradient of the arc sine of each element. [document] */
aclnnStatus aclnnAsinGradGetWorkspaceSize(const aclTensor *y, const aclTensor *dy, aclTensor *z, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAsinGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ASIN_WITH_AGENT
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ASIN_WITH_AGENT
/* Arc sine of each element. Direction settled by meaning: y written; x read. */
aclnnStatus aclnnAsinWithAgentGetWorkspaceSize(const aclTensor *x, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAsinWithAgent(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ASINH_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ASINH_GRAD
/* Gradient of the inverse hyperbolic sine of each element. Direction settled by meaning: z written; y, dy read. */
aclnnStatus aclnnAsinhGradGetWorkspaceSize(const aclTensor *y, const aclTensor *dy, aclTensor *z, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAsinhGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ASINH_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ASINH_V2
/* Inverse hyperbolic sine of each element; version 2 adds x, drops input. Direction settled by meaning: out written; x read. */
aclnnStatus aclnnAsinhV2GetWorkspaceSize(const aclTensor *x, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAsinhV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ASINH_WITH_AGENT
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ASINH_WITH_AGENT
/* Inverse hyperbolic sine of each element. Direction settled by meaning: out written; x read. */
aclnnStatus aclnnAsinhWithAgentGetWorkspaceSize(const aclTensor *x, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAsinhWithAgent(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ASSIGN_SUB
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ASSIGN_SUB
/* Difference stored into the minuend. [document] */
aclnnStatus aclnnAssignSubGetWorkspaceSize(const aclTensor *var, const aclTensor *value, aclTensor *varOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAssignSub(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ATAN_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ATAN_GRAD
/* Gradient of the arc tangent of each element. Direction settled by meaning: dx written; x, dy read. */
aclnnStatus aclnnAtanGradGetWorkspaceSize(const aclTensor *x, const aclTensor *dy, aclTensor *dx, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAtanGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_AVERAGE_POOLING_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_AVERAGE_POOLING_GRAD
/* Gradient of average pooling. [document] */
aclnnStatus aclnnAveragePoolingGradGetWorkspaceSize(const aclIntArray *origInputShape, const aclTensor *gradOutput, int64_t kernelH, int64_t kernelW, int64_t strideH, int64_t strideW, int64_t padTop, int64_t padBottom, int64_t padLeft, int64_t padRight, bool ceilMode, bool countIncludePad, int64_t divisorOverride, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAveragePoolingGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_AXPY_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_AXPY_V2
/* Sum of one tensor and another scaled by alpha. [document] */
aclnnStatus aclnnAxpyV2GetWorkspaceSize(const aclTensor *self, const aclTensor *other, const aclTensor *alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAxpyV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_BIAS_ADD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_BIAS_ADD
/* Sum of a tensor and a bias per channel. [document] */
aclnnStatus aclnnBiasAddGetWorkspaceSize(const aclTensor *x, const aclTensor *bias, const char *dataFormatOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBiasAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_BLITZ_SPARSE_ATTENTION
#define ACLNN_PY_EXPERIMENTAL_ACLNN_BLITZ_SPARSE_ATTENTION
/* Attention over the key blocks an index list names. Direction settled by meaning: softmaxLse written; blockShape read. */
aclnnStatus aclnnBlitzSparseAttentionGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional, const aclTensor *sabiOptional, const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional, const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional, const aclTensor *quantOffset2Optional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, bool softmaxLseFlag, const aclIntArray *blockShape, aclTensor *attentionOut, aclTensor *softmaxLse, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBlitzSparseAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_CAST_V3
#define ACLNN_PY_EXPERIMENTAL_ACLNN_CAST_V3
/* Conversion of each element to another data type; version 3 adds x, dstType, y, drops self, dtype, out. [document] Direction settled by meaning: y written; x read. */
aclnnStatus aclnnCastV3GetWorkspaceSize(const aclTensor *x, int64_t dstType, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCastV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_DATA_FORMAT_DIM_MAP
#define ACLNN_PY_EXPERIMENTAL_ACLNN_DATA_FORMAT_DIM_MAP
/* Index of each dimension after a change of data format. Direction settled by meaning: y written; x read. */
aclnnStatus aclnnDataFormatDimMapGetWorkspaceSize(const aclTensor *x, const char *srcFormat, const char *dstFormat, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDataFormatDimMap(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_DIAG_PART
#define ACLNN_PY_EXPERIMENTAL_ACLNN_DIAG_PART
/* Diagonal of a tensor. [document] Direction settled by meaning: y written; x read. */
aclnnStatus aclnnDiagPartGetWorkspaceSize(const aclTensor *x, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDiagPart(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_DIV_V3
#define ACLNN_PY_EXPERIMENTAL_ACLNN_DIV_V3
/* Quotient of two tensors; version 3 adds mode. */
aclnnStatus aclnnDivV3GetWorkspaceSize(const aclTensor *self, const aclTensor *other, int64_t mode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDivV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_ELU_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_ELU_V2
/* Exponential linear unit; version 2 with the parameters of aclnnElu. */
aclnnStatus aclnnEluV2GetWorkspaceSize(const aclTensor *self, const aclScalar *alpha, const aclScalar *scale, const aclScalar *inputScale, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEluV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_EMBEDDING_DENSE_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_EMBEDDING_DENSE_GRAD
/* Gradient of rows of a dense table chosen by index. [document] Direction settled by meaning: y written; grad, indices read. */
aclnnStatus aclnnEmbeddingDenseGradGetWorkspaceSize(const aclTensor *grad, const aclTensor *indices, int64_t numWeights, int64_t paddingIdx, bool scaleGradByFreq, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEmbeddingDenseGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_EXPANDV
#define ACLNN_PY_EXPERIMENTAL_ACLNN_EXPANDV
/* Broadcast of a tensor to a larger shape. [document] */
aclnnStatus aclnnExpandvGetWorkspaceSize(const aclTensor *self, const aclIntArray *shape, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnExpandv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FAST_GELU_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FAST_GELU_V2
/* Quick approximation of the Gaussian error linear unit; version 2 adds x, drops self. */
aclnnStatus aclnnFastGeluV2GetWorkspaceSize(const aclTensor *x, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFastGeluV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FLASH_ATTENTION_SCORE_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FLASH_ATTENTION_SCORE_GRAD
/* Gradient of blockwise attention of quantized inputs. Direction settled by meaning: dqOut, dkOut, dvOut written; query, keyIn, value, dy, attenMaskOptional, softmaxMax, softmaxSum, attentionIn, dScaleQ, dScaleK, dScaleV, dScaleDy, dsScale, pScale read. */
aclnnStatus aclnnQuantFlashAttentionScoreGradGetWorkspaceSize(const aclTensor *query, const aclTensor *keyIn, const aclTensor *value, const aclTensor *dy, const aclTensor *attenMaskOptional, const aclTensor *softmaxMax, const aclTensor *softmaxSum, const aclTensor *attentionIn, const aclTensor *dScaleQ, const aclTensor *dScaleK, const aclTensor *dScaleV, const aclTensor *dScaleDy, const aclTensor *dsScale, const aclTensor *pScale, double scaleValue, int64_t preTokens, int64_t nextTokens, int64_t headNum, const char *inputLayout, int64_t sparseMode, int64_t outDtype, aclTensor *dqOut, aclTensor *dkOut, aclTensor *dvOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantFlashAttentionScoreGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FLOOR_DIV
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FLOOR_DIV
/* Quotient rounded down. [document] */
aclnnStatus aclnnFloorDivGetWorkspaceSize(const aclTensor *self_x, const aclTensor *self_y, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFloorDiv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FRESNEL_COS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FRESNEL_COS
/* Fresnel cosine integral of each element. Direction settled by meaning: out written; x read. */
aclnnStatus aclnnFresnelCosGetWorkspaceSize(const aclTensor *x, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFresnelCos(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FRESNEL_SIN
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FRESNEL_SIN
/* Fresnel sine integral of each element. Direction settled by meaning: out written; x read. */
aclnnStatus aclnnFresnelSinGetWorkspaceSize(const aclTensor *x, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFresnelSin(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_ADD_RMS_NORM
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_ADD_RMS_NORM
/* Sum of two tensors followed by root mean square normalization, in place. [document] */
aclnnStatus aclnnFusedAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma, double epsilon, double scale, aclTensor *yOut, aclTensor *rstdOut, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_BIAS_LEAKY_RELU
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_BIAS_LEAKY_RELU
/* Bias, leaky rectifier and scale in one pass. */
aclnnStatus aclnnFusedBiasLeakyReluGetWorkspaceSize(const aclTensor *x, const aclTensor *bias, double negativeSlope, double scale, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedBiasLeakyRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_INFER_ATTENTION_SCORE_INNER
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_INFER_ATTENTION_SCORE_INNER
/* Attention of inference for prompts and single steps, inner form. Direction settled by meaning: attentionOut, softmaxLse written; query, key, value, pseShift, attenMask, actualSeqLengths, actualSeqLengthsKv, deqScale1, quantScale1, deqScale2, quantScale2, quantOffset2, antiquantScale, antiquantOffset, blockTable, queryPaddingSize, kvPaddingSize, keyAntiquantScale, keyAntiquantOffset, valueAntiquantScale, valueAntiquantOffset, keySharedPrefix, valueSharedPrefix, actualSharedPrefixLen, query_rope, key_rope, keyRopeAntiquantScale, dequantScaleQuery, learnableSink, qStartIdxOptional, kvStartIdxOptional read. */
aclnnStatus aclnnInnerFusedInferAttentionScoreGetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShift, const aclTensor *attenMask, const aclIntArray *actualSeqLengths, const aclIntArray *actualSeqLengthsKv, const aclTensor *deqScale1, const aclTensor *quantScale1, const aclTensor *deqScale2, const aclTensor *quantScale2, const aclTensor *quantOffset2, const aclTensor *antiquantScale, const aclTensor *antiquantOffset, const aclTensor *blockTable, const aclTensor *queryPaddingSize, const aclTensor *kvPaddingSize, const aclTensor *keyAntiquantScale, const aclTensor *keyAntiquantOffset, const aclTensor *valueAntiquantScale, const aclTensor *valueAntiquantOffset, const aclTensor *keySharedPrefix, const aclTensor *valueSharedPrefix, const aclIntArray *actualSharedPrefixLen, const aclTensor *query_rope, const aclTensor *key_rope, const aclTensor *keyRopeAntiquantScale, const aclTensor *dequantScaleQuery, const aclTensor *learnableSink, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode, int64_t pseType, int64_t outType, aclTensor *attentionOut, aclTensor *softmaxLse, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInnerFusedInferAttentionScore(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Attention of inference for prompts and single steps, inner form with lengths in tensors. Direction settled by meaning: attentionOut, softmaxLse written; query, key, value, pseShift, attenMask, actualSeqLengths, actualSeqLengthsKv, deqScale1, quantScale1, deqScale2, quantScale2, quantOffset2, antiquantScale, antiquantOffset, blockTable, queryPaddingSize, kvPaddingSize, keyAntiquantScale, keyAntiquantOffset, valueAntiquantScale, valueAntiquantOffset, keySharedPrefix, valueSharedPrefix, actualSharedPrefixLen, query_rope, key_rope, keyRopeAntiquantScale, dequantScaleQuery, learnableSink, qStartIdxOptional, kvStartIdxOptional read. */
aclnnStatus aclnnInnerFusedInferAttentionScoreTensorGetWorkspaceSize(const aclTensor *query, const aclTensorList *key, const aclTensorList *value, const aclTensor *pseShift, const aclTensor *attenMask, const aclTensor *actualSeqLengths, const aclTensor *actualSeqLengthsKv, const aclTensor *deqScale1, const aclTensor *quantScale1, const aclTensor *deqScale2, const aclTensor *quantScale2, const aclTensor *quantOffset2, const aclTensor *antiquantScale, const aclTensor *antiquantOffset, const aclTensor *blockTable, const aclTensor *queryPaddingSize, const aclTensor *kvPaddingSize, const aclTensor *keyAntiquantScale, const aclTensor *keyAntiquantOffset, const aclTensor *valueAntiquantScale, const aclTensor *valueAntiquantOffset, const aclTensor *keySharedPrefix, const aclTensor *valueSharedPrefix, const aclTensor *actualSharedPrefixLen, const aclTensor *query_rope, const aclTensor *key_rope, const aclTensor *keyRopeAntiquantScale, const aclTensor *dequantScaleQuery, const aclTensor *learnableSink, const aclIntArray *qStartIdxOptional, const aclIntArray *kvStartIdxOptional, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, int64_t queryQuantMode, int64_t pseType, int64_t outType, aclTensor *attentionOut, aclTensor *softmaxLse, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInnerFusedInferAttentionScoreTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_MATMUL_GELU
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_MATMUL_GELU
/* Matrix product with bias followed by the Gaussian error linear unit. */
aclnnStatus aclnnFusedMatmulGeluGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *bias, int64_t approximate, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedMatmulGelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_MUL_ADD_N
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_MUL_ADD_N
/* Product of two tensors plus a third. */
aclnnStatus aclnnFusedMulAddNGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x3, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedMulAddN(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_PATCH_MLP
#define ACLNN_PY_EXPERIMENTAL_ACLNN_FUSED_PATCH_MLP
/* Two-layer perceptron over image patches. [document] */
aclnnStatus aclnnFusedPatchMlpGetWorkspaceSize(const aclTensor *x, const aclTensor *weights, const aclTensor *biases, int64_t numLayers, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedPatchMlp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_GAUSSIAN_BLUR
#define ACLNN_PY_EXPERIMENTAL_ACLNN_GAUSSIAN_BLUR
/* Gaussian blur of an image. Direction settled by meaning: dst written; src, ksize read. */
aclnnStatus aclnnGaussianBlurGetWorkspaceSize(const aclTensor *src, const aclIntArray *ksize, double sigmaX, double sigmaY, int64_t borderType, aclTensor *dst, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGaussianBlur(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_GAUSSIAN_NLL_LOSS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_GAUSSIAN_NLL_LOSS
/* Negative log likelihood of a Gaussian. [document] */
aclnnStatus aclnnGaussianNllLossGetWorkspaceSize(const aclTensor *input, const aclTensor *target, const aclTensor *var, bool full, double eps, const char *reductionOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGaussianNllLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_GAUSSIAN_NLL_LOSS_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_GAUSSIAN_NLL_LOSS_GRAD
/* Gradient of the negative log likelihood of a Gaussian. [document] */
aclnnStatus aclnnGaussianNllLossGradGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *input, const aclTensor *target, const aclTensor *var, bool full, float eps, const char *reduction, aclTensor *gradInput, aclTensor *gradVar, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGaussianNllLossGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_GROUP_NORMALIZATION_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_GROUP_NORMALIZATION_GRAD
/* Gradient of normalization over groups of channels. [document] */
aclnnStatus aclnnGroupNormalizationGradGetWorkspaceSize(const aclTensor *x, const aclTensor *dy, const aclTensor *gamma, const aclTensor *mean, const aclTensor *rstd, aclTensor *dx, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupNormalizationGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_HARD_SHRINK
#define ACLNN_PY_EXPERIMENTAL_ACLNN_HARD_SHRINK
/* Zero for elements of small magnitude. [document] */
aclnnStatus aclnnHardShrinkGetWorkspaceSize(const aclTensor *self, const aclScalar *lambd, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardShrink(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_HARDSIGMOID_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_HARDSIGMOID_V2
/* Piecewise linear sigmoid; version 2 with the parameters of aclnnHardsigmoid. */
aclnnStatus aclnnHardsigmoidV2GetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardsigmoidV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Piecewise linear sigmoid, in place; version 2 with the parameters of aclnnInplaceHardsigmoid. */
aclnnStatus aclnnInplaceHardsigmoidV2GetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceHardsigmoidV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_HINGE_EMBEDDING_LOSS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_HINGE_EMBEDDING_LOSS
/* Hinge loss of distances with labels one and minus one. [document] */
aclnnStatus aclnnHingeEmbeddingLossGetWorkspaceSize(const aclTensor *input, const aclTensor *target, double margin, const char *reduction, aclTensor *loss, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHingeEmbeddingLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_HINGE_LOSS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_HINGE_LOSS
/* Hinge loss. [document] */
aclnnStatus aclnnHingeLossGetWorkspaceSize(const aclTensor *predict, const aclTensor *target, aclTensor *loss, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHingeLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_HINGE_LOSS_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_HINGE_LOSS_GRAD
/* Gradient of the hinge loss. [document] */
aclnnStatus aclnnHingeLossGradGetWorkspaceSize(const aclTensor *predict, const aclTensor *target, const aclTensor *gradOutput, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHingeLossGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_HUBER_LOSS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_HUBER_LOSS
/* Huber loss. [document] */
aclnnStatus aclnnHuberLossGetWorkspaceSize(const aclTensor *predictions, const aclTensor *targets, float delta, aclTensor *loss, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHuberLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_KV_QUANT_SPARSE_ATTN_SHAREDKV_METADATA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_KV_QUANT_SPARSE_ATTN_SHAREDKV_METADATA
/* Work partition for sparse attention over quantized keys and values shared between heads. Direction settled by meaning: metadata written; cuSeqLensQOptional, cuSeqLensOriKvOptional, cuSeqLensCmpKvOptional, sequsedQOptional, sequsedKvOptional read. */
aclnnStatus aclnnKvQuantSparseAttnSharedkvMetadataGetWorkspaceSize(const aclTensor *cuSeqLensQOptional, const aclTensor *cuSeqLensOriKvOptional, const aclTensor *cuSeqLensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenKv, int64_t oriTopK, int64_t cmpTopK, int64_t kvQuantMode, int64_t tileSize, int64_t ropeHeadDim, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKvQuantSparseAttnSharedkvMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_LOG_SOFTMAX_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_LOG_SOFTMAX_V2
/* Logarithm of the softmax along one dimension; version 2 with the parameters of aclnnLogSoftmax. [document] Direction settled by meaning: out written; self read. */
aclnnStatus aclnnLogSoftmaxV2GetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogSoftmaxV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_LP_LOSS
#define ACLNN_PY_EXPERIMENTAL_ACLNN_LP_LOSS
/* Mean p-th power error. [document] */
aclnnStatus aclnnLpLossGetWorkspaceSize(const aclTensor *predict, const aclTensor *label, int64_t p, const char *reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLpLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_MATMUL_SWIGLU
#define ACLNN_PY_EXPERIMENTAL_ACLNN_MATMUL_SWIGLU
/* Matrix product followed by the gated unit with the sigmoid-weighted activation. [document] Direction settled by meaning: out written. */
aclnnStatus aclnnMatmulSwigluGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional, bool transposeWeight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulSwiglu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_MAX_POOL3_D
#define ACLNN_PY_EXPERIMENTAL_ACLNN_MAX_POOL3_D
/* Maximum pooling over depth, height and width. Direction settled by meaning: out written; x, ksize, strides, padsOptional, dilationOptional read. */
aclnnStatus aclnnMaxPool3DGetWorkspaceSize(const aclTensor *x, const aclIntArray *ksize, const aclIntArray *strides, const char *padding, const aclIntArray *padsOptional, const aclIntArray *dilationOptional, int64_t ceilMode, const char *dataFormatOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool3D(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_MAX_POOL_V3
#define ACLNN_PY_EXPERIMENTAL_ACLNN_MAX_POOL_V3
/* Maximum pooling; version 3 adds x, ksize, drops self, kernelShape, autoPad, dilations. */
aclnnStatus aclnnMaxPoolV3GetWorkspaceSize(const aclTensor *x, const aclIntArray *ksize, const aclIntArray *strides, const aclIntArray *pads, const aclScalar *ceilMode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPoolV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_MAX_POOLING_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_MAX_POOLING_GRAD
/* Gradient of maximum pooling. [document] */
aclnnStatus aclnnMaxPoolingGradGetWorkspaceSize(const aclTensor *dy, const aclTensor *x, const aclTensor *y, aclTensor *dx, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPoolingGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_MSE_LOSS_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_MSE_LOSS_GRAD
/* Gradient of mean squared error. [document] Direction settled by meaning: self read. */
aclnnStatus aclnnMseLossGradGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, const char *reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMseLossGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_MUL_NO_NAN
#define ACLNN_PY_EXPERIMENTAL_ACLNN_MUL_NO_NAN
/* Product of two tensors that is zero where the second is zero. Direction settled by meaning: z written; x, y read. */
aclnnStatus aclnnMulNoNanGetWorkspaceSize(const aclTensor *x, const aclTensor *y, aclTensor *z, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMulNoNan(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_NDTRI
#define ACLNN_PY_EXPERIMENTAL_ACLNN_NDTRI
/* Inverse of the normal distribution function of each element. Direction settled by meaning: out written; self read. */
aclnnStatus aclnnNdtriGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNdtri(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_POW2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_POW2
/* Power of two tensors. [document] */
aclnnStatus aclnnPow2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnPow2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_BLOCK_SPARSE_ATTN
#define ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_BLOCK_SPARSE_ATTN
/* Attention of quantized inputs restricted to listed blocks. Direction settled by meaning: attentionOut, softmaxLse written; query, key, value, qDescale, kDescale, vDescale, pScale, cuSeqlensQOptional, cuSeqlensKvOptional, sequsedQOptional, sequsedKvOptional, sparseIndices, sparseSeqLen, blockTableOptional, attenMask, metadataOptional read. */
aclnnStatus aclnnQuantBlockSparseAttnGetWorkspaceSize(const aclTensor *query, const aclTensor *key, const aclTensor *value, const aclTensor *qDescale, const aclTensor *kDescale, const aclTensor *vDescale, const aclTensor *pScale, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional, const aclTensor *sparseIndices, const aclTensor *sparseSeqLen, const aclTensor *blockTableOptional, const aclTensor *attenMask, const aclTensor *metadataOptional, int64_t maxSeqlenQ, int64_t maxSeqlenKv, double softmaxScale, int64_t sparseQBlockSize, int64_t sparseKvBlockSize, int64_t paBlockStride, const char *layoutKv, const char *layoutQ, const char *layoutSparseIndices, const char *layoutOut, int64_t quantMode, int64_t maskMode, bool returnSoftmaxLse, aclTensor *attentionOut, aclTensor *softmaxLse, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantBlockSparseAttn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_BLOCK_SPARSE_ATTN_METADATA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_BLOCK_SPARSE_ATTN_METADATA
/* Work partition for attention of quantized inputs restricted to listed blocks. Direction settled by meaning: metadata written; sparseSeqLen, cuSeqlensQOptional, cuSeqlensKvOptional, sequsedQOptional, sequsedKvOptional read. */
aclnnStatus aclnnQuantBlockSparseAttnMetadataGetWorkspaceSize(const aclTensor *sparseSeqLen, const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional, int64_t batchSize, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t sparseBlockSizeQ, int64_t sparseBlockSizeK, int64_t quantMode, int64_t maskMode, int64_t maxSeqlenQ, int64_t maxSeqlenKv, const char *layoutQOptional, const char *layoutKvOptional, const char *layoutSparseIndicesOptional, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantBlockSparseAttnMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_LIGHTNING_INDEXER_METADATA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_LIGHTNING_INDEXER_METADATA
/* Work partition for choice of keys by index scores of quantized inputs. Direction settled by meaning: metadata written; actualSeqLengthsQueryOptional, actualSeqLengthsKeyOptional read. */
aclnnStatus aclnnQuantLightningIndexerMetadataGetWorkspaceSize(const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKeyOptional, int64_t numHeadsQ, int64_t numHeadsK, int64_t headDim, int64_t queryQuantMode, int64_t keyQuantMode, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenK, const char *layoutQueryOptional, const char *layoutKeyOptional, int64_t sparseCount, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, int64_t cmpRatio, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantLightningIndexerMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_SALS_INDEXER_METADATA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_QUANT_SALS_INDEXER_METADATA
/* Work partition for choice of key blocks by low-rank scores of quantized inputs. Direction settled by meaning: metaData written; actualSeqLengthsKvOptional read. */
aclnnStatus aclnnQuantSalsIndexerMetadataGetWorkspaceSize(const aclTensor *actualSeqLengthsKvOptional, int64_t batchSize, int64_t keySeqSize, int64_t keyHeadNum, int64_t headDim, int64_t sparseBlockSize, double sparseRatio, int64_t fixedTailCount, const char *layoutKeyOptional, aclTensor *metaData, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantSalsIndexerMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_REAL_DIV
#define ACLNN_PY_EXPERIMENTAL_ACLNN_REAL_DIV
/* Quotient of two tensors without rounding. [document] */
aclnnStatus aclnnRealDivGetWorkspaceSize(const aclTensor *self, const aclTensor *other, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRealDiv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_REDUCE_MIN_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_REDUCE_MIN_V2
/* Smallest element along the dimensions. [document] */
aclnnStatus aclnnReduceMinV2GetWorkspaceSize(const aclTensor *x, int64_t axes, int64_t keepdims, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReduceMinV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_RELU_GRAD_V3
#define ACLNN_PY_EXPERIMENTAL_ACLNN_RELU_GRAD_V3
/* Gradient of the rectified linear unit. [document] */
aclnnStatus aclnnReluGradV3GetWorkspaceSize(const aclTensor *x, const aclTensor *y, aclTensor *z, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReluGradV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_RELU_GRAD_V4
#define ACLNN_PY_EXPERIMENTAL_ACLNN_RELU_GRAD_V4
/* Gradient of the rectified linear unit; version 4 adds gradOutput, self, threshold, out, drops x, y, z. */
aclnnStatus aclnnReluGradV4GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *threshold, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReluGradV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_RELU_V3
#define ACLNN_PY_EXPERIMENTAL_ACLNN_RELU_V3
/* Rectified linear unit; version 3 adds x, yOut, maskOut, drops self, out. [document] */
aclnnStatus aclnnReluV3GetWorkspaceSize(const aclTensor *x, aclTensor *yOut, aclTensor *maskOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReluV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_RGB2YUV422
#define ACLNN_PY_EXPERIMENTAL_ACLNN_RGB2YUV422
/* Conversion of an image from RGB to YUV 4:2:2. Direction settled by meaning: out written. */
aclnnStatus aclnnRgb2yuv422GetWorkspaceSize(const aclTensor *x, const char *dataFormatOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRgb2yuv422(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SILU_MUL
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SILU_MUL
/* Sigmoid-weighted activation of the first half times the second half. [document] */
aclnnStatus aclnnSiluMulGetWorkspaceSize(const aclTensor *x, const aclTensor *y, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSiluMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SOFTMAX_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SOFTMAX_GRAD
/* Gradient of the softmax along one dimension. [document] */
aclnnStatus aclnnSoftmaxGradGetWorkspaceSize(const aclTensor *y, const aclTensor *dy, aclTensor *dx, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftmaxGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SOFTSIGN
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SOFTSIGN
/* Input over one plus its magnitude. */
aclnnStatus aclnnSoftsignGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftsign(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SOFTSIGN_BACKWARD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SOFTSIGN_BACKWARD
/* Gradient of input over one plus its magnitude. Direction settled by meaning: out written. */
aclnnStatus aclnnSoftsignBackwardGetWorkspaceSize(const aclTensor *gradients, const aclTensor *features, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftsignBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SORT_WITH_INDEX
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SORT_WITH_INDEX
/* Sorted elements along one dimension, with an index tensor carried along. */
aclnnStatus aclnnSortWithIndexGetWorkspaceSize(const aclTensor *x, const aclTensor *index, int64_t axis, bool descending, bool stable, aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSortWithIndex(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SPARSE_ATTN_SHAREDKV_METADATA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SPARSE_ATTN_SHAREDKV_METADATA
/* Work partition for sparse attention over keys and values shared between heads. Direction settled by meaning: metadata written; cuSeqLensQOptional, cuSeqLensOriKvOptional, cuSeqLensCmpKvOptional, sequsedQOptional, sequsedKvOptional read. */
aclnnStatus aclnnSparseAttnSharedkvMetadataGetWorkspaceSize(const aclTensor *cuSeqLensQOptional, const aclTensor *cuSeqLensOriKvOptional, const aclTensor *cuSeqLensCmpKvOptional, const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional, int64_t numHeadsQ, int64_t numHeadsKv, int64_t headDim, int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenKv, int64_t oriTopK, int64_t cmpTopK, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional, const char *layoutKvOptional, bool hasOriKv, bool hasCmpKv, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparseAttnSharedkvMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SPARSE_FLASH_ATTENTION_ANTIQUANT_METADATA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SPARSE_FLASH_ATTENTION_ANTIQUANT_METADATA
/* Work partition for sparse attention over quantized keys and values. Direction settled by meaning: metaData written; actualSeqLengthsQueryOptional, actualSeqLengthsKvOptional, sparseSeqLengthsKvOptional read. */
aclnnStatus aclnnKvQuantSparseFlashAttentionMetadataGetWorkspaceSize(const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKvOptional, const aclTensor *sparseSeqLengthsKvOptional, int64_t batchSize, int64_t querySeqSize, int64_t queryHeadNum, int64_t kvSeqSize, int64_t kvHeadNum, int64_t headDim, int64_t topkSize, int64_t sparseBlockSize, const char *layoutQueryOptional, const char *layoutKvOptional, int64_t sparseMode, int64_t attentionMode, int64_t ropeHeadDim, int64_t sparseShardSize, aclTensor *metaData, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKvQuantSparseFlashAttentionMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SQRT_BACKWARD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SQRT_BACKWARD
/* Gradient of the square root of each element. Direction settled by meaning: z written; y, dy read. */
aclnnStatus aclnnSqrtBackwardGetWorkspaceSize(const aclTensor *y, const aclTensor *dy, aclTensor *z, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSqrtBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_STEM_INDEXER_METADATA
#define ACLNN_PY_EXPERIMENTAL_ACLNN_STEM_INDEXER_METADATA
/* Work partition for choice of key blocks for sparse attention. Direction settled by meaning: metadata written; qSeqLens, kvSeqLens read. */
aclnnStatus aclnnStemIndexerMetadataGetWorkspaceSize(const aclTensor *qSeqLens, const aclTensor *kvSeqLens, int64_t qHeads, int64_t kvHeads, bool causal, int64_t stemBlockSize, int64_t dimQkflat, int64_t windowSize, aclTensor *metadata, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnStemIndexerMetadata(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SUM_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SUM_V2
/* Sum of all tensors of a list; version 2 with the parameters of aclnnSum. Direction settled by meaning: out written; tensors read. */
aclnnStatus aclnnSumV2GetWorkspaceSize(const aclTensorList *tensors, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSumV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SWIGLU_CLAMP
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SWIGLU_CLAMP
/* Gated unit of limited halves with the sigmoid-weighted activation. Direction settled by meaning: y written; x read. */
aclnnStatus aclnnSwigluClampGetWorkspaceSize(const aclTensor *x, double limit, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluClamp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_SWIGLU_GATED_MLP
#define ACLNN_PY_EXPERIMENTAL_ACLNN_SWIGLU_GATED_MLP
/* Two-layer perceptron with the gated sigmoid-weighted activation. Direction settled by meaning: y written; x, gateUpWeight, downWeight read. */
aclnnStatus aclnnSwigluGatedMlpGetWorkspaceSize(const aclTensor *x, const aclTensor *gateUpWeight, const aclTensor *downWeight, int64_t cubeMathType, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluGatedMlp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_TANH_GRAD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_TANH_GRAD
/* Gradient of the hyperbolic tangent of each element. [document] */
aclnnStatus aclnnTanhGradGetWorkspaceSize(const aclTensor *y, const aclTensor *dy, aclTensor *dx, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTanhGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_TENSOR_MOVE
#define ACLNN_PY_EXPERIMENTAL_ACLNN_TENSOR_MOVE
/* Copy of a tensor. [document] */
aclnnStatus aclnnTensorMoveGetWorkspaceSize(const aclTensor *x, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTensorMove(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_THRESHOLD_V2
#define ACLNN_PY_EXPERIMENTAL_ACLNN_THRESHOLD_V2
/* Given value for elements not above a threshold; version 2 with the parameters of aclnnThreshold. Direction settled by meaning: out written; self, threshold, value read. */
aclnnStatus aclnnThresholdV2GetWorkspaceSize(const aclTensor *self, const aclScalar *threshold, const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnThresholdV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_TRUNCATE_DIV
#define ACLNN_PY_EXPERIMENTAL_ACLNN_TRUNCATE_DIV
/* Quotient rounded toward zero. [document] */
aclnnStatus aclnnTruncateDivGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTruncateDiv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_TRUNCATE_MOD
#define ACLNN_PY_EXPERIMENTAL_ACLNN_TRUNCATE_MOD
/* Remainder of the division rounded toward zero. [document] */
aclnnStatus aclnnTruncateModGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTruncateMod(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_TURBO_QUANT_COMPRESS_LATENT
#define ACLNN_PY_EXPERIMENTAL_ACLNN_TURBO_QUANT_COMPRESS_LATENT
/* Latent vectors rotated and compressed to few bits. [document] */
aclnnStatus aclnnTurboQuantCompressLatentGetWorkspaceSize(const aclTensor *latent, const aclTensor *centroids, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTurboQuantCompressLatent(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_EXPERIMENTAL_ACLNN_VIEW_COPY
#define ACLNN_PY_EXPERIMENTAL_ACLNN_VIEW_COPY
/* Copy between views of given sizes, strides and offsets. */
aclnnStatus aclnnViewCopyGetWorkspaceSize(const aclTensor *dst, const aclTensor *dst_size, const aclTensor *dst_stride, const aclTensor *dst_storage_offset, const aclTensor *src, const aclTensor *src_size, const aclTensor *src_stride, const aclTensor *src_storage_offset, aclTensor *dst_out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnViewCopy(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_EXPERIMENTAL_H */
