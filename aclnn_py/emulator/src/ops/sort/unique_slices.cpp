// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// UniqueDim and UniqueConsecutive: slices along a dimension, each of which is kept once. NaN is
// unlike everything, itself included.
#include <memory>
#include <numeric>
#include <optional>

#include "aclnnop/index.h"
#include "core/chip.h"
#include "ops/index/masks.h"
#include "ops/shared/rows.h"

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

Status refuse_room(const char *op, const char *name, int64_t room, const Layout &shape) {
  return fail(kKernelFault, "%s: %s has room for %lld elements; the result has shape %s", op, name,
              static_cast<long long>(room), shape_text(shape).c_str());
}

// Writes a result into the front of its memory and gives it its shape.
template <class T>
Status settle(const char *op, const char *name, const aclTensor &tensor,
              const GrowingResult &result, const Layout &shape, int dim,
              const std::vector<T> &values) {
  View view = view_of(tensor);
  if (shape.count() > view.count()) return refuse_room(op, name, view.count(), shape);
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

// A result that is written from its front on, block by block, while the elements are read.
template <class T>
class Front {
 public:
  explicit Front(const View &view) : room_(view.count()), to_(line(view)) {}
  int64_t room() const { return room_; }
  // What finds no room is only counted.
  void append(const T *values, int64_t count) {
    const int64_t fits = std::min(count, std::max<int64_t>(0, room_ - written_));
    if (fits > 0) to_.write(written_, fits, values);
    written_ += count;
  }
  int64_t written() const { return written_; }

 private:
  static View line(View view) {
    const int64_t count = view.count();
    view.layout = dense_layout(&count, 1);
    return view;
  }
  int64_t room_, written_ = 0;
  RowTarget<T> to_;
};

// The first elements of runs of equal ones, in one walk; `lengths` may be null.
template <class T>
void write_runs(const View &self, Front<T> &values, Front<int64_t> *lengths) {
  const int64_t count = self.count();
  const RowSource<T> source(self);
  T room[kBlock], first[kBlock], last{};
  int64_t at[kBlock + 1], begun = 0;
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t n = std::min(kBlock, count - start);
    const T *x = source.row(start, n, room);
    int64_t runs = 0;
    // Without a branch: no processor foresees where elements differ.
    const auto look = [&](const T &before, int64_t i) {
      at[runs] = start + i;
      first[runs] = x[i];
      runs += before == x[i] ? 0 : 1;
    };
    if (start == 0) runs = (at[0] = 0, first[0] = x[0], 1);
    else look(last, 0);
    for (int64_t i = 1; i < n; ++i) look(x[i - 1], i);
    last = x[n - 1];
    values.append(first, runs);
    if (lengths == nullptr || runs == 0) continue;
    // A run is as long as it is to the next one, so each block ends the last run of those before.
    const int64_t next = at[runs - 1], open = start == 0 ? 1 : 0;
    for (int64_t k = runs - 1; k >= open; --k) at[k] -= k > 0 ? at[k - 1] : begun;
    if (open != 0) std::copy(at + 1, at + runs, at);
    lengths->append(at, runs - open);
    begun = next;
  }
  const int64_t rest = count - begun;
  if (lengths != nullptr && count > 0) lengths->append(&rest, 1);
}

// Single elements whose places nobody asks for, into memory that is apart: no slice is kept.
template <class T>
Status keep_runs(PlanContext &c, const UniqueTask &task, const GrowingResult &values_result,
                 const GrowingResult &counts_result) {
  Front<T> values(view_of(c.tensor(task.values)));
  std::optional<Front<int64_t>> counts;
  if (task.counts) counts.emplace(view_of(c.tensor(task.counts_to)));
  write_runs<T>(view_of(c.tensor(task.from)), values, counts ? &*counts : nullptr);
  const int64_t kinds = values.written();
  const Layout shape = dense_layout(&kinds, 1);
  if (kinds > values.room()) return refuse_room(task.op, "valueOut", values.room(), shape);
  values_result.settle(shape);
  if (!counts) return 0;
  if (kinds > counts->room()) return refuse_room(task.op, "countsOut", counts->room(), shape);
  counts_result.settle(shape);
  return 0;
}

bool writes_apart(PlanContext &c, const UniqueTask &task) {
  const View self = view_of(c.tensor(task.from)), values = view_of(c.tensor(task.values));
  if (clash(self, values) || self.data == values.data) return false;
  if (!task.counts) return true;
  const View counts = view_of(c.tensor(task.counts_to));
  return !clash(self, counts) && !clash(values, counts) && self.data != counts.data;
}

template <class T>
Status keep_one_of_each(PlanContext &c, const UniqueTask &task, const GrowingResult &values_result,
                        const GrowingResult &inverse_result, const GrowingResult &counts_result) {
  if (task.flat && !task.sort && !task.inverse && writes_apart(c, task))
    return keep_runs<T>(c, task, values_result, counts_result);
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
