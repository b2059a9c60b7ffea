// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Gated units: one half of a dimension, activated, times the other half.
#include "aclnnop/activation.h"
#include "core/pool.h"
#include "ops/float_kernels.h"
#include "ops/shared/rows.h"

#include <cmath>

namespace emu {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x * sigmoid(x); }
double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x * 0.70710678118654752)); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}

// One activation for each type rows are computed in.
struct Activation {
  FloatKernel single;
  double (*twofold)(double);

  void apply(float *x, int64_t count) const { float_kernel_fn(single)(x, count, nullptr, x); }
  void apply(double *x, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) x[i] = twofold(x[i]);
  }
  static void multiply(float *x, const float *factors, int64_t count) {
    float_kernels().multiply(x, factors, count);
  }
  static void multiply(double *x, const double *factors, int64_t count) {
    for (int64_t i = 0; i < count; ++i) x[i] *= factors[i];
  }
};
constexpr Activation kSigmoid{FloatKernel::sigmoid, sigmoid}, kSilu{FloatKernel::silu, silu},
    kGeluErf{FloatKernel::gelu, gelu_erf}, kGeluTanh{FloatKernel::gelu_tanh, gelu_tanh};

struct Halves {
  View gate, linear, result, activated;
};

template <class T>
void gate_all(const Halves &halves, const Activation &activation) {
  const RowSource<T> gate(halves.gate), linear(halves.linear);
  const bool keep = halves.activated.data != nullptr;
  // A result of another dtype holds what the dtype of the input holds.
  const RowTarget<T> target(halves.result, halves.gate.dtype),
      activated(keep ? halves.activated : halves.result);
  const int64_t total = halves.result.count(), rows = (total + kBlock - 1) / kBlock;
  parallel_for(rows, 16, [&](int64_t begin, int64_t end) {
    T x[kBlock], y[kBlock];
    for (int64_t row = begin; row < end; ++row) {
      const int64_t start = row * kBlock, n = std::min(kBlock, total - start);
      gate.read(start, n, x);
      linear.read(start, n, y);
      activation.apply(x, n);
      if (keep) activated.write(start, n, x);
      Activation::multiply(y, x, n);
      target.write(start, n, y);
    }
  });
}

struct GatedArguments {
  const char *op;
  const char *input_name;
  const aclTensor *input;
  int64_t dim;
  Activation activation;
  bool activate_left;
  const aclTensor *out;
  const aclTensor *activated;  // null: not asked for
  bool casts = false;          // whether the result may have another dtype
};

Status plan_gated(const GatedArguments &a, bool with_activated, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  Check check(a.op);
  check.required(a.input_name, a.input).required("out", a.out);
  if (with_activated) check.required("outGelu", a.activated);
  check.dtype(a.input_name, a.input).dtype("out", a.out).dtype("outGelu", a.activated);
  check.rank(a.input_name, a.input, 1, 8);
  if (!check.ok()) return check.status();
  if (a.casts) {
    check.castable(a.input->dtype, "out", a.out->dtype);
  } else {
    check.same_dtype("out", a.out->dtype, a.input_name, a.input->dtype);
  }
  if (with_activated) check.same_dtype("outGelu", a.activated->dtype, a.input_name, a.input->dtype);
  int axis = 0;
  check.that(wrap_dim(a.dim, static_cast<int>(a.input->rank()), &axis),
             "dim is %lld; %s has %zu dimensions", static_cast<long long>(a.dim), a.input_name,
             a.input->rank());
  if (!check.ok()) return check.status();
  Layout half = layout_of(*a.input);
  check.that(half.shape[axis] % 2 == 0, "%s has %lld along dim %d; it must be even", a.input_name,
             static_cast<long long>(half.shape[axis]), axis);
  half.shape[axis] /= 2;
  check.shape("out", a.out, half).shape("outGelu", a.activated, half);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(a.input), to = plan.output(a.out),
               also = plan.output_if(a.activated);
  const auto activation = a.activation;
  const bool left = a.activate_left;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const View second = c.has(also) ? view_of(c.tensor(also)) : View();
        View first_half = operands.safe(view_of(c.tensor(from)), {result, second});
        first_half.layout.shape[axis] /= 2;
        View second_half = first_half;
        second_half.data += first_half.layout.shape[axis] * first_half.layout.stride[axis] *
                            item_size(first_half.dtype);
        const Halves halves{left ? first_half : second_half, left ? second_half : first_half,
                            result, second};
        if (first_half.dtype == ACL_DOUBLE) gate_all<double>(halves, activation);
        else gate_all<float>(halves, activation);
        return Status{0};
      },
      workspace_size, executor);
}

Status plan_geglu(const char *op, const aclTensor *self, int64_t dim, int64_t approximate,
                  bool left, aclTensor *out, aclTensor *out_gelu, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  Check check(op);
  check.that(approximate == 0 || approximate == 1,
             "approximate is %lld; allowed: 0 (erf), 1 (tanh)",
             static_cast<long long>(approximate));
  if (!check.ok()) return check.status();
  return plan_gated(
      {op, "self", self, dim, approximate == 1 ? kGeluTanh : kGeluErf, left, out, out_gelu}, true,
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwiGlu, (const aclTensor *x, int64_t dim, aclTensor *out)) {
  return emu::plan_gated({"aclnnSwiGlu", "x", x, dim, emu::kSilu, true, out, nullptr}, false,
                         workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Glu, (const aclTensor *self, int64_t dim, aclTensor *out)) {
  return emu::plan_gated({"aclnnGlu", "self", self, dim, emu::kSigmoid, false, out, nullptr, true},
                         false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GeGlu, (const aclTensor *self, int64_t dim, int64_t approximate, aclTensor *out,
                     aclTensor *outGelu)) {
  return emu::plan_geglu("aclnnGeGlu", self, dim, approximate, false, out, outGelu, workspaceSize,
                         executor);
}
EMU_CATCH

EMU_OPERATOR(GeGluV3, (const aclTensor *self, int64_t dim, int64_t approximate, bool activateLeft,
                       aclTensor *out, aclTensor *outGelu)) {
  return emu::plan_geglu("aclnnGeGluV3", self, dim, approximate, activateLeft, out, outGelu,
                         workspaceSize, executor);
}
EMU_CATCH
