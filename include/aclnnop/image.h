/* SPDX-License-Identifier: Apache-2.0 */
/* Images and resampling. */
#ifndef ACLNN_PY_ACLNNOP_IMAGE_H
#define ACLNN_PY_ACLNNOP_IMAGE_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER2D
#define ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER2D
/* Samples of an image at the points of a grid. */
aclnnStatus aclnnGridSampler2DGetWorkspaceSize(const aclTensor *input, const aclTensor *grid, int64_t interpolationMode, int64_t paddingMode, bool alignCorners, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGridSampler2D(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER2D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER2D_BACKWARD
/* Gradient of samples of an image at the points of a grid. */
aclnnStatus aclnnGridSampler2DBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *input, const aclTensor *grid, int64_t interpolationMode, int64_t paddingMode, bool alignCorners, const aclBoolArray *outputMask, aclTensor *inputGrad, aclTensor *gridGrad, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGridSampler2DBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER3D
#define ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER3D
/* Samples of a volume at the points of a grid. */
aclnnStatus aclnnGridSampler3DGetWorkspaceSize(const aclTensor *input, const aclTensor *grid, int64_t interpolationMode, int64_t paddingMode, bool alignCorners, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGridSampler3D(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER3D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_GRID_SAMPLER3D_BACKWARD
/* Gradient of samples of a volume at the points of a grid. */
aclnnStatus aclnnGridSampler3DBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *input, const aclTensor *grid, int64_t interpolationMode, int64_t paddingMode, bool alignCorners, const aclBoolArray *outputMask, aclTensor *inputGrad, aclTensor *gridGrad, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGridSampler3DBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_IM2COL_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_IM2COL_BACKWARD
/* Gradient of the sliding blocks unfolded into columns. */
aclnnStatus aclnnIm2colBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclIntArray *inputSize, const aclIntArray *kernelSize, const aclIntArray *dilation, const aclIntArray *padding, const aclIntArray *stride, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnIm2colBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_RASTERIZER
#define ACLNN_PY_IMAGE_ACLNN_RASTERIZER
/* Triangles turned into pixels with barycentric weights. [document] */
aclnnStatus aclnnRasterizerGetWorkspaceSize(const aclTensor *v, const aclTensor *f, const aclTensor *dOptional, int64_t width, int64_t height, double occlusionTruncation, int64_t useDepthPrior, aclTensor *findicesOut, aclTensor *barycentricOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRasterizer(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_RESIZE
#define ACLNN_PY_IMAGE_ACLNN_RESIZE
/* Resampling of an image to another size. */
aclnnStatus aclnnResizeGetWorkspaceSize(const aclTensor *self, const aclFloatArray *scales, const char *mode, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnResize(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_THREE_INTERPOLATE_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_THREE_INTERPOLATE_BACKWARD
/* Gradient of features of points interpolated from their three nearest neighbours. */
aclnnStatus aclnnThreeInterpolateBackwardGetWorkspaceSize(const aclTensor *grad_x, const aclTensor *idx, const aclTensor *weight, int m, aclTensor *grad_y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnThreeInterpolateBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC2D_AA
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC2D_AA
/* Bicubic resampling over height and width with antialiasing. */
aclnnStatus aclnnUpsampleBicubic2dAAGetWorkspaceSize(const aclTensor *x, const aclIntArray *outputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBicubic2dAA(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC2D_AA_GRAD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC2D_AA_GRAD
/* Gradient of bicubic resampling over height and width with antialiasing. */
aclnnStatus aclnnUpsampleBicubic2dAAGradGetWorkspaceSize(const aclTensor *gradOutput, const aclIntArray *outputSize, const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBicubic2dAAGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC_2D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC_2D
/* Bicubic resampling over height and width. */
aclnnStatus aclnnUpsampleBicubic2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBicubic2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC_2D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BICUBIC_2D_BACKWARD
/* Gradient of bicubic resampling over height and width. */
aclnnStatus aclnnUpsampleBicubic2dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBicubic2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR2D_AA
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR2D_AA
/* Bilinear resampling over height and width with antialiasing. */
aclnnStatus aclnnUpsampleBilinear2dAAGetWorkspaceSize(const aclTensor *input, const aclIntArray *outputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBilinear2dAA(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR2D_AA_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR2D_AA_BACKWARD
/* Gradient of bilinear resampling over height and width with antialiasing. */
aclnnStatus aclnnUpsampleBilinear2dAABackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclIntArray *outputSize, const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBilinear2dAABackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR_2D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR_2D
/* Bilinear resampling over height and width. */
aclnnStatus aclnnUpsampleBilinear2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBilinear2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR_2D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR_2D_BACKWARD
/* Gradient of bilinear resampling over height and width. */
aclnnStatus aclnnUpsampleBilinear2dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBilinear2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR_2D_BACKWARD_V2
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_BILINEAR_2D_BACKWARD_V2
/* Gradient of bilinear resampling over height and width; version 2 with the parameters of aclnnUpsampleBilinear2dBackward. */
aclnnStatus aclnnUpsampleBilinear2dBackwardV2GetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, bool alignCorners, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleBilinear2dBackwardV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_LINEAR_1D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_LINEAR_1D
/* Linear resampling over width. */
aclnnStatus aclnnUpsampleLinear1dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scale, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleLinear1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_LINEAR_1D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_LINEAR_1D_BACKWARD
/* Gradient of linear resampling over width. */
aclnnStatus aclnnUpsampleLinear1dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, bool alignCorners, double scales, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleLinear1dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_1D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_1D
/* Nearest neighbour resampling over width. */
aclnnStatus aclnnUpsampleNearest1dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_1D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_1D_BACKWARD
/* Gradient of nearest neighbour resampling over width. */
aclnnStatus aclnnUpsampleNearest1dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, double scales, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest1dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_1D_V2
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_1D_V2
/* Nearest neighbour resampling over width; version 2 adds scaleL. */
aclnnStatus aclnnUpsampleNearest1dV2GetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, float scaleL, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest1dV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_2D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_2D
/* Nearest neighbour resampling over height and width. */
aclnnStatus aclnnUpsampleNearest2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_2D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_2D_BACKWARD
/* Gradient of nearest neighbour resampling over height and width. */
aclnnStatus aclnnUpsampleNearest2dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, double scalesH, double scalesW, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_2D_V2
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_2D_V2
/* Nearest neighbour resampling over height and width; version 2 adds scalesH, scalesW. */
aclnnStatus aclnnUpsampleNearest2dV2GetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, float scalesH, float scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest2dV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_3D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_3D
/* Nearest neighbour resampling over depth, height and width. */
aclnnStatus aclnnUpsampleNearest3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, double scalesD, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_3D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_3D_BACKWARD
/* Gradient of nearest neighbour resampling over depth, height and width. */
aclnnStatus aclnnUpsampleNearest3dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, double scalesD, double scalesH, double scalesW, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearest3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT1D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT1D
/* Nearest neighbour resampling by pixel centres over width. */
aclnnStatus aclnnUpsampleNearestExact1dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, double scales, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearestExact1d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT1D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT1D_BACKWARD
/* Gradient of nearest neighbour resampling by pixel centres over width. */
aclnnStatus aclnnUpsampleNearestExact1dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclIntArray *outputSize, const aclIntArray *inputSize, double scales, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearestExact1dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT2D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT2D
/* Nearest neighbour resampling by pixel centres over height and width. */
aclnnStatus aclnnUpsampleNearestExact2dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearestExact2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT2D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT2D_BACKWARD
/* Gradient of nearest neighbour resampling by pixel centres over height and width. */
aclnnStatus aclnnUpsampleNearestExact2dBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclIntArray *outputSize, const aclIntArray *inputSize, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearestExact2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT3D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT3D
/* Nearest neighbour resampling by pixel centres over depth, height and width. */
aclnnStatus aclnnUpsampleNearestExact3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, double scalesD, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearestExact3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT3D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_NEAREST_EXACT3D_BACKWARD
/* Gradient of nearest neighbour resampling by pixel centres over depth, height and width. */
aclnnStatus aclnnUpsampleNearestExact3dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, double scalesD, double scalesH, double scalesW, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleNearestExact3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_TRILINEAR_3D
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_TRILINEAR_3D
/* Trilinear resampling over depth, height and width. */
aclnnStatus aclnnUpsampleTrilinear3dGetWorkspaceSize(const aclTensor *self, const aclIntArray *outputSize, bool alignCorners, double scalesD, double scalesH, double scalesW, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleTrilinear3d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_TRILINEAR_3D_BACKWARD
#define ACLNN_PY_IMAGE_ACLNN_UPSAMPLE_TRILINEAR_3D_BACKWARD
/* Gradient of trilinear resampling over depth, height and width. */
aclnnStatus aclnnUpsampleTrilinear3dBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize, bool alignCorners, double scalesD, double scalesH, double scalesW, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnUpsampleTrilinear3dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_IMAGE_H */
