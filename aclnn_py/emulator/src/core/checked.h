// SPDX-License-Identifier: Apache-2.0
// Arithmetic on sizes that come from arguments: extents, strides, pads, repeats, windows, bytes. A
// product that wraps 64 bits may equal what it is compared with, so it is never formed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

// False, and *result is not to be used, when the exact result does not fit 64 bits.
inline bool checked_mul(int64_t a, int64_t b, int64_t *result) {
  return !__builtin_mul_overflow(a, b, result);
}
inline bool checked_add(int64_t a, int64_t b, int64_t *result) {
  return !__builtin_add_overflow(a, b, result);
}
inline bool checked_sub(int64_t a, int64_t b, int64_t *result) {
  return !__builtin_sub_overflow(a, b, result);
}

// A number that remembers whether it is exact: formulas stay readable, and are judged once at their
// end.
//
//     const Checked padded = Checked(extent) + before + after;
//     shape[d] = check.size("padding", padded);
class Checked {
 public:
  constexpr Checked(int64_t value)
      : value_(value) {}  // NOLINT: implicit on purpose, numbers mix with it

  bool fits() const { return fits_; }
  int64_t value() const { return value_; }  // only of a number that fits

  friend Checked operator+(Checked a, Checked b) { return combined(a, b, &checked_add); }
  friend Checked operator-(Checked a, Checked b) { return combined(a, b, &checked_sub); }
  friend Checked operator*(Checked a, Checked b) { return combined(a, b, &checked_mul); }
  Checked &operator+=(Checked other) { return *this = *this + other; }
  Checked &operator*=(Checked other) { return *this = *this * other; }

 private:
  static Checked combined(Checked a, Checked b, bool (*form)(int64_t, int64_t, int64_t *)) {
    Checked result(0);
    result.fits_ = form(a.value_, b.value_, &result.value_) && a.fits_ && b.fits_;
    return result;
  }

  int64_t value_;
  bool fits_ = true;
};

// The element count reported for a shape whose real count does not fit 64 bits. No tensor has this
// many elements.
constexpr int64_t kUncountable = INT64_MAX;

// The number of elements of a shape: 1 without dimensions, 0 with an empty one.
inline int64_t count_of(const int64_t *shape, size_t rank) {
  int64_t count = 1;
  bool fits = true;
  for (size_t d = 0; d < rank; ++d) {
    if (shape[d] == 0) return 0;
    fits = fits && checked_mul(count, shape[d], &count);
  }
  return fits ? count : kUncountable;
}

}  // namespace emu
