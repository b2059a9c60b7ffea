// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Parts of a cross entropy over a vocabulary that is split over devices: from the largest logit and
// the sum of powers that all devices have agreed on to the loss, to this device's powers, and to
// the gradients of the product that made the logits.
#include <cmath>
#include <memory>

#include "aclnnop/loss.h"
#include "aclnnop/matmul.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/float_kernels.h"
#include "ops/index/addresses.h"
#include "ops/matmul/stack.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// x becomes exp(x - highest) / sum.
void soften_by(float *x, int64_t width, float highest, float sum) {
  for (int64_t i = 0; i < width; ++i) x[i] -= highest;
  float_kernel_fn(FloatKernel::exp)(x, width, nullptr, x);
  for (int64_t i = 0; i < width; ++i) x[i] /= sum;
}

struct MaxSumLoss {
  const aclTensor *highest, *sums, *predicted;
  float smoothing;
  const aclTensor *input, *weight, *logits, *loss, *softmax;
};

Check check_max_sum_loss(const MaxSumLoss &a) {
  Check check("aclnnFusedCrossEntropyLossWithMaxSum");
  check.required("logitsMax", a.highest).required("sumExpLogits", a.sums);
  check.required("predictedLogits", a.predicted).optional("inputOptional", a.input);
  check.optional("weightOptional", a.weight).optional("vocabParallelLogitsOptional", a.logits);
  check.required("lossOut", a.loss);
  if (a.logits != nullptr) check.required("softMaxOutOptional", a.softmax);
  else check.optional("softMaxOutOptional", a.softmax);
  check.dtype("logitsMax", a.highest).dtype("sumExpLogits", a.sums);
  check.dtype("predictedLogits", a.predicted).dtype("inputOptional", a.input);
  check.dtype("weightOptional", a.weight).dtype("vocabParallelLogitsOptional", a.logits);
  check.dtype("lossOut", a.loss).dtype("softMaxOutOptional", a.softmax);
  check.rank("logitsMax", a.highest, 1, 1);
  check.that(a.smoothing == 0, "labelSmoothing is %g; only 0 is supported",
             static_cast<double>(a.smoothing));
  if (!check.ok()) return check;
  const Layout rows = layout_of(*a.highest);
  check.shape("sumExpLogits", a.sums, rows).shape("predictedLogits", a.predicted, rows);
  check.shape("lossOut", a.loss, rows).rank("vocabParallelLogitsOptional", a.logits, 2, 2);
  if (a.logits == nullptr || !check.ok()) return check;
  check.that(a.logits->shape[0] == a.highest->shape[0],
             "vocabParallelLogitsOptional has %lld rows; logitsMax has %lld",
             static_cast<long long>(a.logits->shape[0]),
             static_cast<long long>(a.highest->shape[0]));
  check.shape("softMaxOutOptional", a.softmax, layout_of(*a.logits));
  return check;
}

Status plan_max_sum_loss(const MaxSumLoss &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const Check check = check_max_sum_loss(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t highest = plan.input(a.highest), sums = plan.input(a.sums),
               predicted = plan.input(a.predicted);
  plan.unused(a.input);
  plan.unused(a.weight);
  const size_t logits = plan.input(a.logits), loss = plan.output(a.loss);
  const size_t softmax = a.logits != nullptr ? plan.output(a.softmax) : plan.unused(a.softmax);
  return plan.finish(
      [=](PlanContext &c) {
        const int64_t rows = c.tensor(highest).shape[0];
        const auto most = read_all<float>(c, highest, rows, 0.0f),
                   total = read_all<float>(c, sums, rows, 0.0f),
                   own = read_all<float>(c, predicted, rows, 0.0f);
        std::vector<float> losses(total.size());
        for (size_t i = 0; i < losses.size(); ++i) losses[i] = std::log(total[i]) - own[i];
        if (c.has(logits)) {
          const View to = view_of(c.tensor(softmax));
          Operands operands;
          const RowSource<float> source(
              operands.safe(view_of(c.tensor(logits)), {to, view_of(c.tensor(loss))}));
          const RowTarget<float> target(to);
          const int64_t width = to.layout.shape[1];
          for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
            source.read(row * width, width, x);
            soften_by(x, width, most[static_cast<size_t>(row)], total[static_cast<size_t>(row)]);
            target.write(row * width, width, x);
          });
        }
        RowTarget<float>(view_of(c.tensor(loss))).write(0, rows, losses.data());
        return Status{0};
      },
      workspace_size, executor);
}

struct LocalPowers {
  const aclTensor *logits, *target, *highest;
  int64_t first, last;
  const aclTensor *predicted, *sums, *powers, *offsets, *mask;
};

void check_local_sizes(Check &check, const LocalPowers &a) {
  constexpr int64_t kMostRows = 32 * 1024, kNarrowest = 16, kWidest = 200 * 1024;
  const int64_t width = a.logits->shape.back(), rows = a.target->numel();
  const int64_t step = a.logits->dtype == ACL_FLOAT ? 8 : 16;
  check.that(rows >= 1 && rows <= kMostRows, "target has %lld elements; allowed: 1 to %lld",
             static_cast<long long>(rows), static_cast<long long>(kMostRows));
  check.that(width >= kNarrowest && width <= kWidest && width % step == 0,
             "vocabParallelLogits has %lld words; allowed: multiples of %lld from %lld to %lld",
             static_cast<long long>(width), static_cast<long long>(step),
             static_cast<long long>(kNarrowest), static_cast<long long>(kWidest));
  check.that(a.first >= 0, "vocabStartIndex is %lld; it must not be negative",
             static_cast<long long>(a.first));
  check.that(a.last > a.first && (a.first < 0 || a.last - a.first == width),
             "vocabStartIndex is %lld and vocabEndIndex %lld; vocabParallelLogits has %lld words",
             static_cast<long long>(a.first), static_cast<long long>(a.last),
             static_cast<long long>(width));
}

Check check_local_powers(const LocalPowers &a) {
  Check check("aclnnCrossEntropySumExpAndIndexLogit");
  const std::pair<const char *, const aclTensor *> all[] = {
      {"vocabParallelLogits", a.logits}, {"target", a.target},
      {"globalLogitsMax", a.highest},    {"predictedLogitsOut", a.predicted},
      {"sumExpLogitsOut", a.sums},       {"expLogitsOut", a.powers},
      {"targetOffsetOut", a.offsets},    {"targetMaskOut", a.mask}};
  for (const auto &[name, tensor] : all) check.required(name, tensor);
  for (const auto &[name, tensor] : all) check.dtype(name, tensor);
  check.rank("vocabParallelLogits", a.logits, 2, 3);
  if (!check.ok()) return check;
  check.same_dtype("globalLogitsMax", a.highest->dtype, "vocabParallelLogits", a.logits->dtype);
  Layout rows = layout_of(*a.logits);
  --rows.rank;
  check.shape("target", a.target, rows).shape("globalLogitsMax", a.highest, rows);
  check.shape("predictedLogitsOut", a.predicted, rows).shape("sumExpLogitsOut", a.sums, rows);
  check.shape("expLogitsOut", a.powers, layout_of(*a.logits));
  check.shape("targetOffsetOut", a.offsets, rows).shape("targetMaskOut", a.mask, rows);
  if (check.ok()) check_local_sizes(check, a);
  return check;
}

Status plan_local_powers(const LocalPowers &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const Check check = check_local_powers(a);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t logits = plan.input(a.logits), target = plan.input(a.target),
               highest = plan.input(a.highest), predicted = plan.output(a.predicted),
               sums = plan.output(a.sums), powers = plan.output(a.powers),
               offsets = plan.output(a.offsets), mask = plan.output(a.mask);
  return plan.finish(
      [=, first = a.first, last = a.last](PlanContext &c) {
        const View from = view_of(c.tensor(logits)), to = view_of(c.tensor(powers));
        const int64_t width = from.layout.shape[from.layout.rank - 1];
        const int64_t rows = from.count() / width;
        const auto most = read_all<float>(c, highest, rows, 0.0f);
        auto places = read_all<int64_t>(c, target, rows, 0);
        std::vector<int64_t> absent(places.size());
        for (size_t i = 0; i < places.size(); ++i) {
          absent[i] = places[i] < first || places[i] >= last ? 1 : 0;
          places[i] = absent[i] != 0 ? 0 : places[i] - first;
        }
        std::vector<float> found(places.size()), totals(places.size());
        Operands operands;
        const RowSource<float> source(operands.safe(from, {to}));
        const RowTarget<float> result(to);
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          const auto at = static_cast<size_t>(row);
          source.read(row * width, width, x);
          if (absent[at] == 0) found[at] = x[places[at]] - most[at];
          totals[at] =
              static_cast<float>(float_kernels().shifted_powers(x, width, most[at], false));
          result.write(row * width, width, x);
        });
        RowTarget<float>(view_of(c.tensor(predicted))).write(0, rows, found.data());
        RowTarget<float>(view_of(c.tensor(sums))).write(0, rows, totals.data());
        RowTarget<int64_t>(view_of(c.tensor(offsets))).write(0, rows, places.data());
        RowTarget<int64_t>(view_of(c.tensor(mask))).write(0, rows, absent.data());
        return Status{0};
      },
      workspace_size, executor);
}

struct LinearGradient {
  const aclTensor *incoming, *input, *weight, *mask, *target;
  float smoothing;
  const aclTensor *highest, *sums, *softmax, *input_out, *weight_out;
};

void check_linear_shapes(Check &check, const LinearGradient &a) {
  constexpr int64_t kFewestWords = 128;
  check.rank("grad", a.incoming, 1, 1).rank("input", a.input, 2, 2).rank("weight", a.weight, 2, 2);
  check.rank("targetMask", a.mask, 1, 1);
  if (!check.ok()) return;
  const int64_t rows = a.incoming->shape[0], words = a.weight->shape[0], depth = a.weight->shape[1];
  const int64_t left[] = {rows, depth}, whole[] = {rows, words};
  check.shape("input", a.input, dense_layout(left, 2));
  check.that(words >= kFewestWords, "weight has %lld rows; at least %lld are needed",
             static_cast<long long>(words), static_cast<long long>(kFewestWords));
  check.that(a.mask->shape[0] >= rows / 8 + (rows % 8 != 0),
             "targetMask has %lld bytes, a bit for each row; grad has %lld rows",
             static_cast<long long>(a.mask->shape[0]), static_cast<long long>(rows));
  check.size("weight", Checked(rows) * words * 4);
  check.shape("maskedTarget", a.target, dense_layout(&rows, 1));
  check.shape("inputGradOut", a.input_out, layout_of(*a.input));
  check.shape("weightGradOut", a.weight_out, layout_of(*a.weight));
  check.shape("softmaxOptional", a.softmax, dense_layout(whole, 2));
  if (a.softmax != nullptr) return;
  check.shape("logitsMaxOptional", a.highest, dense_layout(&rows, 1));
  check.shape("sumExpLogitsOptional", a.sums, dense_layout(&rows, 1));
}

Check check_linear_gradient(const LinearGradient &a) {
  Check check("aclnnFusedLinearCrossEntropyLossGrad");
  check.required("grad", a.incoming).required("input", a.input).required("weight", a.weight);
  check.required("targetMask", a.mask).required("maskedTarget", a.target);
  if (a.softmax == nullptr) {
    check.required("logitsMaxOptional", a.highest).required("sumExpLogitsOptional", a.sums);
  }
  check.optional("logitsMaxOptional", a.highest).optional("sumExpLogitsOptional", a.sums);
  check.optional("softmaxOptional", a.softmax).required("inputGradOut", a.input_out);
  check.required("weightGradOut", a.weight_out);
  check.dtype("grad", a.incoming).dtype("input", a.input).dtype("weight", a.weight);
  check.dtype("targetMask", a.mask).dtype("maskedTarget", a.target);
  check.dtype("logitsMaxOptional", a.highest).dtype("sumExpLogitsOptional", a.sums);
  check.dtype("softmaxOptional", a.softmax).dtype("inputGradOut", a.input_out);
  check.dtype("weightGradOut", a.weight_out);
  if (!check.ok()) return check;
  for (const auto &[name, tensor] : {std::pair{"weight", a.weight},
                                     {"inputGradOut", a.input_out},
                                     {"weightGradOut", a.weight_out}}) {
    check.same_dtype(name, tensor->dtype, "input", a.input->dtype);
  }
  check.plain_format("input", a.input).plain_format("weight", a.weight);
  check.that(a.smoothing == 0, "labelSmoothing is %g; only 0 is supported",
             static_cast<double>(a.smoothing));
  check_linear_shapes(check, a);
  return check;
}

// The logits again, rounded as the forward operator rounds them.
View logits_again(const aclTensor &input, const aclTensor &weight,
                  std::unique_ptr<char[]> &memory) {
  const int64_t shape[] = {input.shape[0], weight.shape[0]};
  View half{nullptr, input.dtype, dense_layout(shape, 2)};
  memory.reset(new char[static_cast<size_t>(half.count() * item_size(half.dtype)) + 1]);
  half.data = memory.get();
  StackProduct product;
  product.a = matrix_stack(input);
  product.b = matrix_stack(weight);
  product.b.first = product.b.first.transposed();
  product.out = half;
  multiply(product);
  return half;
}

Status plan_linear_gradient(const LinearGradient &a, uint64_t *workspace_size,
                            aclOpExecutor **executor) {
  const Check check = check_linear_gradient(a);
  if (!check.ok()) return check.status();
  if (chip_is_950()) {
    return fail(kRuntimeError, "%s: the chip is %s; chips of the 950 series lack this operator",
                check.op(), soc_name());
  }
  PlanBuilder plan(check.op());
  const size_t incoming = plan.input(a.incoming), input = plan.input(a.input),
               weight = plan.input(a.weight), mask = plan.input(a.mask),
               target = plan.input(a.target);
  const bool given = a.softmax != nullptr;
  const size_t highest = given ? plan.unused(a.highest) : plan.input(a.highest),
               sums = given ? plan.unused(a.sums) : plan.input(a.sums),
               softmax = plan.input(a.softmax), input_out = plan.output(a.input_out),
               weight_out = plan.output(a.weight_out);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        const aclTensor &left = c.tensor(input), &right = c.tensor(weight);
        const int64_t rows = left.shape[0], words = right.shape[0];
        const auto g = read_all<float>(c, incoming, rows, 0.0f);
        const auto bits = read_all<int32_t>(c, mask, c.tensor(mask).shape[0], 0);
        const auto places = read_all<int64_t>(c, target, rows, 0);
        // Of eight rows the first has the highest bit of the byte; 1 is a target of another device.
        const auto held = [&](size_t row) { return (bits[row / 8] >> row % 8 & 1) == 0; };
        IndexFault fault;
        for (size_t i = 0; i < places.size(); ++i) {
          if (held(i) && (places[i] < 0 || places[i] >= words)) fault.report(places[i], words);
        }
        if (fault.found) return fault.status(op, "maskedTarget");
        const auto most = given ? std::vector<float>() : read_all<float>(c, highest, rows, 0.0f);
        const auto total = given ? std::vector<float>() : read_all<float>(c, sums, rows, 1.0f);
        std::unique_ptr<char[]> memory;
        const View from = given ? view_of(c.tensor(softmax)) : logits_again(left, right, memory);
        std::vector<float> slopes(static_cast<size_t>(rows * words));
        const RowSource<float> source(from);
        for_each_row<float>(rows, words, 0, [&](int64_t row, float *) {
          const auto at = static_cast<size_t>(row);
          float *x = slopes.data() + row * words;
          source.read(row * words, words, x);
          if (!given) soften_by(x, words, most[at], total[at]);
          if (held(at)) x[places[at]] -= 1.0f;
          for (int64_t i = 0; i < words; ++i) x[i] *= g[at];
        });
        const int64_t shape[] = {rows, words};
        const View all{reinterpret_cast<char *>(slopes.data()), ACL_FLOAT, dense_layout(shape, 2)};
        // Both operands are read before either result is written.
        const Snapshot kept_input(view_of(left)), kept_weight(view_of(right));
        StackProduct product;
        product.a = matrix_stack(all);
        product.b = matrix_stack(kept_weight.view());
        product.out = view_of(c.tensor(input_out));
        multiply(product);
        product.a.first = product.a.first.transposed();
        product.b = matrix_stack(kept_input.view());
        product.out = view_of(c.tensor(weight_out));
        multiply(product);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FusedCrossEntropyLossWithMaxSum,
             (const aclTensor *logitsMax, const aclTensor *sumExpLogits,
              const aclTensor *predictedLogits, float labelSmoothing,
              const aclTensor *inputOptional, const aclTensor *weightOptional,
              aclTensor *vocabParallelLogitsOptional, aclTensor *lossOut,
              aclTensor *softMaxOutOptional)) {
  return emu::plan_max_sum_loss(
      {logitsMax, sumExpLogits, predictedLogits, labelSmoothing, inputOptional, weightOptional,
       vocabParallelLogitsOptional, lossOut, softMaxOutOptional},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(CrossEntropySumExpAndIndexLogit,
             (const aclTensor *vocabParallelLogits, const aclTensor *target,
              const aclTensor *globalLogitsMax, int64_t vocabStartIndex, int64_t vocabEndIndex,
              aclTensor *predictedLogitsOut, aclTensor *sumExpLogitsOut, aclTensor *expLogitsOut,
              aclTensor *targetOffsetOut, aclTensor *targetMaskOut)) {
  return emu::plan_local_powers(
      {vocabParallelLogits, target, globalLogitsMax, vocabStartIndex, vocabEndIndex,
       predictedLogitsOut, sumExpLogitsOut, expLogitsOut, targetOffsetOut, targetMaskOut},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FusedLinearCrossEntropyLossGrad,
             (const aclTensor *grad, const aclTensor *input, const aclTensor *weight,
              const aclTensor *targetMask, const aclTensor *maskedTarget, float labelSmoothing,
              const aclTensor *logitsMaxOptional, const aclTensor *sumExpLogitsOptional,
              const aclTensor *softmaxOptional, aclTensor *inputGradOut,
              aclTensor *weightGradOut)) {
  return emu::plan_linear_gradient(
      {grad, input, weight, targetMask, maskedTarget, labelSmoothing, logitsMaxOptional,
       sumExpLogitsOptional, softmaxOptional, inputGradOut, weightGradOut},
      workspaceSize, executor);
}
EMU_CATCH
