// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The part of a cross entropy over a vocabulary that one device holds: logits, their largest value
// and the sum of their powers in each row, and the logit of the target where it is held here.
#include "aclnnop/matmul.h"
#include "ops/float_kernels.h"
#include "ops/matmul/stack.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnFusedLinearOnlineMaxSum";
constexpr int64_t kWidest = 65534;

struct MaxSumArguments {
  const aclTensor *input, *weight, *target;
  int64_t first, last;
  const aclTensor *highest, *sum, *predicted, *mask, *places, *logits;
};

Check check_max_sum(const MaxSumArguments &a) {
  Check check(kOp);
  check.required("input", a.input).required("weight", a.weight).required("target", a.target);
  check.required("logitsMaxLocalOut", a.highest).required("sumExpLogitsLocalOut", a.sum);
  check.required("predictedLogitsLocalOut", a.predicted).required("targetMaskOut", a.mask);
  check.required("maskedTargetOut", a.places);
  check.optional("vocabParallelLogitsOutOptional", a.logits);
  check.dtype("input", a.input).dtype("weight", a.weight).dtype("target", a.target);
  check.dtype("logitsMaxLocalOut", a.highest).dtype("sumExpLogitsLocalOut", a.sum);
  check.dtype("predictedLogitsLocalOut", a.predicted).dtype("targetMaskOut", a.mask);
  check.dtype("maskedTargetOut", a.places).dtype("vocabParallelLogitsOutOptional", a.logits);
  if (!check.ok()) return check;
  check.same_dtype("weight", a.weight->dtype, "input", a.input->dtype);
  check.same_dtype("maskedTargetOut", a.places->dtype, "target", a.target->dtype);
  if (a.logits) {
    check.same_dtype("vocabParallelLogitsOutOptional", a.logits->dtype, "input", a.input->dtype);
  }
  check.plain_format("input", a.input).plain_format("weight", a.weight);
  check.rank("input", a.input, 2, 2).rank("weight", a.weight, 2, 2);
  if (!check.ok()) return check;
  const int64_t rows = a.input->shape[0], depth = a.input->shape[1], words = a.weight->shape[0];
  check.that(depth <= kWidest, "input has %lld columns; allowed: at most %lld",
             static_cast<long long>(depth), static_cast<long long>(kWidest));
  check.that(words > 0, "weight has no rows");
  check.size("weight", Checked(rows) * words * 2);
  check.that(a.weight->shape[1] == depth, "weight %s does not have the columns of input %s",
             shape_text(layout_of(*a.weight)).c_str(), shape_text(layout_of(*a.input)).c_str());
  const Layout per_row = dense_layout(&rows, 1);
  check.shape("target", a.target, per_row).shape("logitsMaxLocalOut", a.highest, per_row);
  check.shape("sumExpLogitsLocalOut", a.sum, per_row);
  check.shape("predictedLogitsLocalOut", a.predicted, per_row);
  const int64_t bytes = rows / 8 + (rows % 8 != 0);
  check.shape("targetMaskOut", a.mask, dense_layout(&bytes, 1));
  check.shape("maskedTargetOut", a.places, per_row);
  const int64_t whole[] = {rows, words};
  check.shape("vocabParallelLogitsOutOptional", a.logits, dense_layout(whole, 2));
  check.that(a.first >= 0, "vocabStartIndex is %lld; it must not be negative",
             static_cast<long long>(a.first));
  check.that(a.last >= a.first, "vocabEndIndex is %lld; it must not be below vocabStartIndex %lld",
             static_cast<long long>(a.last), static_cast<long long>(a.first));
  return check;
}

// Where a target is not one of first to last - 1 the place is 0 and its bit is 1; of eight the
// first is the lowest bit of its byte. Bits behind the last row are those of a target of 0.
void place_targets(const std::vector<int64_t> &targets, int64_t first, int64_t last,
                   std::vector<int64_t> *places, std::vector<int32_t> *mask) {
  for (size_t b = 0; b < mask->size() * 8; ++b) {
    const int64_t target = b < targets.size() ? targets[b] : 0;
    const bool absent = target < first || target >= last;
    if (absent) (*mask)[b / 8] |= 1 << b % 8;
    if (b < targets.size()) (*places)[b] = absent ? -1 : targets[b] - first;
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FusedLinearOnlineMaxSum,
             (const aclTensor *input, const aclTensor *weight, const aclTensor *target,
              int64_t vocabStartIndex, int64_t vocabEndIndex, aclTensor *logitsMaxLocalOut,
              aclTensor *sumExpLogitsLocalOut, aclTensor *predictedLogitsLocalOut,
              aclTensor *targetMaskOut, aclTensor *maskedTargetOut,
              aclTensor *vocabParallelLogitsOutOptional)) {
  using namespace emu;
  const Check check =
      check_max_sum({input, weight, target, vocabStartIndex, vocabEndIndex, logitsMaxLocalOut,
                     sumExpLogitsLocalOut, predictedLogitsLocalOut, targetMaskOut, maskedTargetOut,
                     vocabParallelLogitsOutOptional});
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  const size_t x = plan.input(input), w = plan.input(weight), t = plan.input(target);
  const size_t highest = plan.output(logitsMaxLocalOut), sum = plan.output(sumExpLogitsLocalOut),
               predicted = plan.output(predictedLogitsLocalOut), mask = plan.output(targetMaskOut),
               masked = plan.output(maskedTargetOut),
               logits = plan.output(vocabParallelLogitsOutOptional);
  const int64_t first = vocabStartIndex, last = vocabEndIndex;
  return plan.finish(
      [=](PlanContext &c) {
        const aclTensor &left = c.tensor(x), &right = c.tensor(w);
        const int64_t rows = left.shape[0], words = right.shape[0];
        const auto count = static_cast<size_t>(rows);
        std::vector<int64_t> places(count);
        std::vector<int32_t> bits((count + 7) / 8);
        place_targets(read_all<int64_t>(c, t, rows, 0), first, last, &places, &bits);
        for (size_t b = 0; b < count; ++b) {
          if (places[b] >= words) {
            return fail(kKernelFault, "%s: target[%zu] is row %lld of weight, which has %lld rows.",
                        kOp, b, static_cast<long long>(places[b]), static_cast<long long>(words));
          }
        }
        View half = view_of(left);
        const int64_t shape[] = {rows, words};
        half.layout = dense_layout(shape, 2);
        half.data = nullptr;
        std::unique_ptr<char[]> memory(
            new char[static_cast<size_t>(half.count() * item_size(half.dtype)) + 1]);
        half.data = memory.get();
        StackProduct product;
        product.a = matrix_stack(left);
        product.b = matrix_stack(right);
        product.b.first = product.b.first.transposed();
        product.out = half;
        multiply(product);
        std::vector<float> most(count), sums(count), found(count);
        const RowSource<float> values(half);
        const FloatKernels &kernels = float_kernels();
        for_each_row<float>(rows, words, 1, [&](int64_t row, float *v) {
          const auto at = static_cast<size_t>(row);
          values.read(row * words, words, v);
          most[at] = kernels.highest(v, words);
          found[at] = places[at] < 0 ? 0.0f : v[places[at]] - most[at];
          sums[at] = static_cast<float>(kernels.shifted_powers(v, words, most[at], false));
        });
        if (c.has(logits)) copy_view(half, view_of(c.tensor(logits)));
        RowTarget<float>(view_of(c.tensor(highest))).write(0, rows, most.data());
        RowTarget<float>(view_of(c.tensor(sum))).write(0, rows, sums.data());
        RowTarget<float>(view_of(c.tensor(predicted))).write(0, rows, found.data());
        RowTarget<int32_t>(view_of(c.tensor(mask)))
            .write(0, static_cast<int64_t>(bits.size()), bits.data());
        for (int64_t &place : places) place = place < 0 ? 0 : place;
        RowTarget<int64_t>(view_of(c.tensor(masked))).write(0, rows, places.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
