// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Gradients of activation functions: x is the incoming gradient, y the function's argument or
// result.
#include <cstring>

#include "aclnnop/activation.h"
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"
#include "ops/elementwise/slope_blocks.h"

namespace emu {
namespace {

template <class T>
T silu_slope(T y) {
  const T s = sigmoid(y);
  return s * (T(1) + y * (T(1) - s));
}
template <class T>
T gelu_slope(T y) {
  return T(0.5) * std::erfc(-y * T(0.70710678118654752440)) +
         y * std::exp(T(-0.5) * y * y) * T(0.39894228040143267794);
}
template <class T>
T gelu_tanh_slope(T y) {
  const T inner = T(0.79788456080286535588), cubic = T(0.044715);
  // (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where tanh nears -1.
  const T s = sigmoid(T(2) * inner * y * (T(1) + cubic * y * y));
  return s + T(2) * y * s * (T(1) - s) * inner * (T(1) + T(3) * cubic * y * y);
}
template <class T>
T fast_gelu_slope(T y) {
  const T s = sigmoid(T(1.702) * y);
  return s * (T(1) + T(1.702) * y * (T(1) - s));
}
template <class T>
T mish_slope(T y) {
  const T t = std::tanh(softplus(y, T(1), T(20)));
  return t + y * sigmoid(y) * (T(1) - t * t);
}
// Both ends belong to the middle part, or neither does. NaN has the slope 1.
template <class T>
T hard_swish_slope(T y) {
  if (y < T(-3)) return T(0);
  return y <= T(3) ? y / T(3) + T(0.5) : T(1);
}
template <class T>
T open_hard_swish_slope(T y) {
  if (y <= T(-3)) return T(0);
  return y < T(3) ? y / T(3) + T(0.5) : T(1);
}
// y is the argument, or the result where `of_result` is not 0. NaN has the slope of what is above
// 0, here and in the other gradients that compare with <=.
template <class T>
T elu_slope(T y, T alpha, T scale, T input_scale, T of_result) {
  if (!(y <= T{})) return scale;
  return of_result != T{} ? input_scale * (y + alpha * scale)
                          : input_scale * alpha * scale * std::exp(y * input_scale);
}
template <class T>
T swish_slope(T y, T beta) {
  const T s = sigmoid(beta * y);
  return s * (T(1) + beta * y * (T(1) - s));
}

// One dtype and one shape for all.
constexpr unsigned kStrict = kExact | kOneDtype | kOneShape;

}  // namespace

EMU_BINARY(SigmoidBackward, kKeep, types::kFloat | types::kComplex, x *(T(1) - y) * y)
EMU_BINARY(TanhBackward, kExact | kOneDtype, types::kFloat, x *(T(1) - y * y))
EMU_FORMULA_XY(SiluBackward, x *silu_slope(y))
EMU_FLOAT_BLOCK(SiluBackward, types::kFloat, 2, 0, silu_gradient_block)
EMU_BINARY_OF(SiluBackward, SiluBackward, kExact, types::kFloat)
// Of the tanh form, as aclnnGelu is.
EMU_FORMULA_XY(GeluBackward, x *gelu_tanh_slope(y))
EMU_FLOAT_BLOCK(GeluBackward, types::kFloat, 2, 0, gelu_tanh_gradient_block)
EMU_BINARY_OF(GeluBackward, GeluBackward, kKeep, types::kFloat)
EMU_FORMULA_XY(FastGeluBackward, x *fast_gelu_slope(y))
EMU_FLOAT_BLOCK(FastGeluBackward, types::kFloat, 2, 0, fast_gelu_gradient_block)
EMU_BINARY_OF(FastGeluBackward, FastGeluBackward, kStrict, types::kFloat)
EMU_FORMULA_XY(MishBackward, x *mish_slope(y))
EMU_FLOAT_BLOCK(MishBackward, types::kFloat, 2, 0, mish_gradient_block)
EMU_BINARY_OF(MishBackward, MishBackward, kKeep, types::kFloat)
EMU_BINARY(HardswishBackward, kStrict, types::kFloat, x *hard_swish_slope(y))
EMU_BINARY(HardswishBackwardV2, kStrict, types::kFloat, x *open_hard_swish_slope(y))
EMU_BINARY(HardsigmoidBackward, kOneShape, types::kFloat, std::abs(y) < T(3) ? x / T(6) : T(0))
EMU_BINARY(SeluBackward, kStrict | kToFloat | kCastBack, types::kFloat,
           y <= T{} ? x * (y + T(1.7580993408473768600)) : x * T(1.0507009873554804934))

EMU_FORMULA_XYA(ThresholdBackward, y <= a ? T{} : x)
EMU_OPERATOR(ThresholdBackward, (const aclTensor *gradOutput, const aclTensor *self,
                                 const aclScalar *threshold, aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnThresholdBackward",
                                         &block_table<ThresholdBackwardFormula, types::kReal, 2, 1>,
                                         kExact | kOneDtype | kCastScalars};
  Check check(row.op);
  check.required("gradOutput", gradOutput).required("self", self);
  check.required("threshold", threshold).required("out", out);
  if (!check.ok()) return check.status();
  // Integers are compared with the fraction of the threshold: those above it are above its floor.
  const bool whole = is_integer(self->dtype) && !is_complex(threshold->dtype);
  return elementwise(
      row,
      {gradOutput, self, whole ? number(std::floor(threshold->to_double())) : attribute(threshold)},
      out, workspaceSize, executor);
}
EMU_CATCH
EMU_BINARY_ALPHA(HardshrinkBackward, kKeep, types::kFloat, std::abs(y) <= a ? T{} : x)
EMU_BINARY_ALPHA_OF(SoftshrinkBackward, HardshrinkBackward, kKeep, types::kFloat)

EMU_FORMULA(HardtanhBackward, (T x, T y, T a, T b), y <= a || y >= b ? T{} : x)
EMU_ROW(HardtanhBackward, HardtanhBackward, kOneDtype | kOneShape, types::kFloat, 2, 2,
        (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *min,
         const aclScalar *max, aclTensor *out),
        elementwise, {gradOutput, self, attribute(min), attribute(max)}, out)

EMU_FORMULA(SoftplusBackward, (T x, T y, T a, T b), y *a > b ? x : x * sigmoid(y * a))
EMU_FLOAT_BLOCK(SoftplusBackward, types::kFloat, 2, 2, softplus_gradient_block)
EMU_ROW(SoftplusBackward, SoftplusBackward, kToFloat | kOneShape, types::kFloat, 2, 2,
        (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *beta,
         const aclScalar *threshold, aclTensor *gradInput),
        elementwise, {gradOutput, self, attribute(beta), attribute(threshold)}, gradInput)

EMU_FORMULA_XYA(LeakyReluBackward, y > T{} ? x : x * a)
EMU_ROW(LeakyReluBackward, LeakyReluBackward, kKeep, types::kFloat, 2, 1,
        (const aclTensor *gradOutput, const aclTensor *self, const aclScalar *negativeSlope,
         bool /* of the argument or the result: one sign, one slope */, aclTensor *out),
        elementwise, {gradOutput, self, attribute(negativeSlope), skipped()}, out)

EMU_FORMULA_XYA(SwishBackward, x *swish_slope(y, a))
EMU_FLOAT_BLOCK(SwishBackward, types::kFloat, 2, 1, swish_gradient_block)
EMU_OPERATOR(SwishBackward, (const aclTensor *gradOutput, const aclTensor *self,
                             const aclScalar *betaOptional, aclTensor *gradInput)) {
  static constexpr ElementwiseRow row = {
      "aclnnSwishBackward", &block_table<SwishBackwardFormula, types::kFloat, 2, 1>, kStrict};
  return elementwise(row, {gradOutput, self, attribute_or(betaOptional, 1.0)}, gradInput,
                     workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA(GeluBackwardV2, (T x, T y, T a), x *(a != T{} ? gelu_tanh_slope(y) : gelu_slope(y)))
EMU_FLOAT_BLOCK(GeluBackwardV2, types::kFloat, 2, 1, gelu_form_gradient_block)
EMU_OPERATOR(GeluBackwardV2, (const aclTensor *gradOutput, const aclTensor *self,
                              const char *approximate, aclTensor *gradInput)) {
  static constexpr ElementwiseRow row = {
      "aclnnGeluBackwardV2", &block_table<GeluBackwardV2Formula, types::kFloat, 2, 1>, kExact};
  Check check(row.op);
  check.required("gradOutput", gradOutput).required("self", self);
  check.required_text("approximate", approximate).required("gradInput", gradInput);
  if (!check.ok()) return check.status();
  const bool tanh = std::strcmp(approximate, "tanh") == 0;
  check.that(tanh || std::strcmp(approximate, "none") == 0,
             "approximate is \"%.40s\"; allowed: \"none\", \"tanh\"", approximate);
  if (!check.ok()) return check.status();
  return elementwise(row, {gradOutput, self, number(tanh ? 1.0 : 0.0)}, gradInput, workspaceSize,
                     executor);
}
EMU_CATCH

EMU_FORMULA(EluBackward, (T x, T y, T a, T b, T c, T d), x *elu_slope(y, a, b, c, d))
EMU_FLOAT_BLOCK(EluBackward, types::kFloat, 2, 4, elu_gradient_block)
EMU_OPERATOR(EluBackward, (const aclTensor *gradOutput, const aclScalar *alpha,
                           const aclScalar *scale, const aclScalar *inputScale, bool isResult,
                           const aclTensor *selfOrResult, aclTensor *gradInput)) {
  static constexpr ElementwiseRow row = {"aclnnEluBackward",
                                         &block_table<EluBackwardFormula, types::kFloat, 2, 4>,
                                         kOneDtype | kOneShape};
  Check check(row.op);
  check.required("gradOutput", gradOutput).required("alpha", alpha).required("scale", scale);
  check.required("inputScale", inputScale).required("selfOrResult", selfOrResult);
  check.required("gradInput", gradInput);
  if (!check.ok()) return check.status();
  check.that(!isResult || is_complex(alpha->dtype) || !(alpha->to_double() < 0),
             "alpha is %g; with isResult it must not be negative", alpha->to_double());
  if (!check.ok()) return check.status();
  return elementwise(row,
                     {gradOutput, attribute(alpha), attribute(scale), attribute(inputScale),
                      number(isResult ? 1.0 : 0.0), selfOrResult},
                     gradInput, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
