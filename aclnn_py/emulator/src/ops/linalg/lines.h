// SPDX-License-Identifier: Apache-2.0
// Lines: vectors that lie one after the other, and what decompositions do with them beside products
// of matrices.
#pragma once

#include <vector>

#include "ops/linalg/blocked.h"
#include "ops/linalg/line_kernels.h"

namespace emu {

// Rows of memory that do not lie a multiple of a page apart: such would share a few cache sets.
template <class T>
class Lines {
 public:
  Lines() = default;
  Lines(int64_t count, int64_t length)
      : count_(count),
        length_(length),
        stride_((length + 7) / 8 * 8 + 8),
        items_(static_cast<size_t>(count * stride_)) {}

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }
  int64_t stride() const { return stride_; }
  T *at(int64_t line) { return items_.data() + line * stride_; }
  const T *at(int64_t line) const { return items_.data() + line * stride_; }
  // Lines [line, line + height) from element `from` on.
  Part<T> part(int64_t line, int64_t from, int64_t height) {
    return {items_.data() + line * stride_ + from, height, length_ - from, stride_};
  }

 private:
  int64_t count_ = 0, length_ = 0, stride_ = 0;
  Numbers<T> items_;
};

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

// Rows of memory become columns, in tiles that stay in the cache: to[j][i] = f(from[i][j])
template <class T, class F>
void turn_over(const Part<T> &from, const Part<T> &to, F &&f) {
  constexpr int64_t kTile = 16;
  for (int64_t top = 0; top < from.rows; top += kTile) {
    const int64_t bottom = std::min(from.rows, top + kTile);
    for (int64_t left = 0; left < from.columns; left += kTile) {
      const int64_t right = std::min(from.columns, left + kTile);
      for (int64_t j = left; j < right; ++j) {
        for (int64_t i = top; i < bottom; ++i) to.row(j)[i] = f(from.row(i)[j]);
      }
    }
  }
}

}  // namespace emu
