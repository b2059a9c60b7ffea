// SPDX-License-Identifier: Apache-2.0
// Results of columns: elements that follow each other in memory belong to results that do, so that
// a row of them is taken at a time.
#pragma once

#include <algorithm>

#include "ops/reduce/row_reader.h"

namespace emu {

// Whether elements are worth reading like that: rows of a few are not.
inline bool in_columns(const Layout &layout, AxisSet axes) {
  constexpr int64_t kFew = 32;
  int64_t together = 1;  // of a row, in either direction
  for (int d = layout.rank - 1; d >= 0; --d) {
    if ((axes >> d & 1) != 0 || layout.shape[d] == 1) continue;
    if (std::abs(layout.stride[d]) != together) break;
    together *= layout.shape[d];
  }
  return together >= kFew && leads_to_next(layout, axes);
}

template <class T>
class ColumnReader {
 public:
  // `via` is the dtype the elements are rounded to first.
  ColumnReader(const View &in, AxisSet axes, aclDataType via)
      : reader_(first(in, axes), via),
        have_(compute_for(via)),
        length_(reduced_count(in.layout, axes)),
        columns_(in.count() / length_) {}

  // The elements of one column.
  int64_t length() const { return length_; }

  // f(first column, columns) for blocks of columns, on the threads of the pool.
  template <class F>
  void each_block(F &&f) const {
    constexpr int64_t kLeast = 64;  // that fill a few lines of the cache
    const int64_t share = (columns_ + parallel_width() - 1) / parallel_width();
    const int64_t size = std::clamp(share, kLeast, kBlock);
    parallel_for((columns_ + size - 1) / size, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block)
        f(block * size, std::min(size, columns_ - block * size));
    });
  }
  // f(elements, place of the first one among all) for the rows of a block, in order.
  template <class F>
  void each_row(int64_t start, int64_t count, F &&f) const {
    alignas(64) char scratch[kBlock * sizeof(Complex128)];
    alignas(64) T wide[kBlock];
    for (int64_t row = 0; row < length_; ++row) {
      const int64_t at = row * columns_ + start;
      f(read_as(reader_, have_, at, count, scratch, wide), at);
    }
  }

 private:
  static View first(const View &in, AxisSet axes) {
    View view = in;
    view.layout = reduced_first(in.layout, axes);
    return view;
  }

  Reader reader_;
  Compute have_;
  int64_t length_, columns_;
};

}  // namespace emu
