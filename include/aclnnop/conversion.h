/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, casts, views, concatenation, padding and other changes of layout. */
#ifndef ACLNN_PY_ACLNNOP_CONVERSION_H
#define ACLNN_PY_ACLNNOP_CONVERSION_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_CONVERSION_ACLNN_CAT
#define ACLNN_PY_CONVERSION_ACLNN_CAT
/* Concatenation of the tensors of a list along one dimension. */
aclnnStatus aclnnCatGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCat(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CHANNEL_SHUFFLE
#define ACLNN_PY_CONVERSION_ACLNN_CHANNEL_SHUFFLE
/* Channels divided into groups and interleaved. */
aclnnStatus aclnnChannelShuffleGetWorkspaceSize(const aclTensor *self, int64_t groups, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnChannelShuffle(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CHUNK_CAT
#define ACLNN_PY_CONVERSION_ACLNN_CHUNK_CAT
/* Tensors of a list split into chunks along one dimension and concatenated chunk by chunk. */
aclnnStatus aclnnChunkCatGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, int64_t numChunks, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnChunkCat(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD2D
#define ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD2D
/* Circular padding of the last two dimensions. */
aclnnStatus aclnnCircularPad2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCircularPad2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD2D_BACKWARD
#define ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD2D_BACKWARD
/* Gradient of circular padding of the last two dimensions. */
aclnnStatus aclnnCircularPad2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCircularPad2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD3D
#define ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD3D
/* Circular padding of the last three dimensions. */
aclnnStatus aclnnCircularPad3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCircularPad3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD3D_BACKWARD
#define ACLNN_PY_CONVERSION_ACLNN_CIRCULAR_PAD3D_BACKWARD
/* Gradient of circular padding of the last three dimensions. */
aclnnStatus aclnnCircularPad3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCircularPad3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CLAMP
#define ACLNN_PY_CONVERSION_ACLNN_CLAMP
/* Each element limited to an interval. */
aclnnStatus aclnnClampGetWorkspaceSize(const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClamp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited from above by a scalar. */
aclnnStatus aclnnClampMaxGetWorkspaceSize(const aclTensor *self, const aclScalar *clipValueMax, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClampMax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited from above by a tensor. */
aclnnStatus aclnnClampMaxTensorGetWorkspaceSize(const aclTensor *self, const aclTensor *max, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClampMaxTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited from below by a scalar. */
aclnnStatus aclnnClampMinGetWorkspaceSize(const aclTensor *self, const aclScalar *clipValueMin, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClampMin(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited from below by a tensor. */
aclnnStatus aclnnClampMinTensorGetWorkspaceSize(const aclTensor *self, const aclTensor *clipValueMin, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClampMinTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited to an interval given by tensors. */
aclnnStatus aclnnClampTensorGetWorkspaceSize(const aclTensor *self, const aclTensor *clipValueMin, const aclTensor *clipValueMax, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClampTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited from above by a scalar, in place. */
aclnnStatus aclnnInplaceClampMaxGetWorkspaceSize(aclTensor *selfRef, const aclScalar *clipValueMax, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceClampMax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited from above by a tensor, in place. */
aclnnStatus aclnnInplaceClampMaxTensorGetWorkspaceSize(aclTensor *selfRef, const aclTensor *max, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceClampMaxTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited from below by a tensor, in place. */
aclnnStatus aclnnInplaceClampMinTensorGetWorkspaceSize(aclTensor *selfRef, const aclTensor *clipValueMin, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceClampMinTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CONFUSION_TRANSPOSE
#define ACLNN_PY_CONVERSION_ACLNN_CONFUSION_TRANSPOSE
/* Transposition and reshape in one step. */
aclnnStatus aclnnConfusionTransposeGetWorkspaceSize(const aclTensor *x, const aclIntArray *perm, const aclIntArray *shape, bool transpose_first, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConfusionTranspose(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_CONSTANT_PAD_ND
#define ACLNN_PY_CONVERSION_ACLNN_CONSTANT_PAD_ND
/* Padding with one value. */
aclnnStatus aclnnConstantPadNdGetWorkspaceSize(const aclTensor *self, const aclIntArray *pad, const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConstantPadNd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_COPY
#define ACLNN_PY_CONVERSION_ACLNN_COPY
/* Copy of a tensor into another with conversion and broadcast, in place. */
aclnnStatus aclnnInplaceCopyGetWorkspaceSize(aclTensor *selfRef, const aclTensor *src, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceCopy(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_DIAG
#define ACLNN_PY_CONVERSION_ACLNN_DIAG
/* Diagonal of a matrix, or a matrix with a given diagonal. */
aclnnStatus aclnnDiagGetWorkspaceSize(const aclTensor *self, int64_t diagonal, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDiag(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_DIAG_FLAT
#define ACLNN_PY_CONVERSION_ACLNN_DIAG_FLAT
/* Matrix whose diagonal is the flattened input. */
aclnnStatus aclnnDiagFlatGetWorkspaceSize(const aclTensor *self, int64_t diagonal, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDiagFlat(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_FILL_DIAGONAL
#define ACLNN_PY_CONVERSION_ACLNN_FILL_DIAGONAL
/* Constant written to the diagonal, in place. */
aclnnStatus aclnnInplaceFillDiagonalGetWorkspaceSize(aclTensor *selfRef, const aclScalar *fillValue, bool wrap, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceFillDiagonal(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_FILL_SCALAR
#define ACLNN_PY_CONVERSION_ACLNN_FILL_SCALAR
/* Constant written to every element, in place. */
aclnnStatus aclnnInplaceFillScalarGetWorkspaceSize(aclTensor *selfRef, const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceFillScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_FILL_TENSOR
#define ACLNN_PY_CONVERSION_ACLNN_FILL_TENSOR
/* Value of a tensor written to every element, in place. */
aclnnStatus aclnnInplaceFillTensorGetWorkspaceSize(aclTensor *selfRef, const aclTensor *value, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceFillTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_FLATTEN
#define ACLNN_PY_CONVERSION_ACLNN_FLATTEN
/* Tensor flattened to a matrix at one dimension. */
aclnnStatus aclnnFlattenGetWorkspaceSize(const aclTensor *self, int64_t axis, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFlatten(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_HARDTANH
#define ACLNN_PY_CONVERSION_ACLNN_HARDTANH
/* Each element limited to an interval. Direction settled by meaning: out written; self read. */
aclnnStatus aclnnHardtanhGetWorkspaceSize(const aclTensor *self, const aclScalar *clipValueMin, const aclScalar *clipValueMax, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardtanh(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Each element limited to an interval, in place. */
aclnnStatus aclnnInplaceHardtanhGetWorkspaceSize(aclTensor *selfRef, const aclScalar *clipValueMin, const aclScalar *clipValueMax, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceHardtanh(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_IM2COL
#define ACLNN_PY_CONVERSION_ACLNN_IM2COL
/* Sliding blocks unfolded into columns. */
aclnnStatus aclnnIm2colGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *dilation, const aclIntArray *padding, const aclIntArray *stride, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIm2col(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_MASKED_FILL_SCALAR
#define ACLNN_PY_CONVERSION_ACLNN_MASKED_FILL_SCALAR
/* Scalar written where a mask is true, in place. */
aclnnStatus aclnnInplaceMaskedFillScalarGetWorkspaceSize(aclTensor *selfRef, const aclTensor *mask, const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceMaskedFillScalar(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_MASKED_FILL_TENSOR
#define ACLNN_PY_CONVERSION_ACLNN_MASKED_FILL_TENSOR
/* Value of a tensor written where a mask is true, in place. */
aclnnStatus aclnnInplaceMaskedFillTensorGetWorkspaceSize(aclTensor *selfRef, const aclTensor *mask, const aclTensor *value, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceMaskedFillTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_MASKED_SELECT
#define ACLNN_PY_CONVERSION_ACLNN_MASKED_SELECT
/* Elements where a mask is true. */
aclnnStatus aclnnMaskedSelectGetWorkspaceSize(const aclTensor *self, const aclTensor *mask, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaskedSelect(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_NPU_FORMAT_CAST
#define ACLNN_PY_CONVERSION_ACLNN_NPU_FORMAT_CAST
/* Copy of a tensor into another storage format. */
aclnnStatus aclnnNpuFormatCastGetWorkspaceSize(const aclTensor *srcTensor, aclTensor *dstTensor, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNpuFormatCast(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_PAD2D_BACKWARD
#define ACLNN_PY_CONVERSION_ACLNN_PAD2D_BACKWARD
/* Gradient of mirrored padding of the last two dimensions. */
aclnnStatus aclnnReflectionPad2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReflectionPad2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of the padding of the last two dimensions with their border. */
aclnnStatus aclnnReplicationPad2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReplicationPad2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_PERMUTE
#define ACLNN_PY_CONVERSION_ACLNN_PERMUTE
/* Dimensions in another order. */
aclnnStatus aclnnPermuteGetWorkspaceSize(const aclTensor *self, const aclIntArray *dims, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnPermute(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD1D
#define ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD1D
/* Mirrored padding of the last dimension. */
aclnnStatus aclnnReflectionPad1dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReflectionPad1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD1D_BACKWARD
#define ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD1D_BACKWARD
/* Gradient of mirrored padding of the last dimension. */
aclnnStatus aclnnReflectionPad1dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReflectionPad1dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD2D
#define ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD2D
/* Mirrored padding of the last two dimensions. */
aclnnStatus aclnnReflectionPad2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReflectionPad2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD3D
#define ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD3D
/* Mirrored padding of the last three dimensions. */
aclnnStatus aclnnReflectionPad3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReflectionPad3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD3D_BACKWARD
#define ACLNN_PY_CONVERSION_ACLNN_REFLECTION_PAD3D_BACKWARD
/* Gradient of mirrored padding of the last three dimensions. */
aclnnStatus aclnnReflectionPad3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReflectionPad3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD1D
#define ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD1D
/* Padding of the last dimension with its border. */
aclnnStatus aclnnReplicationPad1dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReplicationPad1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD1D_BACKWARD
#define ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD1D_BACKWARD
/* Gradient of the padding of the last dimension with its border. */
aclnnStatus aclnnReplicationPad1dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReplicationPad1dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD2D
#define ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD2D
/* Padding of the last two dimensions with their border. */
aclnnStatus aclnnReplicationPad2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReplicationPad2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD3D
#define ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD3D
/* Padding of the last three dimensions with their border. */
aclnnStatus aclnnReplicationPad3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *padding, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReplicationPad3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD3D_BACKWARD
#define ACLNN_PY_CONVERSION_ACLNN_REPLICATION_PAD3D_BACKWARD
/* Gradient of the padding of the last three dimensions with their border. */
aclnnStatus aclnnReplicationPad3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *padding, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnReplicationPad3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_ROLL
#define ACLNN_PY_CONVERSION_ACLNN_ROLL
/* Elements moved around along the dimensions. */
aclnnStatus aclnnRollGetWorkspaceSize(const aclTensor *x, const aclIntArray *shifts, const aclIntArray *dims, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRoll(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_SLICE
#define ACLNN_PY_CONVERSION_ACLNN_SLICE
/* Part of a tensor along one dimension. */
aclnnStatus aclnnSliceGetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t start, int64_t end, int64_t step, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSlice(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_SLICE_V2
#define ACLNN_PY_CONVERSION_ACLNN_SLICE_V2
/* Part of a tensor along one dimension; version 2 adds starts, ends, axes, steps, drops dim, start, end, step. */
aclnnStatus aclnnSliceV2GetWorkspaceSize(const aclTensor *self, const aclIntArray *starts, const aclIntArray *ends, const aclIntArray *axes, const aclIntArray *steps, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSliceV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_SPLIT_TENSOR
#define ACLNN_PY_CONVERSION_ACLNN_SPLIT_TENSOR
/* Parts of equal size along one dimension. */
aclnnStatus aclnnSplitTensorGetWorkspaceSize(const aclTensor *self, uint64_t splitSections, int64_t dim, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSplitTensor(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_SPLIT_WITH_SIZE
#define ACLNN_PY_CONVERSION_ACLNN_SPLIT_WITH_SIZE
/* Parts of given sizes along one dimension. */
aclnnStatus aclnnSplitWithSizeGetWorkspaceSize(const aclTensor *self, const aclIntArray *splitSize, int64_t dim, aclTensorList *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSplitWithSize(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_STACK
#define ACLNN_PY_CONVERSION_ACLNN_STACK
/* Tensors of a list along a new dimension. */
aclnnStatus aclnnStackGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnStack(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_STRIDED_SLICE
#define ACLNN_PY_CONVERSION_ACLNN_STRIDED_SLICE
/* Part of a tensor by begin, end and stride of each dimension. */
aclnnStatus aclnnStridedSliceGetWorkspaceSize(const aclTensor *self, const aclIntArray *begin, const aclIntArray *end, const aclIntArray *strides, int64_t beginMask, int64_t endMask, int64_t ellipsisMask, int64_t newAxisMask, int64_t shrinkAxisMask, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnStridedSlice(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_STRIDED_SLICE_ASSIGN_V2
#define ACLNN_PY_CONVERSION_ACLNN_STRIDED_SLICE_ASSIGN_V2
/* Values written to a part given by begin, end and stride of each dimension. [document] */
aclnnStatus aclnnStridedSliceAssignV2GetWorkspaceSize(aclTensor *varRef, const aclTensor *inputValue, const aclIntArray *begin, const aclIntArray *end, const aclIntArray *strides, const aclIntArray *axesOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnStridedSliceAssignV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_TRANS_CONVOLUTION_WEIGHT
#define ACLNN_PY_CONVERSION_ACLNN_TRANS_CONVOLUTION_WEIGHT
/* Convolution weight in the layout the convolution prefers. */
aclnnStatus aclnnTransConvolutionWeightGetWorkspaceSize(const aclTensor *weightIn, bool transposed, int64_t groups, aclTensor *weightOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransConvolutionWeight(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_TRANS_MATMUL_WEIGHT
#define ACLNN_PY_CONVERSION_ACLNN_TRANS_MATMUL_WEIGHT
/* Matrix weight in the layout the matrix product prefers, in place. */
aclnnStatus aclnnTransMatmulWeightGetWorkspaceSize(aclTensor *mmWeightRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTransMatmulWeight(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_TRIL
#define ACLNN_PY_CONVERSION_ACLNN_TRIL
/* Lower triangle of each matrix, in place. */
aclnnStatus aclnnInplaceTrilGetWorkspaceSize(aclTensor *selfRef, int64_t diagonal, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceTril(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Lower triangle of each matrix. Direction settled by meaning: out written; self read. */
aclnnStatus aclnnTrilGetWorkspaceSize(const aclTensor *self, int64_t diagonal, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTril(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_TRIU
#define ACLNN_PY_CONVERSION_ACLNN_TRIU
/* Upper triangle of each matrix, in place. */
aclnnStatus aclnnInplaceTriuGetWorkspaceSize(aclTensor *selfRef, int64_t diagonal, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceTriu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Upper triangle of each matrix. */
aclnnStatus aclnnTriuGetWorkspaceSize(const aclTensor *self, int64_t diagonal, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnTriu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_UNFOLD_GRAD
#define ACLNN_PY_CONVERSION_ACLNN_UNFOLD_GRAD
/* Gradient of slices of a sliding window along one dimension. */
aclnnStatus aclnnUnfoldGradGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *inputSizes, int64_t dim, int64_t size, int64_t step, aclTensor *gradIn, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUnfoldGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONVERSION_ACLNN_WEIGHT_QUANT_PREPROCESS
#define ACLNN_PY_CONVERSION_ACLNN_WEIGHT_QUANT_PREPROCESS
/* Quantized weight arranged for the matrix product. */
aclnnStatus aclnnWeightQuantPreprocessGetWorkspaceSize(const aclTensor *weight, const aclTensor *weightScale, const aclTensor *weightOffsetOptional, const aclTensor *biasOptional, aclDataType xDtype, aclDataType xScaleDtype, int64_t kGroupSize, aclTensor *outWeight, aclTensor *outWeightScale, aclTensor *outWeightOffsetOptional, aclTensor *outBiasOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantPreprocess(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_CONVERSION_H */
