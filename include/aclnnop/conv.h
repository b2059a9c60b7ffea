/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions. */
#ifndef ACLNN_PY_ACLNNOP_CONV_H
#define ACLNN_PY_ACLNNOP_CONV_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_CONV_ACLNN_CONVOLUTION
#define ACLNN_PY_CONV_ACLNN_CONVOLUTION
/* Convolution over height and width of each channel by itself. */
aclnnStatus aclnnConvDepthwise2dGetWorkspaceSize(const aclTensor *self, const aclTensor *weight, const aclIntArray *kernelSize, const aclTensor *bias, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, aclTensor *out, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConvDepthwise2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Convolution along time of input laid out as time, batch, channel. Direction settled by meaning: output written. */
aclnnStatus aclnnConvTbcGetWorkspaceSize(const aclTensor *self, const aclTensor *weight, const aclTensor *biasOptional, int64_t pad, aclTensor *output, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConvTbc(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Convolution in one to three dimensions, transposed on request. */
aclnnStatus aclnnConvolutionGetWorkspaceSize(const aclTensor *input, const aclTensor *weight, const aclTensor *biasOptional, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int64_t groups, aclTensor *output, int8_t cubeMathType, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConvolution(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONV_ACLNN_CONVOLUTION_BACKWARD
#define ACLNN_PY_CONV_ACLNN_CONVOLUTION_BACKWARD
/* Gradient of convolution along time of input laid out as time, batch, channel. */
aclnnStatus aclnnConvTbcBackwardGetWorkspaceSize(const aclTensor *self, const aclTensor *input, const aclTensor *weight, const aclTensor *biasOptional, int64_t pad, int8_t cubeMathType, aclTensor *gradInput, aclTensor *gradWeight, aclTensor *gradBias, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConvTbcBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of convolution in one to three dimensions, transposed on request. */
aclnnStatus aclnnConvolutionBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *input, const aclTensor *weight, const aclIntArray *biasSizesOptional, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool transposed, const aclIntArray *outputPadding, int groups, const aclBoolArray *outputMask, int8_t cubeMathType, aclTensor *gradInput, aclTensor *gradWeight, aclTensor *gradBias, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnConvolutionBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of convolution over positions moved by offsets. */
aclnnStatus aclnnDeformableConv2dBackwardGetWorkspaceSize(const aclTensor *input, const aclTensor *gradOutput, const aclTensor *offsetOut, const aclTensor *weight, const aclTensor *offset, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, int64_t groups, int64_t deformableGroups, bool modulated, aclTensor *gradInput, aclTensor *gradWeight, aclTensor *gradOffset, aclTensor *gradBias, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDeformableConv2dBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONV_ACLNN_DEFORMABLE_CONV2D
#define ACLNN_PY_CONV_ACLNN_DEFORMABLE_CONV2D
/* Convolution over positions moved by offsets. */
aclnnStatus aclnnDeformableConv2dGetWorkspaceSize(const aclTensor *x, const aclTensor *weight, const aclTensor *offset, const aclTensor *biasOptional, const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, int64_t groups, int64_t deformableGroups, bool modulated, aclTensor *out, aclTensor *deformOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnDeformableConv2d(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_CONV_ACLNN_QUANT_CONVOLUTION
#define ACLNN_PY_CONV_ACLNN_QUANT_CONVOLUTION
/* Convolution of quantized inputs. */
aclnnStatus aclnnQuantConvolutionGetWorkspaceSize(const aclTensor *input, const aclTensor *weight, const aclTensor *bias, const aclTensor *scale, const aclTensor *offsetOptional, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool transposed, const aclIntArray *outputPaddingOptional, int64_t groups, int32_t offsetx, const char *roundModeOptional, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantConvolution(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Convolution of quantized inputs, the weight in FRACTAL_NZ. */
aclnnStatus aclnnQuantConvolutionWeightNzGetWorkspaceSize(const aclTensor *input, const aclTensor *weight, const aclTensor *bias, const aclTensor *scale, const aclTensor *offsetOptional, const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation, bool transposed, const aclIntArray *outputPaddingOptional, int64_t groups, int32_t offsetx, const char *roundModeOptional, aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnQuantConvolutionWeightNz(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_CONV_H */
