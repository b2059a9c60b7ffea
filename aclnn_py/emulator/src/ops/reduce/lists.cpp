// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Sums and extremes over the members of a tensor list, element by element. Members broadcast.
#include <optional>
#include <vector>

#include "aclnnop/math.h"
#include "core/pool.h"
#include "ops/reduce/forms.h"

namespace emu {

EMU_FOLD(ListSum, T{}, plus(a, x), plus(a, b), a)
EMU_FOLD(ListMax, lowest<T>(), maximum(a, x), maximum(a, b), a)
EMU_FOLD(ListMin, highest<T>(), minimum(a, x), minimum(a, b), a)

namespace {

constexpr DtypeSet kMembers = dt::kFloat | dtype_set(ACL_INT8, ACL_UINT8, ACL_INT32, ACL_INT64);

// Folds the members' elements at each position; every view has the shape of `out`.
void fold_members(const FoldTask &task, const std::vector<View> &members, const View &out) {
  std::vector<Reader> readers;
  std::vector<std::optional<Snapshot>> copies(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    if (clash(members[i], out)) copies[i].emplace(members[i]);
    readers.emplace_back(copies[i] ? copies[i]->view() : members[i], task.compute_dtype);
  }
  const Writer writer(out, task.fns.result, task.result_dtype);
  const Compute have = compute_for(task.compute_dtype);
  parallel_for(out.count(), 16 * kBlock, [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kBlock * sizeof(Complex128)], wide[kBlock * sizeof(Complex128)];
    alignas(64) char lanes[kBlock * sizeof(Complex128)], result[kBlock * sizeof(Complex128)];
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = std::min(kBlock, end - start);
      task.fns.start(lanes, count);
      for (const Reader &reader : readers) {
        const void *block = reader.read(start, count, scratch);
        if (have != task.compute) {
          convert_table().cast[static_cast<int>(have)][static_cast<int>(task.compute)](block, count,
                                                                                       wide);
          block = wide;
        }
        task.fns.step(lanes, block, 1, count, count, task.parameter);
      }
      task.fns.finish(lanes, count, static_cast<int64_t>(readers.size()), task.parameter, result);
      writer.write(start, count, result);
    }
  });
}

Status reduce_list(const ReduceRow &row, const aclTensorList *tensors, aclTensor *out,
                   uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(row.op);
  check.required("tensors", tensors).required("out", out);
  if (!check.ok()) return check.status();
  check.that(!tensors->members.empty(), "tensors is empty; expected at least one member");
  Layout shape;
  for (size_t i = 0; i < tensors->members.size() && check.ok(); ++i) {
    const aclTensor *member = tensors->members[i];
    check.required("tensors", member).dtype("tensors", member).rank("tensors", member, 0, 8);
    if (check.ok()) check.dtype_in("tensors", member->dtype, kMembers);
    if (i == 0 && (row.rule & kPlainSelf) != 0) check.plain_format("tensors", member);
    if (!check.ok()) break;
    check.same_dtype("tensors", member->dtype, "its first member", tensors->members[0]->dtype);
    const Layout before = shape, given = layout_of(*member);
    check.that(broadcast_shapes(before, given, &shape),
               "tensors[%zu] has shape %s, which does not broadcast with %s", i,
               shape_text(given).c_str(), shape_text(before).c_str());
  }
  check.dtype("out", out).rank("out", out, 0, 8).shape("out", out, shape);
  FoldTask task;
  if (check.ok()) {
    const aclDataType dtype = tensors->members[0]->dtype;
    check.that(resolve_fold(row, dtype, &task), "dtype %s is not supported", dtype_name(dtype));
    if ((row.rule & kExact) != 0) check.same_dtype("out", out->dtype, "the members", dtype);
    else check.castable(dtype, "out", out->dtype);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(row.op, KernelTime::linear);
  const size_t first = plan.input_list(tensors), count = tensors->members.size(),
               target = plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View to = view_of(context.tensor(target));
        std::vector<View> members;
        for (size_t i = 0; i < count; ++i)
          members.push_back(view_of(context.tensor(first + i), to.layout));
        fold_members(task, members, to);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

#define EMU_REDUCE_LIST(NAME, FOLD, RULE, TYPES)                                                   \
  EMU_REDUCE(NAME, FOLD, RULE, TYPES, (const aclTensorList *tensors, aclTensor *out), reduce_list, \
             tensors, out)

EMU_REDUCE_LIST(Sum, ListSum, kKeep, types::kWideReal)
EMU_REDUCE_LIST(AddN, ListSum, kExact | kPlainSelf, types::kWideReal)
EMU_REDUCE_LIST(MaxN, ListMax, kExact, types::kReal)
EMU_REDUCE_LIST(MinN, ListMin, kExact, types::kReal)

}  // namespace emu
