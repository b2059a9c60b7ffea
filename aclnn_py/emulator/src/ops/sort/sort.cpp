// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Order along a dimension: Sort, Argsort, Topk, Kthvalue, Median and its kin. Always stable; NaN
// counts as the greatest value.
#include "aclnnop/index.h"
#include "aclnnop/math.h"
#include "core/chip.h"
#include "core/per_thread.h"
#include "core/scratch.h"
#include "ops/shape/movement.h"
#include "ops/shared/rows.h"
#include "ops/sort/order.h"
#include "ops/sort/selection.h"

#include <numeric>
#include <vector>

namespace emu {
namespace {

struct OrderTask {
  int axis;
  int64_t kept;  // entries of each row written, from position `first` of the order
  int64_t first;
  bool descending;
  bool numbers_only = false;  // one entry: the median of the values that are numbers
};

// The place of the lower median of the numbers in a row; the first place where it has none.
template <class T>
int64_t median_of_numbers(const T *values, int64_t width) {
  const int64_t numbers = selection_detail::count_where(values, width, [](T v) { return v == v; });
  return numbers > 0 ? (numbers - 1) / 2 : 0;
}

// What rows are read from and their order is written to.
template <class T>
struct RowOrder {
  RowSource<T> from;
  const RowTarget<T> *values;
  RowTarget<int64_t> indices;
  int64_t width;
  const OrderTask &task;

  void run(int64_t begin, int64_t end) const {
    if (task.kept == 1 && !task.descending) return choose(begin, end);
    Scratch &memory = PerThread<Scratch, OrderTask>::get();
    T *const x = static_cast<T *>(memory.take(static_cast<size_t>(width) * sizeof(T)));
    Ordered<T> ordered(width, task.descending);
    for (int64_t row = begin; row < end; ++row) {
      parallel_for(width, 64 * kBlock, [&](int64_t first, int64_t last) {
        from.read(row * width + first, last - first, x + first);
      });
      ordered.take(x);
      ordered.order(task.first, task.first + task.kept);
      write(ordered, row, task.first);
    }
    memory.trim();
  }

  // One entry of each row.
  void choose(int64_t begin, int64_t end) const {
    std::unique_ptr<T[]> memory(new T[static_cast<size_t>(2 * width)]);
    for (int64_t row = begin; row < end; ++row) {
      const T *x = from.row(row * width, width, memory.get());
      const int64_t rank = task.numbers_only ? median_of_numbers(x, width) : task.first;
      const int64_t place = place_of_rank(x, width, rank, memory.get() + width);
      if (values != nullptr) values->write(row, 1, x + place);
      indices.write(row, 1, &place);
    }
  }

  void write(const Ordered<T> &ordered, int64_t row, int64_t first) const {
    parallel_for(task.kept, 64 * kBlock, [&](int64_t begin, int64_t end) {
      T block[kBlock];
      int64_t places[kBlock];
      for (int64_t i = begin; i < end; i += kBlock) {
        const int64_t n = std::min(kBlock, end - i);
        ordered.write(first + i, n, block, places);
        if (values != nullptr) values->write(row * task.kept + i, n, block);
        indices.write(row * task.kept + i, n, places);
      }
    });
  }
};

template <class T>
void order_rows(const View &self, const View *values, const View *indices, const OrderTask &task) {
  View source = self;
  if (source.layout.rank == 0) source.layout.push(1, 0);
  const auto line = [&](const View *view) {
    View rows = *view;
    if (rows.layout.rank == 0) rows.layout.push(1, 0);
    return rows_along(rows, task.axis);
  };
  const TurnedSource rows_of_self(rows_along(source, task.axis));
  source = rows_of_self.view();
  const int64_t width = source.layout.shape[source.layout.rank - 1];
  if (source.count() == 0 || task.kept == 0) return;
  const TurnedTarget turned_values(values != nullptr ? line(values) : source),
      turned_indices(line(indices));
  const RowTarget<T> value_to(turned_values.view());
  const RowOrder<T> order{RowSource<T>(source), values != nullptr ? &value_to : nullptr,
                          RowTarget<int64_t>(turned_indices.view()), width, task};
  const int64_t rows = source.count() / width;
  // A thread takes whole rows where there are enough of them, else all threads work on one.
  const int64_t grain =
      rows < parallel_width() ? rows : std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) { order.run(begin, end); });
  if (values != nullptr) turned_values.finish();
  turned_indices.finish();
}

void order(const View &self, const View *values, const View *indices, const OrderTask &task) {
  switch (compute_for(self.dtype)) {
    case Compute::F64: return order_rows<double>(self, values, indices, task);
    case Compute::I32: return order_rows<int32_t>(self, values, indices, task);
    case Compute::I64: return order_rows<int64_t>(self, values, indices, task);
    case Compute::U64: return order_rows<uint64_t>(self, values, indices, task);
    default: return order_rows<float>(self, values, indices, task);
  }
}

struct OrderArguments {
  const char *op;
  const aclTensor *self;
  int64_t dim;
  const aclTensor *values;
  const char *indices_name;
  const aclTensor *indices;
  bool cast_values = false;  // valuesOut may have another dtype than self
};

// Checks all of them share; the axis on success.
Check &check_order(Check &check, const OrderArguments &a, bool with_values, int *axis) {
  check.required("self", a.self);
  if (with_values) check.required("valuesOut", a.values);
  check.required(a.indices_name, a.indices).dtype("self", a.self).dtype("valuesOut", a.values);
  check.dtype(a.indices_name, a.indices).rank("self", a.self, 0, 8);
  if (!check.ok()) return check;
  if (with_values && !a.cast_values)
    check.same_dtype("valuesOut", a.values->dtype, "self", a.self->dtype);
  if (with_values) check.castable(a.self->dtype, "valuesOut", a.values->dtype);
  return dimension(check, "dim", a.dim, "self", a.self->rank(), axis);
}

Status plan_order(const OrderArguments &a, const OrderTask &task, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const size_t from = plan.input(a.self), value = plan.output_if(a.values),
               index = plan.output(a.indices);
  return plan.finish(
      [=](PlanContext &c) {
        const View indices = view_of(c.tensor(index));
        const View values = c.has(value) ? view_of(c.tensor(value)) : View();
        View self = view_of(c.tensor(from));
        std::unique_ptr<Snapshot> kept;
        // Sorting in place writes a row before its neighbours are read: only harmless when rows are
        // the same memory.
        if (clash(self, indices) || (c.has(value) && clash(self, values))) {
          kept = std::make_unique<Snapshot>(self);
          self = kept->view();
        }
        order(self, c.has(value) ? &values : nullptr, &indices, task);
        return Status{0};
      },
      workspace_size, executor);
}

// All entries of each row as they lie.
Status plan_all(const OrderArguments &a, int axis, uint64_t *workspace_size,
                aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const size_t from = plan.input(a.self), value = plan.output(a.values),
               index = plan.output(a.indices);
  return plan.finish(
      [=](PlanContext &c) {
        const View self = view_of(c.tensor(from)), values = view_of(c.tensor(value));
        move_view(self, values);
        std::vector<int64_t> places(
            self.layout.rank == 0 ? 1 : static_cast<size_t>(self.layout.shape[axis]));
        std::iota(places.begin(), places.end(), 0);
        View names;
        names.data = reinterpret_cast<char *>(places.data());
        names.dtype = ACL_INT64;
        names.layout = self.layout;
        for (int d = 0; d < names.layout.rank; ++d) names.layout.stride[d] = d == axis ? 1 : 0;
        View indices = view_of(c.tensor(index));
        if (names.layout.rank == 0) indices.layout = names.layout;
        copy_view(names, indices);
        return Status{0};
      },
      workspace_size, executor);
}

// One entry of each row goes to results that lack the dimension, or have 1 there.
Status plan_entry(const OrderArguments &a, bool keeps, const OrderTask &task, Check &check,
                  uint64_t *workspace_size, aclOpExecutor **executor) {
  const Layout whole = layout_of(*a.self);
  Layout shape;
  for (int d = 0; d < whole.rank; ++d) {
    if (d != task.axis || keeps) shape.push(d == task.axis ? 1 : whole.shape[d], 0);
  }
  check.shape_or_one_element("valuesOut", a.values, shape)
      .shape_or_one_element("indicesOut", a.indices, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t from = plan.input(a.self), value = plan.output(a.values),
               index = plan.output(a.indices);
  return plan.finish(
      [=](PlanContext &c) {
        const auto with_axis = [&](View view) {
          if (keeps || view.layout.rank == whole.rank) return view;
          const Layout given = view.layout;
          view.layout = Layout();
          for (int d = 0, g = 0; d < whole.rank; ++d) {
            if (d == task.axis) view.layout.push(1, 0);
            else view.layout.push(given.shape[g], given.stride[g]), ++g;
          }
          return view;
        };
        const View values = with_axis(view_of(c.tensor(value))),
                   indices = with_axis(view_of(c.tensor(index)));
        const Snapshot kept(view_of(c.tensor(from)));
        order(kept.view(), &values, &indices, task);
        return Status{0};
      },
      workspace_size, executor);
}

// The lower median along a dimension, its NaNs left out or counted as the greatest values.
Status plan_median(const OrderArguments &a, bool keeps, bool numbers_only, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  Check check(a.op);
  int axis = 0;
  if (!check_order(check, a, true, &axis).ok()) return check.status();
  const int64_t width = a.self->rank() == 0 ? 1 : a.self->shape[static_cast<size_t>(axis)];
  check.that(width > 0, "self has 0 along dim, %d; a median needs one value", axis);
  check.that(numbers_only || a.self->dtype != ACL_BF16 || width > 1,
             "self is BFLOAT16 with 1 along dim, %d; the operator needs 2 there", axis);
  if (!check.ok()) return check.status();
  return plan_entry(a, keeps, {axis, 1, (width - 1) / 2, false, numbers_only}, check,
                    workspace_size, executor);
}

// The lower median of all elements.
Status plan_whole_median(const char *op, const aclTensor *self, const char *out_name,
                         const aclTensor *out, bool numbers_only, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required(out_name, out).dtype("self", self).rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype(out_name, out->dtype, "self", self->dtype);
  Layout one;
  one.push(1, 1);
  check.shape_or_one_element(out_name, out, one);
  check.that(self->numel() > 0, "self has no elements; a median needs one value");
  check.that(self->dtype != ACL_BF16 || (self->rank() > 0 && self->shape.back() > 1),
             "self is BFLOAT16 with 1 as its last dimension; the operator needs 2 there");
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const Snapshot kept(view_of(c.tensor(from)));
        View line = kept.view(), value = view_of(c.tensor(to)), index;
        const int64_t count = line.count();
        line.layout = Layout();
        line.layout.push(count, 1);
        int64_t place = 0;
        index.data = reinterpret_cast<char *>(&place);
        index.dtype = ACL_INT64;
        index.layout = one;
        order(line, &value, &index, {0, 1, (count - 1) / 2, false, numbers_only});
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Sort, (const aclTensor *self, bool stable, int64_t dim, bool descending,
                    aclTensor *valuesOut, aclTensor *indicesOut)) {
  using namespace emu;
  (void)stable;
  Check check("aclnnSort");
  const OrderArguments arguments{"aclnnSort", self, dim, valuesOut, "indicesOut", indicesOut, true};
  int axis = 0;
  if (!check_order(check, arguments, true, &axis).ok()) return check.status();
  check.shape("valuesOut", valuesOut, layout_of(*self))
      .shape("indicesOut", indicesOut, layout_of(*self));
  if (!check.ok()) return check.status();
  const int64_t width = self->rank() == 0 ? 1 : self->shape[static_cast<size_t>(axis)];
  return plan_order(arguments, {axis, width, 0, descending}, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Argsort, (const aclTensor *self, int64_t dim, bool descending, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnArgsort");
  const OrderArguments arguments{"aclnnArgsort", self, dim, nullptr, "out", out};
  int axis = 0;
  if (!check_order(check, arguments, false, &axis).ok()) return check.status();
  check.plain_format("self", self).plain_format("out", out);
  check.shape("out", out, layout_of(*self));
  if (!check.ok()) return check.status();
  const int64_t width = self->rank() == 0 ? 1 : self->shape[static_cast<size_t>(axis)];
  return plan_order(arguments, {axis, width, 0, descending}, workspaceSize, executor);
}
EMU_CATCH

// The result is in order whether `sorted` asks for it or not, but for all elements on a 950, which
// hands them out as they lie.
EMU_OPERATOR(Topk, (const aclTensor *self, int64_t k, int64_t dim, bool largest, bool sorted,
                    aclTensor *valuesOut, aclTensor *indicesOut)) {
  using namespace emu;
  Check check("aclnnTopk");
  const OrderArguments arguments{"aclnnTopk", self, dim, valuesOut, "indicesOut", indicesOut};
  int axis = 0;
  if (!check_order(check, arguments, true, &axis).plain_format("self", self).ok())
    return check.status();
  Layout shape = layout_of(*self);
  const int64_t width = shape.rank == 0 ? 1 : shape.shape[axis];
  check.that(k >= 0 && k <= width, "k is %lld; the dimension has %lld", static_cast<long long>(k),
             static_cast<long long>(width));
  if (shape.rank > 0) shape.shape[axis] = k;
  check.shape_or_one_element("valuesOut", valuesOut, shape)
      .shape_or_one_element("indicesOut", indicesOut, shape);
  if (!check.ok()) return check.status();
  if (k == width && !sorted && chip_is_950())
    return plan_all(arguments, axis, workspaceSize, executor);
  return plan_order(arguments, {axis, k, 0, largest}, workspaceSize, executor);
}
EMU_CATCH

// The k-th smallest of each row, counted from 1.
EMU_OPERATOR(Kthvalue, (const aclTensor *self, int64_t k, int64_t dim, bool keepdim,
                        aclTensor *valuesOut, aclTensor *indicesOut)) {
  using namespace emu;
  Check check("aclnnKthvalue");
  const OrderArguments arguments{"aclnnKthvalue", self, dim, valuesOut, "indicesOut", indicesOut};
  int axis = 0;
  if (!check_order(check, arguments, true, &axis).ok()) return check.status();
  const int64_t width = self->rank() == 0 ? 1 : self->shape[static_cast<size_t>(axis)];
  check.that(k >= 1 && k <= width, "k is %lld; the dimension has %lld", static_cast<long long>(k),
             static_cast<long long>(width));
  if (!check.ok()) return check.status();
  return plan_entry(arguments, keepdim, {axis, 1, k - 1, false}, check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Median, (const aclTensor *self, aclTensor *valuesOut)) {
  return emu::plan_whole_median("aclnnMedian", self, "valuesOut", valuesOut, false, workspaceSize,
                                executor);
}
EMU_CATCH

EMU_OPERATOR(NanMedian, (const aclTensor *self, aclTensor *out)) {
  return emu::plan_whole_median("aclnnNanMedian", self, "out", out, true, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MedianDim, (const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut,
                         aclTensor *indicesOut)) {
  return emu::plan_median({"aclnnMedianDim", self, dim, valuesOut, "indicesOut", indicesOut},
                          keepDim, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NanMedianDim, (const aclTensor *self, int64_t dim, bool keepDim, aclTensor *valuesOut,
                            aclTensor *indicesOut)) {
  return emu::plan_median({"aclnnNanMedianDim", self, dim, valuesOut, "indicesOut", indicesOut},
                          keepDim, true, workspaceSize, executor);
}
EMU_CATCH
