// SPDX-License-Identifier: Apache-2.0
#include "ops/linalg/dft.h"

#include <cmath>
#include <new>
#include <utility>

namespace emu {
namespace {

constexpr double kPi = 3.14159265358979323846;
// No machine has memory for the tables of a longer one.
constexpr int64_t kLongest = int64_t{1} << 48;

// exp(-pi i numerator / denominator). The numerator is reduced as an integer, so that a long
// transform is as exact as a short one.
Complex128 root(int64_t numerator, int64_t denominator) {
  const double angle = -kPi * static_cast<double>(numerator) / static_cast<double>(denominator);
  return {std::cos(angle), std::sin(angle)};
}

// Spelled out: std::complex's product looks for NaN on the way.
Complex128 product(Complex128 a, Complex128 b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

int64_t power_of_two_from(int64_t lowest) {
  int64_t power = 1;
  while (power < lowest) power *= 2;
  return power;
}

}  // namespace

// A length that is no power of two goes the way of Bluestein: j k = (j^2 + k^2 - (k - j)^2) / 2
// makes the transform a convolution, which transforms of a power of two compute.
Dft::Dft(int64_t length) : length_(length), padded_(1) {
  if (length > kLongest) throw std::bad_alloc();
  padded_ = power_of_two_from(length_);
  const bool direct = padded_ == length_;
  if (!direct) padded_ = power_of_two_from(2 * length_ - 1);
  roots_.resize(static_cast<size_t>(padded_ / 2));
  for (int64_t k = 0; k < padded_ / 2; ++k) roots_[static_cast<size_t>(k)] = root(2 * k, padded_);
  if (direct) return;
  chirp_.resize(static_cast<size_t>(length_));
  filter_.resize(static_cast<size_t>(padded_));
  int64_t square = 0;  // k^2 modulo 2 length
  for (int64_t k = 0; k < length_; ++k) {
    const Complex128 factor = root(square, length_);
    chirp_[static_cast<size_t>(k)] = factor;
    const Complex128 back = std::conj(factor) / static_cast<double>(padded_);
    filter_[static_cast<size_t>(k)] = back;
    if (k > 0) filter_[static_cast<size_t>(padded_ - k)] = back;
    square = (square + 2 * k + 1) % (2 * length_);
  }
  power_of_two(filter_.data(), padded_);
}

void Dft::power_of_two(Complex128 *x, int64_t length) const {
  for (int64_t i = 1, j = 0; i < length; ++i) {
    int64_t bit = length / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (int64_t half = 1; half < length; half *= 2) {
    const int64_t step = length / (2 * half);
    for (int64_t start = 0; start < length; start += 2 * half) {
      for (int64_t k = 0; k < half; ++k) {
        const Complex128 a = x[start + k];
        const Complex128 turned =
            product(roots_[static_cast<size_t>(k * step)], x[start + half + k]);
        x[start + k] = a + turned;
        x[start + half + k] = a - turned;
      }
    }
  }
}

void Dft::run(Complex128 *x, std::vector<Complex128> &scratch) const {
  if (chirp_.empty()) {
    power_of_two(x, length_);
    return;
  }
  scratch.assign(static_cast<size_t>(padded_), Complex128());
  for (int64_t k = 0; k < length_; ++k) {
    scratch[static_cast<size_t>(k)] = product(x[k], chirp_[static_cast<size_t>(k)]);
  }
  power_of_two(scratch.data(), padded_);
  // The inverse transform is the transform of the conjugate, conjugated.
  for (size_t k = 0; k < scratch.size(); ++k)
    scratch[k] = std::conj(product(scratch[k], filter_[k]));
  power_of_two(scratch.data(), padded_);
  for (int64_t k = 0; k < length_; ++k) {
    x[k] = product(std::conj(scratch[static_cast<size_t>(k)]), chirp_[static_cast<size_t>(k)]);
  }
}

}  // namespace emu
