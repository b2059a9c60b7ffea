/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the operator library that answer at once, without executor or stream. */
#ifndef ACLNN_PY_ACLNN_HOST_CALLS_H
#define ACLNN_PY_ACLNN_HOST_CALLS_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

/* Elements of a weight of the given shape in FRACTAL_NZ; the first form counts as for two-byte types. */
aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape, uint64_t *weightTensorSize);
aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape, aclDataType dataType, uint64_t *weightTensorSize);
/* Packs scales and offsets into 64-bit parameters. The caller frees the array with free(). */
aclnnStatus aclnnTransQuantParam(const float *scaleArray, uint64_t scaleSize, const float *offsetArray, uint64_t offsetSize, uint64_t **quantParam, uint64_t *quantParamSize);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNN_HOST_CALLS_H */
