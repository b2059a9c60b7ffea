// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The cross entropy of two classes, of probabilities or of logits, with weights of elements and of
// the positive class; its sum or mean, and its gradients.
#include "aclnnop/activation.h"
#include "aclnnop/loss.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/loss/entropy_blocks.h"
#include "ops/loss/reduction.h"

namespace emu {
namespace {

// Logarithms stop at -100, and the slope's denominator at 1e-12, so that the losses of certain
// predictions stay finite.
template <class T>
T bounded_log(T x) {
  const T value = std::log(x);
  return value < T(-100) ? T(-100) : value;
}
template <class T>
T entropy(T x, T y) {
  return -(y * bounded_log(x) + (T(1) - y) * bounded_log(T(1) - x));
}
// The slope divided by a.
template <class T>
T entropy_slope(T x, T y, T a) {
  const T spread = (T(1) - x) * x;
  return (x - y) / ((spread < T(1e-12) ? T(1e-12) : spread) * a);
}

// log(1 + exp(x)) without an overflow.
template <class T>
T log_one_plus_exp(T x) {
  return (x > T{} || is_nan(x) ? x : T{}) + std::log1p(std::exp(-std::abs(x)));
}
// p is the weight of the positive class.
template <class T>
T logits_entropy(T x, T y, T p) {
  // x - x: the kernel subtracts the logarithm of the sigmoid from x, which is NaN at -inf.
  return p * y * log_one_plus_exp(-x) + (T(1) - y) * log_one_plus_exp(x) + (x < T{} ? x - x : T{});
}
template <class T>
T logits_slope(T x, T y, T p) {
  return (p * y + T(1) - y) * sigmoid(x) - p * y;
}
template <class T>
T target_slope(T x, T p) {
  return p * log_one_plus_exp(-x) - log_one_plus_exp(x);
}

struct Operand {
  const char *name;
  const aclTensor *tensor;  // null where an optional one is absent
};

void known(Check &check, std::initializer_list<Operand> required,
           std::initializer_list<Operand> optional, int64_t reduction) {
  for (const Operand &one : required) check.required(one.name, one.tensor);
  for (const Operand &one : optional) check.optional(one.name, one.tensor);
  if (!check.ok()) return;
  for (const Operand &one : required) check.dtype(one.name, one.tensor);
  for (const Operand &one : optional) check.dtype(one.name, one.tensor);
  reduction_known(check, reduction);
}

// Each operand that is given must broadcast to the shape of `model`.
void broadcast_to_all(Check &check, const char *model_name, const aclTensor *model,
                      std::initializer_list<Operand> operands) {
  const Layout target = layout_of(*model);
  for (const Operand &one : operands) {
    if (!check.ok() || one.tensor == nullptr) continue;
    Layout meet;
    const bool meets = broadcast_shapes(target, layout_of(*one.tensor), &meet);
    check.that(meets && same_shape(meet, target),
               "%s has shape %s, which does not broadcast to %s of %s", one.name,
               shape_text(layout_of(*one.tensor)).c_str(), shape_text(target).c_str(), model_name);
  }
}

Argument given_or_skipped(const aclTensor *optional) {
  return optional == nullptr ? skipped() : Argument(optional);
}

// The gradients of the loss of logits, for the argument or for the target: one plan, four formulas
// each.
Status plan_logits_gradient(const ElementwiseRow (&rows)[2][2], const aclTensor *gradOutput,
                            const aclTensor *self, const aclTensor *target,
                            const aclTensor *weightOptional, const aclTensor *posWeightOptional,
                            int64_t reduction, const char *out_name, aclTensor *out,
                            uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(rows[0][0].op);
  known(check, {{"gradOutput", gradOutput}, {"self", self}, {"target", target}, {out_name, out}},
        {{"weightOptional", weightOptional}, {"posWeightOptional", posWeightOptional}}, reduction);
  if (!check.ok()) return check.status();
  check.same_dtype(out_name, out->dtype, "target", target->dtype);
  check.shape("target", target, layout_of(*self)).shape(out_name, out, layout_of(*self));
  broadcast_to_all(check, "self", self,
                   {{"gradOutput", gradOutput},
                    {"weightOptional", weightOptional},
                    {"posWeightOptional", posWeightOptional}});
  if (!check.ok()) return check.status();
  return elementwise(rows[weightOptional != nullptr][posWeightOptional != nullptr],
                     {gradOutput, self, target, given_or_skipped(weightOptional),
                      given_or_skipped(posWeightOptional), divisor(reduction, out)},
                     out, workspace_size, executor);
}

constexpr Fold kOne = {Fold::kAll, false, true, true};
constexpr unsigned kNarrow = types::bit(Compute::F32);

}  // namespace

EMU_FORMULA_XY(BinaryCrossEntropy, entropy(x, y))
EMU_FORMULA_XYZ(WeightedBinaryCrossEntropy, z *entropy(x, y))
EMU_OPERATOR(BinaryCrossEntropy,
             (const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional,
              int64_t reduction, aclTensor *out)) {
  static constexpr const char *name = "aclnnBinaryCrossEntropy";
  static constexpr unsigned rule = kOneDtype | kExact;
  static constexpr BlockTable blocks[] = {
      with_floats(block_table<BinaryCrossEntropyFormula, types::kFloat, 2, 0>,
                  entropy_block<false>),
      with_floats(block_table<WeightedBinaryCrossEntropyFormula, types::kFloat, 3, 0>,
                  entropy_block<true>)};
  static constexpr ElementwiseRow plain = {name, &blocks[0], rule},
                                  weighted = {name, &blocks[1], rule};
  Check check(name);
  known(check, {{"self", self}, {"target", target}, {"out", out}},
        {{"weightOptional", weightOptional}}, reduction);
  if (!check.ok()) return check.status();
  check.same_dtype("target", target->dtype, "self", self->dtype);
  if (weightOptional != nullptr) {
    check.same_dtype("weightOptional", weightOptional->dtype, "self", self->dtype);
  }
  check.same_dtype("out", out->dtype, "self", self->dtype);
  check.shape("target", target, layout_of(*self));
  broadcast_to_all(check, "self", self, {{"weightOptional", weightOptional}});
  if (!check.ok()) return check.status();
  return plan_loss(weightOptional == nullptr ? plain : weighted,
                   {self, target, given_or_skipped(weightOptional), skipped()}, reduction, kOne,
                   out, workspaceSize, executor);
}
EMU_CATCH

// In gradients x is the incoming gradient, y the argument, z the target, a what the mean divides
// by.
EMU_FORMULA_XYZA(BinaryCrossEntropyBackward, x *entropy_slope(y, z, a))
EMU_FORMULA(WeightedBinaryCrossEntropyBackward, (T x, T y, T z, T w, T a),
            x * w * entropy_slope(y, z, a))
EMU_OPERATOR(BinaryCrossEntropyBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
              const aclTensor *weightOptional, int64_t reduction, aclTensor *out)) {
  static constexpr const char *name = "aclnnBinaryCrossEntropyBackward";
  static constexpr ElementwiseRow plain = {
      name, &block_table<BinaryCrossEntropyBackwardFormula, kNarrow, 3, 1>, kKeep};
  static constexpr ElementwiseRow weighted = {
      name, &block_table<WeightedBinaryCrossEntropyBackwardFormula, kNarrow, 4, 1>, kKeep};
  Check check(name);
  known(check, {{"gradOutput", gradOutput}, {"self", self}, {"target", target}, {"out", out}},
        {{"weightOptional", weightOptional}}, reduction);
  if (!check.ok()) return check.status();
  check.shape("out", out, layout_of(*self));
  broadcast_to_all(
      check, "self", self,
      {{"target", target}, {"weightOptional", weightOptional}, {"gradOutput", gradOutput}});
  if (!check.ok()) return check.status();
  return elementwise(
      weightOptional == nullptr ? plain : weighted,
      {gradOutput, self, target, given_or_skipped(weightOptional), divisor(reduction, out)}, out,
      workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XY(BinaryCrossEntropyWithLogits, logits_entropy(x, y, T(1)))
EMU_FORMULA_XYZ(WeightedLogits, z *logits_entropy(x, y, T(1)))
EMU_FORMULA_XYZ(PositiveLogits, logits_entropy(x, y, z))
EMU_FORMULA(WeightedPositiveLogits, (T x, T y, T w, T p), w *logits_entropy(x, y, p))
EMU_OPERATOR(BinaryCrossEntropyWithLogits,
             (const aclTensor *self, const aclTensor *target, const aclTensor *weightOptional,
              const aclTensor *posWeightOptional, int64_t reduction, aclTensor *out)) {
  static constexpr const char *name = "aclnnBinaryCrossEntropyWithLogits";
  static constexpr BlockTable blocks[2][2] = {
      {with_floats(block_table<BinaryCrossEntropyWithLogitsFormula, types::kFloat, 2, 0>,
                   logits_entropy_block<false, false>),
       with_floats(block_table<PositiveLogitsFormula, types::kFloat, 3, 0>,
                   logits_entropy_block<false, true>)},
      {with_floats(block_table<WeightedLogitsFormula, types::kFloat, 3, 0>,
                   logits_entropy_block<true, false>),
       with_floats(block_table<WeightedPositiveLogitsFormula, types::kFloat, 4, 0>,
                   logits_entropy_block<true, true>)}};
  static constexpr ElementwiseRow rows[2][2] = {
      {{name, &blocks[0][0], kKeep}, {name, &blocks[0][1], kKeep}},
      {{name, &blocks[1][0], kKeep}, {name, &blocks[1][1], kKeep}}};
  Check check(name);
  known(check, {{"self", self}, {"target", target}, {"out", out}},
        {{"weightOptional", weightOptional}, {"posWeightOptional", posWeightOptional}}, reduction);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "target", target->dtype);
  check.shape("target", target, layout_of(*self));
  broadcast_to_all(check, "target", target,
                   {{"weightOptional", weightOptional}, {"posWeightOptional", posWeightOptional}});
  if (!check.ok()) return check.status();
  return plan_loss(rows[weightOptional != nullptr][posWeightOptional != nullptr],
                   {self, target, given_or_skipped(weightOptional),
                    given_or_skipped(posWeightOptional), skipped()},
                   reduction, kOne, out, workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XYZA(LogitsBackward, x *logits_slope(y, z, T(1)) / a)
EMU_FORMULA(WeightedLogitsBackward, (T x, T y, T z, T w, T a), x * w * logits_slope(y, z, T(1)) / a)
EMU_FORMULA(PositiveLogitsBackward, (T x, T y, T z, T p, T a), x *logits_slope(y, z, p) / a)
EMU_FORMULA(WeightedPositiveLogitsBackward, (T x, T y, T z, T w, T p, T a),
            x * w * logits_slope(y, z, p) / a)
EMU_OPERATOR(BinaryCrossEntropyWithLogitsBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
              const aclTensor *weightOptional, const aclTensor *posWeightOptional,
              int64_t reduction, aclTensor *out)) {
  static constexpr const char *name = "aclnnBinaryCrossEntropyWithLogitsBackward";
  static constexpr BlockTable blocks[2][2] = {
      {with_floats(block_table<LogitsBackwardFormula, kNarrow, 3, 1>,
                   logits_slope_block<false, false>),
       with_floats(block_table<PositiveLogitsBackwardFormula, kNarrow, 4, 1>,
                   logits_slope_block<false, true>)},
      {with_floats(block_table<WeightedLogitsBackwardFormula, kNarrow, 4, 1>,
                   logits_slope_block<true, false>),
       with_floats(block_table<WeightedPositiveLogitsBackwardFormula, kNarrow, 5, 1>,
                   logits_slope_block<true, true>)}};
  static constexpr ElementwiseRow rows[2][2] = {
      {{name, &blocks[0][0], kKeep}, {name, &blocks[0][1], kKeep}},
      {{name, &blocks[1][0], kKeep}, {name, &blocks[1][1], kKeep}}};
  return plan_logits_gradient(rows, gradOutput, self, target, weightOptional, posWeightOptional,
                              reduction, "out", out, workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA(TargetBackward, (T x, T y, T, T a), x *target_slope(y, T(1)) / a)
EMU_FORMULA(WeightedTargetBackward, (T x, T y, T, T w, T a), x * w * target_slope(y, T(1)) / a)
EMU_FORMULA(PositiveTargetBackward, (T x, T y, T, T p, T a), x *target_slope(y, p) / a)
EMU_FORMULA(WeightedPositiveTargetBackward, (T x, T y, T, T w, T p, T a),
            x * w * target_slope(y, p) / a)
EMU_OPERATOR(BinaryCrossEntropyWithLogitsTargetBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
              const aclTensor *weightOptional, const aclTensor *posWeightOptional,
              int64_t reduction, aclTensor *gradTarget)) {
  static constexpr const char *name = "aclnnBinaryCrossEntropyWithLogitsTargetBackward";
  static constexpr ElementwiseRow rows[2][2] = {
      {{name, &block_table<TargetBackwardFormula, kNarrow, 3, 1>, kKeep},
       {name, &block_table<PositiveTargetBackwardFormula, kNarrow, 4, 1>, kKeep}},
      {{name, &block_table<WeightedTargetBackwardFormula, kNarrow, 4, 1>, kKeep},
       {name, &block_table<WeightedPositiveTargetBackwardFormula, kNarrow, 5, 1>, kKeep}}};
  return plan_logits_gradient(rows, gradOutput, self, target, weightOptional, posWeightOptional,
                              reduction, "gradTarget", gradTarget, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
