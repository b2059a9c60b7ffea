// SPDX-License-Identifier: Apache-2.0
// Operators that need a whole row at a time: rows of any strides and dtype as dense float32 (or
// float64) in memory of the thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/pool.h"
#include "ops/block_kernels.h"
#include "ops/op.h"

namespace emu {

// The dtype whose memory image is T.
template <class T>
constexpr aclDataType row_dtype() {
  if constexpr (std::is_same_v<T, double>) return ACL_DOUBLE;
  else if constexpr (std::is_same_v<T, int32_t>) return ACL_INT32;
  else if constexpr (std::is_same_v<T, int64_t>) return ACL_INT64;
  else if constexpr (std::is_same_v<T, uint64_t>) return ACL_UINT64;
  else if constexpr (std::is_same_v<T, Complex128>) return ACL_COMPLEX128;
  else return ACL_FLOAT;
}

// Consecutive elements of a view, in row-major order of its layout.
template <class T>
class RowSource {
 public:
  explicit RowSource(const View &view) : reader_(view, row_dtype<T>()) {}
  void read(int64_t start, int64_t count, T *to) const {
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t n = std::min(kBlock, count - i);
      const void *block = reader_.read(start + i, n, to + i);
      if (block != to + i) std::memcpy(to + i, block, static_cast<size_t>(n) * sizeof(T));
    }
  }
  // Where the elements lie: in the memory of the view where they are ready there, else in
  // `scratch`, which they are read into.
  const T *row(int64_t start, int64_t count, T *scratch) const {
    if (count == 0) return scratch;  // the view may have no element to begin at
    const void *first = reader_.read(start, std::min(kBlock, count), scratch);
    if (first != scratch) return static_cast<const T *>(first);
    if (count > kBlock) read(start + kBlock, count - kBlock, scratch + kBlock);
    return scratch;
  }

 private:
  Reader reader_;
};

template <class T>
class RowTarget {
 public:
  // Values are rounded to `via` first, where it is given.
  explicit RowTarget(const View &view, aclDataType via = ACL_DT_UNDEFINED)
      : writer_(view, compute_of<T>(), via) {}
  // Where elements may be put before they are written: where they belong, or `scratch`.
  T *row(int64_t start, T *scratch) const {
    return static_cast<T *>(writer_.target(start, scratch));
  }
  void write(int64_t start, int64_t count, const T *from) const;

 private:
  Writer writer_;
};

template <class T>
void RowTarget<T>::write(int64_t start, int64_t count, const T *from) const {
  if (count > 0 && from == row(start, nullptr)) return;
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t n = std::min(kBlock, count - i);
    alignas(64) char scratch[kBlock * sizeof(T)];
    void *target = writer_.target(start + i, scratch);
    if (target == scratch) {
      writer_.write(start + i, n, from + i);
    } else {
      std::memcpy(target, from + i, static_cast<size_t>(n) * sizeof(T));
    }
  }
}
// Compiled once, in rows.cpp.
extern template void RowTarget<float>::write(int64_t, int64_t, const float *) const;
extern template void RowTarget<double>::write(int64_t, int64_t, const double *) const;
extern template void RowTarget<int64_t>::write(int64_t, int64_t, const int64_t *) const;

// A small tensor (weights of a norm) read whole; `fallback` repeated when it is absent.
template <class T>
std::vector<T> read_all(PlanContext &c, size_t index, int64_t count, T fallback);

// Calls body(row, buffer) for every row on the threads of the pool; `buffers` vectors of `width`
// values belong to the call.
template <class T, class F>
void for_each_row(int64_t rows, int64_t width, int buffers, F body) {
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> memory(static_cast<size_t>(width * buffers));
    for (int64_t row = begin; row < end; ++row) body(row, memory.data());
  });
}

// The result is written row by row while other rows are still read: an operand it overlaps (other
// than element for element) is copied.
class Operands {
 public:
  View safe(const View &operand, std::initializer_list<View> results);

 private:
  std::vector<std::unique_ptr<Snapshot>> kept_;
};

// Plans an operator that makes one tensor of another: body(source, result) gets a source that may
// be read while the result is written.
template <class F>
Status plan_one_to_one(const char *op, const aclTensor *self, const aclTensor *out, F body,
                       uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [from, to, body](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        body(operands.safe(view_of(c.tensor(from)), {result}), result);
        return Status{0};
      },
      workspace_size, executor);
}

// Values that pay for a call of a kernel.
constexpr int64_t kLongSum = 64;

// The sum of of(value) with a rounding error that does not grow with the row: partial sums in
// float64.
template <class T, class Of>
double sum_each(const T *values, int64_t count, Of of) {
  constexpr int64_t kLanes = 4;
  double lanes[kLanes] = {};
  const int64_t whole = count > 0 ? count - count % kLanes : 0;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += of(static_cast<double>(values[i + lane]));
  }
  for (int64_t i = whole; i < count; ++i) lanes[0] += of(static_cast<double>(values[i]));
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

template <class T>
double sum_of(const T *values, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    if (count >= kLongSum) return block_kernels().sum(values, count);
  }
  return sum_each(values, count, [](double value) { return value; });
}

// The sum of the squares of the distances from `mean`.
template <class T>
double square_sum(const T *values, int64_t count, double mean) {
  if constexpr (std::is_same_v<T, float>) {
    if (count >= kLongSum) return block_kernels().squares_from(values, count, mean);
  }
  return sum_each(values, count, [=](double value) { return (value - mean) * (value - mean); });
}

// The layout with dimension `dim` moved to the end, so that its lines are rows.
inline Layout rows_along(const Layout &layout, int dim) {
  Layout moved;
  for (int d = 0; d < layout.rank; ++d) {
    if (d != dim) moved.push(layout.shape[d], layout.stride[d]);
  }
  if (layout.rank > 0) moved.push(layout.shape[dim], layout.stride[dim]);
  return moved;
}

inline View rows_along(View view, int dim) {
  view.layout = rows_along(view.layout, dim);
  return view;
}

}  // namespace emu
