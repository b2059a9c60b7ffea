/* SPDX-License-Identifier: Apache-2.0 */
/* Quantization and dequantization. */
#ifndef ACLNN_PY_ACLNNOP_QUANT_H
#define ACLNN_PY_ACLNNOP_QUANT_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_QUANT_ACLNN_ANTI_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_ANTI_MX_QUANT
/* Dequantization of block-quantized values with shared exponents. */
aclnnStatus aclnnAntiMxQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *mxscale, int64_t axis, int64_t dstType, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAntiMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_ASCEND_ANTI_QUANT
#define ACLNN_PY_QUANT_ACLNN_ASCEND_ANTI_QUANT
/* Dequantization by scale and offset. */
aclnnStatus aclnnAscendAntiQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *offsetOptional, int64_t dstType, bool sqrtMode, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAscendAntiQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_ASCEND_QUANT
#define ACLNN_PY_QUANT_ACLNN_ASCEND_QUANT
/* Quantization by scale and offset. */
aclnnStatus aclnnAscendQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *offsetOptional, bool sqrtMode, const char *roundMode, int32_t dstType, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAscendQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_ASCEND_QUANT_V3
#define ACLNN_PY_QUANT_ACLNN_ASCEND_QUANT_V3
/* Quantization by scale and offset; version 3 adds axis. */
aclnnStatus aclnnAscendQuantV3GetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *offsetOptional, bool sqrtMode, const char *roundMode, int32_t dstType, int32_t axis, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAscendQuantV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DEQUANT_BIAS
#define ACLNN_PY_QUANT_ACLNN_DEQUANT_BIAS
/* Dequantization of a matrix product with a bias. [document] */
aclnnStatus aclnnDequantBiasGetWorkspaceSize(const aclTensor *x, const aclTensor *weightScale, const aclTensor *activateScaleOptional, const aclTensor *biasOptional, int64_t outputDtype, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDequantBias(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DEQUANT_SITU_QUANT
#define ACLNN_PY_QUANT_ACLNN_DEQUANT_SITU_QUANT
/* Dequantization, gated activation and quantization in one pass. [document] */
aclnnStatus aclnnDequantSituQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *weightScaleOptional, const aclTensor *activationScaleOptional, const aclTensor *biasOptional, const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional, const aclTensor *groupIndexOptional, float beta, float linearBeta, bool activateLeft, const char *quantTypeOptional, aclTensor *yOut, aclTensor *yScaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDequantSituQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DEQUANT_SWIGLU_QUANT
#define ACLNN_PY_QUANT_ACLNN_DEQUANT_SWIGLU_QUANT
/* Dequantization, gated unit with the sigmoid-weighted activation and quantization in one pass. [document] */
aclnnStatus aclnnDequantSwigluQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *weightScaleOptional, const aclTensor *activationScaleOptional, const aclTensor *biasOptional, const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional, const aclTensor *groupIndexOptional, bool activateLeft, const char *quantModeOptional, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDequantSwigluQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DEQUANT_SWIGLU_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_DEQUANT_SWIGLU_QUANT_V2
/* Dequantization, gated unit with the sigmoid-weighted activation and quantization in one pass; version 2 adds dstType, roundMode, activateDim, swigluMode, clampLimit, gluAlpha, gluBias. [document] */
aclnnStatus aclnnDequantSwigluQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensor *weightScaleOptional, const aclTensor *activationScaleOptional, const aclTensor *biasOptional, const aclTensor *quantScaleOptional, const aclTensor *quantOffsetOptional, const aclTensor *groupIndexOptional, bool activateLeft, const char *quantModeOptional, int64_t dstType, const char *roundModeOptional, int64_t activateDim, int64_t swigluMode, double clampLimit, double gluAlpha, double gluBias, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDequantSwigluQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_BLOCK_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_BLOCK_MX_QUANT
/* Quantization with one shared exponent per two-dimensional block. [document] */
aclnnStatus aclnnDynamicBlockMxQuantGetWorkspaceSize(const aclTensor *x, const char *roundModeOptional, int64_t dstType, int64_t scaleAlg, double dstTypeMax, aclTensor *yOut, aclTensor *scale1Out, aclTensor *scale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicBlockMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_BLOCK_QUANT
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_BLOCK_QUANT
/* Quantization with one scale per block. [document] */
aclnnStatus aclnnDynamicBlockQuantGetWorkspaceSize(const aclTensor *x, double minScale, const char *roundModeOptional, int64_t dstType, int64_t rowBlockSize, int64_t colBlockSize, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicBlockQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_BLOCK_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_BLOCK_QUANT_V2
/* Quantization with one scale per block; version 2 adds dstTypeMax. [document] */
aclnnStatus aclnnDynamicBlockQuantV2GetWorkspaceSize(const aclTensor *x, double minScale, const char *roundModeOptional, int64_t dstType, int64_t rowBlockSize, int64_t colBlockSize, double dstTypeMax, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicBlockQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_DUAL_LEVEL_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_DUAL_LEVEL_MX_QUANT
/* Quantization to 4 bits with scales on two levels. [document] */
aclnnStatus aclnnDynamicDualLevelMxQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *smoothScaleOptional, const char *roundModeOptional, int64_t level0BlockSize, int64_t level1BlockSize, aclTensor *yOut, aclTensor *level0ScaleOut, aclTensor *level1ScaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicDualLevelMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT
/* Quantization with one shared exponent per block. [document] */
aclnnStatus aclnnDynamicMxQuantGetWorkspaceSize(const aclTensor *x, int64_t axis, const char *roundModeOptional, int64_t dstType, int64_t blocksize, int64_t scaleAlg, aclTensor *yOut, aclTensor *mxscaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_V2
/* Quantization with one shared exponent per block; version 2 adds dstTypeMax. [document] */
aclnnStatus aclnnDynamicMxQuantV2GetWorkspaceSize(const aclTensor *x, int64_t axis, const char *roundModeOptional, int64_t dstType, int64_t blocksize, int64_t scaleAlg, double dstTypeMax, aclTensor *yOut, aclTensor *mxscaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicMxQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_V3
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_V3
/* Quantization with one shared exponent per block; version 3 adds maxLowBound. [document] */
aclnnStatus aclnnDynamicMxQuantV3GetWorkspaceSize(const aclTensor *x, int64_t axis, const char *roundModeOptional, int64_t dstType, int64_t blocksize, int64_t scaleAlg, double dstTypeMax, double maxLowBound, aclTensor *yOut, aclTensor *mxscaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicMxQuantV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_WITH_DUAL_AXIS
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_WITH_DUAL_AXIS
/* Quantization with shared exponents along both of the last two dimensions. [document] */
aclnnStatus aclnnDynamicMxQuantWithDualAxisGetWorkspaceSize(const aclTensor *x, const char *roundModeOptional, int64_t dstType, int64_t scaleAlg, aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out, aclTensor *mxscale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicMxQuantWithDualAxis(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_WITH_DUAL_AXIS_V2
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_MX_QUANT_WITH_DUAL_AXIS_V2
/* Quantization with shared exponents along both of the last two dimensions; version 2 adds dstTypeMax. [document] */
aclnnStatus aclnnDynamicMxQuantWithDualAxisV2GetWorkspaceSize(const aclTensor *x, const char *roundModeOptional, int64_t dstType, int64_t scaleAlg, double dstTypeMax, aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out, aclTensor *mxscale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicMxQuantWithDualAxisV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT
/* Quantization with one scale per token, found from the data. */
aclnnStatus aclnnDynamicQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *smoothScalesOptional, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT_V2
/* Quantization with one scale per token, found from the data; version 2 adds groupIndex, dstType, offsetOut. */
aclnnStatus aclnnDynamicQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *groupIndexOptional, int64_t dstType, aclTensor *yOut, aclTensor *scaleOut, aclTensor *offsetOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT_V3
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT_V3
/* Quantization with one scale per token, found from the data; version 3 adds isSymmetrical, quantMode. */
aclnnStatus aclnnDynamicQuantV3GetWorkspaceSize(const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *groupIndexOptional, int64_t dstType, bool isSymmetrical, const char *quantModeOptional, aclTensor *yOut, aclTensor *scaleOut, aclTensor *offsetOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicQuantV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT_V4
#define ACLNN_PY_QUANT_ACLNN_DYNAMIC_QUANT_V4
/* Quantization with one scale per token, found from the data; version 4 adds dstTypeMax. */
aclnnStatus aclnnDynamicQuantV4GetWorkspaceSize(const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *groupIndexOptional, int64_t dstType, bool isSymmetrical, const char *quantModeOptional, float dstTypeMax, aclTensor *yOut, aclTensor *scaleOut, aclTensor *offsetOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDynamicQuantV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_FAKE_QUANT_PER_CHANNEL_AFFINE_CACHEMASK
#define ACLNN_PY_QUANT_ACLNN_FAKE_QUANT_PER_CHANNEL_AFFINE_CACHEMASK
/* Rounding to quantization steps per channel, with the mask of values in range. */
aclnnStatus aclnnFakeQuantPerChannelAffineCachemaskGetWorkspaceSize(const aclTensor *self, const aclTensor *scale, const aclTensor *zeroPoint, int64_t axis, int64_t quantMin, int64_t quantMax, aclTensor *out, aclTensor *mask, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFakeQuantPerChannelAffineCachemask(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_FAKE_QUANT_PER_TENSOR_AFFINE_CACHEMASK
#define ACLNN_PY_QUANT_ACLNN_FAKE_QUANT_PER_TENSOR_AFFINE_CACHEMASK
/* Rounding to quantization steps per tensor, with the mask of values in range. */
aclnnStatus aclnnFakeQuantPerTensorAffineCachemaskGetWorkspaceSize(const aclTensor *self, const aclTensor *scale, const aclTensor *zeroPoint, float fakeQuantEnabled, int64_t quantMin, int64_t quantMax, aclTensor *out, aclTensor *mask, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFakeQuantPerTensorAffineCachemask(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_FLAT_QUANT
#define ACLNN_PY_QUANT_ACLNN_FLAT_QUANT
/* Two small matrix products on either side of the input, then quantization. */
aclnnStatus aclnnFlatQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *kroneckerP1, const aclTensor *kroneckerP2, double clipRatio, aclTensor *out, aclTensor *quantScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlatQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_FLAT_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_FLAT_QUANT_V2
/* Two small matrix products on either side of the input, then quantization; version 2 adds dstTypeMax. */
aclnnStatus aclnnFlatQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensor *kroneckerP1, const aclTensor *kroneckerP2, double clipRatio, double dstTypeMax, aclTensor *out, aclTensor *quantScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlatQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_FLAT_QUANT_V3
#define ACLNN_PY_QUANT_ACLNN_FLAT_QUANT_V3
/* Two small matrix products on either side of the input, then quantization; version 3 adds groupList, groupListType. */
aclnnStatus aclnnFlatQuantV3GetWorkspaceSize(const aclTensor *x, const aclTensor *kroneckerP1, const aclTensor *kroneckerP2, const aclTensor *groupListOptional, double clipRatio, double dstTypeMax, int64_t groupListType, aclTensor *out, aclTensor *quantScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlatQuantV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_GROUP_QUANT
#define ACLNN_PY_QUANT_ACLNN_GROUP_QUANT
/* Quantization with one scale per group of tokens. */
aclnnStatus aclnnGroupQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *groupIndex, const aclTensor *offsetOptional, int32_t dstType, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_BLOCK_QUANT
#define ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_BLOCK_QUANT
/* Quantization with one scale per block, group by group. [document] */
aclnnStatus aclnnGroupedDynamicBlockQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *groupList, double minScale, const char *roundModeOptional, int64_t dstType, int64_t rowBlockSize, int64_t colBlockSize, int64_t groupListType, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedDynamicBlockQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_BLOCK_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_BLOCK_QUANT_V2
/* Quantization with one scale per block, group by group; version 2 adds dstTypeMax. [document] */
aclnnStatus aclnnGroupedDynamicBlockQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensor *groupList, double minScale, const char *roundModeOptional, int64_t dstType, int64_t rowBlockSize, int64_t colBlockSize, int64_t groupListType, double dstTypeMax, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedDynamicBlockQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_MX_QUANT
/* Quantization with one shared exponent per block, group by group. */
aclnnStatus aclnnGroupedDynamicMxQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *groupIndex, const char *roundMode, int64_t dstType, int64_t blocksize, aclTensor *y, aclTensor *mxscale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedDynamicMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_MX_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_MX_QUANT_V2
/* Quantization with one shared exponent per block, group by group; version 2 adds scaleAlg, dstTypeMax. */
aclnnStatus aclnnGroupedDynamicMxQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensor *groupIndex, const char *roundMode, int64_t dstType, int64_t blocksize, int64_t scaleAlg, double dstTypeMax, aclTensor *y, aclTensor *mxscale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedDynamicMxQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_MX_QUANT_WITH_DUAL_AXIS
#define ACLNN_PY_QUANT_ACLNN_GROUPED_DYNAMIC_MX_QUANT_WITH_DUAL_AXIS
/* Quantization with shared exponents along both dimensions, group by group. [document] */
aclnnStatus aclnnGroupedDynamicMxQuantWithDualAxisGetWorkspaceSize(const aclTensor *x, const aclTensor *groupIndex, const char *roundModeOptional, int64_t scaleAlg, int64_t dstDtype, double maxDtypeValue, aclTensor *y1Out, aclTensor *y1ScaleOut, aclTensor *y2Out, aclTensor *y2ScaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedDynamicMxQuantWithDualAxis(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_GROUPED_QUANT_MAX
#define ACLNN_PY_QUANT_ACLNN_GROUPED_QUANT_MAX
/* Quantization of each group with the largest magnitude of the group kept. */
aclnnStatus aclnnGroupedQuantMaxGetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const aclTensor *groupList, const char *roundMode, int64_t dstType, aclTensor *y, aclTensor *amax, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedQuantMax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_MX_TO_BLOCK_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_MX_TO_BLOCK_MX_QUANT
/* Scales per row turned into scales per block for quantized values. [document] */
aclnnStatus aclnnMxToBlockMxQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *mxscale, int64_t dstType, aclTensor *y, aclTensor *scale1, aclTensor *scale2, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMxToBlockMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_QUANT_MAX
#define ACLNN_PY_QUANT_ACLNN_QUANT_MAX
/* Quantization with the largest magnitude kept. */
aclnnStatus aclnnQuantMaxGetWorkspaceSize(const aclTensor *x, const aclTensor *scale, const char *roundMode, int64_t dstType, aclTensor *y, aclTensor *amax, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_QUANTIZE
#define ACLNN_PY_QUANT_ACLNN_QUANTIZE
/* Quantization by scale and zero point. */
aclnnStatus aclnnQuantizeGetWorkspaceSize(const aclTensor *x, const aclTensor *scales, const aclTensor *zeroPointsOptional, aclDataType dtype, int32_t axis, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantize(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_SITU_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_SITU_MX_QUANT
/* Gated activation followed by block quantization with shared exponents. [document] */
aclnnStatus aclnnSituMxQuantGetWorkspaceSize(const aclTensor *x, float beta, float linearBeta, bool activateLeft, int64_t axis, int64_t dstType, const char *roundModeOptional, aclTensor *yOut, aclTensor *yScaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSituMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_SWI_GLU_QUANT
#define ACLNN_PY_QUANT_ACLNN_SWI_GLU_QUANT
/* Gated unit with the sigmoid-weighted activation followed by quantization. [document] */
aclnnStatus aclnnSwiGluQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *offsetsOptional, const aclTensor *groupIndexOptional, bool activateLeft, const char *quantModeOptional, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwiGluQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_SWI_GLU_QUANT_V2
#define ACLNN_PY_QUANT_ACLNN_SWI_GLU_QUANT_V2
/* Gated unit with the sigmoid-weighted activation followed by quantization; version 2 adds groupListType, dstType. [document] */
aclnnStatus aclnnSwiGluQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensor *smoothScalesOptional, const aclTensor *offsetsOptional, const aclTensor *groupIndexOptional, bool activateLeft, const char *quantModeOptional, int64_t groupListType, int64_t dstType, aclTensor *yOut, aclTensor *scaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwiGluQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_SWIGLU_BACKWARD_MX_QUANT_WITH_DUAL_AXIS
#define ACLNN_PY_QUANT_ACLNN_SWIGLU_BACKWARD_MX_QUANT_WITH_DUAL_AXIS
/* Gradient of the gated unit with the sigmoid-weighted activation, quantized along both dimensions. [document] */
aclnnStatus aclnnSwigluBackwardMxQuantWithDualAxisGetWorkspaceSize(const aclTensor *x, const aclTensor *yGrad, const aclTensor *groupIndexOptional, bool activateLeft, const char *roundModeOptional, int64_t scaleAlg, int64_t dstDtype, double maxDtypeValue, aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out, aclTensor *mxscale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluBackwardMxQuantWithDualAxis(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_SWIGLU_GROUP_GRAD
#define ACLNN_PY_QUANT_ACLNN_SWIGLU_GROUP_GRAD
/* Gradient of the gated unit with the sigmoid-weighted activation, group by group. */
aclnnStatus aclnnSwigluGroupGradGetWorkspaceSize(const aclTensor *gradY, const aclTensor *x, const aclTensor *weightOptional, const aclTensor *yOriginOptional, const aclTensor *groupIndexOptional, float clampLimit, aclTensor *gradXOut, aclTensor *gradWeightOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluGroupGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_SWIGLU_MX_QUANT
#define ACLNN_PY_QUANT_ACLNN_SWIGLU_MX_QUANT
/* Gated unit with the sigmoid-weighted activation followed by block quantization. [document] */
aclnnStatus aclnnSwigluMxQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *groupIndexOptional, int64_t activateDim, bool activateLeft, int64_t swigluMode, double clampLimit, double gluAlpha, double gluBias, int64_t groupMode, int64_t axis, int64_t dstType, const char *roundModeOptional, int64_t scaleAlg, double maxDtypeValue, aclTensor *yOut, aclTensor *mxscaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluMxQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_SWIGLU_MX_QUANT_WITH_DUAL_AXIS
#define ACLNN_PY_QUANT_ACLNN_SWIGLU_MX_QUANT_WITH_DUAL_AXIS
/* Gated unit with the sigmoid-weighted activation, quantized along both dimensions. [document] */
aclnnStatus aclnnSwigluMxQuantWithDualAxisGetWorkspaceSize(const aclTensor *x, const aclTensor *groupIndexOptional, bool activateLeft, const char *roundModeOptional, int64_t scaleAlg, int64_t dstType, double maxDtypeValue, aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out, aclTensor *mxscale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluMxQuantWithDualAxis(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_TRANS_QUANT_PARAM_V2
#define ACLNN_PY_QUANT_ACLNN_TRANS_QUANT_PARAM_V2
/* Scale and offset packed for the quantized matrix product. */
aclnnStatus aclnnTransQuantParamV2GetWorkspaceSize(const aclTensor *scale, const aclTensor *offsetOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransQuantParamV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_QUANT_ACLNN_TRANS_QUANT_PARAM_V3
#define ACLNN_PY_QUANT_ACLNN_TRANS_QUANT_PARAM_V3
/* Scale and offset packed for the quantized matrix product; version 3 adds roundMode. */
aclnnStatus aclnnTransQuantParamV3GetWorkspaceSize(const aclTensor *scale, const aclTensor *offsetOptional, int64_t roundMode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransQuantParamV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_QUANT_H */
