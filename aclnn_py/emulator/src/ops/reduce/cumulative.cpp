// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Running sums, products and extremes along one dimension. Floats run in float64, each result
// rounded once.
#include <vector>

#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/reduce/columns.h"
#include "ops/reduce/row_reader.h"

namespace emu {
namespace {

enum class Running { kSum, kProduct };

struct Scan {
  Running kind;
  bool exclusive = false;
  bool reverse = false;
};

View flipped(const View &view, AxisSet axis) {
  View result = view;
  for (int d = 0; d < view.layout.rank; ++d) {
    if (((axis >> d) & 1u) == 0 || view.layout.shape[d] == 0) continue;
    result.data += (view.layout.shape[d] - 1) * view.layout.stride[d] * item_size(view.dtype);
    result.layout.stride[d] = -view.layout.stride[d];
  }
  return result;
}

template <bool kProduct, class T>
T joined(T running, T x) {
  if constexpr (kProduct) return times(running, x);
  else return plus(running, x);
}

// f(whether products are formed, whether an element does not count for its own place), both known
// when the loop is compiled.
template <class F>
void with_form(const Scan &scan, F f) {
  const bool product = scan.kind == Running::kProduct;
  if (product && scan.exclusive) f(std::true_type(), std::true_type());
  else if (product) f(std::true_type(), std::false_type());
  else if (scan.exclusive) f(std::false_type(), std::true_type());
  else f(std::false_type(), std::false_type());
}

template <class T>
T neutral(const Scan &scan) {
  return scan.kind == Running::kSum ? T{} : T{1};
}

// The running results of a part of a row, which begin with `so_far`; returns the last one. `to` may
// be `x`.
template <class T, class X>
T scan_part(const Scan &scan, T so_far, const X *x, int64_t count, X *to) {
  with_form(scan, [&](auto product, auto exclusive) {
    T running = so_far;
    for (int64_t i = 0; i < count; ++i) {
      const T next = joined<product()>(running, static_cast<T>(x[i]));
      to[i] = static_cast<X>(exclusive() ? running : next);
      running = next;
    }
    so_far = running;
  });
  return so_far;
}

// Rows of integers as they lie in memory: what is kept of a wider result is right whatever the
// width.
template <class X>
void scan_in_memory(const Scan &scan, const char *from, char *to, int64_t rows, int64_t length) {
  for_each_row(rows, length, [&](int64_t row) {
    scan_part(scan, neutral<uint64_t>(scan), reinterpret_cast<const X *>(from) + row * length,
              length, reinterpret_cast<X *>(to) + row * length);
  });
}
bool scan_in_memory(const Scan &scan, const View &in, const View &out, int64_t length) {
  if (in.dtype != out.dtype || !is_integer(in.dtype) || !coalesced(in.layout).is_dense() ||
      !coalesced(out.layout).is_dense()) {
    return false;
  }
  const int64_t rows = out.count() / length;
  switch (item_size(in.dtype)) {
    case 1: scan_in_memory<uint8_t>(scan, in.data, out.data, rows, length); break;
    case 2: scan_in_memory<uint16_t>(scan, in.data, out.data, rows, length); break;
    case 4: scan_in_memory<uint32_t>(scan, in.data, out.data, rows, length); break;
    default: scan_in_memory<uint64_t>(scan, in.data, out.data, rows, length); break;
  }
  return true;
}

// Down the columns: what runs is a row of results.
template <class T>
void scan_columns(const Scan &scan, const ColumnReader<T> &columns, const View &out) {
  const Writer writer(out, compute_of<T>(), ACL_DT_UNDEFINED);
  columns.each_block([&](int64_t start, int64_t count) {
    alignas(64) T running[kBlock], scratch[kBlock];
    std::fill(running, running + count, neutral<T>(scan));
    columns.each_row(start, count, [&](const T *x, int64_t at) {
      auto *to = static_cast<T *>(writer.target(at, scratch));
      with_form(scan, [&](auto product, auto exclusive) {
        for (int64_t i = 0; i < count; ++i) {
          const T next = joined<product()>(running[i], x[i]);
          to[i] = exclusive() ? running[i] : next;
          running[i] = next;
        }
      });
      writer.write(at, count, to);
    });
  });
}

template <class T>
void run_scan(const Scan &scan, const View &in, AxisSet axis, const View &out) {
  View target = scan.reverse ? flipped(out, axis) : out;
  const SafeView safe(in, {out});
  const View source = scan.reverse ? flipped(safe.view(), axis) : safe.view();
  if (out.count() == 0) return;
  if (in_columns(source.layout, axis) && in_columns(target.layout, axis)) {
    target.layout = reduced_first(target.layout, axis);
    return scan_columns(scan, ColumnReader<T>(source, axis, out.dtype), target);
  }
  // Lane order is that of the output with the scanned dimension last.
  const RowReader<T> rows(source, axis, out.dtype);
  const int64_t length = rows.length();
  target.layout = reduced_last(target.layout, axis);
  const TurnedTarget turned(target);
  if (!scan_in_memory(scan, rows.view(), turned.view(), length)) {
    const RowWriter<T> write(turned.view());
    for_each_row(out.count() / length, length, [&](int64_t row) {
      T running = neutral<T>(scan);
      rows.each(row, [&](const T *x, int64_t count, int64_t start) {
        T block[kBlock];
        running = scan_part(scan, running, x, count, block);
        write.put(row * length + start, count, block);
      });
    });
  }
  turned.finish();
}

Status plan_scan(Check &check, const Scan &scan, const aclTensor *self, AxisSet axis,
                 const aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (check.ok()) check.shape("out", out, layout_of(*self));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const bool in_place = self == out;
  const size_t source = in_place ? plan.in_place(out) : plan.input(self),
               target = in_place ? source : plan.output(out);
  return plan.finish(
      [=](PlanContext &context) {
        const View from = view_of(context.tensor(source)), to = view_of(context.tensor(target));
        if (is_complex(to.dtype)) run_scan<Complex128>(scan, from, axis, to);
        else if (is_floating(to.dtype)) run_scan<double>(scan, from, axis, to);
        else run_scan<int64_t>(scan, from, axis, to);
        return Status{0};
      },
      workspace_size, executor);
}

AxisSet scalar_axis(Check &check, const aclScalar *dim, const aclTensor *tensor) {
  check.dtype_in("dim", dim->dtype, dtype_set(ACL_INT32, ACL_INT64));
  return check.ok() ? axis_of(check, "dim", dim->to_int64(), static_cast<int>(tensor->rank())) : 0;
}

template <class T>
void run_extremes(const View &in, AxisSet axis, bool largest, View values, View indices) {
  const SafeView safe(in, {values, indices});
  const RowReader<T> rows(safe.view(), axis, in.dtype);
  const int64_t length = rows.length(), total = values.count();
  values.layout = reduced_last(values.layout, axis);
  indices.layout = reduced_last(indices.layout, axis);
  const TurnedTarget turned(values), turned_indices(indices);
  const RowWriter<T> write(turned.view());
  const RowWriter<int64_t> write_index(turned_indices.view());
  if (length == 0) return;
  for_each_row(total / length, length, [&](int64_t row) {
    T best{};
    int64_t place = -1;
    rows.each(row, [&](const T *x, int64_t count, int64_t start) {
      T block[kBlock];
      int64_t places[kBlock];
      for (int64_t i = 0; i < count; ++i) {
        // As torch: the last of equal elements counts, and NaN stays once it came.
        const bool better = largest ? x[i] >= best : x[i] <= best;
        if (place < 0 || is_nan(x[i]) || (!is_nan(best) && better)) {
          best = x[i];
          place = start + i;
        }
        block[i] = best;
        places[i] = place;
      }
      write.put(row * length + start, count, block);
      write_index.put(row * length + start, count, places);
    });
  });
  turned.finish();
  turned_indices.finish();
}

Status plan_extremes(const char *op, const aclTensor *self, int64_t dim, bool largest,
                     aclTensor *values, aclTensor *indices, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("valuesOut", values).required("indicesOut", indices);
  check.dtype("self", self)
      .dtype("valuesOut", values)
      .dtype("indicesOut", indices)
      .rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  check.castable(self->dtype, "valuesOut", values->dtype);
  const AxisSet axis = axis_of(check, "dim", dim, static_cast<int>(self->rank()));
  check.shape("valuesOut", values, layout_of(*self)).shape("indicesOut", indices, layout_of(*self));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t source = plan.input(self), found = plan.output(values), place = plan.output(indices);
  return plan.finish(
      [=](PlanContext &context) {
        const View from = view_of(context.tensor(source)), to = view_of(context.tensor(found));
        const View where = view_of(context.tensor(place));
        if (is_floating(from.dtype)) run_extremes<double>(from, axis, largest, to, where);
        else run_extremes<int64_t>(from, axis, largest, to, where);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

EMU_OPERATOR(Cumsum, (const aclTensor *self, int64_t dim, aclDataType dtype, aclTensor *out)) {
  Check check("aclnnCumsum");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (check.ok()) check.same_dtype("out", out->dtype, "the dtype argument", dtype);
  check.rank("self", self, 0, 8);
  const AxisSet axis = check.ok() ? axis_of(check, "dim", dim, static_cast<int>(self->rank())) : 0;
  return plan_scan(check, {Running::kSum}, self, axis, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(CumsumV2,
             (const aclTensor *self, int64_t dim, bool exclusive, bool reverse, aclTensor *out)) {
  Check check("aclnnCumsumV2");
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  if (check.ok()) check.same_dtype("out", out->dtype, "self", self->dtype);
  check.rank("self", self, 0, 8);
  const AxisSet axis = check.ok() ? axis_of(check, "dim", dim, static_cast<int>(self->rank())) : 0;
  return plan_scan(check, {Running::kSum, exclusive, reverse}, self, axis, out, workspaceSize,
                   executor);
}
EMU_CATCH

EMU_OPERATOR(Cumprod,
             (const aclTensor *input, const aclScalar *dim, aclDataType dtype, aclTensor *out)) {
  Check check("aclnnCumprod");
  check.required("input", input).required("dim", dim).required("out", out);
  check.dtype("input", input).dtype("out", out).plain_format("input", input);
  if (check.ok()) check.same_dtype("out", out->dtype, "the dtype argument", dtype);
  check.rank("input", input, 0, 8);
  const AxisSet axis = check.ok() ? scalar_axis(check, dim, input) : 0;
  return plan_scan(check, {Running::kProduct}, input, axis, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceCumprod, (aclTensor *inputRef, const aclScalar *dim)) {
  Check check("aclnnInplaceCumprod");
  check.required("inputRef", inputRef)
      .required("dim", dim)
      .dtype("inputRef", inputRef)
      .plain_format("inputRef", inputRef);
  check.rank("inputRef", inputRef, 0, 8);
  const AxisSet axis = check.ok() ? scalar_axis(check, dim, inputRef) : 0;
  return plan_scan(check, {Running::kProduct}, inputRef, axis, inputRef, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Cummax,
             (const aclTensor *self, int64_t dim, aclTensor *valuesOut, aclTensor *indicesOut)) {
  return plan_extremes("aclnnCummax", self, dim, true, valuesOut, indicesOut, workspaceSize,
                       executor);
}
EMU_CATCH
EMU_OPERATOR(Cummin,
             (const aclTensor *self, int64_t dim, aclTensor *valuesOut, aclTensor *indicesOut)) {
  return plan_extremes("aclnnCummin", self, dim, false, valuesOut, indicesOut, workspaceSize,
                       executor);
}
EMU_CATCH

}  // namespace emu
