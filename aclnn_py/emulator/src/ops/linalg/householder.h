// SPDX-License-Identifier: Apache-2.0
// Reflections I - tau v v^H of lines, many at once as I - V T V^H with an upper triangle T. The
// signs are those of LAPACK: where something is to be cancelled behind the first element of a
// vector, what is left of that gets the opposite sign; else it stays.
#pragma once

#include "ops/linalg/lines.h"

namespace emu {

// Reflections whose lines grow one by one are put together so many at a time.
constexpr int64_t kReflections = 64;

// Length of `count` items, safe from overflow and underflow.
template <class T>
double length_of(const T *items, int64_t count) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double size = std::abs(items[i]);
    if (size > largest || std::isnan(size)) largest = size;
  }
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += squared(items[i] / largest);
  return largest * std::sqrt(sum);
}

// I - tau v v^H, whose conjugate transpose turns a vector into `beta` and zeros.
template <class T>
struct Reflection {
  T tau;
  double beta;
  T divisor;     // of the vector behind its first element, which gave v
  bool careful;  // squares of the vector would overflow or lose their digits
};

// The vector becomes v, whose first element is 1.
template <class T>
Reflection<T> reflection_of(T *vector, int64_t count) {
  // Between these bounds squares keep their digits.
  constexpr double kLeast = 1e-140, kMost = 1e140;
  const T alpha = vector[0];
  const Part<T> rest{vector + 1, 1, count - 1, count};
  T squares{};
  dots(rest, vector + 1, &squares);
  double below = std::sqrt(real_part(squares));
  Reflection<T> result{T{}, real_part(alpha), T(1), !(below > kLeast && below < kMost)};
  if (result.careful) below = length_of(vector + 1, count - 1);
  vector[0] = T(1);
  if (below == 0 && alpha == T(real_part(alpha))) {
    result.careful = false;
    return result;
  }
  // The least numbers have few digits: quotients are made of numbers near 1.
  double scale = 1;
  if (result.careful && std::isfinite(below)) {
    int exponent;
    std::frexp(std::max(below, static_cast<double>(std::abs(alpha))), &exponent);
    scale = std::ldexp(1.0, std::min(-exponent, 1000));
    below = length_of(vector + 1, count - 1) * scale;
  }
  const T first = alpha * scale;
  const double size = std::hypot(std::abs(first), below);
  const double beta = real_part(first) >= 0 ? -size : size;
  result.beta = beta / scale;
  result.tau = (T(beta) - first) / beta;
  result.divisor = (first - T(beta)) / scale;
  if (scale != 1)
    for (int64_t i = 1; i < count; ++i) vector[i] = vector[i] * scale / (first - T(beta));
  else
    for (int64_t i = 1; i < count; ++i) vector[i] /= result.divisor;
  return result;
}

// The product of the reflections of some lines, I - V T V^H.
template <class T>
class Reflections {
 public:
  // Up to `most` reflections of the elements from `start` on.
  Reflections(int64_t start, int64_t length, int64_t most)
      : start_(start),
        v_(most, length - start),
        t_(most, most),
        beside_(static_cast<size_t>(most)) {}

  int64_t start() const { return start_; }
  // The next v, of zeros, as long as elements from start() on.
  T *next() { return v_.at(count_); }
  // Its reflection comes last.
  void take(T tau) {
    const int64_t k = count_++;
    t_.at(k, k) = tau;
    if (tau == T{} || k == 0) return;
    dots(lines(k), v_.at(k), beside_.data());
    for (int64_t i = 0; i < k; ++i) {
      T sum{};
      for (int64_t q = i; q < k; ++q) sum += t_.at(i, q) * beside_[static_cast<size_t>(q)];
      t_.at(i, k) = -tau * sum;
    }
  }

  // The conjugate transpose of the product times a line, from element start() on.
  void reflect_back(T *line) {
    dots(lines(count_), line, beside_.data());
    for (int64_t k = count_ - 1; k >= 0; --k) {
      T sum{};
      for (int64_t q = 0; q <= k; ++q)
        sum -= conjugate(t_.at(q, k)) * beside_[static_cast<size_t>(q)];
      beside_[static_cast<size_t>(k)] = sum;
    }
    add_lines(lines(count_), beside_.data(), line);
  }

  // The product, or its conjugate transpose, times many lines from element start() on.
  void reflect(const Part<T> &many, bool back) {
    if (many.rows == 0) return;
    DenseMatrix<T> less(many.rows, count_), factors(many.rows, count_), turned(count_, count_);
    for (int64_t i = 0; i < count_; ++i) {
      for (int64_t j = i; j < count_; ++j)
        (back ? turned.at(i, j) : turned.at(j, i)) = back ? conjugate(t_.at(i, j)) : t_.at(i, j);
    }
    subtract_adjoint(many, lines(count_), whole(&less));
    subtract_product(whole(&less), whole(&turned), whole(&factors));
    subtract_product(whole(&factors), lines(count_), many);
  }

 private:
  Part<T> lines(int64_t count) { return v_.part(0, 0, count); }

  int64_t start_, count_ = 0;
  Lines<T> v_;
  DenseMatrix<T> t_;
  std::vector<T> beside_;
};

// The columns of a matrix as lines become those of its triangular factor, with anything below the
// diagonal; the orthogonal factor is the product of what is returned.
template <class T>
std::vector<Reflections<T>> triangulate(Lines<T> *columns) {
  const int64_t length = columns->length(), steps = std::min(columns->count(), length);
  std::vector<Reflections<T>> result;
  for (int64_t first = 0; first < steps; first += kReflections) {
    const int64_t end = std::min(steps, first + kReflections);
    Reflections<T> &block = result.emplace_back(first, length, end - first);
    for (int64_t j = first; j < end; ++j) {
      T *own = columns->at(j);
      block.reflect_back(own + first);
      T *v = block.next() + j - first;
      std::copy(own + j, own + length, v);
      const Reflection<T> found = reflection_of(v, length - j);
      own[j] = T(found.beta);
      block.take(found.tau);
    }
    block.reflect(columns->part(end, first, columns->count() - end), true);
  }
  return result;
}

// Lines become the product of all reflections times themselves. Of `units` line k is 1 at k and
// else 0.
template <class T>
void reflect_all(std::vector<Reflections<T>> &by, bool units, Lines<T> *lines) {
  for (auto block = by.rbegin(); block != by.rend(); ++block) {
    const int64_t first = units ? std::min(block->start(), lines->count()) : 0;
    block->reflect(lines->part(first, block->start(), lines->count() - first), false);
  }
}

// The first `count` columns of the orthogonal factor, as lines.
template <class T>
Lines<T> orthogonal_columns(std::vector<Reflections<T>> &by, int64_t count, int64_t length) {
  Lines<T> result(count, length);
  for (int64_t k = 0; k < std::min(count, length); ++k) result.at(k)[k] = T(1);
  reflect_all(by, true, &result);
  return result;
}

}  // namespace emu
