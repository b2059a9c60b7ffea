/* SPDX-License-Identifier: Apache-2.0 */
/* Routing of tokens to experts. */
#ifndef ACLNN_PY_ACLNNOP_MOE_H
#define ACLNN_PY_ACLNNOP_MOE_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_MOE_ACLNN_MOE_COMPUTE_EXPERT_TOKENS
#define ACLNN_PY_MOE_ACLNN_MOE_COMPUTE_EXPERT_TOKENS
/* Running count of the tokens of each expert. [document] */
aclnnStatus aclnnMoeComputeExpertTokensGetWorkspaceSize(const aclTensor *sortedExperts, int64_t numExperts, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeComputeExpertTokens(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING
#define ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING
/* Expert results combined to their tokens by weight. [document] */
aclnnStatus aclnnMoeFinalizeRoutingGetWorkspaceSize(const aclTensor *expandedX, const aclTensor *x1, const aclTensor *x2Optional, const aclTensor *bias, const aclTensor *scales, const aclTensor *expandedRowIdx, const aclTensor *expandedExpertIdx, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeFinalizeRouting(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V2
#define ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V2
/* Expert results combined to their tokens by weight; version 2 adds expertIdx, dropPadMode, drops expandedExpertIdx. */
aclnnStatus aclnnMoeFinalizeRoutingV2GetWorkspaceSize(const aclTensor *expandedX, const aclTensor *expandedRowIdx, const aclTensor *x1Optional, const aclTensor *x2Optional, const aclTensor *biasOptional, const aclTensor *scalesOptional, const aclTensor *expertIdxOptional, int64_t dropPadMode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeFinalizeRoutingV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V2_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V2_GRAD
/* Gradient of expert results combined to their tokens by weight. */
aclnnStatus aclnnMoeFinalizeRoutingV2GradGetWorkspaceSize(const aclTensor *gradY, const aclTensor *expandedRowIdx, const aclTensor *expandedXOptional, const aclTensor *scalesOptional, const aclTensor *expertIdxOptional, const aclTensor *biasOptional, int64_t dropPadMode, int64_t activeNum, int64_t expertNum, int64_t expertCapacity, aclTensor *gradExpandedXOut, aclTensor *gradScalesOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeFinalizeRoutingV2Grad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V3
#define ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V3
/* Expert results combined to their tokens by weight; version 3 adds x, a1, a2, v, zeroExpertRange, copyExpertRange, constantExpertRange. Direction settled by meaning: a1Optional, a2Optional read. */
aclnnStatus aclnnMoeFinalizeRoutingV3GetWorkspaceSize(const aclTensor *expandedX, const aclTensor *expandedRowIdx, const aclTensor *x1Optional, const aclTensor *x2Optional, const aclTensor *biasOptional, const aclTensor *scalesOptional, const aclTensor *expertIdxOptional, const aclTensor *xOptional, const aclTensor *a1Optional, const aclTensor *a2Optional, const aclTensor *vOptional, int64_t dropPadMode, const aclIntArray *zeroExpertRange, const aclIntArray *copyExpertRange, const aclIntArray *constantExpertRange, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeFinalizeRoutingV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V4
#define ACLNN_PY_MOE_ACLNN_MOE_FINALIZE_ROUTING_V4
/* Expert results combined to their tokens by weight; version 4 adds k. Direction settled by meaning: a1Optional, a2Optional read. */
aclnnStatus aclnnMoeFinalizeRoutingV4GetWorkspaceSize(const aclTensor *expandedX, const aclTensor *expandedRowIdx, const aclTensor *x1Optional, const aclTensor *x2Optional, const aclTensor *biasOptional, const aclTensor *scalesOptional, const aclTensor *expertIdxOptional, const aclTensor *xOptional, const aclTensor *a1Optional, const aclTensor *a2Optional, const aclTensor *vOptional, int64_t dropPadMode, const aclIntArray *zeroExpertRange, const aclIntArray *copyExpertRange, const aclIntArray *constantExpertRange, int64_t k, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeFinalizeRoutingV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_FUSED_TOPK
#define ACLNN_PY_MOE_ACLNN_MOE_FUSED_TOPK
/* Gate scores, group choice and the k best experts of each token. Direction settled by meaning: y, indices written; x, addNum, mappingNum, mappingTable read. */
aclnnStatus aclnnMoeFusedTopkGetWorkspaceSize(const aclTensor *x, const aclTensor *addNum, const aclTensor *mappingNum, const aclTensor *mappingTable, uint32_t groupNum, uint32_t groupTopk, uint32_t topN, uint32_t topK, uint32_t activateType, bool isNorm, float scale, bool enableExpertMapping, aclTensor *y, aclTensor *indices, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeFusedTopk(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K
#define ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K
/* Gate scores and the k best experts of each token, by groups. */
aclnnStatus aclnnMoeGatingTopKGetWorkspaceSize(const aclTensor *x, const aclTensor *biasOptional, int64_t k, int64_t kGroup, int64_t groupCount, int64_t groupSelectMode, int64_t renorm, int64_t normType, bool outFlag, double routedScalingFactor, double eps, aclTensor *yOut, aclTensor *expertIdxOut, aclTensor *outOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeGatingTopK(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_BACKWARD
#define ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_BACKWARD
/* Gradient of the gate scores and the k best experts of each token, by groups. [document] */
aclnnStatus aclnnMoeGatingTopKBackwardGetWorkspaceSize(const aclTensor *xNorm, const aclTensor *gradY, const aclTensor *expertIdx, int64_t renorm, int64_t normType, double routedScalingFactor, double eps, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeGatingTopKBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_SOFTMAX
#define ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_SOFTMAX
/* Softmax of the gate logits and the k best experts of each token. [document] */
aclnnStatus aclnnMoeGatingTopKSoftmaxGetWorkspaceSize(const aclTensor *x, const aclTensor *finishedOptional, int64_t k, aclTensor *yOut, aclTensor *expertIdxOut, aclTensor *rowIdxOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeGatingTopKSoftmax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_SOFTMAX_V2
#define ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_SOFTMAX_V2
/* Softmax of the gate logits and the k best experts of each token; version 2 adds renorm, outputSoftmaxResultFlag, softmaxResultOut, drops rowIdxOut. [document] */
aclnnStatus aclnnMoeGatingTopKSoftmaxV2GetWorkspaceSize(const aclTensor *x, const aclTensor *finishedOptional, int64_t k, int64_t renorm, bool outputSoftmaxResultFlag, aclTensor *yOut, aclTensor *expertIdxOut, aclTensor *softmaxResultOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeGatingTopKSoftmaxV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_V2
#define ACLNN_PY_MOE_ACLNN_MOE_GATING_TOP_K_V2
/* Gate scores and the k best experts of each token, by groups; version 2 adds inputIds, tid2eid. */
aclnnStatus aclnnMoeGatingTopKV2GetWorkspaceSize(const aclTensor *x, const aclTensor *biasOptional, const aclTensor *inputIdsOptional, const aclTensor *tid2eidOptional, int64_t k, int64_t kGroup, int64_t groupCount, int64_t groupSelectMode, int64_t renorm, int64_t normType, bool outFlag, double routedScalingFactor, double eps, aclTensor *yOut, aclTensor *expertIdxOut, aclTensor *outOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeGatingTopKV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING
#define ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING
/* Tokens copied and sorted by expert. [document] */
aclnnStatus aclnnMoeInitRoutingGetWorkspaceSize(const aclTensor *x, const aclTensor *rowIdx, const aclTensor *expertIdx, int64_t activeNum, aclTensor *expandedXOut, aclTensor *expandedRowIdxOut, aclTensor *expandedExpertIdxOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeInitRouting(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_QUANT
#define ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_QUANT
/* Tokens copied, sorted by expert and quantized. [document] */
aclnnStatus aclnnMoeInitRoutingQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *rowIdx, const aclTensor *expertIdx, int64_t activeNum, double scale, double offset, aclTensor *expandedXOut, aclTensor *expandedRowIdxOut, aclTensor *expandedExpertIdxOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeInitRoutingQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_QUANT_V2
#define ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_QUANT_V2
/* Tokens copied, sorted by expert and quantized; version 2 adds expertCapacity, expertNum, dropPadMode, expertTokensCountOrCumsumFlag, expertTokensBeforeCapacityFlag, quantMode, expertTokensCountOrCumsumOut, expertTokensBeforeCapacityOut, dynamicQuantScaleOut, drops rowIdx, expandedExpertIdxOut. [document] */
aclnnStatus aclnnMoeInitRoutingQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensor *expertIdx, const aclTensor *scaleOptional, const aclTensor *offsetOptional, int64_t activeNum, int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode, int64_t expertTokensCountOrCumsumFlag, bool expertTokensBeforeCapacityFlag, int64_t quantMode, aclTensor *expandedXOut, aclTensor *expandedRowIdxOut, aclTensor *expertTokensCountOrCumsumOutOptional, aclTensor *expertTokensBeforeCapacityOutOptional, aclTensor *dynamicQuantScaleOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeInitRoutingQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_V2
#define ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_V2
/* Tokens copied and sorted by expert; version 2 adds expertCapacity, expertNum, dropPadMode, expertTokensCountOrCumsumFlag, expertTokensBeforeCapacityFlag, expertTokensCountOrCumsumOut, expertTokensBeforeCapacityOut, drops rowIdx, expandedExpertIdxOut. Direction settled by meaning: expertTokensCountOrCumsumOutOptional, expertTokensBeforeCapacityOutOptional written. */
aclnnStatus aclnnMoeInitRoutingV2GetWorkspaceSize(const aclTensor *x, const aclTensor *expertIdx, int64_t activeNum, int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode, int64_t expertTokensCountOrCumsumFlag, bool expertTokensBeforeCapacityFlag, aclTensor *expandedXOut, aclTensor *expandedRowIdxOut, aclTensor *expertTokensCountOrCumsumOutOptional, aclTensor *expertTokensBeforeCapacityOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeInitRoutingV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_V2_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_V2_GRAD
/* Gradient of tokens copied and sorted by expert. */
aclnnStatus aclnnMoeInitRoutingV2GradGetWorkspaceSize(const aclTensor *gradExpandedX, const aclTensor *expandedRowIdx, int64_t topK, int64_t dropPadMode, int64_t activeNum, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeInitRoutingV2Grad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_V3
#define ACLNN_PY_MOE_ACLNN_MOE_INIT_ROUTING_V3
/* Tokens copied and sorted by expert; version 3 adds scale, offset, expertTokensNumType, expertTokensNumFlag, quantMode, activeExpertRange, rowIdxType, expandedScaleOut, drops expertTokensCountOrCumsumFlag, expertTokensBeforeCapacityFlag, expertTokensBeforeCapacityOut. Direction settled by meaning: expandedXOut, expandedRowIdxOut, expertTokensCountOrCumsumOut, expandedScaleOut written; x, expertIdx, scaleOptional, offsetOptional, activeExpertRangeOptional read. */
aclnnStatus aclnnMoeInitRoutingV3GetWorkspaceSize(const aclTensor *x, const aclTensor *expertIdx, const aclTensor *scaleOptional, const aclTensor *offsetOptional, int64_t activeNum, int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode, int64_t expertTokensNumType, bool expertTokensNumFlag, int64_t quantMode, const aclIntArray *activeExpertRangeOptional, int64_t rowIdxType, aclTensor *expandedXOut, aclTensor *expandedRowIdxOut, aclTensor *expertTokensCountOrCumsumOut, aclTensor *expandedScaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeInitRoutingV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE
/* Tokens copied and sorted by expert. */
aclnnStatus aclnnMoeTokenPermuteGetWorkspaceSize(const aclTensor *tokens, const aclTensor *indices, int64_t numOutTokens, bool paddedMode, aclTensor *permuteTokensOut, aclTensor *sortedIndicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenPermute(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_GRAD
/* Gradient of tokens copied and sorted by expert. */
aclnnStatus aclnnMoeTokenPermuteGradGetWorkspaceSize(const aclTensor *permutedOutputGrad, const aclTensor *sortedIndices, int64_t numTopk, bool paddedMode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenPermuteGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_V2
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_V2
/* Tokens copied and sorted by expert; version 2 adds quantMode, expandedScaleOut. Direction settled by meaning: permuteTokensOut, sortedIndicesOut, expandedScaleOut written; tokens, indices read. */
aclnnStatus aclnnMoeTokenPermuteV2GetWorkspaceSize(const aclTensor *tokens, const aclTensor *indices, int64_t numOutTokens, bool paddedMode, int64_t quantMode, aclTensor *permuteTokensOut, aclTensor *sortedIndicesOut, aclTensor *expandedScaleOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenPermuteV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_EP
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_EP
/* Tokens of the experts of this rank copied and sorted. [document] */
aclnnStatus aclnnMoeTokenPermuteWithEpGetWorkspaceSize(const aclTensor *tokens, const aclTensor *indices, const aclTensor *probsOptional, const aclIntArray *rangeOptional, int64_t numOutTokens, bool paddedMode, aclTensor *permuteTokensOut, aclTensor *sortedIndicesOut, aclTensor *permuteProbsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenPermuteWithEp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_EP_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_EP_GRAD
/* Gradient of tokens of the experts of this rank copied and sorted. [document] */
aclnnStatus aclnnMoeTokenPermuteWithEpGradGetWorkspaceSize(const aclTensor *permutedTokensOutputGrad, const aclTensor *sortedIndices, const aclTensor *permutedProbsOutputGradOptional, int64_t numTopk, const aclIntArray *rangeOptional, bool paddedMode, aclTensor *tokenGradOut, aclTensor *probsGradOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenPermuteWithEpGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_ROUTING_MAP
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_ROUTING_MAP
/* Tokens copied and sorted by a map of tokens and experts. */
aclnnStatus aclnnMoeTokenPermuteWithRoutingMapGetWorkspaceSize(const aclTensor *tokens, const aclTensor *routingMap, const aclTensor *probsOptional, int64_t numOutTokens, bool dropAndPad, aclTensor *permuteTokensOut, aclTensor *permuteProbsOutOptional, aclTensor *sortedIndicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenPermuteWithRoutingMap(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_ROUTING_MAP_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_PERMUTE_WITH_ROUTING_MAP_GRAD
/* Gradient of tokens copied and sorted by a map of tokens and experts. Direction settled by meaning: tokensGradOut written; permutedTokenOutputGrad read. */
aclnnStatus aclnnMoeTokenPermuteWithRoutingMapGradGetWorkspaceSize(const aclTensor *permutedTokenOutputGrad, const aclTensor *permutedProbsOutputGradOptional, const aclTensor *sortedIndices, const aclTensor *routingMapOptional, int64_t numExperts, int64_t tokensNum, bool dropAndPad, aclTensor *tokensGradOut, aclTensor *probsGradOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenPermuteWithRoutingMapGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE
/* Sorted expert results put back to their tokens and summed by weight. */
aclnnStatus aclnnMoeTokenUnpermuteGetWorkspaceSize(const aclTensor *permutedTokens, const aclTensor *sortedIndices, const aclTensor *probsOptional, bool paddedMode, const aclIntArray *restoreShapeOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenUnpermute(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_GRAD
/* Gradient of sorted expert results put back to their tokens and summed by weight. Direction settled by meaning: permuteTokensOptional read. */
aclnnStatus aclnnMoeTokenUnpermuteGradGetWorkspaceSize(const aclTensor *permuteTokensOptional, const aclTensor *unpermutedTokensGrad, const aclTensor *sortedIndices, const aclTensor *probsOptional, bool paddedMode, const aclIntArray *restoreShapeOptional, aclTensor *permutedTokensGradOut, aclTensor *probsGradOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenUnpermuteGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_EP
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_EP
/* Sorted results of the experts of this rank put back to their tokens. [document] Direction settled by meaning: out written; permutedTokens, sortedIndices, probsOptional, rangeOptional, restoreShapeOptional read. */
aclnnStatus aclnnMoeTokenUnpermuteWithEpGetWorkspaceSize(const aclTensor *permutedTokens, const aclTensor *sortedIndices, const aclTensor *probsOptional, int64_t numTopk, const aclIntArray *rangeOptional, bool paddedMode, const aclIntArray *restoreShapeOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenUnpermuteWithEp(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_EP_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_EP_GRAD
/* Gradient of sorted results of the experts of this rank put back to their tokens. [document] */
aclnnStatus aclnnMoeTokenUnpermuteWithEpGradGetWorkspaceSize(const aclTensor *unpermutedTokensGrad, const aclTensor *sortedIndices, const aclTensor *permutedTokensOptional, const aclTensor *probsOptional, bool paddedMode, const aclIntArray *restoreShapeOptional, const aclIntArray *rangeOptional, int64_t topkNum, aclTensor *permutedTokensGradOut, aclTensor *probsGradOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenUnpermuteWithEpGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_ROUTING_MAP
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_ROUTING_MAP
/* Sorted expert results put back by a map of tokens and experts. */
aclnnStatus aclnnMoeTokenUnpermuteWithRoutingMapGetWorkspaceSize(const aclTensor *permutedTokens, const aclTensor *sortedIndices, const aclTensor *routingMapOptional, const aclTensor *probsOptional, bool paddedMode, const aclIntArray *restoreShapeOptional, aclTensor *unpermutedTokens, aclTensor *outIndex, aclTensor *permuteTokenId, aclTensor *permuteProbs, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenUnpermuteWithRoutingMap(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_ROUTING_MAP_GRAD
#define ACLNN_PY_MOE_ACLNN_MOE_TOKEN_UNPERMUTE_WITH_ROUTING_MAP_GRAD
/* Gradient of sorted expert results put back by a map of tokens and experts. [document] */
aclnnStatus aclnnMoeTokenUnpermuteWithRoutingMapGradGetWorkspaceSize(const aclTensor *unpermutedTokensGrad, const aclTensor *outIndex, const aclTensor *permuteTokenId, const aclTensor *routingMapOptional, const aclTensor *permutedTokensOptional, const aclTensor *probsOptional, bool dropAndPad, const aclIntArray *restoreShapeOptional, aclTensor *permutedTokensGradOut, aclTensor *probsGradOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeTokenUnpermuteWithRoutingMapGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_MOE_H */
