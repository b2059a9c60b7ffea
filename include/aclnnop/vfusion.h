/* SPDX-License-Identifier: Apache-2.0 */
/* Fused vector operations. */
#ifndef ACLNN_PY_ACLNNOP_VFUSION_H
#define ACLNN_PY_ACLNNOP_VFUSION_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_VFUSION_ACLNN_MODULATE
#define ACLNN_PY_VFUSION_ACLNN_MODULATE
/* Input scaled and shifted per sample. */
aclnnStatus aclnnModulateGetWorkspaceSize(const aclTensor *self, const aclTensor *scaleOptional, const aclTensor *shiftOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnModulate(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_VFUSION_ACLNN_MODULATE_BACKWARD
#define ACLNN_PY_VFUSION_ACLNN_MODULATE_BACKWARD
/* Gradient of input scaled and shifted per sample. */
aclnnStatus aclnnModulateBackwardGetWorkspaceSize(const aclTensor *grad_output, const aclTensor *input, const aclTensor *scaleOptional, const aclTensor *shiftOptional, aclTensor *grad_input, aclTensor *grad_scale, aclTensor *grad_shift, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnModulateBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_VFUSION_ACLNN_MULTI_SCALE_DEFORMABLE_ATTENTION_GRAD
#define ACLNN_PY_VFUSION_ACLNN_MULTI_SCALE_DEFORMABLE_ATTENTION_GRAD
/* Gradient of attention over sampled points of feature maps of several scales. */
aclnnStatus aclnnMultiScaleDeformableAttentionGradGetWorkspaceSize(const aclTensor *value, const aclTensor *spatialShape, const aclTensor *levelStartIndex, const aclTensor *location, const aclTensor *attnWeight, const aclTensor *gradOutput, aclTensor *gradValue, aclTensor *gradLocation, aclTensor *gradAttnWeight, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMultiScaleDeformableAttentionGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_VFUSION_ACLNN_MULTI_SCALE_DEFORMABLE_ATTN_FUNCTION
#define ACLNN_PY_VFUSION_ACLNN_MULTI_SCALE_DEFORMABLE_ATTN_FUNCTION
/* Attention over sampled points of feature maps of several scales. */
aclnnStatus aclnnMultiScaleDeformableAttnFunctionGetWorkspaceSize(const aclTensor *value, const aclTensor *spatialShape, const aclTensor *levelStartIndex, const aclTensor *location, const aclTensor *attnWeight, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMultiScaleDeformableAttnFunction(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_VFUSION_ACLNN_SCALED_MASKED_SOFTMAX
#define ACLNN_PY_VFUSION_ACLNN_SCALED_MASKED_SOFTMAX
/* Softmax of scaled scores under a mask. */
aclnnStatus aclnnScaledMaskedSoftmaxGetWorkspaceSize(const aclTensor *x, const aclTensor *mask, double scale, bool fixedTriuMask, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScaledMaskedSoftmax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_VFUSION_ACLNN_SCALED_MASKED_SOFTMAX_BACKWARD
#define ACLNN_PY_VFUSION_ACLNN_SCALED_MASKED_SOFTMAX_BACKWARD
/* Gradient of the softmax of scaled scores under a mask. */
aclnnStatus aclnnScaledMaskedSoftmaxBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *y, const aclTensor *mask, double scale, bool fixTriuMask, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnScaledMaskedSoftmaxBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_VFUSION_H */
