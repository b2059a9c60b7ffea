// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gated units of one tensor: what one half of a dimension makes of the other. Everything is
// computed in float32 and rounded once.
#include <cstring>

#include "aclnnop/activation.h"
#include "core/statuses.h"
#include "ops/ffn/gated_units.h"
#include "ops/shared/mx_check.h"

namespace emu {

Check &check_unit(Check &check, const UnitArguments &a, int lowest_rank, Halves *halves) {
  check.dtype(a.input_name, a.input).dtype(a.out_name, a.out);
  check.rank(a.input_name, a.input, lowest_rank, 8);
  if (!check.ok()) return check;
  check.same_dtype(a.out_name, a.out->dtype, a.input_name, a.input->dtype);
  int axis = 0;
  const auto rank = static_cast<int>(a.input->rank());
  check.that(wrap_dim(a.dim, rank, &axis), "dim is %lld; %s has %d dimensions",
             static_cast<long long>(a.dim), a.input_name, rank);
  if (!check.ok()) return check;
  Layout half = layout_of(*a.input);
  check.that(half.shape[axis] % 2 == 0, "%s has %lld along dim %d; it must be even", a.input_name,
             static_cast<long long>(half.shape[axis]), axis);
  half.shape[axis] /= 2;
  check.shape(a.out_name, a.out, half);
  if (!check.ok()) return check;
  halves->width = 1;
  for (int d = axis; d < rank; ++d) halves->width *= half.shape[d];
  halves->rows = halves->width == 0 ? 0 : half.count() / halves->width;
  return check;
}

Status grouped_rows(const char *op, const aclTensor &groups, int64_t rows, int64_t *count) {
  std::vector<int64_t> sizes(static_cast<size_t>(groups.numel()));
  RowSource<int64_t>(view_of(groups)).read(0, groups.numel(), sizes.data());
  *count = 0;
  for (size_t g = 0; g < sizes.size(); ++g) {
    if (sizes[g] < 0) {
      return fail(kKernelFault,
                  "%s: groupIndexOptional[%zu] is %lld; a group cannot have fewer than 0 rows", op,
                  g, static_cast<long long>(sizes[g]));
    }
    *count = sizes[g] > rows - *count ? rows : *count + sizes[g];
  }
  return 0;
}

namespace {

// Rows and columns that the units of one dimension are made for.
Check &check_width(Check &check, const UnitArguments &a) {
  constexpr int64_t kWidest = 1024, kMostRows = 200000;
  if (!check.ok()) return check;
  const int64_t width = a.input->shape[a.input->rank() - 1];
  check.that(width <= kWidest, "%s has %lld in its last dimension; at most %lld are allowed",
             a.input_name, static_cast<long long>(width), static_cast<long long>(kWidest));
  const int64_t rows = width == 0 ? 0 : a.input->numel() / width;
  return check.that(rows <= kMostRows, "%s has %lld rows; at most %lld are allowed", a.input_name,
                    static_cast<long long>(rows), static_cast<long long>(kMostRows));
}

Status plan_gelu_mul(const aclTensor *input, const char *approximate, const aclTensor *out,
                     uint64_t *workspace_size, aclOpExecutor **executor) {
  const UnitArguments a{"aclnnGeluMul", "input", input, -1, "out", out};
  Check check(a.op);
  check.required("input", input).required("out", out);
  const char *form = approximate == nullptr ? "none" : approximate;
  const bool tanh = std::strcmp(form, "tanh") == 0;
  check.that(tanh || std::strcmp(form, "none") == 0,
             "approximateOptional is \"%.40s\"; allowed: \"none\", \"tanh\"", form);
  Halves halves{0, 0, false, true};
  check_width(check_unit(check, a, 2, &halves), a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(input), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const float choice = tanh ? 1.0f : 0.0f;
        gate_halves(operands.safe(view_of(c.tensor(from)), {result}), result, halves,
                    [&](float *gate, const float *linear, int64_t n) {
                      float_kernel_fn(FloatKernel::gelu_form)(gate, n, &choice, gate);
                      for (int64_t i = 0; i < n; ++i) gate[i] *= linear[i];
                    });
        return Status{0};
      },
      workspace_size, executor);
}

Status plan_fatrelu_mul(const aclTensor *input, const aclTensor *threshold, const aclTensor *out,
                        uint64_t *workspace_size, aclOpExecutor **executor) {
  const UnitArguments a{"aclnnFatreluMul", "input", input, -1, "out", out};
  Check check(a.op);
  check.required("input", input).required("threshold", threshold).required("out", out);
  check.dtype("threshold", threshold);
  Halves halves{0, 0, false, true};
  check_width(check_unit(check, a, 2, &halves), a);
  if (check.ok()) {
    check.same_dtype("threshold", threshold->dtype, "input", input->dtype);
    check.that(threshold->numel() == 1, "threshold has shape %s; it must hold one element",
               shape_text(layout_of(*threshold)).c_str());
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(input), bound = plan.input(threshold), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const float least = read_all<float>(c, bound, 1, 0.0f).front();
        gate_halves(operands.safe(view_of(c.tensor(from)), {result}), result, halves,
                    [=](float *gate, const float *linear, int64_t n) {
                      for (int64_t i = 0; i < n; ++i)
                        gate[i] = (gate[i] < least ? 0.0f : gate[i]) * linear[i];
                    });
        return Status{0};
      },
      workspace_size, executor);
}

struct ClippedArguments {
  const char *op, *out_name;
  const aclTensor *x, *groups;
  int64_t dim;
  GateLimits limits;
  bool alternate;
  bool late;  // the gate is limited after its activation
  const aclTensor *out;
};

Status plan_clipped(const ClippedArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).optional("groupIndexOptional", a.groups).required(a.out_name, a.out);
  check.dtype("groupIndexOptional", a.groups).rank("groupIndexOptional", a.groups, 1, 1);
  Halves halves{0, 0, a.alternate, true};
  if (!check_unit(check, {a.op, "x", a.x, a.dim, a.out_name, a.out}, 1, &halves).ok())
    return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(a.x), groups = plan.input(a.groups), to = plan.output(a.out);
  const char *op = a.op;
  const GateLimits limits = a.limits;
  const bool late = a.late;
  return plan.finish(
      [=](PlanContext &c) {
        Halves filled = halves;
        if (c.has(groups)) {
          const Status s = grouped_rows(op, c.tensor(groups), halves.rows, &filled.rows);
          if (s != 0) return s;
        }
        Operands operands;
        const View result = view_of(c.tensor(to));
        gate_halves(operands.safe(view_of(c.tensor(from)), {result}), result, filled,
                    [&](float *gate, const float *linear, int64_t n) {
                      if (late) late_clipped_gate(gate, linear, n, limits.limit);
                      else clipped_gate(gate, linear, n, limits);
                    });
        return Status{0};
      },
      workspace_size, executor);
}

Status plan_situ(const aclTensor *x, int64_t dim, SituFactors factors, bool left,
                 const aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  const UnitArguments a{"aclnnSituGlu", "x", x, dim, "out", out};
  Check check(a.op);
  check.required("x", x).required("out", out);
  Halves halves{0, 0, false, left};
  if (!check_unit(check, a, 1, &halves).ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(x), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        gate_halves(operands.safe(view_of(c.tensor(from)), {result}), result, halves,
                    [&](float *gate, float *up, int64_t n) { situ_gate(gate, up, n, factors); });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GeluMul, (const aclTensor *input, const char *approximateOptional, aclTensor *out)) {
  return emu::plan_gelu_mul(input, approximateOptional, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FatreluMul, (const aclTensor *input, const aclTensor *threshold, aclTensor *out)) {
  return emu::plan_fatrelu_mul(input, threshold, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ClippedSwiglu,
             (const aclTensor *x, const aclTensor *groupIndexOptional, int64_t dim, double alpha,
              double limit, double bias, bool interleaved, aclTensor *out)) {
  const emu::GateLimits limits{static_cast<float>(alpha), static_cast<float>(limit),
                               static_cast<float>(bias)};
  return emu::plan_clipped(
      {"aclnnClippedSwiglu", "out", x, groupIndexOptional, dim, limits, interleaved, false, out},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ClippedSwigluV2, (const aclTensor *x, const aclTensor *groupIndexOptional, int64_t dim,
                               double alpha, double limit, double bias, bool interleaved,
                               int64_t clampMode, aclTensor *outOptional)) {
  constexpr int64_t kMostGroups = 8192;
  emu::Check check("aclnnClippedSwigluV2");
  check.required("x", x).required("outOptional", outOptional);
  check.optional("groupIndexOptional", groupIndexOptional);
  if (const emu::Status s = emu::check_chip(check, emu::kNoKernel)) return s;
  check.that(clampMode == 0 || clampMode == 1,
             "clampMode is %lld; allowed: 0 (before the activation), 1 (after it)",
             static_cast<long long>(clampMode));
  check.that(limit > 0, "limit is %g; it must be positive", limit);
  const int64_t groups = groupIndexOptional ? groupIndexOptional->numel() : 1;
  check.that(groups > 0 && groups <= kMostGroups,
             "groupIndexOptional has %lld groups; allowed: 1 to %lld",
             static_cast<long long>(groups), static_cast<long long>(kMostGroups));
  if (!check.ok()) return check.status();
  const emu::GateLimits limits{static_cast<float>(alpha), static_cast<float>(limit),
                               static_cast<float>(bias)};
  return emu::plan_clipped({"aclnnClippedSwigluV2", "outOptional", x, groupIndexOptional, dim,
                            limits, interleaved, clampMode == 1, outOptional},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SituGlu, (const aclTensor *x, int64_t dim, double beta, double linearBeta,
                       bool activateLeft, aclTensor *out)) {
  return emu::plan_situ(x, dim, {static_cast<float>(beta), static_cast<float>(linearBeta)},
                        activateLeft, out, workspaceSize, executor);
}
EMU_CATCH
