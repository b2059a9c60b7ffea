/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizer steps. */
#ifndef ACLNN_PY_ACLNNOP_OPTIM_H
#define ACLNN_PY_ACLNNOP_OPTIM_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_OPTIM_ACLNN_ADVANCE_STEP
#define ACLNN_PY_OPTIM_ACLNN_ADVANCE_STEP
/* Next step of token ids, positions, sequence lengths and cache slots of a decoding batch. [document] */
aclnnStatus aclnnAdvanceStepGetWorkspaceSize(aclTensor *inputTokensRef, const aclTensor *sampledTokenIds, aclTensor *inputPositionsRef, aclTensor *seqLensRef, aclTensor *slotMappingRef, const aclTensor *blockTables, int64_t numSeqs, int64_t numQueries, int64_t blockSize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdvanceStep(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_ADVANCE_STEP_V2
#define ACLNN_PY_OPTIM_ACLNN_ADVANCE_STEP_V2
/* Next step of token ids, positions, sequence lengths and cache slots of a decoding batch; version 2 adds specToken, acceptedNum. [document] */
aclnnStatus aclnnAdvanceStepV2GetWorkspaceSize(aclTensor *inputTokensRef, const aclTensor *sampledTokenIds, aclTensor *inputPositionsRef, aclTensor *seqLensRef, aclTensor *slotMappingRef, const aclTensor *blockTables, const aclTensor *specToken, const aclTensor *acceptedNum, int64_t numSeqs, int64_t numQueries, int64_t blockSize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdvanceStepV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM
#define ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM
/* Adam step. [document] */
aclnnStatus aclnnApplyAdamGetWorkspaceSize(aclTensor *varRef, const aclTensor *m, const aclTensor *v, const aclTensor *beta1Power, const aclTensor *beta2Power, const aclTensor *lr, const aclTensor *beta1, const aclTensor *beta2, const aclTensor *epsilon, const aclTensor *grad, bool useLocking, bool useNesterov, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyAdam(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM_W
#define ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM_W
/* Adam step with decoupled weight decay. */
aclnnStatus aclnnApplyAdamWGetWorkspaceSize(aclTensor *varRef, aclTensor *mRef, aclTensor *vRef, const aclTensor *beta1Power, const aclTensor *beta2Power, const aclTensor *lr, const aclTensor *weightDecay, const aclTensor *beta1, const aclTensor *beta2, const aclTensor *eps, const aclTensor *grad, const aclTensor *maxGradNormOptional, bool amsgrad, bool maximize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyAdamW(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM_W_QUANT
#define ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM_W_QUANT
/* Adam step with decoupled weight decay on quantized moments. [document] */
aclnnStatus aclnnApplyAdamWQuantGetWorkspaceSize(aclTensor *varRef, const aclTensor *grad, aclTensor *mRef, aclTensor *vRef, const aclTensor *qmapM, const aclTensor *qmapV, aclTensor *absmaxMRef, aclTensor *absmaxVRef, const aclTensor *step, double lr, double beta1, double beta2, double weightDecay, double eps, double gnormScale, const char *quantModeOptional, int64_t blockSize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyAdamWQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM_W_V2
#define ACLNN_PY_OPTIM_ACLNN_APPLY_ADAM_W_V2
/* Adam step with decoupled weight decay; version 2 adds step, drops beta1Power, beta2Power. */
aclnnStatus aclnnApplyAdamWV2GetWorkspaceSize(aclTensor *varRef, aclTensor *mRef, aclTensor *vRef, aclTensor *maxGradNormOptionalRef, const aclTensor *grad, const aclTensor *step, float lr, float beta1, float beta2, float weightDecay, float eps, bool amsgrad, bool maximize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyAdamWV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_APPLY_FUSED_EMA_ADAM
#define ACLNN_PY_OPTIM_ACLNN_APPLY_FUSED_EMA_ADAM
/* Adam step that also keeps an exponential moving average of the weights. [document] */
aclnnStatus aclnnApplyFusedEmaAdamGetWorkspaceSize(const aclTensor *grad, aclTensor *varRef, aclTensor *mRef, aclTensor *vRef, aclTensor *sRef, const aclTensor *step, double lr, double emaDecay, double beta1, double beta2, double eps, int64_t mode, bool biasCorrection, double weightDecay, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnApplyFusedEmaAdam(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_FUSED_ADAMW
#define ACLNN_PY_OPTIM_ACLNN_FUSED_ADAMW
/* Adam step with decoupled weight decay over lists of parameters. */
aclnnStatus aclnnFusedAdamwGetWorkspaceSize(aclTensorList *paramsRef, const aclTensorList *grads, aclTensorList *expAvgsRef, aclTensorList *expAvgSqsRef, aclTensorList *maxExpAvgSqsOptionalRef, const aclTensorList *stateSteps, const aclTensor *gradScaleOptional, const aclTensor *foundInfOptional, double lr, double beta1, double beta2, double weightDecay, double eps, bool amsgrad, bool maximize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedAdamw(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OPTIM_ACLNN_FUSED_SGD
#define ACLNN_PY_OPTIM_ACLNN_FUSED_SGD
/* Stochastic gradient descent step over lists of parameters. */
aclnnStatus aclnnFusedSgdGetWorkspaceSize(aclTensorList *paramsRef, aclTensorList *gradsRef, aclTensorList *momentumBufferListOptionalRef, const aclTensor *gradScaleOptional, float weightDecay, float momentum, float lr, float dampening, bool nesterov, bool maximize, bool isFirstStep, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFusedSgd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_OPTIM_H */
