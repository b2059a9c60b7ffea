// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Quantisation with one row of scales for each group of rows.
#include "aclnnop/quant.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/quantised.h"

EMU_OPERATOR(GroupQuant, (const aclTensor *x, const aclTensor *scale, const aclTensor *groupIndex,
                          const aclTensor *offsetOptional, int32_t dstType, aclTensor *y)) {
  using namespace emu;
  constexpr const char *op = "aclnnGroupQuant";
  Check check(op);
  check.required("x", x).required("scale", scale).required("groupIndex", groupIndex);
  check.optional("offsetOptional", offsetOptional).required("y", y);
  check.dtype("x", x).dtype("scale", scale).dtype("groupIndex", groupIndex);
  check.dtype("offsetOptional", offsetOptional).dtype("y", y);
  check.plain_format("x", x).plain_format("y", y);
  check.rank("x", x, 2, 2).rank("scale", scale, 2, 2).rank("groupIndex", groupIndex, 1, 1);
  check.rank("offsetOptional", offsetOptional, 0, 1);
  if (!check.ok()) return check.status();
  if (offsetOptional) {
    check.same_dtype("offsetOptional", offsetOptional->dtype, "scale", scale->dtype);
    check.that(offsetOptional->numel() == 1, "offsetOptional has %lld values; allowed: 1",
               static_cast<long long>(offsetOptional->numel()));
  }
  check_dst_type(check, "dstType", dstType, "y", y);
  const int64_t rows = x->shape[0], width = x->shape[1], groups = groupIndex->shape[0];
  const int64_t expected[] = {groups, width};
  check.shape("scale", scale, dense_layout(expected, 2));
  check.that(groups > 0, "scale has no rows; it needs at least one");
  check_packing(check, "y", y, layout_of(*x), "x");
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), factors = plan.input(scale), list = plan.input(groupIndex);
  const size_t offset = plan.input(offsetOptional), output = plan.output(y);
  return plan.finish(
      [=](PlanContext &c) {
        if (rows == 0 || width == 0) return Status{0};
        std::vector<int64_t> group_of_row;
        const Status s =
            read_row_groups(op, "groupIndex", c.tensor(list), true, rows, &group_of_row);
        if (s != 0) return s;
        Operands operands;
        const aclTensor &result = c.tensor(output);
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {shared_view(result)}));
        const QuantTarget to(result);
        const auto scales = read_all<float>(c, factors, groups * width, 1.0f);
        const float shift = read_all<float>(c, offset, 1, 0.0f)[0];
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *values) {
          const int64_t group = group_of_row[static_cast<size_t>(row)];
          if (group < 0) return;
          from.read(row * width, width, values);
          const float *factor = scales.data() + group * width;
          for (int64_t i = 0; i < width; ++i) values[i] = values[i] * factor[i] + shift;
          to.write(row * width, width, values);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
