// SPDX-License-Identifier: Apache-2.0
// Constants into a tensor.
#include <array>

#include "aclnnop/conversion.h"
#include "aclnnop/foreach.h"
#include "aclnnop/math.h"
#include "ops/op.h"

namespace emu {
namespace {

using Item = std::array<char, 16>;

// A number in the memory format of a dtype.
Item item_of(aclDataType dtype, double value) {
  Item item{};
  store_as(dtype, item.data(), 0, 1, Compute::F64, &value);
  return item;
}

Item item_of(aclDataType dtype, const aclScalar &scalar) {
  alignas(16) char wide[sizeof(Complex128)];
  convert_table().load[scalar.dtype](reinterpret_cast<const char *>(scalar.value), 0, 1, wide);
  Item item{};
  store_as(dtype, item.data(), 0, 1, compute_for(scalar.dtype), wide);
  return item;
}

Status plan_fill(const char *op, const aclTensor *tensor, const Item &item,
                 uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(op);
  const size_t target = plan.output(tensor);
  return plan.finish(
      [target, item](PlanContext &context) {
        fill_view(view_of(context.tensor(target)), item.data());
        return Status{0};
      },
      workspace_size, executor);
}

Check &whole_bytes(Check &check, const char *parameter, const aclTensor *tensor) {
  return check.that(item_size(tensor->dtype) > 0,
                    "%s has dtype %s, which the emulator does not fill", parameter,
                    dtype_name(tensor->dtype));
}

}  // namespace

EMU_OPERATOR(InplaceZero, (aclTensor *selfRef)) {
  Check check("aclnnInplaceZero");
  check.required("selfRef", selfRef).dtype("selfRef", selfRef).rank("selfRef", selfRef, 0, 8);
  if (check.ok()) whole_bytes(check, "selfRef", selfRef);
  if (!check.ok()) return check.status();
  return plan_fill("aclnnInplaceZero", selfRef, Item{}, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceOne, (aclTensor *selfRef)) {
  Check check("aclnnInplaceOne");
  check.required("selfRef", selfRef).dtype("selfRef", selfRef).rank("selfRef", selfRef, 0, 8);
  if (!check.ok()) return check.status();
  return plan_fill("aclnnInplaceOne", selfRef, item_of(selfRef->dtype, 1.0), workspaceSize,
                   executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceFillScalar, (aclTensor *selfRef, const aclScalar *value)) {
  Check check("aclnnInplaceFillScalar");
  check.required("selfRef", selfRef).required("value", value);
  check.dtype("selfRef", selfRef).dtype("value", value).rank("selfRef", selfRef, 0, 8);
  if (!check.ok()) return check.status();
  return plan_fill("aclnnInplaceFillScalar", selfRef, item_of(selfRef->dtype, *value),
                   workspaceSize, executor);
}
EMU_CATCH

// The value is one element, read when the stream gets there.
EMU_OPERATOR(InplaceFillTensor, (aclTensor *selfRef, const aclTensor *value)) {
  Check check("aclnnInplaceFillTensor");
  check.required("selfRef", selfRef).required("value", value);
  check.dtype("selfRef", selfRef).rank("selfRef", selfRef, 0, 8);
  if (check.ok()) {
    check.that(is_computable(value->dtype), "value has dtype %s, which is not supported",
               dtype_name(value->dtype));
    check.that(value->numel() == 1 && value->rank() <= 1,
               "value has shape %s; expected one element", shape_text(layout_of(*value)).c_str());
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnInplaceFillTensor");
  const size_t target = plan.output(selfRef), source = plan.input(value);
  return plan.finish(
      [source, target](PlanContext &context) {
        const View from = view_of(context.tensor(source)), to = view_of(context.tensor(target));
        alignas(16) char wide[sizeof(Complex128)];
        Item item{};
        convert_table().load[from.dtype](from.data, 0, 1, wide);
        store_as(to.dtype, item.data(), 0, 1, compute_for(from.dtype), wide);
        fill_view(to, item.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ForeachZeroInplace, (aclTensorList *xRef)) {
  Check check("aclnnForeachZeroInplace");
  check.required("xRef", xRef);
  if (!check.ok()) return check.status();
  for (const aclTensor *member : xRef->members) {
    check.required("xRef", member).dtype("xRef", member).rank("xRef", member, 0, 8);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnForeachZeroInplace");
  const size_t first = plan.output_list(xRef), count = xRef->members.size();
  return plan.finish(
      [first, count](PlanContext &context) {
        const Item zero{};
        for (size_t i = 0; i < count; ++i)
          fill_view(view_of(context.tensor(first + i)), zero.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
