// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// A gated unit with SiLU, scaled by factors of its group of rows, and quantised.
#include <cstring>

#include "aclnnop/quant.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/gated.h"

namespace emu {
namespace {

constexpr int64_t kWidest = 8192;

struct SwiGluQuantArguments {
  const char *op;
  const aclTensor *x, *smooth, *offsets, *groups;
  bool left;
  const char *mode;
  int64_t list_type;
  bool needs_groups;  // groups and their factors are not optional
  const aclTensor *y, *scale;
};

// One value, or one row of them, for each group.
Check &check_factors(Check &check, const char *name, const aclTensor *factors, int64_t groups,
                     int64_t width) {
  if (!check.ok() || factors == nullptr) return check;
  const Layout given = layout_of(*factors);
  const bool fits =
      (given.rank == 1 || (given.rank == 2 && given.shape[1] == width)) && given.shape[0] == groups;
  return check.that(fits, "%s has shape %s; allowed: (%lld,) or (%lld, %lld)", name,
                    shape_text(given).c_str(), static_cast<long long>(groups),
                    static_cast<long long>(groups), static_cast<long long>(width));
}

Check check_swiglu_quant(const SwiGluQuantArguments &a, bool *dynamic) {
  Check check(a.op);
  check.required("x", a.x).optional("smoothScalesOptional", a.smooth);
  check.optional("offsetsOptional", a.offsets).optional("groupIndexOptional", a.groups);
  check.required("yOut", a.y);
  const char *mode = a.mode == nullptr ? "dynamic" : a.mode;
  *dynamic = std::strcmp(mode, "dynamic") == 0;
  check.that(*dynamic || std::strcmp(mode, "static") == 0,
             "quantModeOptional is \"%.40s\"; allowed: \"dynamic\", \"static\"", mode);
  if (*dynamic) check.required("scaleOut", a.scale);
  check.optional("scaleOut", a.scale);
  check.dtype("x", a.x).dtype("smoothScalesOptional", a.smooth).dtype("offsetsOptional", a.offsets);
  check.dtype("groupIndexOptional", a.groups).dtype("yOut", a.y).dtype("scaleOut", a.scale);
  check.that(a.list_type == 0 || a.list_type == 1,
             "groupListType is %lld; allowed: 0 (ends of groups), 1 (their sizes)",
             static_cast<long long>(a.list_type));
  check.rank("x", a.x, 2, 8).rank("groupIndexOptional", a.groups, 1, 1);
  if (!check.ok()) return check;
  Layout half = layout_of(*a.x);
  int64_t &last = half.shape[half.rank - 1];
  check.that(last % 2 == 0 && last <= kWidest,
             "x has %lld in its last dimension; it must be even and at most %lld",
             static_cast<long long>(last), static_cast<long long>(kWidest));
  last /= 2;
  const Layout outer = dense_layout(half.shape, half.rank - 1);
  const int64_t count = a.groups ? a.groups->shape[0] : 1;
  check.that(!a.needs_groups || (a.groups != nullptr && a.smooth != nullptr),
             "%s is null; this operator needs groups and their scales",
             a.groups ? "smoothScalesOptional" : "groupIndexOptional");
  check.that(*dynamic || a.smooth != nullptr,
             "smoothScalesOptional is null; quantModeOptional \"static\" needs it");
  check.that(a.groups == nullptr || count <= outer.count(),
             "groupIndexOptional has %lld groups, more than x has rows",
             static_cast<long long>(count));
  check_factors(check, "smoothScalesOptional", a.smooth, count, last);
  if (!*dynamic && check.ok() && a.offsets)
    check.shape("offsetsOptional", a.offsets, layout_of(*a.smooth));
  check_packing(check, "yOut", a.y, half, "the result");
  return check.shape("scaleOut", a.scale, outer);
}

Status plan_swiglu_quant(const SwiGluQuantArguments &a, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  bool dynamic = true;
  const Check check = check_swiglu_quant(a, &dynamic);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), smooth = plan.input(a.smooth);
  const size_t offsets = dynamic ? plan.unused(a.offsets) : plan.input(a.offsets);
  const size_t groups = plan.input(a.groups), y = plan.output(a.y);
  const size_t scale = dynamic ? plan.output(a.scale) : plan.unused(a.scale);
  const char *op = a.op;
  const bool left = a.left, ends = a.list_type == 0;
  const int64_t width = a.x->shape[a.x->rank() - 1] / 2;
  const int64_t rows = width == 0 ? 0 : a.x->numel() / (2 * width);
  // A group has one factor for its rows, or one for each column.
  const bool per_column = a.smooth != nullptr && a.smooth->rank() == 2;
  return plan.finish(
      [=](PlanContext &c) {
        if (rows == 0) return Status{0};
        std::vector<int64_t> group_of_row;
        if (c.has(groups)) {
          const Status s = read_row_groups(op, "groupIndexOptional", c.tensor(groups), ends, rows,
                                           &group_of_row);
          if (s != 0) return s;
        }
        Operands operands;
        const aclTensor &result = c.tensor(y);
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {shared_view(result)}));
        const QuantTarget to(result);
        const QuantRange range = quant_range(result.dtype);
        const int64_t count = c.has(smooth) ? c.tensor(smooth).numel() : 0;
        const auto factors = read_all<float>(c, smooth, count, 1.0f);
        const auto shifts = read_all<float>(c, offsets, dynamic ? 0 : count, 0.0f);
        std::optional<RowTarget<float>> scale_to;
        if (dynamic) scale_to.emplace(view_of(c.tensor(scale)));
        for_each_row<float>(rows, 2 * width, 1, [&](int64_t row, float *x) {
          const int64_t group = group_of_row.empty() ? 0 : group_of_row[static_cast<size_t>(row)];
          if (group < 0) return;
          from.read(row * 2 * width, 2 * width, x);
          float *gate = left ? x : x + width;
          const float *linear = left ? x + width : x;
          silu_gate(gate, linear, width);
          const int64_t first = per_column ? group * width : group, step = per_column ? 1 : 0;
          if (count > 0)
            for (int64_t i = 0; i < width; ++i)
              gate[i] *= factors[static_cast<size_t>(first + i * step)];
          if (dynamic) {
            const RowScale found = scale_symmetric(gate, width, range);
            scale_to->write(row, 1, &found.scale);
          } else {
            for (int64_t i = 0; i < width; ++i)
              gate[i] += shifts[static_cast<size_t>(first + i * step)];
          }
          to.write(row * width, width, gate);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwiGluQuant, (const aclTensor *x, const aclTensor *smoothScalesOptional,
                           const aclTensor *offsetsOptional, const aclTensor *groupIndexOptional,
                           bool activateLeft, const char *quantModeOptional, aclTensor *yOut,
                           aclTensor *scaleOut)) {
  return emu::plan_swiglu_quant(
      {"aclnnSwiGluQuant", x, smoothScalesOptional, offsetsOptional, groupIndexOptional,
       activateLeft, quantModeOptional, 0, true, yOut, scaleOut},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SwiGluQuantV2,
             (const aclTensor *x, const aclTensor *smoothScalesOptional,
              const aclTensor *offsetsOptional, const aclTensor *groupIndexOptional,
              bool activateLeft, const char *quantModeOptional, int64_t groupListType,
              int64_t dstType, aclTensor *yOut, aclTensor *scaleOut)) {
  constexpr const char *op = "aclnnSwiGluQuantV2";
  emu::Check check(op);
  check.required("x", x).required("yOut", yOut).dtype("yOut", yOut);
  emu::check_dst_type(check, "dstType", dstType, "yOut", yOut);
  if (!check.ok()) return check.status();
  return emu::plan_swiglu_quant(
      {op, x, smoothScalesOptional, offsetsOptional, groupIndexOptional, activateLeft,
       quantModeOptional, groupListType, false, yOut, scaleOut},
      workspaceSize, executor);
}
EMU_CATCH
