// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of batch normalisation: whole, and in the parts between which ranks exchange sums. Sums
// are taken in float64.
#include <cmath>

#include "aclnnop/norm.h"
#include "core/chip.h"
#include "ops/norm/channels.h"

namespace emu {
namespace {

// --- sums of channels

struct ChannelSums {
  double grads = 0, along = 0;  // of the slopes, and of their products with x - mean
};

ChannelSums sums_of(const float *g, const float *x, int64_t count, double mean) {
  double grads[4] = {}, along[4] = {};
  const auto add = [&](int lane, int64_t i) {
    const auto slope = static_cast<double>(g[i]);
    grads[lane] += slope;
    along[lane] += slope * (static_cast<double>(x[i]) - mean);
  };
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int lane = 0; lane < 4; ++lane) add(lane, i + lane);
  }
  for (; i < count; ++i) add(0, i);
  return {(grads[0] + grads[1]) + (grads[2] + grads[3]),
          (along[0] + along[1]) + (along[2] + along[3])};
}

// Calls body(channel, slopes, elements, count) for each channel.
template <class F>
void for_each_channel(const View &grads, const View &input, int64_t channels, F &&body) {
  const int64_t width = channels == 0 ? 0 : input.count() / channels;
  for_each_row<float>(channels, width, 2, [&](int64_t channel, float *g) {
    float *x = g + width;
    RowSource<float>(channel_of(grads, channel)).read(0, width, g);
    RowSource<float>(channel_of(input, channel)).read(0, width, x);
    body(channel, g, x, width);
  });
}

// --- the whole gradient

struct BatchGradient {
  const char *op;
  const aclTensor *grad, *input, *weight, *running_mean, *running_var, *save_mean, *save_inverse;
  bool training;
  double eps;
  const aclBoolArray *mask;
  aclTensor *dx, *dweight, *dbias;
};

Check check_batch_gradient(const BatchGradient &a) {
  Check check(a.op);
  check.required("gradOut", a.grad).required("input", a.input);
  check.optional("weight", a.weight);
  if (a.training) {
    check.optional("runningMean", a.running_mean).optional("runningVar", a.running_var);
    check.required("saveMean", a.save_mean).required("saveInvstd", a.save_inverse);
  } else {
    check.required("runningMean", a.running_mean).required("runningVar", a.running_var);
    check.optional("saveMean", a.save_mean).optional("saveInvstd", a.save_inverse);
  }
  check.required("outputMask", a.mask);
  if (!check.ok()) return check;
  check.that(a.mask->values.size() == 3, "outputMask has %zu entries; expected 3",
             a.mask->values.size());
  if (!check.ok()) return check;
  const std::pair<const char *, const aclTensor *> results[] = {{"gradInputOptional", a.dx},
                                                                {"gradWeightOptional", a.dweight},
                                                                {"gradBiasOptional", a.dbias}};
  for (size_t i = 0; i < 3; ++i) {
    if (a.mask->values[i] != 0) check.required(results[i].first, results[i].second);
  }
  check.dtype("gradOut", a.grad).dtype("input", a.input).dtype("weight", a.weight);
  check.dtype("runningMean", a.running_mean).dtype("runningVar", a.running_var);
  check.dtype("saveMean", a.save_mean).dtype("saveInvstd", a.save_inverse);
  for (size_t i = 0; check.ok() && i < 3; ++i) {
    if (a.mask->values[i] != 0) check.dtype(results[i].first, results[i].second);
  }
  if (!check.ok()) return check;
  check.same_dtype("gradOut", a.grad->dtype, "input", a.input->dtype);
  check_channels(check, "input", a.input);
  check_channels(check, "gradOut", a.grad).shape("gradOut", a.grad, layout_of(*a.input));
  if (!check.ok()) return check;
  const int64_t channels = a.input->shape[1];
  const auto alike = [&](const char *first, const aclTensor *one, const char *second,
                         const aclTensor *other) {
    if (one != nullptr && other != nullptr && check.ok())
      check.same_dtype(second, other->dtype, first, one->dtype);
  };
  alike("runningMean", a.running_mean, "runningVar", a.running_var);
  alike("saveMean", a.save_mean, "saveInvstd", a.save_inverse);
  check_per_channel(check, "weight", a.weight, channels);
  check_per_channel(check, "runningMean", a.running_mean, channels);
  check_per_channel(check, "runningVar", a.running_var, channels);
  if (a.training) {
    check_per_channel(check, "saveMean", a.save_mean, channels);
    check_per_channel(check, "saveInvstd", a.save_inverse, channels);
  }
  if (check.ok() && a.mask->values[0] != 0) {
    check.same_dtype("gradInputOptional", a.dx->dtype, "input", a.input->dtype)
        .shape("gradInputOptional", a.dx, layout_of(*a.input));
  }
  for (size_t i = 1; i < 3; ++i) {
    if (a.mask->values[i] != 0)
      check_per_channel(check, results[i].first, results[i].second, channels);
  }
  if (a.mask->values[1] != 0 && a.mask->values[2] != 0)
    alike("gradWeightOptional", a.dweight, "gradBiasOptional", a.dbias);
  return check;
}

Status plan_batch_gradient(const BatchGradient &a, Check &check, uint64_t *workspace_size,
                           aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const auto read_if = [&](bool reads, const aclTensor *tensor) {
    return reads ? plan.input(tensor) : plan.unused(tensor);
  };
  const auto written_if = [&](size_t entry, const aclTensor *tensor) {
    return a.mask->values[entry] != 0 ? plan.output(tensor) : plan.unused(tensor);
  };
  const bool training = a.training;
  const size_t grad = plan.input(a.grad), input = plan.input(a.input);
  const size_t weight = plan.input(a.weight), mean = read_if(!training, a.running_mean);
  const size_t variance = read_if(!training, a.running_var);
  const size_t saved = read_if(training, a.save_mean), inverse = read_if(training, a.save_inverse);
  const size_t dx = written_if(0, a.dx), dweight = written_if(1, a.dweight);
  const size_t dbias = written_if(2, a.dbias);
  const int64_t channels = a.input->shape[1];
  const double eps = a.eps;
  return plan.finish(
      [=](PlanContext &c) {
        const auto scales = channel_numbers(c, weight, channels, 1);
        const auto means = channel_numbers(c, training ? saved : mean, channels, 0);
        auto inverses = channel_numbers(c, training ? inverse : variance, channels, 1);
        for (double &one : inverses) one = training ? one : 1 / std::sqrt(one + eps);
        const View result = c.has(dx) ? view_of(c.tensor(dx)) : View();
        Operands operands;
        const View slopes = operands.safe(view_of(c.tensor(grad)), {result});
        const View elements = operands.safe(view_of(c.tensor(input)), {result});
        std::vector<double> weights(static_cast<size_t>(channels)), biases(weights);
        for_each_channel(slopes, elements, channels,
                         [&](int64_t channel, float *g, float *x, int64_t n) {
                           const auto at = static_cast<size_t>(channel);
                           const ChannelSums sums = sums_of(g, x, n, means[at]);
                           weights[at] = sums.along * inverses[at];
                           biases[at] = sums.grads;
                           if (result.data == nullptr || n == 0) return;
                           const auto count = static_cast<double>(n);
                           const auto center = static_cast<float>(means[at]);
                           const auto factor = static_cast<float>(inverses[at] * scales[at]);
                           const auto level = static_cast<float>(training ? sums.grads / count : 0);
                           const auto slope = static_cast<float>(
                               training ? sums.along * inverses[at] * inverses[at] / count : 0);
                           for (int64_t i = 0; i < n; ++i)
                             g[i] = (g[i] - level - (x[i] - center) * slope) * factor;
                           RowTarget<float>(channel_of(result, channel)).write(0, n, g);
                         });
        store_channels(c, dweight, weights);
        store_channels(c, dbias, biases);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BatchNormBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclTensor *weight,
              const aclTensor *runningMean, const aclTensor *runningVar, const aclTensor *saveMean,
              const aclTensor *saveInvstd, bool training, double eps,
              const aclBoolArray *outputMask, aclTensor *gradInputOptional,
              aclTensor *gradWeightOptional, aclTensor *gradBiasOptional)) {
  const emu::BatchGradient a{"aclnnBatchNormBackward",
                             gradOut,
                             input,
                             weight,
                             runningMean,
                             runningVar,
                             saveMean,
                             saveInvstd,
                             training,
                             eps,
                             outputMask,
                             gradInputOptional,
                             gradWeightOptional,
                             gradBiasOptional};
  emu::Check check = emu::check_batch_gradient(a);
  return emu::plan_batch_gradient(a, check, workspaceSize, executor);
}
EMU_CATCH

// The versions of the algorithm give the same numbers here.
EMU_OPERATOR(FastBatchNormBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclTensor *weight,
              const aclTensor *runningMean, const aclTensor *runningVar, const aclTensor *saveMean,
              const aclTensor *saveInvstd, bool training, double eps,
              const aclBoolArray *outputMask, int version, aclTensor *gradInputOptional,
              aclTensor *gradWeightOptional, aclTensor *gradBiasOptional)) {
  const emu::BatchGradient a{"aclnnFastBatchNormBackward",
                             gradOut,
                             input,
                             weight,
                             runningMean,
                             runningVar,
                             saveMean,
                             saveInvstd,
                             training,
                             eps,
                             outputMask,
                             gradInputOptional,
                             gradWeightOptional,
                             gradBiasOptional};
  emu::Check check = emu::check_batch_gradient(a);
  check.that(!emu::chip_is_950(), "this chip does not have the operator");
  check.that(version == 0 || version == 1, "version is %d; allowed: 0, 1", version);
  return emu::plan_batch_gradient(a, check, workspaceSize, executor);
}
EMU_CATCH

// What ranks add up between them: `weight` is not needed.
EMU_OPERATOR(BatchNormReduceBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
              const aclTensor *invstd, const aclTensor *weight, bool inputG, bool weightG,
              bool biasG, aclTensor *sumDyOptional, aclTensor *sumDyXmuOptional,
              aclTensor *gradWeightOptional, aclTensor *gradBiasOptional)) {
  using namespace emu;
  Check check("aclnnBatchNormReduceBackward");
  check.required("gradOut", gradOut).required("input", input).required("mean", mean);
  check.required("invstd", invstd).optional("weight", weight);
  struct Result {
    const char *name;
    aclTensor *tensor;
    bool wanted;
  };
  const Result results[] = {{"sumDyOptional", sumDyOptional, inputG},
                            {"sumDyXmuOptional", sumDyXmuOptional, inputG},
                            {"gradWeightOptional", gradWeightOptional, weightG},
                            {"gradBiasOptional", gradBiasOptional, biasG}};
  for (const Result &result : results) {
    if (result.wanted) check.required(result.name, result.tensor);
  }
  check.dtype("gradOut", gradOut).dtype("input", input).dtype("mean", mean);
  check.dtype("invstd", invstd).dtype("weight", weight);
  for (const Result &result : results) {
    if (result.wanted) check.dtype(result.name, result.tensor);
  }
  if (!check.ok()) return check.status();
  check.same_dtype("gradOut", gradOut->dtype, "input", input->dtype);
  check_channels(check, "input", input);
  check_channels(check, "gradOut", gradOut).shape("gradOut", gradOut, layout_of(*input));
  check_some_channels(check, "input", input);
  if (!check.ok()) return check.status();
  const int64_t channels = input->shape[1];
  check_per_channel(check, "mean", mean, channels);
  check_per_channel(check, "invstd", invstd, channels);
  check_per_channel(check, "weight", weight, channels);
  for (const Result &result : results) {
    if (result.wanted) check_per_channel(check, result.name, result.tensor, channels);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t grad = plan.input(gradOut), elements = plan.input(input);
  const size_t center = plan.input(mean), inverse = plan.input(invstd);
  plan.unused(weight);
  size_t places[4];
  for (size_t i = 0; i < 4; ++i) {
    places[i] = results[i].wanted ? plan.output(results[i].tensor) : plan.unused(results[i].tensor);
  }
  const size_t first = places[0];
  return plan.finish(
      [=](PlanContext &c) {
        const auto means = channel_numbers(c, center, channels, 0);
        const auto inverses = channel_numbers(c, inverse, channels, 1);
        std::vector<double> grads(static_cast<size_t>(channels)), along(grads), scaled(grads);
        for_each_channel(view_of(c.tensor(grad)), view_of(c.tensor(elements)), channels,
                         [&](int64_t channel, const float *g, const float *x, int64_t n) {
                           const auto at = static_cast<size_t>(channel);
                           const ChannelSums sums = sums_of(g, x, n, means[at]);
                           grads[at] = sums.grads;
                           along[at] = sums.along;
                           scaled[at] = sums.along * inverses[at];
                         });
        store_channels(c, first, grads);
        store_channels(c, first + 1, along);
        store_channels(c, first + 2, scaled);
        store_channels(c, first + 3, grads);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// The sums are those of all ranks, and so is the sum of `counter`.
EMU_OPERATOR(BatchNormElemtBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
              const aclTensor *invstd, const aclTensor *weightOptional, const aclTensor *sumDy,
              const aclTensor *sumDyXmu, const aclTensor *counter, aclTensor *gradInput)) {
  using namespace emu;
  Check check("aclnnBatchNormElemtBackward");
  const std::initializer_list<std::pair<const char *, const aclTensor *>> numbers = {
      {"mean", mean}, {"invstd", invstd}, {"sumDy", sumDy}, {"sumDyXmu", sumDyXmu}};
  check.required("gradOut", gradOut).required("input", input);
  for (const auto &[name, tensor] : numbers) check.required(name, tensor);
  check.optional("weightOptional", weightOptional).required("counter", counter);
  check.required("gradInput", gradInput);
  check.dtype("gradOut", gradOut).dtype("input", input).dtype("weightOptional", weightOptional);
  for (const auto &[name, tensor] : numbers) check.dtype(name, tensor);
  check.dtype("counter", counter).dtype("gradInput", gradInput);
  check_channels(check, "input", input);
  check.plain_format("gradOut", gradOut).plain_format("gradInput", gradInput);
  check.rank("counter", counter, 0, 8);
  check_some_channels(check, "input", input);
  if (!check.ok()) return check.status();
  check.shape("gradOut", gradOut, layout_of(*input));
  check.shape("gradInput", gradInput, layout_of(*input));
  const int64_t channels = input->shape[1];
  for (const auto &[name, tensor] : numbers) check_per_channel(check, name, tensor, channels);
  check_per_channel(check, "weightOptional", weightOptional, channels);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t grad = plan.input(gradOut), elements = plan.input(input);
  const size_t center = plan.input(mean), inverse = plan.input(invstd);
  const size_t weight = plan.input(weightOptional), sums = plan.input(sumDy);
  const size_t along = plan.input(sumDyXmu), counts = plan.input(counter);
  const size_t to = plan.output(gradInput);
  const int64_t ranks = counter->numel();
  return plan.finish(
      [=](PlanContext &c) {
        const auto scales = channel_numbers(c, weight, channels, 1);
        const auto means = channel_numbers(c, center, channels, 0);
        const auto inverses = channel_numbers(c, inverse, channels, 1);
        const auto grads = channel_numbers(c, sums, channels, 0);
        const auto products = channel_numbers(c, along, channels, 0);
        const auto each = read_all<double>(c, counts, ranks, 0.0);
        const double count = sum_of(each.data(), ranks);
        const View result = view_of(c.tensor(to));
        Operands operands;
        const View slopes = operands.safe(view_of(c.tensor(grad)), {result});
        const View values = operands.safe(view_of(c.tensor(elements)), {result});
        for_each_channel(
            slopes, values, channels, [&](int64_t channel, float *g, float *x, int64_t n) {
              const auto at = static_cast<size_t>(channel);
              const auto middle = static_cast<float>(means[at]);
              const auto level = static_cast<float>(grads[at] / count);
              const auto slope =
                  static_cast<float>(inverses[at] * inverses[at] * (products[at] / count));
              const auto factor = static_cast<float>(inverses[at] * scales[at]);
              for (int64_t i = 0; i < n; ++i)
                g[i] = (g[i] - level - (x[i] - middle) * slope) * factor;
              RowTarget<float>(channel_of(result, channel)).write(0, n, g);
            });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
