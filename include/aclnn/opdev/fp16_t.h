/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] op::fp16_t, IEEE's number of 16 bits, for C++ programs on the host. */
#ifndef ACLNN_PY_ACLNN_OPDEV_FP16_T_H
#define ACLNN_PY_ACLNN_OPDEV_FP16_T_H

#ifdef __cplusplus

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "bfloat16.h"

namespace op {

/* Numbers are rounded to the nearest, ties to the even one; too large ones become infinite. Conversions to whole
 * numbers round the same way and stop at the ends of the type; a NaN becomes 0. A uint16_t given to the constructor
 * is the bits; assigned, it is a number. */
typedef struct tagFp16 {
  uint16_t val;

  tagFp16() : val(0) {}
  tagFp16(const tagFp16 &other) : val(other.val) {}
  constexpr tagFp16(const uint16_t &bits) : val(bits) {}
  tagFp16(const bfloat16 &number) : val(rounded(static_cast<float>(number))) {}
  template <class T>
  tagFp16(const T &number) : val(0) {
    *this = number;
  }

  tagFp16 &operator=(const tagFp16 &other) {
    val = other.val;
    return *this;
  }
  tagFp16 &operator=(const float &number) { return set(static_cast<double>(number)); }
  tagFp16 &operator=(const double &number) { return set(number); }
  tagFp16 &operator=(const int8_t &number) { return set(number); }
  tagFp16 &operator=(const uint8_t &number) { return set(number); }
  tagFp16 &operator=(const int16_t &number) { return set(number); }
  tagFp16 &operator=(const uint16_t &number) { return set(number); }
  tagFp16 &operator=(const int32_t &number) { return set(number); }
  tagFp16 &operator=(const uint32_t &number) { return set(number); }
  /* Beyond 2^53 a double would round once too often, but there every number is infinite. */
  tagFp16 &operator=(const int64_t &number) { return set(static_cast<double>(number)); }
  tagFp16 &operator=(const uint64_t &number) { return set(static_cast<double>(number)); }

  tagFp16 operator+(const tagFp16 other) { return of(toFloat() + other.number()); }
  tagFp16 operator-(const tagFp16 other) { return of(toFloat() - other.number()); }
  tagFp16 operator*(const tagFp16 other) { return of(toFloat() * other.number()); }
  tagFp16 operator/(const tagFp16 other) { return of(toFloat() / other.number()); }
  tagFp16 operator+=(const tagFp16 other) { return *this = *this + other; }
  tagFp16 operator-=(const tagFp16 other) { return *this = *this - other; }
  tagFp16 operator*=(const tagFp16 other) { return *this = *this * other; }
  tagFp16 operator/=(const tagFp16 other) { return *this = *this / other; }

  bool operator==(const tagFp16 &other) const { return number() == other.number(); }
  bool operator!=(const tagFp16 &other) const { return number() != other.number(); }
  bool operator>(const tagFp16 &other) const { return number() > other.number(); }
  bool operator>=(const tagFp16 &other) const { return number() >= other.number(); }
  bool operator<(const tagFp16 &other) const { return number() < other.number(); }
  bool operator<=(const tagFp16 &other) const { return number() <= other.number(); }

  operator float() const { return number(); }
  operator double() const { return static_cast<double>(number()); }
  operator bfloat16() const { return bfloat16(number()); }
  operator bool() const { return (val & 0x7FFF) != 0; }
  operator int8_t() const { return whole<int8_t>(); }
  operator uint8_t() const { return whole<uint8_t>(); }
  operator int16_t() const { return whole<int16_t>(); }
  operator uint16_t() const { return whole<uint16_t>(); }
  operator int32_t() const { return whole<int32_t>(); }
  operator uint32_t() const { return whole<uint32_t>(); }
  operator int64_t() const { return whole<int64_t>(); }
  operator uint64_t() const { return whole<uint64_t>(); }

  float toFloat() { return number(); }
  double toDouble() { return static_cast<double>(number()); }
  int8_t toInt8() { return whole<int8_t>(); }
  uint8_t toUInt8() { return whole<uint8_t>(); }
  int16_t toInt16() { return whole<int16_t>(); }
  uint16_t toUInt16() { return whole<uint16_t>(); }
  int32_t toInt32() { return whole<int32_t>(); }
  uint32_t toUInt32() { return whole<uint32_t>(); }

  /* 1 and -1 for the infinities, 0 for other numbers. */
  int IsInf() { return (val & 0x7FFF) != 0x7C00 ? 0 : val == 0x7C00 ? 1 : -1; }

 private:
  /* The sums, products and quotients of two such numbers, rounded to float first, round to the same as directly:
   * float has more than twice the digits. */
  static tagFp16 of(float result) {
    tagFp16 made;
    made.val = rounded(static_cast<double>(result));
    return made;
  }
  tagFp16 &set(double number) {
    val = rounded(number);
    return *this;
  }

  float number() const {
    const int exponent = val >> 10 & 0x1F;
    const int fraction = val & 0x3FF;
    float magnitude;
    if (exponent == 0x1F)
      magnitude = fraction != 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
    else if (exponent == 0)
      magnitude = std::ldexp(static_cast<float>(fraction), -24);
    else
      magnitude = std::ldexp(static_cast<float>(0x400 + fraction), exponent - 25);
    return (val & 0x8000) != 0 ? -magnitude : magnitude;
  }

  static uint16_t rounded(double number) {
    if (std::isnan(number)) return 0x7FFF;
    const uint16_t sign = std::signbit(number) ? 0x8000 : 0;
    const double magnitude = std::fabs(number);
    if (magnitude == 0) return sign;
    if (magnitude >= 65520.0) return static_cast<uint16_t>(sign | 0x7C00);
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    const int step = std::max(exponent - 11, -24); /* a unit of the last place is 2^step */
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, -step)));
    /* The hidden bit, and a carry beyond it, count the exponent up by one. */
    return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(step + 24) << 10) + units));
  }

  template <class T>
  T whole() const {
    const double exact = std::nearbyint(static_cast<double>(number()));
    if (std::isnan(exact)) return 0;
    if (exact <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
    if (exact >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(exact);
  }
} fp16_t;

/* Sign, exponent as it is stored (1 for subnormal numbers), and fraction with the hidden bit. */
inline void ExtractFP16(const uint16_t &val, uint16_t *s, int16_t *e, uint16_t *m) {
  const auto stored = static_cast<int16_t>(val >> 10 & 0x1F);
  *s = static_cast<uint16_t>(val >> 15);
  *e = stored == 0 ? int16_t{1} : stored;
  *m = static_cast<uint16_t>((val & 0x3FF) | (stored != 0 ? 0x400 : 0));
}

template <class T>
bool operator<(T a, fp16_t b) {
  return a < static_cast<T>(b);
}
template <class T>
bool operator>(T a, fp16_t b) {
  return a > static_cast<T>(b);
}

}  // namespace op

namespace std {

inline bool isnan(op::fp16_t number) { return (number.val & 0x7FFF) > 0x7C00; }
inline float abs(op::fp16_t number) { return std::abs(number.toFloat()); }

}  // namespace std

#endif /* __cplusplus */

#endif /* ACLNN_PY_ACLNN_OPDEV_FP16_T_H */
