/* SPDX-License-Identifier: Apache-2.0 */
/* Loss functions and their gradients. */
#ifndef ACLNN_PY_ACLNNOP_LOSS_H
#define ACLNN_PY_ACLNNOP_LOSS_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY
#define ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY
/* Binary cross entropy of probabilities and targets. */
aclnnStatus aclnnBinaryCrossEntropyGetWorkspaceSize(const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBinaryCrossEntropy(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY_BACKWARD
/* Gradient of binary cross entropy of probabilities and targets. */
aclnnStatus aclnnBinaryCrossEntropyBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBinaryCrossEntropyBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS
#define ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS
/* Binary cross entropy of logits and targets. */
aclnnStatus aclnnBinaryCrossEntropyWithLogitsGetWorkspaceSize(const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional, const aclTensor *posWeightOptional, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBinaryCrossEntropyWithLogits(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_BACKWARD
/* Gradient of binary cross entropy of logits and targets. */
aclnnStatus aclnnBinaryCrossEntropyWithLogitsBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional, const aclTensor *posWeightOptional, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBinaryCrossEntropyWithLogitsBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_CHAMFER_DISTANCE_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_CHAMFER_DISTANCE_BACKWARD
/* Gradient of the chamfer distance between two point sets. */
aclnnStatus aclnnChamferDistanceBackwardGetWorkspaceSize(const aclTensor *xyz1, const aclTensor *xyz2, const aclTensor *idx1, const aclTensor *idx2, const aclTensor *gradDist1, const aclTensor *gradDist2, aclTensor *gradXyz1, aclTensor *gradXyz2, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnChamferDistanceBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_CROSS_ENTROPY_LOSS
#define ACLNN_PY_LOSS_ACLNN_CROSS_ENTROPY_LOSS
/* Cross entropy of logits and class labels. [document] */
aclnnStatus aclnnCrossEntropyLossGetWorkspaceSize(const aclTensor *input, const aclTensor *target, const aclTensor *weightOptional, const char *reductionOptional, int64_t ignoreIndex, double labelSmoothing, double lseSquareScaleForZloss, bool returnZloss, aclTensor *lossOut, aclTensor *logProbOut, aclTensor *zlossOut, aclTensor *lseForZlossOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCrossEntropyLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_CROSS_ENTROPY_LOSS_GRAD
#define ACLNN_PY_LOSS_ACLNN_CROSS_ENTROPY_LOSS_GRAD
/* Gradient of the cross entropy of logits and class labels. [document] */
aclnnStatus aclnnCrossEntropyLossGradGetWorkspaceSize(const aclTensor *gradLoss, const aclTensor *logProb, const aclTensor *target, const aclTensor *weightOptional, const aclTensor *gradZlossOptional, const aclTensor *lseForZlossOptional, const char *reductionOptional, int64_t ignoreIndex, double labelSmoothing, double lseSquareScaleForZloss, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCrossEntropyLossGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_CROSS_ENTROPY_SUM_EXP_AND_INDEX_LOGIT
#define ACLNN_PY_LOSS_ACLNN_CROSS_ENTROPY_SUM_EXP_AND_INDEX_LOGIT
/* Sum of exponentials and target logit of one rank's part of the vocabulary. [document] Direction settled by meaning: predictedLogitsOut, sumExpLogitsOut, expLogitsOut, targetOffsetOut, targetMaskOut written. */
aclnnStatus aclnnCrossEntropySumExpAndIndexLogitGetWorkspaceSize(const aclTensor *vocabParallelLogits, const aclTensor *target, const aclTensor *globalLogitsMax, int64_t vocabStartIndex, int64_t vocabEndIndex, aclTensor *predictedLogitsOut, aclTensor *sumExpLogitsOut, aclTensor *expLogitsOut, aclTensor *targetOffsetOut, aclTensor *targetMaskOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCrossEntropySumExpAndIndexLogit(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_CTC_LOSS
#define ACLNN_PY_LOSS_ACLNN_CTC_LOSS
/* Connectionist temporal classification loss. Direction settled by meaning: targetlengths read. */
aclnnStatus aclnnCtcLossGetWorkspaceSize(const aclTensor *logProbs, const aclTensor *targets, const aclIntArray *inputLengths, const aclIntArray *targetlengths, int64_t blank, bool zeroInfinity, aclTensor *negLogLikelihoodOut, aclTensor *logAlphaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCtcLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_CTC_LOSS_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_CTC_LOSS_BACKWARD
/* Gradient of the connectionist temporal classification loss. */
aclnnStatus aclnnCtcLossBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *logProbs, const aclTensor *targets, const aclIntArray *inputLengths, const aclIntArray *targetLengths, const aclTensor *negLogLikelihood, const aclTensor *logAlpha, int64_t blank, bool zeroInfinity, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCtcLossBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_FUSED_CROSS_ENTROPY_LOSS_WITH_MAX_SUM
#define ACLNN_PY_LOSS_ACLNN_FUSED_CROSS_ENTROPY_LOSS_WITH_MAX_SUM
/* Cross entropy of one rank's part of the vocabulary from the maxima and sums of all. */
aclnnStatus aclnnFusedCrossEntropyLossWithMaxSumGetWorkspaceSize(const aclTensor *logitsMax, const aclTensor *sumExpLogits, const aclTensor *predictedLogits, float labelSmoothing, const aclTensor *inputOptional, const aclTensor *weightOptional, aclTensor *vocabParallelLogitsOptional, aclTensor *lossOut, aclTensor *softMaxOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedCrossEntropyLossWithMaxSum(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_KL_DIV_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_KL_DIV_BACKWARD
/* Gradient of the Kullback-Leibler divergence. */
aclnnStatus aclnnKlDivBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, int64_t reduction, bool logTarget, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKlDivBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_KL_DIV_TARGET_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_KL_DIV_TARGET_BACKWARD
/* Gradient of the Kullback-Leibler divergence with respect to the target. */
aclnnStatus aclnnKlDivTargetBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, int64_t reduction, bool logTarget, aclTensor *gradTarget, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnKlDivTargetBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_L1_LOSS
#define ACLNN_PY_LOSS_ACLNN_L1_LOSS
/* Mean absolute error. */
aclnnStatus aclnnL1LossGetWorkspaceSize(const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnL1Loss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_L1_LOSS_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_L1_LOSS_BACKWARD
/* Gradient of mean absolute error. */
aclnnStatus aclnnL1LossBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnL1LossBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_LOGIT
#define ACLNN_PY_LOSS_ACLNN_LOGIT
/* Logarithm of the odds of each element. [document] */
aclnnStatus aclnnLogitGetWorkspaceSize(const aclTensor *input, double eps, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogit(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_LOGIT_GRAD
#define ACLNN_PY_LOSS_ACLNN_LOGIT_GRAD
/* Gradient of the logarithm of the odds of each element. [document] */
aclnnStatus aclnnLogitGradGetWorkspaceSize(const aclTensor *x, const aclTensor *dy, double eps, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogitGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_MSE_LOSS
#define ACLNN_PY_LOSS_ACLNN_MSE_LOSS
/* Mean squared error. */
aclnnStatus aclnnMseLossGetWorkspaceSize(const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMseLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_MSE_LOSS_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_MSE_LOSS_BACKWARD
/* Gradient of mean squared error. */
aclnnStatus aclnnMseLossBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMseLossBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_MSE_LOSS_OUT
#define ACLNN_PY_LOSS_ACLNN_MSE_LOSS_OUT
/* Mean squared error into a given tensor. */
aclnnStatus aclnnMseLossOutGetWorkspaceSize(const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMseLossOut(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_MULTILABEL_MARGIN_LOSS
#define ACLNN_PY_LOSS_ACLNN_MULTILABEL_MARGIN_LOSS
/* Margin loss of several labels per sample. */
aclnnStatus aclnnMultilabelMarginLossGetWorkspaceSize(const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out, aclTensor *isTarget, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMultilabelMarginLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_NLL_LOSS
#define ACLNN_PY_LOSS_ACLNN_NLL_LOSS
/* Negative log likelihood. */
aclnnStatus aclnnNLLLossGetWorkspaceSize(const aclTensor *self, const aclTensor *target, const aclTensor *weight, int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNLLLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_NLL_LOSS2D
#define ACLNN_PY_LOSS_ACLNN_NLL_LOSS2D
/* Negative log likelihood of each position of an image. */
aclnnStatus aclnnNLLLoss2dGetWorkspaceSize(const aclTensor *self, const aclTensor *target, const aclTensor *weight, int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNLLLoss2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_NLL_LOSS2D_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_NLL_LOSS2D_BACKWARD
/* Gradient of the negative log likelihood of each position of an image. */
aclnnStatus aclnnNLLLoss2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, const aclTensor *weight, int64_t reduction, int64_t ignoreIndex, const aclTensor *totalWeight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNLLLoss2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_NLL_LOSS_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_NLL_LOSS_BACKWARD
/* Gradient of the negative log likelihood. */
aclnnStatus aclnnNLLLossBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, const aclTensor *weight, int64_t reduction, int64_t ignoreIndex, const aclTensor *totalWeight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNLLLossBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_SMOOTH_L1_LOSS
#define ACLNN_PY_LOSS_ACLNN_SMOOTH_L1_LOSS
/* Smooth mean absolute error. */
aclnnStatus aclnnSmoothL1LossGetWorkspaceSize(const aclTensor *self, const aclTensor *target, int64_t reduction, float beta, aclTensor *result, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSmoothL1Loss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_SMOOTH_L1_LOSS_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_SMOOTH_L1_LOSS_BACKWARD
/* Gradient of smooth mean absolute error. */
aclnnStatus aclnnSmoothL1LossBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *self, const aclTensor *target, int64_t reduction, float beta, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSmoothL1LossBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_SOFT_MARGIN_LOSS
#define ACLNN_PY_LOSS_ACLNN_SOFT_MARGIN_LOSS
/* Soft margin loss. */
aclnnStatus aclnnSoftMarginLossGetWorkspaceSize(const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftMarginLoss(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_LOSS_ACLNN_SOFT_MARGIN_LOSS_BACKWARD
#define ACLNN_PY_LOSS_ACLNN_SOFT_MARGIN_LOSS_BACKWARD
/* Gradient of the soft margin loss. */
aclnnStatus aclnnSoftMarginLossBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, int64_t reduction, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftMarginLossBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_LOSS_H */
