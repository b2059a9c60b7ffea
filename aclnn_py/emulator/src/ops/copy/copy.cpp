// SPDX-License-Identifier: Apache-2.0
// Copies between views of any strides, with conversion of the dtype.
#include "aclnnop/conversion.h"
#include "aclnnop/math.h"
#include "ops/op.h"

namespace emu {
namespace {

// A copy that reads its source in full before it overwrites a part of it.
void copy_safely(const View &from, const View &to) {
  if (!clash(from, to)) return copy_view(from, to);
  copy_view(Snapshot(from).view(), to);
}

Check &known(Check &check, const char *parameter, const aclTensor *tensor) {
  return check.that(is_computable(tensor->dtype),
                    "%s has dtype %s, which the emulator does not convert", parameter,
                    dtype_name(tensor->dtype));
}

Status plan_copy(PlanBuilder &plan, size_t source, size_t target, uint64_t *workspace_size,
                 aclOpExecutor **executor) {
  return plan.finish(
      [source, target](PlanContext &context) {
        const View result = view_of(context.tensor(target));
        copy_safely(view_of(context.tensor(source), result.layout), result);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

// `src` broadcasts to `selfRef` and takes its dtype.
EMU_OPERATOR(InplaceCopy, (aclTensor *selfRef, const aclTensor *src)) {
  Check check("aclnnInplaceCopy");
  check.required("selfRef", selfRef).required("src", src);
  check.dtype("selfRef", selfRef).dtype("src", src);
  if (check.ok() && src->dtype != selfRef->dtype)
    known(known(check, "selfRef", selfRef), "src", src);
  check.rank("selfRef", selfRef, 0, 8).rank("src", src, 0, 8);
  if (!check.ok()) return check.status();
  const Layout target = layout_of(*selfRef), source = layout_of(*src);
  Layout meet;
  check.that(broadcast_shapes(target, source, &meet) && same_shape(meet, target),
             "src has shape %s, which does not broadcast to selfRef's %s",
             shape_text(source).c_str(), shape_text(target).c_str());
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnInplaceCopy", KernelTime::linear);
  const size_t to = plan.output(selfRef), from = plan.input(src);
  return plan_copy(plan, from, to, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Cast, (const aclTensor *self, aclDataType dtype, aclTensor *out)) {
  Check check("aclnnCast");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (check.ok()) {
    check.that(dtype == out->dtype, "dtype is %s; it must be that of out, %s", dtype_name(dtype),
               dtype_name(out->dtype));
  }
  if (check.ok()) known(known(check, "self", self), "out", out);
  check.rank("self", self, 0, 8);
  if (check.ok()) check.shape("out", out, layout_of(*self)).plain_format("self", self);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnCast", KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan_copy(plan, from, to, workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
