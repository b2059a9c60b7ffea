/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the operator library that answer at once, without executor or stream. */
#ifndef ACLNN_PY_ACLNN_HOST_CALLS_H
#define ACLNN_PY_ACLNN_HOST_CALLS_H

#include "aclnn/aclnn_base.h"

#include "aclnn/size_result.h"

#include "aclnn_py/c_begin.h"

/* Where a size is written: CANN declares a C++ reference, which is a pointer to the machine. */
#ifndef __cplusplus
typedef uint64_t *aclnnSizeResult;
#endif

/* Elements of a weight of the given shape in FRACTAL_NZ; the first form counts as for two-byte types. */
aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape, uint64_t *weightTensorSize);
aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType, uint64_t *weightTensorSize);
/* Packs scales and offsets into 64-bit parameters. The caller frees the array with free(). */
aclnnStatus aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize, const float *offsetArray, uint64_t offsetSize, uint64_t **quantParam, uint64_t *quantParamSize);
/* Shape and format of the result of aclnnNpuFormatCast; additionalDtype is -1 up to the 910_93. The caller releases dstShape with delete[]. */
aclnnStatus aclnnNpuFormatCastCalculateSizeAndFormat(const aclTensor *srcTensor, const int dstFormat, int additionalDtype, int64_t **dstShape, uint64_t *dstShapeSize, int *actualFormat);
/* Elements of a convolution's weight (NCHW) in FRACTAL_Z; on the 310P alone. */
aclnnStatus aclnnCalculateConvolutionWeightSize(const aclIntArray *tensorShape, bool transposed, int64_t groups, aclDataType dataType, uint64_t *weightTensorSize);
/* Packs a weight with two zeros in every four elements, and where the others stood. The caller frees the four arrays with free(). */
aclnnStatus aclnnTransSparse4to2Para(const int8_t *weight, aclIntArray *shape, int8_t **sparseWeight, int64_t **sparseWeightDims, uint64_t *sparseWeightDimsNum, uint8_t **index, int64_t **indexDims, uint64_t *indexDimsNum);
/* Whether random numbers follow PyTorch (1) or the chips before the 950 (0). */
/* after 9.2 */
aclnnStatus aclnnSetPytorchRandom(int32_t pytorchRandom);
/* after 9.2 */
int32_t aclnnGetPytorchRandom(void);
/* Sizes of the results of the operators of these names, which send and receive apart. */
/* after 9.2 */
aclnnStatus aclnnMoeDistributeDispatchSetupTeardownCalcOutputSize(const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional, const aclTensor *xActiveMaskOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t expertTokenNumsType, int64_t commType, const char *commAlg, aclnnSizeResult tokenMsgSize, aclnnSizeResult expandIdxOutSize, aclnnSizeResult assistInfoForCombineOutSize, aclnnSizeResult commCmdInfoOutSize);
/* after 9.2 */
aclnnStatus aclnnMoeDistributeCombineSetupTeardownCalcOutputSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t commQuantMode, int64_t commType, const char *commAlg, aclnnSizeResult tokenMsgSize, aclnnSizeResult commCmdInfoOutSize);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNN_HOST_CALLS_H */
