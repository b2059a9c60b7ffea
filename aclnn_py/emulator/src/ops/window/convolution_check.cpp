// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "core/chip.h"
#include "core/statuses.h"
#include "ops/window/convolution.h"
#include "ops/window/filter_blocks.h"

namespace emu {
namespace {

// What the documents call a specification outside the supported range.
constexpr int64_t kLongestDimension = 1000000, kMostGroups = 65535;
constexpr int8_t kUseFloat16 = 2;

bool bfloat16_product(const aclTensor &input, const aclTensor &weight) {
  return input.dtype == ACL_BF16 && weight.dtype == ACL_BF16;
}

std::string list(const aclIntArray *array) {
  const Layout values = dense_layout(array->values.data(), static_cast<int>(array->values.size()));
  return shape_text(values);
}

void check_dtypes(Check &check, const ConvolutionCall &c) {
  // A 950 takes kinds of 8 bits too; there are no conversions for one of them.
  constexpr DtypeSet kEightBits = ~dt::kFloat;
  check.dtype(c.input_name, c.input, kEightBits).dtype("weight", c.weight, kEightBits);
  check.dtype(c.bias_name, c.bias).dtype(c.output_name, c.output, kEightBits);
  if (!check.ok()) return;
  if (c.transposed && !c.backward)
    check.same_dtype(c.output_name, c.output->dtype, c.input_name, c.input->dtype);
  if (c.bias != nullptr) {
    check.that(c.bias->dtype == c.input->dtype || c.bias->dtype == c.weight->dtype,
               "%s has dtype %s; it must be that of %s, %s, or of weight, %s", c.bias_name,
               dtype_name(c.bias->dtype), c.input_name, dtype_name(c.input->dtype),
               dtype_name(c.weight->dtype));
  }
}

// Filters that aclnnTransConvolutionWeight made.
bool takes_blocks(const ConvolutionCall &c) {
  return chip_is_310p() && !c.backward && !c.transposed && !c.narrow && c.input->rank() == 4 &&
         c.groups == 1 && c.weight->dtype == ACL_FLOAT16;
}

void check_formats(Check &check, const ConvolutionCall &c) {
  static constexpr aclFormat kFormats[] = {ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW};
  const aclFormat format = kFormats[c.input->rank() - 3];
  format_in(check, c.input_name, c.input, {format});
  if (takes_blocks(c) && c.weight->format == ACL_FORMAT_FRACTAL_Z) {
    check_filter_blocks(check, *c.weight, "aclnnTransConvolutionWeight");
  } else {
    format_in(check, "weight", c.weight, {format});
  }
  format_in(check, c.output_name, c.output, {format});
  if (c.bias != nullptr) {
    format_in(check, c.bias_name, c.bias,
              {ACL_FORMAT_ND, ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW});
  }
}

void check_ranks(Check &check, const ConvolutionCall &c) {
  check.rank(c.input_name, c.input, 3, 5);
  if (!check.ok()) return;
  const int rank = static_cast<int>(c.input->rank());
  check.rank("weight", c.weight, rank, rank).rank(c.output_name, c.output, rank, rank);
  check.rank(c.bias_name, c.bias, 1, 1);
  if (!check.ok()) return;
  const size_t spatial = c.input->rank() - 2;
  length_in(check, "stride", c.stride, {spatial});
  length_in(check, "dilation", c.dilation, {spatial});
  // Twice as many name both margins of each dimension.
  if (spatial == 2 || (spatial == 1 && !c.transposed && !c.backward)) {
    length_in(check, "padding", c.padding, {spatial, 2 * spatial});
  } else {
    length_in(check, "padding", c.padding, {spatial});
  }
  if (c.transposed || c.backward) length_in(check, "outputPadding", c.output_padding, {spatial});
}

void check_values(Check &check, const ConvolutionCall &c) {
  for (const auto &[name, tensor] :
       {std::pair<const char *, const aclTensor *>{c.input_name, c.input}, {"weight", c.weight}}) {
    for (const int64_t extent : tensor->shape) {
      check.that(extent <= kLongestDimension, "%s has shape %s; no dimension may exceed %lld", name,
                 shape_text(layout_of(*tensor)).c_str(), static_cast<long long>(kLongestDimension));
    }
  }
  for (size_t d = 2; d < c.weight->rank(); ++d) {
    check.that(c.weight->shape[d] > 0, "weight has shape %s; a window must not be empty",
               shape_text(layout_of(*c.weight)).c_str());
  }
  values_from(check, "stride", c.stride, 1);
  values_from(check, "dilation", c.dilation, 1);
  values_from(check, "padding", c.padding, 0);
  check.that(c.groups >= 1 && c.groups <= kMostGroups, "groups is %lld; allowed: 1 to %lld",
             static_cast<long long>(c.groups), static_cast<long long>(kMostGroups));
  if (!check.ok()) return;
  const int64_t channels = c.input->shape[1];
  if (c.transposed) {
    check.that(c.weight->shape[0] == channels,
               "weight has shape %s; its first dimension must be the %lld channels of %s",
               shape_text(layout_of(*c.weight)).c_str(), static_cast<long long>(channels),
               c.input_name);
    for (size_t d = 0; check.ok() && d < c.output_padding->values.size(); ++d) {
      const int64_t more = c.output_padding->values[d];
      const bool fits = more < c.stride->values[d] || (!c.backward && more < c.dilation->values[d]);
      check.that(more >= 0 && fits,
                 "outputPadding has the value %lld; it must not be negative and less than the "
                 "stride %lld or the dilation %lld",
                 static_cast<long long>(more), static_cast<long long>(c.stride->values[d]),
                 static_cast<long long>(c.dilation->values[d]));
    }
    check.that(channels > 0, "%s has shape %s; a transposed convolution needs channels",
               c.input_name, shape_text(layout_of(*c.input)).c_str());
  } else {
    check.that(c.weight->shape[1] * c.groups == channels,
               "weight has %lld channels in each of %lld groups; %s has %lld",
               static_cast<long long>(c.weight->shape[1]), static_cast<long long>(c.groups),
               c.input_name, static_cast<long long>(channels));
    for (const int64_t more : c.backward ? c.output_padding->values : std::vector<int64_t>()) {
      check.that(more == 0,
                 "outputPadding has the value %lld; allowed: 0 where transposed is false",
                 static_cast<long long>(more));
    }
  }
  check.that(c.weight->shape[0] % c.groups == 0,
             "weight has shape %s; its first dimension is not a multiple of groups, %lld",
             shape_text(layout_of(*c.weight)).c_str(), static_cast<long long>(c.groups));
  if (check.ok() && c.bias != nullptr) {
    const int64_t wanted = c.transposed ? c.weight->shape[1] * c.groups : c.weight->shape[0];
    check.that(c.bias->shape[0] == wanted, "%s has shape %s; expected (%lld,)", c.bias_name,
               shape_text(layout_of(*c.bias)).c_str(), static_cast<long long>(wanted));
  }
}

// Fills in the axes; the extent of the output is returned for each dimension.
Layout place_windows(Check &check, const ConvolutionCall &c, Windows *windows) {
  const size_t spatial = c.input->rank() - 2;
  const bool both = c.padding->values.size() == 2 * spatial;
  Layout shape;
  shape.push(c.input->shape[0], 0);
  shape.push(c.transposed ? c.weight->shape[1] * c.groups : c.weight->shape[0], 0);
  for (size_t d = 0; d < spatial; ++d) {
    Axis &axis = windows->axes[kAxes - spatial + d];
    const int64_t length = c.input->shape[2 + d];
    axis.window = c.weight->shape[2 + d];
    axis.step = c.stride->values[d];
    axis.spread = c.dilation->values[d];
    axis.before = c.padding->values[both ? 2 * d : d];
    axis.after = c.padding->values[both ? 2 * d + 1 : d];
    const int64_t wide = axis.spread * (axis.window - 1) + 1;
    if (c.transposed) {
      axis.count = length;
      axis.extent =
          (length - 1) * axis.step - axis.before - axis.after + wide + c.output_padding->values[d];
      shape.push(axis.extent, 0);
    } else {
      axis.extent = length;
      axis.count = window_count(axis, false);
      check.that(c.input->numel() == 0 || length + axis.before + axis.after >= wide,
                 "%s has %lld elements along dimension %zu, with padding %s %lld; the window "
                 "covers %lld",
                 c.input_name, static_cast<long long>(length), 2 + d, list(c.padding).c_str(),
                 static_cast<long long>(length + axis.before + axis.after),
                 static_cast<long long>(wide));
      shape.push(axis.count, 0);
    }
  }
  return shape;
}

// Limits of the last two dimensions; 0 where there is none.
struct Limits {
  int64_t weight, stride, padding, dilation;
};
// [transposed][spatial dimensions - 1]
constexpr Limits kLimits[2][3] = {{{0, 0, 255, 0}, {0, 0, 255, 0}, {511, 63, 255, 255}},
                                  {{255, 0, 0, 255}, {255, 0, 0, 255}, {255, 63, 255, 255}}};
// Of the gradient of one that is not transposed.
constexpr Limits kBackward[3] = {{255, 0, 255, 255}, {255, 0, 255, 255}, {255, 63, 255, 255}};

// Of channels apart.
constexpr Limits kNarrow = {0, 63, 255, 255};

const Limits &limits_of(const ConvolutionCall &c, int spatial) {
  if (c.narrow) return kNarrow;
  return c.backward && !c.transposed ? kBackward[spatial - 1] : kLimits[c.transposed][spatial - 1];
}

Status check_limits(const ConvolutionCall &c, const Windows &windows, int spatial) {
  const Limits &limits = limits_of(c, spatial);
  for (int d = std::max(1, kAxes - spatial); d < kAxes; ++d) {
    const Axis &axis = windows.axes[d];
    const struct {
      const char *name;
      int64_t given, most;
    } rules[] = {{"weight: a window", axis.window, limits.weight},
                 {"stride", axis.step, limits.stride},
                 {"padding", std::max(axis.before, axis.after), limits.padding},
                 {"dilation", axis.spread, limits.dilation}};
    for (const auto &rule : rules) {
      if (rule.most == 0 || rule.given <= rule.most) continue;
      return fail(kInnerNull, "%s: %s of %lld; at most %lld is supported along height and width",
                  c.op, rule.name, static_cast<long long>(rule.given),
                  static_cast<long long>(rule.most));
    }
  }
  return 0;
}

// Transposed, the margin that the gradient of the forward convolution would have is limited.
void check_margins(Check &check, const ConvolutionCall &c, const Windows &windows, int spatial) {
  if (!c.transposed || c.input->numel() == 0 || c.output->numel() == 0) return;
  constexpr int64_t kWidest = 255;
  for (int d = std::max(1, kAxes - spatial); d < kAxes; ++d) {
    const Axis &axis = windows.axes[d];
    const int64_t margin = (axis.window - 1) * axis.spread - axis.before;
    check.that(margin <= kWidest && (spatial < 3 || margin >= 0),
               "weight and dilation cover %lld elements beside the first, padding takes %lld; the "
               "difference may be %s255",
               static_cast<long long>((axis.window - 1) * axis.spread),
               static_cast<long long>(axis.before), spatial < 3 ? "at most " : "0 to ");
  }
}

}  // namespace

Status check_convolution(const ConvolutionCall &c, Convolution *convolution) {
  Check check(c.op);
  check.required(c.input_name, c.input).required("weight", c.weight).optional(c.bias_name, c.bias);
  check.required("stride", c.stride)
      .required("padding", c.padding)
      .required("dilation", c.dilation);
  check.required(c.output_name, c.output);
  if (c.transposed || c.backward) check.required("outputPadding", c.output_padding);
  if (check.ok()) check_dtypes(check, c);
  if (check.ok()) check_ranks(check, c);
  if (check.ok()) check_formats(check, c);
  if (check.ok()) check_values(check, c);
  if (!check.ok()) return check.status();
  const int spatial = static_cast<int>(c.input->rank()) - 2;
  Windows windows;
  const Layout shape = place_windows(check, c, &windows);
  check.shape(c.output_name, c.output, shape);
  check.that(c.output->numel() == 0 || (c.input->numel() != 0 && c.weight->numel() != 0),
             "%s %s or weight %s is empty and %s %s is not", c.input_name,
             shape_text(layout_of(*c.input)).c_str(), shape_text(layout_of(*c.weight)).c_str(),
             c.output_name, shape_text(layout_of(*c.output)).c_str());
  if (check.ok()) check_margins(check, c, windows, spatial);
  check.that(c.cube_math_type >= 0 && c.cube_math_type <= 3, "cubeMathType is %d; allowed: 0 to 3",
             c.cube_math_type);
  check.that(c.cube_math_type != kUseFloat16 || !bfloat16_product(*c.input, *c.weight),
             "cubeMathType is 2, which BF16 operands cannot have");
  if (!check.ok()) return check.status();
  if (const Status status = check_limits(c, windows, spatial)) return status;
  convolution->windows = windows;
  convolution->spatial = spatial;
  convolution->groups = c.groups;
  convolution->in_channels = c.input->shape[1] / c.groups;
  convolution->out_channels =
      (c.transposed ? c.weight->shape[1] * c.groups : c.weight->shape[0]) / c.groups;
  convolution->transposed = c.transposed;
  convolution->through_half = c.cube_math_type == kUseFloat16;
  return 0;
}

}  // namespace emu
