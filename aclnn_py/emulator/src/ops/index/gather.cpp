// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Reading by index: IndexSelect, GatherV2, GatherV3, Embedding, Gather, GatherNd, Take,
// RepeatInterleave.
#include "aclnnop/index.h"
#include "core/chip.h"
#include "core/kernel_call.h"
#include "core/statuses.h"
#include "ops/index/addresses.h"
#include "ops/shape/movement.h"

namespace emu {
namespace {

// A tensor without dimensions seen as one of (1).
Layout at_least_a_line(Layout layout) {
  if (layout.rank == 0) layout.push(1, 1);
  return layout;
}

// out = the entries of dimension `axis` of self that `index` (of any shape) names: lead | index |
// rest. The first `batch` dimensions of index run along with those of self.
void select(const View &self, int axis, const View &index, int batch, const View &out,
            Negative negative, IndexFault &fault) {
  View base = self, named = index;
  base.layout = named.layout = Layout();
  for (int d = 0; d < axis; ++d) {
    base.layout.push(self.layout.shape[d], self.layout.stride[d]);
    named.layout.push(self.layout.shape[d], d < batch ? index.layout.stride[d] : 0);
  }
  for (int d = batch; d < index.layout.rank; ++d) {
    base.layout.push(index.layout.shape[d], 0);
    named.layout.push(index.layout.shape[d], index.layout.stride[d]);
  }
  for (int d = axis + 1; d < self.layout.rank; ++d) {
    base.layout.push(self.layout.shape[d], self.layout.stride[d]);
    named.layout.push(self.layout.shape[d], 0);
  }
  View target = out;
  if (out.layout.rank > base.layout.rank)
    target = selected(out, axis, 0);  // the dimension of 1 an index of rank 0 leaves
  // the one element of a self of rank 0
  if (out.layout.rank < base.layout.rank) target.layout.push(1, 1);
  Addresses from(base), to(target);
  from.add_index(named, self.layout.shape[axis], self.layout.stride[axis], negative);
  copy_addressed(from, to, Order::kFree, fault);
}

struct SelectArguments {
  const char *op, *self_name;
  const aclTensor *self;
  int64_t dim;
  const char *index_name;
  const aclTensor *index;
  const aclTensor *out;
  int64_t batch;
  Negative negative = Negative::kRefuse;
};

Status plan_select(const SelectArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required(a.self_name, a.self).required(a.index_name, a.index).required("out", a.out);
  check.dtype(a.self_name, a.self).dtype(a.index_name, a.index);
  if (!check.ok()) return check.status();
  check.same_dtype("out", a.out->dtype, a.self_name, a.self->dtype);
  check.rank(a.self_name, a.self, 0, 8).rank(a.index_name, a.index, 0, 8);
  int axis = 0;
  dimension(check, "dim", a.dim, a.self_name, a.self->rank(), &axis);
  check.that(a.batch >= 0 && a.batch <= axis && a.batch <= static_cast<int64_t>(a.index->rank()),
             "batchDims is %lld; allowed: 0 to dim and to the rank of index",
             static_cast<long long>(a.batch));
  if (!check.ok()) return check.status();
  const Layout self = layout_of(*a.self), index = layout_of(*a.index);
  Layout result;
  const int batch = static_cast<int>(a.batch);
  for (int d = 0; d < axis; ++d) {
    check.that(d >= batch || self.shape[d] == index.shape[d],
               "%s has %lld along batch dimension %d; %s has %lld", a.index_name,
               static_cast<long long>(index.shape[d]), d, a.self_name,
               static_cast<long long>(self.shape[d]));
    result.push(self.shape[d], 0);
  }
  for (int d = batch; d < index.rank; ++d) result.push(index.shape[d], 0);
  for (int d = axis + 1; d < self.rank; ++d) result.push(self.shape[d], 0);
  // An index of rank 0 selects one entry; programs give the result with the dimension of 1 or
  // without.
  Layout kept = result;
  if (index.rank == 0) {
    kept = Layout();
    for (int d = 0; d < self.rank; ++d) kept.push(d == axis ? 1 : self.shape[d], 0);
  }
  if (check.ok() && !same_shape(layout_of(*a.out), kept)) {
    if (self.rank == 0) check.shape_or_one_element("out", a.out, result);
    else check.shape("out", a.out, result);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(a.self), which = plan.input(a.index), to = plan.output(a.out);
  const char *op = a.op, *index_name = a.index_name;
  const Negative negative = a.negative;
  return plan.finish(
      [=](PlanContext &c) {
        IndexFault fault;
        View source = view_of(c.tensor(from));
        if (source.layout.rank == 0) source.layout.push(1, 0);
        View target = view_of(c.tensor(to));
        std::unique_ptr<Snapshot> kept_source, kept_index;
        View index_view = view_of(c.tensor(which));
        if (index_view.count() == 0 || target.count() == 0) return Status{0};
        if (clash(source, target) || source.data == target.data) {
          kept_source = std::make_unique<Snapshot>(source);
          source = kept_source->view();
        }
        if (clash(index_view, target)) {
          kept_index = std::make_unique<Snapshot>(index_view);
          index_view = kept_index->view();
        }
        select(source, axis, index_view, batch, target, negative, fault);
        return fault.status(op, index_name);
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(IndexSelect,
             (const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out)) {
  emu::Check check("aclnnIndexSelect");
  check.required("self", self)
      .required("index", index)
      .required("out", out)
      .rank("index", index, 0, 1);
  check.plain_format("self", self).plain_format("index", index).plain_format("out", out);
  if (!check.ok()) return check.status();
  return emu::plan_select({"aclnnIndexSelect", "self", self, dim, "index", index, out, 0},
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GatherV2,
             (const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out)) {
  return emu::plan_select(
      {"aclnnGatherV2", "self", self, dim, "index", index, out, 0, emu::Negative::kFromEnd},
      workspaceSize, executor);
}
EMU_CATCH

// mode chooses between implementations (0, 1); 2 would let indices point outside and is not
// offered. The host code of a 910B lets only the plainest call through; its kernel, which an
// operator type of GE calls, has all of it.
EMU_OPERATOR(GatherV3, (const aclTensor *self, int64_t dim, const aclTensor *index,
                        int64_t batchDims, int64_t mode, aclTensor *out)) {
  emu::Check check("aclnnGatherV3");
  check.required("self", self).required("index", index).required("out", out);
  check.that(mode == 0 || mode == 1, "mode is %lld; allowed: 0, 1", static_cast<long long>(mode));
  check.that(
      emu::chip_is_950() || emu::KernelCall::now() || (dim == 0 && batchDims == 0 && mode == 1),
      "dim, batchDims and mode are %lld, %lld and %lld; this chip takes 0, 0 and 1",
      static_cast<long long>(dim), static_cast<long long>(batchDims), static_cast<long long>(mode));
  if (!check.ok()) return check.status();
  return emu::plan_select({"aclnnGatherV3", "self", self, dim, "index", index, out, batchDims},
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Embedding, (const aclTensor *weight, const aclTensor *indices, aclTensor *out)) {
  emu::Check check("aclnnEmbedding");
  check.required("weight", weight).rank("weight", weight, 0, 8);
  if (!check.ok()) return check.status();
  return emu::plan_select({"aclnnEmbedding", "weight", weight, 0, "indices", indices, out, 0},
                          workspaceSize, executor);
}
EMU_CATCH

// out[i][j][k] = self[index[i][j][k]][j][k] for dim 0, and so on.
EMU_OPERATOR(Gather, (const aclTensor *self, int64_t dim, const aclTensor *index, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnGather");
  check.required("self", self).required("index", index).required("out", out);
  check.dtype("self", self).dtype("index", index).rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  int axis = 0;
  dimension(check, "dim", dim, "self", self->rank(), &axis);
  const Layout extents = at_least_a_line(layout_of(*self)),
               walk = at_least_a_line(layout_of(*index));
  check.that(walk.rank == extents.rank, "index has %zu dimensions; self has %zu", index->rank(),
             self->rank());
  for (int d = 0; check.ok() && d < extents.rank; ++d) {
    check.that(d == axis || walk.shape[d] <= extents.shape[d],
               "index has %lld along dimension %d; self has %lld",
               static_cast<long long>(walk.shape[d]), d, static_cast<long long>(extents.shape[d]));
  }
  if (check.ok()) check.shape("out", out, layout_of(*index));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnGather", KernelTime::linear);
  const size_t from = plan.input(self), which = plan.input(index), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        IndexFault fault;
        View target = view_of(c.tensor(to));
        if (target.count() == 0) return Status{0};
        const Snapshot kept_index(view_of(c.tensor(which)));
        View source = view_of(c.tensor(from)), index_view = kept_index.view();
        std::unique_ptr<Snapshot> kept;
        if (clash(source, target) || source.data == target.data) {
          kept = std::make_unique<Snapshot>(source);
          source = kept->view();
        }
        for (View *view : {&source, &index_view, &target})
          view->layout = at_least_a_line(view->layout);
        View base = source;
        base.layout = index_view.layout;
        for (int d = 0; d < base.layout.rank; ++d)
          base.layout.stride[d] = d == axis ? 0 : source.layout.stride[d];
        Addresses list(base);
        list.add_index(index_view, source.layout.shape[axis], source.layout.stride[axis],
                       Negative::kFromEnd);
        copy_addressed(list, Addresses(target), Order::kFree, fault);
        return fault.status("aclnnGather", "index");
      },
      workspaceSize, executor);
}
EMU_CATCH

// The last dimension of indices holds coordinates of the leading dimensions of self.
EMU_OPERATOR(GatherNd, (const aclTensor *self, const aclTensor *indices, bool negativeIndexSupport,
                        aclTensor *out)) {
  using namespace emu;
  Check check("aclnnGatherNd");
  check.required("self", self).required("indices", indices).required("out", out);
  check.dtype("self", self)
      .dtype("indices", indices)
      .rank("self", self, 1, 8)
      .rank("indices", indices, 1, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  const int64_t depth = indices->shape.back();
  check.that(depth >= 1 && depth <= static_cast<int64_t>(self->rank()),
             "indices has %lld as its last dimension; allowed: 1 to the rank of self, %zu",
             static_cast<long long>(depth), self->rank());
  if (!check.ok()) return check.status();
  Layout result;
  for (size_t d = 0; d + 1 < indices->rank(); ++d) result.push(indices->shape[d], 0);
  for (size_t d = static_cast<size_t>(depth); d < self->rank(); ++d) result.push(self->shape[d], 0);
  check.shape("out", out, result);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnGatherNd", KernelTime::linear);
  const size_t from = plan.input(self), which = plan.input(indices), to = plan.output(out);
  const int lead = static_cast<int>(indices->rank()) - 1;
  return plan.finish(
      [=](PlanContext &c) {
        IndexFault fault;
        const View source = view_of(c.tensor(from)), target = view_of(c.tensor(to)),
                   index = view_of(c.tensor(which));
        if (target.count() == 0) return Status{0};
        View base = source, column = index;
        base.layout = column.layout = still(target.layout);
        for (int d = 0; d < lead; ++d) column.layout.stride[d] = index.layout.stride[d];
        for (int d = static_cast<int>(depth); d < source.layout.rank; ++d) {
          base.layout.stride[lead + d - static_cast<int>(depth)] = source.layout.stride[d];
        }
        Addresses list(base);
        const int64_t bytes = item_size(index.dtype) * index.layout.stride[lead];
        for (int d = 0; d < static_cast<int>(depth); ++d) {
          list.add_index(column, source.layout.shape[d], source.layout.stride[d],
                         negativeIndexSupport ? Negative::kFromEnd : Negative::kRefuse);
          column.data += bytes;
        }
        const Snapshot aside(target);  // self may lie under out
        copy_addressed(list, Addresses(aside.view()), Order::kFree, fault);
        if (!fault.found) copy_view(aside.view(), target);
        return fault.status("aclnnGatherNd", "indices");
      },
      workspaceSize, executor);
}
EMU_CATCH

// self as one long line.
EMU_OPERATOR(Take, (const aclTensor *self, const aclTensor *index, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnTake");
  check.required("self", self).required("index", index).required("out", out);
  check.dtype("self", self)
      .dtype("index", index)
      .rank("self", self, 0, 8)
      .rank("index", index, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype).shape("out", out, layout_of(*index));
  check.plain_format("self", self).plain_format("index", index).plain_format("out", out);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnTake", KernelTime::linear);
  const size_t from = plan.input(self), which = plan.input(index), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        IndexFault fault;
        const View target = view_of(c.tensor(to));
        if (target.count() == 0) return Status{0};
        const Snapshot dense(view_of(c.tensor(from))), kept_index(view_of(c.tensor(which)));
        View base = dense.view();
        base.layout = still(target.layout);
        Addresses list(base);
        list.add_index(kept_index.view(), dense.view().count(), 1, Negative::kFromEnd);
        copy_addressed(list, Addresses(target), Order::kFree, fault);
        return fault.status("aclnnTake", "index");
      },
      workspaceSize, executor);
}
EMU_CATCH

namespace emu {
namespace {

// Entry i of dimension `axis` repeats[i] times (or repeats[0] times each).
Status plan_repeat_interleave(const char *op, const aclTensor *self, const aclTensor *repeats,
                              bool flat, int64_t dim, int64_t output_size, const aclTensor *out,
                              uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("repeats", repeats).required("out", out);
  check.dtype("self", self).dtype("repeats", repeats).dtype("out", out).rank("self", self, 0, 8);
  check.rank("repeats", repeats, 0, 1);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  int axis = 0;
  if (!flat) dimension(check, "dim", dim, "self", self->rank(), &axis);
  if (!check.ok()) return check.status();
  Layout source = layout_of(*self);
  if (flat || source.rank == 0) {
    source = Layout();
    source.push(self->numel(), 1);
  }
  const int64_t entries = repeats->numel();
  check.that(entries == 1 || entries == source.shape[axis],
             "repeats has %lld entries; allowed: 1 or %lld", static_cast<long long>(entries),
             static_cast<long long>(source.shape[axis]));
  check.that(output_size >= 0, "outputSize is %lld; it must not be negative",
             static_cast<long long>(output_size));
  Layout result = source;
  result.shape[axis] = output_size;
  check.shape("out", out, result);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(self), times = plan.input(repeats), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const Snapshot dense(view_of(c.tensor(from))), counts(view_of(c.tensor(times)));
        const View input = reshaped(dense.view(), source);
        std::vector<int64_t> index;
        index.reserve(static_cast<size_t>(output_size));
        for (int64_t i = 0; i < source.shape[axis]; ++i) {
          const int64_t at = entries == 1 ? 0 : i;
          const int64_t n = counts.view().dtype == ACL_INT64
                                ? reinterpret_cast<const int64_t *>(counts.view().data)[at]
                                : reinterpret_cast<const int32_t *>(counts.view().data)[at];
          if (n < 0 || n > output_size - static_cast<int64_t>(index.size())) {
            return fail(kKernelFault, "%s: repeats holds %lld, which does not fit outputSize %lld",
                        op, static_cast<long long>(n), static_cast<long long>(output_size));
          }
          index.insert(index.end(), static_cast<size_t>(n), i);
        }
        if (static_cast<int64_t>(index.size()) != output_size) {
          return fail(kKernelFault, "%s: repeats adds up to %zu; outputSize is %lld", op,
                      index.size(), static_cast<long long>(output_size));
        }
        if (output_size == 0 || input.count() == 0) return Status{0};
        View names;
        names.data = reinterpret_cast<char *>(index.data());
        names.dtype = ACL_INT64;
        names.layout.push(output_size, 1);
        IndexFault fault;
        select(input, axis, names, 0, view_of(c.tensor(to)), Negative::kRefuse, fault);
        return fault.status(op, "repeats");
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RepeatInterleave, (const aclTensor *self, const aclTensor *repeats, int64_t outputSize,
                                aclTensor *out)) {
  return emu::plan_repeat_interleave("aclnnRepeatInterleave", self, repeats, true, 0, outputSize,
                                     out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RepeatInterleaveWithDim, (const aclTensor *self, const aclTensor *repeats, int64_t dim,
                                       int64_t outputSize, aclTensor *out)) {
  return emu::plan_repeat_interleave("aclnnRepeatInterleaveWithDim", self, repeats, false, dim,
                                     outputSize, out, workspaceSize, executor);
}
EMU_CATCH

// Position i repeats[i] times: the index a RepeatInterleave would use.
EMU_OPERATOR(RepeatInterleaveTensor,
             (const aclTensor *repeats, int64_t outputSize, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnRepeatInterleaveTensor");
  check.required("repeats", repeats)
      .required("out", out)
      .dtype("repeats", repeats)
      .dtype("out", out);
  check.rank("repeats", repeats, 1, 1);
  Layout result;
  result.push(outputSize, 1);
  check.shape("out", out, result);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnRepeatInterleaveTensor", KernelTime::linear);
  const size_t times = plan.input(repeats), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const Snapshot counts(view_of(c.tensor(times)));
        std::vector<int64_t> index;
        int64_t total = 0;
        for (int64_t i = 0; i < counts.view().count(); ++i) {
          const int64_t n = counts.view().dtype == ACL_INT64
                                ? reinterpret_cast<const int64_t *>(counts.view().data)[i]
                                : reinterpret_cast<const int32_t *>(counts.view().data)[i];
          if (n < 0 || !checked_add(total, n, &total)) total = kUncountable;
          if (total > outputSize) break;
          index.insert(index.end(), static_cast<size_t>(n), i);
        }
        if (total != outputSize || static_cast<int64_t>(index.size()) != outputSize) {
          return fail(emu::kKernelFault,
                      "aclnnRepeatInterleaveTensor: repeats adds up to %lld; outputSize is %lld",
                      static_cast<long long>(total), static_cast<long long>(outputSize));
        }
        View names;
        names.data = reinterpret_cast<char *>(index.data());
        names.dtype = ACL_INT64;
        names.layout.push(outputSize, 1);
        copy_view(names, view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
