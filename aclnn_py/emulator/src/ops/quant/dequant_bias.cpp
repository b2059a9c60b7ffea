// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// An INT32 product multiplied by a scale for each column and one for each row. A bias of integers
// is added to the product, one of floats to the result.
#include "aclnnop/quant.h"
#include "ops/shared/quantised.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostRows = 25000;

}  // namespace
}  // namespace emu

EMU_OPERATOR(DequantBias, (const aclTensor *x, const aclTensor *weightScale,
                           const aclTensor *activateScaleOptional, const aclTensor *biasOptional,
                           int64_t outputDtype, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnDequantBias";
  Check check(op);
  check.required("x", x).required("weightScale", weightScale);
  check.optional("activateScaleOptional", activateScaleOptional);
  check.optional("biasOptional", biasOptional).required("out", out);
  check.dtype("x", x).dtype("weightScale", weightScale).dtype("out", out);
  check.tiling();
  check.dtype("activateScaleOptional", activateScaleOptional).dtype("biasOptional", biasOptional);
  check.rank("x", x, 2, 2);
  if (!check.ok()) return check.status();
  const aclDataType wanted = weightScale->dtype == ACL_FLOAT ? ACL_FLOAT16 : ACL_BF16;
  check.that(out->dtype == wanted, "out has dtype %s; beside weightScale of %s it must be %s",
             dtype_name(out->dtype), dtype_name(weightScale->dtype), dtype_name(wanted));
  check_dst_type(check, "outputDtype", outputDtype, "out", out);
  const int64_t rows = x->shape[0], width = x->shape[1];
  check.that(rows > 0 && rows <= kMostRows && width > 0,
             "x has shape %s; allowed: 1 to %lld rows of at least one value",
             shape_text(layout_of(*x)).c_str(), static_cast<long long>(kMostRows));
  check.shape("weightScale", weightScale, dense_layout(&width, 1));
  check.shape("activateScaleOptional", activateScaleOptional, dense_layout(&rows, 1));
  check.shape("biasOptional", biasOptional, dense_layout(&width, 1));
  check.shape("out", out, layout_of(*x));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), weight = plan.input(weightScale);
  const size_t activation = plan.input(activateScaleOptional), bias = plan.input(biasOptional);
  const size_t output = plan.output(out);
  const bool whole_bias = biasOptional != nullptr && biasOptional->dtype == ACL_INT32;
  const bool float_bias = biasOptional != nullptr && !whole_bias;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(output));
        const RowSource<int64_t> from(operands.safe(view_of(c.tensor(input)), {result}));
        const RowTarget<float> to(result);
        const auto weights = read_all<float>(c, weight, width, 1.0f);
        const auto row_scales = read_all<float>(c, activation, rows, 1.0f);
        std::vector<int64_t> before(static_cast<size_t>(width), 0);
        std::vector<float> after(static_cast<size_t>(width), 0.0f);
        if (whole_bias) before = read_all<int64_t>(c, bias, width, 0);
        if (float_bias) after = read_all<float>(c, bias, width, 0.0f);
        for_each_row<int64_t>(rows, width, 1, [&](int64_t row, int64_t *sums) {
          std::vector<float> values(static_cast<size_t>(width));
          from.read(row * width, width, sums);
          const float scale = row_scales[static_cast<size_t>(row)];
          for (size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<float>(sums[i] + before[i]) * weights[i] * scale + after[i];
          }
          to.write(row * width, width, values.data());
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
