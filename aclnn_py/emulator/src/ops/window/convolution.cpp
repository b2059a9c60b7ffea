// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Convolution in one to three dimensions, ConvDepthwise2d for one of channels apart. Products and
// sums are float32 whatever the operands, the bias is added in float32, and there is one rounding
// at the end. cubeMathType 1 and 3 permit the hardware's shorter hf32 and are computed in full
// float32; 2 rounds the operands to float16.
#include "aclnnop/conv.h"

#include "ops/shared/rows.h"
#include "ops/window/convolution.h"
#include "ops/window/filter_blocks.h"

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
  const char *const op = call.op;
  const bool blocked = call.weight->format == ACL_FORMAT_FRACTAL_Z;
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(output));
        if (result.count() == 0) return Status{0};
        Operands operands;
        std::unique_ptr<char[]> memory[2], unpacked;
        const bool half = convolution->through_half;
        View stored = view_of(c.tensor(weight));
        if (blocked) {
          const aclTensor &blocks = c.tensor(weight);
          if (const Status bad = unpack_filters(op, blocks, c.device(), &unpacked, &stored))
            return bad;
        }
        const View image =
            operand(operands.safe(view_of(c.tensor(input)), {result}), half, &memory[0]);
        const View filters = operand(operands.safe(stored, {result}), half, &memory[1]);
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

// One filter or more for each channel: as many groups as channels.
EMU_OPERATOR(ConvDepthwise2d,
             (const aclTensor *self, const aclTensor *weight, const aclIntArray *kernelSize,
              const aclTensor *bias, const aclIntArray *stride, const aclIntArray *padding,
              const aclIntArray *dilation, aclTensor *out, int8_t cubeMathType)) {
  using namespace emu;
  Check check("aclnnConvDepthwise2d");
  check.required("self", self).required("weight", weight).required("kernelSize", kernelSize);
  check.optional("bias", bias).required("stride", stride).required("padding", padding);
  check.required("dilation", dilation).required("out", out);
  check.dtype("self", self).dtype("weight", weight).dtype("bias", bias).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("weight", weight->dtype, "self", self->dtype)
      .same_dtype("out", out->dtype, "self", self->dtype)
      .rank("self", self, 4, 4)
      .rank("weight", weight, 4, 4);
  if (bias != nullptr) check.same_dtype("bias", bias->dtype, "self", self->dtype);
  if (!check.ok()) return check.status();
  length_in(check, "kernelSize", kernelSize, {2});
  if (!check.ok()) return check.status();
  check.that(kernelSize->values[0] == weight->shape[2] && kernelSize->values[1] == weight->shape[3],
             "kernelSize is %lld, %lld; it must be the last two dimensions of weight, %lld, %lld",
             static_cast<long long>(kernelSize->values[0]),
             static_cast<long long>(kernelSize->values[1]),
             static_cast<long long>(weight->shape[2]), static_cast<long long>(weight->shape[3]));
  constexpr int64_t kMostChannels = 65535;
  check.that(self->shape[1] >= 1 && self->shape[1] <= kMostChannels,
             "self has %lld channels; allowed: 1 to %lld", static_cast<long long>(self->shape[1]),
             static_cast<long long>(kMostChannels));
  length_in(check, "padding", padding, {2});
  if (!check.ok()) return check.status();
  ConvolutionCall call{};
  call.op = "aclnnConvDepthwise2d";
  call.input = self;
  call.weight = weight;
  call.bias = bias;
  call.stride = stride;
  call.padding = padding;
  call.dilation = dilation;
  call.groups = self->shape[1];
  call.output = out;
  call.cube_math_type = cubeMathType;
  call.input_name = "self";
  call.bias_name = "bias";
  call.output_name = "out";
  call.narrow = true;
  return plan_convolution(call, workspaceSize, executor);
}
EMU_CATCH
