// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradient of SwigluGroup and of its quantised form, which chips of the 950 series have: rows
// beyond the groups get nothing, and each row's weight has a gradient of its own.
#include "aclnnop/activation.h"
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/ffn/gated_gradients.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

struct GroupGradient {
  const char *op;
  const aclTensor *incoming, *x, *weight, *origin, *groups;
  float limit;  // not above 0: none
  const aclTensor *out, *weight_out;
  bool quantised;  // the weights of rows beyond the groups have a gradient of 0 too
};

// What both forms need of shapes; `halves` are those of x.
void check_shapes(Check &check, const GroupGradient &a, Halves *halves) {
  check_gradient(check, {a.op, "gradY", a.incoming, "x", a.x, -1, "gradXOut", a.out}, halves);
  check.rank("groupIndexOptional", a.groups, 1, 1);
  if (!check.ok()) return;
  check.that(a.groups == nullptr || a.groups->numel() > 0, "groupIndexOptional is empty");
  check.shape("yOriginOptional", a.origin, layout_of(*a.incoming));
  if (a.weight == nullptr || !check.ok()) return;
  check.that(a.weight->numel() == halves->rows, "weightOptional has %lld elements; x has %lld rows",
             static_cast<long long>(a.weight->numel()), static_cast<long long>(halves->rows));
  check.shape("gradWeightOutOptional", a.weight_out, layout_of(*a.weight));
}

// The rules of each form come in the order of its document: the plain one answers shapes with
// 161002, the quantised one with 561002.
Check check_group(const GroupGradient &a, Halves *halves) {
  Check check(a.op);
  check.required("gradY", a.incoming).required("x", a.x).required("gradXOut", a.out);
  check.optional("weightOptional", a.weight).optional("yOriginOptional", a.origin);
  check.optional("groupIndexOptional", a.groups);
  if (a.weight != nullptr) check.required("gradWeightOutOptional", a.weight_out);
  else check.optional("gradWeightOutOptional", a.weight_out);
  if (!check.ok()) return check;
  check.dtype("gradY", a.incoming).dtype("x", a.x).dtype("weightOptional", a.weight);
  check.dtype("yOriginOptional", a.origin).dtype("groupIndexOptional", a.groups);
  check.dtype("gradXOut", a.out).dtype("gradWeightOutOptional", a.weight_out);
  if (!check.ok()) return check;
  check.same_dtype("gradY", a.incoming->dtype, "x", a.x->dtype)
      .same_dtype("gradXOut", a.out->dtype, "x", a.x->dtype);
  if (a.origin != nullptr) check.same_dtype("yOriginOptional", a.origin->dtype, "x", a.x->dtype);
  if (a.quantised) check.tiling();
  check.that(a.weight == nullptr || a.origin != nullptr,
             "yOriginOptional is null; the gradient of weightOptional needs it");
  if (a.quantised) {
    check.that(a.limit == -1.0f || a.limit > 0,
               "clampLimit is %g; it must be positive, or -1 for none",
               static_cast<double>(a.limit));
    check.rank("x", a.x, 2, 8);
  } else {
    check.that(a.weight != nullptr || a.origin == nullptr,
               "weightOptional is null; it belongs to yOriginOptional, which is given");
    check.that(a.limit >= 0, "clampLimit is %g; it must be positive, or 0 for none",
               static_cast<double>(a.limit));
    check.rank("x", a.x, 2, 3);
  }
  if (!check.ok()) return check;
  check_shapes(check, a, halves);
  if (check.ok()) check.that(halves->width > 0, "x has no elements in its last dimension");
  return check;
}

// The unit of SwigluGroup with its limits: outside of them, and on them, nothing flows back.
void limited_slopes(const float *g, float *gate, float *linear, int64_t count, float limit) {
  float a[kBlock], b[kBlock];
  std::copy_n(gate, count, a);
  std::copy_n(linear, count, b);
  for (int64_t i = 0; i < count; ++i) {
    gate[i] = std::min(a[i], limit);
    linear[i] = std::max(std::min(b[i], limit), -limit);
  }
  silu_slopes(g, gate, linear, count);
  for (int64_t i = 0; i < count; ++i) {
    if (!(a[i] < limit)) gate[i] = 0.0f;
    if (!(-limit < b[i] && b[i] < limit)) linear[i] = 0.0f;
  }
}

// The gradient of each row's weight: the sum of gradient times result.
void weight_slopes(const View &incoming, const View &origin, const View &to, int64_t rows,
                   int64_t width, int64_t filled) {
  const RowSource<float> gradients(incoming), results(origin);
  std::vector<float> sums(static_cast<size_t>(rows));
  for_each_row<float>(filled, width, 2, [&](int64_t row, float *g) {
    float *y = g + width;
    gradients.read(row * width, width, g);
    results.read(row * width, width, y);
    double total = 0;
    for (int64_t i = 0; i < width; ++i) {
      total += static_cast<double>(g[i]) * static_cast<double>(y[i]);
    }
    sums[static_cast<size_t>(row)] = static_cast<float>(total);
  });
  RowTarget<float>(to).write(0, rows, sums.data());
}

Status plan_group_gradient(const GroupGradient &a, uint64_t *workspace_size,
                           aclOpExecutor **executor) {
  Halves halves{0, 0, false, true};
  const Check check = check_group(a, &halves);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  PlanBuilder plan(a.op);
  const size_t incoming = plan.input(a.incoming), x = plan.input(a.x),
               weight = plan.input(a.weight), origin = plan.input(a.origin),
               groups = plan.input(a.groups), out = plan.output(a.out),
               weight_out =
                   a.weight != nullptr ? plan.output(a.weight_out) : plan.unused(a.weight_out);
  return plan.finish(
      [=, op = a.op, limit = a.limit, quantised = a.quantised](PlanContext &c) {
        int64_t filled = halves.rows;
        if (c.has(groups)) {
          const Status s = grouped_rows(op, c.tensor(groups), halves.rows, &filled);
          if (s != 0) return s;
        }
        Operands operands;
        const View to = view_of(c.tensor(out));
        const View sums = c.has(weight) ? view_of(c.tensor(weight_out)) : View();
        const View g = operands.safe(view_of(c.tensor(incoming)), {to, sums});
        const View from = operands.safe(view_of(c.tensor(x)), {to, sums});
        const auto factors = read_all<float>(c, weight, halves.rows, 1.0f);
        if (c.has(weight)) {
          const View results = operands.safe(view_of(c.tensor(origin)), {to, sums});
          weight_slopes(g, results, sums, halves.rows, halves.width,
                        quantised ? filled : halves.rows);
        }
        slope_halves<float>(
            g, from, to, halves, filled,
            [&](const float *dy, float *gate, float *linear, int64_t n, int64_t at) {
              float weighted[kBlock];
              const float factor = factors[static_cast<size_t>(at / halves.width)];
              for (int64_t i = 0; i < n; ++i) weighted[i] = dy[i] * factor;
              if (limit > 0) limited_slopes(weighted, gate, linear, n, limit);
              else silu_slopes(weighted, gate, linear, n);
            });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwigluGroupGrad,
             (const aclTensor *gradY, const aclTensor *x, const aclTensor *weightOptional,
              const aclTensor *yOriginOptional, const aclTensor *groupIndexOptional,
              float clampLimit, aclTensor *gradXOut, aclTensor *gradWeightOutOptional)) {
  return emu::plan_group_gradient(
      {"aclnnSwigluGroupGrad", gradY, x, weightOptional, yOriginOptional, groupIndexOptional,
       clampLimit, gradXOut, gradWeightOutOptional, false},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SwigluGroupQuantGrad,
             (const aclTensor *gradY, const aclTensor *x, const aclTensor *weightOptional,
              const aclTensor *yOriginOptional, const aclTensor *groupIndexOptional,
              double clampLimit, aclTensor *gradXOut, aclTensor *gradWeightOutOptional)) {
  return emu::plan_group_gradient(
      {"aclnnSwigluGroupQuantGrad", gradY, x, weightOptional, yOriginOptional, groupIndexOptional,
       static_cast<float>(clampLimit), gradXOut, gradWeightOutOptional, true},
      workspaceSize, executor);
}
EMU_CATCH
