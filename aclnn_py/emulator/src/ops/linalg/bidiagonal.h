// SPDX-License-Identifier: Apache-2.0
// Square matrices in bidiagonal form: M = Q B P^H, by reflections from the left and the right in
// turn. What they change to the right of and below some columns and rows is one product of
// matrices; until then each step needs both products of that rest with a vector, for which the rest
// is read once: a column that was multiplied from the left is in the cache for the sum from the
// right.
#pragma once

#include "core/pool.h"
#include "ops/linalg/householder.h"

namespace emu {

template <class T>
class Bidiagonal {
  Lines<T> &a_;
  const int64_t n_;
  const bool vectors_;

 public:
  std::vector<double> diagonal, above;
  std::vector<Reflections<T>> left, right;  // of Q, of P; for vectors only

  // The lines are the columns of M; what is left of them means nothing.
  Bidiagonal(Lines<T> *columns, bool vectors)
      : a_(*columns),
        n_(columns->count()),
        vectors_(vectors),
        diagonal(static_cast<size_t>(n_)),
        above(static_cast<size_t>(std::max<int64_t>(0, n_ - 1))) {
    for (int64_t first = 0; first < n_; first += kPanel) panel(first, std::min(kPanel, n_ - first));
  }

 private:
  // Elements that are worth two threads, each with half of the columns. They are added up in halves
  // whatever the number of threads.
  static constexpr int64_t kWorthHalves = int64_t(1) << 19;
  // Columns and rows that are finished before the rest is changed.
  static constexpr int64_t kPanel = 32;
  static_assert(kReflections % kPanel == 0, "reflections of whole panels are put together");
  // Columns that are read together.
  static constexpr int64_t kTogether = 4;

  // Of one panel. Everything is counted from its first row and column. The rest of M is what it was
  // before the panel, less the products of `down` and the conjugates of `across`: for each step a
  // pair, v and what it takes from the columns, then what w takes from the rows, and w.
  struct Panel {
    int64_t first, size;  // of the rest
    Lines<T> down, across;
    std::vector<T> row, before, by, column;

    Panel(int64_t begin, int64_t extent, int64_t width)
        : first(begin),
          size(extent),
          down(2 * width, extent),
          across(2 * width, extent),
          row(static_cast<size_t>(extent)),
          before(static_cast<size_t>(extent)),
          by(static_cast<size_t>(2 * width)),
          column(static_cast<size_t>(2 * extent)) {}
  };

  T *column(const Panel &p, int64_t j) { return a_.at(p.first + j) + p.first; }
  // Elements from `from` on of the first lines.
  static Part<T> some(Lines<T> &lines, int64_t count, int64_t from) {
    return lines.part(0, from, count);
  }
  static void negative_conjugates(Lines<T> &lines, int64_t count, int64_t at, std::vector<T> *to) {
    for (int64_t k = 0; k < count; ++k) (*to)[static_cast<size_t>(k)] = -conjugate(lines.at(k)[at]);
  }

  void panel(int64_t first, int64_t width) {
    Panel p(first, n_ - first, width);
    if (vectors_ && first % kReflections == 0) {
      const int64_t most = std::min(kReflections, n_ - first);
      left.emplace_back(first, n_, most);
      right.emplace_back(first, n_, most);
    }
    for (int64_t i = 0; i < width; ++i) step(p, i);
    const int64_t rest = p.size - width;
    if (rest == 0) return;
    DenseMatrix<T> factors(rest, 2 * width);
    turn_over(some(p.across, 2 * width, width), whole(&factors), true);
    subtract_product(whole(&factors), some(p.down, 2 * width, width),
                     a_.part(first + width, first + width, rest));
  }

  void step(Panel &p, int64_t i) {
    const int64_t known = 2 * i, rest = p.size - i;
    T *v = p.down.at(known);
    negative_conjugates(p.across, known, i, &p.by);
    std::copy_n(column(p, i) + i, rest, v + i);
    add_lines(some(p.down, known, i), p.by.data(), v + i);
    const Reflection<T> of_column = reflection_of(v + i, rest);
    diagonal[static_cast<size_t>(p.first + i)] = of_column.beta;
    if (vectors_) keep(&left.back(), p, v, of_column.tau);
    if (rest == 1) return;

    // What is known of the products of the columns with v, and of the row.
    T *before = p.before.data(), *row = p.row.data(), *sum = p.column.data();
    std::fill_n(before, p.size, T{});
    std::fill_n(row, p.size, T{});
    std::fill_n(sum, 2 * p.size, T{});
    dots(some(p.down, known, i), v + i, p.by.data());
    add_lines(some(p.across, known, i + 1), p.by.data(), before + i + 1);
    negative_conjugates(p.down, known, i, &p.by);
    add_lines(some(p.across, known, i + 1), p.by.data(), row + i + 1);
    pass(p, i, of_column.tau);

    T *w = p.across.at(known + 1), *x = p.down.at(known + 1);
    std::copy_n(row + i + 1, rest - 1, w + i + 1);
    const Reflection<T> of_row = reflection_of(w + i + 1, rest - 1);
    above[static_cast<size_t>(p.first + i)] = of_row.beta;
    if (vectors_) keep(&right.back(), p, w, of_row.tau);
    if (of_row.tau == T{}) return;
    const T *next = column(p, i + 1);
    if (of_row.careful) {
      std::copy_n(next + i + 1, rest - 1, x + i + 1);
      add_lines(a_.part(p.first + i + 2, p.first + i + 1, rest - 2), w + i + 2, x + i + 1);
    } else {
      for (int64_t r = i + 1; r < p.size; ++r) x[r] = sum[r] / of_row.divisor + next[r];
    }
    dots(some(p.across, known + 1, i + 1), w + i + 1, p.by.data());
    for (int64_t k = 0; k <= known; ++k) p.by[static_cast<size_t>(k)] *= -1.0;
    add_lines(some(p.down, known + 1, i + 1), p.by.data(), x + i + 1);
    for (int64_t r = i + 1; r < p.size; ++r) x[r] *= of_row.tau;
  }

  static void keep(Reflections<T> *where, const Panel &p, const T *line, T tau) {
    std::copy_n(line, p.size, where->next() + p.first - where->start());
    where->take(tau);
  }

  // Row i behind the diagonal, what v takes from the columns, and the columns times the row except
  // for its first element.
  void pass(Panel &p, int64_t i, T tau) {
    const int64_t begin = i + 2, count = p.size - begin;
    columns(p, i, tau, i + 1, begin, nullptr);
    T *sum = p.column.data();
    if (count * (count + 1) < kWorthHalves) return columns(p, i, tau, begin, p.size, sum);
    const int64_t middle = begin + count / 2;
    parallel_for(2, 1, [&](int64_t from, int64_t to) {
      for (int64_t half = from; half < to; ++half)
        columns(p, i, tau, half ? middle : begin, half ? p.size : middle, sum + half * p.size);
    });
    for (int64_t r = i + 1; r < p.size; ++r) sum[r] += sum[p.size + r];
  }

  void columns(Panel &p, int64_t i, T tau, int64_t begin, int64_t end, T *sum) {
    const T *v = p.down.at(2 * i) + i;
    T *y = p.across.at(2 * i), *row = p.row.data();
    for (int64_t j = begin; j < end; j += kTogether) {
      const int64_t count = std::min(kTogether, end - j);
      const Part<T> some = a_.part(p.first + j, p.first + i, count);
      dots(some, v, y + j);
      for (int64_t k = j; k < j + count; ++k) {
        y[k] = tau * (y[k] - p.before[static_cast<size_t>(k)]);
        row[k] += conjugate(column(p, k)[i]) - y[k];
      }
      if (sum) add_lines(some.part(0, 1, count, some.columns - 1), row + j, sum + i + 1);
    }
  }
};

}  // namespace emu
