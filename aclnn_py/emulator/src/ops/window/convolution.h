// SPDX-License-Identifier: Apache-2.0
// Convolution between phase one, which judges the arguments, and the kernel.
#pragma once

#include "ops/window/geometry.h"

namespace emu {

struct ConvolutionCall {
  const char *op;
  const aclTensor *input, *weight, *bias;
  const aclIntArray *stride, *padding, *dilation;
  bool transposed;
  const aclIntArray *output_padding;
  int64_t groups;
  const aclTensor *output;
  int8_t cube_math_type;
  // Of the gradient, whose gradOutput has the place of the output.
  bool backward;
  // Of channels apart: steps and spreads are limited too.
  bool narrow;
  // How messages name the tensors.
  const char *input_name = "input", *bias_name = "biasOptional", *output_name = "output";
};

struct Convolution {
  // The image is the input and there is a window for every element of the output; transposed it is
  // the other way round.
  Windows windows;
  int spatial = 0;
  int64_t groups = 1, in_channels = 0, out_channels = 0;  // of one group
  bool transposed = false;
  bool through_half = false;  // operands are rounded to float16 first
};

// The documented refusals in the documented order; 0 when the call is right.
Status check_convolution(const ConvolutionCall &call, Convolution *convolution);

// output = round(sum + bias), the sum and the bias in float32: one rounding, to the dtype of the
// output. `bias` may be without data.
void convolve(const Convolution &c, const View &input, const View &weight, const View &bias,
              const View &output);

// The gradients of what `convolve` computes with the same `c`; each is rounded once. That of the
// input is a convolution in the other direction.
void input_gradient(const Convolution &c, const View &grad_output, const View &weight,
                    const View &grad_input);
void weight_gradient(const Convolution &c, const View &grad_output, const View &input,
                     const View &grad_weight);
void bias_gradient(const Convolution &c, const View &grad_output, const View &grad_bias);

}  // namespace emu
