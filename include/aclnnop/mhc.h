/* SPDX-License-Identifier: Apache-2.0 */
/* Hyper-connections. */
#ifndef ACLNN_PY_ACLNNOP_MHC_H
#define ACLNN_PY_ACLNNOP_MHC_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_MHC_ACLNN_MHC_POST
#define ACLNN_PY_MHC_ACLNN_MHC_POST
/* Hyper-connection step after a block: its result mixed back into the residual streams. */
aclnnStatus aclnnMhcPostGetWorkspaceSize(const aclTensor *x, const aclTensor *hRes, const aclTensor *hOut, const aclTensor *hPost, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcPost(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MHC_ACLNN_MHC_POST_BACKWARD
#define ACLNN_PY_MHC_ACLNN_MHC_POST_BACKWARD
/* Gradient of the hyper-connection step after a block: its result mixed back into the residual streams. */
aclnnStatus aclnnMhcPostBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *x, const aclTensor *hRes, const aclTensor *hOut, const aclTensor *hPost, aclTensor *gradX, aclTensor *gradHRes, aclTensor *gradHOut, aclTensor *gradHPost, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcPostBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MHC_ACLNN_MHC_PRE
#define ACLNN_PY_MHC_ACLNN_MHC_PRE
/* Hyper-connection step before a block: residual streams mixed into its input. */
aclnnStatus aclnnMhcPreGetWorkspaceSize(const aclTensor *x, const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, const aclTensor *gammaOptional, double normEps, double hcEps, aclTensor *hIn, aclTensor *hPost, aclTensor *hResOptional, aclTensor *invRmsOptional, aclTensor *hMixOptional, aclTensor *hPreOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcPre(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MHC_ACLNN_MHC_PRE_BACKWARD
#define ACLNN_PY_MHC_ACLNN_MHC_PRE_BACKWARD
/* Gradient of the hyper-connection step before a block: residual streams mixed into its input. */
aclnnStatus aclnnMhcPreBackwardGetWorkspaceSize(const aclTensor *x, const aclTensor *phi, const aclTensor *alpha, const aclTensor *gradHIn, const aclTensor *gradHPost, const aclTensor *gradHRes, const aclTensor *invRms, const aclTensor *hMix, const aclTensor *hPre, const aclTensor *hPost, const aclTensor *gammaOptional, const aclTensor *gradXPostOptional, float hcEps, aclTensor *gradX, aclTensor *gradPhi, aclTensor *gradAlpha, aclTensor *gradBias, aclTensor *gradGammaOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcPreBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MHC_ACLNN_MHC_PRE_SINKHORN
#define ACLNN_PY_MHC_ACLNN_MHC_PRE_SINKHORN
/* Hyper-connection step before a block with doubly stochastic mixing. */
aclnnStatus aclnnMhcPreSinkhornGetWorkspaceSize(const aclTensor *x, const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, int64_t hcMult, int64_t numIters, double hcEps, double normEps, bool needBackward, aclTensor *hin, aclTensor *hPost, aclTensor *hRes, aclTensor *hPre, aclTensor *hcBeforeNorm, aclTensor *invRms, aclTensor *sumOut, aclTensor *normOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcPreSinkhorn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MHC_ACLNN_MHC_PRE_SINKHORN_BACKWARD
#define ACLNN_PY_MHC_ACLNN_MHC_PRE_SINKHORN_BACKWARD
/* Gradient of the hyper-connection step before a block with doubly stochastic mixing. [document] */
aclnnStatus aclnnMhcPreSinkhornBackwardGetWorkspaceSize(const aclTensor *gradHin, const aclTensor *gradHPost, const aclTensor *gradHRes, const aclTensor *x, const aclTensor *phi, const aclTensor *alpha, const aclTensor *bias, const aclTensor *hPre, const aclTensor *hcBeforeNorm, const aclTensor *invRms, const aclTensor *sumOut, const aclTensor *normOut, double hcEps, aclTensor *gradX, aclTensor *gradPhi, aclTensor *gradAlpha, aclTensor *gradBias, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcPreSinkhornBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MHC_ACLNN_MHC_SINKHORN
#define ACLNN_PY_MHC_ACLNN_MHC_SINKHORN
/* Normalization of mixing matrices to doubly stochastic ones. */
aclnnStatus aclnnMhcSinkhornGetWorkspaceSize(const aclTensor *x, float eps, int64_t numIters, aclTensor *output, aclTensor *normOutOptional, aclTensor *sumOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcSinkhorn(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_MHC_ACLNN_MHC_SINKHORN_BACKWARD
#define ACLNN_PY_MHC_ACLNN_MHC_SINKHORN_BACKWARD
/* Gradient of normalization of mixing matrices to doubly stochastic ones. */
aclnnStatus aclnnMhcSinkhornBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *normOut, const aclTensor *sumOut, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMhcSinkhornBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_MHC_H */
