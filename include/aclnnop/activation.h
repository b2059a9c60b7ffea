/* SPDX-License-Identifier: Apache-2.0 */
/* Activation functions and their gradients. */
#ifndef ACLNN_PY_ACLNNOP_ACTIVATION_H
#define ACLNN_PY_ACLNNOP_ACTIVATION_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_ACTIVATION_ACLNN_ADD_RELU
#define ACLNN_PY_ACTIVATION_ACLNN_ADD_RELU
/* Sum of one tensor and another scaled by alpha, then the rectified linear unit. */
aclnnStatus aclnnAddReluGetWorkspaceSize(const aclTensor *self, const aclTensor *other, const aclScalar *alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnAddRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Sum of one tensor and another scaled by alpha, then the rectified linear unit, in place. */
aclnnStatus aclnnInplaceAddReluGetWorkspaceSize(aclTensor *selfRef, const aclTensor *other, const aclScalar *alpha, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceAddRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_TARGET_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_TARGET_BACKWARD
/* Gradient of the binary cross entropy of logits with respect to the targets. */
aclnnStatus aclnnBinaryCrossEntropyWithLogitsTargetBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional, const aclTensor *posWeightOptional, int64_t reduction, aclTensor *gradTarget, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBinaryCrossEntropyWithLogitsTargetBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_CELU
#define ACLNN_PY_ACTIVATION_ACLNN_CELU
/* Continuously differentiable exponential linear unit. */
aclnnStatus aclnnCeluGetWorkspaceSize(const aclTensor *self, const aclScalar *alpha, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnCelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Continuously differentiable exponential linear unit, in place. */
aclnnStatus aclnnInplaceCeluGetWorkspaceSize(aclTensor *selfRef, const aclScalar *alpha, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceCelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_CLIPPED_SWIGLU
#define ACLNN_PY_ACTIVATION_ACLNN_CLIPPED_SWIGLU
/* Gated unit of clipped halves with the sigmoid-weighted activation. [document] */
aclnnStatus aclnnClippedSwigluGetWorkspaceSize(const aclTensor *x, const aclTensor *groupIndexOptional, int64_t dim, double alpha, double limit, double bias, bool interleaved, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClippedSwiglu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_CLIPPED_SWIGLU_GRAD
#define ACLNN_PY_ACTIVATION_ACLNN_CLIPPED_SWIGLU_GRAD
/* Gradient of the gated unit of clipped halves with the sigmoid-weighted activation. [document] */
aclnnStatus aclnnClippedSwigluGradGetWorkspaceSize(const aclTensor *gradY, const aclTensor *x, const aclTensor *groupIndexOptional, int64_t dim, double alpha, double limit, double bias, bool interleaved, aclTensor *gradXOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClippedSwigluGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_CLIPPED_SWIGLU_V2
#define ACLNN_PY_ACTIVATION_ACLNN_CLIPPED_SWIGLU_V2
/* Gated unit of clipped halves with the sigmoid-weighted activation; version 2 adds clampMode. [document] */
aclnnStatus aclnnClippedSwigluV2GetWorkspaceSize(const aclTensor *x, const aclTensor *groupIndexOptional, int64_t dim, double alpha, double limit, double bias, bool interleaved, int64_t clampMode, aclTensor *outOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnClippedSwigluV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_ELU
#define ACLNN_PY_ACTIVATION_ACLNN_ELU
/* Exponential linear unit. */
aclnnStatus aclnnEluGetWorkspaceSize(const aclTensor *self, const aclScalar *alpha, const aclScalar *scale, const aclScalar *inputScale, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnElu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Exponential linear unit, in place. */
aclnnStatus aclnnInplaceEluGetWorkspaceSize(aclTensor *selfRef, const aclScalar *alpha, const aclScalar *scale, const aclScalar *inputScale, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceElu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_ELU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_ELU_BACKWARD
/* Gradient of the exponential linear unit. */
aclnnStatus aclnnEluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclScalar *alpha, const aclScalar *scale, const aclScalar *inputScale, bool isResult, const aclTensor *selfOrResult, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnEluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_ERFINV
#define ACLNN_PY_ACTIVATION_ACLNN_ERFINV
/* Inverse error function of each element. */
aclnnStatus aclnnErfinvGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnErfinv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Inverse error function of each element, in place. */
aclnnStatus aclnnInplaceErfinvGetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceErfinv(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_FAST_GELU
#define ACLNN_PY_ACTIVATION_ACLNN_FAST_GELU
/* Quick approximation of the Gaussian error linear unit. */
aclnnStatus aclnnFastGeluGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFastGelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_FAST_GELU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_FAST_GELU_BACKWARD
/* Gradient of the quick approximation of the Gaussian error linear unit. */
aclnnStatus aclnnFastGeluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFastGeluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_FATRELU_MUL
#define ACLNN_PY_ACTIVATION_ACLNN_FATRELU_MUL
/* Thresholded first half times the second half. [document] */
aclnnStatus aclnnFatreluMulGetWorkspaceSize(const aclTensor *input, const aclTensor *threshold, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnFatreluMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GEGLU
#define ACLNN_PY_ACTIVATION_ACLNN_GEGLU
/* Gated unit with the Gaussian error activation. */
aclnnStatus aclnnGeGluGetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t approximate, aclTensor *out, aclTensor *outGelu, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeGlu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gated unit with the Gaussian error activation; version 3 adds activateLeft. */
aclnnStatus aclnnGeGluV3GetWorkspaceSize(const aclTensor *self, int64_t dim, int64_t approximate, bool activateLeft, aclTensor *out, aclTensor *outGelu, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeGluV3(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GEGLU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_GEGLU_BACKWARD
/* Gradient of the gated unit with the Gaussian error activation. */
aclnnStatus aclnnGeGluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *gelu, int64_t dim, int64_t approximate, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeGluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Gradient of the gated unit with the Gaussian error activation. */
aclnnStatus aclnnGeGluV3BackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *gelu, int64_t dim, int64_t approximate, bool activateLeft, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeGluV3Backward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GELU
#define ACLNN_PY_ACTIVATION_ACLNN_GELU
/* Gaussian error linear unit. */
aclnnStatus aclnnGeluGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GELU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_GELU_BACKWARD
/* Gradient of the Gaussian error linear unit. */
aclnnStatus aclnnGeluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GELU_BACKWARD_V2
#define ACLNN_PY_ACTIVATION_ACLNN_GELU_BACKWARD_V2
/* Gradient of the Gaussian error linear unit; version 2 adds approximate. */
aclnnStatus aclnnGeluBackwardV2GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const char *approximate, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeluBackwardV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GELU_MUL
#define ACLNN_PY_ACTIVATION_ACLNN_GELU_MUL
/* Gaussian error linear unit of the first half times the second half. [document] */
aclnnStatus aclnnGeluMulGetWorkspaceSize(const aclTensor *input, const char *approximateOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeluMul(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GELU_QUANT
#define ACLNN_PY_ACTIVATION_ACLNN_GELU_QUANT
/* Gaussian error linear unit followed by quantization. Direction settled by meaning: inputOffsetOptional read. */
aclnnStatus aclnnGeluQuantGetWorkspaceSize(const aclTensor *self, const aclTensor *inputScaleOptional, const aclTensor *inputOffsetOptional, const char *approximate, const char *quantMode, const char *roundMode, int64_t dstType, aclTensor *y, aclTensor *outScaleOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeluQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GELU_V2
#define ACLNN_PY_ACTIVATION_ACLNN_GELU_V2
/* Gaussian error linear unit; version 2 adds x, approximate, y, drops self, out. */
aclnnStatus aclnnGeluV2GetWorkspaceSize(const aclTensor *x, int64_t approximate, aclTensor *y, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGeluV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GLU
#define ACLNN_PY_ACTIVATION_ACLNN_GLU
/* First half times the sigmoid of the second half. */
aclnnStatus aclnnGluGetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGlu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_GLU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_GLU_BACKWARD
/* Gradient of first half times the sigmoid of the second half. */
aclnnStatus aclnnGluBackwardGetWorkspaceSize(const aclTensor *gradOut, const aclTensor *self, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDSHRINK
#define ACLNN_PY_ACTIVATION_ACLNN_HARDSHRINK
/* Zero for elements of small magnitude. */
aclnnStatus aclnnHardshrinkGetWorkspaceSize(const aclTensor *self, const aclScalar *lambd, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardshrink(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDSHRINK_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_HARDSHRINK_BACKWARD
/* Gradient of zero for elements of small magnitude. */
aclnnStatus aclnnHardshrinkBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *lambd, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardshrinkBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDSIGMOID
#define ACLNN_PY_ACTIVATION_ACLNN_HARDSIGMOID
/* Piecewise linear sigmoid. */
aclnnStatus aclnnHardsigmoidGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardsigmoid(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Piecewise linear sigmoid, in place. */
aclnnStatus aclnnInplaceHardsigmoidGetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceHardsigmoid(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDSIGMOID_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_HARDSIGMOID_BACKWARD
/* Gradient of the piecewise linear sigmoid. */
aclnnStatus aclnnHardsigmoidBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardsigmoidBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDSWISH
#define ACLNN_PY_ACTIVATION_ACLNN_HARDSWISH
/* Input times the piecewise linear sigmoid. */
aclnnStatus aclnnHardswishGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardswish(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Input times the piecewise linear sigmoid, in place. */
aclnnStatus aclnnInplaceHardswishGetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceHardswish(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDSWISH_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_HARDSWISH_BACKWARD
/* Gradient of input times the piecewise linear sigmoid. */
aclnnStatus aclnnHardswishBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardswishBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDSWISH_BACKWARD_V2
#define ACLNN_PY_ACTIVATION_ACLNN_HARDSWISH_BACKWARD_V2
/* Gradient of input times the piecewise linear sigmoid; version 2 with the parameters of aclnnHardswishBackward. */
aclnnStatus aclnnHardswishBackwardV2GetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardswishBackwardV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HARDTANH_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_HARDTANH_BACKWARD
/* Gradient of each element limited to an interval. Direction settled by meaning: out written; gradOutput, self, min, max read. */
aclnnStatus aclnnHardtanhBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *min, const aclScalar *max, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHardtanhBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_HEAVISIDE
#define ACLNN_PY_ACTIVATION_ACLNN_HEAVISIDE
/* Step function with a given value at zero. */
aclnnStatus aclnnHeavisideGetWorkspaceSize(const aclTensor *input, const aclTensor *values, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnHeaviside(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_LEAKY_RELU
#define ACLNN_PY_ACTIVATION_ACLNN_LEAKY_RELU
/* Rectified linear unit with a slope for negative elements, in place. */
aclnnStatus aclnnInplaceLeakyReluGetWorkspaceSize(aclTensor *selfRef, const aclScalar *negativeSlope, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceLeakyRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Rectified linear unit with a slope for negative elements. */
aclnnStatus aclnnLeakyReluGetWorkspaceSize(const aclTensor *self, const aclScalar *negativeSlope, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLeakyRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_LEAKY_RELU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_LEAKY_RELU_BACKWARD
/* Gradient of the rectified linear unit with a slope for negative elements. */
aclnnStatus aclnnLeakyReluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *negativeSlope, bool selfIsResult, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLeakyReluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_LOGSIGMOID
#define ACLNN_PY_ACTIVATION_ACLNN_LOGSIGMOID
/* Logarithm of the sigmoid. */
aclnnStatus aclnnLogSigmoidGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogSigmoid(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Logarithm of the sigmoid, with the buffer its gradient needs. */
aclnnStatus aclnnLogSigmoidForwardGetWorkspaceSize(const aclTensor *self, aclTensor *out, aclTensor *buffer, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogSigmoidForward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_LOGSIGMOID_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_LOGSIGMOID_BACKWARD
/* Gradient of the logarithm of the sigmoid. */
aclnnStatus aclnnLogSigmoidBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *buffer, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogSigmoidBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_LOGSOFTMAX
#define ACLNN_PY_ACTIVATION_ACLNN_LOGSOFTMAX
/* Logarithm of the softmax along one dimension. */
aclnnStatus aclnnLogSoftmaxGetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogSoftmax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_LOGSOFTMAX_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_LOGSOFTMAX_BACKWARD
/* Gradient of the logarithm of the softmax along one dimension. */
aclnnStatus aclnnLogSoftmaxBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *output, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLogSoftmaxBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_MISH
#define ACLNN_PY_ACTIVATION_ACLNN_MISH
/* Mish activation, in place. */
aclnnStatus aclnnInplaceMishGetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceMish(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Mish activation. */
aclnnStatus aclnnMishGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMish(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_MISH_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_MISH_BACKWARD
/* Gradient of the mish activation. */
aclnnStatus aclnnMishBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnMishBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_PRELU
#define ACLNN_PY_ACTIVATION_ACLNN_PRELU
/* Rectified linear unit with learned slopes. */
aclnnStatus aclnnPreluGetWorkspaceSize(const aclTensor *self, const aclTensor *weight, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnPrelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_PRELU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_PRELU_BACKWARD
/* Gradient of the rectified linear unit with learned slopes. */
aclnnStatus aclnnPreluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclTensor *weight, aclTensor *gradInput, aclTensor *gradWeight, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnPreluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_RELU
#define ACLNN_PY_ACTIVATION_ACLNN_RELU
/* Rectified linear unit, in place. */
aclnnStatus aclnnInplaceReluGetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Rectified linear unit. */
aclnnStatus aclnnReluGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_RRELU_WITH_NOISE
#define ACLNN_PY_ACTIVATION_ACLNN_RRELU_WITH_NOISE
/* Rectified linear unit with random slopes for negative elements, in place; in training the slopes are left in noiseRef. */
aclnnStatus aclnnInplaceRReluWithNoiseGetWorkspaceSize(aclTensor *selfRef, aclTensor *noiseRef, const aclScalar *lower, const aclScalar *upper, bool training, int64_t seed, int64_t offset, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceRReluWithNoise(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Rectified linear unit with random slopes for negative elements; in training the slopes are left in noiseRef. */
aclnnStatus aclnnRReluWithNoiseGetWorkspaceSize(const aclTensor *self, aclTensor *noiseRef, const aclScalar *lower, const aclScalar *upper, bool training, int64_t seed, int64_t offset, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnRReluWithNoise(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SELU
#define ACLNN_PY_ACTIVATION_ACLNN_SELU
/* Scaled exponential linear unit, in place. */
aclnnStatus aclnnInplaceSeluGetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceSelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Scaled exponential linear unit. */
aclnnStatus aclnnSeluGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SELU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_SELU_BACKWARD
/* Gradient of the scaled exponential linear unit. */
aclnnStatus aclnnSeluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *result, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSeluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SHRINK
#define ACLNN_PY_ACTIVATION_ACLNN_SHRINK
/* Soft threshold with a bias. */
aclnnStatus aclnnShrinkGetWorkspaceSize(const aclTensor *self, const aclScalar *lambd, const aclScalar *bias, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnShrink(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SIGMOID
#define ACLNN_PY_ACTIVATION_ACLNN_SIGMOID
/* Sigmoid of each element, in place. */
aclnnStatus aclnnInplaceSigmoidGetWorkspaceSize(aclTensor *selfRef, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceSigmoid(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Sigmoid of each element. */
aclnnStatus aclnnSigmoidGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSigmoid(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SIGMOID_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_SIGMOID_BACKWARD
/* Gradient of sigmoid of each element. */
aclnnStatus aclnnSigmoidBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *output, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSigmoidBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SILU
#define ACLNN_PY_ACTIVATION_ACLNN_SILU
/* Input times its sigmoid. */
aclnnStatus aclnnSiluGetWorkspaceSize(const aclTensor *self, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSilu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SILU_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_SILU_BACKWARD
/* Gradient of input times its sigmoid. */
aclnnStatus aclnnSiluBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSiluBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SITU_GLU
#define ACLNN_PY_ACTIVATION_ACLNN_SITU_GLU
/* Gated unit with a sigmoid and hyperbolic tangent activation. [document] */
aclnnStatus aclnnSituGluGetWorkspaceSize(const aclTensor *x, int64_t dim, double beta, double linearBeta, bool activateLeft, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSituGlu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SITU_GLU_GRAD
#define ACLNN_PY_ACTIVATION_ACLNN_SITU_GLU_GRAD
/* Gradient of the gated unit with a sigmoid and hyperbolic tangent activation. [document] */
aclnnStatus aclnnSituGluGradGetWorkspaceSize(const aclTensor *gradY, const aclTensor *x, int64_t dim, double beta, double linearBeta, bool activateLeft, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSituGluGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SOFTMAX
#define ACLNN_PY_ACTIVATION_ACLNN_SOFTMAX
/* Softmax along one dimension. */
aclnnStatus aclnnSoftmaxGetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftmax(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SOFTMAX_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_SOFTMAX_BACKWARD
/* Gradient of the softmax along one dimension. */
aclnnStatus aclnnSoftmaxBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *output, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftmaxBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SOFTMAX_CROSS_ENTROPY_WITH_LOGITS
#define ACLNN_PY_ACTIVATION_ACLNN_SOFTMAX_CROSS_ENTROPY_WITH_LOGITS
/* Cross entropy of logits and label distributions, with its gradient. */
aclnnStatus aclnnSoftmaxCrossEntropyWithLogitsGetWorkspaceSize(const aclTensor *features, const aclTensor *labels, aclTensor *loss, aclTensor *backprop, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftmaxCrossEntropyWithLogits(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SOFTPLUS
#define ACLNN_PY_ACTIVATION_ACLNN_SOFTPLUS
/* Smooth rectifier. */
aclnnStatus aclnnSoftplusGetWorkspaceSize(const aclTensor *self, const aclScalar *beta, const aclScalar *threshold, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftplus(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SOFTPLUS_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_SOFTPLUS_BACKWARD
/* Gradient of smooth rectifier. */
aclnnStatus aclnnSoftplusBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *beta, const aclScalar *threshold, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftplusBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SOFTSHRINK
#define ACLNN_PY_ACTIVATION_ACLNN_SOFTSHRINK
/* Soft threshold. */
aclnnStatus aclnnSoftshrinkGetWorkspaceSize(const aclTensor *self, const aclScalar *lambd, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftshrink(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SOFTSHRINK_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_SOFTSHRINK_BACKWARD
/* Gradient of the soft threshold. */
aclnnStatus aclnnSoftshrinkBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *lambda, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSoftshrinkBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SQUARED_RELU
#define ACLNN_PY_ACTIVATION_ACLNN_SQUARED_RELU
/* Square of the rectified linear unit. [document] */
aclnnStatus aclnnSquaredReluGetWorkspaceSize(const aclTensor *input, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSquaredRelu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SWI_GLU
#define ACLNN_PY_ACTIVATION_ACLNN_SWI_GLU
/* Gated unit with the sigmoid-weighted activation. [document] */
aclnnStatus aclnnSwiGluGetWorkspaceSize(const aclTensor *x, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwiGlu(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SWI_GLU_GRAD
#define ACLNN_PY_ACTIVATION_ACLNN_SWI_GLU_GRAD
/* Gradient of the gated unit with the sigmoid-weighted activation. [document] */
aclnnStatus aclnnSwiGluGradGetWorkspaceSize(const aclTensor *yGrad, const aclTensor *x, int64_t dim, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwiGluGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SWIGLU_GROUP
#define ACLNN_PY_ACTIVATION_ACLNN_SWIGLU_GROUP
/* Gated unit with the sigmoid-weighted activation, group by group. [document] */
aclnnStatus aclnnSwigluGroupGetWorkspaceSize(const aclTensor *x, const aclTensor *weightOptional, const aclTensor *groupIndexOptional, double clampLimit, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluGroup(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SWIGLU_GROUP_QUANT
#define ACLNN_PY_ACTIVATION_ACLNN_SWIGLU_GROUP_QUANT
/* Gated unit with the sigmoid-weighted activation and quantization, group by group. [document] */
aclnnStatus aclnnSwigluGroupQuantGetWorkspaceSize(const aclTensor *x, const aclTensor *weightOptional, const aclTensor *groupIndexOptional, const aclTensor *scaleOptional, int64_t dstType, int64_t quantMode, int64_t blockSize, bool roundScale, double clampLimit, double dstTypeMax, bool outputOrigin, aclTensor *yOut, aclTensor *yScaleOut, aclTensor *yOriginOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluGroupQuant(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SWIGLU_GROUP_QUANT_GRAD
#define ACLNN_PY_ACTIVATION_ACLNN_SWIGLU_GROUP_QUANT_GRAD
/* Gradient of the gated unit with the sigmoid-weighted activation and quantization, group by group. [document] */
aclnnStatus aclnnSwigluGroupQuantGradGetWorkspaceSize(const aclTensor *gradY, const aclTensor *x, const aclTensor *weightOptional, const aclTensor *yOriginOptional, const aclTensor *groupIndexOptional, double clampLimit, aclTensor *gradXOut, aclTensor *gradWeightOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwigluGroupQuantGrad(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SWISH
#define ACLNN_PY_ACTIVATION_ACLNN_SWISH
/* Input times the sigmoid of the scaled input. */
aclnnStatus aclnnSwishGetWorkspaceSize(const aclTensor *self, const aclScalar *betaOptional, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwish(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_SWISH_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_SWISH_BACKWARD
/* Gradient of input times the sigmoid of the scaled input. */
aclnnStatus aclnnSwishBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *betaOptional, aclTensor *gradInput, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnSwishBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_THRESHOLD
#define ACLNN_PY_ACTIVATION_ACLNN_THRESHOLD
/* Given value for elements not above a threshold, in place. */
aclnnStatus aclnnInplaceThresholdGetWorkspaceSize(aclTensor *selfRef, const aclScalar *threshold, const aclScalar *value, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnInplaceThreshold(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
/* Given value for elements not above a threshold. */
aclnnStatus aclnnThresholdGetWorkspaceSize(const aclTensor *self, const aclScalar *threshold, const aclScalar *value, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnThreshold(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_ACTIVATION_ACLNN_THRESHOLD_BACKWARD
#define ACLNN_PY_ACTIVATION_ACLNN_THRESHOLD_BACKWARD
/* Gradient of the given value for elements not above a threshold. */
aclnnStatus aclnnThresholdBackwardGetWorkspaceSize(const aclTensor *gradOutput, const aclTensor *self, const aclScalar *threshold, aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnThresholdBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_ACTIVATION_H */
