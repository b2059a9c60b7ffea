// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// InstanceNorm, which the 310P has: each channel of each sample is normalised by itself.
#include <cmath>
#include <cstring>

#include "aclnnop/norm.h"
#include "core/chip.h"
#include "ops/norm/layer.h"

namespace emu {
namespace {

constexpr int64_t kLeastBytes = 32;

// The view in the order (sample, channel, height, width).
View channels_second(View view, bool last) {
  if (!last) return view;
  const Layout from = view.layout;
  Layout to;
  for (const int d : {0, 3, 1, 2}) to.push(from.shape[d], from.stride[d]);
  view.layout = to;
  return view;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(InstanceNorm, (const aclTensor *x, const aclTensor *gamma, const aclTensor *beta,
                            const char *dataFormat, double eps, aclTensor *y, aclTensor *mean,
                            aclTensor *variance)) {
  using namespace emu;
  Check check("aclnnInstanceNorm");
  check.required("x", x).required("gamma", gamma).required("beta", beta);
  check.required_text("dataFormat", dataFormat).required("y", y).required("mean", mean);
  check.required("variance", variance);
  check.that(chip_is_310p(),
             "the chip is %s; only the 310P has this operator, which "
             "ACLNN_PY_EMULATOR_SOC=Ascend310P3 emulates",
             soc_name());
  check.dtype("x", x).dtype("gamma", gamma).dtype("beta", beta).dtype("y", y);
  check.dtype("mean", mean).dtype("variance", variance);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"gamma", gamma},
                                     {"beta", beta},
                                     {"y", y},
                                     {"mean", mean},
                                     {"variance", variance}})
    check.same_dtype(name, tensor->dtype, "x", x->dtype);
  const bool last = std::strcmp(dataFormat, "NHWC") == 0;
  check.that(last || std::strcmp(dataFormat, "NCHW") == 0,
             "dataFormat is \"%.40s\"; allowed: \"NCHW\", \"NHWC\"", dataFormat);
  check.rank("x", x, 4, 4);
  if (!check.ok()) return check.status();
  const int64_t samples = x->shape[0], channels = x->shape[last ? 3 : 1];
  const int64_t inner = x->shape[last ? 1 : 2] * x->shape[last ? 2 : 3];
  const int64_t first[] = {samples, channels, 1, 1}, at_end[] = {samples, 1, 1, channels};
  const Layout statistics = dense_layout(last ? at_end : first, 4);
  check.shape("gamma", gamma, dense_layout(&channels, 1));
  check.shape("beta", beta, dense_layout(&channels, 1)).shape("y", y, layout_of(*x));
  check.shape("mean", mean, statistics).shape("variance", variance, statistics);
  if (!check.ok()) return check.status();
  const int64_t each = item_size(x->dtype);
  if (x->numel() > 0 && (channels * each < kLeastBytes || inner * each < kLeastBytes)) {
    return fail(kInnerNull,
                "aclnnInstanceNorm: x has %lld channels of %lld elements; each of the two must "
                "fill %lld bytes",
                static_cast<long long>(channels), static_cast<long long>(inner),
                static_cast<long long>(kLeastBytes));
  }
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t input = plan.input(x), weight = plan.input(gamma), bias = plan.input(beta);
  const size_t to = plan.output(y), means = plan.output(mean), variances = plan.output(variance);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to)), mean_view = view_of(c.tensor(means)),
                   variance_view = view_of(c.tensor(variances));
        const View source =
            operands.safe(view_of(c.tensor(input)), {result, mean_view, variance_view});
        const RowSource<float> from(channels_second(source, last));
        const RowTarget<float> target(channels_second(result, last));
        const RowTarget<float> mean_to(mean_view), variance_to(variance_view);
        const auto scale = read_all<float>(c, weight, channels, 1.0f),
                   shift = read_all<float>(c, bias, channels, 0.0f);
        for_each_row<float>(samples * channels, inner, 1, [&](int64_t row, float *values) {
          from.read(row * inner, inner, values);
          const double centre = sum_of(values, inner) / static_cast<double>(inner);
          const double spread = square_sum(values, inner, centre) / static_cast<double>(inner);
          const auto level = static_cast<float>(centre), squared = static_cast<float>(spread),
                     inverse = static_cast<float>(1.0 / std::sqrt(spread + eps));
          const auto at = static_cast<size_t>(row % channels);
          for (int64_t i = 0; i < inner; ++i)
            values[i] = (values[i] - level) * inverse * scale[at] + shift[at];
          target.write(row * inner, inner, values);
          mean_to.write(row, 1, &level);
          variance_to.write(row, 1, &squared);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
