// SPDX-License-Identifier: Apache-2.0
// UniqueDim and UniqueConsecutive: slices along a dimension, each of which is kept once. NaN is
// unlike everything, itself included.
#include <memory>
#include <numeric>

#include "aclnnop/index.h"
#include "core/chip.h"
#include "ops/index/masks.h"
#include "ops/norm/rows.h"

namespace emu {
namespace {

// The elements of a tensor as one dimension, whatever its shape.
constexpr int64_t kFlattened = 1000;

struct UniqueCall {
  const char *op;
  const aclTensor *self;
  bool inverse, counts, sort;
  int64_t dim;
  const aclTensor *value_out, *inverse_out, *counts_out;
};

// What the kernel needs to know of a call.
struct UniqueTask {
  const char *op;
  bool inverse, counts, sort, flat;
  int dim;
  size_t from, values, inverse_to, counts_to;
};

View leading(View view, int dim) {
  Layout moved;
  moved.push(view.layout.shape[dim], view.layout.stride[dim]);
  for (int d = 0; d < view.layout.rank; ++d) {
    if (d != dim) moved.push(view.layout.shape[d], view.layout.stride[d]);
  }
  view.layout = moved;
  return view;
}

bool is_nan(int32_t) { return false; }
bool is_nan(int64_t) { return false; }
bool is_nan(uint64_t) { return false; }
bool is_nan(float x) { return x != x; }
bool is_nan(double x) { return x != x; }

// Of two complex numbers, which are never sorted, neither is in front.
template <class T>
bool in_front(const T &a, const T &b) {
  return is_nan(b) ? !is_nan(a) : a < b;
}
template <>
bool in_front(const Complex128 &, const Complex128 &) {
  return false;
}

// Slices read whole, one after the other.
template <class T>
struct Slices {
  int64_t count, width;
  std::unique_ptr<T[]> items;

  Slices(const View &view, int64_t slices)
      : count(slices),
        width(slices == 0 ? 0 : view.count() / slices),
        items(new T[static_cast<size_t>(view.count())]) {
    RowSource<T>(view).read(0, view.count(), items.get());
  }
  const T *at(int64_t slice) const { return items.get() + slice * width; }
  bool equal(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i) {
      if (!(at(a)[i] == at(b)[i])) return false;
    }
    return true;
  }
  // In the order of the first elements that differ, NaN last.
  bool before(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < width; ++i) {
      if (in_front(at(a)[i], at(b)[i])) return true;
      if (in_front(at(b)[i], at(a)[i])) return false;
    }
    return false;
  }
};

struct Found {
  std::vector<int64_t> chosen, inverse, counts;  // the first slice of each kind
};

// Counts a slice to the last kind, or to a new one.
template <class T>
void count_slice(const Slices<T> &slices, int64_t slice, Found *found) {
  if (found->chosen.empty() || !slices.equal(found->chosen.back(), slice)) {
    found->chosen.push_back(slice);
    found->counts.push_back(0);
  }
  ++found->counts.back();
  if (!found->inverse.empty()) {
    found->inverse[static_cast<size_t>(slice)] = static_cast<int64_t>(found->chosen.size()) - 1;
  }
}

// Runs of equal slices: those that differ from the one before them begin one. Without a branch for
// single elements, of which no processor foresees where they differ.
template <class T>
Found find_runs(const Slices<T> &slices, bool inverse) {
  Found found;
  const int64_t count = slices.count;
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t end = std::min(start + kBlock, count);
    int64_t firsts[kBlock + 1], runs = 0;
    if (start == 0) firsts[runs++] = 0;
    for (int64_t i = std::max<int64_t>(start, 1); i < end; ++i) {
      const bool same =
          slices.width == 1 ? *slices.at(i - 1) == *slices.at(i) : slices.equal(i - 1, i);
      firsts[runs] = i;
      runs += same ? 0 : 1;
    }
    found.chosen.insert(found.chosen.end(), firsts, firsts + runs);
  }
  const size_t kinds = found.chosen.size();
  found.counts.resize(kinds);
  for (size_t k = 0; k < kinds; ++k)
    found.counts[k] = (k + 1 < kinds ? found.chosen[k + 1] : count) - found.chosen[k];
  if (!inverse) return found;
  found.inverse.reserve(static_cast<size_t>(count));
  for (size_t k = 0; k < kinds; ++k) {
    found.inverse.insert(found.inverse.end(), static_cast<size_t>(found.counts[k]),
                         static_cast<int64_t>(k));
  }
  return found;
}

template <class T>
Found find_kinds(const Slices<T> &slices, bool sort, bool inverse) {
  if (!sort) return find_runs(slices, inverse);
  Found found;
  if (inverse) found.inverse.resize(static_cast<size_t>(slices.count));
  std::vector<int64_t> order(static_cast<size_t>(slices.count));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return slices.before(a, b); });
  for (const int64_t slice : order) count_slice(slices, slice, &found);
  return found;
}

// Writes a result into the front of its memory and gives it its shape.
template <class T>
Status settle(const char *op, const char *name, const aclTensor &tensor,
              const GrowingResult &result, const Layout &shape, int dim,
              const std::vector<T> &values) {
  View view = view_of(tensor);
  if (shape.count() > view.count()) {
    return fail(kKernelFault, "%s: %s has room for %lld elements; the result has shape %s", op,
                name, static_cast<long long>(view.count()), shape_text(shape).c_str());
  }
  view.layout = shape;
  const View to = shape.rank > 0 ? leading(view, dim) : view;
  if (!values.empty()) RowTarget<T>(to).write(0, to.count(), values.data());
  result.settle(shape);
  return 0;
}

Layout with_extent(const Layout &layout, int dim, int64_t extent) {
  int64_t shape[kMaxRank];
  std::copy_n(layout.shape, layout.rank, shape);
  shape[dim] = extent;
  return dense_layout(shape, layout.rank);
}

template <class T>
Status keep_one_of_each(PlanContext &c, const UniqueTask &task, const GrowingResult &values_result,
                        const GrowingResult &inverse_result, const GrowingResult &counts_result) {
  const View self = view_of(c.tensor(task.from));
  const int64_t total = self.count();
  const Layout line = dense_layout(&total, 1);
  const Layout shape = task.flat ? line : self.layout;
  const Slices<T> slices(task.flat ? self : leading(self, task.dim), shape.shape[task.dim]);
  const Found found = find_kinds(slices, task.sort, task.inverse);
  const auto kinds = static_cast<int64_t>(found.chosen.size());
  std::vector<T> kept(static_cast<size_t>(kinds * slices.width));
  for (int64_t k = 0; k < kinds; ++k) {
    const T *from = slices.at(found.chosen[static_cast<size_t>(k)]);
    if (slices.width == 1) kept[static_cast<size_t>(k)] = *from;
    else std::copy_n(from, slices.width, kept.data() + k * slices.width);
  }
  Status status = settle(task.op, "valueOut", c.tensor(task.values), values_result,
                         with_extent(shape, task.dim, kinds), task.dim, kept);
  if (status == 0 && task.inverse) {
    const Layout each = task.flat ? dense_like(self.layout) : dense_layout(&slices.count, 1);
    // Elements in row-major order: the first dimension leads.
    status = settle(task.op, "inverseOut", c.tensor(task.inverse_to), inverse_result, each, 0,
                    found.inverse);
  }
  if (status == 0 && task.counts) {
    status = settle(task.op, "countsOut", c.tensor(task.counts_to), counts_result,
                    dense_layout(&kinds, 1), 0, found.counts);
  }
  return status;
}

void check_room(Check &check, const char *name, const aclTensor *tensor) {
  check.that(tensor->contiguous(), "%s is not contiguous; its shape is known when the data are",
             name);
}

Status plan_unique_slices(const UniqueCall &a, Check &check, bool flat, uint64_t *workspace_size,
                          aclOpExecutor **executor) {
  UniqueTask task{a.op, a.inverse, a.counts, a.sort, flat, 0, 0, 0, 0, 0};
  const auto rank = static_cast<int>(a.self->rank());
  if (!flat) {
    check.that(rank > 0 && wrap_dim(a.dim, rank, &task.dim), "dim is %lld; self has %d dimensions",
               static_cast<long long>(a.dim), rank);
  }
  check_room(check, "valueOut", a.value_out);
  check_room(check, "inverseOut", a.inverse_out);
  check_room(check, "countsOut", a.counts_out);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  task.from = plan.input(a.self);
  task.values = plan.output(a.value_out);
  task.inverse_to = a.inverse ? plan.output(a.inverse_out) : plan.unused(a.inverse_out);
  task.counts_to = a.counts ? plan.output(a.counts_out) : plan.unused(a.counts_out);
  const GrowingResult values(a.value_out), inverse(a.inverse_out), counts(a.counts_out);
  return plan.finish(
      [=](PlanContext &c) {
        const aclDataType dtype = c.tensor(task.from).dtype;
        if (is_complex(dtype))
          return keep_one_of_each<Complex128>(c, task, values, inverse, counts);
        switch (compute_for(dtype)) {
          case Compute::F32: return keep_one_of_each<float>(c, task, values, inverse, counts);
          case Compute::F64: return keep_one_of_each<double>(c, task, values, inverse, counts);
          case Compute::I32: return keep_one_of_each<int32_t>(c, task, values, inverse, counts);
          case Compute::U64: return keep_one_of_each<uint64_t>(c, task, values, inverse, counts);
          default: return keep_one_of_each<int64_t>(c, task, values, inverse, counts);
        }
      },
      workspace_size, executor);
}

// Nulls and dtypes, which both operators check in one order.
void check_unique(Check &check, const UniqueCall &a, DtypeSet refused = 0) {
  check.required("self", a.self).required("valueOut", a.value_out);
  check.required("inverseOut", a.inverse_out).required("countsOut", a.counts_out);
  check.dtype("self", a.self, refused).dtype("valueOut", a.value_out, refused);
  check.dtype("inverseOut", a.inverse_out).dtype("countsOut", a.counts_out);
  if (!check.ok()) return;
  check.same_dtype("valueOut", a.value_out->dtype, "self", a.self->dtype);
  check.same_dtype("countsOut", a.counts_out->dtype, "inverseOut", a.inverse_out->dtype);
  check.rank("self", a.self, 0, 8);
}

}  // namespace
}  // namespace emu

// Ascending whether `sorted` asks for it or not, as Unique2.
EMU_OPERATOR(UniqueDim, (const aclTensor *self, bool sorted, bool returnInverse, int64_t dim,
                         aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut)) {
  using namespace emu;
  (void)sorted;
  const UniqueCall call = {"aclnnUniqueDim", self,       returnInverse, true, true, dim,
                           valueOut,         inverseOut, countsOut};
  Check check(call.op);
  check_unique(check, call);
  if (!check.ok()) return check.status();
  check.rank("self", self, 1, 8);
  if (!check.ok()) return check.status();
  return plan_unique_slices(call, check, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UniqueConsecutive,
             (const aclTensor *self, bool returnInverse, bool returnCounts, int64_t dim,
              aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut)) {
  using namespace emu;
  const UniqueCall call = {"aclnnUniqueConsecutive",
                           self,
                           returnInverse,
                           returnCounts,
                           false,
                           dim,
                           valueOut,
                           inverseOut,
                           countsOut};
  Check check(call.op);
  check_unique(check, call, chip_is_950() ? dt::kDouble | dt::kComplex | dt::kBool : DtypeSet{0});
  check.that(!chip_is_950() || !returnInverse, "returnInverse is true; this chip allows false");
  check.that(!chip_is_950() || dim == kFlattened,
             "dim is %lld; this chip allows 1000, which flattens self",
             static_cast<long long>(dim));
  if (!check.ok()) return check.status();
  return plan_unique_slices(call, check, dim == kFlattened, workspaceSize, executor);
}
EMU_CATCH
