// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Writing whole entries of one dimension: IndexCopy, IndexAdd, IndexFill and their in-place forms.
#include "aclnnop/index.h"
#include "core/chip.h"
#include "core/pool.h"
#include "ops/index/addresses.h"
#include "ops/row_kernels.h"
#include "ops/shape/movement.h"
#include "ops/shared/rows.h"

#include <algorithm>
#include <cstring>

namespace emu {
namespace {

enum class Deed { kCopy, kAdd, kFill };

struct AlongArguments {
  const char *op, *self_name = "self";
  const aclTensor *self;
  int64_t dim;
  const aclTensor *index;  // null: `listed` holds the numbers
  const aclIntArray *listed;
  const aclTensor *source;  // copy and add
  const aclScalar *value;   // alpha of add, the value of fill
  const char *out_name = "out";
  const aclTensor *out;
};

// The entries that a fill names: counted from the end below zero, and only those of the dimension.
std::vector<int64_t> entries_within(const View &index, int64_t extent) {
  std::vector<int64_t> named(static_cast<size_t>(index.count()));
  RowSource<int64_t>(index).read(0, index.count(), named.data());
  for (int64_t &entry : named) entry += entry < 0 ? extent : 0;
  const auto outside = [=](int64_t entry) { return entry < 0 || entry >= extent; };
  named.erase(std::remove_if(named.begin(), named.end(), outside), named.end());
  return named;
}

// Where a fill has its entries in a list, the host of chips before the 950 series writes the value
// into a matrix of float32.
aclScalar in_float(const aclScalar &value) {
  aclScalar rounded;
  rounded.dtype = ACL_FLOAT;
  const auto number = static_cast<float>(value.to_double());
  std::memcpy(rounded.value, &number, sizeof number);
  return rounded;
}

// A scalar repeated over the walk, already in the dtype of the result.
struct Filling {
  alignas(16) char element[16] = {};
  View view;

  Filling(const aclScalar &value, aclDataType dtype, const Layout &shape) {
    View one;
    one.data = element;
    one.dtype = dtype;
    fill_scalar(one, value);
    view = one;
    view.layout = still(shape);
  }
};

// Entries of one dimension of dense tensors as rows of bytes.
struct DenseRows {
  int64_t outer = 1, extent, size;

  DenseRows(const View &view, int axis)
      : extent(view.layout.shape[axis]), size(item_size(view.dtype)) {
    for (int d = 0; d < axis; ++d) outer *= view.layout.shape[d];
    for (int d = axis + 1; d < view.layout.rank; ++d) size *= view.layout.shape[d];
  }
};

// `self` copied to `target` but for the entries that `index` names, which are those of `source`:
// every entry is written once. False, and nothing is written, where that takes whole rows of dense
// tensors and the operands are others, or where an index is wrong.
bool copy_with(const View &self, const View &source, const View &index, int axis,
               const View &target) {
  if (!self.layout.is_dense() || !source.layout.is_dense() || !target.layout.is_dense() ||
      target.layout.rank == 0 || source.layout.rank == 0 || self.data == target.data ||
      clash(self, target))
    return false;
  const DenseRows rows(target, axis);
  const bool wide = index.dtype == ACL_INT64;
  const int64_t entries = index.count();
  const RowKernels &kernels = row_kernels();
  if (rows.size < kShortestRow || !kernels.within(index.data, wide, entries, 0, rows.extent))
    return false;
  // Which entry of source each one of the result is; of duplicates the last.
  std::vector<int64_t> chosen(static_cast<size_t>(rows.extent), -1);
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t named = wide ? reinterpret_cast<const int64_t *>(index.data)[i]
                               : reinterpret_cast<const int32_t *>(index.data)[i];
    chosen[static_cast<size_t>(named)] = i;
  }
  parallel_for(rows.outer * rows.extent, std::max<int64_t>(1, 65536 / rows.size),
               [&](int64_t begin, int64_t end) {
                 const char *from[kBlock];
                 char *to[kBlock];
                 for (int64_t start = begin; start < end; start += kBlock) {
                   const int64_t n = std::min(kBlock, end - start);
                   for (int64_t i = 0; i < n; ++i) {
                     const int64_t row = start + i, block = row / rows.extent;
                     const int64_t other = chosen[static_cast<size_t>(row % rows.extent)];
                     from[i] = other < 0 ? self.data + row * rows.size
                                         : source.data + (block * entries + other) * rows.size;
                     to[i] = target.data + row * rows.size;
                   }
                   kernels.copy(from, to, n, rows.size);
                 }
               });
  return true;
}

Status plan_along(const AlongArguments &a, Deed deed, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  Check check(a.op);
  check.required(a.self_name, a.self);
  if (a.listed == nullptr || a.index != nullptr) check.required("index", a.index);
  if (deed != Deed::kFill) check.required("source", a.source);
  if (deed != Deed::kCopy) check.required(deed == Deed::kAdd ? "alpha" : "value", a.value);
  check.required(a.out_name, a.out).dtype(a.self_name, a.self).rank(a.self_name, a.self, 0, 8);
  if (a.index != nullptr) check.dtype("index", a.index).rank("index", a.index, 0, 1);
  if (deed == Deed::kAdd) {
    check.plain_format(a.self_name, a.self)
        .plain_format("index", a.index)
        .plain_format("source", a.source);
  }
  if (!check.ok()) return check.status();
  check.same_dtype(a.out_name, a.out->dtype, a.self_name, a.self->dtype);
  check.shape(a.out_name, a.out, layout_of(*a.self));
  int axis = 0;
  dimension(check, "dim", a.dim, a.self_name, a.self->rank(), &axis);
  if (!check.ok()) return check.status();
  const int64_t entries =
      a.index != nullptr ? a.index->numel() : static_cast<int64_t>(a.listed->values.size());
  Layout walk = layout_of(*a.self);
  if (walk.rank == 0) walk.push(1, 0);
  const int64_t extent = walk.shape[axis];
  walk.shape[axis] = entries;
  if (a.source != nullptr) {
    check.same_dtype("source", a.source->dtype, a.self_name, a.self->dtype);
    if (check.ok() && a.source->rank() > 0) check.shape("source", a.source, walk);
    check.that(a.source->rank() > 0 || walk.count() == 1,
               "source has no dimensions; the index names %lld elements",
               static_cast<long long>(walk.count()));
  }
  if (a.listed != nullptr) {
    for (const int64_t i : a.listed->values) {
      check.that(i >= -extent && i < extent, "index holds %lld; dimension %d has %lld",
                 static_cast<long long>(i), axis, static_cast<long long>(extent));
    }
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const bool in_place = a.self == a.out;
  const size_t self = in_place ? plan.output(a.out) : plan.input(a.self);
  const size_t which = plan.input_if(a.index), source = plan.input_if(a.source),
               to = in_place ? self : plan.output(a.out);
  const std::vector<int64_t> listed =
      a.listed != nullptr ? a.listed->values : std::vector<int64_t>();
  const aclScalar value = a.value == nullptr                      ? aclScalar()
                          : a.listed != nullptr && !chip_is_950() ? in_float(*a.value)
                                                                  : *a.value;
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        View target = view_of(c.tensor(to));
        View numbers;
        std::vector<int64_t> names = listed;
        if (c.has(which)) numbers = view_of(c.tensor(which));
        if (deed == Deed::kFill) {
          if (c.has(which)) names = entries_within(numbers, extent);
          numbers = View();
          numbers.data = reinterpret_cast<char *>(names.data());
          numbers.dtype = ACL_INT64;
          numbers.layout.push(static_cast<int64_t>(names.size()), 1);
        }
        const Snapshot kept_index(numbers);
        // The source may be a part of the result, and the result of itself: taken aside before
        // anything is written.
        std::unique_ptr<Snapshot> kept_source;
        View with;
        if (c.has(source)) {
          with = view_of(c.tensor(source));
          if (clash(with, target) || with.data == target.data) {
            kept_source = std::make_unique<Snapshot>(with);
            with = kept_source->view();
          }
        }
        if (!in_place) {
          const View before = view_of(c.tensor(self));
          if (deed == Deed::kCopy && copy_with(before, with, kept_index.view(), axis, target))
            return Status{0};
          move_view(before, target);
        }
        if (target.layout.rank == 0) target.layout.push(1, 0);
        if (c.has(source) && with.layout.rank == 0) with.layout = still(walk);
        View base = target, named = kept_index.view();
        const int64_t step = target.layout.stride[axis];
        base.layout.shape[axis] = named.count();
        base.layout.stride[axis] = 0;
        named.layout = still(base.layout);
        named.layout.stride[axis] = 1;
        IndexFault fault;
        Addresses into(base);
        into.add_index(named, extent, step,
                       deed == Deed::kFill ? Negative::kFromEnd : Negative::kRefuse);
        if (deed == Deed::kFill) {
          const Filling filling(value, target.dtype, base.layout);
          copy_addressed(Addresses(filling.view), into, Order::kSequential, fault);
        } else if (deed == Deed::kCopy) {
          copy_addressed(Addresses(with), into, Order::kSequential, fault);
        } else {
          const Filling alpha(value, target.dtype, base.layout);
          const Snapshot scaled(with);
          combine_with(scaled.view(), alpha.element, Combine::kMultiply);
          combine_addressed(Addresses(scaled.view()), into, Combine::kAdd, fault);
        }
        return fault.status(op, "index");
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(IndexCopy, (const aclTensor *self, int64_t dim, const aclTensor *index,
                         const aclTensor *source, aclTensor *out)) {
  emu::AlongArguments call{};
  call.op = "aclnnIndexCopy";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.source = source;
  call.out = out;
  return emu::plan_along(call, emu::Deed::kCopy, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceIndexCopy,
             (aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclTensor *source)) {
  emu::AlongArguments call{};
  call.op = "aclnnInplaceIndexCopy";
  call.self_name = "selfRef";
  call.self = selfRef;
  call.dim = dim;
  call.index = index;
  call.source = source;
  call.out_name = "selfRef";
  call.out = selfRef;
  return emu::plan_along(call, emu::Deed::kCopy, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(IndexAdd, (const aclTensor *self, int64_t dim, const aclTensor *index,
                        const aclTensor *source, const aclScalar *alpha, aclTensor *out)) {
  emu::AlongArguments call{};
  call.op = "aclnnIndexAdd";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.source = source;
  call.value = alpha;
  call.out = out;
  return emu::plan_along(call, emu::Deed::kAdd, workspaceSize, executor);
}
EMU_CATCH

// mode chooses between implementations with one result.
EMU_OPERATOR(IndexAddV2,
             (const aclTensor *self, int64_t dim, const aclTensor *index, const aclTensor *source,
              const aclScalar *alpha, int64_t mode, aclTensor *out)) {
  emu::Check check("aclnnIndexAddV2");
  check.that(mode == 0 || mode == 1, "mode is %lld; allowed: 0, 1", static_cast<long long>(mode));
  check.required("self", self).required("alpha", alpha);
  if (check.ok()) {
    check.that(emu::can_cast(alpha->dtype, self->dtype),
               "alpha has dtype %s, which cannot be cast to self's %s",
               emu::dtype_name(alpha->dtype), emu::dtype_name(self->dtype));
  }
  if (!check.ok()) return check.status();
  emu::AlongArguments call{};
  call.op = "aclnnIndexAddV2";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.source = source;
  call.value = alpha;
  call.out = out;
  return emu::plan_along(call, emu::Deed::kAdd, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(IndexFill, (const aclTensor *self, int64_t dim, const aclTensor *index,
                         const aclScalar *value, aclTensor *out)) {
  emu::AlongArguments call{};
  call.op = "aclnnIndexFill";
  call.self = self;
  call.dim = dim;
  call.index = index;
  call.value = value;
  call.out = out;
  return emu::plan_along(call, emu::Deed::kFill, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceIndexFill,
             (aclTensor *selfRef, int64_t dim, const aclTensor *index, const aclScalar *value)) {
  emu::AlongArguments call{};
  call.op = "aclnnInplaceIndexFill";
  call.self_name = "selfRef";
  call.self = selfRef;
  call.dim = dim;
  call.index = index;
  call.value = value;
  call.out_name = "selfRef";
  call.out = selfRef;
  return emu::plan_along(call, emu::Deed::kFill, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(IndexFillTensor, (const aclTensor *self, int64_t dim, const aclIntArray *index,
                               const aclScalar *value, aclTensor *out)) {
  emu::Check check("aclnnIndexFillTensor");
  if (!check.required("self", self).required("index", index).ok()) return check.status();
  emu::AlongArguments call{};
  call.op = "aclnnIndexFillTensor";
  call.self = self;
  call.dim = dim;
  call.listed = index;
  call.value = value;
  call.out = out;
  return emu::plan_along(call, emu::Deed::kFill, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceIndexFillTensor,
             (aclTensor *selfRef, int64_t dim, const aclIntArray *index, const aclScalar *value)) {
  emu::Check check("aclnnInplaceIndexFillTensor");
  if (!check.required("selfRef", selfRef).required("index", index).ok()) return check.status();
  emu::AlongArguments call{};
  call.op = "aclnnInplaceIndexFillTensor";
  call.self_name = "selfRef";
  call.self = selfRef;
  call.dim = dim;
  call.listed = index;
  call.value = value;
  call.out_name = "selfRef";
  call.out = selfRef;
  return emu::plan_along(call, emu::Deed::kFill, workspaceSize, executor);
}
EMU_CATCH
