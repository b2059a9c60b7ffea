// SPDX-License-Identifier: Apache-2.0
// QR by reflections, with the signs of LAPACK: where something is to be cancelled below a diagonal
// element of R, it gets the sign opposite to the element it replaces; else it stays.
#pragma once

#include "ops/linalg/matrices.h"

namespace emu {

// Length of `count` items that lie `step` apart, safe from overflow and underflow.
template <class T>
double length_of(const T *items, int64_t count, int64_t step) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double size = std::abs(items[i * step]);
    if (size > largest || std::isnan(size)) largest = size;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += squared(items[i * step] / largest);
  return largest * std::sqrt(sum);
}

// A matrix as reflections I - tau v v^H: v below the diagonal of `packed` with v[diagonal] = 1, R
// on and above it.
template <class T>
struct Reflections {
  DenseMatrix<T> packed;
  std::vector<T> tau;
};

// Columns [from, end) of `a` times the reflection `k`, or its conjugate transpose.
template <class T>
void reflect(const Reflections<T> &by, int64_t k, T tau, DenseMatrix<T> *a, int64_t from) {
  if (tau == T{}) return;
  std::vector<T> products(static_cast<size_t>(a->columns - from));
  for (int64_t i = k; i < a->rows; ++i) {
    const T v = i == k ? T(1) : conjugate(by.packed.at(i, k));
    for (int64_t j = from; j < a->columns; ++j)
      products[static_cast<size_t>(j - from)] += v * a->at(i, j);
  }
  for (int64_t i = k; i < a->rows; ++i) {
    const T v = i == k ? tau : tau * by.packed.at(i, k);
    for (int64_t j = from; j < a->columns; ++j)
      a->at(i, j) -= v * products[static_cast<size_t>(j - from)];
  }
}

template <class T>
Reflections<T> reflections(DenseMatrix<T> a) {
  const int64_t steps = std::min(a.rows, a.columns);
  Reflections<T> result{std::move(a), std::vector<T>(static_cast<size_t>(steps))};
  DenseMatrix<T> &m = result.packed;
  for (int64_t k = 0; k < steps; ++k) {
    const double below =
        length_of(m.items.data() + (k + 1) * m.columns + k, m.rows - k - 1, m.columns);
    const T alpha = m.at(k, k);
    if (below == 0 && alpha == T(real_part(alpha))) continue;
    const double size = std::hypot(std::abs(alpha), below);
    const double beta = real_part(alpha) >= 0 ? -size : size;
    const T tau = (T(beta) - alpha) / beta;
    for (int64_t i = k + 1; i < m.rows; ++i) m.at(i, k) /= alpha - T(beta);
    m.at(k, k) = T(beta);
    result.tau[static_cast<size_t>(k)] = tau;
    reflect(result, k, conjugate(tau), &m, k + 1);
  }
  return result;
}

// The first `columns` columns of Q.
template <class T>
DenseMatrix<T> orthogonal_factor(const Reflections<T> &by, int64_t columns) {
  DenseMatrix<T> q(by.packed.rows, columns);
  for (int64_t i = 0; i < std::min(q.rows, columns); ++i) q.at(i, i) = T(1);
  for (auto k = static_cast<int64_t>(by.tau.size()) - 1; k >= 0; --k) {
    reflect(by, k, by.tau[static_cast<size_t>(k)], &q, k);
  }
  return q;
}

// The first `rows` rows of R.
template <class T>
DenseMatrix<T> triangular_factor(const Reflections<T> &by, int64_t rows) {
  DenseMatrix<T> r(rows, by.packed.columns);
  for (int64_t i = 0; i < std::min(rows, by.packed.rows); ++i) {
    for (int64_t j = i; j < r.columns; ++j) r.at(i, j) = by.packed.at(i, j);
  }
  return r;
}

}  // namespace emu
