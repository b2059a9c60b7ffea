// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// A product with a tensor whose dimensions are some neighbours of the other's, and a sum.
#include "aclnnop/math.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

// The dimensions [axis, axis + count) of `whole`.
Layout part_of(const Layout &whole, int axis, int count) {
  return dense_layout(whole.shape + axis, count);
}

// A tensor of those dimensions, or of one element, repeated to the shape of `whole`.
View along(const View &factor, const Layout &whole, int axis, int count) {
  View view = factor;
  view.layout = Layout();
  for (int d = 0; d < whole.rank; ++d) {
    const bool own = d >= axis && d < axis + count;
    view.layout.push(whole.shape[d], own ? factor.layout.stride[d - axis] : 0);
  }
  return view;
}

}  // namespace

EMU_FORMULA_XY(Scale, x *y)
EMU_FORMULA_XYZ(ScaleBias, x *y + z)
EMU_OPERATOR(Scale, (const aclTensor *x, const aclTensor *scale, const aclTensor *bias,
                     int64_t axis, int64_t numAxes, bool scaleFromBlob, aclTensor *y)) {
  constexpr unsigned kTypes = types::bit(Compute::F32);
  static constexpr ElementwiseRow plain = {"aclnnScale", &block_table<ScaleFormula, kTypes, 2, 0>,
                                           kExact};
  static constexpr ElementwiseRow biased = {"aclnnScale",
                                            &block_table<ScaleBiasFormula, kTypes, 3, 0>, kExact};
  Check check(plain.op);
  check.required("x", x).required("scale", scale).optional("bias", bias).required("y", y);
  check.dtype("x", x);
  if (!check.ok()) return check.status();
  check.same_dtype("scale", scale->dtype, "x", x->dtype).same_dtype("y", y->dtype, "x", x->dtype);
  if (bias != nullptr) check.same_dtype("bias", bias->dtype, "scale", scale->dtype);
  check.rank("x", x, 1, 8).rank("scale", scale, 0, 8);
  if (!check.ok()) return check.status();
  const Layout whole = layout_of(*x);
  check.shape("y", y, whole);
  if (bias != nullptr) check.shape("bias", bias, layout_of(*scale));
  const int rank = whole.rank;
  check.that(axis >= -rank && axis < rank, "axis is %lld; allowed: %d to %d",
             static_cast<long long>(axis), -rank, rank - 1);
  check.that(numAxes >= -1, "numAxes is %lld; allowed: -1 and more",
             static_cast<long long>(numAxes));
  if (!check.ok()) return check.status();
  const int first = static_cast<int>(axis < 0 ? axis + rank : axis), most = rank - first;
  const int64_t wanted = !scaleFromBlob ? scale->rank() : numAxes == -1 ? most : numAxes;
  check.that(wanted <= most, "%s is %lld; x has %d dimensions from axis %d on",
             scaleFromBlob ? "numAxes" : "the rank of scale", static_cast<long long>(wanted), most,
             first);
  if (!check.ok()) return check.status();
  const int count = static_cast<int>(wanted);
  const int64_t one = 1;
  check.shape("scale", scale,
              scaleFromBlob && count == 0 ? dense_layout(&one, 1) : part_of(whole, first, count));
  ElementwiseTask task;
  const int inputs = bias == nullptr ? 2 : 3;
  if (!check.ok() || !resolve_task(inputs == 2 ? plain : biased, x->dtype, inputs, &task)) {
    return check.status();
  }
  PlanBuilder plan(plain.op, KernelTime::linear);
  const size_t from = plan.input(x), factor = plan.input(scale);
  const size_t term = bias == nullptr ? factor : plan.input(bias), to = plan.output(y);
  return plan.finish(
      [=](PlanContext &c) {
        const View values = view_of(c.tensor(from));
        const View in[] = {values, along(view_of(c.tensor(factor)), values.layout, first, count),
                           along(view_of(c.tensor(term)), values.layout, first, count)};
        run_elementwise(task, in, view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
