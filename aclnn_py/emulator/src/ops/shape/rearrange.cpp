// SPDX-License-Identifier: Apache-2.0
// The same elements in another order: Permute, Flip, Roll, Flatten, ChannelShuffle.
#include "aclnnop/conversion.h"
#include "aclnnop/index.h"
#include "ops/shape/movement.h"

#include <optional>
#include <vector>

namespace emu {
namespace {

// Checks common to operators with one input and one output of its dtype.
Check &one_to_one(Check &check, const aclTensor *self, const aclTensor *out,
                  const char *self_name = "self") {
  check.required(self_name, self).required("out", out).dtype(self_name, self).dtype("out", out);
  movable(check, self_name, self);
  if (check.ok())
    check.same_dtype("out", out->dtype, self_name, self->dtype).rank(self_name, self, 0, 8);
  return check;
}

// Marks the dimensions an array names; duplicates and numbers out of range are refused.
Check &name_dimensions(Check &check, const char *parameter, const aclIntArray &dims, size_t rank,
                       std::vector<int> *axes) {
  std::vector<bool> seen(rank + 1);
  for (const int64_t value : dims.values) {
    int axis = 0;
    dimension(check, parameter, value, "the input", rank, &axis);
    if (!check.ok()) return check;
    check.that(!seen[static_cast<size_t>(axis)], "%s names dimension %d twice", parameter, axis);
    seen[static_cast<size_t>(axis)] = true;
    axes->push_back(axis);
  }
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Permute, (const aclTensor *self, const aclIntArray *dims, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnPermute");
  check.required("self", self).required("dims", dims);
  if (!one_to_one(check, self, out).ok()) return check.status();
  std::vector<int> axes;
  check.that(dims->values.size() == self->rank(), "dims has %zu entries; self has %zu dimensions",
             dims->values.size(), self->rank());
  name_dimensions(check, "dims", *dims, self->rank(), &axes);
  if (!check.ok()) return check.status();
  Layout order;  // the input's dimension for each one of the result
  for (const int axis : axes) order.push(axis, 0);
  const auto permuted = [order](View view) {
    const Layout before = view.layout;
    for (int d = 0; d < order.rank; ++d) {
      view.layout.shape[d] = before.shape[order.shape[d]];
      view.layout.stride[d] = before.stride[order.shape[d]];
    }
    return view;
  };
  check.shape_or_one_element("out", out, permuted(view_of(*self)).layout);
  if (!check.ok()) return check.status();
  return plan_movement("aclnnPermute", self, out, permuted, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Flip, (const aclTensor *self, const aclIntArray *dims, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnFlip");
  check.required("self", self).required("dims", dims);
  if (!one_to_one(check, self, out).ok()) return check.status();
  std::vector<int> axes;
  name_dimensions(check, "dims", *dims, self->rank(), &axes);
  check.shape("out", out, layout_of(*self));
  if (!check.ok()) return check.status();
  uint32_t flipped = 0;
  for (const int axis : axes) flipped |= self->rank() > 0 ? 1u << axis : 0u;
  return plan_movement(
      "aclnnFlip", self, out,
      [flipped](View view) {
        for (int d = 0; d < view.layout.rank; ++d) {
          const int64_t extent = view.layout.shape[d];
          if ((flipped >> d & 1u) != 0) view = narrowed(view, d, extent - 1, extent, -1);
        }
        return view;
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Roll, (const aclTensor *x, const aclIntArray *shifts, const aclIntArray *dims,
                    aclTensor *out)) {
  using namespace emu;
  Check check("aclnnRoll");
  check.required("x", x).required("shifts", shifts).required("dims", dims);
  if (!one_to_one(check, x, out, "x").ok()) return check.status();
  const bool flat = dims->values.empty();
  check.that(!shifts->values.empty() || x->rank() == 0, "shifts is empty");
  check.that(flat ? shifts->values.size() <= 1 : shifts->values.size() == dims->values.size(),
             "shifts has %zu entries; dims has %zu", shifts->values.size(), dims->values.size());
  Layout amounts = layout_of(*x);  // stride holds the shift of each dimension
  for (int d = 0; d < amounts.rank; ++d) amounts.stride[d] = 0;
  for (size_t i = 0; i < dims->values.size(); ++i) {
    int axis = 0;
    dimension(check, "dims", dims->values[i], "x", x->rank(), &axis);
    if (!check.ok()) return check.status();
    // A dimension named twice rolls twice.
    if (amounts.rank > 0 && amounts.shape[axis] > 0) {
      amounts.stride[axis] =
          (amounts.stride[axis] + shifts->values[i] % amounts.shape[axis]) % amounts.shape[axis];
    }
  }
  check.shape("out", out, layout_of(*x));
  if (!check.ok()) return check.status();
  if (flat) {
    amounts = Layout();
    amounts.push(x->numel(), shifts->values.empty() ? 0 : shifts->values[0]);
  }
  for (int d = 0; d < amounts.rank; ++d) {
    const int64_t extent = amounts.shape[d] > 0 ? amounts.shape[d] : 1;
    amounts.stride[d] = (amounts.stride[d] % extent + extent) % extent;
  }
  PlanBuilder plan("aclnnRoll", KernelTime::linear);
  const size_t from = plan.input(x), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        if (source.count() == 0) return Status{0};
        // All dimensions as one can be shifted where elements lie side by side.
        const bool dense = !flat || (source.layout.is_dense() && target.layout.is_dense());
        std::optional<Snapshot> before, after;
        if (!dense || clash(source, target) || source.data == target.data) before.emplace(source);
        if (!dense) after.emplace(target);
        View dense_from = before ? before->view() : source,
             dense_to = after ? after->view() : target;
        if (flat) {
          dense_from = reshaped(dense_from, amounts);
          dense_to = reshaped(dense_to, amounts);
        }
        // Every shifted dimension is cut in two; bit d of `piece` says which part of dimension d.
        for (uint32_t piece = 0; piece < 1u << amounts.rank; ++piece) {
          View part = dense_from, place = dense_to;
          for (int d = 0; d < amounts.rank; ++d) {
            const int64_t extent = amounts.shape[d], shift = amounts.stride[d];
            const bool wrapped = (piece >> d & 1u) != 0;
            part = wrapped ? narrowed(part, d, extent - shift, shift)
                           : narrowed(part, d, 0, extent - shift);
            place =
                wrapped ? narrowed(place, d, 0, shift) : narrowed(place, d, shift, extent - shift);
          }
          if (part.count() > 0) copy_view(part, place);
        }
        if (after) copy_view(reshaped(dense_to, target.layout), target);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// Dimensions before `axis` become the rows, the others the columns.
EMU_OPERATOR(Flatten, (const aclTensor *self, int64_t axis, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnFlatten");
  if (!one_to_one(check, self, out).ok()) return check.status();
  const auto rank = static_cast<int64_t>(self->rank());
  check.that(axis >= -rank && axis <= rank, "axis is %lld; self has %zu dimensions",
             static_cast<long long>(axis), self->rank());
  if (!check.ok()) return check.status();
  const int64_t split = axis < 0 ? axis + rank : axis;
  int64_t rows = 1, cols = 1;
  for (int64_t d = 0; d < rank; ++d)
    (d < split ? rows : cols) *= self->shape[static_cast<size_t>(d)];
  Layout matrix;
  matrix.push(rows, cols);
  matrix.push(cols, 1);
  check.shape("out", out, matrix);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnFlatten", KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        if (source.layout.is_dense()) {
          move_view(reshaped(source, target.layout), target);
        } else {
          const Snapshot dense(source);
          copy_view(reshaped(dense.view(), target.layout), target);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ChannelShuffle, (const aclTensor *self, int64_t groups, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnChannelShuffle");
  if (!one_to_one(check, self, out).rank("self", self, 3, 7).ok()) return check.status();
  check.that(groups > 0 && self->shape[1] % groups == 0,
             "groups is %lld; it must divide the %lld channels of self",
             static_cast<long long>(groups), static_cast<long long>(self->shape[1]));
  check.shape("out", out, layout_of(*self));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnChannelShuffle", KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        // Channels as (groups, members): the result lists them members first.
        const auto split = [&](View view, bool members_first) {
          const Layout before = view.layout;
          const int64_t members = before.shape[1] / groups;
          view.layout = Layout();
          view.layout.push(before.shape[0], before.stride[0]);
          if (members_first) {
            view.layout.push(members, before.stride[1]);
            view.layout.push(groups, before.stride[1] * members);
          } else {
            view.layout.push(members, before.stride[1] * groups);
            view.layout.push(groups, before.stride[1]);
          }
          for (int d = 2; d < before.rank; ++d) view.layout.push(before.shape[d], before.stride[d]);
          return view;
        };
        move_view(split(view_of(c.tensor(from)), true), split(view_of(c.tensor(to)), false));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
