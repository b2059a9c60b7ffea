// SPDX-License-Identifier: Apache-2.0
// Where the extremes are. The first of equal elements counts; NaN is more extreme than any number.
#include <vector>

#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/extreme_kernels.h"
#include "ops/reduce/row_reader.h"

namespace emu {
namespace {

constexpr DtypeSet kIndex = dtype_set(ACL_INT32, ACL_INT64);

template <class T>
struct Place {
  T value;
  int64_t index;
};

// The place of the first NaN, else of the first extreme beyond `best`; -1 where none is beyond it.
template <class T>
int64_t place_beyond(const T *x, int64_t count, T best, bool largest) {
  const Extremes<T> &kernels = extremes_of<T>();
  return (largest ? kernels.first_above : kernels.first_below)(x, count, best);
}

template <class T>
Place<T> extreme(const RowReader<T> &rows, int64_t row, int64_t begin, int64_t end, bool largest) {
  Place<T> best{T{}, -1};
  rows.each(row, begin, end, [&](const T *x, int64_t count, int64_t start) {
    if (best.index < 0) best = {x[0], start};
    if (is_nan(best.value)) return;
    const int64_t at = place_beyond(x, count, best.value, largest);
    if (at >= 0) best = {x[at], start + at};
  });
  return best;
}

// A long row in parts, on the threads of the pool.
template <class T>
Place<T> extreme(const RowReader<T> &rows, int64_t row, bool largest) {
  const int64_t length = rows.length(), parts = (length + kRowPart - 1) / kRowPart;
  if (parts <= 1) return extreme(rows, row, 0, length, largest);
  std::vector<Place<T>> found(static_cast<size_t>(parts));
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t end = std::min((i + 1) * kRowPart, length);
      found[static_cast<size_t>(i)] = extreme(rows, row, i * kRowPart, end, largest);
    }
  });
  Place<T> best = found[0];
  for (const Place<T> &next : found) {
    const bool better = largest ? next.value > best.value : next.value < best.value;
    if (!is_nan(best.value) && (better || is_nan(next.value))) best = next;
  }
  return best;
}

template <class T>
void run_extreme(const View &in, AxisSet axes, bool largest, const View *values,
                 const View &indices) {
  const SafeView safe(in, {indices, values != nullptr ? *values : indices});
  const RowReader<T> rows(safe.view(), axes, in.dtype);
  const RowWriter<int64_t> write(indices);
  const RowWriter<T> write_value(values != nullptr ? *values : indices);
  for_each_row(indices.count(), rows.length(), [&](int64_t row) {
    const Place<T> best = extreme(rows, row, largest);
    write.put(row, best.index);
    if (values != nullptr) write_value.put(row, best.value);
  });
}

// `values` is null for the operators that find positions only.
Status plan_extreme(Check &check, const aclTensor *self, int64_t dim, bool keep, bool largest,
                    const aclTensor *values, const char *indices_name, const aclTensor *indices,
                    uint64_t *workspace_size, aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  const AxisSet axes = axis_of(check, "dim", dim, static_cast<int>(self->rank()));
  if (!check.ok()) return check.status();
  const Layout in = layout_of(*self), shape = reduced_shape(in, axes, keep);
  if (values != nullptr) {
    check.same_dtype("out", values->dtype, "self", self->dtype)
        .shape_or_one_element("out", values, shape);
  }
  check.shape_or_one_element(indices_name, indices, shape);
  check.that(reduced_count(in, axes) > 0 || shape.count() == 0,
             "self of shape %s has no element along dim", shape_text(in).c_str());
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t source = plan.input(self), found = plan.output_if(values),
               place = plan.output(indices);
  return plan.finish(
      [=](PlanContext &context) {
        const View from = view_of(context.tensor(source)), where = view_of(context.tensor(place));
        const View value = context.has(found) ? view_of(context.tensor(found)) : View{};
        const View *target = context.has(found) ? &value : nullptr;
        if (compute_for(from.dtype) == Compute::F32)
          run_extreme<float>(from, axes, largest, target, where);
        else if (is_floating(from.dtype)) run_extreme<double>(from, axes, largest, target, where);
        else run_extreme<int64_t>(from, axes, largest, target, where);
        return Status{0};
      },
      workspace_size, executor);
}

Status plan_arg(const char *op, const aclTensor *self, int64_t dim, bool keep, bool largest,
                aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("out", out).dtype("self", self);
  if (check.ok()) check.dtype_in("out", out->dtype, kIndex);
  if (!largest) check.plain_format("self", self).plain_format("out", out);
  check.rank("self", self, 0, 8);
  return plan_extreme(check, self, dim, keep, largest, nullptr, "out", out, workspace_size,
                      executor);
}

Status plan_value(const char *op, const aclTensor *self, int64_t dim, bool keep, bool largest,
                  aclTensor *out, aclTensor *indices, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("out", out).required("indices", indices);
  check.dtype("self", self).dtype("out", out);
  // Frameworks pass INT64 here, which the documents of the minimum leave out.
  if (check.ok()) check.dtype_in("indices", indices->dtype, kIndex);
  check.rank("self", self, 0, 8);
  return plan_extreme(check, self, dim, keep, largest, out, "indices", indices, workspace_size,
                      executor);
}

}  // namespace

EMU_OPERATOR(ArgMax, (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out)) {
  return plan_arg("aclnnArgMax", self, dim, keepdim, true, out, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(ArgMin, (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out)) {
  return plan_arg("aclnnArgMin", self, dim, keepdim, false, out, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(MaxDim, (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out,
                      aclTensor *indices)) {
  return plan_value("aclnnMaxDim", self, dim, keepdim, true, out, indices, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(MinDim, (const aclTensor *self, int64_t dim, bool keepdim, aclTensor *out,
                      aclTensor *indices)) {
  return plan_value("aclnnMinDim", self, dim, keepdim, false, out, indices, workspaceSize,
                    executor);
}
EMU_CATCH

}  // namespace emu
