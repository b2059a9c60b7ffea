/* SPDX-License-Identifier: Apache-2.0 */
/* Grouped matrix products. */
#ifndef ACLNN_PY_ACLNNOP_GMM_H
#define ACLNN_PY_ACLNNOP_GMM_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL
/* One matrix product per group. */
aclnnStatus aclnnGroupedMatmulGetWorkspaceSize(const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, const aclTensorList *scaleOptional, const aclTensorList *offsetOptional, const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional, const aclIntArray *groupListOptional, int64_t splitItem, aclTensorList *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_ACTIVATION_QUANT_WEIGHT_NZ
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_ACTIVATION_QUANT_WEIGHT_NZ
/* One matrix product per group, activation and quantization, the weight in FRACTAL_NZ. */
aclnnStatus aclnnGroupedMatmulActivationQuantWeightNzGetWorkspaceSize(const aclTensor *x, const aclTensor *groupList, const aclTensorList *weight, const aclTensorList *weightScale, const aclTensorList *biasOptional, const aclTensor *xScaleOptional, const char *activationType, int64_t groupListType, const aclIntArray *tuningConfigOptional, const char *quantModeOptional, const char *roundModeOptional, int64_t scaleAlg, float dstTypeMax, aclTensor *y, aclTensor *yScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulActivationQuantWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_ADD
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_ADD
/* One matrix product per group added to the output. */
aclnnStatus aclnnGroupedMatmulAddGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *groupList, aclTensor *yRef, bool transposeX, bool transposeWeight, int64_t groupType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_ADD_V2
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_ADD_V2
/* One matrix product per group added to the output; version 2 adds groupListType. */
aclnnStatus aclnnGroupedMatmulAddV2GetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *groupList, aclTensor *yRef, bool transposeX, bool transposeWeight, int64_t groupType, int64_t groupListType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulAddV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING
/* One matrix product per expert, weighted and summed back to the tokens. */
aclnnStatus aclnnGroupedMatmulFinalizeRoutingGetWorkspaceSize(const aclTensor *x, const aclTensor *w, const aclTensor *scaleOptional, const aclTensor *biasOptional, const aclTensor *pertokenScaleOptional, const aclTensor *groupListOptional, const aclTensor *sharedInputOptional, const aclTensor *logitOptional, const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset, bool transposeX, bool transposeW, int64_t groupListType, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulFinalizeRouting(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_V2
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_V2
/* One matrix product per expert, weighted and summed back to the tokens; version 2, with a parameter list of its own. */
aclnnStatus aclnnGroupedMatmulFinalizeRoutingV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *scaleOptional, const aclTensor *biasOptional, const aclTensor *offsetOptional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *pertokenScaleOptional, const aclTensor *groupListOptional, const aclTensor *sharedInputOptional, const aclTensor *logitOptional, const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulFinalizeRoutingV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_V3
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_V3
/* One matrix product per expert, weighted and summed back to the tokens; version 3 adds tuningConfig. */
aclnnStatus aclnnGroupedMatmulFinalizeRoutingV3GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *scaleOptional, const aclTensor *biasOptional, const aclTensor *offsetOptional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *pertokenScaleOptional, const aclTensor *groupListOptional, const aclTensor *sharedInputOptional, const aclTensor *logitOptional, const aclTensor *rowIndexOptional, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType, const aclIntArray *tuningConfigOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulFinalizeRoutingV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_WEIGHT_NZ
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_WEIGHT_NZ
/* One matrix product per expert, weighted and summed back to the tokens, the weight in FRACTAL_NZ. */
aclnnStatus aclnnGroupedMatmulFinalizeRoutingWeightNzGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *biasOptional, const aclTensor *pertokenScaleOptional, const aclTensor *groupList, const aclTensor *sharedInputOptional, const aclTensor *logitOptional, const aclTensor *rowIndex, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulFinalizeRoutingWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_WEIGHT_NZ_V2
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_FINALIZE_ROUTING_WEIGHT_NZ_V2
/* One matrix product per expert, weighted and summed back to the tokens, the weight in FRACTAL_NZ; version 2 adds offset, antiquantScale, antiquantOffset, tuningConfig. */
aclnnStatus aclnnGroupedMatmulFinalizeRoutingWeightNzV2GetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *scale, const aclTensor *biasOptional, const aclTensor *offsetOptional, const aclTensor *antiquantScaleOptional, const aclTensor *antiquantOffsetOptional, const aclTensor *pertokenScaleOptional, const aclTensor *groupList, const aclTensor *sharedInputOptional, const aclTensor *logitOptional, const aclTensor *rowIndex, int64_t dtype, float sharedInputWeight, int64_t sharedInputOffset, bool transposeX1, bool transposeX2, int64_t groupListType, const aclIntArray *tuningConfigOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulFinalizeRoutingWeightNzV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT
/* One matrix product per group, gated activation and quantization. */
aclnnStatus aclnnGroupedMatmulSwigluQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional, const aclTensor *offsetOptional, const aclTensor *weightScale, const aclTensor *xScale, const aclTensor *groupList, aclTensor *output, aclTensor *outputScale, aclTensor *outputOffsetOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulSwigluQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT_V2
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT_V2
/* One matrix product per group, gated activation and quantization; version 2 adds weightAssistMatrix, smoothScale, dequantMode, dequantDtype, quantMode, groupListType, tuningConfig, drops offset, outputOffset. Direction settled by meaning: tuningConfigOptional read. */
aclnnStatus aclnnGroupedMatmulSwigluQuantV2GetWorkspaceSize(const aclTensor *x, const aclTensorList *weight, const aclTensorList *weightScale, const aclTensorList *weightAssistMatrixOptional, const aclTensor *biasOptional, const aclTensor *xScale, const aclTensor *smoothScaleOptional, const aclTensor *groupList, int64_t dequantMode, int64_t dequantDtype, int64_t quantMode, int64_t groupListType, const aclIntArray *tuningConfigOptional, aclTensor *output, aclTensor *outputScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulSwigluQuantV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT_NZ
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT_NZ
/* One matrix product per group, gated activation and quantization, the weight in FRACTAL_NZ. */
aclnnStatus aclnnGroupedMatmulSwigluQuantWeightNZGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional, const aclTensor *offsetOptional, const aclTensor *weightScale, const aclTensor *xScale, const aclTensor *groupList, aclTensor *output, aclTensor *outputScale, aclTensor *outputOffsetOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulSwigluQuantWeightNZ(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT_NZ_V2
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_SWIGLU_QUANT_WEIGHT_NZ_V2
/* One matrix product per group, gated activation and quantization, the weight in FRACTAL_NZ. Direction settled by meaning: tuningConfigOptional read. */
aclnnStatus aclnnGroupedMatmulSwigluQuantWeightNzV2GetWorkspaceSize(const aclTensor *x, const aclTensorList *weight, const aclTensorList *weightScale, const aclTensorList *weightAssistMatrixOptional, const aclTensor *biasOptional, const aclTensor *xScale, const aclTensor *smoothScaleOptional, const aclTensor *groupList, int64_t dequantMode, int64_t dequantDtype, int64_t quantMode, int64_t groupListType, const aclIntArray *tuningConfigOptional, aclTensor *output, aclTensor *outputScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulSwigluQuantWeightNzV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V2
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V2
/* One matrix product per group; version 2 adds groupType. */
aclnnStatus aclnnGroupedMatmulV2GetWorkspaceSize(const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, const aclTensorList *scaleOptional, const aclTensorList *offsetOptional, const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional, const aclIntArray *groupListOptional, int64_t splitItem, int64_t groupType, aclTensorList *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V3
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V3
/* One matrix product per group; version 3 with the parameters of aclnnGroupedMatmulV2. */
aclnnStatus aclnnGroupedMatmulV3GetWorkspaceSize(const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, const aclTensorList *scaleOptional, const aclTensorList *offsetOptional, const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional, const aclTensor *groupListOptional, int64_t splitItem, int64_t groupType, aclTensorList *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V4
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V4
/* One matrix product per group; version 4 adds perTokenScale, activationInput, activationQuantScale, activationQuantOffset, groupListType, actType, out, activationFeatureOut, dynQuantScaleOut, drops y. */
aclnnStatus aclnnGroupedMatmulV4GetWorkspaceSize(const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, const aclTensorList *scaleOptional, const aclTensorList *offsetOptional, const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional, const aclTensorList *perTokenScaleOptional, const aclTensor *groupListOptional, const aclTensorList *activationInputOptional, const aclTensorList *activationQuantScaleOptional, const aclTensorList *activationQuantOffsetOptional, int64_t splitItem, int64_t groupType, int64_t groupListType, int64_t actType, aclTensorList *out, aclTensorList *activationFeatureOutOptional, aclTensorList *dynQuantScaleOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulV4(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V5
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_V5
/* One matrix product per group; version 5 adds tuningConfig. */
aclnnStatus aclnnGroupedMatmulV5GetWorkspaceSize(const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, const aclTensorList *scaleOptional, const aclTensorList *offsetOptional, const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional, const aclTensorList *perTokenScaleOptional, const aclTensor *groupListOptional, const aclTensorList *activationInputOptional, const aclTensorList *activationQuantScaleOptional, const aclTensorList *activationQuantOffsetOptional, int64_t splitItem, int64_t groupType, int64_t groupListType, int64_t actType, const aclIntArray *tuningConfigOptional, aclTensorList *out, aclTensorList *activationFeatureOutOptional, aclTensorList *dynQuantScaleOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulV5(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_WEIGHT_NZ
#define ACLNN_PY_GMM_ACLNN_GROUPED_MATMUL_WEIGHT_NZ
/* One matrix product per group, the weight in FRACTAL_NZ. */
aclnnStatus aclnnGroupedMatmulWeightNzGetWorkspaceSize(const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, const aclTensorList *scaleOptional, const aclTensorList *offsetOptional, const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional, const aclTensorList *perTokenScaleOptional, const aclTensor *groupListOptional, const aclTensorList *activationInputOptional, const aclTensorList *activationQuantScaleOptional, const aclTensorList *activationQuantOffsetOptional, int64_t splitItem, int64_t groupType, int64_t groupListType, int64_t actType, const aclIntArray *tuningConfigOptional, int64_t quantGroupSize, aclTensorList *out, aclTensorList *activationFeatureOutOptional, aclTensorList *dynQuantScaleOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGroupedMatmulWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_QUANT_GROUPED_MATMUL_DEQUANT
#define ACLNN_PY_GMM_ACLNN_QUANT_GROUPED_MATMUL_DEQUANT
/* Quantization, one matrix product per group and dequantization. */
aclnnStatus aclnnQuantGroupedMatmulDequantGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *weightScale, const aclTensor *groupList, const aclTensor *biasOptional, const aclTensor *xScaleOptional, const aclTensor *xOffsetOptional, const aclTensor *smoothScaleOptional, const char *xQuantMode, bool transposeWeight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantGroupedMatmulDequant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_QUANT_GROUPED_MATMUL_DEQUANT_WEIGHT_NZ
#define ACLNN_PY_GMM_ACLNN_QUANT_GROUPED_MATMUL_DEQUANT_WEIGHT_NZ
/* Quantization, one matrix product per group and dequantization, the weight in FRACTAL_NZ. */
aclnnStatus aclnnQuantGroupedMatmulDequantWeightNZGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *weightScale, const aclTensor *groupList, const aclTensor *biasOptional, const aclTensor *xScaleOptional, const aclTensor *xOffsetOptional, const aclTensor *smoothScaleOptional, const char *xQuantMode, bool transposeWeight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantGroupedMatmulDequantWeightNZ(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_GMM_ACLNN_QUANT_GROUPED_MATMUL_INPLACE_ADD
#define ACLNN_PY_GMM_ACLNN_QUANT_GROUPED_MATMUL_INPLACE_ADD
/* One quantized matrix product per group added to the output. */
aclnnStatus aclnnQuantGroupedMatmulInplaceAddGetWorkspaceSize(const aclTensor *x1, const aclTensor *x2, const aclTensor *scale1Optional, const aclTensor *scale2, const aclTensor *groupList, aclTensor *yRef, int64_t groupListType, int64_t groupSize, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantGroupedMatmulInplaceAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_GMM_H */
