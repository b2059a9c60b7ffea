// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// ConvolutionBackward: the gradients of a convolution that a mask asks for.
#include "aclnnop/conv.h"

#include "ops/shared/rows.h"
#include "ops/window/convolution.h"

namespace emu {
namespace {

enum Gradient : size_t { kOfInput, kOfWeight, kOfBias, kGradients };
constexpr const char *kNames[] = {"gradInput", "gradWeight", "gradBias"};
constexpr size_t kUnasked = static_cast<size_t>(-1);

struct BackwardCall {
  ConvolutionCall forward;
  const aclIntArray *bias_sizes;
  const aclBoolArray *mask;
  const aclTensor *results[kGradients];

  bool asks_for(size_t which) const { return mask->values[which] != 0; }
};

void check_results(Check &check, const BackwardCall &a) {
  const ConvolutionCall &c = a.forward;
  for (size_t i = 0; i < kGradients; ++i) check.dtype(kNames[i], a.results[i]);
  if (!check.ok()) return;
  Layout channels;
  channels.push(c.transposed ? c.weight->shape[1] * c.groups : c.weight->shape[0], 0);
  if (a.asks_for(kOfInput)) {
    check.same_dtype("gradInput", a.results[kOfInput]->dtype, "input", c.input->dtype)
        .same_format("gradInput", a.results[kOfInput], "input", c.input)
        .shape("gradInput", a.results[kOfInput], layout_of(*c.input));
  }
  if (a.asks_for(kOfWeight)) {
    check.same_format("gradWeight", a.results[kOfWeight], "weight", c.weight)
        .shape("gradWeight", a.results[kOfWeight], layout_of(*c.weight));
  }
  if (!a.asks_for(kOfBias) || !check.ok()) return;
  check.same_dtype("gradBias", a.results[kOfBias]->dtype, "gradOutput", c.output->dtype)
      .shape("gradBias", a.results[kOfBias], channels);
}

// The number of biases is that of the channels of the output.
void check_bias_sizes(Check &check, const BackwardCall &a) {
  if (a.bias_sizes == nullptr) return;
  const ConvolutionCall &c = a.forward;
  length_in(check, "biasSizesOptional", a.bias_sizes, {1});
  if (!check.ok() || !a.asks_for(kOfBias)) return;
  const int64_t wanted = c.transposed ? c.weight->shape[1] * c.groups : c.weight->shape[0];
  check.that(a.bias_sizes->values[0] == wanted,
             "biasSizesOptional has the value %lld; it must be the channels of the output, %lld",
             static_cast<long long>(a.bias_sizes->values[0]), static_cast<long long>(wanted));
}

Status check_backward(const BackwardCall &a, Convolution *convolution) {
  Check check(a.forward.op);
  check.required("outputMask", a.mask);
  check.that(!check.ok() || a.mask->values.size() == kGradients,
             "outputMask has %zu values; expected 3", check.ok() ? a.mask->values.size() : 0);
  if (!check.ok()) return check.status();
  if (a.asks_for(kOfBias)) check.required("biasSizesOptional", a.bias_sizes);
  check.optional("biasSizesOptional", a.bias_sizes);
  check.required("gradInput", a.results[kOfInput]).required("gradWeight", a.results[kOfWeight]);
  if (a.asks_for(kOfBias)) check.required("gradBias", a.results[kOfBias]);
  check.optional("gradBias", a.results[kOfBias]);
  if (!check.ok()) return check.status();
  if (const Status status = check_convolution(a.forward, convolution)) return status;
  check_bias_sizes(check, a);
  if (check.ok()) check_results(check, a);
  return check.status();
}

// Rounded to float16 where the caller asked for that.
View rounded(const View &view, bool half, std::unique_ptr<char[]> *memory) {
  return half && view.dtype != ACL_FLOAT16 ? dense_as(view, ACL_FLOAT16, memory) : view;
}

Status plan_backward(const BackwardCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  auto shared = std::make_shared<Convolution>();
  if (const Status status = check_backward(a, shared.get())) return status;
  PlanBuilder plan(a.forward.op);
  const size_t output = plan.input(a.forward.output), input = plan.input(a.forward.input),
               weight = plan.input(a.forward.weight);
  size_t places[kGradients];
  for (size_t i = 0; i < kGradients; ++i) {
    const bool asked = a.asks_for(i);
    const size_t at = asked ? plan.output(a.results[i]) : plan.input(a.results[i]);
    places[i] = asked ? at : kUnasked;
  }
  return plan.finish(
      [=, to_input = places[kOfInput], to_weight = places[kOfWeight],
       to_bias = places[kOfBias]](PlanContext &c) {
        const auto result = [&](size_t at) {
          return at == kUnasked ? View() : view_of(c.tensor(at));
        };
        const View of_input = result(to_input), of_weight = result(to_weight),
                   of_bias = result(to_bias);
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {of_input, of_weight, of_bias});
        };
        const View given = operand(output);
        std::unique_ptr<char[]> memory[3];
        const bool half = shared->through_half;
        const View gradient = rounded(given, half, &memory[0]),
                   image = rounded(operand(input), half, &memory[1]),
                   filters = rounded(operand(weight), half, &memory[2]);
        // The products alone are rounded to float16; the sum for the bias is not one.
        if (to_bias != kUnasked) bias_gradient(*shared, given, of_bias);
        if (to_weight != kUnasked) weight_gradient(*shared, gradient, image, of_weight);
        if (to_input != kUnasked) input_gradient(*shared, gradient, filters, of_input);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ConvolutionBackward,
             (const aclTensor *gradOutput, const aclTensor *input, const aclTensor *weight,
              const aclIntArray *biasSizesOptional, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool transposed,
              const aclIntArray *outputPadding, int groups, const aclBoolArray *outputMask,
              int8_t cubeMathType, aclTensor *gradInput, aclTensor *gradWeight,
              aclTensor *gradBias)) {
  emu::BackwardCall call{};
  call.forward.op = "aclnnConvolutionBackward";
  call.forward.input = input;
  call.forward.weight = weight;
  call.forward.stride = stride;
  call.forward.padding = padding;
  call.forward.dilation = dilation;
  call.forward.transposed = transposed;
  call.forward.output_padding = outputPadding;
  call.forward.groups = groups;
  call.forward.output = gradOutput;
  call.forward.cube_math_type = cubeMathType;
  call.forward.backward = true;
  call.forward.output_name = "gradOutput";
  call.bias_sizes = biasSizesOptional;
  call.mask = outputMask;
  call.results[0] = gradInput;
  call.results[1] = gradWeight;
  call.results[2] = gradBias;
  return emu::plan_backward(call, workspaceSize, executor);
}
EMU_CATCH
