// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Batch normalisation in the parts between which ranks exchange their statistics. Statistics are
// taken in float64.
#include <cmath>

#include "aclnnop/math.h"
#include "aclnnop/norm.h"
#include "core/chip.h"
#include "ops/norm/channels.h"

namespace emu {
namespace {

// A sum and a mean of nothing are 0.
double over(double sum, double count) { return count == 0 ? 0 : sum / count; }

// Calls body(channel, elements, count) for each channel.
template <class F>
void each_channel(const View &input, int64_t channels, F &&body) {
  const int64_t width = channels == 0 ? 0 : input.count() / channels;
  for_each_row<float>(channels, width, 1, [&](int64_t channel, float *x) {
    RowSource<float>(channel_of(input, channel)).read(0, width, x);
    body(channel, x, width);
  });
}

// The statistics of all ranks for one channel.
struct Gathered {
  double mean, variance, count;
};

struct Running {
  size_t mean, variance;
  double momentum;
};

// Running statistics follow those of the batch, the variance by its unbiased estimate.
void follow(PlanContext &c, const Running &running, const std::vector<Gathered> &all) {
  const auto channels = static_cast<int64_t>(all.size());
  auto means = channel_numbers(c, running.mean, channels, 0);
  auto variances = channel_numbers(c, running.variance, channels, 1);
  const double keep = 1 - running.momentum;
  for (size_t i = 0; i < all.size(); ++i) {
    const double n = all[i].count;
    const double unbiased = n > 1 ? all[i].variance * (n / (n - 1)) : all[i].variance;
    means[i] = means[i] * keep + running.momentum * all[i].mean;
    variances[i] = variances[i] * keep + running.momentum * unbiased;
  }
  store_channels(c, running.mean, means);
  store_channels(c, running.variance, variances);
}

void store_gathered(PlanContext &c, size_t mean, size_t inverse, double eps,
                    const std::vector<Gathered> &all) {
  std::vector<double> means, inverses;
  for (const Gathered &one : all) {
    means.push_back(one.mean);
    inverses.push_back(1 / std::sqrt(one.variance + eps));
  }
  store_channels(c, mean, means);
  store_channels(c, inverse, inverses);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BatchNormStats,
             (const aclTensor *input, double eps, aclTensor *mean, aclTensor *invstd)) {
  using namespace emu;
  Check check("aclnnBatchNormStats");
  check.required("input", input).required("mean", mean).required("invstd", invstd);
  check.dtype("input", input).dtype("mean", mean).dtype("invstd", invstd);
  check_channels(check, "input", input).plain_format("mean", mean).plain_format("invstd", invstd);
  check_some_channels(check, "input", input);
  if (!check.ok()) return check.status();
  const int64_t channels = input->shape[1];
  check_per_channel(check, "mean", mean, channels);
  check_per_channel(check, "invstd", invstd, channels);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t from = plan.input(input), center = plan.output(mean), inverse = plan.output(invstd);
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<double> means(static_cast<size_t>(channels)), inverses(means);
        each_channel(view_of(c.tensor(from)), channels,
                     [&](int64_t channel, const float *x, int64_t n) {
                       const auto at = static_cast<size_t>(channel);
                       const auto count = static_cast<double>(n);
                       means[at] = over(sum_of(x, n), count);
                       const double variance = over(square_sum(x, n, means[at]), count);
                       inverses[at] = 1 / std::sqrt(variance + eps);
                     });
        store_channels(c, center, means);
        store_channels(c, inverse, inverses);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BatchNormReduce, (const aclTensor *x, aclTensor *sum, aclTensor *squareSum)) {
  using namespace emu;
  Check check("aclnnBatchNormReduce");
  check.required("x", x).required("sum", sum).required("squareSum", squareSum);
  check.that(!chip_is_950(), "this chip does not have the operator");
  check.dtype("x", x).dtype("sum", sum).dtype("squareSum", squareSum).rank("x", x, 4, 4);
  check_channels(check, "x", x);
  if (!check.ok()) return check.status();
  const int64_t channels = x->shape[1];
  check_per_channel(check, "sum", sum, channels);
  check_per_channel(check, "squareSum", squareSum, channels);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t from = plan.input(x), sums = plan.output(sum), squares = plan.output(squareSum);
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<double> first(static_cast<size_t>(channels)), second(first);
        each_channel(view_of(c.tensor(from)), channels,
                     [&](int64_t channel, const float *values, int64_t n) {
                       first[static_cast<size_t>(channel)] = sum_of(values, n);
                       second[static_cast<size_t>(channel)] = square_sum(values, n, 0);
                     });
        store_channels(c, sums, first);
        store_channels(c, squares, second);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// `invstd` holds eps already.
EMU_OPERATOR(BatchNormElemt,
             (const aclTensor *input, const aclTensor *weight, const aclTensor *bias,
              const aclTensor *mean, const aclTensor *invstd, double, aclTensor *output)) {
  using namespace emu;
  Check check("aclnnBatchNormElemt");
  const std::initializer_list<std::pair<const char *, const aclTensor *>> numbers = {
      {"weight", weight}, {"bias", bias}, {"mean", mean}, {"invstd", invstd}};
  check.required("input", input).optional("weight", weight).optional("bias", bias);
  check.required("mean", mean).required("invstd", invstd).required("output", output);
  check.that(!chip_is_950(), "this chip does not have the operator");
  check.dtype("input", input).dtype("output", output);
  for (const auto &[name, tensor] : numbers) check.dtype(name, tensor);
  check_channels(check, "input", input);
  check_channels(check, "output", output);
  check_some_channels(check, "input", input);
  if (!check.ok()) return check.status();
  check.same_dtype("output", output->dtype, "input", input->dtype);
  for (const auto &[name, tensor] : numbers) {
    if (tensor != nullptr) check.same_dtype(name, tensor->dtype, "input", input->dtype);
  }
  check.shape("output", output, layout_of(*input));
  const int64_t channels = input->shape[1];
  for (const auto &[name, tensor] : numbers) check_per_channel(check, name, tensor, channels);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t from = plan.input(input), scale = plan.input(weight), shift = plan.input(bias);
  const size_t center = plan.input(mean), inverse = plan.input(invstd), to = plan.output(output);
  return plan.finish(
      [=](PlanContext &c) {
        const auto scales = channel_numbers(c, scale, channels, 1);
        const auto shifts = channel_numbers(c, shift, channels, 0);
        const auto means = channel_numbers(c, center, channels, 0);
        const auto inverses = channel_numbers(c, inverse, channels, 1);
        const View result = view_of(c.tensor(to));
        Operands operands;
        const View source = operands.safe(view_of(c.tensor(from)), {result});
        each_channel(source, channels, [&](int64_t channel, float *x, int64_t n) {
          const auto at = static_cast<size_t>(channel);
          const auto middle = static_cast<float>(means[at]);
          const auto factor = static_cast<float>(inverses[at] * scales[at]);
          const auto level = static_cast<float>(shifts[at]);
          for (int64_t i = 0; i < n; ++i) x[i] = (x[i] - middle) * factor + level;
          RowTarget<float>(channel_of(result, channel)).write(0, n, x);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SyncBatchNormGatherStats,
             (const aclTensor *totalSum, const aclTensor *totalSquareSum,
              const aclTensor *sampleCount, aclTensor *meanRef, aclTensor *varianceRef,
              float momentum, float eps, aclTensor *batchMean, aclTensor *batchInvstd)) {
  using namespace emu;
  Check check("aclnnSyncBatchNormGatherStats");
  const std::initializer_list<std::pair<const char *, const aclTensor *>> all = {
      {"totalSum", totalSum},      {"totalSquareSum", totalSquareSum}, {"sampleCount", sampleCount},
      {"meanRef", meanRef},        {"varianceRef", varianceRef},       {"batchMean", batchMean},
      {"batchInvstd", batchInvstd}};
  for (const auto &[name, tensor] : all) check.required(name, tensor);
  for (const auto &[name, tensor] : all) check.dtype(name, tensor).plain_format(name, tensor);
  check.rank("totalSum", totalSum, 2, 2);
  if (!check.ok()) return check.status();
  check.same_dtype("totalSquareSum", totalSquareSum->dtype, "totalSum", totalSum->dtype)
      .same_dtype("meanRef", meanRef->dtype, "totalSum", totalSum->dtype)
      .same_dtype("varianceRef", varianceRef->dtype, "totalSum", totalSum->dtype)
      .same_dtype("batchInvstd", batchInvstd->dtype, "batchMean", batchMean->dtype);
  check.shape("totalSquareSum", totalSquareSum, layout_of(*totalSum));
  const int64_t ranks = totalSum->shape[0], channels = totalSum->shape[1];
  check.that(ranks > 0, "totalSum has no rows; it needs one for each device");
  check.shape("sampleCount", sampleCount, dense_layout(&ranks, 1));
  check_per_channel(check, "meanRef", meanRef, channels);
  check_per_channel(check, "varianceRef", varianceRef, channels);
  check_per_channel(check, "batchMean", batchMean, channels);
  check_per_channel(check, "batchInvstd", batchInvstd, channels);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t sums = plan.input(totalSum), squares = plan.input(totalSquareSum);
  const size_t counts = plan.input(sampleCount), running_mean = plan.in_place(meanRef);
  const size_t running_var = plan.in_place(varianceRef), center = plan.output(batchMean);
  const size_t inverse = plan.output(batchInvstd);
  const auto step = static_cast<double>(momentum), small = static_cast<double>(eps);
  return plan.finish(
      [=](PlanContext &c) {
        const auto each = read_all<double>(c, counts, ranks, 0.0);
        const auto first = read_all<double>(c, sums, ranks * channels, 0.0);
        const auto second = read_all<double>(c, squares, ranks * channels, 0.0);
        const double count = sum_of(each.data(), ranks);
        std::vector<Gathered> gathered(static_cast<size_t>(channels));
        for (size_t k = 0; k < gathered.size(); ++k) {
          double sum = 0, square = 0;
          for (size_t i = k; i < first.size(); i += gathered.size()) {
            sum += first[i];
            square += second[i];
          }
          const double mean = sum / count;
          gathered[k] = {mean, square / count - mean * mean, count};
        }
        follow(c, {running_mean, running_var, step}, gathered);
        store_gathered(c, center, inverse, small, gathered);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// `input` only says how many channels there are.
EMU_OPERATOR(BatchNormGatherStatsWithCounts,
             (const aclTensor *input, const aclTensor *mean, const aclTensor *invstd,
              aclTensor *runningMeanOptionalRef, aclTensor *runningVarOptionalRef, double momentum,
              double eps, const aclTensor *counts, aclTensor *meanAll, aclTensor *invstdAll)) {
  using namespace emu;
  Check check("aclnnBatchNormGatherStatsWithCounts");
  check.required("input", input).required("mean", mean).required("invstd", invstd);
  check.optional("runningMeanOptionalRef", runningMeanOptionalRef);
  check.optional("runningVarOptionalRef", runningVarOptionalRef).required("counts", counts);
  check.required("meanAll", meanAll).required("invstdAll", invstdAll);
  check.dtype("input", input).dtype("mean", mean).dtype("invstd", invstd);
  check.dtype("runningMeanOptionalRef", runningMeanOptionalRef);
  check.dtype("runningVarOptionalRef", runningVarOptionalRef).dtype("counts", counts);
  check.dtype("meanAll", meanAll).dtype("invstdAll", invstdAll);
  check_channels(check, "input", input).plain_format("mean", mean).plain_format("invstd", invstd);
  check.plain_format("counts", counts).rank("mean", mean, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t ranks = mean->shape[0], channels = input->shape[1];
  check.that(ranks > 0, "mean has no rows; it needs one for each device");
  const int64_t both[] = {ranks, channels};
  check.shape("mean", mean, dense_layout(both, 2)).shape("invstd", invstd, dense_layout(both, 2));
  check.shape("counts", counts, dense_layout(&ranks, 1));
  check_per_channel(check, "runningMeanOptionalRef", runningMeanOptionalRef, channels);
  check_per_channel(check, "runningVarOptionalRef", runningVarOptionalRef, channels);
  check_per_channel(check, "meanAll", meanAll, channels);
  check_per_channel(check, "invstdAll", invstdAll, channels);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  plan.unused(input);
  const size_t means = plan.input(mean), inverses = plan.input(invstd);
  const size_t running_mean = plan.in_place(runningMeanOptionalRef);
  const size_t running_var = plan.in_place(runningVarOptionalRef), sizes = plan.input(counts);
  const size_t center = plan.output(meanAll), inverse = plan.output(invstdAll);
  return plan.finish(
      [=](PlanContext &c) {
        const auto each = read_all<double>(c, sizes, ranks, 0.0);
        const auto first = read_all<double>(c, means, ranks * channels, 0.0);
        const auto second = read_all<double>(c, inverses, ranks * channels, 0.0);
        const double count = sum_of(each.data(), ranks);
        std::vector<Gathered> gathered(static_cast<size_t>(channels));
        for (size_t k = 0; k < gathered.size(); ++k) {
          double sum = 0, spread = 0;
          for (size_t i = 0; i < each.size(); ++i) sum += each[i] * first[i * gathered.size() + k];
          const double mean_of = sum / count;
          for (size_t i = 0; i < each.size(); ++i) {
            const size_t at = i * gathered.size() + k;
            const double away = first[at] - mean_of;
            spread += each[i] * (1 / (second[at] * second[at]) - eps + away * away);
          }
          gathered[k] = {mean_of, spread / count, count};
        }
        follow(c, {running_mean, running_var, momentum}, gathered);
        store_gathered(c, center, inverse, eps, gathered);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
