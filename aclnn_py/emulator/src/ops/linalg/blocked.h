// SPDX-License-Identifier: Apache-2.0
// What decompositions of large matrices are made of: products of blocks, systems with a triangular
// block, and elimination with pivots. Halves are solved one after the other, so that nearly all of
// the work is in products.
#pragma once

#include "ops/linalg/line_kernels.h"
#include "ops/linalg/matrices.h"
#include "ops/matmul/gemm.h"

namespace emu {

// So few rows or columns are worked on one by one.
constexpr int64_t kFewLines = 16;

// Where more lines than that are cut in two: products of the halves then fill their tiles.
inline int64_t half_of(int64_t lines) {
  return (lines / 2 + kFewLines - 1) / kFewLines * kFewLines;
}

// A block of a matrix whose rows lie `stride` elements apart.
template <class T>
struct Part {
  T *data;
  int64_t rows, columns, stride;

  T *row(int64_t i) const { return data + i * stride; }
  Part part(int64_t r, int64_t c, int64_t height, int64_t width) const {
    return {row(r) + c, height, width, stride};
  }
};

template <class T>
Part<T> whole(DenseMatrix<T> *a) {
  return {a->items.data(), a->rows, a->columns, a->columns};
}

// out[k] = sum of conjugates of line k times x
inline void dots(const Part<double> &lines, const double *x, double *out) {
  line_kernels().dots(lines.data, lines.stride, lines.rows, x, lines.columns, out);
}
inline void dots(const Part<Complex128> &lines, const Complex128 *x, Complex128 *out) {
  for (int64_t k = 0; k < lines.rows; ++k) {
    const Complex128 *line = lines.row(k);
    out[k] = {};
    for (int64_t i = 0; i < lines.columns; ++i) out[k] += std::conj(line[i]) * x[i];
  }
}

// y += sum of the lines, each times its factor
inline void add_lines(const Part<double> &lines, const double *factors, double *y) {
  line_kernels().add(lines.data, lines.stride, lines.rows, factors, lines.columns, y);
}
inline void add_lines(const Part<Complex128> &lines, const Complex128 *factors, Complex128 *y) {
  for (int64_t k = 0; k < lines.rows; ++k) {
    const Complex128 *line = lines.row(k);
    for (int64_t i = 0; i < lines.columns; ++i) y[i] += factors[k] * line[i];
  }
}

// Rows become columns: to[j][i] = from[i][j], or its conjugate.
inline void turn_over(const Part<double> &from, const Part<double> &to, bool conjugated = false) {
  (void)conjugated;
  line_kernels().turn_over(from.data, from.stride, from.rows, from.columns, to.data, to.stride);
}
inline void turn_over(const Part<Complex128> &from, const Part<Complex128> &to,
                      bool conjugated = false) {
  constexpr int64_t kTile = 16;  // tiles stay in the cache
  for (int64_t top = 0; top < from.rows; top += kTile) {
    const int64_t bottom = std::min(from.rows, top + kTile);
    for (int64_t left = 0; left < from.columns; left += kTile) {
      const int64_t right = std::min(from.columns, left + kTile);
      for (int64_t j = left; j < right; ++j) {
        for (int64_t i = top; i < bottom; ++i)
          to.row(j)[i] = conjugated ? std::conj(from.row(i)[j]) : from.row(i)[j];
      }
    }
  }
}

inline Matrix matrix_of(const Part<double> &p) {
  return {p.data, ACL_DOUBLE, p.rows, p.columns, {p.stride}, {1}};
}

// c less the product of a and b.
inline void subtract_product(const Part<double> &a, const Part<double> &b, const Part<double> &c) {
  if (c.rows > 0 && c.columns > 0) gemm_f64_less(matrix_of(a), matrix_of(b), c.data, c.stride);
}
inline void subtract_product(const Part<Complex128> &a, const Part<Complex128> &b,
                             const Part<Complex128> &c) {
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      const Complex128 factor = a.row(i)[k];
      for (int64_t j = 0; j < c.columns; ++j) c.row(i)[j] -= factor * b.row(k)[j];
    }
  }
}

// c less the product of a and the conjugate transpose of b.
inline void subtract_adjoint(const Part<double> &a, const Part<double> &b, const Part<double> &c) {
  if (c.rows > 0 && c.columns > 0)
    gemm_f64_less(matrix_of(a), matrix_of(b).transposed(), c.data, c.stride);
}
inline void subtract_adjoint(const Part<Complex128> &a, const Part<Complex128> &b,
                             const Part<Complex128> &c) {
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.columns; ++j) {
      Complex128 sum{};
      for (int64_t k = 0; k < a.columns; ++k) sum += a.row(i)[k] * std::conj(b.row(j)[k]);
      c.row(i)[j] -= sum;
    }
  }
}

// Row `i` of b less the rows [from, to) of b, each times its element in row `i` of a; then divided
// by the diagonal unless that is 1. At most kFewLines of them.
template <class T>
void solve_row(const Part<T> &a, const Part<T> &b, int64_t i, int64_t from, int64_t to, bool unit) {
  T factors[kFewLines], *row = b.row(i);
  for (int64_t k = from; k < to; ++k) factors[k - from] = -a.row(i)[k];
  add_lines(b.part(from, 0, to - from, b.columns), factors, row);
  if (unit) return;
  const T diagonal = a.row(i)[i];
  for (int64_t c = 0; c < b.columns; ++c) row[c] /= diagonal;
}

// b becomes the solution x of a x = b, where only one triangle of a is read. A zero on the diagonal
// gives infinities and NaN.
template <class T>
void solve_triangle(const Part<T> &a, bool upper, bool unit, const Part<T> &b) {
  const int64_t n = a.rows, half = half_of(n), rest = n - half, width = b.columns;
  if (n <= kFewLines) {
    for (int64_t i = 0; i < n; ++i) {
      if (upper) solve_row(a, b, n - 1 - i, n - i, n, unit);
      else solve_row(a, b, i, 0, i, unit);
    }
    return;
  }
  const Part<T> top = b.part(0, 0, half, width), bottom = b.part(half, 0, rest, width);
  const Part<T> first = a.part(0, 0, half, half), second = a.part(half, half, rest, rest);
  if (upper) {
    solve_triangle(second, upper, unit, bottom);
    subtract_product(a.part(0, half, half, rest), bottom, top);
    solve_triangle(first, upper, unit, top);
  } else {
    solve_triangle(first, upper, unit, top);
    subtract_product(a.part(half, 0, rest, half), top, bottom);
    solve_triangle(second, upper, unit, bottom);
  }
}

// A square matrix becomes the factors L, whose diagonal is 1, and U of itself with its rows in
// another order: row k changes places with row pivots[k], one after the other. Pivots are the
// largest elements of their columns; NaN counts as largest.
template <class T>
class Elimination {
 public:
  explicit Elimination(DenseMatrix<T> *a)
      : a_(whole(a)), n_(a->rows), pivots_(static_cast<size_t>(n_)) {}

  // False where no pivot is left: the matrix is singular, and its factors are not complete.
  bool run() { return columns(0, n_); }
  int64_t pivot(int64_t k) const { return pivots_[static_cast<size_t>(k)]; }

 private:
  bool columns(int64_t first, int64_t end) {
    if (end - first <= kFewLines) return panel(first, end);
    const int64_t middle = first + half_of(end - first);
    if (!columns(first, middle)) return false;
    const int64_t height = middle - first, width = end - middle, below = n_ - middle;
    const Part<T> right = a_.part(first, middle, height, width);
    solve_triangle(a_.part(first, first, height, height), false, true, right);
    subtract_product(a_.part(middle, first, below, height), right,
                     a_.part(middle, middle, below, width));
    return columns(middle, end);
  }

  // The columns lie side by side in memory of their own while they are worked on.
  bool panel(int64_t first, int64_t end) {
    const int64_t width = end - first, height = n_ - first;
    Numbers<T> items(static_cast<size_t>(width * height));
    const Part<T> columns{items.data(), width, height, height},
        place = a_.part(first, first, height, width);
    const auto column = [&](int64_t c) { return columns.row(c); };
    turn_over(place, columns);
    for (int64_t k = 0; k < width; ++k) {
      T *own = column(k), factors[kFewLines];
      for (int64_t q = 0; q < k; ++q) {
        factors[q] = -own[q];
        for (int64_t r = q + 1; r < k; ++r) own[r] += factors[q] * column(q)[r];
      }
      add_lines(columns.part(0, k, k, height - k), factors, own + k);
      const int64_t chosen = largest(own, k, height);
      pivots_[static_cast<size_t>(first + k)] = first + chosen;
      if (own[chosen] == T{}) return false;
      for (int64_t c = 0; c < width; ++c) std::swap(column(c)[k], column(c)[chosen]);
      const T divisor = own[k];
      for (int64_t r = k + 1; r < height; ++r) own[r] /= divisor;
    }
    turn_over(columns, place);
    for (int64_t k = first; k < end; ++k) {
      T *here = a_.row(k), *there = a_.row(pivot(k));
      if (here == there) continue;
      std::swap_ranges(here, here + first, there);
      std::swap_ranges(here + end, here + n_, there + end);
    }
    return true;
  }

  static int64_t largest(const T *column, int64_t first, int64_t end) {
    int64_t best = first;
    double most = -1;
    constexpr int64_t kMany = 32;
    for (int64_t start = first; start < end; start += kMany) {
      const int64_t stop = std::min(end, start + kMany);
      if (!any_above(most, column + start, stop - start)) continue;
      for (int64_t i = start; i < stop; ++i) {
        const double size = std::abs(column[i]);
        if (std::isnan(size)) return i;
        if (size > most) {
          most = size;
          best = i;
        }
      }
    }
    return best;
  }

  // Whether an element is greater or NaN; without a branch, so that the compiler makes vectors.
  static bool any_above(double most, const double *x, int64_t count) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) found |= static_cast<int64_t>(!(std::abs(x[i]) <= most));
    return found != 0;
  }
  static bool any_above(double, const Complex128 *, int64_t) { return true; }

  const Part<T> a_;
  const int64_t n_;
  std::vector<int64_t> pivots_;
};

}  // namespace emu
