// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The divergence of Kullback and Leibler of a target, given as probabilities or as their
// logarithms, from logarithms of probabilities; its sum, mean or mean over the batch, and its
// gradients. A target below 0 has no logarithm: its loss is NaN. The loss of a target of 0 is NaN
// on a 910B and 0 on a 950.
#include "aclnnop/loss.h"
#include "aclnnop/math.h"
#include "core/chip.h"
#include "core/isa.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/float_kernels.h"
#include "ops/loss/reduction.h"

namespace emu {

EMU_DECLARE_ISA(void weighted_difference(const float *weights, const float *x, const float *y,
                                         int64_t count, float divisor, float *to);)

namespace {

constexpr int64_t kBatchMean = 3;

Check &kl_reduction_known(Check &check, int64_t reduction) {
  return check.that(
      reduction >= kNone && reduction <= kBatchMean,
      "reduction is %lld; allowed: 0 (none), 1 (mean), 2 (sum), 3 (mean over the batch)",
      static_cast<long long>(reduction));
}

int64_t batch_of(const Layout &whole) { return whole.rank == 0 ? 1 : whole.shape[0]; }

// A gradient of the loss for one of its operands, which has the shape both meet in.
Status plan_kl_gradient(const ElementwiseRow &row, const aclTensor *gradOutput,
                        const aclTensor *self, const aclTensor *target, int64_t reduction,
                        const char *lead_name, const aclTensor *lead, const char *out_name,
                        aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(row.op);
  check.required("gradOutput", gradOutput).required("self", self).required("target", target);
  check.required(out_name, out);
  check.dtype("gradOutput", gradOutput).dtype("self", self).dtype("target", target);
  check.dtype(out_name, out);
  if (!check.ok()) return check.status();
  check.same_dtype(out_name, out->dtype, lead_name, lead->dtype);
  kl_reduction_known(check, reduction).shape(out_name, out, layout_of(*lead));
  const Layout whole = layout_of(*lead);
  for (const auto &[name, tensor] :
       {std::pair{"self", self}, {"target", target}, {"gradOutput", gradOutput}}) {
    Layout meet;
    const bool meets = broadcast_shapes(whole, layout_of(*tensor), &meet);
    check.that(meets && same_shape(meet, whole),
               "%s has shape %s, which does not broadcast to %s of %s", name,
               shape_text(layout_of(*tensor)).c_str(), shape_text(whole).c_str(), lead_name);
  }
  if (!check.ok()) return check.status();
  const int64_t parts = reduction == kMean        ? lead->numel()
                        : reduction == kBatchMean ? batch_of(whole)
                                                  : 1;
  return elementwise(
      row, {gradOutput, self, target, number(1.0 / static_cast<double>(parts)), skipped()}, out,
      workspace_size, executor);
}

constexpr unsigned kSingle = types::bit(Compute::F32);

// A formula in float32 over the tensors x, y, z, the number a and f, the logarithm or the power of
// the target, which is tensor kTarget.
template <FloatKernel kFunction, int kTarget, class Of>
void over_target(void *out, const void *const *in, int64_t count, const void *scalars) {
  float f[kBlock];
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]),
             *z = static_cast<const float *>(in[kTarget]);
  float_kernel_fn(kFunction)(z, count, nullptr, f);
  const float a = *static_cast<const float *>(scalars);
  auto *to = static_cast<float *>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = Of::of(x[i], y[i], z[i], f[i], a);
}

#define EMU_OVER_TARGET(NAME, TENSORS, TYPES, FUNCTION, ...)                                      \
  namespace {                                                                                     \
  struct NAME##Floats {                                                                           \
    static float of([[maybe_unused]] float x, [[maybe_unused]] float y, [[maybe_unused]] float z, \
                    float f, float a) {                                                           \
      return __VA_ARGS__;                                                                         \
    }                                                                                             \
  };                                                                                              \
  }                                                                                               \
  template <>                                                                                     \
  inline constexpr BlockTable block_table<NAME##Formula, TYPES, TENSORS, 1> =                     \
      with_floats(make_blocks<NAME##Formula, TYPES, TENSORS, 1>(),                                \
                  over_target<FloatKernel::FUNCTION, TENSORS - 1, NAME##Floats>);

}  // namespace

namespace {

// The loss in float32 of a target that is given as probabilities, or as their logarithms.
enum Target { kProbabilities, kWithZeros, kLogarithms };
template <Target kTarget>
void divergences(void *out, const void *const *in, int64_t count, const void *divisor) {
  constexpr bool kOfLogarithms = kTarget == kLogarithms;
  static const auto weigh = EMU_PICK_ISA(weighted_difference);
  float f[kBlock];
  const auto *x = static_cast<const float *>(in[0]), *y = static_cast<const float *>(in[1]);
  float_kernel_fn(kOfLogarithms ? FloatKernel::exp : FloatKernel::log)(y, count, nullptr, f);
  for (int64_t i = 0; kTarget == kWithZeros && i < count; ++i) f[i] = y[i] == 0 ? 0 : f[i];
  weigh(kOfLogarithms ? f : y, kOfLogarithms ? y : f, x, count,
        *static_cast<const float *>(divisor), static_cast<float *>(out));
}

}  // namespace

EMU_FORMULA_XYA(KlDiv, y *(std::log(y) - x) / a)
EMU_FORMULA_XYA(KlDivWithZeros, y *((y == T{} ? T{} : std::log(y)) - x) / a)
EMU_FORMULA_XYA(KlDivOfLogarithms, std::exp(y) * (y - x) / a)
template <>
inline constexpr BlockTable block_table<KlDivFormula, types::kFloat, 2, 1> =
    with_floats(make_blocks<KlDivFormula, types::kFloat, 2, 1>(), divergences<kProbabilities>);
template <>
inline constexpr BlockTable block_table<KlDivWithZerosFormula, types::kFloat, 2, 1> =
    with_floats(make_blocks<KlDivWithZerosFormula, types::kFloat, 2, 1>(), divergences<kWithZeros>);
template <>
inline constexpr BlockTable block_table<KlDivOfLogarithmsFormula, types::kFloat, 2, 1> =
    with_floats(make_blocks<KlDivOfLogarithmsFormula, types::kFloat, 2, 1>(),
                divergences<kLogarithms>);
EMU_OPERATOR(KlDiv, (const aclTensor *self, const aclTensor *target, int64_t reduction,
                     bool logTarget, aclTensor *out)) {
  static constexpr const char *name = "aclnnKlDiv";
  static constexpr ElementwiseRow rows[3] = {
      {name, &block_table<KlDivFormula, types::kFloat, 2, 1>, kKeep},
      {name, &block_table<KlDivWithZerosFormula, types::kFloat, 2, 1>, kKeep},
      {name, &block_table<KlDivOfLogarithmsFormula, types::kFloat, 2, 1>, kKeep}};
  const ElementwiseRow &row = rows[logTarget       ? kLogarithms
                                   : chip_is_950() ? kWithZeros
                                                   : kProbabilities];
  Check check(name);
  check.required("self", self).required("target", target).required("out", out);
  check.dtype("self", self).dtype("target", target).dtype("out", out);
  kl_reduction_known(check, reduction);
  if (!check.ok()) return check.status();
  Layout whole;
  check.that(broadcast_shapes(layout_of(*self), layout_of(*target), &whole),
             "self and target have shapes %s and %s, which do not broadcast",
             shape_text(layout_of(*self)).c_str(), shape_text(layout_of(*target)).c_str());
  if (!check.ok()) return check.status();
  const int64_t batch = batch_of(whole);
  // The mean over a batch of nothing is NaN, like any mean of nothing.
  const bool batches = reduction == kBatchMean && batch > 0;
  const double divided = batches ? static_cast<double>(batch) : 1.0;
  Fold fold{Fold::kAll, false, true, true};
  fold.mean = reduction == kMean || (reduction == kBatchMean && !batches);
  const std::initializer_list<Argument> arguments = {self, target, number(divided), skipped()};
  if (reduction == kNone) return elementwise(row, arguments, out, workspaceSize, executor);
  return elementwise_folded(row, arguments, fold, out, workspaceSize, executor);
}
EMU_CATCH

// In gradients x is the incoming gradient, y the argument, z the target, a the share that a mean
// gives each element. A target of 0 has no derivative: z / z.
EMU_FORMULA_XYZA(KlDivBackward, static_cast<void>(y), -z * x * a)
EMU_FORMULA_XYZA(KlDivBackwardOfLogarithms, static_cast<void>(y), -std::exp(z) * x * a)
EMU_OVER_TARGET(KlDivBackwardOfLogarithms, 3, kSingle, exp, -f * x * a)
EMU_OPERATOR(KlDivBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
              int64_t reduction, bool logTarget, aclTensor *out)) {
  static constexpr const char *name = "aclnnKlDivBackward";
  static constexpr ElementwiseRow rows[2] = {
      {name, &block_table<KlDivBackwardFormula, kSingle, 3, 1>, kKeep},
      {name, &block_table<KlDivBackwardOfLogarithmsFormula, kSingle, 3, 1>, kKeep}};
  return plan_kl_gradient(rows[logTarget], gradOutput, self, target, reduction, "self", self, "out",
                          out, workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XYZA(KlDivTargetBackward, x *(std::log(z) - y + z / z) * a)
EMU_FORMULA_XYZA(KlDivTargetBackwardOfLogarithms, x *std::exp(z) * (z - y + T(1)) * a)
EMU_OVER_TARGET(KlDivTargetBackward, 3, kSingle, log, x *(f - y + z / z) * a)
EMU_OVER_TARGET(KlDivTargetBackwardOfLogarithms, 3, kSingle, exp, x * f * (z - y + 1.0f) * a)
EMU_OPERATOR(KlDivTargetBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
              int64_t reduction, bool logTarget, aclTensor *gradTarget)) {
  static constexpr const char *name = "aclnnKlDivTargetBackward";
  static constexpr ElementwiseRow rows[2] = {
      {name, &block_table<KlDivTargetBackwardFormula, kSingle, 3, 1>, kKeep},
      {name, &block_table<KlDivTargetBackwardOfLogarithmsFormula, kSingle, 3, 1>, kKeep}};
  return plan_kl_gradient(rows[logTarget], gradOutput, self, target, reduction, "target", target,
                          "gradTarget", gradTarget, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
