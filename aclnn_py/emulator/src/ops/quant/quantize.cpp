// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// round(x / scale + zero point) with scales along one dimension. An INT32 result holds whole
// numbers.
#include <cmath>

#include "aclnnop/quant.h"
#include "ops/quant/static_quant.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

// To the nearest integer, half to even; limited to 32 bits, NaN as 0.
int32_t whole_number(float value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(static_cast<double>(value));
  return static_cast<int32_t>(std::min(std::max(rounded, -2147483648.0), 2147483647.0));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Quantize,
             (const aclTensor *x, const aclTensor *scales, const aclTensor *zeroPointsOptional,
              aclDataType dtype, int32_t axis, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnQuantize";
  Check check(op);
  check.required("x", x).required("scales", scales);
  check.optional("zeroPointsOptional", zeroPointsOptional).required("out", out);
  check.dtype("x", x).dtype("scales", scales).dtype("zeroPointsOptional", zeroPointsOptional);
  check.dtype("out", out);
  check.plain_format("x", x).plain_format("scales", scales).plain_format("out", out);
  check.plain_format("zeroPointsOptional", zeroPointsOptional);
  check.rank("x", x, 1, 8).rank("scales", scales, 1, 1);
  check.rank("zeroPointsOptional", zeroPointsOptional, 1, 1);
  if (!check.ok()) return check.status();
  check.that(dtype == out->dtype, "dtype is %s; it must be that of out, %s", dtype_name(dtype),
             dtype_name(out->dtype));
  if (x->dtype != ACL_FLOAT) check.same_dtype("scales", scales->dtype, "x", x->dtype);
  check.that(zeroPointsOptional == nullptr || zeroPointsOptional->dtype != ACL_BF16 ||
                 (x->dtype == ACL_BF16 && scales->dtype == ACL_BF16),
             "zeroPointsOptional has dtype BF16; then x and scales must have it too");
  const Layout values = layout_of(*x);
  int along = 0;
  check.that(wrap_dim(axis, values.rank, &along), "axis is %d; x has %d dimensions", axis,
             values.rank);
  check_along(check, "scales", scales, values, along, "x");
  check.shape("zeroPointsOptional", zeroPointsOptional, layout_of(*scales));
  check.shape("out", out, values);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), factors = plan.input(scales);
  const size_t zeros = plan.input(zeroPointsOptional), output = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &result = c.tensor(output);
        const View from = view_of(c.tensor(input)), to_view = view_of(result);
        const RowSource<float> values_from(operands.safe(from, {to_view}));
        const bool shifted = c.has(zeros), whole = result.dtype == ACL_INT32;
        const RowSource<float> divisors(spread_along(c.tensor(factors), from.layout, along));
        const RowSource<float> shifts(
            spread_along(c.tensor(shifted ? zeros : factors), from.layout, along));
        const QuantTarget to(result);
        std::optional<RowTarget<int32_t>> whole_to;
        if (whole) whole_to.emplace(to_view);
        const int64_t total = from.count(), blocks = (total + kBlock - 1) / kBlock;
        parallel_for(blocks, 16, [&](int64_t begin, int64_t end) {
          float block[kBlock], divisor[kBlock], shift[kBlock] = {};
          int32_t numbers[kBlock];
          for (int64_t b = begin; b < end; ++b) {
            const int64_t start = b * kBlock, n = std::min(kBlock, total - start);
            values_from.read(start, n, block);
            divisors.read(start, n, divisor);
            if (shifted) shifts.read(start, n, shift);
            for (int64_t i = 0; i < n; ++i) block[i] = block[i] / divisor[i] + shift[i];
            if (whole) {
              for (int64_t i = 0; i < n; ++i) numbers[i] = whole_number(block[i]);
              whole_to->write(start, n, numbers);
            } else {
              to.write(start, n, block);
            }
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
