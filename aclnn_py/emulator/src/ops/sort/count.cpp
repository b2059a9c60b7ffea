// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Values counted and looked up: Unique, Unique2, SearchSorted, SearchSorteds,
// Bucketize, Bincount, Histc.
#include "aclnnop/index.h"
#include "aclnnop/math.h"
#include "core/chip.h"
#include "core/per_thread.h"
#include "core/scratch.h"
#include "core/statuses.h"
#include "ops/index/addresses.h"
#include "ops/index/masks.h"
#include "ops/shape/movement.h"
#include "ops/shared/rows.h"
#include "ops/sort/distinct.h"

#include <atomic>
#include <cmath>
#include <optional>
#include <type_traits>

namespace emu {
namespace {

// All elements, dense.
template <class T>
std::vector<T> line_of(const View &view) {
  std::vector<T> values(static_cast<size_t>(view.count()));
  RowSource<T>(view).read(0, view.count(), values.data());
  return values;
}

struct UniqueResult {
  size_t values, inverse, counts;
  bool want_inverse, want_counts;
};

// The distinct values in ascending order.
template <class T>
Status find_unique(PlanContext &c, const char *op, const View &self, const UniqueResult &r,
                   const GrowingResult &value_result, const GrowingResult &count_result) {
  const int64_t total = self.count();
  const View values = view_of(c.tensor(r.values));
  View counts;
  if (r.want_counts) counts = view_of(c.tensor(r.counts));
  DistinctTarget<T> target(values, r.want_counts ? &counts : nullptr);
  if (total > 0) {
    const auto memory = [total](auto &scratch, size_t size) {
      return scratch.take(static_cast<size_t>(total) * size);
    };
    auto &line = PerThread<Scratch, struct LineMemory>::get();
    auto &places = PerThread<Scratch, struct InverseMemory>::get();
    const T *x = RowSource<T>(self).row(0, total, static_cast<T *>(memory(line, sizeof(T))));
    if (r.want_inverse) {
      const RowTarget<int64_t> to(view_of(c.tensor(r.inverse)));
      int64_t *inverse = to.row(0, static_cast<int64_t *>(memory(places, sizeof(int64_t))));
      find_distinct(x, total, inverse, &target);
      to.write(0, total, inverse);
    } else {
      find_distinct<T>(x, total, nullptr, &target);
    }
    line.trim();
    places.trim();
  }
  const int64_t found = target.found();
  if (found > values.count()) {
    return fail(kKernelFault, "%s: valueOut has %lld elements; self has %lld distinct ones", op,
                static_cast<long long>(values.count()), static_cast<long long>(found));
  }
  if (r.want_counts && found > counts.count()) {
    return fail(kKernelFault, "%s: countsOut has %lld elements; self has %lld distinct ones", op,
                static_cast<long long>(counts.count()), static_cast<long long>(found));
  }
  Layout shape;
  shape.push(found, 1);
  value_result.settle(shape);
  if (r.want_counts) count_result.settle(shape);
  return 0;
}

Status plan_unique(const char *op, const aclTensor *self, bool inverse, bool counts,
                   const aclTensor *value_out, const aclTensor *inverse_out,
                   const aclTensor *counts_out, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("valueOut", value_out);
  if (inverse) check.required("inverseOut", inverse_out);
  else check.optional("inverseOut", inverse_out);
  if (counts) check.required("countsOut", counts_out);
  else check.optional("countsOut", counts_out);
  check.dtype("self", self)
      .dtype("valueOut", value_out)
      .rank("self", self, 0, 8)
      .rank("valueOut", value_out, 1, 1);
  if (!check.ok()) return check.status();
  check.same_dtype("valueOut", value_out->dtype, "self", self->dtype);
  // Given where they are not asked for, the results still need their dtype.
  if (inverse_out != nullptr)
    check.dtype_in("inverseOut", inverse_out->dtype, dtype_set(ACL_INT64));
  if (counts_out != nullptr) check.dtype_in("countsOut", counts_out->dtype, dtype_set(ACL_INT64));
  if (inverse) {
    check.shape("inverseOut", inverse_out, layout_of(*self));
  }
  if (counts) check.rank("countsOut", counts_out, 1, 1);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t from = plan.input(self);
  UniqueResult r{};
  r.values = plan.output(value_out);
  r.inverse = inverse ? plan.output(inverse_out) : plan.unused(inverse_out);
  r.counts = counts || counts_out == nullptr ? plan.output_if(counts_out) : plan.unused(counts_out);
  r.want_inverse = inverse;
  r.want_counts = counts;
  const GrowingResult values(value_out), numbers(counts ? counts_out : value_out);
  return plan.finish(
      [=](PlanContext &c) {
        const View view = view_of(c.tensor(from));
        switch (compute_for(view.dtype)) {
          case Compute::F64: return find_unique<double>(c, op, view, r, values, numbers);
          case Compute::I32: return find_unique<int32_t>(c, op, view, r, values, numbers);
          case Compute::I64: return find_unique<int64_t>(c, op, view, r, values, numbers);
          case Compute::U64: return find_unique<uint64_t>(c, op, view, r, values, numbers);
          default: return find_unique<float>(c, op, view, r, values, numbers);
        }
      },
      workspace_size, executor);
}

// The rows that values are looked up in. For each value it is the first position of its row whose
// entry is not below it (right: is above it).
template <class T>
struct SearchedRows {
  std::vector<T> entries;
  std::vector<int64_t> sorter;  // the places of the entries in order, or nothing
  int64_t width;
  int64_t per_row;  // values that belong to one row; 0 where there is one row
  bool right;

  const T *row_of(int64_t value) const {
    return entries.data() + (per_row > 0 ? value / per_row * width : 0);
  }
  bool before(T entry, T value) const { return right ? !(entry > value) : !(entry >= value); }

  // Several values side by side, each in as many steps as the row asks for: nothing has to be
  // foreseen, and no step waits for that of another value.
  void find(int64_t first, const T *values, int64_t count, int64_t *found) const {
    constexpr int64_t kTogether = 8;
    int steps = 0;
    while (width >> steps > 0) ++steps;
    for (int64_t start = 0; start < count; start += kTogether) {
      const int64_t n = std::min(kTogether, count - start);
      const T *row[kTogether];
      T value[kTogether];
      int64_t low[kTogether], left[kTogether];
      for (int64_t k = 0; k < kTogether; ++k) {
        const int64_t at = start + std::min(k, n - 1);
        row[k] = row_of(first + at);
        value[k] = values[at];
        low[k] = 0;
        left[k] = width;
      }
      for (int step = 0; step < steps; ++step) {
        for (int64_t k = 0; k < kTogether; ++k) {
          const int64_t half = left[k] >> 1, middle = low[k] + half;
          const int64_t inside = middle - static_cast<int64_t>(middle == width);
          const int64_t up = -(static_cast<int64_t>(before(row[k][inside], value[k])) &
                               static_cast<int64_t>(left[k] > 0));
          low[k] += up & (half + 1);
          left[k] = half - (up & (2 * half + 1 - left[k]));
        }
      }
      std::copy(low, low + n, found + start);
    }
  }

  // The same through the sorter; the first place in it that leads nowhere, or -1.
  int64_t find_sorted(int64_t first, const T *values, int64_t count, int64_t *found) const {
    for (int64_t i = 0; i < count; ++i) {
      const T *row = row_of(first + i);
      const int64_t *order = sorter.data() + (row - entries.data());
      int64_t low = 0, high = width;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2, at = order[middle];
        if (at < 0 || at >= width) return order + middle - sorter.data();
        if (before(row[at], values[i])) low = middle + 1;
        else high = middle;
      }
      found[i] = low;
    }
    return -1;
  }

  // read(first, count, values) gives values. Each step of a search may wait for memory, so a piece
  // is shorter than where elements are only moved.
  template <class Read>
  Status run(const char *op, int64_t total, Read read, const RowTarget<int64_t> &target) const {
    std::atomic<int64_t> wrong{-1};
    parallel_for(total, 4 * kBlock, [&](int64_t begin, int64_t end) {
      T values[kBlock];
      int64_t found[kBlock];
      for (int64_t start = begin; start < end; start += kBlock) {
        const int64_t n = std::min(kBlock, end - start);
        read(start, n, values);
        if (sorter.empty()) {
          find(start, values, n, found);
        } else if (const int64_t place = find_sorted(start, values, n, found); place >= 0) {
          wrong = place;
          return;
        }
        target.write(start, n, found);
      }
    });
    if (wrong < 0) return 0;
    return fail(kKernelFault, "%s: sorter holds %lld; sortedSequence has rows of %lld", op,
                static_cast<long long>(sorter[static_cast<size_t>(wrong.load())]),
                static_cast<long long>(width));
  }
};

// A view in another dtype, where it does not have that already.
class InDtype {
 public:
  InDtype(const View &view, aclDataType dtype) : view_(view) {
    if (view.dtype == dtype) return;
    memory_.resize(static_cast<size_t>(view.count() * item_size(dtype)));
    view_.data = memory_.data();
    view_.dtype = dtype;
    view_.layout = dense_layout(view.layout.shape, view.layout.rank);
    copy_view(view, view_);
  }
  const View &view() const { return view_; }

 private:
  View view_;
  std::vector<char> memory_;
};

// The host casts both sides to the dtype in which they meet, and a scalar to float32 and then to
// that of the sequence.
struct SearchArguments {
  const char *op;
  const aclTensor *sequence, *self;
  const aclScalar *scalar;
  bool out_int32, right;
  const aclTensor *sorter, *out;
  const char *sequence_name = "sortedSequence";
  bool of_buckets = false;  // one value without dimensions counts as a scalar in the promotion
};

Status plan_search(const SearchArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required(a.sequence_name, a.sequence);
  if (a.scalar == nullptr) check.required("self", a.self);
  check.optional("sorter", a.sorter).required("out", a.out);
  check.dtype(a.sequence_name, a.sequence)
      .dtype("self", a.self)
      .dtype("self", a.scalar)
      .dtype("sorter", a.sorter);
  check.rank(a.sequence_name, a.sequence, 1, 8);
  if (!check.ok()) return check.status();
  check.dtype_in("out", a.out->dtype, a.out_int32 ? dtype_set(ACL_INT32) : dtype_set(ACL_INT64));
  const Layout sequence = layout_of(*a.sequence),
               values = a.self != nullptr ? layout_of(*a.self) : Layout();
  check.shape("sorter", a.sorter, sequence);
  if (a.scalar != nullptr) check.shape_or_one_element("out", a.out, values);
  else check.shape("out", a.out, values);
  check.that(a.scalar == nullptr || sequence.rank == 1,
             "sortedSequence has %d dimensions; a scalar is looked up in one", sequence.rank);
  bool leads = sequence.rank == 1 || sequence.rank == values.rank;
  for (int d = 0; leads && sequence.rank > 1 && d + 1 < sequence.rank; ++d)
    leads = sequence.shape[d] == values.shape[d];
  check.that(leads, "self %s does not lie over the rows of sortedSequence %s",
             shape_text(values).c_str(), shape_text(sequence).c_str());
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t line = plan.input(a.sequence), self = plan.input_if(a.self),
               order = plan.input(a.sorter), to = plan.output(a.out);
  const char *op = a.op;
  const bool right = a.right, scalar = a.scalar != nullptr;
  const aclDataType common = scalar ? a.sequence->dtype
                             : a.of_buckets && a.self->rank() == 0
                                 ? promote_with_scalar(a.sequence->dtype, a.self->dtype)
                                 : promote(a.sequence->dtype, a.self->dtype);
  const float value = scalar ? static_cast<float>(a.scalar->to_double()) : 0;
  return plan.finish(
      [=](PlanContext &c) {
        const InDtype sequence(view_of(c.tensor(line)), common);
        const View entries = sequence.view(), target = view_of(c.tensor(to));
        const int64_t width = entries.layout.shape[entries.layout.rank - 1];
        const bool one_row = entries.layout.rank == 1;
        const int64_t per_row = scalar || one_row || target.layout.rank == 0
                                    ? 1
                                    : target.layout.shape[target.layout.rank - 1];
        const auto look_up = [&](auto kind) {
          using T = decltype(kind);
          const SearchedRows<T> rows{
              line_of<T>(entries),
              c.has(order) ? line_of<int64_t>(view_of(c.tensor(order))) : std::vector<int64_t>(),
              width, one_row ? 0 : std::max<int64_t>(per_row, 1), right};
          const RowTarget<int64_t> to_result(target);
          if (scalar) {
            float number = value;
            View one;
            one.data = reinterpret_cast<char *>(&number);
            one.dtype = ACL_FLOAT;
            const InDtype element(one, common);
            T sought;
            RowSource<T>(element.view()).read(0, 1, &sought);
            return rows.run(
                op, target.count(), [&](int64_t, int64_t, T *to_fill) { *to_fill = sought; },
                to_result);
          }
          // What is looked up may lie where the result goes.
          const InDtype values(view_of(c.tensor(self)), common);
          std::optional<Snapshot> kept;
          if (clash(values.view(), target)) kept.emplace(values.view());
          const RowSource<T> sought(kept ? kept->view() : values.view());
          return rows.run(
              op, target.count(),
              [&](int64_t first, int64_t n, T *to_fill) { sought.read(first, n, to_fill); },
              to_result);
        };
        // Whole numbers are compared as such: float64 would merge large ones.
        return is_integer(common) || common == ACL_BOOL ? look_up(int64_t{}) : look_up(double{});
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

// Ascending whether `sorted` asks for it or not.
EMU_OPERATOR(Unique, (const aclTensor *self, bool sorted, bool returnInverse, aclTensor *valueOut,
                      aclTensor *inverseOut)) {
  (void)sorted;
  return emu::plan_unique("aclnnUnique", self, returnInverse, false, valueOut, inverseOut, nullptr,
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Unique2, (const aclTensor *self, bool sorted, bool returnInverse, bool returnCounts,
                       aclTensor *valueOut, aclTensor *inverseOut, aclTensor *countsOut)) {
  (void)sorted;
  return emu::plan_unique("aclnnUnique2", self, returnInverse, returnCounts, valueOut, inverseOut,
                          countsOut, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SearchSorted, (const aclTensor *sortedSequence, const aclTensor *self, bool outInt32,
                            bool right, const aclTensor *sorter, aclTensor *out)) {
  return emu::plan_search(
      {"aclnnSearchSorted", sortedSequence, self, nullptr, outInt32, right, sorter, out},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SearchSorteds, (const aclTensor *sortedSequence, const aclScalar *self, bool outInt32,
                             bool right, const aclTensor *sorter, aclTensor *out)) {
  emu::Check check("aclnnSearchSorteds");
  if (!check.required("sortedSequence", sortedSequence).required("self", self).ok())
    return check.status();
  return emu::plan_search(
      {"aclnnSearchSorteds", sortedSequence, nullptr, self, outInt32, right, sorter, out},
      workspaceSize, executor);
}
EMU_CATCH

// SearchSorted in one row of bounds, which a 950 has under a name of its own.
EMU_OPERATOR(Bucketize, (const aclTensor *self, const aclTensor *boundaries, bool outInt32,
                         bool right, aclTensor *out)) {
  emu::Check check("aclnnBucketize");
  check.required("self", self).required("boundaries", boundaries).required("out", out);
  check.that(emu::chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  check.dtype("self", self).dtype("boundaries", boundaries);
  check.rank("self", self, 0, 8).rank("boundaries", boundaries, 1, 1);
  if (!check.ok()) return check.status();
  check.that(boundaries->shape[0] > 0, "boundaries has no elements; it needs at least one");
  if (!check.ok()) return check.status();
  return emu::plan_search({"aclnnBucketize", boundaries, self, nullptr, outInt32, right, nullptr,
                           out, "boundaries", true},
                          workspaceSize, executor);
}
EMU_CATCH

// out[i] = how often i occurs, or the sum of the weights where it does.
EMU_OPERATOR(Bincount, (const aclTensor *self, const aclTensor *weightsOptional, int64_t minlength,
                        aclTensor *out)) {
  using namespace emu;
  Check check("aclnnBincount");
  check.required("self", self).optional("weightsOptional", weightsOptional).required("out", out);
  check.dtype("self", self).dtype("weightsOptional", weightsOptional).dtype("out", out);
  check.plain_format("self", self)
      .plain_format("out", out)
      .rank("self", self, 1, 1)
      .rank("out", out, 1, 1);
  check.that(minlength >= 0, "minlength is %lld; it must not be negative",
             static_cast<long long>(minlength));
  if (!check.ok()) return check.status();
  check.shape("weightsOptional", weightsOptional, layout_of(*self));
  check.that(out->shape[0] >= minlength, "out has %lld elements, fewer than minlength, %lld",
             static_cast<long long>(out->shape[0]), static_cast<long long>(minlength));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnBincount");
  const size_t from = plan.input(self), weights = plan.input(weightsOptional),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        const int64_t bins = target.count();
        std::vector<double> sums(static_cast<size_t>(bins));
        std::vector<double> factors;
        if (c.has(weights)) factors = line_of<double>(view_of(c.tensor(weights)));
        const RowSource<int64_t> numbers(source);
        IndexFault fault;
        int64_t block[kBlock];
        for (int64_t start = 0; start < source.count() && !fault.found; start += kBlock) {
          const int64_t n = std::min(kBlock, source.count() - start);
          numbers.read(start, n, block);
          const int64_t *wrong = std::find_if(
              block, block + n, [bins](int64_t value) { return value < 0 || value >= bins; });
          if (wrong != block + n) fault.report(*wrong, bins);
          else if (factors.empty())
            for (int64_t i = 0; i < n; ++i) sums[static_cast<size_t>(block[i])] += 1.0;
          else
            for (int64_t i = 0; i < n; ++i)
              sums[static_cast<size_t>(block[i])] += factors[static_cast<size_t>(start + i)];
        }
        if (!fault.found && bins > 0) RowTarget<double>(target).write(0, bins, sums.data());
        return fault.status("aclnnBincount", "self");
      },
      workspaceSize, executor);
}
EMU_CATCH

// Counts in `bins` equal intervals of [min, max], the last one closed. Equal bounds stand for the
// extremes of the data.
EMU_OPERATOR(Histc, (const aclTensor *self, int64_t bins, const aclScalar *min,
                     const aclScalar *max, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnHistc");
  check.required("self", self).required("min", min).required("max", max).required("out", out);
  check.dtype("self", self).dtype("out", out).rank("self", self, 0, 8);
  check.that(bins > 0, "bins is %lld; it must be positive", static_cast<long long>(bins));
  Layout shape;
  shape.push(bins, 1);
  check.shape("out", out, shape);
  if (!check.ok()) return check.status();
  const double low_given = min->to_double(), high_given = max->to_double();
  check.that(std::isfinite(low_given) && std::isfinite(high_given) && low_given <= high_given,
             "min is %g and max is %g; they must be finite and in order", low_given, high_given);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnHistc");
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const auto values = line_of<double>(view_of(c.tensor(from)));
        double low = low_given, high = high_given;
        if (low == high && !values.empty()) {
          low = *std::min_element(values.begin(), values.end());
          high = *std::max_element(values.begin(), values.end());
        }
        if (low == high) {
          low -= 1;
          high += 1;
        }
        std::vector<double> counts(static_cast<size_t>(bins));
        for (const double value : values) {
          if (!(value >= low && value <= high)) continue;
          const auto bin =
              static_cast<int64_t>((value - low) / (high - low) * static_cast<double>(bins));
          counts[static_cast<size_t>(std::min(bin, bins - 1))] += 1;
        }
        RowTarget<double>(view_of(c.tensor(to))).write(0, bins, counts.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
