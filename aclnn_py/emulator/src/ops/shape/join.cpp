// SPDX-License-Identifier: Apache-2.0
// Several tensors to one and one to several: Cat, Stack, SplitTensor, SplitWithSize.
#include "aclnnop/conversion.h"
#include "ops/shape/movement.h"

#include <string>
#include <vector>

namespace emu {
namespace {

// Every member of a list alive, of a documented dtype.
Check &members(Check &check, const char *parameter, const aclTensorList *list) {
  check.required(parameter, list);
  if (!check.ok()) return check;
  for (size_t i = 0; i < list->members.size(); ++i) {
    const aclTensor *tensor = list->members[i];
    if (tensor == nullptr) {
      const std::string name = std::string(parameter) + "[" + std::to_string(i) + "]";
      return check.required(name.c_str(), tensor);
    }
    check.dtype(parameter, tensor);
    movable(check, parameter, tensor);
  }
  return check;
}

// One element that is given without dimensions, seen as one of (1).
View at_least_a_line(View view) {
  if (view.layout.rank == 0) view.layout.push(1, 1);
  return view;
}

// A member that Cat leaves out: the one-dimensional empty tensor that stands for nothing.
bool nothing(const aclTensor &tensor) { return tensor.rank() == 1 && tensor.shape[0] == 0; }

Status plan_split(const char *op, const aclTensor *self, int axis, const aclTensorList *out,
                  uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output_list(out);
  const size_t count = out->members.size();
  return plan.finish(
      [=](PlanContext &c) {
        View source = view_of(c.tensor(from));
        std::unique_ptr<Snapshot> kept;
        for (size_t i = 0; i < count; ++i) {
          if (kept == nullptr && clash(source, view_of(c.tensor(to + i)))) {
            kept = std::make_unique<Snapshot>(source);
            source = kept->view();
          }
        }
        int64_t start = 0;
        for (size_t i = 0; i < count; ++i) {
          const View part = at_least_a_line(view_of(c.tensor(to + i)));
          const int64_t length = part.layout.shape[axis];
          copy_view(narrowed(source, axis, start, length), part);
          start += length;
        }
        return Status{0};
      },
      workspace_size, executor);
}

// The list must be the pieces of self, in order.
Check &pieces(Check &check, const aclTensor *self, int axis, const aclTensorList *out,
              const std::vector<int64_t> &sizes) {
  check.that(out->members.size() == sizes.size(), "out has %zu tensors; the split makes %zu",
             out->members.size(), sizes.size());
  Layout shape = layout_of(*self);
  for (size_t i = 0; check.ok() && i < sizes.size(); ++i) {
    const std::string name = "out[" + std::to_string(i) + "]";
    shape.shape[axis] = sizes[i];
    check.same_dtype(name.c_str(), out->members[i]->dtype, "self", self->dtype)
        .shape_or_one_element(name.c_str(), out->members[i], shape);
  }
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Cat, (const aclTensorList *tensors, int64_t dim, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnCat");
  members(check, "tensors", tensors).required("out", out).dtype("out", out);
  if (!check.ok()) return check.status();
  movable(check, "out", out);
  check.that(!tensors->members.empty(), "tensors is empty");
  if (!check.ok()) return check.status();
  const aclTensor *model = nullptr;
  aclDataType promoted = tensors->members[0]->dtype;
  for (const aclTensor *tensor : tensors->members) {
    const aclDataType before = promoted;
    promoted = promote(before, tensor->dtype);
    check.that(promoted != ACL_DT_UNDEFINED, "tensors of dtype %s and %s have no common dtype",
               dtype_name(before), dtype_name(tensor->dtype));
    check.plain_format("tensors", tensor);
    if (model == nullptr && !nothing(*tensor)) model = tensor;
  }
  if (model == nullptr) model = tensors->members[0];
  check.castable(promoted, "out", out->dtype)
      .plain_format("out", out)
      .same_format("out", out, "tensors", model);
  check.rank("tensors", model, 1, 8);
  int axis = 0;
  dimension(check, "dim", dim, "tensors", model->rank(), &axis);
  if (!check.ok()) return check.status();
  Layout joined = layout_of(*model);
  joined.shape[axis] = 0;
  for (size_t i = 0; check.ok() && i < tensors->members.size(); ++i) {
    const aclTensor &tensor = *tensors->members[i];
    if (nothing(tensor)) continue;
    const Layout layout = layout_of(tensor);
    Layout expected = joined;
    expected.shape[axis] = layout.rank == joined.rank ? layout.shape[axis] : 0;
    check.that(same_shape(layout, expected),
               "tensors[%zu] has shape %s; all but dim %d must agree with %s", i,
               shape_text(layout).c_str(), axis, shape_text(layout_of(*model)).c_str());
    joined.shape[axis] = check.size("tensors", Checked(joined.shape[axis]) + expected.shape[axis]);
  }
  check.shape_or_one_element("out", out, joined);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnCat", KernelTime::linear);
  const size_t from = plan.input_list(tensors), to = plan.output(out),
               count = tensors->members.size();
  return plan.finish(
      [=](PlanContext &c) {
        const View target = at_least_a_line(view_of(c.tensor(to)));
        std::vector<View> sources;
        std::vector<std::unique_ptr<Snapshot>> kept;
        for (size_t i = 0; i < count; ++i) {
          View source = view_of(c.tensor(from + i));
          if (nothing(c.tensor(from + i))) continue;
          // Element for element is no exception here: the parts land elsewhere in out.
          if (source.count() > 0 && clash(source, target)) {
            kept.push_back(std::make_unique<Snapshot>(source));
            source = kept.back()->view();
          }
          sources.push_back(source);
        }
        int64_t start = 0;
        for (const View &source : sources) {
          const int64_t length = source.layout.shape[axis];
          copy_view(source, narrowed(target, axis, start, length));
          start += length;
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Stack, (const aclTensorList *tensors, int64_t dim, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnStack");
  members(check, "tensors", tensors).required("out", out).dtype("out", out);
  if (!check.ok()) return check.status();
  check.that(!tensors->members.empty(), "tensors is empty");
  if (!check.ok()) return check.status();
  const Layout each = layout_of(*tensors->members[0]);
  check.rank("tensors", tensors->members[0], 0, 7);
  int axis = 0;
  dimension(check, "dim", dim, "out", static_cast<size_t>(each.rank) + 1, &axis);
  for (size_t i = 0; check.ok() && i < tensors->members.size(); ++i) {
    const std::string name = "tensors[" + std::to_string(i) + "]";
    check.shape(name.c_str(), tensors->members[i], each)
        .castable(tensors->members[i]->dtype, "out", out->dtype);
  }
  if (!check.ok()) return check.status();
  Layout stacked;
  for (int d = 0; d <= each.rank; ++d) {
    if (d == axis) stacked.push(static_cast<int64_t>(tensors->members.size()), 0);
    if (d < each.rank) stacked.push(each.shape[d], 0);
  }
  check.shape_or_one_element("out", out, stacked);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnStack", KernelTime::linear);
  const size_t from = plan.input_list(tensors), to = plan.output(out),
               count = tensors->members.size();
  return plan.finish(
      [=](PlanContext &c) {
        const View target = at_least_a_line(view_of(c.tensor(to)));
        std::vector<std::unique_ptr<Snapshot>> kept(count);
        for (size_t i = 0; i < count; ++i) {
          const View source = view_of(c.tensor(from + i));
          if (clash(source, target)) kept[i] = std::make_unique<Snapshot>(source);
        }
        for (size_t i = 0; i < count; ++i) {
          copy_view(kept[i] ? kept[i]->view() : view_of(c.tensor(from + i)),
                    selected(target, axis, static_cast<int64_t>(i)));
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// splitSections is the length of each piece; the last one may be shorter.
EMU_OPERATOR(SplitTensor,
             (const aclTensor *self, uint64_t splitSections, int64_t dim, aclTensorList *out)) {
  using namespace emu;
  Check check("aclnnSplitTensor");
  check.required("self", self).required("out", out).dtype("self", self);
  members(check, "out", out).rank("self", self, 1, 8);
  int axis = 0;
  if (check.ok()) dimension(check, "dim", dim, "self", self->rank(), &axis);
  if (!check.ok()) return check.status();
  const int64_t extent = self->shape[static_cast<size_t>(axis)],
                step = static_cast<int64_t>(splitSections);
  check.that(step > 0 || (step == 0 && extent == 0), "splitSections is %lld; it must be positive",
             static_cast<long long>(step));
  if (!check.ok()) return check.status();
  // Counted before they are listed: an extent may be large, the list is as long as the program made
  // it.
  const int64_t count = extent == 0 ? 1 : (extent - 1) / step + 1;
  check.that(out->members.size() == static_cast<uint64_t>(count),
             "out has %zu tensors; the split makes %lld", out->members.size(),
             static_cast<long long>(count));
  if (!check.ok()) return check.status();
  std::vector<int64_t> sizes(static_cast<size_t>(count), step);
  sizes.back() = extent - (count - 1) * step;
  if (!pieces(check, self, axis, out, sizes).ok()) return check.status();
  return plan_split("aclnnSplitTensor", self, axis, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SplitWithSize, (const aclTensor *self, const aclIntArray *splitSize, int64_t dim,
                             aclTensorList *out)) {
  using namespace emu;
  Check check("aclnnSplitWithSize");
  check.required("self", self)
      .required("splitSize", splitSize)
      .required("out", out)
      .dtype("self", self);
  members(check, "out", out).rank("self", self, 1, 8);
  int axis = 0;
  if (check.ok()) dimension(check, "dim", dim, "self", self->rank(), &axis);
  if (!check.ok()) return check.status();
  Checked sum = 0;
  for (const int64_t size : splitSize->values) {
    check.that(size >= 0, "splitSize has the entry %lld; it must not be negative",
               static_cast<long long>(size));
    sum += size;
  }
  const int64_t total = check.size("splitSize", sum);
  const int64_t extent = self->shape[static_cast<size_t>(axis)];
  check.that(total == extent, "splitSize adds up to %lld; self has %lld along dim %d",
             static_cast<long long>(total), static_cast<long long>(extent), axis);
  if (!check.ok() || !pieces(check, self, axis, out, splitSize->values).ok()) return check.status();
  return plan_split("aclnnSplitWithSize", self, axis, out, workspaceSize, executor);
}
EMU_CATCH
