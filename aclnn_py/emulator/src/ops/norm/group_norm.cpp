// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Normalisation per channel: GroupNorm and BatchNorm.
#include "aclnnop/norm.h"
#include "ops/norm/channels.h"
#include "ops/norm/group.h"

#include <cmath>

EMU_OPERATOR(GroupNorm, (const aclTensor *self, const aclTensor *gamma, const aclTensor *beta,
                         int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
                         aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut)) {
  using namespace emu;
  Check check("aclnnGroupNorm");
  check.required("self", self).optional("gamma", gamma).optional("beta", beta);
  check.required("out", out).required("meanOut", meanOut).required("rstdOut", rstdOut);
  check.dtype("self", self).dtype("gamma", gamma).dtype("beta", beta);
  check.dtype("out", out).dtype("meanOut", meanOut).dtype("rstdOut", rstdOut);
  check.plain_format("self", self).rank("self", self, 2, 8);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair{"gamma", gamma},
                                     std::pair{"beta", beta},
                                     std::pair<const char *, const aclTensor *>{"out", out},
                                     {"meanOut", meanOut},
                                     {"rstdOut", rstdOut}}) {
    if (tensor != nullptr) check.same_dtype(name, tensor->dtype, "self", self->dtype);
  }
  check.that(group > 0, "group is %lld; it must be positive", static_cast<long long>(group));
  check.that(C > 0 && group > 0 && C % group == 0, "C %lld is not a multiple of group %lld",
             static_cast<long long>(C), static_cast<long long>(group));
  const int64_t elements = check.size("N, C and HxW", Checked(N) * C * HxW);
  check.that(N >= 0 && HxW >= 0 && self->numel() == elements,
             "self has %lld elements; N, C and HxW make %lld",
             static_cast<long long>(self->numel()), static_cast<long long>(elements));
  check.that(self->shape[1] == C, "C is %lld; self has %lld channels", static_cast<long long>(C),
             static_cast<long long>(self->shape[1]));
  Layout channels, statistics;
  channels.push(C, 1);
  statistics.push(N, group);
  statistics.push(group, 1);
  check.shape("gamma", gamma, channels)
      .shape("beta", beta, channels)
      .shape("out", out, layout_of(*self));
  check.shape("meanOut", meanOut, statistics).shape("rstdOut", rstdOut, statistics);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnGroupNorm", KernelTime::linear);
  const size_t input = plan.input(self), weight = plan.input(gamma), bias = plan.input(beta);
  const size_t to = plan.output(out), mean = plan.output(meanOut), rstd = plan.output(rstdOut);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {result}));
        const RowTarget<float> target(result);
        const auto scale = read_all<float>(c, weight, C, 1.0f),
                   shift = read_all<float>(c, bias, C, 0.0f);
        const GroupedChannels channels_of{N, C, HxW, group};
        const auto all = group_normalise(channels_of, from, target, scale, shift, eps,
                                         [](float value) { return value; });
        const int64_t rows = channels_of.rows();
        RowTarget<float>(view_of(c.tensor(mean))).write(0, rows, all.means.data());
        RowTarget<float>(view_of(c.tensor(rstd))).write(0, rows, all.rstds.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// Training takes the statistics of the batch, moves the running ones by `momentum` (the variance as
// the unbiased estimate) and saves mean and 1/sqrt(var + eps); inference uses the running
// statistics and saves nothing.
EMU_OPERATOR(BatchNorm,
             (const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
              aclTensor *runningMean, aclTensor *runningVar, bool training, double momentum,
              double eps, aclTensor *output, aclTensor *saveMean, aclTensor *saveInvstd)) {
  using namespace emu;
  Check check("aclnnBatchNorm");
  check.required("input", input).optional("weightOptional", weight).optional("biasOptional", bias);
  check.optional("runningMeanOptionalRef", runningMean)
      .optional("runningVarOptionalRef", runningVar);
  check.required("output", output)
      .optional("saveMean", saveMean)
      .optional("saveInvstd", saveInvstd);
  if (check.ok() && training)
    check.required("saveMean", saveMean).required("saveInvstd", saveInvstd);
  if (check.ok() && !training)
    check.required("runningMeanOptionalRef", runningMean)
        .required("runningVarOptionalRef", runningVar);
  check.dtype("input", input)
      .dtype("weightOptional", weight)
      .dtype("biasOptional", bias)
      .dtype("runningMeanOptionalRef", runningMean);
  check.dtype("runningVarOptionalRef", runningVar)
      .dtype("output", output)
      .dtype("saveMean", saveMean)
      .dtype("saveInvstd", saveInvstd);
  check_channels(check, "input", input);
  if (!check.ok()) return check.status();
  check.same_dtype("output", output->dtype, "input", input->dtype);
  const int64_t channels = input->shape[1];
  Layout line;
  line.push(channels, 1);
  check.shape("output", output, layout_of(*input))
      .shape("weightOptional", weight, line)
      .shape("biasOptional", bias, line);
  check.shape("runningMeanOptionalRef", runningMean, line)
      .shape("runningVarOptionalRef", runningVar, line);
  if (training) check.shape("saveMean", saveMean, line).shape("saveInvstd", saveInvstd, line);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnBatchNorm", KernelTime::linear);
  const size_t from = plan.input(input), scale_index = plan.input(weight),
               shift_index = plan.input(bias);
  const size_t running_mean = plan.output(runningMean), running_var = plan.output(runningVar),
               to = plan.output(output);
  const size_t save_mean = training ? plan.output(saveMean) : plan.unused(saveMean);
  const size_t save_inverse = training ? plan.output(saveInvstd) : plan.unused(saveInvstd);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const View source = operands.safe(view_of(c.tensor(from)), {result});
        const auto scale = read_all<float>(c, scale_index, channels, 1.0f);
        const auto shift = read_all<float>(c, shift_index, channels, 0.0f);
        auto means = read_all<float>(c, running_mean, channels, 0.0f);
        auto variances = read_all<float>(c, running_var, channels, 1.0f);
        std::vector<float> saved_means(means), saved_inverses(means);
        const int64_t width = channels == 0 ? 0 : source.count() / channels;
        for_each_row<float>(channels, width, 1, [&](int64_t channel, float *x) {
          RowSource<float>(channel_of(source, channel)).read(0, width, x);
          const auto at = static_cast<size_t>(channel);
          double mean = static_cast<double>(means[at]),
                 variance = static_cast<double>(variances[at]);
          if (training) {
            mean = width == 0 ? 0.0 : sum_of(x, width) / static_cast<double>(width);
            const double squares = square_sum(x, width, mean);
            variance = width == 0 ? 0.0 : squares / static_cast<double>(width);
            const double unbiased = width > 1 ? squares / static_cast<double>(width - 1) : variance;
            means[at] = static_cast<float>((1.0 - momentum) * static_cast<double>(means[at]) +
                                           momentum * mean);
            variances[at] = static_cast<float>(
                (1.0 - momentum) * static_cast<double>(variances[at]) + momentum * unbiased);
          }
          const double inverse = 1.0 / std::sqrt(variance + eps);
          saved_means[at] = static_cast<float>(mean);
          saved_inverses[at] = static_cast<float>(inverse);
          const auto center = static_cast<float>(mean), factor = static_cast<float>(inverse);
          for (int64_t i = 0; i < width; ++i)
            x[i] = (x[i] - center) * factor * scale[at] + shift[at];
          RowTarget<float>(channel_of(result, channel)).write(0, width, x);
        });
        if (!training) return Status{0};
        const auto store = [&](size_t index, const std::vector<float> &values) {
          if (c.has(index))
            RowTarget<float>(view_of(c.tensor(index))).write(0, channels, values.data());
        };
        store(running_mean, means);
        store(running_var, variances);
        store(save_mean, saved_means);
        store(save_inverse, saved_inverses);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
