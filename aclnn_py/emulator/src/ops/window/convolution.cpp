// SPDX-License-Identifier: Apache-2.0
// Convolution in one to three dimensions. Products and sums are float32 whatever the operands, the
// bias is added in float32, and there is one rounding at the end. cubeMathType 1 and 3 permit the
// hardware's shorter hf32 and are computed in full float32; 2 rounds the operands to float16.
#include "aclnnop/conv.h"

#include "ops/norm/rows.h"
#include "ops/window/convolution.h"

namespace emu {
namespace {

// Rounded to float16 where the caller asked for that.
View operand(const View &view, bool through_half, std::unique_ptr<char[]> *memory) {
  return through_half && view.dtype != ACL_FLOAT16 ? dense_as(view, ACL_FLOAT16, memory) : view;
}

Status plan_convolution(const ConvolutionCall &call, uint64_t *workspace_size,
                        aclOpExecutor **executor) {
  auto convolution = std::make_shared<Convolution>();
  if (const Status status = check_convolution(call, convolution.get())) return status;
  PlanBuilder plan(call.op);
  const size_t input = plan.input(call.input), weight = plan.input(call.weight),
               bias = plan.input(call.bias);
  const size_t output = plan.output(call.output);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(output));
        if (result.count() == 0) return Status{0};
        Operands operands;
        std::unique_ptr<char[]> memory[2];
        const bool half = convolution->through_half;
        const View image =
            operand(operands.safe(view_of(c.tensor(input)), {result}), half, &memory[0]);
        const View filters =
            operand(operands.safe(view_of(c.tensor(weight)), {result}), half, &memory[1]);
        const View shift = c.has(bias) ? operands.safe(view_of(c.tensor(bias)), {result}) : View();
        convolve(*convolution, image, filters, shift, result);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Convolution,
             (const aclTensor *input, const aclTensor *weight, const aclTensor *biasOptional,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              bool transposed, const aclIntArray *outputPadding, int64_t groups, aclTensor *output,
              int8_t cubeMathType)) {
  emu::ConvolutionCall call{};
  call.op = "aclnnConvolution";
  call.input = input;
  call.weight = weight;
  call.bias = biasOptional;
  call.stride = stride;
  call.padding = padding;
  call.dilation = dilation;
  call.transposed = transposed;
  call.output_padding = outputPadding;
  call.groups = groups;
  call.output = output;
  call.cube_math_type = cubeMathType;
  return emu::plan_convolution(call, workspaceSize, executor);
}
EMU_CATCH
