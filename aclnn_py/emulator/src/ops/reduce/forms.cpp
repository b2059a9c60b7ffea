// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/forms.h"

namespace emu {
namespace {

// The checks every form shares; `position` is that of the dims array (-1: there is none).
void check_tensors(Check &check, const aclTensor *self, const aclIntArray *dims, int position,
                   const aclTensor *out, aclDataType dtype) {
  const char *self_name = check.facts().name(0);
  const char *out_name = check.facts().name(check.facts().count - 1);
  check.required(self_name, self);
  if (position >= 0) check.required(check.facts().name(position), dims);
  check.required(out_name, out).dtype(self_name, self).dtype(out_name, out);
  if (check.ok() && dtype != ACL_DT_UNDEFINED) {
    check.same_dtype(out_name, out->dtype, "the dtype argument", dtype);
  }
  check.rank(self_name, self);
}

const char *out_name(const Check &check) { return check.facts().name(check.facts().count - 1); }

}  // namespace

Status reduce_all(const ReduceRow &row, const aclTensor *self, aclTensor *out, aclDataType dtype,
                  uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(row.op);
  check_tensors(check, self, nullptr, -1, out, dtype);
  if (!check.ok()) return check.status();
  const AxisSet axes = all_axes(static_cast<int>(self->rank()));
  return plan_reduce({row, check, self, out, out_name(check), axes, false, dtype}, workspace_size,
                     executor);
}

Status reduce_dim(const ReduceRow &row, const aclTensor *self, int64_t dim, bool keep,
                  aclDataType dtype, aclTensor *out, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  Check check(row.op);
  check_tensors(check, self, nullptr, -1, out, dtype);
  if (!check.ok()) return check.status();
  const AxisSet axes = axis_of(check, check.facts().name(1), dim, static_cast<int>(self->rank()));
  return plan_reduce({row, check, self, out, out_name(check), axes, keep, dtype}, workspace_size,
                     executor);
}

Status reduce_dims(const ReduceRow &row, const aclTensor *self, const aclIntArray *dims, bool keep,
                   bool empty_is_none, aclDataType dtype, aclTensor *out, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  Check check(row.op);
  check_tensors(check, self, dims, 1, out, dtype);
  if (!check.ok()) return check.status();
  const auto rank = static_cast<int>(self->rank());
  const AxisSet axes = axes_of(check, check.facts().name(1), dims, rank, empty_is_none);
  return plan_reduce({row, check, self, out, out_name(check), axes, keep, dtype}, workspace_size,
                     executor);
}

}  // namespace emu
