/* SPDX-License-Identifier: Apache-2.0 */
/* Feed-forward blocks. */
#ifndef ACLNN_PY_ACLNNOP_FFN_H
#define ACLNN_PY_ACLNNOP_FFN_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_FFN_ACLNN_FFN
#define ACLNN_PY_FFN_ACLNN_FFN
/* Feed-forward block of two matrix products and an activation, one per expert. */
aclnnStatus aclnnFFNGetWorkspaceSize(const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2, const aclIntArray *expertTokensOptional, const aclTensor *bias1Optional, const aclTensor *bias2Optional, const aclTensor *scaleOptional, const aclTensor *offsetOptional, const aclTensor *deqScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *antiquantScale1Optional, const aclTensor *antiquantScale2Optional, const aclTensor *antiquantOffset1Optional, const aclTensor *antiquantOffset2Optional, const char *activation, int64_t innerPrecise, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFFN(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FFN_ACLNN_FFN_V2
#define ACLNN_PY_FFN_ACLNN_FFN_V2
/* Feed-forward block of two matrix products and an activation, one per expert; version 2 adds tokensIndexFlag. */
aclnnStatus aclnnFFNV2GetWorkspaceSize(const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2, const aclIntArray *expertTokens, const aclTensor *bias1, const aclTensor *bias2, const aclTensor *scale, const aclTensor *offset, const aclTensor *deqScale1, const aclTensor *deqScale2, const aclTensor *antiquantScale1, const aclTensor *antiquantScale2, const aclTensor *antiquantOffset1, const aclTensor *antiquantOffset2, const char *activation, int64_t innerPrecise, bool tokensIndexFlag, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFFNV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FFN_ACLNN_FFN_V3
#define ACLNN_PY_FFN_ACLNN_FFN_V3
/* Feed-forward block of two matrix products and an activation, one per expert; version 3 with the parameters of aclnnFFNV2. */
aclnnStatus aclnnFFNV3GetWorkspaceSize(const aclTensor *x, const aclTensor *weight1, const aclTensor *weight2, const aclTensor *expertTokensOptional, const aclTensor *bias1Optional, const aclTensor *bias2Optional, const aclTensor *scaleOptional, const aclTensor *offsetOptional, const aclTensor *deqScale1Optional, const aclTensor *deqScale2Optional, const aclTensor *antiquantScale1Optional, const aclTensor *antiquantScale2Optional, const aclTensor *antiquantOffset1Optional, const aclTensor *antiquantOffset2Optional, const char *activation, int64_t innerPrecise, bool tokensIndexFlag, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFFNV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FFN_ACLNN_FFN_WORKER_BATCHING
#define ACLNN_PY_FFN_ACLNN_FFN_WORKER_BATCHING
/* Regrouping of the tokens of a feed-forward worker by expert. [document] */
aclnnStatus aclnnFfnWorkerBatchingGetWorkspaceSize(const aclTensor *scheduleContext, int64_t expertNum, const aclIntArray *maxOutShape, int64_t tokenDtype, int64_t needSchedule, int64_t layerNum, aclTensor *y, aclTensor *groupList, aclTensor *sessionIds, aclTensor *microBatchIds, aclTensor *tokenIds, aclTensor *expertOffsets, aclTensor *dynamicScale, aclTensor *actualTokenNum, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFfnWorkerBatching(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FFN_ACLNN_FFN_WORKER_SCHEDULER
#define ACLNN_PY_FFN_ACLNN_FFN_WORKER_SCHEDULER
/* Wait of a feed-forward worker for tokens of its micro batch, in place. */
aclnnStatus aclnnInplaceFfnWorkerSchedulerGetWorkspaceSize(aclTensor *scheduleContextRef, int32_t syncGroupSize, int32_t executeMode, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceFfnWorkerScheduler(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_FFN_ACLNN_SWIN_TRANSFORMER_LN_QKV_QUANT
#define ACLNN_PY_FFN_ACLNN_SWIN_TRANSFORMER_LN_QKV_QUANT
/* Layer normalization, projection and quantization of query, key and value of windows. [document] */
aclnnStatus aclnnSwinTransformerLnQkvQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *gamma, const aclTensor *beta, const aclTensor *weight, const aclTensor *bias, const aclTensor *quantScale, const aclTensor *quantOffset, const aclTensor *dequantScale, int64_t headNum, int64_t seqLength, double epsilon, int64_t oriHeight, int64_t oriWeight, int64_t hWinSize, int64_t wWinSize, bool weightTranspose, aclTensor *queryOutputOut, aclTensor *keyOutputOut, aclTensor *valueOutputOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwinTransformerLnQkvQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_FFN_H */
