// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of the gated units of one tensor. Everything is computed in float32, or float64 for
// float64, and rounded once.
#include "ops/ffn/gated_gradients.h"
#include "aclnnop/activation.h"

#include <cmath>

namespace emu {
namespace {

constexpr float kRootHalf = 0.70710678118654752440f, kDensity = 0.39894228040143267794f;
constexpr float kInner = 0.79788456080286535588f, kCubic = 0.044715f;

// The slope of gelu takes the place of its argument; at most kBlock elements.
void gelu_slopes(float *x, int64_t count, bool tanh) {
  float bent[kBlock], power[kBlock];
  if (tanh) {
    // (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where tanh nears -1.
    for (int64_t i = 0; i < count; ++i)
      bent[i] = 2.0f * kInner * x[i] * (1.0f + kCubic * x[i] * x[i]);
    float_kernel_fn(FloatKernel::sigmoid)(bent, count, nullptr, bent);
    for (int64_t i = 0; i < count; ++i) {
      const float inner = kInner * (1.0f + 3.0f * kCubic * x[i] * x[i]);
      x[i] = bent[i] + 2.0f * x[i] * bent[i] * (1.0f - bent[i]) * inner;
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    bent[i] = -x[i] * kRootHalf;
    power[i] = -0.5f * x[i] * x[i];
  }
  float_kernel_fn(FloatKernel::erfc)(bent, count, nullptr, bent);
  float_kernel_fn(FloatKernel::exp)(power, count, nullptr, power);
  for (int64_t i = 0; i < count; ++i) x[i] = 0.5f * bent[i] + x[i] * power[i] * kDensity;
}

void situ_slopes(const float *g, float *gate, float *up, int64_t count, const SituFactors &f) {
  float t[kBlock], s[kBlock], u[kBlock];
  const auto tanh = float_kernel_fn(FloatKernel::tanh);
  for (int64_t i = 0; i < count; ++i) t[i] = gate[i] / f.beta;
  tanh(t, count, nullptr, t);
  float_kernel_fn(FloatKernel::sigmoid)(gate, count, nullptr, s);
  const bool bends = f.linear_beta > 0;
  if (bends) {
    for (int64_t i = 0; i < count; ++i) u[i] = up[i] / f.linear_beta;
    tanh(u, count, nullptr, u);
  }
  for (int64_t i = 0; i < count; ++i) {
    const float through = bends ? f.linear_beta * u[i] : up[i];
    gate[i] = g[i] * through * s[i] * ((1.0f - t[i] * t[i]) + f.beta * t[i] * (1.0f - s[i]));
    up[i] = g[i] * f.beta * t[i] * s[i] * (bends ? 1.0f - u[i] * u[i] : 1.0f);
  }
}

// Beyond the limits nothing flows back.
void clipped_slopes(const float *g, float *gate, float *linear, int64_t count,
                    const GateLimits &l) {
  float s[kBlock];
  for (int64_t i = 0; i < count; ++i) s[i] = l.alpha * std::min(gate[i], l.limit);
  float_kernel_fn(FloatKernel::sigmoid)(s, count, nullptr, s);
  for (int64_t i = 0; i < count; ++i) {
    const float a = gate[i], b = linear[i];
    const float low = std::min(a, l.limit), bound = std::max(std::min(b, l.limit), -l.limit);
    const float slope = s[i] * (1.0f + l.alpha * low * (1.0f - s[i]));
    gate[i] = a <= l.limit ? g[i] * (bound + l.bias) * slope : 0.0f;
    linear[i] = -l.limit <= b && b <= l.limit ? g[i] * low * s[i] : 0.0f;
  }
}

template <class T>
void sigmoid_slopes(const T *g, T *gate, T *linear, int64_t count) {
  T s[kBlock];
  if constexpr (std::is_same_v<T, float>) {
    float_kernel_fn(FloatKernel::sigmoid)(gate, count, nullptr, s);
  } else {
    for (int64_t i = 0; i < count; ++i) s[i] = T(1) / (T(1) + std::exp(-gate[i]));
  }
  for (int64_t i = 0; i < count; ++i) {
    const T passed = g[i] * s[i];
    gate[i] = passed * linear[i] * (T(1) - s[i]);
    linear[i] = passed;
  }
}

Check check_three(const GradientArguments &a, Halves *halves) {
  Check check(a.op);
  check.required(a.incoming_name, a.incoming).required(a.input_name, a.input);
  check.required(a.out_name, a.out);
  check_gradient(check, a, halves);
  return check;
}

// A gradient of two tensors; unit(gradient, gate, linear, count).
template <class Unit>
Status plan_gradient(const GradientArguments &a, Halves halves, Unit unit, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  const Check check = check_three(a, &halves);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t incoming = plan.input(a.incoming), input = plan.input(a.input),
               out = plan.output(a.out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View to = view_of(c.tensor(out));
        const View g = operands.safe(view_of(c.tensor(incoming)), {to});
        const View x = operands.safe(view_of(c.tensor(input)), {to});
        slope_halves<float>(g, x, to, halves, halves.rows,
                            [&](const float *dy, float *gate, float *linear, int64_t n, int64_t) {
                              unit(dy, gate, linear, n);
                            });
        return Status{0};
      },
      workspace_size, executor);
}

Status plan_glu_gradient(const aclTensor *gradOut, const aclTensor *self, int64_t dim,
                         const aclTensor *result, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  const GradientArguments a{
      "aclnnGluBackward", "gradOut", gradOut, "self", self, dim, "out", result};
  Halves halves{0, 0, false, false};
  const Check check = check_three(a, &halves);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t incoming = plan.input(gradOut), input = plan.input(self), out = plan.output(result);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View to = view_of(c.tensor(out));
        const View g = operands.safe(view_of(c.tensor(incoming)), {to});
        const View x = operands.safe(view_of(c.tensor(input)), {to});
        if (x.dtype == ACL_DOUBLE) {
          slope_halves<double>(g, x, to, halves, halves.rows,
                               [](const double *dy, double *gate, double *linear, int64_t n,
                                  int64_t) { sigmoid_slopes(dy, gate, linear, n); });
        } else {
          slope_halves<float>(g, x, to, halves, halves.rows,
                              [](const float *dy, float *gate, float *linear, int64_t n, int64_t) {
                                sigmoid_slopes(dy, gate, linear, n);
                              });
        }
        return Status{0};
      },
      workspace_size, executor);
}

struct GeGluGradient {
  const char *op;
  const aclTensor *incoming, *input, *gelu;
  int64_t dim, approximate;
  bool left;
  const aclTensor *out;
};

Status plan_geglu_gradient(const GeGluGradient &a, uint64_t *workspace_size,
                           aclOpExecutor **executor) {
  Check check(a.op);
  check.required("gradOutput", a.incoming).required("self", a.input).required("gelu", a.gelu);
  check.required("gradInput", a.out).dtype("gelu", a.gelu);
  check.that(a.approximate == 0 || a.approximate == 1,
             "approximate is %lld; allowed: 0 (erf), 1 (tanh)",
             static_cast<long long>(a.approximate));
  Halves halves{0, 0, false, a.left};
  check_gradient(
      check, {a.op, "gradOutput", a.incoming, "self", a.input, a.dim, "gradInput", a.out}, &halves);
  if (!check.ok()) return check.status();
  check.same_dtype("gelu", a.gelu->dtype, "self", a.input->dtype)
      .shape("gelu", a.gelu, layout_of(*a.incoming));
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t incoming = plan.input(a.incoming), input = plan.input(a.input),
               gelu = plan.input(a.gelu), out = plan.output(a.out);
  const bool tanh = a.approximate == 1;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View to = view_of(c.tensor(out));
        const View g = operands.safe(view_of(c.tensor(incoming)), {to});
        const View x = operands.safe(view_of(c.tensor(input)), {to});
        const RowSource<float> activated(operands.safe(view_of(c.tensor(gelu)), {to}));
        slope_halves<float>(
            g, x, to, halves, halves.rows,
            [&](const float *dy, float *gate, float *linear, int64_t n, int64_t origin) {
              float kept[kBlock];
              activated.read(origin, n, kept);
              gelu_slopes(gate, n, tanh);
              for (int64_t i = 0; i < n; ++i) {
                gate[i] *= dy[i] * linear[i];
                linear[i] = dy[i] * kept[i];
              }
            });
        return Status{0};
      },
      workspace_size, executor);
}

struct ClippedGradient {
  const aclTensor *incoming, *x, *groups;
  int64_t dim;
  GateLimits limits;
  bool alternate;
  const aclTensor *out;
};

Status plan_clipped_gradient(const ClippedGradient &a, uint64_t *workspace_size,
                             aclOpExecutor **executor) {
  constexpr const char *op = "aclnnClippedSwigluGrad";
  Check check(op);
  check.required("gradY", a.incoming).required("x", a.x).required("gradXOut", a.out);
  check.optional("groupIndexOptional", a.groups);
  check.dtype("gradY", a.incoming).dtype("x", a.x).dtype("gradXOut", a.out);
  check.dtype("groupIndexOptional", a.groups);
  if (!check.ok()) return check.status();
  check.same_dtype("gradY", a.incoming->dtype, "x", a.x->dtype)
      .same_dtype("gradXOut", a.out->dtype, "x", a.x->dtype)
      .tiling();
  check.rank("groupIndexOptional", a.groups, 1, 1);
  check.that(a.limits.limit > 0, "limit is %g; it must be positive",
             static_cast<double>(a.limits.limit));
  Halves halves{0, 0, a.alternate, true};
  check_gradient(check, {op, "gradY", a.incoming, "x", a.x, a.dim, "gradXOut", a.out}, &halves);
  if (!check.ok()) return check.status();
  check.that(a.x->numel() > 0, "x is empty, which is not supported");
  check.that(a.groups == nullptr || a.groups->numel() > 0, "groupIndexOptional is empty");
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t incoming = plan.input(a.incoming), input = plan.input(a.x),
               groups = plan.input(a.groups), out = plan.output(a.out);
  const GateLimits limits = a.limits;
  return plan.finish(
      [=](PlanContext &c) {
        int64_t filled = halves.rows;
        if (c.has(groups)) {
          const Status s = grouped_rows(op, c.tensor(groups), halves.rows, &filled);
          if (s != 0) return s;
        }
        Operands operands;
        const View to = view_of(c.tensor(out));
        const View g = operands.safe(view_of(c.tensor(incoming)), {to});
        const View x = operands.safe(view_of(c.tensor(input)), {to});
        slope_halves<float>(g, x, to, halves, filled,
                            [&](const float *dy, float *gate, float *linear, int64_t n, int64_t) {
                              clipped_slopes(dy, gate, linear, n, limits);
                            });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwiGluGrad,
             (const aclTensor *yGrad, const aclTensor *x, int64_t dim, aclTensor *out)) {
  return emu::plan_gradient({"aclnnSwiGluGrad", "yGrad", yGrad, "x", x, dim, "out", out},
                            {0, 0, false, true}, emu::silu_slopes, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GluBackward,
             (const aclTensor *gradOut, const aclTensor *self, int64_t dim, aclTensor *out)) {
  return emu::plan_glu_gradient(gradOut, self, dim, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GeGluBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *gelu,
              int64_t dim, int64_t approximate, aclTensor *gradInput)) {
  return emu::plan_geglu_gradient(
      {"aclnnGeGluBackward", gradOutput, self, gelu, dim, approximate, false, gradInput},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GeGluV3Backward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *gelu,
              int64_t dim, int64_t approximate, bool activateLeft, aclTensor *gradInput)) {
  return emu::plan_geglu_gradient(
      {"aclnnGeGluV3Backward", gradOutput, self, gelu, dim, approximate, activateLeft, gradInput},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SituGluGrad, (const aclTensor *gradY, const aclTensor *x, int64_t dim, double beta,
                           double linearBeta, bool activateLeft, aclTensor *out)) {
  const emu::SituFactors factors{static_cast<float>(beta), static_cast<float>(linearBeta)};
  return emu::plan_gradient(
      {"aclnnSituGluGrad", "gradY", gradY, "x", x, dim, "out", out}, {0, 0, false, activateLeft},
      [factors](const float *g, float *gate, float *up, int64_t n) {
        emu::situ_slopes(g, gate, up, n, factors);
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ClippedSwigluGrad,
             (const aclTensor *gradY, const aclTensor *x, const aclTensor *groupIndexOptional,
              int64_t dim, double alpha, double limit, double bias, bool interleaved,
              aclTensor *gradXOut)) {
  const emu::GateLimits limits{static_cast<float>(alpha), static_cast<float>(limit),
                               static_cast<float>(bias)};
  return emu::plan_clipped_gradient(
      {gradY, x, groupIndexOptional, dim, limits, interleaved, gradXOut}, workspaceSize, executor);
}
EMU_CATCH
