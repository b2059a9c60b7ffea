// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Outer products, alone and added to a matrix.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

namespace emu {
namespace {

// A vector repeated over the rows of a matrix, or (down) over its columns.
View repeated(const View &vector, const Layout &matrix, bool down) {
  View view = vector;
  const int64_t step = vector.layout.stride[0];
  view.layout = Layout();
  view.layout.push(matrix.shape[0], down ? step : 0);
  view.layout.push(matrix.shape[1], down ? 0 : step);
  return view;
}

Layout outer_shape(const aclTensor &down, const aclTensor &across) {
  const int64_t shape[] = {down.shape[0], across.shape[0]};
  return dense_layout(shape, 2);
}

}  // namespace

EMU_FORMULA_XY(Ger, times(x, y))
EMU_OPERATOR(Ger, (const aclTensor *self, const aclTensor *vec2, aclTensor *out)) {
  static constexpr ElementwiseRow row = {"aclnnGer", &block_table<GerFormula, types::kNumber, 2, 0>,
                                         kKeep};
  Check check(row.op);
  check.required("self", self).required("vec2", vec2).required("out", out);
  check.dtype("self", self).dtype("vec2", vec2).dtype("out", out);
  if (!check.ok()) return check.status();
  const aclDataType common = promote(self->dtype, vec2->dtype);
  check.castable(common, "out", out->dtype).rank("self", self, 1, 1).rank("vec2", vec2, 1, 1);
  if (!check.ok()) return check.status();
  check.shape("out", out, outer_shape(*self, *vec2));
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, common, 2, &task)) return check.status();
  PlanBuilder plan(row.op);
  const size_t down = plan.input(self), across = plan.input(vec2), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        const View in[] = {repeated(view_of(c.tensor(down)), result.layout, true),
                           repeated(view_of(c.tensor(across)), result.layout, false)};
        run_elementwise(task, in, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA(Addr, (T x, T y, T z, T a, T b), plus(times(a, x), times(b, times(y, z))))
EMU_FORMULA(OuterOf, (T x, T y, T z, T a, T b),
            (static_cast<void>(x), static_cast<void>(a), times(b, times(y, z))))

namespace {

struct AddrCall {
  const char *op;
  const char *self_name;
  const aclTensor *self, *vec1, *vec2;
  const aclScalar *beta, *alpha;
  aclTensor *out;
  bool in_place;
};

// A factor of BOOL scales nothing but BOOL; one with a fraction scales no integers.
void factor_fits(Check &check, const char *name, const aclScalar *factor, aclDataType common) {
  if (factor == nullptr || !check.ok()) return;
  const bool whole = is_integer(common) || common == ACL_BOOL;
  check.that(factor->dtype != ACL_BOOL || common == ACL_BOOL,
             "%s has dtype BOOL, which scales only tensors of BOOL, not of %s", name,
             dtype_name(common));
  check.that(!is_floating(factor->dtype) || !whole,
             "%s has dtype %s, which does not scale tensors of %s; give an integer", name,
             dtype_name(factor->dtype), dtype_name(common));
}

void set_factor(ElementwiseTask *task, int position, const aclScalar *factor) {
  if (factor == nullptr) set_number(task, position, 1);
  else set_scalar(task, position, *factor, false);
}

Status addr(const AddrCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  // With a beta of 0 nothing of self reaches the result, not even what is no number.
  const bool alone = call.beta != nullptr && call.beta->to_double() == 0;
  const ElementwiseRow row = {call.op,
                              alone ? &block_table<OuterOfFormula, types::kReal, 3, 2>
                                    : &block_table<AddrFormula, types::kReal, 3, 2>,
                              kKeep};
  Check check(row.op);
  check.required(call.self_name, call.self).required("vec1", call.vec1);
  check.required("vec2", call.vec2).optional("betaOptional", call.beta);
  check.optional("alphaOptional", call.alpha).required("out", call.out);
  check.dtype(call.self_name, call.self).dtype("vec1", call.vec1).dtype("vec2", call.vec2);
  check.dtype("betaOptional", call.beta).dtype("alphaOptional", call.alpha);
  if (!call.in_place) check.dtype("out", call.out);
  if (!check.ok()) return check.status();
  const aclDataType common = promote(promote(call.self->dtype, call.vec1->dtype), call.vec2->dtype);
  factor_fits(check, "betaOptional", call.beta, common);
  factor_fits(check, "alphaOptional", call.alpha, common);
  check.castable(common, call.in_place ? call.self_name : "out", call.out->dtype);
  check.rank("vec1", call.vec1, 1, 1).rank("vec2", call.vec2, 1, 1);
  check.rank(call.self_name, call.self, call.in_place ? 2 : 0, 2);
  if (!check.ok()) return check.status();
  const Layout shape = outer_shape(*call.vec1, *call.vec2);
  const Layout given = layout_of(*call.self);
  Layout met;
  check.that(broadcast_shapes(given, shape, &met) && same_shape(met, shape),
             "%s has shape %s, which does not broadcast to that of the outer product, %s",
             call.self_name, shape_text(given).c_str(), shape_text(shape).c_str());
  check.shape(call.in_place ? call.self_name : "out", call.out, shape);
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, common, 3, &task)) return check.status();
  set_factor(&task, 0, call.beta);
  set_factor(&task, 1, call.alpha);
  PlanBuilder plan(row.op);
  const size_t from = plan.input(call.self), down = plan.input(call.vec1);
  const size_t across = plan.input(call.vec2);
  const size_t to = call.in_place ? from : plan.output(call.out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        const View in[] = {view_of(c.tensor(from), result.layout),
                           repeated(view_of(c.tensor(down)), result.layout, true),
                           repeated(view_of(c.tensor(across)), result.layout, false)};
        run_elementwise(task, in, result);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

EMU_OPERATOR(Addr,
             (const aclTensor *self, const aclTensor *vec1, const aclTensor *vec2,
              const aclScalar *betaOptional, const aclScalar *alphaOptional, aclTensor *out)) {
  return addr({"aclnnAddr", "self", self, vec1, vec2, betaOptional, alphaOptional, out, false},
              workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceAddr, (aclTensor *selfRef, const aclTensor *vec1, const aclTensor *vec2,
                           const aclScalar *betaOptional, const aclScalar *alphaOptional)) {
  return addr({"aclnnInplaceAddr", "selfRef", selfRef, vec1, vec2, betaOptional, alphaOptional,
               selfRef, true},
              workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
