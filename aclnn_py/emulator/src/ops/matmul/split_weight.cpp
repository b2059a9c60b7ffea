// SPDX-License-Identifier: Apache-2.0
// A product with weights of float32 that are kept as two of BFLOAT16, on chips of the 950 series.
#include <climits>

#include "aclnnop/matmul.h"
#include "ops/matmul/product.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnMatmulEmuSplitWeight";
constexpr float kLowScale = 1.0f / 256.0f;

Check check_split(const aclTensor *x, const aclTensor *high, const aclTensor *low,
                  const aclTensor *y, float scale, int8_t y_dtype) {
  Check check(kOp);
  check.required("x", x).required("wHigh", high).required("wLow", low).required("y", y);
  if (!check.ok() || check_chip(check, kRuntimeError) != 0) return check;
  check.dtype("x", x).dtype("wHigh", high).dtype("wLow", low).dtype("y", y);
  check.that(y_dtype == ACL_FLOAT, "yDtype is %d; it must be 0", y_dtype);
  check.that(scale == kLowScale, "wLowScale is %g; it must be 1 / 256", static_cast<double>(scale));
  check.rank("x", x, 2, 2).rank("wHigh", high, 2, 2);
  if (!check.ok()) return check;
  check_format(check, "x", x);
  check_format(check, "wHigh", high);
  check_format(check, "wLow", low);
  for (const auto &[name, tensor] :
       {std::pair<const char *, const aclTensor *>{"x", x}, {"wHigh", high}}) {
    for (const int64_t extent : tensor->shape) {
      check.that(extent > 0 && extent <= INT_MAX,
                 "%s has shape %s; each dimension must be from 1 to 2147483647", name,
                 shape_text(layout_of(*tensor)).c_str());
    }
  }
  check.that(x->shape[1] == high->shape[0], "x %s and wHigh %s cannot be multiplied",
             shape_text(layout_of(*x)).c_str(), shape_text(layout_of(*high)).c_str());
  const int64_t shape[] = {x->shape[0], high->shape[1]};
  check.shape("wLow", low, layout_of(*high)).shape("y", y, dense_layout(shape, 2));
  check.size("y", Checked(shape[0]) * shape[1] * 4);
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MatmulEmuSplitWeight,
             (const aclTensor *x, const aclTensor *wHigh, const aclTensor *wLow, aclTensor *y,
              float wLowScale, int8_t yDtype)) {
  using namespace emu;
  const Check check = check_split(x, wHigh, wLow, y, wLowScale, yDtype);
  if (const Status status = check_chip(check, kRuntimeError)) return status;
  PlanBuilder plan(kOp);
  const size_t left = plan.input(x), high = plan.input(wHigh), low = plan.input(wLow),
               to = plan.output(y);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        View sums = result;
        sums.layout = dense_like(result.layout);
        std::unique_ptr<float[]> memory(new float[static_cast<size_t>(result.count())]);
        sums.data = reinterpret_cast<char *>(memory.get());
        StackProduct product;
        product.a = matrix_stack(c.tensor(left));
        product.b = matrix_stack(c.tensor(high));
        product.out = sums;
        multiply(product);
        product.b = matrix_stack(c.tensor(low));
        product.alpha = static_cast<double>(kLowScale);
        product.has_addend = true;
        product.addend = matrix_stack(sums);
        product.out = result;
        multiply(product);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
