// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Quantisation with one scale per row (a token), found from the data.
#include "aclnnop/quant.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/dynamic.h"

namespace emu {
namespace {

constexpr int64_t kMostGroups = 1024;

struct DynamicQuantArguments {
  const char *op;
  const aclTensor *x, *smooth, *groups;
  const aclTensor *y, *scale, *offset;  // offset null: symmetric
};

Check check_dynamic_quant(const DynamicQuantArguments &a) {
  Check check(a.op);
  check.required("x", a.x).optional("smoothScalesOptional", a.smooth);
  check.optional("groupIndexOptional", a.groups);
  check.required("yOut", a.y).required("scaleOut", a.scale).optional("offsetOutOptional", a.offset);
  check.dtype("x", a.x).dtype("smoothScalesOptional", a.smooth);
  check.dtype("groupIndexOptional", a.groups).dtype("yOut", a.y);
  check.dtype("scaleOut", a.scale).dtype("offsetOutOptional", a.offset);
  check.plain_format("x", a.x).plain_format("yOut", a.y);
  check.rank("x", a.x, 2, 8);
  if (!check.ok()) return check;
  const Layout whole = layout_of(*a.x);
  const int64_t width = whole.shape[whole.rank - 1];
  if (a.smooth) check.same_dtype("smoothScalesOptional", a.smooth->dtype, "x", a.x->dtype);
  if (a.groups) {
    check.that(a.smooth != nullptr,
               "groupIndexOptional is given; then smoothScalesOptional must be given too");
    check.rank("groupIndexOptional", a.groups, 1, 1);
    if (check.ok()) {
      const int64_t count = a.groups->shape[0];
      check.that(count <= kMostGroups, "groupIndexOptional has %lld groups; allowed: at most %lld",
                 static_cast<long long>(count), static_cast<long long>(kMostGroups));
      const int64_t expected[] = {count, width};
      check.shape("smoothScalesOptional", a.smooth, dense_layout(expected, 2));
    }
  } else if (a.smooth) {
    check.shape("smoothScalesOptional", a.smooth, dense_layout(&width, 1));
  }
  check_packing(check, "yOut", a.y, whole, "x");
  const Layout outer = dense_layout(whole.shape, whole.rank - 1);
  check.shape("scaleOut", a.scale, outer).shape("offsetOutOptional", a.offset, outer);
  return check;
}

Status plan_dynamic_quant(const DynamicQuantArguments &a, bool with_groups,
                          uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check = check_dynamic_quant(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), smooth = plan.input(a.smooth),
               groups = with_groups ? plan.input(a.groups) : plan.input_if(a.groups);
  const size_t y = plan.output(a.y), scale = plan.output(a.scale),
               offset = with_groups ? plan.output(a.offset) : plan.output_if(a.offset);
  const char *op = a.op;
  const bool grouped = a.groups != nullptr, shifted = a.offset != nullptr;
  const int64_t width = a.x->shape[a.x->rank() - 1], rows = a.scale->numel();
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<int64_t> group_of_row;
        if (grouped) {
          const Status s = read_row_groups(op, "groupIndexOptional", c.tensor(groups), true, rows,
                                           &group_of_row);
          if (s != 0) return s;
        }
        Operands operands;
        const aclTensor &result = c.tensor(y);
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {shared_view(result)}));
        const QuantTarget to(result);
        const QuantRange range = quant_range(result.dtype);
        const bool smoothed = c.has(smooth);
        const auto factors =
            read_all<float>(c, smooth, smoothed ? c.tensor(smooth).numel() : 0, 1.0f);
        const RowTarget<float> scale_to(view_of(c.tensor(scale)));
        const RowTarget<float> offset_to(view_of(c.tensor(shifted ? offset : scale)));
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          const int64_t group = grouped ? group_of_row[static_cast<size_t>(row)] : 0;
          if (group < 0) return;
          from.read(row * width, width, x);
          if (smoothed) {
            const float *factor = factors.data() + group * width;
            for (int64_t i = 0; i < width; ++i) x[i] *= factor[i];
          }
          const RowScale found =
              shifted ? scale_asymmetric(x, width, range) : scale_symmetric(x, width, range);
          to.write(row * width, width, x);
          scale_to.write(row, 1, &found.scale);
          if (shifted) offset_to.write(row, 1, &found.offset);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DynamicQuant, (const aclTensor *x, const aclTensor *smoothScalesOptional,
                            aclTensor *yOut, aclTensor *scaleOut)) {
  return emu::plan_dynamic_quant(
      {"aclnnDynamicQuant", x, smoothScalesOptional, nullptr, yOut, scaleOut, nullptr}, false,
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DynamicQuantV2, (const aclTensor *x, const aclTensor *smoothScalesOptional,
                              const aclTensor *groupIndexOptional, int64_t dstType, aclTensor *yOut,
                              aclTensor *scaleOut, aclTensor *offsetOutOptional)) {
  constexpr const char *op = "aclnnDynamicQuantV2";
  emu::Check check(op);
  check.required("yOut", yOut).dtype("yOut", yOut);
  emu::check_dst_type(check, "dstType", dstType, "yOut", yOut);
  if (!check.ok()) return check.status();
  return emu::plan_dynamic_quant(
      {op, x, smoothScalesOptional, groupIndexOptional, yOut, scaleOut, offsetOutOptional}, true,
      workspaceSize, executor);
}
EMU_CATCH
