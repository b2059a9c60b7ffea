// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Writing slices of the leading dimensions by index: ScatterNd, ScatterNdUpdate, ScatterMul and its
// kin, TfScatterAdd.
#include "aclnnop/index.h"
#include "core/chip.h"
#include "ops/index/addresses.h"
#include "ops/kept.h"
#include "ops/shape/movement.h"
#include "ops/shared/rows.h"

#include <optional>

namespace emu {
namespace {

struct SliceArguments {
  const char *op, *data_name;
  const aclTensor *data, *indices, *updates;
  const char *out_name;
  const aclTensor *out;
  std::optional<Combine> combine;  // absent: updates replace
};

// Nulls, dtypes and ranks that all of them share.
Check &check_slices(Check &check, const SliceArguments &a) {
  check.required(a.data_name, a.data)
      .required("indices", a.indices)
      .required("updates", a.updates)
      .required(a.out_name, a.out);
  check.dtype(a.data_name, a.data).dtype("indices", a.indices).dtype("updates", a.updates);
  check.rank(a.data_name, a.data, 1, 8).rank("indices", a.indices, 1, 8);
  if (!check.ok()) return check;
  check.same_dtype("updates", a.updates->dtype, a.data_name, a.data->dtype);
  check.same_dtype(a.out_name, a.out->dtype, a.data_name, a.data->dtype)
      .shape(a.out_name, a.out, layout_of(*a.data));
  return movable(check, a.data_name, a.data);
}

// The shape of updates where each `depth` entries of indices name a slice: the leading `lead`
// dimensions of indices, then what is left of data.
Layout slices_of(const SliceArguments &a, int lead, int64_t depth) {
  Layout walk;
  for (int d = 0; d < lead; ++d) walk.push(a.indices->shape[static_cast<size_t>(d)], 0);
  for (size_t d = static_cast<size_t>(depth); d < a.data->rank(); ++d)
    walk.push(a.data->shape[d], 0);
  return walk;
}

bool holds_zero(const View &view) {
  const RowSource<int64_t> source(view);
  int64_t block[kBlock];
  for (int64_t start = 0; start < view.count(); start += kBlock) {
    const int64_t n = std::min(kBlock, view.count() - start);
    source.read(start, n, block);
    if (std::find(block, block + n, 0) != block + n) return true;
  }
  return false;
}

// out[indices[i]] = updates[i], or out[indices[i]] combined with it. `lead` dimensions of indices
// are walked; where there is one more, it holds `depth` coordinates.
Status plan_slices(const SliceArguments &a, int lead, int64_t depth, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  const Layout walk = slices_of(a, lead, depth);
  PlanBuilder plan(a.op, KernelTime::linear);
  const bool in_place = a.data == a.out;
  const size_t from = in_place ? plan.output(a.out) : plan.input(a.data);
  const size_t which = plan.input(a.indices), source = plan.input(a.updates),
               to = in_place ? from : plan.output(a.out);
  const int coordinates = static_cast<int>(depth);
  const auto combine = a.combine;
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        const Snapshot kept_index(view_of(c.tensor(which)));
        const Kept kept_updates(view_of(c.tensor(source)), target);
        if (!in_place) move_view(view_of(c.tensor(from)), target);
        if (walk.count() == 0) return Status{0};
        if (combine == Combine::kDivide && is_integer(target.dtype) &&
            holds_zero(kept_updates.view())) {
          return fail(kKernelFault, "%s: updates holds 0; %s cannot be divided by it", op,
                      dtype_name(target.dtype));
        }
        View base = target, column = kept_index.view();
        const Layout index = column.layout;
        base.layout = column.layout = still(walk);
        for (int d = 0; d < lead; ++d) column.layout.stride[d] = index.stride[d];
        for (int d = coordinates; d < target.layout.rank; ++d) {
          base.layout.stride[lead + d - coordinates] = target.layout.stride[d];
        }
        Addresses into(base);
        for (int d = 0; d < coordinates; ++d) {
          into.add_index(column, target.layout.shape[d], target.layout.stride[d],
                         Negative::kRefuse);
          column.data += item_size(column.dtype);
        }
        IndexFault fault;
        if (combine) {
          combine_addressed(Addresses(kept_updates.view()), into, *combine, fault);
        } else {
          copy_addressed(Addresses(kept_updates.view()), into, Order::kSequential, fault);
        }
        return fault.status(op, "indices");
      },
      workspace_size, executor);
}

// The last dimension of indices holds coordinates of the leading dimensions.
Status plan_tuples(const SliceArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  if (!check_slices(check, a).ok()) return check.status();
  const int64_t depth = a.indices->shape.back();
  check.that(depth >= 1 && depth <= static_cast<int64_t>(a.data->rank()),
             "indices has %lld as its last dimension; allowed: 1 to the rank of %s, %zu",
             static_cast<long long>(depth), a.data_name, a.data->rank());
  if (!check.ok()) return check.status();
  const int lead = static_cast<int>(a.indices->rank()) - 1;
  if (!check.shape("updates", a.updates, slices_of(a, lead, depth)).ok()) return check.status();
  return plan_slices(a, lead, depth, workspace_size, executor);
}

// Every element of indices names a slice of the first dimension.
Status plan_rows(const char *op, aclTensor *variable, const aclTensor *indices,
                 const aclTensor *updates, Combine combine, uint64_t *workspace_size,
                 aclOpExecutor **executor) {
  const SliceArguments a{op, "varRef", variable, indices, updates, "varRef", variable, combine};
  Check check(op);
  check.required("varRef", variable).required("indices", indices).required("updates", updates);
  check.that(chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  if (!check_slices(check, a).ok()) return check.status();
  const int lead = static_cast<int>(indices->rank());
  check.tiling().shape("updates", updates, slices_of(a, lead, 1));
  if (!check.ok()) return check.status();
  return plan_slices(a, lead, 1, workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ScatterNd, (const aclTensor *data, const aclTensor *indices, const aclTensor *updates,
                         aclTensor *out)) {
  return emu::plan_tuples({"aclnnScatterNd", "data", data, indices, updates, "out", out, {}},
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterNdUpdate,
             (aclTensor *varRef, const aclTensor *indices, const aclTensor *updates)) {
  return emu::plan_tuples(
      {"aclnnScatterNdUpdate", "varRef", varRef, indices, updates, "varRef", varRef, {}},
      workspaceSize, executor);
}
EMU_CATCH

// indices names rows where updates has the shape for that, and coordinates otherwise.
EMU_OPERATOR(TfScatterAdd,
             (aclTensor *varRef, const aclTensor *indices, const aclTensor *updates)) {
  using namespace emu;
  const SliceArguments a{"aclnnTfScatterAdd", "varRef", varRef, indices, updates, "varRef", varRef,
                         Combine::kAdd};
  Check check(a.op);
  if (!check_slices(check, a).ok()) return check.status();
  check.rank("updates", updates, 1, 8);
  check.that(varRef->numel() > 0 || indices->numel() == 0,
             "varRef has no elements; indices has %lld", static_cast<long long>(indices->numel()));
  if (!check.ok()) return check.status();
  const int rank = static_cast<int>(indices->rank());
  if (same_shape(layout_of(*updates), slices_of(a, rank, 1)))
    return plan_slices(a, rank, 1, workspaceSize, executor);
  return plan_tuples(a, workspaceSize, executor);
}
EMU_CATCH

// useLocking has no effect in any of them.
EMU_OPERATOR(ScatterMul, (aclTensor *varRef, const aclTensor *indices, const aclTensor *updates,
                          bool useLocking)) {
  (void)useLocking;
  return emu::plan_rows("aclnnScatterMul", varRef, indices, updates, emu::Combine::kMultiply,
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterDiv, (aclTensor *varRef, const aclTensor *indices, const aclTensor *updates,
                          bool useLocking)) {
  (void)useLocking;
  return emu::plan_rows("aclnnScatterDiv", varRef, indices, updates, emu::Combine::kDivide,
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterMax, (aclTensor *varRef, const aclTensor *indices, const aclTensor *updates,
                          bool useLocking)) {
  (void)useLocking;
  return emu::plan_rows("aclnnScatterMax", varRef, indices, updates, emu::Combine::kMaximum,
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterMin, (aclTensor *varRef, const aclTensor *indices, const aclTensor *updates,
                          bool useLocking)) {
  (void)useLocking;
  return emu::plan_rows("aclnnScatterMin", varRef, indices, updates, emu::Combine::kMinimum,
                        workspaceSize, executor);
}
EMU_CATCH
