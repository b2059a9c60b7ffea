/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that compute and communicate. */
#ifndef ACLNN_PY_ACLNNOP_MC2_H
#define ACLNN_PY_ACLNNOP_MC2_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_MC2_ACLNN_ALL_GATHER_MATMUL
#define ACLNN_PY_MC2_ACLNN_ALL_GATHER_MATMUL
/* Gather of the left matrix from all ranks, then a matrix product. */
aclnnStatus aclnnAllGatherMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const char *group, int64_t gatherIndex, int64_t commTurn, int64_t streamMode, aclTensor *output, aclTensor *gatherOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAllGatherMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALL_GATHER_MATMUL_V2
#define ACLNN_PY_MC2_ACLNN_ALL_GATHER_MATMUL_V2
/* Gather of the left matrix from all ranks, then a matrix product; version 2 adds x1Scale, x2Scale, quantScale, blockSize, groupSize, commMode, amaxOut. */
aclnnStatus aclnnAllGatherMatmulV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x1ScaleOptional, const aclTensor *x2ScaleOptional, const aclTensor *quantScaleOptional, int64_t blockSize, const char *group, int64_t gatherIndex, int64_t commTurn, int64_t streamMode, int64_t groupSize, const char *commMode, aclTensor *output, aclTensor *gatherOut, aclTensor *amaxOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAllGatherMatmulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALL_TO_ALL_ALL_GATHER_BATCH_MATMUL
#define ACLNN_PY_MC2_ACLNN_ALL_TO_ALL_ALL_GATHER_BATCH_MATMUL
/* Exchange between the ranks of one group, gather inside another, then a batched matrix product. */
aclnnStatus aclnnAlltoAllAllGatherBatchMatMulGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional, const char *groupEp, const char *groupTp, int64_t epWorldSize, int64_t tpWorldSize, int64_t xShardType, int64_t actType, aclTensor *y1Out, aclTensor *y2OutOptional, aclTensor *y3OutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllAllGatherBatchMatMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALL_MATMUL
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALL_MATMUL
/* Exchange of blocks between all ranks, then a matrix product. */
aclnnStatus aclnnAlltoAllMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclIntArray *alltoAllAxesOptional, const char *group, bool transposeX1, bool transposeX2, aclTensor *output, aclTensor *alltoAllOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALL_MATMUL_V2
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALL_MATMUL_V2
/* Exchange of blocks between all ranks, then a matrix product; version 2 adds commMode. */
aclnnStatus aclnnAlltoAllMatmulV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclIntArray *alltoAllAxesOptional, const char *group, const char *commMode, bool transposeX1, bool transposeX2, aclTensor *output, aclTensor *alltoAllOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllMatmulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALL_QUANT_MATMUL
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALL_QUANT_MATMUL
/* Exchange of blocks between all ranks, then a product of quantized matrices. */
aclnnStatus aclnnAlltoAllQuantMatmulGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const char *group, const aclIntArray *alltoAllAxesOptional, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode, int64_t commQuantDtype, int64_t x1QuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2, aclTensor *output, aclTensor *alltoAllOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllQuantMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALL_QUANT_MATMUL_V2
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALL_QUANT_MATMUL_V2
/* Exchange of blocks between all ranks, then a product of quantized matrices; version 2 adds commMode. */
aclnnStatus aclnnAlltoAllQuantMatmulV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const char *group, const char *commMode, const aclIntArray *alltoAllAxesOptional, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode, int64_t commQuantDtype, int64_t x1QuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2, aclTensor *output, aclTensor *alltoAllOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllQuantMatmulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_GROUPED_MAT_MUL
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_GROUPED_MAT_MUL
/* Exchange of tokens in counts of each rank's own between all ranks, then one matrix product per expert. */
aclnnStatus aclnnAlltoAllvGroupedMatMulGetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, bool permuteOutFlag, aclTensor *gmmY, aclTensor *mmYOptional, aclTensor *permuteOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllvGroupedMatMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_GROUPED_MAT_MUL_V2
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_GROUPED_MAT_MUL_V2
/* Exchange of tokens in counts of each rank's own between all ranks, then one matrix product per expert; version 2 adds commMode. */
aclnnStatus aclnnAlltoAllvGroupedMatMulV2GetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group, const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, bool permuteOutFlag, aclTensor *gmmY, aclTensor *mmYOptional, aclTensor *permuteOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllvGroupedMatMulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_QUANT_GROUPED_MAT_MUL
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_QUANT_GROUPED_MAT_MUL
/* Exchange of quantized tokens in counts of each rank's own, then one quantized matrix product per expert. */
aclnnStatus aclnnAlltoAllvQuantGroupedMatMulGetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale, const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional, const aclTensor *mmWeightScaleOptional, int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode, const char *group, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, int64_t groupSize, bool permuteOutFlag, aclTensor *gmmY, aclTensor *mmYOptional, aclTensor *permuteOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllvQuantGroupedMatMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_QUANT_GROUPED_MAT_MUL_V2
#define ACLNN_PY_MC2_ACLNN_ALLTO_ALLV_QUANT_GROUPED_MAT_MUL_V2
/* Exchange of quantized tokens in counts of each rank's own, then one quantized matrix product per expert; version 2 adds commMode. */
aclnnStatus aclnnAlltoAllvQuantGroupedMatMulV2GetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale, const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional, const aclTensor *mmWeightScaleOptional, int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode, const char *group, const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, int64_t groupSize, bool permuteOutFlag, aclTensor *gmmY, aclTensor *mmYOptional, aclTensor *permuteOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAlltoAllvQuantGroupedMatMulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_ATTENTION_TO_FFN
#define ACLNN_PY_MC2_ACLNN_ATTENTION_TO_FFN
/* Transfer of tokens from attention ranks to feed-forward ranks. Direction settled by meaning: scales, activeMask read. */
aclnnStatus aclnnAttentionToFFNGetWorkspaceSize(const aclTensor *x, const aclTensor *sessionId, const aclTensor *microBatchId, const aclTensor *layerId, const aclTensor *expertIds, const aclTensor *expertRankTable, const aclTensor *scales, const aclTensor *activeMask, const char *group, int64_t worldSize, const aclIntArray *ffnTokenInfoTableShape, const aclIntArray *ffnTokenDataShape, const aclIntArray *attnTokenInfoTableShape, int64_t moeExpertNum, int64_t quantMode, int64_t syncFlag, int64_t ffnStartRankId, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAttentionToFFN(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_BANDWIDTH_TEST
#define ACLNN_PY_MC2_ACLNN_BANDWIDTH_TEST
/* Transfer between ranks that measures bandwidth. Direction settled by meaning: y, receiveCnt written; x, dstRankId read. */
aclnnStatus aclnnBandwidthTestGetWorkspaceSize(const aclTensor *x, const aclTensor *dstRankId, const char *group, int64_t worldSize, int64_t maxBs, int64_t mode, const char *commAlg, int64_t aivNum, aclTensor *y, aclTensor *receiveCnt, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBandwidthTest(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_BATCH_MATMUL_REDUCE_SCATTER_ALL_TO_ALL
#define ACLNN_PY_MC2_ACLNN_BATCH_MATMUL_REDUCE_SCATTER_ALL_TO_ALL
/* Batched matrix product, reduction scattered over one group of ranks and exchange over another. */
aclnnStatus aclnnBatchMatMulReduceScatterAlltoAllGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional, const char *groupEp, const char *groupTp, int64_t epWorldSize, int64_t tpWorldSize, int64_t yShardType, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBatchMatMulReduceScatterAlltoAll(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_DISTRIBUTE_BARRIER
#define ACLNN_PY_MC2_ACLNN_DISTRIBUTE_BARRIER
/* Barrier between the ranks of a group. */
aclnnStatus aclnnDistributeBarrierGetWorkspaceSize(aclTensor *xRef, const char *group, int64_t worldSize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDistributeBarrier(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_DISTRIBUTE_BARRIER_V2
#define ACLNN_PY_MC2_ACLNN_DISTRIBUTE_BARRIER_V2
/* Barrier between the ranks of a group; version 2 adds timeOut, elasticInfo. Direction settled by meaning: timeOut written; elasticInfo read. */
aclnnStatus aclnnDistributeBarrierV2GetWorkspaceSize(aclTensor *xRef, aclTensor *timeOut, const aclTensor *elasticInfo, const char *group, int64_t worldSize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDistributeBarrierV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_FFN_TO_ATTENTION
#define ACLNN_PY_MC2_ACLNN_FFN_TO_ATTENTION
/* Transfer of tokens from feed-forward ranks back to attention ranks. Direction settled by meaning: attnRankTable read. */
aclnnStatus aclnnFFNToAttentionGetWorkspaceSize(const aclTensor *x, const aclTensor *sessionIds, const aclTensor *microBatchIds, const aclTensor *tokenIds, const aclTensor *expertOffsets, const aclTensor *actualTokenNum, const aclTensor *attnRankTable, const char *group, int64_t worldSize, const aclIntArray *tokenInfoTableShape, const aclIntArray *tokenDataShape, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFFNToAttention(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_GROUPED_MAT_MUL_ALL_REDUCE
#define ACLNN_PY_MC2_ACLNN_GROUPED_MAT_MUL_ALL_REDUCE
/* One matrix product per group, then a sum over all ranks. */
aclnnStatus aclnnGroupedMatMulAllReduceGetWorkspaceSize(const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, const aclIntArray *groupListOptional, int64_t splitItem, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensorList *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatMulAllReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_GROUPED_MAT_MUL_ALLTO_ALLV
#define ACLNN_PY_MC2_ACLNN_GROUPED_MAT_MUL_ALLTO_ALLV
/* One matrix product per expert, then an exchange in counts of each rank's own. */
aclnnStatus aclnnGroupedMatMulAlltoAllvGetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, aclTensor *y, aclTensor *mmYOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatMulAlltoAllv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_GROUPED_MAT_MUL_ALLTO_ALLV_V2
#define ACLNN_PY_MC2_ACLNN_GROUPED_MAT_MUL_ALLTO_ALLV_V2
/* One matrix product per expert, then an exchange in counts of each rank's own; version 2 adds commMode. */
aclnnStatus aclnnGroupedMatMulAlltoAllvV2GetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const char *group, const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, aclTensor *y, aclTensor *mmYOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatMulAlltoAllvV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_INPLACE_MATMUL_ALL_REDUCE_ADD_RMS_NORM
#define ACLNN_PY_MC2_ACLNN_INPLACE_MATMUL_ALL_REDUCE_ADD_RMS_NORM
/* Matrix product, sum over all ranks, residual and root mean square normalization, in place. */
aclnnStatus aclnnInplaceMatmulAllReduceAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, aclTensor *residualRef, const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *normOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceMatmulAllReduceAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_INPLACE_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
#define ACLNN_PY_MC2_ACLNN_INPLACE_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
/* Product of quantized matrices, sum over all ranks, residual and root mean square normalization, in place. */
aclnnStatus aclnnInplaceQuantMatmulAllReduceAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *dequantScale, aclTensor *residualRef, const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *normOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceQuantMatmulAllReduceAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_INPLACE_WEIGHT_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
#define ACLNN_PY_MC2_ACLNN_INPLACE_WEIGHT_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
/* Matrix product with a quantized weight, sum over all ranks, residual and root mean square normalization, in place. */
aclnnStatus aclnnInplaceWeightQuantMatmulAllReduceAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional, aclTensor *residualRef, const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize, aclTensor *normOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceWeightQuantMatmulAllReduceAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE
#define ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE
/* Matrix product, then a sum over all ranks. */
aclnnStatus aclnnMatmulAllReduceGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulAllReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE_ADD_RMS_NORM
#define ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE_ADD_RMS_NORM
/* Matrix product, sum over all ranks, residual and root mean square normalization. */
aclnnStatus aclnnMatmulAllReduceAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *residual, const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *y, aclTensor *normOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulAllReduceAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE_V2
#define ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE_V2
/* Matrix product, then a sum over all ranks; version 2 adds x3. */
aclnnStatus aclnnMatmulAllReduceV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulAllReduceV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE_V3
#define ACLNN_PY_MC2_ACLNN_MATMUL_ALL_REDUCE_V3
/* Matrix product, then a sum over all ranks; version 3 adds commMode. */
aclnnStatus aclnnMatmulAllReduceV3GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const char *group, const char *reduceOp, const char *commMode, int64_t commTurn, int64_t streamMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulAllReduceV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_ALLTO_ALL
#define ACLNN_PY_MC2_ACLNN_MATMUL_ALLTO_ALL
/* Matrix product, then an exchange of blocks between all ranks. */
aclnnStatus aclnnMatmulAlltoAllGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclIntArray *alltoAllAxesOptional, const char *group, bool transposeX1, bool transposeX2, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulAlltoAll(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_ALLTO_ALL_V2
#define ACLNN_PY_MC2_ACLNN_MATMUL_ALLTO_ALL_V2
/* Matrix product, then an exchange of blocks between all ranks; version 2 adds commMode. */
aclnnStatus aclnnMatmulAlltoAllV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclIntArray *alltoAllAxesOptional, const char *group, const char *commMode, bool transposeX1, bool transposeX2, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulAlltoAllV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_REDUCE_SCATTER
#define ACLNN_PY_MC2_ACLNN_MATMUL_REDUCE_SCATTER
/* Matrix product, then a sum over all ranks of which each keeps its part. */
aclnnStatus aclnnMatmulReduceScatterGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulReduceScatter(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MATMUL_REDUCE_SCATTER_V2
#define ACLNN_PY_MC2_ACLNN_MATMUL_REDUCE_SCATTER_V2
/* Matrix product, then a sum over all ranks of which each keeps its part; version 2 adds x1Scale, x2Scale, quantScale, blockSize, groupSize, commMode, amaxOut. */
aclnnStatus aclnnMatmulReduceScatterV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x1ScaleOptional, const aclTensor *x2ScaleOptional, const aclTensor *quantScaleOptional, int64_t blockSize, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t groupSize, const char *commMode, aclTensor *output, aclTensor *amaxOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMatmulReduceScatterV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MEGA_MOE
#define ACLNN_PY_MC2_ACLNN_MEGA_MOE
/* A whole expert layer: dispatch, expert networks and combination over all ranks. Direction settled by meaning: yOut, expertTokenNumsOut written; context, x, topkIds, topkWeights, weight1, weight2, weightScales1Optional, weightScales2Optional, bias1Optional, bias2Optional, xActiveMaskOptional, sharedWeight1Optional, sharedWeight2Optional, sharedWeightScales1Optional, sharedWeightScales2Optional, sharedBias1Optional, sharedBias2Optional read. */
aclnnStatus aclnnMegaMoeGetWorkspaceSize(const aclTensor *context, const aclTensor *x, const aclTensor *topkIds, const aclTensor *topkWeights, const aclTensorList *weight1, const aclTensorList *weight2, const aclTensorList *weightScales1Optional, const aclTensorList *weightScales2Optional, const aclTensorList *bias1Optional, const aclTensorList *bias2Optional, const aclTensor *xActiveMaskOptional, const aclTensorList *sharedWeight1Optional, const aclTensorList *sharedWeight2Optional, const aclTensorList *sharedWeightScales1Optional, const aclTensorList *sharedWeightScales2Optional, const aclTensorList *sharedBias1Optional, const aclTensorList *sharedBias2Optional, int64_t moeExpertNum, int64_t epWorldSize, int64_t cclBufferSize, int64_t maxRecvTokenNum, int64_t dispatchQuantMode, int64_t dispatchQuantOutDtype, int64_t combineQuantMode, const char *commAlg, int64_t numMaxTokensPerRank, const char *activation, float activationClamp, int64_t topoType, int64_t rankNumPerServer, aclTensor *yOut, aclTensor *expertTokenNumsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMegaMoe(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE
/* Expert results sent back to their ranks and combined by weight. */
aclnnStatus aclnnMoeDistributeCombineGetWorkspaceSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *expandIdx, const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional, const aclTensor *groupListOptional, const aclTensor *expandScales, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType, aclTensor *x, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombine(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_ADD_RMS_NORM
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_ADD_RMS_NORM
/* Expert results sent back and combined, residual and root mean square normalization. */
aclnnStatus aclnnMoeDistributeCombineAddRmsNormGetWorkspaceSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *residualX, const aclTensor *gamma, const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional, const aclTensor *groupListOptional, const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlgOptional, float normEps, aclTensor *yOut, aclTensor *rstdOut, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_ADD_RMS_NORM_V2
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_ADD_RMS_NORM_V2
/* Expert results sent back and combined, residual and root mean square normalization; version 2 adds elasticInfo, oriX, constExpertAlpha1, constExpertAlpha2, constExpertV, zeroExpertNum, copyExpertNum, constExpertNum. */
aclnnStatus aclnnMoeDistributeCombineAddRmsNormV2GetWorkspaceSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *residualX, const aclTensor *gamma, const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional, const aclTensor *groupListOptional, const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional, const aclTensor *elasticInfoOptional, const aclTensor *oriXOptional, const aclTensor *constExpertAlpha1Optional, const aclTensor *constExpertAlpha2Optional, const aclTensor *constExpertVOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlgOptional, float normEps, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum, aclTensor *yOut, aclTensor *rstdOut, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineAddRmsNormV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_SETUP
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_SETUP
/* First part of the combination: expert results sent on their way. */
aclnnStatus aclnnMoeDistributeCombineSetupGetWorkspaceSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t expertSharedType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t commQuantMode, int64_t commType, const char *commAlgOptional, aclTensor *quantExpandXOut, aclTensor *commCmdInfoOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineSetup(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_TEARDOWN
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_TEARDOWN
/* Second part of the combination: expert results received and combined. */
aclnnStatus aclnnMoeDistributeCombineTeardownGetWorkspaceSize(const aclTensor *expandX, const aclTensor *quantExpandX, const aclTensor *expertIds, const aclTensor *expandIdx, const aclTensor *expertScales, const aclTensor *commCmdInfo, const aclTensor *xActiveMaskOptional, const aclTensor *sharedExpertXOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t commQuantMode, int64_t commType, const char *commAlgOptional, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineTeardown(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_V2
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_V2
/* Expert results sent back to their ranks and combined by weight; version 2 adds assistInfoForCombine, sharedExpertX, commAlg, xOut, drops expandIdx, x. */
aclnnStatus aclnnMoeDistributeCombineV2GetWorkspaceSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional, const aclTensor *groupListOptional, const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlg, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_V3
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_V3
/* Expert results sent back to their ranks and combined by weight; version 3 adds elasticInfo, oriX, constExpertAlpha1, constExpertAlpha2, constExpertV, zeroExpertNum, copyExpertNum, constExpertNum. */
aclnnStatus aclnnMoeDistributeCombineV3GetWorkspaceSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional, const aclTensor *groupListOptional, const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional, const aclTensor *elasticInfoOptional, const aclTensor *oriXOptional, const aclTensor *constExpertAlpha1Optional, const aclTensor *constExpertAlpha2Optional, const aclTensor *constExpertVOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_V4
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_COMBINE_V4
/* Expert results sent back to their ranks and combined by weight; version 4 adds performanceInfo. */
aclnnStatus aclnnMoeDistributeCombineV4GetWorkspaceSize(const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional, const aclTensor *groupListOptional, const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional, const aclTensor *elasticInfoOptional, const aclTensor *oriXOptional, const aclTensor *constExpertAlpha1Optional, const aclTensor *constExpertAlpha2Optional, const aclTensor *constExpertVOptional, const aclTensor *performanceInfoOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH
/* Tokens sent to the ranks of their experts. */
aclnnStatus aclnnMoeDistributeDispatchGetWorkspaceSize(const aclTensor *x, const aclTensor *expertIds, const aclTensor *scales, const aclTensor *xActiveMaskOptional, const aclTensor *expertScales, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t expertTokenNumsType, aclTensor *expandX, aclTensor *dynamicScales, aclTensor *expandIdx, aclTensor *expertTokenNums, aclTensor *epRecvCounts, aclTensor *tpRecvCountsOptional, aclTensor *expandScales, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeDispatch(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_SETUP
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_SETUP
/* First part of the dispatch: tokens sent on their way. */
aclnnStatus aclnnMoeDistributeDispatchSetupGetWorkspaceSize(const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional, const aclTensor *xActiveMaskOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t commType, const char *commAlgOptional, aclTensor *yOut, aclTensor *expandIdxOut, aclTensor *commCmdInfoOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeDispatchSetup(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_TEARDOWN
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_TEARDOWN
/* Second part of the dispatch: tokens received and counted. */
aclnnStatus aclnnMoeDistributeDispatchTeardownGetWorkspaceSize(const aclTensor *x, const aclTensor *y, const aclTensor *expertIds, const aclTensor *commCmdInfo, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t expertTokenNumsType, int64_t commType, const char *commAlgOptional, aclTensor *expandXOut, aclTensor *dynamicScalesOut, aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeDispatchTeardown(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_V2
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_V2
/* Tokens sent to the ranks of their experts; version 2, with a parameter list of its own. */
aclnnStatus aclnnMoeDistributeDispatchV2GetWorkspaceSize(const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional, const aclTensor *xActiveMaskOptional, const aclTensor *expertScalesOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t expertTokenNumsType, const char *commAlg, aclTensor *expandXOut, aclTensor *dynamicScalesOut, aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut, aclTensor *epRecvCountsOut, aclTensor *tpRecvCountsOutOptional, aclTensor *expandScalesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeDispatchV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_V3
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_V3
/* Tokens sent to the ranks of their experts; version 3 adds elasticInfo, zeroExpertNum, copyExpertNum, constExpertNum. */
aclnnStatus aclnnMoeDistributeDispatchV3GetWorkspaceSize(const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional, const aclTensor *xActiveMaskOptional, const aclTensor *expertScalesOptional, const aclTensor *elasticInfoOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t expertTokenNumsType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum, aclTensor *expandXOut, aclTensor *dynamicScalesOut, aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut, aclTensor *epRecvCountsOut, aclTensor *tpRecvCountsOutOptional, aclTensor *expandScalesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeDispatchV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_V4
#define ACLNN_PY_MC2_ACLNN_MOE_DISTRIBUTE_DISPATCH_V4
/* Tokens sent to the ranks of their experts; version 4 adds performanceInfo. */
aclnnStatus aclnnMoeDistributeDispatchV4GetWorkspaceSize(const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional, const aclTensor *xActiveMaskOptional, const aclTensor *expertScalesOptional, const aclTensor *elasticInfoOptional, const aclTensor *performanceInfoOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t expertTokenNumsType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum, aclTensor *expandXOut, aclTensor *dynamicScalesOut, aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut, aclTensor *epRecvCountsOut, aclTensor *tpRecvCountsOutOptional, aclTensor *expandScalesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeDispatchV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_MOE_UPDATE_EXPERT
#define ACLNN_PY_MC2_ACLNN_MOE_UPDATE_EXPERT
/* Expert numbers translated to their redundant copies. */
aclnnStatus aclnnMoeUpdateExpertGetWorkspaceSize(const aclTensor *expertIds, const aclTensor *eplbTable, const aclTensor *expertScalesOptional, const aclTensor *pruningThresholdOptional, const aclTensor *activeMaskOptional, int64_t localRankId, int64_t worldSize, int64_t balanceMode, aclTensor *balancedExpertIds, aclTensor *balancedActiveMask, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeUpdateExpert(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_ALL_REDUCE
#define ACLNN_PY_MC2_ACLNN_QUANT_ALL_REDUCE
/* Sum of quantized values over all ranks. */
aclnnStatus aclnnQuantAllReduceGetWorkspaceSize(const aclTensor *x, const aclTensor *scales, const char *group, const char *reduceOp, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantAllReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_GROUPED_MAT_MUL_ALLTO_ALLV
#define ACLNN_PY_MC2_ACLNN_QUANT_GROUPED_MAT_MUL_ALLTO_ALLV
/* One quantized matrix product per expert, then an exchange in counts of each rank's own. */
aclnnStatus aclnnQuantGroupedMatMulAlltoAllvGetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale, const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional, const aclTensor *mmWeightScaleOptional, const aclTensor *commQuantScaleOptional, int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode, int64_t commQuantMode, int64_t commQuantDtype, int64_t groupSize, const char *group, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, aclTensor *y, aclTensor *mmYOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantGroupedMatMulAlltoAllv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_GROUPED_MAT_MUL_ALLTO_ALLV_V2
#define ACLNN_PY_MC2_ACLNN_QUANT_GROUPED_MAT_MUL_ALLTO_ALLV_V2
/* One quantized matrix product per expert, then an exchange in counts of each rank's own; version 2 adds commMode. */
aclnnStatus aclnnQuantGroupedMatMulAlltoAllvV2GetWorkspaceSize(const aclTensor *gmmX, const aclTensor *gmmWeight, const aclTensor *gmmXScale, const aclTensor *gmmWeightScale, const aclTensor *sendCountsTensorOptional, const aclTensor *recvCountsTensorOptional, const aclTensor *mmXOptional, const aclTensor *mmWeightOptional, const aclTensor *mmXScaleOptional, const aclTensor *mmWeightScaleOptional, const aclTensor *commQuantScaleOptional, int64_t gmmXQuantMode, int64_t gmmWeightQuantMode, int64_t mmXQuantMode, int64_t mmWeightQuantMode, int64_t commQuantMode, int64_t commQuantDtype, int64_t groupSize, const char *group, const char *commMode, int64_t epWorldSize, const aclIntArray *sendCounts, const aclIntArray *recvCounts, bool transGmmWeight, bool transMmWeight, aclTensor *y, aclTensor *mmYOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantGroupedMatMulAlltoAllvV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE
/* Product of quantized matrices, then a sum over all ranks. */
aclnnStatus aclnnQuantMatmulAllReduceGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const aclTensor *dequantScale, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAllReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
/* Product of quantized matrices, sum over all ranks, residual and root mean square normalization. */
aclnnStatus aclnnQuantMatmulAllReduceAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *dequantScale, const aclTensor *residual, const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *y, aclTensor *normOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAllReduceAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V2
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V2
/* Product of quantized matrices, then a sum over all ranks; version 2 adds pertokenScale. */
aclnnStatus aclnnQuantMatmulAllReduceV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const aclTensor *dequantScale, const aclTensor *pertokenScaleOptional, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAllReduceV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V3
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V3
/* Product of quantized matrices, then a sum over all ranks; version 3 adds commQuantScale1, commQuantScale2. */
aclnnStatus aclnnQuantMatmulAllReduceV3GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const aclTensor *dequantScale, const aclTensor *pertokenScaleOptional, const aclTensor *commQuantScale1Optional, const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAllReduceV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V4
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V4
/* Product of quantized matrices, then a sum over all ranks; version 4 adds x1Scale, x2Scale, groupSize, commQuantMode, drops dequantScale, pertokenScale. Direction settled by meaning: x2Scale read. */
aclnnStatus aclnnQuantMatmulAllReduceV4GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *commQuantScale1Optional, const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t groupSize, int64_t commQuantMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAllReduceV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V5
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALL_REDUCE_V5
/* Product of quantized matrices, then a sum over all ranks; version 5 adds commMode. Direction settled by meaning: x2Scale read. */
aclnnStatus aclnnQuantMatmulAllReduceV5GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x3Optional, const aclTensor *x1ScaleOptional, const aclTensor *x2Scale, const aclTensor *commQuantScale1Optional, const aclTensor *commQuantScale2Optional, const char *group, const char *reduceOp, const char *commMode, int64_t commTurn, int64_t streamMode, int64_t groupSize, int64_t commQuantMode, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAllReduceV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALLTO_ALL
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALLTO_ALL
/* Product of quantized matrices, then an exchange of blocks between all ranks. */
aclnnStatus aclnnQuantMatmulAlltoAllGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x1Scale, const aclTensor *x2Scale, const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const aclIntArray *alltoAllAxesOptional, const char *group, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode, int64_t commQuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAlltoAll(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALLTO_ALL_V2
#define ACLNN_PY_MC2_ACLNN_QUANT_MATMUL_ALLTO_ALL_V2
/* Product of quantized matrices, then an exchange of blocks between all ranks; version 2 adds commMode. */
aclnnStatus aclnnQuantMatmulAlltoAllV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *x1Scale, const aclTensor *x2Scale, const aclTensor *commScaleOptional, const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional, const aclIntArray *alltoAllAxesOptional, const char *group, const char *commMode, int64_t x1QuantMode, int64_t x2QuantMode, int64_t commQuantMode, int64_t commQuantDtype, int64_t groupSize, bool transposeX1, bool transposeX2, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantMatmulAlltoAllV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_QUANT_REDUCE_SCATTER
#define ACLNN_PY_MC2_ACLNN_QUANT_REDUCE_SCATTER
/* Sum of quantized values over all ranks of which each keeps its part. */
aclnnStatus aclnnQuantReduceScatterGetWorkspaceSize(const aclTensor *x, const aclTensor *scales, const char *group, const char *reduceOp, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantReduceScatter(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE
#define ACLNN_PY_MC2_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE
/* Matrix product with a quantized weight, then a sum over all ranks. */
aclnnStatus aclnnWeightQuantMatmulAllReduceGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional, const aclTensor *x3Optional, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantMatmulAllReduce(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
#define ACLNN_PY_MC2_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE_ADD_RMS_NORM
/* Matrix product with a quantized weight, sum over all ranks, residual and root mean square normalization. */
aclnnStatus aclnnWeightQuantMatmulAllReduceAddRmsNormGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional, const aclTensor *residual, const aclTensor *gamma, double epsilon, const char *group, const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize, aclTensor *y, aclTensor *normOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantMatmulAllReduceAddRmsNorm(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE_V2
#define ACLNN_PY_MC2_ACLNN_WEIGHT_QUANT_MATMUL_ALL_REDUCE_V2
/* Matrix product with a quantized weight, then a sum over all ranks; version 2 adds commMode. */
aclnnStatus aclnnWeightQuantMatmulAllReduceV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional, const aclTensor *antiquantScale, const aclTensor *antiquantOffsetOptional, const aclTensor *x3Optional, const char *group, const char *reduceOp, const char *commMode, int64_t commTurn, int64_t streamMode, int64_t antiquantGroupSize, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnWeightQuantMatmulAllReduceV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_TEST_ACLNN_MOE_DISTRIBUTE_COMBINE_V5_HELPER
#define ACLNN_PY_MC2_TEST_ACLNN_MOE_DISTRIBUTE_COMBINE_V5_HELPER
/* Expert results sent back to their ranks and combined by weight; version 5 adds context, cclBufferSize, drops groupEp, groupTp. Direction settled by meaning: xOut written; context, expandX, expertIds, assistInfoForCombine, epSendCounts, expertScales, tpSendCountsOptional, xActiveMaskOptional, activationScaleOptional, weightScaleOptional, groupListOptional, expandScalesOptional, sharedExpertXOptional, elasticInfoOptional, oriXOptional, constExpertAlpha1Optional, constExpertAlpha2Optional, constExpertVOptional, performanceInfoOptional read. */
aclnnStatus aclnnMoeDistributeCombineV5GetWorkspaceSize(const aclTensor *context, const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine, const aclTensor *epSendCounts, const aclTensor *expertScales, const aclTensor *tpSendCountsOptional, const aclTensor *xActiveMaskOptional, const aclTensor *activationScaleOptional, const aclTensor *weightScaleOptional, const aclTensor *groupListOptional, const aclTensor *expandScalesOptional, const aclTensor *sharedExpertXOptional, const aclTensor *elasticInfoOptional, const aclTensor *oriXOptional, const aclTensor *constExpertAlpha1Optional, const aclTensor *constExpertAlpha2Optional, const aclTensor *constExpertVOptional, const aclTensor *performanceInfoOptional, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t cclBufferSize, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t globalBs, int64_t outDtype, int64_t commQuantMode, int64_t groupListType, const char *commAlg, int64_t zeroExpertNum, int64_t copyExpertNum, int64_t constExpertNum, aclTensor *xOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeCombineV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MC2_TEST_ACLNN_MOE_DISTRIBUTE_DISPATCH_V5_HELPER
#define ACLNN_PY_MC2_TEST_ACLNN_MOE_DISTRIBUTE_DISPATCH_V5_HELPER
/* Tokens sent to the ranks of their experts; version 5 adds context, drops elasticInfo, performanceInfo, zeroExpertNum, copyExpertNum, constExpertNum. Direction settled by meaning: expandXOut, dynamicScalesOut, assistInfoForCombineOut, expertTokenNumsOut, epRecvCountsOut, tpRecvCountsOut, expandScalesOut written; context, x, expertIds, scalesOptional, xActiveMaskOptional, expertScalesOptional read. */
aclnnStatus aclnnMoeDistributeDispatchV5GetWorkspaceSize(const aclTensor *context, const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional, const aclTensor *xActiveMaskOptional, const aclTensor *expertScalesOptional, const char *groupEp, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, const char *groupTp, int64_t tpWorldSize, int64_t tpRankId, int64_t expertShardType, int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t quantMode, int64_t globalBs, int64_t expertTokenNumsType, const char *commAlg, aclTensor *expandXOut, aclTensor *dynamicScalesOut, aclTensor *assistInfoForCombineOut, aclTensor *expertTokenNumsOut, aclTensor *epRecvCountsOut, aclTensor *tpRecvCountsOut, aclTensor *expandScalesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMoeDistributeDispatchV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_MC2_H */
