// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
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
void find_places(bool largest, const T *x, int64_t rows, int64_t length, int64_t *places) {
  const Extremes<T> &kernels = extremes_of<T>();
  (largest ? kernels.place_greatest : kernels.place_least)(x, rows, length, places);
}

// Whether an element that comes later is the more extreme one.
template <class T>
bool beats(bool largest, T next, T best) {
  return !is_nan(best) && ((largest ? next > best : next < best) || is_nan(next));
}

// Where the results of rows go.
template <class C>
struct Found {
  Found(const View *values, const View &indices)
      : has_values(values != nullptr),
        values(values != nullptr ? *values : indices),
        indices(indices) {}
  bool has_values;
  RowWriter<C> values;
  RowWriter<int64_t> indices;
};

// Rows of blocks of the compute type.
template <class C>
void find_in_blocks(const RowReader<C> &rows, int64_t count, bool largest, const Found<C> &found) {
  for_each_row(count, rows.length(), [&](int64_t row) {
    C best{};
    int64_t place = -1;
    rows.each(row, [&](const C *x, int64_t block, int64_t start) {
      int64_t at = 0;
      find_places(largest, x, 1, block, &at);
      if (place >= 0 && !beats(largest, x[at], best)) return;
      best = x[at];
      place = start + at;
    });
    found.indices.put(row, place);
    if (found.has_values) found.values.put(row, best);
  });
}

// The place in one long row, whose parts the threads of the pool share.
template <class T>
int64_t place_in_parts(const T *x, int64_t length, bool largest) {
  const int64_t parts = (length + kRowPart - 1) / kRowPart;
  std::vector<int64_t> places(static_cast<size_t>(parts));
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t start = i * kRowPart;
      int64_t at = 0;
      find_places(largest, x + start, 1, std::min(kRowPart, length - start), &at);
      places[static_cast<size_t>(i)] = start + at;
    }
  });
  int64_t best = places[0];
  for (const int64_t next : places) {
    if (beats(largest, x[next], x[best])) best = next;
  }
  return best;
}

// Rows one behind the other in memory; values are written as the compute type C.
template <class T, class C>
void find_in_memory(const T *x, int64_t count, int64_t length, bool largest,
                    const Found<C> &found) {
  const bool cut = length > kRowPart;
  const int64_t most = cut ? 1 : kBlock, grain = std::max<int64_t>(1, 32 * kBlock / length);
  parallel_for(count, cut && count < parallel_width() ? count : grain,
               [&](int64_t begin, int64_t end) {
                 int64_t places[kBlock];
                 C values[kBlock];
                 for (int64_t row = begin; row < end; row += most) {
                   const int64_t rows = std::min(most, end - row);
                   const T *from = x + row * length;
                   if (cut) places[0] = place_in_parts(from, length, largest);
                   else find_places(largest, from, rows, length, places);
                   found.indices.put(row, rows, places);
                   if (!found.has_values) continue;
                   for (int64_t i = 0; i < rows; ++i)
                     values[i] = static_cast<C>(from[i * length + places[i]]);
                   found.values.put(row, rows, values);
                 }
               });
}

// Elements at their own width where they lie in memory row by row, else as the compute type C.
template <class C>
void run_extreme(const View &in, AxisSet axes, bool largest, const View *values,
                 const View &indices) {
  const int64_t count = indices.count();
  if (count == 0) return;
  const SafeView safe(in, {indices, values != nullptr ? *values : indices});
  const RowReader<C> rows(safe.view(), axes, in.dtype);
  const Found<C> found(values, indices);
  const auto in_memory = [&](auto kind) {
    using T = decltype(kind);
    find_in_memory(reinterpret_cast<const T *>(rows.ready()), count, rows.length(), largest, found);
  };
  const aclDataType dtype = rows.ready() != nullptr ? in.dtype : ACL_DT_UNDEFINED;
  if constexpr (std::is_same_v<C, int64_t>) {
    switch (dtype) {
      case ACL_INT8: return in_memory(int8_t{});
      case ACL_UINT8: return in_memory(uint8_t{});
      case ACL_INT16: return in_memory(int16_t{});
      case ACL_INT32: return in_memory(int32_t{});
      default: break;
    }
  }
  if (is_native(dtype) && compute_for(dtype) == compute_of<C>()) return in_memory(C{});
  find_in_blocks(rows, count, largest, found);
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
