// SPDX-License-Identifier: Apache-2.0
// Constants into a tensor.
#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>

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
  PlanBuilder plan(op, KernelTime::linear);
  const size_t target = plan.output(tensor);
  return plan.finish(
      [target, item](PlanContext &context) {
        fill_view(view_of(context.tensor(target)), item.data());
        return Status{0};
      },
      workspace_size, executor);
}

// Whether a number has a place among those of a dtype; infinities and NaN have one among floats.
bool within(aclDataType dtype, double value) {
  if (!std::isfinite(value)) return contains(dt::kFloat | dt::kComplex, dtype);
  const auto fits = [value](double lowest, double highest) {
    return value >= lowest && value <= highest;
  };
  switch (dtype) {
    case ACL_INT8: return fits(-128, 127);
    case ACL_UINT8: return fits(0, 255);
    case ACL_INT16: return fits(-32768, 32767);
    case ACL_INT32: return fits(INT32_MIN, INT32_MAX);
    case ACL_INT64: return value >= -0x1p63 && value < 0x1p63;
    case ACL_FLOAT16: return fits(-65504, 65504);
    case ACL_FLOAT:
    case ACL_BF16: return fits(-static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX));
    default: return true;
  }
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
  PlanBuilder plan("aclnnInplaceFillTensor", KernelTime::linear);
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

// The diagonal of a matrix, or of a tensor whose dimensions are equal; with `wrap` a tall matrix
// has another one behind a row that is left out, and so on.
EMU_OPERATOR(InplaceFillDiagonal, (aclTensor *selfRef, const aclScalar *fillValue, bool wrap)) {
  Check check("aclnnInplaceFillDiagonal");
  check.required("selfRef", selfRef).required("fillValue", fillValue);
  check.dtype("selfRef", selfRef).rank("selfRef", selfRef, 2, 8);
  if (!check.ok()) return check.status();
  check.castable(fillValue->dtype, "fillValue", ACL_FLOAT);
  const Layout given = layout_of(*selfRef);
  for (int d = 1; d < given.rank; ++d) {
    check.that(given.rank == 2 || given.shape[d] == given.shape[0],
               "selfRef has shape %s; with more than 2 dimensions they must be equal",
               shape_text(given).c_str());
  }
  check.that(within(selfRef->dtype, fillValue->to_double()),
             "fillValue is %g, which %s of selfRef cannot hold", fillValue->to_double(),
             dtype_name(selfRef->dtype));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnInplaceFillDiagonal", KernelTime::linear);
  const size_t target = plan.in_place(selfRef);
  const Item item = item_of(selfRef->dtype, *fillValue);
  return plan.finish(
      [target, item, wrap](PlanContext &context) {
        View view = view_of(context.tensor(target));
        const Layout whole = view.layout;
        int64_t length = whole.shape[0], step = 0;
        for (int d = 0; d < whole.rank; ++d) {
          length = std::min(length, whole.shape[d]);
          step += whole.stride[d];
        }
        const int64_t rows = whole.shape[0], item_bytes = item_size(view.dtype);
        for (int64_t first = 0; length > 0 && first < rows; first += length + 1) {
          View diagonal = view;
          diagonal.data += first * whole.stride[0] * item_bytes;
          diagonal.layout = Layout();
          diagonal.layout.push(std::min(length, rows - first), step);
          fill_view(diagonal, item.data());
          if (!wrap || whole.rank != 2) break;
        }
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
  PlanBuilder plan("aclnnForeachZeroInplace", KernelTime::linear);
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
