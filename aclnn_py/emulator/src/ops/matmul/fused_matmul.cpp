// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// A product and what follows it element by element, on chips of the 950 series.
#include <cstring>

#include "aclnnop/matmul.h"
#include "ops/float_kernels.h"
#include "ops/matmul/product.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnFusedMatmul";

enum class After : uint8_t { none, cast, add, multiply, gelu, gelu_tanh, relu };

struct FusedArguments {
  const aclTensor *x1, *x2, *bias, *x3;
  const char *name;
  int8_t cube_math_type;
  const aclTensor *y;
};

bool find_after(const char *name, After *after) {
  constexpr const char *kNames[] = {"", "16cast32", "add", "mul", "gelu_erf", "gelu_tanh", "relu"};
  for (int i = 0; i < 7; ++i) {
    if (std::strcmp(name, kNames[i]) != 0) continue;
    *after = static_cast<After>(i);
    return true;
  }
  return false;
}

void check_dtypes(Check &check, const FusedArguments &a, After after) {
  check.dtype("x1", a.x1).dtype("x2", a.x2).dtype("biasOptional", a.bias);
  check.dtype("x3Optional", a.x3).dtype("y", a.y);
  const bool halves = after == After::cast || after == After::gelu || after == After::gelu_tanh;
  if (halves) check.dtype_in("x1", a.x1->dtype, dt::kHalf);
  else check.dtype_in("x1", a.x1->dtype, dt::kFloat);
  check.same_dtype("x2", a.x2->dtype, "x1", a.x1->dtype);
  if (a.x3) check.same_dtype("x3Optional", a.x3->dtype, "x1", a.x1->dtype);
  if (after == After::cast) check.dtype_in("y", a.y->dtype, dtype_set(ACL_FLOAT));
  else check.same_dtype("y", a.y->dtype, "x1", a.x1->dtype);
  if (a.bias) {
    check.that(a.bias->dtype == ACL_FLOAT || a.bias->dtype == a.x1->dtype,
               "biasOptional has dtype %s; it must be FLOAT or that of x1, %s",
               dtype_name(a.bias->dtype), dtype_name(a.x1->dtype));
  }
  check_math_type(check, a.cube_math_type, kAddInFp32);
  check.that(a.x1->dtype != ACL_FLOAT || a.cube_math_type == kUseHf32,
             "cubeMathType is %d; with x1 of FLOAT it must be 3", a.cube_math_type);
  check.that(a.cube_math_type != kUseFloat16 || a.x1->dtype != ACL_BF16,
             "cubeMathType is 2; x1 of BFLOAT16 cannot be rounded to FLOAT16");
}

// (.., rows, columns) of the product.
bool product_layout(const aclTensor &x1, const aclTensor &x2, Layout *shape) {
  Layout left, right;
  const size_t m = x1.rank() - 2, n = x2.rank() - 2;
  for (size_t d = 0; d < m; ++d) left.push(x1.shape[d], 0);
  for (size_t d = 0; d < n; ++d) right.push(x2.shape[d], 0);
  if (x1.shape[m + 1] != x2.shape[n] || !broadcast_shapes(left, right, shape)) return false;
  shape->push(x1.shape[m], 0);
  shape->push(x2.shape[n + 1], 0);
  *shape = dense_like(*shape);
  return true;
}

Check check_fused(const FusedArguments &a, After *after) {
  Check check(kOp);
  check.required("x1", a.x1).required("x2", a.x2).optional("biasOptional", a.bias);
  check.optional("x3Optional", a.x3).required_text("fusedOpType", a.name).required("y", a.y);
  if (!check.ok() || check_chip(check, kRuntimeError) != 0) return check;
  check.that(find_after(a.name, after),
             "fusedOpType is \"%.20s\"; allowed: \"\", 16cast32, add, mul, gelu_erf, gelu_tanh, "
             "relu",
             a.name);
  if (!check.ok()) return check;
  const bool pairs = *after == After::add || *after == After::multiply;
  if (pairs) check.required("x3Optional", a.x3);
  if (!check.ok()) return check;
  check_dtypes(check, a, *after);
  const bool plain = *after == After::none || *after == After::relu;
  const int most = plain ? 6 : pairs ? 3 : 2;
  check.rank("x1", a.x1, 2, most).rank("x2", a.x2, 2, most).rank("y", a.y, 2, most);
  if (pairs) check.rank("x3Optional", a.x3, 2, 3);
  if (!check.ok()) return check;
  for (const auto &[name, tensor] :
       {std::pair<const char *, const aclTensor *>{"x1", a.x1}, {"x2", a.x2}, {"y", a.y}})
    check_format(check, name, tensor);
  Layout shape;
  check.that(product_layout(*a.x1, *a.x2, &shape), "x1 %s and x2 %s cannot be multiplied",
             shape_text(layout_of(*a.x1)).c_str(), shape_text(layout_of(*a.x2)).c_str());
  check.shape("y", a.y, shape);
  if (!check.ok()) return check;
  const int64_t columns = shape.shape[shape.rank - 1];
  if (a.bias) {
    const int64_t row[] = {1, columns};
    check.rank("biasOptional", a.bias, 1, 2);
    if (check.ok())
      check.shape("biasOptional", a.bias,
                  a.bias->rank() == 1 ? dense_layout(&columns, 1) : dense_layout(row, 2));
  }
  if (pairs && check.ok()) {
    Layout met;
    check.that(broadcast_shapes(layout_of(*a.x3), shape, &met) && same_shape(met, shape) &&
                   a.x3->shape[a.x3->rank() - 1] == columns &&
                   a.x3->shape[a.x3->rank() - 2] == shape.shape[shape.rank - 2],
               "x3Optional %s does not fit y %s", shape_text(layout_of(*a.x3)).c_str(),
               shape_text(shape).c_str());
  }
  check.size("y", Checked(shape.count()) * 4);
  return check;
}

// Finished float32 values of a row changed by what follows.
void apply(After after, float *values, int64_t count, const float *other) {
  const float form = after == After::gelu_tanh ? 1.0f : 0.0f;
  switch (after) {
    case After::add:
      for (int64_t i = 0; i < count; ++i) values[i] += other[i];
      break;
    case After::multiply:
      for (int64_t i = 0; i < count; ++i) values[i] *= other[i];
      break;
    case After::relu:
      for (int64_t i = 0; i < count; ++i) values[i] = values[i] < 0.0f ? 0.0f : values[i];
      break;
    case After::gelu:
    case After::gelu_tanh:
      float_kernel_fn(FloatKernel::gelu_form)(values, count, &form, values);
      break;
    default: break;
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FusedMatmul, (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
                           const aclTensor *x3Optional, const char *fusedOpType,
                           int8_t cubeMathType, aclTensor *y)) {
  using namespace emu;
  After after = After::none;
  const Check check =
      check_fused({x1, x2, biasOptional, x3Optional, fusedOpType, cubeMathType, y}, &after);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  const bool bare = after == After::gelu || after == After::gelu_tanh;
  if (bare && biasOptional != nullptr)
    return fail(kNullPointer, "%s: biasOptional is given; with fusedOpType \"%s\" it must be null",
                kOp, fusedOpType);
  PlanBuilder plan(kOp);
  const size_t left = plan.input(x1), right = plan.input(x2), bias = plan.input(biasOptional);
  const bool pairs = after == After::add || after == After::multiply;
  const size_t third = pairs ? plan.input(x3Optional) : plan.unused(x3Optional),
               to = plan.output(y);
  const int8_t math = cubeMathType;
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        if (result.count() == 0) return Status{0};
        const int64_t columns = result.layout.shape[result.layout.rank - 1];
        const Operand first(c.tensor(left), math), second(c.tensor(right), math);
        View exact = result;
        exact.dtype = ACL_FLOAT;
        exact.layout = dense_like(result.layout);
        std::unique_ptr<float[]> memory(new float[static_cast<size_t>(result.count())]);
        exact.data = reinterpret_cast<char *>(memory.get());
        StackProduct product;
        product.a = first.stack();
        product.b = second.stack();
        product.out = exact;
        const auto shift = read_all<float>(c, bias, columns, 0.0f);
        if (c.has(bias)) {
          product.bias.data = shift.data();
          product.bias.rows = 1;
          product.bias.cols = columns;
          product.bias.col.stride = 1;
        }
        multiply(product);
        Operands operands;
        const RowSource<float> other(
            pairs ? operands.safe(view_of(c.tensor(third), result.layout), {result}) : exact);
        const RowTarget<float> target(result);
        for_each_row<float>(result.count() / columns, columns, 1, [&](int64_t row, float *more) {
          float *values = memory.get() + row * columns;
          if (pairs) other.read(row * columns, columns, more);
          apply(after, values, columns, more);
          target.write(row * columns, columns, values);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
