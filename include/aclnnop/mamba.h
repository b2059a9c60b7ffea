/* SPDX-License-Identifier: Apache-2.0 */
/* State space models. */
#ifndef ACLNN_PY_ACLNNOP_MAMBA_H
#define ACLNN_PY_ACLNNOP_MAMBA_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_MAMBA_ACLNN_CAUSAL_CONV1D_FN
#define ACLNN_PY_MAMBA_ACLNN_CAUSAL_CONV1D_FN
/* Causal convolution along a sequence with a state carried between calls. */
aclnnStatus aclnnCausalConv1dFnGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, aclTensor *convStatesRef, const aclTensor *biasOptional, const aclTensor *queryStartLocOptional, const aclTensor *cacheIndicesOptional, const aclTensor *initialStateModeOptional, const aclTensor *blockIdxFirstScheduledTokenOptional, const aclTensor *blockIdxLastScheduledTokenOptional, const aclTensor *initialStateIdxOptional, const aclTensor *numComputedTokensOptional, const char *activation, int64_t nullBlockId, int64_t blockSizeToAlign, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCausalConv1dFn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MAMBA_ACLNN_CAUSAL_CONV1D_UPDATE
#define ACLNN_PY_MAMBA_ACLNN_CAUSAL_CONV1D_UPDATE
/* One decoding step of the causal convolution along a sequence. */
aclnnStatus aclnnCausalConv1dUpdateGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, aclTensor *convStatesRef, const aclTensor *biasOptional, const aclTensor *queryStartLocOptional, const aclTensor *cacheIndicesOptional, const aclTensor *numAcceptedTokensOptional, const aclTensor *blockIdxLastScheduledTokenOptional, const aclTensor *initialStateIdxOptional, const char *activation, int64_t nullBlockId, int64_t maxQueryLen, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCausalConv1dUpdate(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_MAMBA_H */
