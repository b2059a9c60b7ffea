// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of groups of channels, or of channels with given statistics, and quantisation.
#include "aclnnop/norm.h"
#include "ops/norm/group.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

// Divides what is written by the scale of its channel.
class ScaledTarget {
 public:
  ScaledTarget(const aclTensor &y, const GroupedChannels &channels, std::vector<float> scales)
      : to_(y), channels_(channels), scales_(std::move(scales)) {}
  void write(int64_t start, int64_t count, float *values) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channel = (start + i) / channels_.inner % channels_.channels;
      values[i] /= scales_.size() == 1 ? scales_[0] : scales_[static_cast<size_t>(channel)];
    }
    to_.write(start, count, values);
  }

 private:
  QuantTarget to_;
  GroupedChannels channels_;
  std::vector<float> scales_;
};

// The numbers that a dtype of whole numbers holds.
std::pair<int64_t, int64_t> bounds_of(aclDataType dtype) {
  if (dtype == ACL_INT8) return {-128, 127};
  if (dtype == ACL_UINT8) return {0, 255};
  return {INT32_MIN, INT32_MAX};
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupNormSiluQuant,
             (const aclTensor *self, const aclTensor *gamma, const aclTensor *beta,
              const aclTensor *quantScale, int64_t group, double eps, bool activateSilu,
              aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnGroupNormSiluQuant";
  Check check(op);
  check.required("self", self).optional("gamma", gamma).optional("beta", beta);
  check.required("quantScale", quantScale).required("out", out);
  check.required("meanOut", meanOut).required("rstdOut", rstdOut);
  check.dtype("self", self).dtype("gamma", gamma).dtype("beta", beta);
  check.dtype("quantScale", quantScale).dtype("out", out);
  check.dtype("meanOut", meanOut).dtype("rstdOut", rstdOut);
  check.plain_format("self", self).rank("self", self, 2, 8).rank("quantScale", quantScale, 1, 1);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair{"gamma", gamma},
                                     std::pair{"beta", beta},
                                     std::pair<const char *, const aclTensor *>{"meanOut", meanOut},
                                     {"rstdOut", rstdOut}}) {
    if (tensor) check.same_dtype(name, tensor->dtype, "self", self->dtype);
  }
  const int64_t samples = self->shape[0], channels = self->shape[1];
  check.that(group > 0 && channels > 0 && channels % group == 0,
             "group is %lld; it must divide the %lld channels of self",
             static_cast<long long>(group), static_cast<long long>(channels));
  check.that(eps > 0, "eps is %g; it must be positive", eps);
  check.that(activateSilu, "activateSilu is false; allowed: true");
  const int64_t statistics[] = {samples, group}, scales = quantScale->shape[0];
  check.shape("gamma", gamma, dense_layout(&channels, 1));
  check.shape("beta", beta, dense_layout(&channels, 1));
  check.that(scales == 1 || scales == channels, "quantScale has %lld values; allowed: 1 or %lld",
             static_cast<long long>(scales), static_cast<long long>(channels));
  check.shape("out", out, layout_of(*self));
  check.shape("meanOut", meanOut, dense_layout(statistics, 2));
  check.shape("rstdOut", rstdOut, dense_layout(statistics, 2));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(self), weight = plan.input(gamma), bias = plan.input(beta);
  const size_t divisors = plan.input(quantScale), to = plan.output(out);
  const size_t mean = plan.output(meanOut), rstd = plan.output(rstdOut);
  const int64_t inner = count_of(self->shape.data() + 2, self->rank() - 2);
  const GroupedChannels grouped{samples, channels, inner, group};
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &result = c.tensor(to);
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {view_of(result)}));
        const auto scale = read_all<float>(c, weight, channels, 1.0f),
                   shift = read_all<float>(c, bias, channels, 0.0f);
        const ScaledTarget target(result, grouped, read_all<float>(c, divisors, scales, 1.0f));
        const auto all = group_normalise(grouped, from, target, scale, shift, eps, [](float value) {
          return value / (1.0f + std::exp(-value));
        });
        const int64_t rows = grouped.rows();
        RowTarget<float>(view_of(c.tensor(mean))).write(0, rows, all.means.data());
        RowTarget<float>(view_of(c.tensor(rstd))).write(0, rows, all.rstds.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantizedBatchNorm,
             (const aclTensor *input, const aclTensor *mean, const aclTensor *var,
              const aclScalar *inputScale, const aclScalar *inputZeroPoint,
              const aclScalar *outputScale, const aclScalar *outputZeroPoint,
              const aclTensor *weightOptional, const aclTensor *biasOptional, float epsilon,
              aclTensor *output)) {
  using namespace emu;
  constexpr const char *op = "aclnnQuantizedBatchNorm";
  Check check(op);
  check.required("input", input).required("mean", mean).required("var", var);
  check.required("inputScale", inputScale).required("inputZeroPoint", inputZeroPoint);
  check.required("outputScale", outputScale).required("outputZeroPoint", outputZeroPoint);
  check.optional("weightOptional", weightOptional).optional("biasOptional", biasOptional);
  check.required("output", output);
  check.dtype("input", input).dtype("mean", mean).dtype("var", var);
  check.dtype("inputScale", inputScale).dtype("inputZeroPoint", inputZeroPoint);
  check.dtype("outputScale", outputScale).dtype("outputZeroPoint", outputZeroPoint);
  check.dtype("weightOptional", weightOptional).dtype("biasOptional", biasOptional);
  check.dtype("output", output).plain_format("input", input).plain_format("output", output);
  check.rank("input", input, 4, 4);
  if (!check.ok()) return check.status();
  check.same_dtype("output", output->dtype, "input", input->dtype);
  check.that(input->format != ACL_FORMAT_NHWC,
             "input has format NHWC; the channel must be the second dimension");
  const Layout whole = layout_of(*input);
  check.that(whole.count() > 0, "input has shape %s; no dimension may be 0",
             shape_text(whole).c_str());
  check.shape("output", output, whole);
  const int64_t channels = whole.shape[1];
  const std::pair<const char *, const aclTensor *> vectors[] = {{"mean", mean},
                                                                {"var", var},
                                                                {"weightOptional", weightOptional},
                                                                {"biasOptional", biasOptional}};
  for (const auto &[name, tensor] : vectors) check.shape(name, tensor, dense_layout(&channels, 1));
  const auto [lowest, highest] = bounds_of(input->dtype);
  const int64_t zero_in = inputZeroPoint->to_int64(), zero_out = outputZeroPoint->to_int64();
  for (const auto &[name, zero] :
       {std::pair{"inputZeroPoint", zero_in}, std::pair{"outputZeroPoint", zero_out}}) {
    check.that(zero >= lowest && zero <= highest,
               "%s is %lld; allowed: %lld to %lld, the numbers of %s", name,
               static_cast<long long>(zero), static_cast<long long>(lowest),
               static_cast<long long>(highest), dtype_name(input->dtype));
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(input), means = plan.input(mean), variances = plan.input(var);
  const size_t weight = plan.input(weightOptional), bias = plan.input(biasOptional);
  const size_t to = plan.output(output);
  const double scale_in = inputScale->to_double(), scale_out = outputScale->to_double();
  const int64_t rows = whole.shape[0] * channels, width = whole.shape[2] * whole.shape[3];
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const RowSource<int64_t> source(operands.safe(view_of(c.tensor(from)), {result}));
        const RowTarget<int64_t> target(result);
        const auto mean_of = read_all<double>(c, means, channels, 0.0),
                   variance_of = read_all<double>(c, variances, channels, 1.0),
                   weight_of = read_all<double>(c, weight, channels, 1.0),
                   bias_of = read_all<double>(c, bias, channels, 0.0);
        const auto low = static_cast<double>(lowest), high = static_cast<double>(highest);
        for_each_row<int64_t>(rows, width, 1, [&](int64_t row, int64_t *x) {
          const auto channel = static_cast<size_t>(row % channels);
          const double factor =
              weight_of[channel] / std::sqrt(variance_of[channel] + static_cast<double>(epsilon));
          source.read(row * width, width, x);
          for (int64_t i = 0; i < width; ++i) {
            const double value = static_cast<double>(x[i] - zero_in) * scale_in;
            const double y = (value - mean_of[channel]) * factor + bias_of[channel];
            const double made = std::nearbyint(y / scale_out + static_cast<double>(zero_out));
            x[i] = std::isnan(made) ? 0 : static_cast<int64_t>(std::min(std::max(made, low), high));
          }
          target.write(row * width, width, x);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
