// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Activation functions of one tensor. The result has the tensor's dtype, or can be cast from it.
#include "aclnnop/activation.h"
#include "ops/elementwise/activation_blocks.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {

// Integers are computed in float32 and cut to integers again.
constexpr unsigned kFraction = kToFloat | kCastBack | kExact;

EMU_FLOAT_KERNEL(Sigmoid, sigmoid)
EMU_DOUBLE_BLOCK(Sigmoid, wide_sigmoid_block)
EMU_FLOAT_KERNEL(Silu, silu)
EMU_FLOAT_KERNEL(Swish, scaled_silu)
EMU_FLOAT_KERNEL(FastGelu, fast_gelu)
EMU_FLOAT_KERNEL(Gelu, gelu_tanh)
EMU_FLOAT_KERNEL(GeluV2, gelu_form)

EMU_DIRECT(Relu)
EMU_UNARY_PAIR(Relu, kExact, types::kReal, maximum(x, T{}))
EMU_UNARY_PAIR(Sigmoid, kToFloat | kAnyResult, types::kFloat | types::kComplex, sigmoid(x))
EMU_UNARY(Silu, kExact, types::kFloat, x *sigmoid(x))
EMU_FORMULA_X(Mish, x *std::tanh(softplus(x, T(1), T(20))))
EMU_FLOAT_BLOCK(Mish, types::kFloat, 1, 0, mish_block)
EMU_UNARY_OF(Mish, Mish, kExact, types::kFloat)
EMU_UNARY_INPLACE_OF(InplaceMish, Mish, kExact, types::kFloat)
// At most -3 times 0: -inf has the result 0.
EMU_UNARY_PAIR(Hardswish, kKeep, types::kFloat, maximum(x, T(-3)) * hard_sigmoid(x))
EMU_UNARY_PAIR(Hardsigmoid, kFraction, types::kFloat, hard_sigmoid(x))
EMU_FORMULA_X(Selu, elu(x, T(1.6732632423543772848), T(1.0507009873554804934), T(1)))
EMU_FLOAT_BLOCK(Selu, types::kFloat, 1, 0, selu_block)
EMU_UNARY_OF(Selu, Selu, kFraction, types::kFloat)
EMU_UNARY_INPLACE_OF(InplaceSelu, Selu, kFraction, types::kFloat)
EMU_UNARY(Gelu, kExact | kPlain, types::kFloat, gelu_tanh(x))
EMU_UNARY(FastGelu, kExact, types::kFloat, x *sigmoid(T(1.702) * x))
EMU_FORMULA_X(LogSigmoid, log_sigmoid(x))
EMU_FLOAT_BLOCK(LogSigmoid, types::kFloat, 1, 0, log_sigmoid_block)
EMU_UNARY_OF(LogSigmoid, LogSigmoid, kExact, types::kFloat)
EMU_UNARY(SquaredRelu, kExact, types::kFloat, maximum(x, T{}) * maximum(x, T{}))

EMU_ATTRIBUTE(LeakyRelu, kKeep, types::kFloat, x > T{} ? x : x * a)
EMU_ATTRIBUTE_INPLACE_OF(InplaceLeakyRelu, LeakyRelu, kKeep, types::kFloat)
EMU_FORMULA_XA(Celu, elu(x, a, T(1), T(1) / a))
EMU_FLOAT_BLOCK(Celu, types::kFloat, 1, 1, celu_block)
EMU_ATTRIBUTE_OF(Celu, Celu, kKeep, types::kFloat)
EMU_ATTRIBUTE_INPLACE_OF(InplaceCelu, Celu, kKeep, types::kFloat)
EMU_ATTRIBUTE(Hardshrink, kKeep, types::kFloat, std::abs(x) <= a ? T{} : x)
// NaN lies beyond neither bound.
EMU_FORMULA_XA(Softshrink, x > a ? x - a : x < -a ? x + a : T{})
EMU_OPERATOR(Softshrink, (const aclTensor *self, const aclScalar *lambd, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnSoftshrink", &block_table<SoftshrinkFormula, types::kFloat, 1, 1>, kKeep};
  Check check(row.op);
  check.required("self", self).required("lambd", lambd).required("out", out);
  if (!check.ok()) return check.status();
  check.that(!(lambd->to_double() < 0), "lambd is %g; it must be 0 or more", lambd->to_double());
  if (!check.ok()) return check.status();
  return elementwise(row, {self, attribute(lambd)}, out, workspaceSize, executor);
}
EMU_CATCH
EMU_ATTRIBUTE2(Shrink, kKeep | kPlainFirst, types::kFloat, x > a ? x - b : x < -a ? x + b : T{})
EMU_FORMULA_XAB(Softplus, softplus(x, a, b))
EMU_FLOAT_BLOCK(Softplus, types::kFloat, 1, 2, softplus_block)
EMU_ATTRIBUTE2_OF(Softplus, Softplus, kKeep, types::kFloat)
// NaN is not at most the threshold, so it stays.
EMU_ATTRIBUTE2(Threshold, kCastScalars, types::kReal, x <= a ? b : x)
EMU_ATTRIBUTE2_INPLACE_OF(InplaceThreshold, Threshold, kCastScalars, types::kReal)

EMU_FORMULA_XABC(Elu, bounded_elu(x, a, b, c))
EMU_FLOAT_BLOCK(Elu, types::kFloat, 1, 3, elu_block)
EMU_ATTRIBUTE3_OF(Elu, Elu, kKeep, types::kFloat)
EMU_ATTRIBUTE3_INPLACE_OF(InplaceElu, Elu, kKeep, types::kFloat)

EMU_FORMULA_XA(Swish, x *sigmoid(a *x))
EMU_ROW(Swish, Swish, kExact, types::kFloat, 1, 1,
        (const aclTensor *self, const aclScalar *betaOptional, aclTensor *out), elementwise,
        {self, attribute_or(betaOptional, 1.0)}, out)

EMU_FORMULA_XA(GeluV2, a != T{} ? gelu_tanh(x) : gelu_erf(x))
EMU_OPERATOR(GeluV2, (const aclTensor *x, int64_t approximate, aclTensor *y)) {
  static constexpr ElementwiseRow row = {"aclnnGeluV2",
                                         &block_table<GeluV2Formula, types::kFloat, 1, 1>, kExact};
  Check check(row.op);
  check.required("x", x).required("y", y);
  check.that(approximate == 0 || approximate == 1,
             "approximate is %lld; allowed: 0 (none), 1 (tanh)",
             static_cast<long long>(approximate));
  if (!check.ok()) return check.status();
  return elementwise(row, {x, number(static_cast<double>(approximate))}, y, workspaceSize,
                     executor);
}
EMU_CATCH

}  // namespace emu
