/* SPDX-License-Identifier: Apache-2.0 */
/* Object detection. */
#ifndef ACLNN_PY_ACLNNOP_OBJDETECT_H
#define ACLNN_PY_ACLNNOP_OBJDETECT_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_OBJDETECT_ACLNN_BACKGROUND_REPLACE
#define ACLNN_PY_OBJDETECT_ACLNN_BACKGROUND_REPLACE
/* Replacement of the background of an image by a mask. [document] */
aclnnStatus aclnnBackgroundReplaceGetWorkspaceSize(const aclTensor *bkg, const aclTensor *src, const aclTensor *mask, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBackgroundReplace(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_BLEND_IMAGES_CUSTOM
#define ACLNN_PY_OBJDETECT_ACLNN_BLEND_IMAGES_CUSTOM
/* Blend of two images by an alpha channel. [document] */
aclnnStatus aclnnBlendImagesCustomGetWorkspaceSize(const aclTensor *rgb, const aclTensor *alpha, const aclTensor *frame, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBlendImagesCustom(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_CIOU
#define ACLNN_PY_OBJDETECT_ACLNN_CIOU
/* Complete intersection over union of pairs of boxes. */
aclnnStatus aclnnCIoUGetWorkspaceSize(const aclTensor *bBoxes, const aclTensor *gtBoxes, bool trans, bool isCross, const char *mode, aclTensor *overlap, aclTensor *atanSub, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCIoU(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_IOU
#define ACLNN_PY_OBJDETECT_ACLNN_IOU
/* Intersection over union of pairs of boxes. */
aclnnStatus aclnnIouGetWorkspaceSize(const aclTensor *bBoxes, const aclTensor *gtBoxes, const char *mode, float eps, bool aligned, aclTensor *overlap, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIou(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_MRGBA_CUSTOM
#define ACLNN_PY_OBJDETECT_ACLNN_MRGBA_CUSTOM
/* Image weighted by an alpha channel. [document] */
aclnnStatus aclnnMrgbaCustomGetWorkspaceSize(const aclTensor *rgb, const aclTensor *alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMrgbaCustom(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_NON_MAX_SUPPRESSION
#define ACLNN_PY_OBJDETECT_ACLNN_NON_MAX_SUPPRESSION
/* Boxes kept when those overlapping a better one are dropped. */
aclnnStatus aclnnNonMaxSuppressionGetWorkspaceSize(const aclTensor *boxes, const aclTensor *scores, const aclIntArray *maxOutputBoxesPerClass, const aclFloatArray *iouThreshold, const aclFloatArray *scoreThreshold, int32_t centerPointBox, aclTensor *selectedIndices, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnNonMaxSuppression(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_ROI_ALIGN
#define ACLNN_PY_OBJDETECT_ACLNN_ROI_ALIGN
/* Regions of a feature map sampled to one size. */
aclnnStatus aclnnRoiAlignGetWorkspaceSize(const aclTensor *self, const aclTensor *rois, const aclTensor *batchIndices, const char *mode, int outputHeight, int outputWidth, int samplingRatio, float spatialScale, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRoiAlign(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_ROI_ALIGN_V2
#define ACLNN_PY_OBJDETECT_ACLNN_ROI_ALIGN_V2
/* Regions of a feature map sampled to one size; version 2 adds boxes, pooledHeight, pooledWidth, aligned, drops rois, batchIndices, mode, outputHeight, outputWidth. */
aclnnStatus aclnnRoiAlignV2GetWorkspaceSize(const aclTensor *self, const aclTensor *boxes, int64_t pooledHeight, int64_t pooledWidth, float spatialScale, int64_t samplingRatio, bool aligned, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRoiAlignV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_ROI_ALIGN_V2_BACKWARD
#define ACLNN_PY_OBJDETECT_ACLNN_ROI_ALIGN_V2_BACKWARD
/* Gradient of regions of a feature map sampled to one size. Direction settled by meaning: gradInput written. */
aclnnStatus aclnnRoiAlignV2BackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *boxes, const aclIntArray *inputShape, int64_t pooledHeight, int64_t pooledWidth, float spatialScale, int64_t samplingRatio, bool aligned, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRoiAlignV2Backward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_ROI_POOLING_GRAD_WITH_ARG_MAX
#define ACLNN_PY_OBJDETECT_ACLNN_ROI_POOLING_GRAD_WITH_ARG_MAX
/* Gradient of regions of a feature map pooled by maximum. */
aclnnStatus aclnnRoiPoolingGradWithArgMaxGetWorkspaceSize(const aclTensor *gradOutput, aclTensor *gradInputRef, const aclTensor *rois, const aclTensor *argmax, int64_t pooledH, int64_t pooledW, double spatialScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRoiPoolingGradWithArgMax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_OBJDETECT_ACLNN_ROI_POOLING_WITH_ARG_MAX
#define ACLNN_PY_OBJDETECT_ACLNN_ROI_POOLING_WITH_ARG_MAX
/* Regions of a feature map pooled by maximum, with the positions of the maxima. */
aclnnStatus aclnnRoiPoolingWithArgMaxGetWorkspaceSize(const aclTensor *x, const aclTensor *rois, int64_t pooled_h, int64_t pooled_w, float spatial_scale_h, float spatial_scale_w, aclTensor *y, aclTensor *argmax, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRoiPoolingWithArgMax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_OBJDETECT_H */
