// SPDX-License-Identifier: Apache-2.0
// ConfusionTranspose: a new shape and an exchange of dimensions in one, in either order. Chips of
// the 950 series alone have it.
#include "aclnnop/conversion.h"
#include "core/chip.h"
#include "ops/shape/movement.h"

#include <vector>

namespace emu {
namespace {

// The dimensions of a layout in another order.
Layout permuted(const Layout &layout, const std::vector<int64_t> &order) {
  Layout result;
  for (const int64_t from : order) result.push(layout.shape[from], layout.stride[from]);
  return result;
}

bool names_each_once(const std::vector<int64_t> &order) {
  uint32_t named = 0;
  for (const int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<int64_t>(order.size()) || (named >> axis & 1u) != 0)
      return false;
    named |= 1u << axis;
  }
  return true;
}

// What the shapes do not satisfy is found inside, behind the checks of the parameters.
Status judge_shapes(const char *op, const aclTensor &x, const std::vector<int64_t> &order,
                    const std::vector<int64_t> &shape, bool transpose_first, const aclTensor &out) {
  constexpr size_t kMost = 8;
  const size_t wanted = transpose_first ? x.rank() : shape.size();
  if (shape.empty() || shape.size() > kMost)
    return fail(kInnerNull, "%s: shape has %zu values; allowed: 1 to 8", op, shape.size());
  if (order.size() != wanted) {
    return fail(kInnerNull, "%s: perm has %zu values; it must have as many as %s, %zu", op,
                order.size(), transpose_first ? "x has dimensions" : "shape", wanted);
  }
  if (!names_each_once(order))
    return fail(kInnerNull, "%s: perm must name each of its %zu dimensions once", op, order.size());
  Checked count(1);
  Layout reshaped;
  for (const int64_t extent : shape) {
    if (extent < 0) {
      return fail(kInnerNull, "%s: shape has the value %lld; it must not be negative", op,
                  static_cast<long long>(extent));
    }
    count *= extent;
    reshaped.push(extent, 0);
  }
  if (reshaped.count() != x.numel()) {
    return fail(kInnerNull, "%s: shape is %s; its product must be the %lld elements of x", op,
                shape_text(reshaped).c_str(), static_cast<long long>(x.numel()));
  }
  const Layout made = transpose_first ? reshaped : permuted(reshaped, order);
  if (!same_shape(layout_of(out), made)) {
    return fail(kInnerNull, "%s: out has shape %s; expected %s", op,
                shape_text(layout_of(out)).c_str(), shape_text(made).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ConfusionTranspose, (const aclTensor *x, const aclIntArray *perm,
                                  const aclIntArray *shape, bool transpose_first, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnConfusionTranspose");
  check.required("x", x).required("perm", perm).required("shape", shape).required("out", out);
  check.that(chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  check.dtype("x", x).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "x", x->dtype).rank("x", x, 1, 8);
  if (!check.ok()) return check.status();
  if (const Status status = judge_shapes("aclnnConfusionTranspose", *x, perm->values, shape->values,
                                         transpose_first, *out)) {
    return status;
  }
  PlanBuilder plan("aclnnConfusionTranspose", KernelTime::linear);
  const size_t from = plan.input(x), to = plan.output(out);
  return plan.finish(
      [=, order = std::make_shared<const std::vector<int64_t>>(perm->values),
       extents = std::make_shared<const std::vector<int64_t>>(shape->values)](PlanContext &c) {
        View source = view_of(c.tensor(from));
        const View result = view_of(c.tensor(to));
        if (result.count() == 0) return Status{0};
        if (transpose_first) source.layout = permuted(source.layout, *order);
        const Snapshot dense(source);
        View part = reshaped(dense.view(),
                             dense_layout(extents->data(), static_cast<int>(extents->size())));
        if (!transpose_first) part.layout = permuted(part.layout, *order);
        copy_view(part, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
