// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The cross entropy of logits and the class of each row, or of logits and the probabilities of all
// classes, with gradients. Rows are computed in float32, their sums in float64.
#include <cmath>
#include <cstring>

#include "aclnnop/activation.h"
#include "aclnnop/loss.h"
#include "ops/float_kernels.h"
#include "ops/index/addresses.h"
#include "ops/loss/reduction.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// "mean", "sum" or "none"; null is "mean".
Reduction read_reduction(Check &check, const char *given) {
  const char *text = given == nullptr ? "mean" : given;
  const bool mean = std::strcmp(text, "mean") == 0, sum = std::strcmp(text, "sum") == 0;
  check.that(mean || sum || std::strcmp(text, "none") == 0,
             "reductionOptional is \"%.40s\"; allowed: \"mean\", \"sum\", \"none\"", text);
  return mean ? kMean : sum ? kSum : kNone;
}

// The class of each row, -1 where it does not count, and its weight.
struct RowClasses {
  std::vector<int64_t> chosen;
  std::vector<float> all, weights;

  RowClasses(PlanContext &c, size_t target, size_t weight, int64_t rows, int64_t classes,
             int64_t ignored, IndexFault &fault)
      : chosen(read_all<int64_t>(c, target, rows, 0)),
        all(read_all<float>(c, weight, classes, 1.0f)),
        weights(chosen.size()) {
    for (size_t i = 0; i < chosen.size(); ++i) {
      int64_t &one = chosen[i];
      if (one == ignored) {
        one = -1;
      } else if (one < 0 || one >= classes) {
        fault.report(one, classes);
        one = -1;
      } else {
        weights[i] = all[static_cast<size_t>(one)];
      }
    }
  }
  double total_weight() const {
    return sum_of(weights.data(), static_cast<int64_t>(weights.size()));
  }
};

// x becomes the logarithms of its softmax.
void log_soften(float *x, int64_t width) {
  const FloatKernels &kernels = float_kernels();
  const double total = kernels.shifted_powers(x, width, kernels.highest(x, width), true);
  const auto log_total = static_cast<float>(std::log(total));
  for (int64_t i = 0; i < width; ++i) x[i] -= log_total;
}

// (N, C), N classes and weights of classes.
void check_rows(Check &check, const char *name, const aclTensor *input, const aclTensor *target,
                const aclTensor *weight) {
  check.rank(name, input, 2, 2);
  if (!check.ok()) return;
  const int64_t rows = input->shape[0], classes = input->shape[1];
  check.that(classes > 0, "%s has no classes", name);
  check.shape("target", target, dense_layout(&rows, 1));
  check.shape("weightOptional", weight, dense_layout(&classes, 1));
}

struct LossArguments {
  const aclTensor *input, *target, *weight;
  const char *reduction;
  int64_t ignored;
  double smoothing;
  const aclTensor *loss, *logs, *zloss, *lse;
};

Check check_loss(const LossArguments &a, Reduction *reduction) {
  Check check("aclnnCrossEntropyLoss");
  check.required("input", a.input).required("target", a.target);
  check.optional("weightOptional", a.weight).required("lossOut", a.loss);
  check.required("logProbOut", a.logs).required("zlossOut", a.zloss);
  check.required("lseForZlossOut", a.lse);
  check.dtype("input", a.input).dtype("target", a.target).dtype("weightOptional", a.weight);
  check.dtype("lossOut", a.loss).dtype("logProbOut", a.logs).dtype("zlossOut", a.zloss);
  check.dtype("lseForZlossOut", a.lse);
  if (!check.ok()) return check;
  for (const auto &[name, tensor] : {std::pair{"lossOut", a.loss},
                                     {"logProbOut", a.logs},
                                     {"zlossOut", a.zloss},
                                     {"lseForZlossOut", a.lse}}) {
    check.same_dtype(name, tensor->dtype, "input", a.input->dtype);
  }
  check.tiling();
  *reduction = read_reduction(check, a.reduction);
  check.that(a.smoothing >= 0 && a.smoothing <= 1, "labelSmoothing is %g; allowed: 0 to 1",
             a.smoothing);
  check_rows(check, "input", a.input, a.target, a.weight);
  if (!check.ok()) return check;
  const int64_t losses = *reduction == kNone ? a.input->shape[0] : 1;
  check.shape("lossOut", a.loss, dense_layout(&losses, 1));
  check.shape("logProbOut", a.logs, layout_of(*a.input));
  return check;
}

// A part of the loss is spread over all classes, by their weights.
float smoothed_loss(const float *logs, const RowClasses &classes, size_t row, float smoothing) {
  const auto width = static_cast<int64_t>(classes.all.size());
  const float own = -classes.weights[row] * logs[classes.chosen[row]];
  if (smoothing == 0.0f) return own;
  double spread = 0;
  for (int64_t i = 0; i < width; ++i) {
    spread -=
        static_cast<double>(classes.all[static_cast<size_t>(i)]) * static_cast<double>(logs[i]);
  }
  return (1.0f - smoothing) * own +
         smoothing * static_cast<float>(spread / static_cast<double>(width));
}

Status plan_cross_entropy(const LossArguments &a, uint64_t *workspace_size,
                          aclOpExecutor **executor) {
  Reduction reduction = kNone;
  const Check check = check_loss(a, &reduction);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t input = plan.input(a.input), target = plan.input(a.target),
               weight = plan.input(a.weight), loss = plan.output(a.loss),
               logs = plan.output(a.logs);
  plan.unused(a.zloss);
  plan.unused(a.lse);
  return plan.finish(
      [=, op = check.op(), ignored = a.ignored,
       smoothing = static_cast<float>(a.smoothing)](PlanContext &c) {
        const View from = view_of(c.tensor(input)), to = view_of(c.tensor(logs)),
                   result = view_of(c.tensor(loss));
        const int64_t rows = from.layout.shape[0], width = from.layout.shape[1];
        IndexFault fault;
        const RowClasses classes(c, target, weight, rows, width, ignored, fault);
        if (fault.found) return fault.status(op, "target");
        Operands operands;
        const RowSource<float> source(operands.safe(from, {to, result}));
        const RowTarget<float> probabilities(to);
        std::vector<float> losses(static_cast<size_t>(rows));
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          source.read(row * width, width, x);
          log_soften(x, width);
          probabilities.write(row * width, width, x);
          const auto at = static_cast<size_t>(row);
          if (classes.chosen[at] >= 0) losses[at] = smoothed_loss(x, classes, at, smoothing);
        });
        if (reduction == kNone) {
          RowTarget<float>(result).write(0, rows, losses.data());
          return Status{0};
        }
        double sum = sum_of(losses.data(), rows);
        if (reduction == kMean) sum /= classes.total_weight();
        store_as(result.dtype, result.data, 0, 1, Compute::F64, &sum);
        return Status{0};
      },
      workspace_size, executor);
}

struct GradientOfLoss {
  const aclTensor *incoming, *logs, *target, *weight, *zgradient, *lse;
  const char *reduction;
  int64_t ignored;
  double smoothing;
  const aclTensor *out;
};

Check check_loss_gradient(const GradientOfLoss &a, Reduction *reduction) {
  Check check("aclnnCrossEntropyLossGrad");
  check.required("gradLoss", a.incoming).required("logProb", a.logs).required("target", a.target);
  check.optional("weightOptional", a.weight).optional("gradZlossOptional", a.zgradient);
  check.optional("lseForZlossOptional", a.lse).required("out", a.out);
  check.dtype("gradLoss", a.incoming).dtype("logProb", a.logs).dtype("target", a.target);
  check.dtype("weightOptional", a.weight).dtype("gradZlossOptional", a.zgradient);
  check.dtype("lseForZlossOptional", a.lse).dtype("out", a.out);
  if (!check.ok()) return check;
  check.same_dtype("gradLoss", a.incoming->dtype, "logProb", a.logs->dtype)
      .same_dtype("out", a.out->dtype, "logProb", a.logs->dtype)
      .tiling();
  *reduction = read_reduction(check, a.reduction);
  check.that(a.smoothing == 0, "labelSmoothing is %g; only 0 is supported", a.smoothing);
  check_rows(check, "logProb", a.logs, a.target, a.weight);
  if (!check.ok()) return check;
  const int64_t rows = a.logs->shape[0];
  if (*reduction == kNone) check.shape("gradLoss", a.incoming, dense_layout(&rows, 1));
  else check.shape_or_one_element("gradLoss", a.incoming, Layout());
  check.shape("out", a.out, layout_of(*a.logs));
  return check;
}

Status plan_cross_entropy_gradient(const GradientOfLoss &a, uint64_t *workspace_size,
                                   aclOpExecutor **executor) {
  Reduction reduction = kNone;
  const Check check = check_loss_gradient(a, &reduction);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t incoming = plan.input(a.incoming), logs = plan.input(a.logs),
               target = plan.input(a.target), weight = plan.input(a.weight);
  plan.unused(a.zgradient);
  plan.unused(a.lse);
  const size_t out = plan.output(a.out);
  return plan.finish(
      [=, op = check.op(), ignored = a.ignored](PlanContext &c) {
        const View to = view_of(c.tensor(out)), from = view_of(c.tensor(logs));
        const int64_t rows = to.layout.shape[0], width = to.layout.shape[1];
        IndexFault fault;
        const RowClasses classes(c, target, weight, rows, width, ignored, fault);
        if (fault.found) return fault.status(op, "target");
        const auto gradients = read_all<float>(c, incoming, c.tensor(incoming).numel(), 0.0f);
        const double divisor = reduction == kMean ? classes.total_weight() : 1.0;
        Operands operands;
        const RowSource<float> source(operands.safe(from, {to}));
        const RowTarget<float> result(to);
        const auto power = float_kernel_fn(FloatKernel::exp);
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          const auto at = static_cast<size_t>(row);
          source.read(row * width, width, x);
          const float g = gradients[reduction == kNone ? at : 0];
          // The weight of a row that does not count is 0, which a divisor of 0 makes NaN.
          const float slope =
              static_cast<float>(static_cast<double>(g * classes.weights[at]) / divisor);
          power(x, width, nullptr, x);
          for (int64_t i = 0; i < width; ++i) x[i] *= slope;
          if (classes.chosen[at] >= 0) x[classes.chosen[at]] -= slope;
          result.write(row * width, width, x);
        });
        return Status{0};
      },
      workspace_size, executor);
}

// loss = -sum(labels * log(softmax)), backprop = softmax - labels.
Status plan_probabilities(const aclTensor *features, const aclTensor *labels, aclTensor *loss,
                          aclTensor *backprop, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check("aclnnSoftmaxCrossEntropyWithLogits");
  check.required("features", features).required("labels", labels).required("loss", loss);
  check.required("backprop", backprop).dtype("features", features).dtype("labels", labels);
  check.dtype("loss", loss).dtype("backprop", backprop);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{"labels", labels},
                                     {"loss", loss},
                                     {"backprop", backprop}}) {
    check.same_dtype(name, tensor->dtype, "features", features->dtype);
  }
  check.rank("features", features, 2, 2);
  if (!check.ok()) return check.status();
  check.shape("labels", labels, layout_of(*features))
      .shape("loss", loss, dense_layout(features->shape.data(), 1))
      .shape("backprop", backprop, layout_of(*features));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t input = plan.input(features), classes = plan.input(labels),
               losses = plan.output(loss), slopes = plan.output(backprop);
  return plan.finish(
      [=](PlanContext &c) {
        const View to = view_of(c.tensor(slopes)), result = view_of(c.tensor(losses));
        Operands operands;
        const RowSource<float> source(operands.safe(view_of(c.tensor(input)), {to, result})),
            shares(operands.safe(view_of(c.tensor(classes)), {to, result}));
        const RowTarget<float> target(to), sums(result);
        const int64_t rows = to.layout.shape[0], width = to.layout.shape[1];
        std::vector<float> found(static_cast<size_t>(rows));
        const auto power = float_kernel_fn(FloatKernel::exp);
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *x) {
          float *y = x + width;
          source.read(row * width, width, x);
          shares.read(row * width, width, y);
          log_soften(x, width);
          double total = 0;
          for (int64_t i = 0; i < width; ++i) {
            total -= static_cast<double>(y[i]) * static_cast<double>(x[i]);
          }
          found[static_cast<size_t>(row)] = static_cast<float>(total);
          power(x, width, nullptr, x);
          for (int64_t i = 0; i < width; ++i) x[i] -= y[i];
          target.write(row * width, width, x);
        });
        sums.write(0, rows, found.data());
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(CrossEntropyLoss,
             (const aclTensor *input, const aclTensor *target, const aclTensor *weightOptional,
              const char *reductionOptional, int64_t ignoreIndex, double labelSmoothing,
              double /* the part of zloss is not supported and has no effect */, bool,
              aclTensor *lossOut, aclTensor *logProbOut, aclTensor *zlossOut,
              aclTensor *lseForZlossOut)) {
  return emu::plan_cross_entropy({input, target, weightOptional, reductionOptional, ignoreIndex,
                                  labelSmoothing, lossOut, logProbOut, zlossOut, lseForZlossOut},
                                 workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(CrossEntropyLossGrad,
             (const aclTensor *gradLoss, const aclTensor *logProb, const aclTensor *target,
              const aclTensor *weightOptional, const aclTensor *gradZlossOptional,
              const aclTensor *lseForZlossOptional, const char *reductionOptional,
              int64_t ignoreIndex, double labelSmoothing,
              double /* the part of zloss is not supported and has no effect */, aclTensor *out)) {
  return emu::plan_cross_entropy_gradient(
      {gradLoss, logProb, target, weightOptional, gradZlossOptional, lseForZlossOptional,
       reductionOptional, ignoreIndex, labelSmoothing, out},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SoftmaxCrossEntropyWithLogits, (const aclTensor *features, const aclTensor *labels,
                                             aclTensor *loss, aclTensor *backprop)) {
  return emu::plan_probabilities(features, labels, loss, backprop, workspaceSize, executor);
}
EMU_CATCH
