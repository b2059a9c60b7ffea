/* SPDX-License-Identifier: Apache-2.0 */
/* Gather, scatter, index and sort operations. */
#ifndef ACLNN_PY_ACLNNOP_INDEX_H
#define ACLNN_PY_ACLNNOP_INDEX_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_INDEX_ACLNN_APPLY_TOP_K_TOP_P
#define ACLNN_PY_INDEX_ACLNN_APPLY_TOP_K_TOP_P
/* Mask of logits outside the k largest and outside the cumulated probability p. */
aclnnStatus aclnnApplyTopKTopPGetWorkspaceSize(const aclTensor *logits, const aclTensor *pOptional, const aclTensor *kOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyTopKTopP(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_BUCKETIZE
#define ACLNN_PY_INDEX_ACLNN_BUCKETIZE
/* Index of the bucket each value falls into. */
aclnnStatus aclnnBucketizeGetWorkspaceSize(const aclTensor *self, const aclTensor *boundaries, bool outInt32, bool right, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBucketize(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_EMBEDDING
#define ACLNN_PY_INDEX_ACLNN_EMBEDDING
/* Rows of a table chosen by index. */
aclnnStatus aclnnEmbeddingGetWorkspaceSize(const aclTensor *weight, const aclTensor *indices, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEmbedding(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_EMBEDDING_BAG
#define ACLNN_PY_INDEX_ACLNN_EMBEDDING_BAG
/* Sums, means or maxima of the rows chosen by index. */
aclnnStatus aclnnEmbeddingBagGetWorkspaceSize(const aclTensor *weight, const aclTensor *indices, const aclTensor *offsets, bool scaleGradByFreq, int64_t mode, bool sparse, const aclTensor *perSampleWeightsOptional, bool includeLastOffset, int64_t paddingIdx, aclTensor *output, aclTensor *offset2bag, aclTensor *bagSize, aclTensor *maxIndices, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEmbeddingBag(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_EMBEDDING_DENSE_BACKWARD
#define ACLNN_PY_INDEX_ACLNN_EMBEDDING_DENSE_BACKWARD
/* Gradient of rows of a dense table chosen by index. */
aclnnStatus aclnnEmbeddingDenseBackwardGetWorkspaceSize(const aclTensor *grad, const aclTensor *indices, uint64_t numWeights, uint64_t paddingIdx, bool scaleGradByFreq, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEmbeddingDenseBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_EXPAND_INTO_JAGGED_PERMUTE
#define ACLNN_PY_INDEX_ACLNN_EXPAND_INTO_JAGGED_PERMUTE
/* Permutation of ragged rows expanded to one index per element. [document] Direction settled by meaning: outputPermuteOut written. */
aclnnStatus aclnnExpandIntoJaggedPermuteGetWorkspaceSize(const aclTensor *permute, const aclTensor *inputOffset, const aclTensor *outputOffset, int64_t outputSize, aclTensor *outputPermuteOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnExpandIntoJaggedPermute(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_FLIP
#define ACLNN_PY_INDEX_ACLNN_FLIP
/* Reversal along the dimensions. */
aclnnStatus aclnnFlipGetWorkspaceSize(const aclTensor *self, const aclIntArray *dims, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlip(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_GATHER
#define ACLNN_PY_INDEX_ACLNN_GATHER
/* Elements chosen by an index tensor along one dimension. */
aclnnStatus aclnnGatherGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGather(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_GATHER_ND
#define ACLNN_PY_INDEX_ACLNN_GATHER_ND
/* Slices chosen by index tuples. */
aclnnStatus aclnnGatherNdGetWorkspaceSize(const aclTensor *self, const aclTensor *indices, bool negativeIndexSupport, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGatherNd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_GATHER_V2
#define ACLNN_PY_INDEX_ACLNN_GATHER_V2
/* Elements chosen by an index tensor along one dimension; version 2 with the parameters of aclnnGather. */
aclnnStatus aclnnGatherV2GetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGatherV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_GATHER_V3
#define ACLNN_PY_INDEX_ACLNN_GATHER_V3
/* Elements chosen by an index tensor along one dimension; version 3 adds batchDims, mode. */
aclnnStatus aclnnGatherV3GetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, int64_t batchDims, int64_t mode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGatherV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX
#define ACLNN_PY_INDEX_ACLNN_INDEX
/* Elements chosen by several index tensors. */
aclnnStatus aclnnIndexGetWorkspaceSize(const aclTensor *self, const aclTensorList *indices, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndex(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX_ADD
#define ACLNN_PY_INDEX_ACLNN_INDEX_ADD
/* Rows added at given indices. */
aclnnStatus aclnnIndexAddGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *source, const aclScalar *alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX_ADD_V2
#define ACLNN_PY_INDEX_ACLNN_INDEX_ADD_V2
/* Rows added at given indices; version 2 adds mode. */
aclnnStatus aclnnIndexAddV2GetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *source, const aclScalar *alpha, int64_t mode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexAddV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX_COPY
#define ACLNN_PY_INDEX_ACLNN_INDEX_COPY
/* Rows written at given indices. */
aclnnStatus aclnnIndexCopyGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *source, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexCopy(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Rows written at given indices, in place. */
aclnnStatus aclnnInplaceIndexCopyGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclTensor *source, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceIndexCopy(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX_FILL
#define ACLNN_PY_INDEX_ACLNN_INDEX_FILL
/* Constant written to the rows at given indices. */
aclnnStatus aclnnIndexFillGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexFill(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Constant written to the rows at given indices, in place. */
aclnnStatus aclnnInplaceIndexFillGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceIndexFill(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX_FILL_TENSOR
#define ACLNN_PY_INDEX_ACLNN_INDEX_FILL_TENSOR
/* Value of a tensor written to the rows at given indices. */
aclnnStatus aclnnIndexFillTensorGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclIntArray *index, const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexFillTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Value of a tensor written to the rows at given indices, in place. */
aclnnStatus aclnnInplaceIndexFillTensorGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclIntArray *index, const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceIndexFillTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX_PUT_IMPL
#define ACLNN_PY_INDEX_ACLNN_INDEX_PUT_IMPL
/* Values written or added at positions given by several index tensors. */
aclnnStatus aclnnIndexPutImplGetWorkspaceSize(aclTensor *selfRef, const aclTensorList *indices, const aclTensor *values, bool accumulate, bool unsafe, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexPutImpl(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INDEX_SELECT
#define ACLNN_PY_INDEX_ACLNN_INDEX_SELECT
/* Rows chosen by index. */
aclnnStatus aclnnIndexSelectGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIndexSelect(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_INVERSE
#define ACLNN_PY_INDEX_ACLNN_INVERSE
/* Inverse of each matrix. */
aclnnStatus aclnnInverseGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInverse(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_KTHVALUE
#define ACLNN_PY_INDEX_ACLNN_KTHVALUE
/* K-th smallest element along one dimension, with its index. */
aclnnStatus aclnnKthvalueGetWorkspaceSize(const aclTensor *self, int64_t k, int64_t dim, bool keepdim, aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKthvalue(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_MASKED_SCATTER
#define ACLNN_PY_INDEX_ACLNN_MASKED_SCATTER
/* Elements of a source written where a mask is true, in order, in place. */
aclnnStatus aclnnInplaceMaskedScatterGetWorkspaceSize(aclTensor *selfRef, const aclTensor *mask, const aclTensor *source, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceMaskedScatter(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL2D
#define ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL2D
/* Values put back to the positions they had before maximum pooling over height and width. */
aclnnStatus aclnnMaxUnpool2dGetWorkspaceSize(const aclTensor *self, const aclTensor *indices, const aclIntArray *outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxUnpool2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL2D_BACKWARD
#define ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL2D_BACKWARD
/* Gradient of values put back to the positions they had before maximum pooling over height and width. */
aclnnStatus aclnnMaxUnpool2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices, const aclIntArray *outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxUnpool2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL3D
#define ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL3D
/* Values put back to the positions they had before maximum pooling over depth, height and width. */
aclnnStatus aclnnMaxUnpool3dGetWorkspaceSize(const aclTensor *self, const aclTensor *indices, const aclIntArray *outputSize, const aclIntArray *stride, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxUnpool3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL3D_BACKWARD
#define ACLNN_PY_INDEX_ACLNN_MAX_UNPOOL3D_BACKWARD
/* Gradient of values put back to the positions they had before maximum pooling over depth, height and width. */
aclnnStatus aclnnMaxUnpool3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices, const aclIntArray *outputSize, const aclIntArray *stride, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxUnpool3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_MEDIAN
#define ACLNN_PY_INDEX_ACLNN_MEDIAN
/* Median of a tensor. */
aclnnStatus aclnnMedianGetWorkspaceSize(const aclTensor *self, aclTensor *valuesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMedian(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Median along one dimension, with its index. */
aclnnStatus aclnnMedianDimGetWorkspaceSize(const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMedianDim(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Median of the elements that are numbers. */
aclnnStatus aclnnNanMedianGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNanMedian(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Median of the elements that are numbers along one dimension, with its index. */
aclnnStatus aclnnNanMedianDimGetWorkspaceSize(const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNanMedianDim(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_NONZERO
#define ACLNN_PY_INDEX_ACLNN_NONZERO
/* Indices of the elements that are not zero. */
aclnnStatus aclnnNonzeroGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNonzero(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_NONZERO_V2
#define ACLNN_PY_INDEX_ACLNN_NONZERO_V2
/* Indices of the elements that are not zero; version 2 with the parameters of aclnnNonzero. */
aclnnStatus aclnnNonzeroV2GetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNonzeroV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_PUT
#define ACLNN_PY_INDEX_ACLNN_PUT
/* Values written or added at flat positions, in place. */
aclnnStatus aclnnInplacePutGetWorkspaceSize(aclTensor *selfRef, const aclTensor *index, const aclTensor *source, bool accumulate, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplacePut(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_QUANT_SCATTER
#define ACLNN_PY_INDEX_ACLNN_QUANT_SCATTER
/* Quantized rows written at given indices, in place. */
aclnnStatus aclnnInplaceQuantScatterGetWorkspaceSize(aclTensor *selfRef, const aclTensor *indices, const aclTensor *updates, const aclTensor *quantScales, const aclTensor *quantZeroPoints, int64_t axis, int64_t quantAxis, int64_t reduction, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceQuantScatter(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_QUANT_SCATTER_V2
#define ACLNN_PY_INDEX_ACLNN_QUANT_SCATTER_V2
/* Quantized rows written at given indices, in place; version 2 adds roundMode. */
aclnnStatus aclnnInplaceQuantScatterV2GetWorkspaceSize(aclTensor *selfRef, const aclTensor *indices, const aclTensor *updates, const aclTensor *quantScales, const aclTensor *quantZeroPoints, int64_t axis, int64_t quantAxis, int64_t reduction, const char *roundMode, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceQuantScatterV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_REPEAT_INTERLEAVE
#define ACLNN_PY_INDEX_ACLNN_REPEAT_INTERLEAVE
/* Each element repeated by counts in a tensor. */
aclnnStatus aclnnRepeatInterleaveGetWorkspaceSize(const aclTensor *self, const aclTensor *repeats, int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRepeatInterleave(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element repeated a number of times. */
aclnnStatus aclnnRepeatInterleaveIntGetWorkspaceSize(const aclTensor *self, int64_t repeats, int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRepeatInterleaveInt(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each slice along one dimension repeated a number of times. */
aclnnStatus aclnnRepeatInterleaveIntWithDimGetWorkspaceSize(const aclTensor *self, int64_t repeats, int64_t dim, int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRepeatInterleaveIntWithDim(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Index of each element repeated by counts in a tensor. */
aclnnStatus aclnnRepeatInterleaveTensorGetWorkspaceSize(const aclTensor *repeats, int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRepeatInterleaveTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each slice along one dimension repeated by counts in a tensor. */
aclnnStatus aclnnRepeatInterleaveWithDimGetWorkspaceSize(const aclTensor *self, const aclTensor *repeats, int64_t dim, int64_t outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRepeatInterleaveWithDim(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_REPEAT_INTERLEAVE_GRAD
#define ACLNN_PY_INDEX_ACLNN_REPEAT_INTERLEAVE_GRAD
/* Gradient of each element repeated by counts in a tensor. [document] */
aclnnStatus aclnnRepeatInterleaveGradGetWorkspaceSize(const aclTensor *yGrad, const aclTensor *repeats, int64_t axis, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRepeatInterleaveGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER
#define ACLNN_PY_INDEX_ACLNN_SCATTER
/* Elements written at an index tensor along one dimension, in place. */
aclnnStatus aclnnInplaceScatterGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclTensor *src, int64_t reduce, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceScatter(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Constant written at an index tensor along one dimension, in place. */
aclnnStatus aclnnInplaceScatterValueGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclScalar *value, int64_t reduce, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceScatterValue(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Elements written at an index tensor along one dimension. */
aclnnStatus aclnnScatterGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src, int64_t reduce, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatter(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Constant written at an index tensor along one dimension. */
aclnnStatus aclnnScatterValueGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclScalar *value, int64_t reduce, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterValue(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_ADD
#define ACLNN_PY_INDEX_ACLNN_SCATTER_ADD
/* Elements added at an index tensor along one dimension. */
aclnnStatus aclnnScatterAddGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_DIV
#define ACLNN_PY_INDEX_ACLNN_SCATTER_DIV
/* Division by elements at given indices. [document] */
aclnnStatus aclnnScatterDivGetWorkspaceSize(aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, bool useLocking, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterDiv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_LIST
#define ACLNN_PY_INDEX_ACLNN_SCATTER_LIST
/* Updates written to the tensors of a list at given positions. [document] */
aclnnStatus aclnnScatterListGetWorkspaceSize(aclTensorList *varRef, const aclTensor *indice, const aclTensor *updates, const aclTensor *maskOptional, const char *reduceOptional, int64_t axis, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterList(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_MAX
#define ACLNN_PY_INDEX_ACLNN_SCATTER_MAX
/* Maximum with elements at given indices. [document] */
aclnnStatus aclnnScatterMaxGetWorkspaceSize(aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, bool useLocking, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterMax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_MIN
#define ACLNN_PY_INDEX_ACLNN_SCATTER_MIN
/* Minimum with elements at given indices. [document] */
aclnnStatus aclnnScatterMinGetWorkspaceSize(aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, bool useLocking, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterMin(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_MUL
#define ACLNN_PY_INDEX_ACLNN_SCATTER_MUL
/* Product with elements at given indices. [document] */
aclnnStatus aclnnScatterMulGetWorkspaceSize(aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, bool useLocking, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_ND
#define ACLNN_PY_INDEX_ACLNN_SCATTER_ND
/* Slices summed into a zero tensor at index tuples. */
aclnnStatus aclnnScatterNdGetWorkspaceSize(const aclTensor *data, const aclTensor *indices, const aclTensor *updates, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterNd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_ND_UPDATE
#define ACLNN_PY_INDEX_ACLNN_SCATTER_ND_UPDATE
/* Slices written at index tuples. */
aclnnStatus aclnnScatterNdUpdateGetWorkspaceSize(aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterNdUpdate(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_REDUCE
#define ACLNN_PY_INDEX_ACLNN_SCATTER_REDUCE
/* Elements reduced into positions of an index tensor, in place. */
aclnnStatus aclnnInplaceScatterReduceGetWorkspaceSize(aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclTensor *src, int64_t reduce, bool includeSelf, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceScatterReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Elements reduced into positions of an index tensor. */
aclnnStatus aclnnScatterReduceGetWorkspaceSize(const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src, int64_t reduce, bool includeSelf, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScatterReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_SCATTER_UPDATE
#define ACLNN_PY_INDEX_ACLNN_SCATTER_UPDATE
/* Rows written at given indices, in place. */
aclnnStatus aclnnInplaceScatterUpdateGetWorkspaceSize(aclTensor *dataRef, const aclTensor *indices, const aclTensor *updates, int64_t axis, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceScatterUpdate(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_TAKE
#define ACLNN_PY_INDEX_ACLNN_TAKE
/* Elements chosen by flat index. */
aclnnStatus aclnnTakeGetWorkspaceSize(const aclTensor *self, const aclTensor *index, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTake(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_TF_SCATTER_ADD
#define ACLNN_PY_INDEX_ACLNN_TF_SCATTER_ADD
/* Rows added at given indices. */
aclnnStatus aclnnTfScatterAddGetWorkspaceSize(aclTensor *varRef, const aclTensor *indices, const aclTensor *updates, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTfScatterAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_TOP_K_TOP_P_SAMPLE
#define ACLNN_PY_INDEX_ACLNN_TOP_K_TOP_P_SAMPLE
/* Draw of a token among the k best within cumulated probability p. [document] Direction settled by meaning: logitsSelectIdx, logitsTopKPSelect written; logits, topK, topP, qOptional read. */
aclnnStatus aclnnTopKTopPSampleGetWorkspaceSize(const aclTensor *logits, const aclTensor *topK, const aclTensor *topP, const aclTensor *qOptional, double eps, bool isNeedLogits, int64_t topKGuess, aclTensor *logitsSelectIdx, aclTensor *logitsTopKPSelect, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTopKTopPSample(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_TOP_K_TOP_P_SAMPLE_V2
#define ACLNN_PY_INDEX_ACLNN_TOP_K_TOP_P_SAMPLE_V2
/* Draw of a token among the k best within cumulated probability p; version 2 adds minPsOptional, ksMax, inputIsLogits, isNeedSampleResult, logitsIdx, logitsSortMasked. [document] */
aclnnStatus aclnnTopKTopPSampleV2GetWorkspaceSize(const aclTensor *logits, const aclTensor *topK, const aclTensor *topP, const aclTensor *qOptional, const aclTensor *minPsOptional, double eps, bool isNeedLogits, int64_t topKGuess, int64_t ksMax, bool inputIsLogits, bool isNeedSampleResult, aclTensor *logitsSelectIdx, aclTensor *logitsTopKPSelect, aclTensor *logitsIdx, aclTensor *logitsSortMasked, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTopKTopPSampleV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_UNIQUE
#define ACLNN_PY_INDEX_ACLNN_UNIQUE
/* Different elements, with their inverse indices. */
aclnnStatus aclnnUniqueGetWorkspaceSize(const aclTensor *self, bool sorted, bool returnInverse, aclTensor *valueOut, aclTensor *inverseOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUnique(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_UNIQUE2
#define ACLNN_PY_INDEX_ACLNN_UNIQUE2
/* Different elements, with their inverse indices and counts. */
aclnnStatus aclnnUnique2GetWorkspaceSize(const aclTensor *self, bool sorted, bool returnInverse, bool returnCounts, aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUnique2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_UNIQUE_CONSECUTIVE
#define ACLNN_PY_INDEX_ACLNN_UNIQUE_CONSECUTIVE
/* Elements that differ from the one before, with inverse indices and counts. */
aclnnStatus aclnnUniqueConsecutiveGetWorkspaceSize(const aclTensor *self, bool returnInverse, bool returnCounts, int64_t dim, aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUniqueConsecutive(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_INDEX_ACLNN_UNIQUE_DIM
#define ACLNN_PY_INDEX_ACLNN_UNIQUE_DIM
/* Different slices along one dimension, with inverse indices and counts. */
aclnnStatus aclnnUniqueDimGetWorkspaceSize(const aclTensor *self, bool sorted, bool returnInverse, int64_t dim, aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUniqueDim(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_INDEX_H */
