// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor: Slice, SliceV2, StridedSlice; StridedSliceAssignV2 writes one.
#include "aclnnop/conversion.h"
#include "ops/shape/movement.h"

#include <algorithm>

namespace emu {
namespace {

// Where a slice begins, how many elements it takes and how far apart: kept per input dimension.
struct Cut {
  int64_t start = 0, length = 0, step = 1;
};

struct Cuts {
  int rank = 0;
  Cut cut[8];

  View of(View view) const {
    for (int d = 0; d < rank; ++d)
      view = narrowed(view, d, cut[d].start, cut[d].length, cut[d].step);
    return view;
  }
};

Cuts whole(const aclTensor &tensor) {
  Cuts cuts;
  cuts.rank = static_cast<int>(tensor.rank());
  for (int d = 0; d < cuts.rank; ++d) cuts.cut[d].length = tensor.shape[static_cast<size_t>(d)];
  return cuts;
}

// How many elements lie `step` apart (either way) in a span.
int64_t steps_in(int64_t span, int64_t step) {
  if (span <= 0) return 0;
  // A step that has no positive counterpart is longer than any span.
  return step == INT64_MIN ? 1 : (span - 1) / (step > 0 ? step : -step) + 1;
}

// Bounds as Python's slices read them.
Cut bounded(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  start = std::clamp(start, lowest, highest);
  end = std::clamp(end, lowest, highest);
  return {start, steps_in(step > 0 ? end - start : start - end, step), step};
}

Status finish(Check &check, const aclTensor *self, const aclTensor *out, const Cuts &cuts,
              uint64_t *workspace_size, aclOpExecutor **executor) {
  Layout shape = layout_of(*self);
  for (int d = 0; d < cuts.rank; ++d) shape.shape[d] = cuts.cut[d].length;
  check.shape("out", out, shape);
  if (!check.ok()) return check.status();
  return plan_movement(
      check.op(), self, out, [cuts](const View &view) { return cuts.of(view); }, workspace_size,
      executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Slice, (const aclTensor *self, int64_t dim, int64_t start, int64_t end, int64_t step,
                     aclTensor *out)) {
  using namespace emu;
  Check check("aclnnSlice");
  check.required("self", self).required("out", out).dtype("self", self).rank("self", self, 1, 8);
  if (check.ok()) check.same_dtype("out", out->dtype, "self", self->dtype);
  int axis = 0;
  if (check.ok()) dimension(check, "dim", dim, "self", self->rank(), &axis);
  check.that(step > 0, "step is %lld; it must be positive", static_cast<long long>(step));
  if (!check.ok()) return check.status();
  Cuts cuts = whole(*self);
  cuts.cut[axis] = bounded(start, end, step, cuts.cut[axis].length);
  return finish(check, self, out, cuts, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SliceV2, (const aclTensor *self, const aclIntArray *starts, const aclIntArray *ends,
                       const aclIntArray *axes, const aclIntArray *steps, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnSliceV2");
  check.required("self", self)
      .required("starts", starts)
      .required("ends", ends)
      .required("axes", axes);
  check.required("steps", steps)
      .required("out", out)
      .dtype("self", self)
      .dtype("out", out)
      .rank("self", self, 1, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  const size_t count = axes->values.size();
  check.that(starts->values.size() == count && ends->values.size() == count &&
                 steps->values.size() == count,
             "starts, ends, axes and steps have %zu, %zu, %zu and %zu entries; they must agree",
             starts->values.size(), ends->values.size(), count, steps->values.size());
  Cuts cuts = whole(*self);
  uint32_t named = 0;
  for (size_t i = 0; check.ok() && i < count; ++i) {
    int axis = 0;
    dimension(check, "axes", axes->values[i], "self", self->rank(), &axis);
    check.that(steps->values[i] > 0, "steps[%zu] is %lld; it must be positive", i,
               static_cast<long long>(steps->values[i]));
    check.that((named >> axis & 1u) == 0, "axes names dimension %d twice", axis);
    if (!check.ok()) break;
    named |= 1u << axis;
    cuts.cut[axis] =
        bounded(starts->values[i], ends->values[i], steps->values[i], cuts.cut[axis].length);
  }
  if (!check.ok()) return check.status();
  return finish(check, self, out, cuts, workspaceSize, executor);
}
EMU_CATCH

// Bit i of a mask speaks of entry i of begin, end and strides: begin or end left open, an ellipsis
// (at most one), a new dimension of extent 1, or a single index whose dimension goes away.
EMU_OPERATOR(StridedSlice,
             (const aclTensor *self, const aclIntArray *begin, const aclIntArray *end,
              const aclIntArray *strides, int64_t beginMask, int64_t endMask, int64_t ellipsisMask,
              int64_t newAxisMask, int64_t shrinkAxisMask, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnStridedSlice");
  check.required("self", self)
      .required("begin", begin)
      .required("end", end)
      .required("strides", strides);
  check.required("out", out).dtype("self", self).dtype("out", out).rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  movable(check, "self", self).same_dtype("out", out->dtype, "self", self->dtype);
  const size_t count = begin->values.size();
  check.that(end->values.size() == count && strides->values.size() == count,
             "begin, end and strides have %zu, %zu and %zu entries; they must agree", count,
             end->values.size(), strides->values.size());
  check.that(count <= 16, "begin has %zu entries; allowed: up to 16", count);
  check.that(__builtin_popcountll(static_cast<uint64_t>(ellipsisMask)) <= 1,
             "ellipsisMask names more than one entry");
  if (!check.ok()) return check.status();
  const auto bit = [](int64_t mask, size_t i) { return (mask >> i & 1) != 0; };
  int taken = 0;
  for (size_t i = 0; i < count; ++i)
    taken += !bit(ellipsisMask, i) && (bit(ellipsisMask, i) || !bit(newAxisMask, i));
  const int rank = static_cast<int>(self->rank());
  check.that(taken <= rank, "begin addresses %d dimensions; self has %d", taken, rank);
  if (!check.ok()) return check.status();
  Cuts cuts = whole(*self);
  // For each dimension of the result the input dimension it comes from, -1 for a new one.
  Layout origin;
  int d = 0;
  bool spread = false;
  for (size_t i = 0; check.ok() && i < count; ++i) {
    if (bit(ellipsisMask, i)) {
      spread = true;
      for (int n = rank - taken; n > 0; --n) origin.push(d++, 0);
    } else if (bit(newAxisMask, i)) {
      origin.push(-1, 0);
    } else {
      const int64_t extent = self->shape[static_cast<size_t>(d)], step = strides->values[i];
      check.that(step != 0, "strides[%zu] is 0", i);
      if (!check.ok()) break;
      if (bit(shrinkAxisMask, i)) {
        const int64_t index = begin->values[i] + (begin->values[i] < 0 ? extent : 0);
        check.that(index >= 0 && index < extent, "begin[%zu] is %lld; the dimension has %lld", i,
                   static_cast<long long>(begin->values[i]), static_cast<long long>(extent));
        cuts.cut[d] = {index, 1, 1};
      } else {
        Cut cut = bounded(begin->values[i], end->values[i], step, extent);
        if (bit(beginMask, i) || bit(endMask, i)) {
          const int64_t first = bit(beginMask, i) ? (step > 0 ? 0 : extent - 1) : cut.start;
          const int64_t far = end->values[i] + (end->values[i] < 0 ? extent : 0);
          const int64_t last = bit(endMask, i) ? (step > 0 ? extent : -1)
                                               : std::clamp(far, int64_t{step > 0 ? 0 : -1},
                                                            step > 0 ? extent : extent - 1);
          cut = {first, steps_in(step > 0 ? last - first : first - last, step), step};
        }
        cuts.cut[d] = cut;
        origin.push(d, 0);
      }
      ++d;
    }
  }
  if (!check.ok()) return check.status();
  if (!spread) {
    for (; d < rank; ++d) origin.push(d, 0);
  }
  const auto part = [cuts, origin](const View &view) {
    View cut = cuts.of(view);
    const Layout before = cut.layout;
    cut.layout = Layout();
    for (int i = 0; i < origin.rank; ++i) {
      const auto from = static_cast<int>(origin.shape[i]);
      cut.layout.push(from < 0 ? 1 : before.shape[from], from < 0 ? 0 : before.stride[from]);
    }
    return cut;
  };
  View outline;
  outline.dtype = self->dtype;
  outline.layout = layout_of(*self);
  check.shape_or_one_element("out", out, part(outline).layout);
  if (!check.ok()) return check.status();
  return plan_movement("aclnnStridedSlice", self, out, part, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(StridedSliceAssignV2, (aclTensor *varRef, const aclTensor *inputValue,
                                    const aclIntArray *begin, const aclIntArray *end,
                                    const aclIntArray *strides, const aclIntArray *axesOptional)) {
  using namespace emu;
  Check check("aclnnStridedSliceAssignV2");
  check.required("varRef", varRef).required("inputValue", inputValue).required("begin", begin);
  check.required("end", end).required("strides", strides).optional("axesOptional", axesOptional);
  check.dtype("varRef", varRef).dtype("inputValue", inputValue).rank("varRef", varRef, 1, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("inputValue", inputValue->dtype, "varRef", varRef->dtype);
  const size_t count = begin->values.size(), rank = varRef->rank();
  check.that(end->values.size() == count && strides->values.size() == count,
             "begin, end and strides have %zu, %zu and %zu values; they must agree", count,
             end->values.size(), strides->values.size());
  check.that(count <= rank, "begin has %zu values; varRef has %zu dimensions", count, rank);
  check.that(axesOptional == nullptr || axesOptional->values.size() == count,
             "axesOptional has %zu values; begin has %zu",
             axesOptional == nullptr ? 0 : axesOptional->values.size(), count);
  if (!check.ok()) return check.status();
  Cuts cuts = whole(*varRef);
  uint32_t named = 0;
  for (size_t i = 0; check.ok() && i < count; ++i) {
    int axis = static_cast<int>(i);
    if (axesOptional != nullptr)
      dimension(check, "axesOptional", axesOptional->values[i], "varRef", rank, &axis);
    if (!check.ok()) break;
    const int64_t step = strides->values[i];
    check.that((named >> axis & 1u) == 0, "axesOptional names dimension %d twice", axis);
    check.that(step > 0, "strides[%zu] is %lld; it must be positive", i,
               static_cast<long long>(step));
    check.that(step == 1 || static_cast<size_t>(axis) + 1 < rank,
               "strides[%zu] is %lld; the last dimension of varRef takes 1", i,
               static_cast<long long>(step));
    if (!check.ok()) break;
    named |= 1u << axis;
    cuts.cut[axis] = bounded(begin->values[i], end->values[i], step, cuts.cut[axis].length);
  }
  Layout shape = layout_of(*varRef);
  for (int d = 0; check.ok() && d < cuts.rank; ++d) shape.shape[d] = cuts.cut[d].length;
  check.shape("inputValue", inputValue, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnStridedSliceAssignV2", KernelTime::linear);
  const size_t to = plan.in_place(varRef), from = plan.input(inputValue);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from));
        if (source.count() != 0) move_view(source, cuts.of(view_of(c.tensor(to))));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
