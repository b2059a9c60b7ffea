/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products. */
#ifndef ACLNN_PY_ACLNNOP_MATMUL_H
#define ACLNN_PY_ACLNNOP_MATMUL_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_MATMUL_ACLNN_ADDBMM
#define ACLNN_PY_MATMUL_ACLNN_ADDBMM
/* Sum of a matrix scaled by beta and the batch-summed product of two stacks of matrices scaled by alpha. */
aclnnStatus aclnnAddbmmGetWorkspaceSize(const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2, const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddbmm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Sum of a matrix scaled by beta and the batch-summed product of two stacks of matrices scaled by alpha, in place. */
aclnnStatus aclnnInplaceAddbmmGetWorkspaceSize(aclTensor *selfRef, const aclTensor *batch1, const aclTensor *batch2, const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceAddbmm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_ADDMM
#define ACLNN_PY_MATMUL_ACLNN_ADDMM
/* Sum of a matrix scaled by beta and a matrix product scaled by alpha. */
aclnnStatus aclnnAddmmGetWorkspaceSize(const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2, const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddmm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Sum of a matrix scaled by beta and a matrix product scaled by alpha, the second factor in FRACTAL_NZ. Direction settled by meaning: out written. */
aclnnStatus aclnnAddmmWeightNzGetWorkspaceSize(const aclTensor *self, const aclTensor *mat1, const aclTensor *mat2, const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddmmWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Sum of a matrix scaled by beta and a matrix product scaled by alpha, in place. */
aclnnStatus aclnnInplaceAddmmGetWorkspaceSize(aclTensor *selfRef, const aclTensor *mat1, const aclTensor *mat2, const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceAddmm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_ADDMV
#define ACLNN_PY_MATMUL_ACLNN_ADDMV
/* Sum of a vector scaled by beta and a matrix-vector product scaled by alpha. */
aclnnStatus aclnnAddmvGetWorkspaceSize(const aclTensor *self, const aclTensor *mat, const aclTensor *vec, const aclScalar *alpha, const aclScalar *beta, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddmv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_BADDBMM
#define ACLNN_PY_MATMUL_ACLNN_BADDBMM
/* Sum of a stack of matrices scaled by beta and a batched matrix product scaled by alpha. */
aclnnStatus aclnnBaddbmmGetWorkspaceSize(const aclTensor *self, const aclTensor *batch1, const aclTensor *batch2, const aclScalar *beta, const aclScalar *alpha, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBaddbmm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Sum of a stack of matrices scaled by beta and a batched matrix product scaled by alpha, in place. */
aclnnStatus aclnnInplaceBaddbmmGetWorkspaceSize(aclTensor *selfRef, const aclTensor *batch1, const aclTensor *batch2, const aclScalar *beta, const aclScalar *alpha, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceBaddbmm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_BATCH_MATMUL
#define ACLNN_PY_MATMUL_ACLNN_BATCH_MATMUL
/* Product of two stacks of matrices. */
aclnnStatus aclnnBatchMatMulGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchMatMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Product of two stacks of matrices, the second in FRACTAL_NZ. */
aclnnStatus aclnnBatchMatMulWeightNzGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchMatMulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_BATCHMATMUL_QUANT
#define ACLNN_PY_MATMUL_ACLNN_BATCHMATMUL_QUANT
/* Product of two stacks of matrices quantized on the way out. */
aclnnStatus aclnnBatchMatmulQuantGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *quantParam, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchMatmulQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_CONVERT_WEIGHT_TO_INT4_PACK
#define ACLNN_PY_MATMUL_ACLNN_CONVERT_WEIGHT_TO_INT4_PACK
/* Packing of int32 values into eight 4-bit values per element. */
aclnnStatus aclnnConvertWeightToINT4PackGetWorkspaceSize(const aclTensor *weight, aclTensor *weightInt4Pack, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConvertWeightToINT4Pack(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_DUAL_LEVEL_QUANT_MATMUL_NZ
#define ACLNN_PY_MATMUL_ACLNN_DUAL_LEVEL_QUANT_MATMUL_NZ
/* Product of matrices quantized on two levels of scales, the weight in FRACTAL_NZ. */
aclnnStatus aclnnDualLevelQuantMatmulWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Level0Scale, const aclTensor *x2Level0Scale, const aclTensor *x1Level1Scale, const aclTensor *x2Level1Scale, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, int64_t level0GroupSize, int64_t level1GroupSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDualLevelQuantMatmulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_EINSUM
#define ACLNN_PY_MATMUL_ACLNN_EINSUM
/* Sum over products given by an index equation. */
aclnnStatus aclnnEinsumGetWorkspaceSize(const aclTensorList *tensors, const char *equation, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEinsum(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_FUSED_LINEAR_CROSS_ENTROPY_LOSS_GRAD
#define ACLNN_PY_MATMUL_ACLNN_FUSED_LINEAR_CROSS_ENTROPY_LOSS_GRAD
/* Gradient of a linear layer followed by the cross entropy. */
aclnnStatus aclnnFusedLinearCrossEntropyLossGradGetWorkspaceSize(const aclTensor *grad, const aclTensor *input, const aclTensor *weight, const aclTensor *targetMask, const aclTensor *maskedTarget, float labelSmoothing, const aclTensor *logitsMaxOptional, const aclTensor *sumExpLogitsOptional, const aclTensor *softmaxOptional, aclTensor *inputGradOut, aclTensor *weightGradOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedLinearCrossEntropyLossGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_FUSED_LINEAR_ONLINE_MAX_SUM
#define ACLNN_PY_MATMUL_ACLNN_FUSED_LINEAR_ONLINE_MAX_SUM
/* Running maxima and sums of the logits of a linear layer. */
aclnnStatus aclnnFusedLinearOnlineMaxSumGetWorkspaceSize(const aclTensor *input, const aclTensor *weight, const aclTensor *target, int64_t vocabStartIndex, int64_t vocabEndIndex, aclTensor *logitsMaxLocalOut, aclTensor *sumExpLogitsLocalOut, aclTensor *predictedLogitsLocalOut, aclTensor *targetMaskOut, aclTensor *maskedTargetOut, aclTensor *vocabParallelLogitsOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedLinearOnlineMaxSum(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_FUSED_MATMUL
#define ACLNN_PY_MATMUL_ACLNN_FUSED_MATMUL
/* Matrix product with bias and an operation fused behind it. */
aclnnStatus aclnnFusedMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const char *fusedOpType, int8_t cubeMathType, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_FUSED_QUANT_MATMUL
#define ACLNN_PY_MATMUL_ACLNN_FUSED_QUANT_MATMUL
/* Product of quantized matrices with an operation fused behind it. */
aclnnStatus aclnnFusedQuantMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale, const aclTensor *x2Scale, const aclTensor *yScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const aclTensor *yOffsetOptional, const aclTensor *biasOptional, const aclTensor *x3Optional, const char *fusedOpType, int64_t groupSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedQuantMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_FUSED_QUANT_MATMUL_WEIGHT_NZ
#define ACLNN_PY_MATMUL_ACLNN_FUSED_QUANT_MATMUL_WEIGHT_NZ
/* Product of quantized matrices with an operation fused behind it, the weight in FRACTAL_NZ. */
aclnnStatus aclnnFusedQuantMatmulWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale, const aclTensor *x2Scale, const aclTensor *yScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const aclTensor *yOffsetOptional, const aclTensor *biasOptional, const aclTensor *x3Optional, const char *fusedOpType, int64_t groupSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedQuantMatmulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_GEMM
#define ACLNN_PY_MATMUL_ACLNN_GEMM
/* Matrix product scaled by alpha plus a matrix scaled by beta. */
aclnnStatus aclnnGemmGetWorkspaceSize(const aclTensor *A, const aclTensor *B, const aclTensor *C, float alpha, float beta, int64_t transA, int64_t transB, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGemm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_MATMUL
#define ACLNN_PY_MATMUL_ACLNN_MATMUL
/* Matrix product of two tensors with broadcast over the leading dimensions. */
aclnnStatus aclnnMatmulGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Matrix product, the second factor in FRACTAL_NZ. */
aclnnStatus aclnnMatmulWeightNzGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_MATMUL_COMPRESS
#define ACLNN_PY_MATMUL_ACLNN_MATMUL_COMPRESS
/* Matrix product with a compressed weight. */
aclnnStatus aclnnMatmulCompressGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional, const aclTensor *compressIndex, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulCompress(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_MATMUL_COMPRESS_DEQUANT
#define ACLNN_PY_MATMUL_ACLNN_MATMUL_COMPRESS_DEQUANT
/* Product of quantized matrices with a compressed weight, dequantized. */
aclnnStatus aclnnMatmulCompressDequantGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *compressIndex, const aclTensor *bias, const aclTensor *deqScale, const aclTensor *offsetWOptional, int offsetX, const aclIntArray *compressInfo, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulCompressDequant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_MATMUL_EMU_SPLIT_WEIGHT
#define ACLNN_PY_MATMUL_ACLNN_MATMUL_EMU_SPLIT_WEIGHT
/* Matrix product of higher precision by a weight split into parts. */
aclnnStatus aclnnMatmulEmuSplitWeightGetWorkspaceSize(const aclTensor *x, const aclTensor *wHigh, const aclTensor *wLow, aclTensor *y, float wLowScale, int8_t yDtype, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulEmuSplitWeight(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_MM
#define ACLNN_PY_MATMUL_ACLNN_MM
/* Product of two matrices. */
aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor *self, const aclTensor *mat2, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_MV
#define ACLNN_PY_MATMUL_ACLNN_MV
/* Product of a matrix and a vector. */
aclnnStatus aclnnMvGetWorkspaceSize(const aclTensor *self, const aclTensor *vec, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_BATCH_MATMUL_INPLACE_ADD
#define ACLNN_PY_MATMUL_ACLNN_QUANT_BATCH_MATMUL_INPLACE_ADD
/* Product of quantized matrices added to the output. Direction settled by meaning: x1ScaleOptional read. */
aclnnStatus aclnnQuantBatchMatmulInplaceAddGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, aclTensor *yRef, bool transposeX1, bool transposeX2, int64_t groupSize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantBatchMatmulInplaceAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL
/* Product of quantized matrices with dequantization. */
aclnnStatus aclnnQuantMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, float deqScale, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Product of quantized matrices with dequantization; version 2 adds adjX1, adjX2. */
aclnnStatus aclnnQuantMatmulV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *deqScale, bool adjX1, bool adjX2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_ACTIVATION_QUANT_WEIGHT_NZ
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_ACTIVATION_QUANT_WEIGHT_NZ
/* Product of quantized matrices, activation and quantization, the weight in FRACTAL_NZ. */
aclnnStatus aclnnQuantMatmulActivationQuantWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, int64_t groupSize, const char *activationType, const char *quantMode, const char *roundModeOptional, int64_t scaleAlg, double dstTypeMax, aclTensor *yOut, aclTensor *yScaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulActivationQuantWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_DEQUANT
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_DEQUANT
/* Quantization of the left matrix, product and dequantization. */
aclnnStatus aclnnQuantMatmulDequantGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *weightScale, const aclTensor *biasOptional, const aclTensor *xScaleOptional, const aclTensor *xOffsetOptional, const aclTensor *smoothScaleOptional, const char *xQuantMode, bool transposeWeight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulDequant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_REDUCE_SUM
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_REDUCE_SUM
/* Products of quantized matrices summed over the batch, the weight in FRACTAL_NZ. */
aclnnStatus aclnnQuantMatmulReduceSumWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale, const aclTensor *x2Scale, const aclTensor *yScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const aclTensor *yOffsetOptional, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, int64_t groupSize, const aclIntArray *dims, bool keepDims, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulReduceSumWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_V3
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_V3
/* Product of quantized matrices with dequantization; version 3 adds scale, offset, transposeX1, transposeX2, drops deqScale, adjX1, adjX2. */
aclnnStatus aclnnQuantMatmulV3GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *offsetOptional, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_V4
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_V4
/* Product of quantized matrices with dequantization; version 4 adds pertokenScale. */
aclnnStatus aclnnQuantMatmulV4GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *offsetOptional, const aclTensor *pertokenScaleOptional, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_V5
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_V5
/* Product of quantized matrices with dequantization; version 5 adds x1Scale, x2Scale, yScale, x1Offset, x2Offset, yOffset, groupSize, drops scale, offset, pertokenScale. */
aclnnStatus aclnnQuantMatmulV5GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *yScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const aclTensor *yOffsetOptional, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, int64_t groupSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_WEIGHT_NZ
#define ACLNN_PY_MATMUL_ACLNN_QUANT_MATMUL_WEIGHT_NZ
/* Product of quantized matrices with dequantization, the weight in FRACTAL_NZ. */
aclnnStatus aclnnQuantMatmulWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *yScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const aclTensor *yOffsetOptional, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, int64_t groupSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_ROTATE_QUANT
#define ACLNN_PY_MATMUL_ACLNN_ROTATE_QUANT
/* Rotation by a block matrix followed by quantization. */
aclnnStatus aclnnRotateQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *rotation, const aclTensor *alphaOptional, int64_t axis, const char *roundModeOptional, int64_t scaleAlg, double dstTypeMax, bool trans, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRotateQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_SPARSE4TO2QUANT_MATMUL_WEIGHT_NZ
#define ACLNN_PY_MATMUL_ACLNN_SPARSE4TO2QUANT_MATMUL_WEIGHT_NZ
/* Product of quantized matrices with a weight of two non-zero values in four, in FRACTAL_NZ. */
aclnnStatus aclnnSparse4to2QuantMatmulWeightNzGetWorkspaceSize(const aclTensor *x, const aclTensor *sparseWeight, const aclTensor *index, const aclTensor *xScale, const aclTensor *sparseWeightScale, const aclTensor *biasOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSparse4to2QuantMatmulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_TRANSPOSE_BATCH_MAT_MUL
#define ACLNN_PY_MATMUL_ACLNN_TRANSPOSE_BATCH_MAT_MUL
/* Batched matrix product with permuted operands and result. */
aclnnStatus aclnnTransposeBatchMatMulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *scaleOptional, const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY, int8_t cubeMathType, int32_t batchSplitFactor, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransposeBatchMatMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Batched matrix product with permuted operands and result, the weight in FRACTAL_NZ. */
aclnnStatus aclnnTransposeBatchMatMulWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *scaleOptional, const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY, int8_t cubeMathType, int32_t batchSplitFactor, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransposeBatchMatMulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_TRANSPOSE_QUANT_BATCH_MAT_MUL
#define ACLNN_PY_MATMUL_ACLNN_TRANSPOSE_QUANT_BATCH_MAT_MUL
/* Batched product of quantized matrices with permuted operands and result. */
aclnnStatus aclnnTransposeQuantBatchMatMulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *x1Scale, const aclTensor *x2Scale, int32_t dtype, int64_t groupSize, const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY, int32_t batchSplitFactor, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransposeQuantBatchMatMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Batched product of quantized matrices with permuted operands and result, the weight in FRACTAL_NZ. */
aclnnStatus aclnnTransposeQuantBatchMatMulWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *bias, const aclTensor *x1Scale, const aclTensor *x2Scale, int32_t dtype, int64_t groupSize, const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY, int32_t batchSplitFactor, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransposeQuantBatchMatMulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL
#define ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL
/* Matrix product with a quantized weight. */
aclnnStatus aclnnWeightQuantBatchMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *diagonalMatrixOptional, const aclTensor *deqOffsetOptional, const aclTensor *deqScaleOptional, const aclTensor *addOffsetOptional, const aclTensor *mulScaleOptional, const aclTensor *biasOptional, bool transposeX1, bool transposeX2, float antiquantScale, float antiquantOffset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantBatchMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_NZ
#define ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_NZ
/* Matrix product with a quantized weight in FRACTAL_NZ. */
aclnnStatus aclnnWeightQuantBatchMatmulNzGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional, const aclTensor *biasOptional, int antiquantGroupSize, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantBatchMatmulNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_V2
#define ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_V2
/* Matrix product with a quantized weight; version 2, with a parameter list of its own. */
aclnnStatus aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional, const aclTensor *biasOptional, int antiquantGroupSize, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantBatchMatmulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_V3
#define ACLNN_PY_MATMUL_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_V3
/* Matrix product with a quantized weight; version 3 adds innerPrecise. */
aclnnStatus aclnnWeightQuantBatchMatmulV3GetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional, const aclTensor *biasOptional, int antiquantGroupSize, int innerPrecise, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantBatchMatmulV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_MATMUL_H */
