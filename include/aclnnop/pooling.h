/* SPDX-License-Identifier: Apache-2.0 */
/* Pooling and its gradients. */
#ifndef ACLNN_PY_ACLNNOP_POOLING_H
#define ACLNN_PY_ACLNNOP_POOLING_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL2D
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL2D
/* Average pooling to a given output size over height and width. */
aclnnStatus aclnnAdaptiveAvgPool2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveAvgPool2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL2D_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL2D_BACKWARD
/* Gradient of average pooling to a given output size over height and width. */
aclnnStatus aclnnAdaptiveAvgPool2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveAvgPool2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL3D
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL3D
/* Average pooling to a given output size over depth, height and width. */
aclnnStatus aclnnAdaptiveAvgPool3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveAvgPool3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL3D_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_AVG_POOL3D_BACKWARD
/* Gradient of average pooling to a given output size over depth, height and width. */
aclnnStatus aclnnAdaptiveAvgPool3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveAvgPool3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL2D
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL2D
/* Maximum pooling to a given output size over height and width, with the positions of the maxima. */
aclnnStatus aclnnAdaptiveMaxPool2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, aclTensor *outputOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveMaxPool2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL2D_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL2D_BACKWARD
/* Gradient of maximum pooling to a given output size over height and width, with the positions of the maxima. */
aclnnStatus aclnnAdaptiveMaxPool2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveMaxPool2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL3D
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL3D
/* Maximum pooling to a given output size over depth, height and width, with the positions of the maxima. */
aclnnStatus aclnnAdaptiveMaxPool3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, aclTensor *outputOut, aclTensor *indicesOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveMaxPool3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL3D_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_ADAPTIVE_MAX_POOL3D_BACKWARD
/* Gradient of maximum pooling to a given output size over depth, height and width, with the positions of the maxima. */
aclnnStatus aclnnAdaptiveMaxPool3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAdaptiveMaxPool3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_AVGPOOL2D
#define ACLNN_PY_POOLING_ACLNN_AVGPOOL2D
/* Average pooling over height and width. */
aclnnStatus aclnnAvgPool2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *strides, const aclIntArray *paddings, bool ceilMode, bool countIncludePad, int64_t divisorOverride, int8_t cubeMathType, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAvgPool2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_AVGPOOL2D_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_AVGPOOL2D_BACKWARD
/* Gradient of average pooling over height and width. */
aclnnStatus aclnnAvgPool2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride, int8_t cubeMathType, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAvgPool2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_AVGPOOL3D
#define ACLNN_PY_POOLING_ACLNN_AVGPOOL3D
/* Average pooling over depth, height and width. */
aclnnStatus aclnnAvgPool3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAvgPool3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_AVGPOOL3D_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_AVGPOOL3D_BACKWARD
/* Gradient of average pooling over depth, height and width. */
aclnnStatus aclnnAvgPool3dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAvgPool3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_MAX_POOL
#define ACLNN_PY_POOLING_ACLNN_MAX_POOL
/* Maximum pooling. */
aclnnStatus aclnnMaxPoolGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelShape, const aclIntArray *strides, int64_t autoPad, const aclIntArray *pads, const aclIntArray *dilations, int64_t ceilMode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_MAX_POOL2D_WITH_INDICES
#define ACLNN_PY_POOLING_ACLNN_MAX_POOL2D_WITH_INDICES
/* Maximum pooling over height and width, with the positions of the maxima. */
aclnnStatus aclnnMaxPool2dWithIndicesGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *out, aclTensor *indices, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool2dWithIndices(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Maximum pooling over height and width, with a bit mask of the maxima. */
aclnnStatus aclnnMaxPool2dWithMaskGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *out, aclTensor *indices, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool2dWithMask(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_MAX_POOL2D_WITH_INDICES_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_MAX_POOL2D_WITH_INDICES_BACKWARD
/* Gradient of maximum pooling over height and width, with the positions of the maxima. */
aclnnStatus aclnnMaxPool2dWithIndicesBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool2dWithIndicesBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of maximum pooling over height and width, with a bit mask of the maxima. */
aclnnStatus aclnnMaxPool2dWithMaskBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool2dWithMaskBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_MAX_POOL3D_WITH_ARGMAX
#define ACLNN_PY_POOLING_ACLNN_MAX_POOL3D_WITH_ARGMAX
/* Maximum pooling over depth, height and width, with the positions of the maxima. */
aclnnStatus aclnnMaxPool3dWithArgmaxGetWorkspaceSize(const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *out, aclTensor *indices, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool3dWithArgmax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_POOLING_ACLNN_MAX_POOL3D_WITH_ARGMAX_BACKWARD
#define ACLNN_PY_POOLING_ACLNN_MAX_POOL3D_WITH_ARGMAX_BACKWARD
/* Gradient of maximum pooling over depth, height and width, with the positions of the maxima. */
aclnnStatus aclnnMaxPool3dWithArgmaxBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMaxPool3dWithArgmaxBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_POOLING_H */
