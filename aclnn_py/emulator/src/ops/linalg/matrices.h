// SPDX-License-Identifier: Apache-2.0
// Batches of matrices for the decompositions: read whole into memory of their own, in float64 or
// complex128 whatever their dtype, and stored with one rounding.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

#include "core/numbers.h"
#include "ops/reduce/row_reader.h"

namespace emu {

// A row-major matrix.
template <class T>
struct DenseMatrix {
  int64_t rows = 0, columns = 0;
  Numbers<T> items;

  DenseMatrix() = default;
  DenseMatrix(int64_t r, int64_t c) : rows(r), columns(c), items(static_cast<size_t>(r * c)) {}

  T &at(int64_t r, int64_t c) { return items[static_cast<size_t>(r * columns + c)]; }
  const T &at(int64_t r, int64_t c) const { return items[static_cast<size_t>(r * columns + c)]; }
};

inline double conjugate(double x) { return x; }
inline Complex128 conjugate(Complex128 x) { return std::conj(x); }
inline double real_part(double x) { return x; }
inline double real_part(Complex128 x) { return x.real(); }
inline bool is_finite(double x) { return std::isfinite(x); }
inline bool is_finite(Complex128 x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }
inline double squared(double x) { return x * x; }
inline double squared(Complex128 x) { return std::norm(x); }

template <class T>
DenseMatrix<T> conjugate_transposed(const DenseMatrix<T> &a) {
  DenseMatrix<T> result(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) result.at(j, i) = conjugate(a.at(i, j));
  }
  return result;
}

// Matrices lie in the last two dimensions of a view, the others count them.
template <class T>
class MatrixReader {
 public:
  explicit MatrixReader(const View &view)
      : rows_(view, inner_axes(view), view.dtype),
        height_(view.layout.shape[view.layout.rank - 2]),
        width_(view.layout.shape[view.layout.rank - 1]) {}

  DenseMatrix<T> read(int64_t index) const {
    DenseMatrix<T> result;
    result.rows = height_;
    result.columns = width_;
    result.items.reserve(static_cast<size_t>(height_ * width_));
    rows_.each(index, [&](const T *block, int64_t count, int64_t) {
      result.items.insert(result.items.end(), block, block + count);
    });
    return result;
  }

 private:
  static AxisSet inner_axes(const View &view) {
    return all_axes(view.layout.rank) & ~all_axes(view.layout.rank - 2);
  }

  RowReader<T> rows_;
  int64_t height_, width_;
};

// Results of one matrix each, dense in the order of the view.
template <class T>
class MatrixWriter {
 public:
  explicit MatrixWriter(const View &view) : write_(view) {}

  void put(int64_t index, const Numbers<T> &items) const {
    const auto length = static_cast<int64_t>(items.size());
    for (int64_t start = 0; start < length; start += kBlock) {
      write_.put(index * length + start, std::min(kBlock, length - start), items.data() + start);
    }
  }
  void put(int64_t index, T value) const { write_.put(index, value); }

 private:
  RowWriter<T> write_;
};

// The type a dtype is decomposed in, as f(T{}).
template <class F>
void with_wide_type(aclDataType dtype, F &&f) {
  if (is_complex(dtype)) f(Complex128{});
  else f(double{});
}

// f(index) for every matrix of a batch, in parallel where there is work enough.
template <class F>
void for_each_matrix(int64_t batch, int64_t rows, int64_t columns, F &&f) {
  for_each_row(batch, rows * columns * std::max<int64_t>(1, std::min(rows, columns)), f);
}

// Shape of the batch dimensions followed by others.
inline Layout batch_shape(const Layout &matrices, std::initializer_list<int64_t> inner) {
  int64_t shape[kMaxRank];
  int rank = 0;
  for (; rank + 2 < matrices.rank; ++rank) shape[rank] = matrices.shape[rank];
  for (const int64_t extent : inner) shape[rank++] = extent;
  return dense_layout(shape, rank);
}

inline int64_t batch_count(const Layout &matrices) { return batch_shape(matrices, {}).count(); }

// 161002 unless the last two dimensions are equal; the rank is known to be 2 or more.
inline Check &square(Check &check, const char *parameter, const aclTensor *tensor) {
  if (!check.ok()) return check;
  const size_t rank = tensor->rank();
  return check.that(tensor->shape[rank - 1] == tensor->shape[rank - 2],
                    "%s has shape %s; its last two dimensions must be equal", parameter,
                    shape_text(layout_of(*tensor)).c_str());
}

}  // namespace emu
