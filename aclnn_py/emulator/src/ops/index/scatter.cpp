// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Writing single elements by index: the Scatter family, InplaceScatterUpdate and InplacePut.
#include "aclnnop/index.h"
#include "core/chip.h"
#include "ops/index/addresses.h"
#include "ops/shape/movement.h"

#include <cstring>

namespace emu {
namespace {

struct ScatterArguments {
  const char *op, *self_name = "self";
  const aclTensor *self;
  int64_t dim;
  const aclTensor *index, *src;
  const aclScalar *value;  // instead of src
  int64_t reduce;          // 0 replace, 1 add, 2 multiply
  const char *out_name = "out";
  const aclTensor *out;
  // False: the values of self at the addressed positions take no part in the reduction.
  bool include_self = true;
};

// out = self; out[index[i][j][k]][j][k] = src[i][j][k] for dim 0, and so on.
Status plan_scatter(const ScatterArguments &a, bool scalar, uint64_t *workspace_size,
                    aclOpExecutor **executor) {
  Check check(a.op);
  check.required(a.self_name, a.self).required("index", a.index);
  if (scalar) check.required("value", a.value);
  else check.required("src", a.src);
  check.required(a.out_name, a.out)
      .dtype(a.self_name, a.self)
      .dtype("index", a.index)
      .dtype("src", a.src);
  check.rank(a.self_name, a.self, 0, 8);
  check.that(a.reduce >= 0 && a.reduce <= 2,
             "reduce is %lld; allowed: 0 (none), 1 (add), 2 (multiply)",
             static_cast<long long>(a.reduce));
  if (!check.ok()) return check.status();
  check.same_dtype(a.out_name, a.out->dtype, a.self_name, a.self->dtype);
  if (a.src != nullptr) check.same_dtype("src", a.src->dtype, a.self_name, a.self->dtype);
  int axis = 0;
  dimension(check, "dim", a.dim, a.self_name, a.self->rank(), &axis);
  check.shape(a.out_name, a.out, layout_of(*a.self));
  const size_t rank = a.self->rank();
  if (check.ok() && a.index->numel() > 0) {
    check.that(a.index->rank() == rank && (a.src == nullptr || a.src->rank() == rank),
               "%s, index and src differ in their number of dimensions", a.self_name);
    for (size_t d = 0; check.ok() && d < rank; ++d) {
      check.that((static_cast<int>(d) == axis || a.index->shape[d] <= a.self->shape[d]) &&
                     (a.src == nullptr || a.index->shape[d] <= a.src->shape[d]),
                 "index has %lld along dimension %zu, more than %s or src",
                 static_cast<long long>(a.index->shape[d]), d, a.self_name);
    }
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const bool in_place = a.self == a.out;
  const size_t self = in_place ? plan.output(a.out) : plan.input(a.self);
  const size_t which = plan.input(a.index), source = plan.input_if(a.src),
               to = in_place ? self : plan.output(a.out);
  const aclScalar value = scalar ? *a.value : aclScalar();
  const int64_t reduce = a.reduce;
  const bool anew = reduce != 0 && !a.include_self;
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        const Snapshot kept_index(view_of(c.tensor(which)));
        const View index = kept_index.view();
        alignas(16) char element[16] = {};
        View with;
        std::unique_ptr<Snapshot> kept;
        if (c.has(source)) {
          with = view_of(c.tensor(source));
          if (with.data != nullptr && (clash(with, target) || with.data == target.data)) {
            kept = std::make_unique<Snapshot>(with);
            with = kept->view();
          }
          for (int d = 0; d < with.layout.rank && index.count() > 0; ++d)
            with.layout.shape[d] = index.layout.shape[d];
        } else {
          with.data = element;
          with.dtype = target.dtype;
          fill_scalar(with, value);
          with.layout = still(index.layout);
        }
        if (!in_place) move_view(view_of(c.tensor(self)), target);
        if (index.count() == 0) return Status{0};
        View base = target;
        base.layout = index.layout;
        for (int d = 0; d < base.layout.rank; ++d)
          base.layout.stride[d] = d == axis ? 0 : target.layout.stride[d];
        IndexFault fault;
        Addresses into(base);
        const bool line = target.layout.rank == 0;
        into.add_index(index, line ? 1 : target.layout.shape[axis],
                       line ? 0 : target.layout.stride[axis], Negative::kRefuse);
        if (anew) {
          alignas(16) char neutral[16] = {};
          View start;
          start.data = neutral;
          start.dtype = target.dtype;
          aclScalar number;
          number.dtype = ACL_INT64;
          const int64_t unit = reduce == 1 ? 0 : 1;
          std::memcpy(number.value, &unit, sizeof unit);
          fill_scalar(start, number);
          start.layout = still(index.layout);
          copy_addressed(Addresses(start), into, Order::kSequential, fault);
        }
        if (reduce == 0) {
          copy_addressed(Addresses(with), into, Order::kSequential, fault);
        } else {
          combine_addressed(Addresses(with), into, reduce == 1 ? Combine::kAdd : Combine::kMultiply,
                            fault);
        }
        return fault.status(op, "index");
      },
      workspace_size, executor);
}

// What the operator takes of the reductions that the interface names: a 910B adds to self, a 950
// has the three of its kernel.
Check &reductions(Check &check, int64_t reduce, bool include_self) {
  const bool newer = chip_is_950();
  check.that(newer || reduce == 1, "reduce is %lld; this chip takes 1 (add)",
             static_cast<long long>(reduce));
  check.that(reduce >= 0 && reduce <= 2, "reduce is %lld; allowed: 0 (none), 1 (add), 2 (mul)",
             static_cast<long long>(reduce));
  return check.that(newer || include_self, "includeSelf is false; this chip takes true");
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Scatter, (const aclTensor *self, int64_t dim, const aclTensor *index,
                       const aclTensor *src, int64_t reduce, aclTensor *out)) {
  emu::ScatterArguments call{};
  call.op = "aclnnScatter";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.src = src;
  call.reduce = reduce;
  call.out = out;
  return emu::plan_scatter(call, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceScatter, (aclTensor *selfRef, int64_t dim, const aclTensor *index,
                              const aclTensor *src, int64_t reduce)) {
  emu::ScatterArguments call{};
  call.op = "aclnnInplaceScatter";
  call.self_name = "selfRef";
  call.self = selfRef;
  call.dim = dim;
  call.index = index;
  call.src = src;
  call.reduce = reduce;
  call.out_name = "selfRef";
  call.out = selfRef;
  return emu::plan_scatter(call, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterValue, (const aclTensor *self, int64_t dim, const aclTensor *index,
                            const aclScalar *value, int64_t reduce, aclTensor *out)) {
  emu::ScatterArguments call{};
  call.op = "aclnnScatterValue";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.value = value;
  call.reduce = reduce;
  call.out = out;
  return emu::plan_scatter(call, true, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceScatterValue, (aclTensor *selfRef, int64_t dim, const aclTensor *index,
                                   const aclScalar *value, int64_t reduce)) {
  emu::ScatterArguments call{};
  call.op = "aclnnInplaceScatterValue";
  call.self_name = "selfRef";
  call.self = selfRef;
  call.dim = dim;
  call.index = index;
  call.value = value;
  call.reduce = reduce;
  call.out_name = "selfRef";
  call.out = selfRef;
  return emu::plan_scatter(call, true, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterAdd, (const aclTensor *self, int64_t dim, const aclTensor *index,
                          const aclTensor *src, aclTensor *out)) {
  emu::ScatterArguments call{};
  call.op = "aclnnScatterAdd";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.src = src;
  call.reduce = 1;
  call.out = out;
  return emu::plan_scatter(call, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScatterReduce,
             (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *src,
              int64_t reduce, bool includeSelf, aclTensor *out)) {
  emu::Check check("aclnnScatterReduce");
  check.required("self", self).required("index", index).required("src", src).required("out", out);
  if (!emu::reductions(check, reduce, includeSelf).ok()) return check.status();
  emu::ScatterArguments call{};
  call.op = "aclnnScatterReduce";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.src = src;
  call.reduce = reduce;
  call.include_self = includeSelf;
  call.out = out;
  return emu::plan_scatter(call, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceScatterReduce, (aclTensor *selfRef, int64_t dim, const aclTensor *index,
                                    const aclTensor *src, int64_t reduce, bool includeSelf)) {
  emu::Check check("aclnnInplaceScatterReduce");
  check.required("selfRef", selfRef).required("index", index).required("src", src);
  if (!emu::reductions(check, reduce, includeSelf).ok()) return check.status();
  emu::ScatterArguments call{};
  call.op = "aclnnInplaceScatterReduce";
  call.self_name = "selfRef";
  call.self = selfRef;
  call.dim = dim;
  call.index = index;
  call.src = src;
  call.reduce = reduce;
  call.include_self = includeSelf;
  call.out_name = "selfRef";
  call.out = selfRef;
  return emu::plan_scatter(call, false, workspaceSize, executor);
}
EMU_CATCH

// updates[i] goes to entry i of data (or to the entry indices[i][0] names) from position indices[i]
// (or indices[i][1]) along `axis`.
EMU_OPERATOR(InplaceScatterUpdate, (aclTensor *dataRef, const aclTensor *indices,
                                    const aclTensor *updates, int64_t axis)) {
  using namespace emu;
  Check check("aclnnInplaceScatterUpdate");
  check.required("dataRef", dataRef).required("indices", indices).required("updates", updates);
  check.dtype("dataRef", dataRef).dtype("indices", indices).dtype("updates", updates);
  check.rank("dataRef", dataRef, 2, 8).rank("indices", indices, 0, 2);
  if (!check.ok()) return check.status();
  movable(check, "dataRef", dataRef)
      .same_dtype("updates", updates->dtype, "dataRef", dataRef->dtype);
  int along = 0;
  dimension(check, "axis", axis, "dataRef", dataRef->rank(), &along);
  check.that(along != 0,
             "axis is the first dimension, which the entries of indices already stand for");
  check.that(updates->rank() == dataRef->rank(), "updates has %zu dimensions; dataRef has %zu",
             updates->rank(), dataRef->rank());
  const int64_t batches = indices->rank() == 0 ? 1 : indices->shape[0];
  const bool pairs = indices->rank() == 2;
  check.that(!pairs || indices->shape[1] == 2, "indices has %lld columns; expected 2",
             static_cast<long long>(pairs ? indices->shape[1] : 2));
  for (size_t d = 0; check.ok() && d < dataRef->rank(); ++d) {
    const int64_t have = updates->shape[d], room = dataRef->shape[d];
    const bool fits = d == 0                         ? have == batches && (pairs || have <= room)
                      : static_cast<int>(d) == along ? have <= room
                                                     : have == room;
    check.that(fits,
               "updates has %lld along dimension %zu; dataRef has %lld and indices %lld entries",
               static_cast<long long>(have), d, static_cast<long long>(room),
               static_cast<long long>(batches));
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnInplaceScatterUpdate", KernelTime::linear);
  const size_t to = plan.output(dataRef), which = plan.input(indices), from = plan.input(updates);
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        const Snapshot kept_index(view_of(c.tensor(which))), kept(view_of(c.tensor(from)));
        const View index = kept_index.view(), source = kept.view();
        const auto number = [&](int64_t i) {
          return index.dtype == ACL_INT64 ? reinterpret_cast<const int64_t *>(index.data)[i]
                                          : reinterpret_cast<const int32_t *>(index.data)[i];
        };
        IndexFault fault;
        const int64_t length = source.layout.shape[along];
        for (int64_t i = 0; i < batches && !fault.found; ++i) {
          const int64_t entry = pairs ? number(2 * i) : i,
                        start = pairs ? number(2 * i + 1) : number(i);
          if (entry < 0 || entry >= target.layout.shape[0]) {
            fault.report(entry, target.layout.shape[0]);
          } else if (start < 0 || start > target.layout.shape[along] - length) {
            fault.report(start, target.layout.shape[along]);
          } else if (source.count() > 0) {
            copy_view(selected(source, 0, i),
                      selected(narrowed(target, along, start, length), 0, entry));
          }
        }
        return fault.status("aclnnInplaceScatterUpdate", "indices");
      },
      workspaceSize, executor);
}
EMU_CATCH

// selfRef as one long line: entry index[i] becomes, or grows by, source[i].
EMU_OPERATOR(InplacePut, (aclTensor *selfRef, const aclTensor *index, const aclTensor *source,
                          bool accumulate)) {
  using namespace emu;
  Check check("aclnnInplacePut");
  check.required("selfRef", selfRef).required("index", index).required("source", source);
  check.dtype("selfRef", selfRef).dtype("index", index);
  check.rank("selfRef", selfRef, 0, 8).rank("index", index, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("source", source->dtype, "selfRef", selfRef->dtype);
  check.that(source->numel() == index->numel(), "source has %lld elements; index has %lld",
             static_cast<long long>(source->numel()), static_cast<long long>(index->numel()));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnInplacePut", KernelTime::linear);
  const size_t to = plan.output(selfRef), which = plan.input(index), from = plan.input(source);
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        const Snapshot kept_index(view_of(c.tensor(which))), kept(view_of(c.tensor(from)));
        if (kept.view().count() == 0) return Status{0};
        const Snapshot line(target);
        View base = line.view(), names = kept_index.view(), values = kept.view();
        names.layout = values.layout = Layout();
        names.layout.push(kept.view().count(), 1);
        values.layout.push(kept.view().count(), 1);
        base.layout = still(names.layout);
        Addresses into(base);
        into.add_index(names, target.count(), 1, Negative::kRefuse);
        IndexFault fault;
        if (accumulate) {
          combine_addressed(Addresses(values), into, Combine::kAdd, fault);
        } else {
          copy_addressed(Addresses(values), into, Order::kSequential, fault);
        }
        if (!fault.found) copy_view(line.view(), target);
        return fault.status("aclnnInplacePut", "index");
      },
      workspaceSize, executor);
}
EMU_CATCH
