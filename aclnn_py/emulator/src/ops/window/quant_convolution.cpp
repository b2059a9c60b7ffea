// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Convolution of INT8 volumes: exact sums in int32, then the scale of the channel and the bias in
// float32, and one rounding.
#include <cstring>

#include "aclnnop/conv.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/shared/rows.h"
#include "ops/window/convolution.h"
#include "ops/window/filter_blocks.h"

namespace emu {
namespace {

constexpr int64_t kShortest = 1000000;  // no dimension is this long
constexpr size_t kSpatial = 3;

struct QuantConvolutionCall {
  const char *op;
  bool blocked;  // the weight is in FRACTAL_Z_3D
  const aclTensor *input, *weight, *bias, *scale, *offset;
  const aclIntArray *stride, *padding, *dilation;
  bool transposed;
  int64_t groups;
  int32_t offset_x;
  const char *round_mode;
  const aclTensor *output;
};

void check_arrays(Check &check, const QuantConvolutionCall &c) {
  for (const auto &[name, array] :
       {std::pair<const char *, const aclIntArray *>{"stride", c.stride},
        {"padding", c.padding},
        {"dilation", c.dilation}})
    length_in(check, name, array, {kSpatial});
  values_from(check, "stride", c.stride, 1);
  values_from(check, "dilation", c.dilation, 1);
  values_from(check, "padding", c.padding, 0);
}

void check_tensors(Check &check, const QuantConvolutionCall &c) {
  check.rank("input", c.input, 5, 5).rank("weight", c.weight, 5, 5);
  check.rank("output", c.output, 5, 5);
  if (!check.ok()) return;
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"input", c.input},
                                     {"weight", c.weight},
                                     {"output", c.output}}) {
    const bool blocked = c.blocked && tensor == c.weight;
    format_in(check, name, tensor, {blocked ? ACL_FRACTAL_Z_3D : ACL_FORMAT_NCDHW});
    if (tensor == c.output) continue;
    for (const int64_t extent : tensor->shape) {
      check.that(extent > 0 && extent < kShortest,
                 "%s has shape %s; each dimension must be from 1 to %lld", name,
                 shape_text(layout_of(*tensor)).c_str(), static_cast<long long>(kShortest - 1));
    }
  }
  if (c.blocked && check.ok()) check_filter_blocks(check, *c.weight, "aclnnNpuFormatCast");
  const int64_t channels = c.weight->shape[0];
  check.that(c.groups == 1, "groups is %lld; it must be 1", static_cast<long long>(c.groups));
  check.that(c.weight->shape[1] == c.input->shape[1], "weight has %lld channels; input has %lld",
             static_cast<long long>(c.weight->shape[1]), static_cast<long long>(c.input->shape[1]));
  check.shape("bias", c.bias, dense_layout(&channels, 1));
  check.shape("scale", c.scale, dense_layout(&channels, 1));
}

Check check_call(const QuantConvolutionCall &c) {
  Check check(c.op);
  check.that(!c.blocked || !chip_is_950(), "the chip is %s, which does not have this operator",
             soc_name());
  check.required("input", c.input).required("weight", c.weight).required("bias", c.bias);
  check.required("scale", c.scale).optional("offsetOptional", c.offset);
  check.required("stride", c.stride).required("padding", c.padding);
  check.required("dilation", c.dilation).required("output", c.output);
  // Other kinds are for chips of the 950 series.
  check.dtype("input", c.input, ~dtype_set(ACL_INT8));
  check.dtype("weight", c.weight, ~dtype_set(ACL_INT8)).dtype("bias", c.bias, ~dt::kFloat);
  check.dtype("scale", c.scale, ~dtype_set(ACL_FLOAT)).dtype("output", c.output, ~dt::kHalf);
  check.that(c.offset == nullptr, "offsetOptional is given; it must be null");
  check.that(!c.transposed, "transposed is true; it must be false");
  check.that(c.offset_x == 0, "offsetx is %d; it must be 0", c.offset_x);
  check.that(c.round_mode == nullptr, "roundModeOptional is \"%.20s\"; it must be null",
             c.round_mode ? c.round_mode : "");
  if (check.ok()) check_arrays(check, c);
  if (check.ok()) check_tensors(check, c);
  return check;
}

// The windows, and the shape they make; false where a window does not fit.
bool place(const QuantConvolutionCall &c, Convolution *convolution, Layout *shape) {
  shape->push(c.input->shape[0], 0);
  shape->push(c.weight->shape[0], 0);
  bool fits = true;
  for (size_t d = 0; d < kSpatial; ++d) {
    Axis &axis = convolution->windows.axes[d];
    axis.extent = c.input->shape[2 + d];
    axis.window = c.weight->shape[2 + d];
    axis.step = c.stride->values[d];
    axis.spread = c.dilation->values[d];
    axis.before = axis.after = c.padding->values[d];
    axis.count = window_count(axis, false);
    fits = fits && axis.count > 0;
    shape->push(axis.count, 0);
  }
  convolution->spatial = static_cast<int>(kSpatial);
  convolution->in_channels = c.input->shape[1];
  convolution->out_channels = c.weight->shape[0];
  return fits;
}

// Specifications that the library finds out later.
Status check_limits(const QuantConvolutionCall &c) {
  struct Limit {
    const char *name;
    const aclIntArray *array;
    int64_t deep, flat;
  };
  for (const Limit &l : {Limit{"stride", c.stride, kShortest, 63},
                         {"padding", c.padding, kShortest, 255},
                         {"dilation", c.dilation, kShortest, 255}}) {
    for (size_t d = 0; d < kSpatial; ++d) {
      const int64_t most = d == 0 ? l.deep : l.flat;
      if (l.array->values[d] > most)
        return fail(kInnerNull, "%s: %s[%zu] is %lld; allowed: at most %lld", c.op, l.name, d,
                    static_cast<long long>(l.array->values[d]), static_cast<long long>(most));
    }
  }
  return 0;
}

Status plan_quant_convolution(const QuantConvolutionCall &call, uint64_t *workspace_size,
                              aclOpExecutor **executor) {
  Check check = check_call(call);
  if (!check.ok()) return check.status();
  auto convolution = std::make_shared<Convolution>();
  Layout shape;
  check.that(place(call, convolution.get(), &shape),
             "weight %s, spread by dilation, is larger than input %s with its padding",
             shape_text(layout_of(*call.weight)).c_str(),
             shape_text(layout_of(*call.input)).c_str());
  if (check.ok()) check.shape("output", call.output, dense_like(shape));
  if (check.ok()) check.size("output", Checked(call.output->numel()) * 4);
  if (!check.ok()) return check.status();
  if (const Status status = check_limits(call)) return status;
  PlanBuilder plan(call.op);
  const size_t image = plan.input(call.input), filters = plan.input(call.weight),
               shift = plan.input(call.bias), factor = plan.input(call.scale);
  plan.unused(call.offset);
  const size_t to = plan.output(call.output);
  const char *const op = call.op;
  const bool blocked = call.blocked;
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        View sums = result;
        sums.dtype = ACL_INT32;
        sums.layout = dense_like(result.layout);
        std::unique_ptr<char[]> memory(new char[static_cast<size_t>(sums.count()) * 4]);
        sums.data = memory.get();
        View weight = view_of(c.tensor(filters));
        std::unique_ptr<char[]> dense;
        if (blocked) {
          if (const Status s = unpack_filters(op, c.tensor(filters), c.device(), &dense, &weight))
            return s;
        }
        convolve(*convolution, view_of(c.tensor(image)), weight, View(), sums);
        const int64_t channels = result.layout.shape[1],
                      area = result.count() / (result.layout.shape[0] * channels);
        const auto scales = read_all<float>(c, factor, channels, 1.0f);
        const auto shifts = read_all<float>(c, shift, channels, 0.0f);
        const RowTarget<float> target(result);
        const auto *exact = reinterpret_cast<const int32_t *>(sums.data);
        for_each_row<float>(result.count() / area, area, 1, [&](int64_t row, float *values) {
          const auto channel = static_cast<size_t>(row % channels);
          for (int64_t i = 0; i < area; ++i)
            values[i] =
                static_cast<float>(exact[row * area + i]) * scales[channel] + shifts[channel];
          target.write(row * area, area, values);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantConvolution,
             (const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
              const aclTensor *scale, const aclTensor *offsetOptional, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool transposed,
              const aclIntArray *, int64_t groups, int32_t offsetx, const char *roundModeOptional,
              aclTensor *output)) {
  return emu::plan_quant_convolution(
      {"aclnnQuantConvolution", false, input, weight, bias, scale, offsetOptional, stride, padding,
       dilation, transposed, groups, offsetx, roundModeOptional, output},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantConvolutionWeightNz,
             (const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
              const aclTensor *scale, const aclTensor *offsetOptional, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool transposed,
              const aclIntArray *, int64_t groups, int32_t offsetx, const char *roundModeOptional,
              aclTensor *output)) {
  return emu::plan_quant_convolution(
      {"aclnnQuantConvolutionWeightNz", true, input, weight, bias, scale, offsetOptional, stride,
       padding, dilation, transposed, groups, offsetx, roundModeOptional, output},
      workspaceSize, executor);
}
EMU_CATCH
