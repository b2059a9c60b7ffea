// SPDX-License-Identifier: Apache-2.0
// ConvTbc and its gradient: convolution along the first of the dimensions (time, batch, channels)
// with filters (window, channels of the input, channels of the output). The tensors are seen as a
// convolution has them, and nothing is copied for it.
#include "aclnnop/conv.h"

#include "core/chip.h"
#include "ops/norm/rows.h"
#include "ops/window/convolution.h"

namespace emu {
namespace {

constexpr int64_t kWidestPad = 255;

struct TbcCall {
  const char *op;
  const char *input_name, *output_name;
  const aclTensor *input, *weight, *bias, *output;
  int64_t pad, widest;
  int8_t cube_math_type;
};

// (time, batch, channels) as (batch, channels, time).
View as_planes(View view) {
  const Layout given = view.layout;
  for (int d = 0; d < 3; ++d) {
    view.layout.shape[d] = given.shape[(d + 1) % 3];
    view.layout.stride[d] = given.stride[(d + 1) % 3];
  }
  return view;
}

// (window, in, out) as (out, in, window).
View as_filters(View view) {
  std::swap(view.layout.shape[0], view.layout.shape[2]);
  std::swap(view.layout.stride[0], view.layout.stride[2]);
  return view;
}

void check_tensors(Check &check, const TbcCall &a) {
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {a.input_name, a.input}, {"weight", a.weight}, {a.output_name, a.output}};
  constexpr DtypeSet kEightBits = ~dt::kFloat;
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  check.required("biasOptional", a.bias);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor, kEightBits);
  check.dtype("biasOptional", a.bias);
  if (!check.ok()) return;
  for (const auto &[name, tensor] : tensors) {
    check.same_dtype(name, tensor->dtype, a.input_name, a.input->dtype).rank(name, tensor, 3, 3);
    if (check.ok()) format_in(check, name, tensor, {ACL_FORMAT_ND, ACL_FORMAT_NCL});
  }
  check.same_dtype("biasOptional", a.bias->dtype, a.input_name, a.input->dtype)
      .rank("biasOptional", a.bias, 1, 1);
}

// The shapes of a convolution, and what it is for the kernel.
void check_tbc(Check &check, const TbcCall &a, Convolution *convolution) {
  if (!check.ok()) return;
  const auto &x = a.input->shape, &w = a.weight->shape;
  check.that(a.pad >= 0 && a.pad <= a.widest, "pad is %lld; allowed: 0 to %lld",
             static_cast<long long>(a.pad), static_cast<long long>(a.widest));
  check.that(w[0] > 0, "weight has shape %s; a window must not be empty",
             shape_text(layout_of(*a.weight)).c_str());
  check.that(w[1] == x[2],
             "weight has shape %s; its second dimension must be the %lld channels of %s",
             shape_text(layout_of(*a.weight)).c_str(), static_cast<long long>(x[2]), a.input_name);
  Layout biases;
  biases.push(w[2], 0);
  check.shape("biasOptional", a.bias, biases);
  if (!check.ok()) return;
  const int64_t count = check.size("pad", Checked(x[0]) + a.pad + a.pad - w[0] + 1);
  check.that(count >= 0, "%s has %lld elements along time, with pad %lld; the window covers %lld",
             a.input_name, static_cast<long long>(x[0]),
             static_cast<long long>(x[0] + a.pad + a.pad), static_cast<long long>(w[0]));
  if (!check.ok()) return;
  Layout made;
  made.push(count, 0);
  made.push(x[1], 0);
  made.push(w[2], 0);
  check.shape(a.output_name, a.output, made);
  check.that(a.output->numel() == 0 || (a.input->numel() != 0 && a.weight->numel() != 0),
             "%s %s or weight %s is empty and %s %s is not", a.input_name,
             shape_text(layout_of(*a.input)).c_str(), shape_text(layout_of(*a.weight)).c_str(),
             a.output_name, shape_text(layout_of(*a.output)).c_str());
  check.that(a.cube_math_type >= 0 && a.cube_math_type <= 3, "cubeMathType is %d; allowed: 0 to 3",
             a.cube_math_type);
  check.that(a.cube_math_type != 2 || a.input->dtype != ACL_BF16,
             "cubeMathType is 2, which BF16 operands cannot have");
  convolution->windows.axes[kAxes - 1] = {x[0], w[0], 1, 1, a.pad, a.pad, count};
  convolution->spatial = 1;
  convolution->in_channels = x[2];
  convolution->out_channels = w[2];
  convolution->through_half = a.cube_math_type == 2;
}

// On older chips FLOAT needs leave to lose precision.
Check &check_precision(Check &check, const TbcCall &a, bool also_hf32) {
  if (!check.ok() || a.input->dtype != ACL_FLOAT || chip_is_950()) return check;
  return check.that(a.cube_math_type != 0 && (a.cube_math_type != 3 || !also_hf32),
                    "cubeMathType is %d, which FLOAT operands cannot have on this chip; allowed: "
                    "%s",
                    a.cube_math_type, also_hf32 ? "1, 2" : "1 to 3");
}

View rounded_operand(const View &view, bool half, std::unique_ptr<char[]> *memory) {
  return half && view.dtype != ACL_FLOAT16 ? dense_as(view, ACL_FLOAT16, memory) : view;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ConvTbc,
             (const aclTensor *self, const aclTensor *weight, const aclTensor *biasOptional,
              int64_t pad, aclTensor *output, int8_t cubeMathType)) {
  using namespace emu;
  const TbcCall call = {"aclnnConvTbc", "self", "output", self,       weight,
                        biasOptional,   output, pad,      kWidestPad, cubeMathType};
  Check check(call.op);
  check_tensors(check, call);
  auto c = std::make_shared<Convolution>();
  check_tbc(check, call, c.get());
  check_precision(check, call, false);
  if (!check.ok()) return check.status();
  PlanBuilder plan(call.op);
  const size_t input = plan.input(self), filters = plan.input(weight),
               bias = plan.input(biasOptional), result = plan.output(output);
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(result));
        if (to.count() == 0) return Status{0};
        Operands operands;
        std::unique_ptr<char[]> memory[2];
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(context.tensor(at)), {to});
        };
        const View image = rounded_operand(operand(input), c->through_half, &memory[0]),
                   weights = rounded_operand(operand(filters), c->through_half, &memory[1]);
        convolve(*c, as_planes(image), as_filters(weights), operand(bias), as_planes(to));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ConvTbcBackward,
             (const aclTensor *self, const aclTensor *input, const aclTensor *weight,
              const aclTensor *biasOptional, int64_t pad, int8_t cubeMathType, aclTensor *gradInput,
              aclTensor *gradWeight, aclTensor *gradBias)) {
  using namespace emu;
  const TbcCall call = {"aclnnConvTbcBackward", "input", "self", input,     weight,
                        biasOptional,           self,    pad,    INT32_MAX, cubeMathType};
  Check check(call.op);
  check_tensors(check, call);
  const struct {
    const char *name;
    const aclTensor *made;
    const char *model_name;
    const aclTensor *model;
  } results[] = {{"gradInput", gradInput, "input", input},
                 {"gradWeight", gradWeight, "weight", weight},
                 {"gradBias", gradBias, "biasOptional", biasOptional}};
  for (const auto &one : results) {
    check.required(one.name, one.made).dtype(one.name, one.made, ~dt::kFloat);
    if (!check.ok()) return check.status();
    check.same_dtype(one.name, one.made->dtype, one.model_name, one.model->dtype)
        .shape(one.name, one.made, layout_of(*one.model));
  }
  auto c = std::make_shared<Convolution>();
  check_tbc(check, call, c.get());
  check_precision(check, call, true);
  if (!check.ok()) return check.status();
  PlanBuilder plan(call.op);
  const size_t slopes = plan.input(self), image = plan.input(input), filters = plan.input(weight);
  plan.input(biasOptional);
  const size_t to_input = plan.output(gradInput), to_weight = plan.output(gradWeight),
               to_bias = plan.output(gradBias);
  return plan.finish(
      [=](PlanContext &context) {
        const View of_input = view_of(context.tensor(to_input)),
                   of_weight = view_of(context.tensor(to_weight)),
                   of_bias = view_of(context.tensor(to_bias));
        Operands operands;
        std::unique_ptr<char[]> memory[3];
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(context.tensor(at)), {of_input, of_weight, of_bias});
        };
        const View given = operand(slopes);
        const bool half = c->through_half;
        const View gradient = as_planes(rounded_operand(given, half, &memory[0])),
                   x = as_planes(rounded_operand(operand(image), half, &memory[1])),
                   w = as_filters(rounded_operand(operand(filters), half, &memory[2]));
        bias_gradient(*c, as_planes(given), of_bias);
        weight_gradient(*c, gradient, x, as_filters(of_weight));
        input_gradient(*c, gradient, w, as_planes(of_input));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
