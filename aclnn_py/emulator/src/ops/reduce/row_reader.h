// SPDX-License-Identifier: Apache-2.0
// Reductions that look at a row of elements more than once, or need the position of an element:
// each result gets its elements as blocks of one compute type.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "core/pool.h"
#include "ops/reduce/axes.h"

namespace emu {

// Up to a block of elements from `at` on, which `reader` gives as the compute type `have`.
template <class T>
const T *read_as(const Reader &reader, Compute have, int64_t at, int64_t count, void *scratch,
                 T *wide) {
  const void *block = reader.read(at, count, scratch);
  if (have == compute_of<T>()) return static_cast<const T *>(block);
  convert_table().cast[static_cast<int>(have)][static_cast<int>(compute_of<T>())](block, count,
                                                                                  wide);
  return wide;
}

template <class T>
class RowReader {
 public:
  // `via` is the dtype the elements are rounded to first.
  RowReader(const View &in, AxisSet axes, aclDataType via)
      : source_(last(in, axes)),
        reader_(source_.view(), via),
        have_(compute_for(via)),
        length_(reduced_count(in.layout, axes)),
        dense_(coalesced(source_.view().layout).is_dense()) {}

  int64_t length() const { return length_; }
  // The elements, row by row.
  const View &view() const { return source_.view(); }
  // The same where they lie in memory one behind the other in their own dtype, else null.
  const char *ready() const { return dense_ ? source_.view().data : nullptr; }

  // Calls f(block, count, position of its first element) over the elements of one row.
  template <class F>
  void each(int64_t row, F &&f) const {
    each(row, 0, length_, f);
  }
  // The same over the elements from `begin` to before `end`.
  template <class F>
  void each(int64_t row, int64_t begin, int64_t end, F &&f) const {
    alignas(64) char scratch[kBlock * sizeof(Complex128)];
    alignas(64) T wide[kBlock];
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = std::min(kBlock, end - start);
      f(read_as(reader_, have_, row * length_ + start, count, scratch, wide), count, start);
    }
  }

 private:
  static View last(const View &in, AxisSet axes) {
    View view = in;
    view.layout = reduced_last(in.layout, axes);
    return view;
  }

  TurnedSource source_;
  Reader reader_;
  Compute have_;
  int64_t length_;
  bool dense_;
};

// Stores the results of rows, one at a time or a run of one row.
template <class T>
class RowWriter {
 public:
  explicit RowWriter(const View &out) : writer_(out, compute_of<T>(), ACL_DT_UNDEFINED) {}
  void put(int64_t index, T value) const { put(index, 1, &value); }
  void put(int64_t index, int64_t count, const T *values) const {
    alignas(64) T scratch[kBlock];
    T *target = static_cast<T *>(writer_.target(index, scratch));
    std::copy(values, values + count, target);
    writer_.write(index, count, target);
  }

 private:
  Writer writer_;
};

// The elements of a long row that one thread takes at a time, whatever the number of threads, so
// that rounding does not depend on the machine.
constexpr int64_t kRowPart = 64 * kBlock;

// The sum of what f(block, count) finds in the blocks of a row, on the threads of the pool.
template <class T, class F>
double total_over(const RowReader<T> &rows, int64_t row, F &&f) {
  const int64_t length = rows.length(), parts = (length + kRowPart - 1) / kRowPart;
  std::vector<double> found(static_cast<size_t>(parts));
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      double total = 0;
      rows.each(row, i * kRowPart, std::min((i + 1) * kRowPart, length),
                [&](const T *x, int64_t count, int64_t) { total += f(x, count); });
      found[static_cast<size_t>(i)] = total;
    }
  });
  return std::accumulate(found.begin(), found.end(), 0.0);
}

// f(row) for all rows, in parallel where there is work enough; for few long ones f may use the
// threads itself.
template <class F>
void for_each_row(int64_t rows, int64_t length, F &&f) {
  if (rows < parallel_width() && length >= 2 * kRowPart) {
    for (int64_t row = 0; row < rows; ++row) f(row);
    return;
  }
  parallel_for(rows, std::max<int64_t>(1, 32 * kBlock / std::max<int64_t>(length, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) f(row);
               });
}

// The view itself, or a copy of it when `out` would overwrite what is still to be read.
class SafeView {
 public:
  SafeView(const View &in, std::initializer_list<View> outs) : view_(in) {
    for (const View &out : outs) {
      if (!copy_ && clash(in, out)) copy_.emplace(in);
    }
    if (copy_) view_ = copy_->view();
  }
  const View &view() const { return view_; }

 private:
  std::optional<Snapshot> copy_;
  View view_;
};

}  // namespace emu
