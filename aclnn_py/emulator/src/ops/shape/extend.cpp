// SPDX-License-Identifier: Apache-2.0
// Results larger than their input: ConstantPadNd, Repeat, Expand, RepeatInterleaveInt and
// RepeatInterleaveIntWithDim.
#include "aclnnop/conversion.h"
#include "aclnnop/index.h"
#include "aclnnop/math.h"
#include "ops/shape/movement.h"

#include <algorithm>

namespace emu {
namespace {

// The elements of `source`, before.stride[d] further along each dimension d, and `filling` where
// there is none.
void pad_view(View source, View target, const Layout &before, const aclScalar &filling) {
  for (int d = 0; d < before.rank; ++d) {
    const int64_t shift = before.stride[d], extent = target.layout.shape[d],
                  first = std::clamp<int64_t>(shift, 0, extent),
                  end = std::clamp(shift + source.layout.shape[d], first, extent);
    // Margins of lines are put around each while it is copied: memory is passed over once.
    if (d == before.rank - 1 && first < end && end - first < extent) {
      alignas(16) char item[16];
      View one;
      one.data = item;
      one.dtype = target.dtype;
      fill_scalar(one, filling);
      const View rest = narrowed(source, d, first - shift, end - first);
      if (copy_with_margins(rest, target, first, extent - end, item)) return;
    }
    // What lies in front and behind along this dimension; the next ones go on with the rest.
    if (first > 0) fill_scalar(narrowed(target, d, 0, first), filling);
    if (end < extent) fill_scalar(narrowed(target, d, end, extent - end), filling);
    if (first == end) return;
    source = narrowed(source, d, first - shift, end - first);
    target = narrowed(target, d, first, end - first);
  }
  copy_view(source, target);
}

}  // namespace
}  // namespace emu

// pad counts from the last dimension: (before, after) of it, then of the one before it. Negative
// entries cut off.
EMU_OPERATOR(ConstantPadNd, (const aclTensor *self, const aclIntArray *pad, const aclScalar *value,
                             aclTensor *out)) {
  using namespace emu;
  Check check("aclnnConstantPadNd");
  check.required("self", self)
      .required("pad", pad)
      .required("value", value)
      .required("out", out)
      .dtype("self", self);
  if (!check.ok()) return check.status();
  check.dtype_in("self", self->dtype, dt::kComputable);
  check.same_dtype("out", out->dtype, "self", self->dtype).rank("self", self, 0, 8);
  check.plain_format("self", self).plain_format("out", out).same_format("out", out, "self", self);
  const auto &amounts = pad->values;
  check.that(amounts.size() % 2 == 0 && amounts.size() / 2 <= self->rank(),
             "pad has %zu entries; allowed: an even number up to twice the %zu dimensions of self",
             amounts.size(), self->rank());
  if (!check.ok()) return check.status();
  // more than any tensor has; far from what overflows
  constexpr int64_t kFarthest = int64_t{1} << 61;
  for (const int64_t amount : amounts) {
    check.that(amount >= -kFarthest && amount <= kFarthest,
               "pad has the entry %lld; allowed: %lld to %lld", static_cast<long long>(amount),
               static_cast<long long>(-kFarthest), static_cast<long long>(kFarthest));
  }
  if (!check.ok()) return check.status();
  // before.stride: entries in front of each dimension
  Layout padded = layout_of(*self), before = padded;
  for (int d = 0; d < before.rank; ++d) before.stride[d] = 0;
  for (size_t i = 0; i < amounts.size() / 2; ++i) {
    const int d = padded.rank - 1 - static_cast<int>(i);
    padded.shape[d] =
        check.size("pad", Checked(padded.shape[d]) + amounts[2 * i] + amounts[2 * i + 1]);
    before.stride[d] = amounts[2 * i];
    check.that(padded.shape[d] >= 0, "pad leaves %lld along dimension %d",
               static_cast<long long>(padded.shape[d]), d);
  }
  check.shape("out", out, padded);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnConstantPadNd", KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  const aclScalar filling = *value;
  return plan.finish(
      [=](PlanContext &c) {
        View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        std::unique_ptr<Snapshot> kept;
        if (clash(source, target)) {
          kept = std::make_unique<Snapshot>(source);
          source = kept->view();
        }
        pad_view(source, target, before, filling);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Repeat, (const aclTensor *self, const aclIntArray *repeats, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnRepeat");
  check.required("self", self)
      .required("repeats", repeats)
      .required("out", out)
      .dtype("self", self);
  movable(check, "self", self).rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  const size_t rank = repeats->values.size();
  check.that(rank >= self->rank() && rank <= 8,
             "repeats has %zu entries; allowed: the %zu dimensions of self up to 8", rank,
             self->rank());
  Layout times, tiled;
  for (size_t d = 0; check.ok() && d < rank; ++d) {
    const int64_t n = repeats->values[d];
    check.that(n >= 0, "repeats has the entry %lld; it must not be negative",
               static_cast<long long>(n));
    const size_t lead = rank - self->rank();
    times.push(n, 0);
    tiled.push(check.size("repeats", Checked(n) * (d < lead ? 1 : self->shape[d - lead])), 0);
  }
  check.shape("out", out, tiled);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnRepeat", KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        const Layout in = source.layout, result = target.layout;
        source.layout = target.layout = Layout();
        for (int d = 0; d < times.rank; ++d) {  // each dimension as (copies, extent)
          const int own = d - (times.rank - in.rank);
          const int64_t extent = own < 0 ? 1 : in.shape[own];
          source.layout.push(times.shape[d], 0);
          source.layout.push(extent, own < 0 ? 0 : in.stride[own]);
          target.layout.push(times.shape[d], result.stride[d] * extent);
          target.layout.push(extent, result.stride[d]);
        }
        move_view(source, target);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Expand, (const aclTensor *self, const aclIntArray *size, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnExpand");
  check.required("self", self)
      .required("size", size)
      .required("out", out)
      .dtype("self", self)
      .rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  const size_t rank = size->values.size();
  check.that(rank >= self->rank() && rank <= 8,
             "size has %zu entries; allowed: the %zu dimensions of self up to 8", rank,
             self->rank());
  if (!check.ok()) return check.status();
  const size_t lead = rank - self->rank();
  Layout wanted;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t own = d < lead ? 1 : self->shape[d - lead], asked = size->values[d];
    check.that(asked == own || (own == 1 && asked >= 0) || (asked == -1 && d >= lead),
               "size[%zu] is %lld; self has %lld there", d, static_cast<long long>(asked),
               static_cast<long long>(own));
    wanted.push(asked == -1 ? own : asked, 0);
  }
  check.shape("out", out, wanted);
  if (!check.ok()) return check.status();
  return plan_movement(
      "aclnnExpand", self, out,
      [wanted](View view) {
        view.layout = broadcast_to(view.layout, wanted);
        return view;
      },
      workspaceSize, executor);
}
EMU_CATCH

namespace emu {
namespace {

// Every element `repeats` times in a row: the dimension seen as (extent, repeats).
Status plan_interleave(const char *op, const aclTensor *self, int64_t repeats, bool flat,
                       int64_t dim, int64_t output_size, const aclTensor *out,
                       uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self)
      .required("out", out)
      .dtype("self", self)
      .dtype("out", out)
      .rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  check.that(repeats >= 0, "repeats is %lld; it must not be negative",
             static_cast<long long>(repeats));
  int axis = 0;
  if (!flat) dimension(check, "dim", dim, "self", self->rank(), &axis);
  if (!check.ok()) return check.status();
  Layout result = layout_of(*self);
  if (flat || result.rank == 0) {
    result = Layout();
    result.push(self->numel(), 1);
  }
  result.shape[axis] = check.size("repeats", Checked(result.shape[axis]) * repeats);
  check.that(output_size == result.shape[axis], "outputSize is %lld; the repeats make %lld",
             static_cast<long long>(output_size), static_cast<long long>(result.shape[axis]));
  check.shape("out", out, result);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        std::unique_ptr<Snapshot> kept;
        if (flat || source.layout.rank == 0) {
          if (!source.layout.is_dense()) {
            kept = std::make_unique<Snapshot>(source);
            source = kept->view();
          }
          const int64_t count = source.count();
          source.layout = Layout();
          source.layout.push(count, 1);
        }
        const Layout in = source.layout, made = target.layout;
        source.layout = target.layout = Layout();
        for (int d = 0; d < in.rank; ++d) {
          source.layout.push(in.shape[d], in.stride[d]);
          target.layout.push(in.shape[d], made.stride[d] * (d == axis ? repeats : 1));
          if (d != axis) continue;
          source.layout.push(repeats, 0);
          target.layout.push(repeats, made.stride[d]);
        }
        move_view(source, target);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RepeatInterleaveInt,
             (const aclTensor *self, int64_t repeats, int64_t outputSize, aclTensor *out)) {
  return emu::plan_interleave("aclnnRepeatInterleaveInt", self, repeats, true, 0, outputSize, out,
                              workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RepeatInterleaveIntWithDim, (const aclTensor *self, int64_t repeats, int64_t dim,
                                          int64_t outputSize, aclTensor *out)) {
  return emu::plan_interleave("aclnnRepeatInterleaveIntWithDim", self, repeats, false, dim,
                              outputSize, out, workspaceSize, executor);
}
EMU_CATCH
