// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Sums of products along lines of float64, lines that are added up, rows that are rotated, and rows
// that become columns.
#include "core/isa.h"
#include "ops/linalg/line_kernels.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

typedef double Vector __attribute__((vector_size(kBytes)));
typedef double Loose __attribute__((vector_size(kBytes), aligned(8), may_alias));
constexpr int64_t kLanes = kBytes / 8;

inline Vector load(const double *from) { return *reinterpret_cast<const Loose *>(from); }
inline void store(double *to, Vector v) { *reinterpret_cast<Loose *>(to) = v; }
inline double sum_of(Vector v) {
  double sum = 0;
  for (int64_t i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
}

// `count` lines side by side: x is read once for them.
template <int count>
void dots_of(const double *lines, int64_t stride, const double *x, int64_t length, double *out) {
  Vector even[count] = {}, odd[count] = {};
  int64_t i = 0;
  for (; i + 2 * kLanes <= length; i += 2 * kLanes) {
    const Vector left = load(x + i), right = load(x + i + kLanes);
    for (int k = 0; k < count; ++k) {
      even[k] += load(lines + k * stride + i) * left;
      odd[k] += load(lines + k * stride + i + kLanes) * right;
    }
  }
  if (i + kLanes <= length) {
    const Vector left = load(x + i);
    for (int k = 0; k < count; ++k) even[k] += load(lines + k * stride + i) * left;
    i += kLanes;
  }
  double sums[count];
  for (int k = 0; k < count; ++k) sums[k] = sum_of(even[k] + odd[k]);
  for (; i < length; ++i) {
    for (int k = 0; k < count; ++k) sums[k] += lines[k * stride + i] * x[i];
  }
  for (int k = 0; k < count; ++k) out[k] = sums[k];
}

template <int count>
void add_of(const double *lines, int64_t stride, const double *factors, int64_t length, double *y) {
  Vector by[count];
  for (int k = 0; k < count; ++k) by[k] = factors[k] - Vector{};
  int64_t i = 0;
  for (; i + 2 * kLanes <= length; i += 2 * kLanes) {
    Vector left = load(y + i), right = load(y + i + kLanes);
    for (int k = 0; k < count; ++k) {
      left += by[k] * load(lines + k * stride + i);
      right += by[k] * load(lines + k * stride + i + kLanes);
    }
    store(y + i, left);
    store(y + i + kLanes, right);
  }
  if (i + kLanes <= length) {
    Vector left = load(y + i);
    for (int k = 0; k < count; ++k) left += by[k] * load(lines + k * stride + i);
    store(y + i, left);
    i += kLanes;
  }
  for (; i < length; ++i) {
    double sum = y[i];
    for (int k = 0; k < count; ++k) sum += factors[k] * lines[k * stride + i];
    y[i] = sum;
  }
}

void dots(const double *lines, int64_t stride, int64_t count, const double *x, int64_t length,
          double *out) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) dots_of<4>(lines + k * stride, stride, x, length, out + k);
  for (; k < count; ++k) dots_of<1>(lines + k * stride, stride, x, length, out + k);
}

void add(const double *lines, int64_t stride, int64_t count, const double *factors, int64_t length,
         double *y) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) add_of<4>(lines + k * stride, stride, factors + k, length, y);
  for (; k < count; ++k) add_of<1>(lines + k * stride, stride, factors + k, length, y);
}

struct Row {
  Vector left, right;
};

inline Row load_row(const double *from) { return {load(from), load(from + kLanes)}; }
inline void store_row(double *to, const Row &row) {
  store(to, row.left);
  store(to + kLanes, row.right);
}
// As three shears, which take fewer instructions than four products.
inline void rotate(Row &x, Row &y, const double *by) {
  const Vector t = by[0] - Vector{}, s = by[1] - Vector{};
  x.left += t * y.left;
  x.right += t * y.right;
  y.left -= s * x.left;
  y.right -= s * x.right;
  x.left += t * y.left;
  x.right += t * y.right;
}

// Five rows stay in registers: each step takes one in and gives one back.
void turn(double *rows, int64_t step, const double *turns, int64_t steps) {
  Row a = load_row(rows), b = load_row(rows + step), c = load_row(rows + 2 * step),
      d = load_row(rows + 3 * step);
  double *first = rows, *next = rows + 4 * step;
  for (int64_t j = 0; j < steps; ++j, first += step, next += step, turns += 2 * kSweepsAtOnce) {
    Row e = load_row(next);
    rotate(d, e, turns);
    rotate(c, d, turns + 2);
    rotate(b, c, turns + 4);
    rotate(a, b, turns + 6);
    store_row(first, a);
    a = b;
    b = c;
    c = d;
    d = e;
  }
  store_row(first, a);
  store_row(first + step, b);
  store_row(first + 2 * step, c);
  store_row(first + 3 * step, d);
}

// Squares that are turned over in registers.
#if defined(__AVX2__)
constexpr int64_t kSquare = 4;
#else
constexpr int64_t kSquare = 2;
#endif
typedef double Line __attribute__((vector_size(8 * kSquare)));
typedef double LooseLine __attribute__((vector_size(8 * kSquare), aligned(8), may_alias));
typedef int64_t Places __attribute__((vector_size(8 * kSquare)));

inline void turn_square(const double *from, int64_t from_step, double *to, int64_t to_step) {
  Line rows[kSquare], columns[kSquare];
#pragma GCC unroll 4
  for (int64_t i = 0; i < kSquare; ++i)
    rows[i] = *reinterpret_cast<const LooseLine *>(from + i * from_step);
#if defined(__AVX2__)
  constexpr Places kEven = {0, 4, 2, 6}, kOdd = {1, 5, 3, 7}, kFront = {0, 1, 4, 5},
                   kBack = {2, 3, 6, 7};
  const Line even = __builtin_shuffle(rows[0], rows[1], kEven),
             odd = __builtin_shuffle(rows[0], rows[1], kOdd),
             other_even = __builtin_shuffle(rows[2], rows[3], kEven),
             other_odd = __builtin_shuffle(rows[2], rows[3], kOdd);
  columns[0] = __builtin_shuffle(even, other_even, kFront);
  columns[1] = __builtin_shuffle(odd, other_odd, kFront);
  columns[2] = __builtin_shuffle(even, other_even, kBack);
  columns[3] = __builtin_shuffle(odd, other_odd, kBack);
#else
  columns[0] = __builtin_shuffle(rows[0], rows[1], Places{0, 2});
  columns[1] = __builtin_shuffle(rows[0], rows[1], Places{1, 3});
#endif
#pragma GCC unroll 4
  for (int64_t j = 0; j < kSquare; ++j)
    *reinterpret_cast<LooseLine *>(to + j * to_step) = columns[j];
}

void turn_over(const double *from, int64_t from_step, int64_t rows, int64_t columns, double *to,
               int64_t to_step) {
  constexpr int64_t kTogether = 8;  // numbers in a cache line, which is written whole
  const int64_t whole_rows = rows / kTogether * kTogether,
                whole_columns = columns / kSquare * kSquare;
  for (int64_t top = 0; top < whole_rows; top += kTogether) {
    for (int64_t left = 0; left < whole_columns; left += kSquare) {
      for (int64_t i = top; i < top + kTogether; i += kSquare)
        turn_square(from + i * from_step + left, from_step, to + left * to_step + i, to_step);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      to[j * to_step + i] = from[i * from_step + j];
  }
}

}  // namespace

extern const LineKernels line_kernels;
constexpr LineKernels line_kernels = {dots, add, turn, 2 * kLanes, turn_over};

}  // namespace EMU_ISA_NS
}  // namespace emu
