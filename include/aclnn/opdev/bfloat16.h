/* SPDX-License-Identifier: Apache-2.0 */
/* [compiler only] op::bfloat16, a number of 16 bits with the exponent of float, for C++ programs on the host. */
#ifndef ACLNN_PY_ACLNN_OPDEV_BFLOAT16_H
#define ACLNN_PY_ACLNN_OPDEV_BFLOAT16_H

#ifdef __cplusplus

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <ostream>

namespace op {

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

/* Numbers are rounded to the nearest, ties to the even one. Arithmetic is that of float, rounded once. */
struct bfloat16 {
  struct from_bits_t {};
  static constexpr from_bits_t from_bits() { return from_bits_t(); }

  static constexpr uint16_t NAN_VALUE = 0x7FC0;
  uint16_t value;

  bfloat16() : value(0) {}
  constexpr bfloat16(uint16_t bits, from_bits_t) : value(bits) {}
  bfloat16(float number) : value(rounded(number)) {}
  template <class T>
  bfloat16(const T &number) : bfloat16(static_cast<float>(number)) {}
  template <class T>
  bfloat16 &operator=(T number) {
    value = rounded(static_cast<float>(number));
    return *this;
  }

  static bfloat16 round_to_bfloat16(float number) { return bfloat16(rounded(number), from_bits()); }
  static constexpr bfloat16 epsilon() { return bfloat16(0x3C00, from_bits()); }
  static constexpr bfloat16 highest() { return bfloat16(0x7F7F, from_bits()); }
  static constexpr bfloat16 lowest() { return bfloat16(0xFF7F, from_bits()); }
  static constexpr bfloat16 min_positive_normal() { return bfloat16(0x0080, from_bits()); }
  bool IsZero() const { return (value & 0x7FFF) == 0; }

  operator float() const {
    const uint32_t bits = static_cast<uint32_t>(value) << 16;
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }
  operator double() const { return number(); }
  operator bool() const { return std::abs(number()) >= std::numeric_limits<float>::epsilon(); }
  operator char() const { return static_cast<char>(number()); }
  operator signed char() const { return static_cast<signed char>(number()); }
  operator unsigned char() const { return static_cast<unsigned char>(number()); }
  operator short() const { return static_cast<short>(number()); }
  operator unsigned short() const { return static_cast<unsigned short>(number()); }
  operator int() const { return static_cast<int>(number()); }
  operator unsigned int() const { return static_cast<unsigned int>(number()); }
  operator long() const { return static_cast<long>(number()); }
  operator unsigned long() const { return static_cast<unsigned long>(number()); }
  operator long long() const { return static_cast<long long>(number()); }
  operator unsigned long long() const { return static_cast<unsigned long long>(number()); }

 private:
  float number() const { return operator float(); }
  static uint16_t rounded(float number) {
    if (std::isnan(number)) return NAN_VALUE;
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
  }
};

#define ACLNN_PY_BFLOAT16_ARITHMETIC(sign)                                          \
  inline bfloat16 operator sign(bfloat16 a, bfloat16 b) {                           \
    return bfloat16(static_cast<float>(a) sign static_cast<float>(b));              \
  }                                                                                 \
  inline bfloat16 &operator sign##=(bfloat16 &a, bfloat16 b) { return a = a sign b; }
ACLNN_PY_BFLOAT16_ARITHMETIC(+)
ACLNN_PY_BFLOAT16_ARITHMETIC(-)
ACLNN_PY_BFLOAT16_ARITHMETIC(*)
ACLNN_PY_BFLOAT16_ARITHMETIC(/)
#undef ACLNN_PY_BFLOAT16_ARITHMETIC

inline bfloat16 operator+(bfloat16 a, int b) { return a + bfloat16(static_cast<float>(b)); }
inline bfloat16 operator+(int a, bfloat16 b) { return bfloat16(static_cast<float>(a)) + b; }
inline bfloat16 operator-(bfloat16 a) {
  return bfloat16(static_cast<uint16_t>(a.value ^ 0x8000), bfloat16::from_bits());
}
inline bfloat16 operator++(bfloat16 &a) { return a += bfloat16(1.0f); }
inline bfloat16 operator--(bfloat16 &a) { return a -= bfloat16(1.0f); }
inline bfloat16 operator++(bfloat16 &a, int) {
  const bfloat16 before = a;
  ++a;
  return before;
}
inline bfloat16 operator--(bfloat16 &a, int) {
  const bfloat16 before = a;
  --a;
  return before;
}

/* Equality is that of the bits, so that a NaN equals itself and the two zeros differ. */
inline bool operator==(bfloat16 a, bfloat16 b) { return a.value == b.value; }
inline bool operator!=(bfloat16 a, bfloat16 b) { return a.value != b.value; }
inline bool operator<(bfloat16 a, bfloat16 b) { return static_cast<float>(a) < static_cast<float>(b); }
inline bool operator<=(bfloat16 a, bfloat16 b) { return static_cast<float>(a) <= static_cast<float>(b); }
inline bool operator>=(bfloat16 a, bfloat16 b) { return static_cast<float>(a) >= static_cast<float>(b); }
template <class T>
bool operator<(T a, bfloat16 b) {
  return static_cast<float>(a) < static_cast<float>(b);
}
template <class T>
bool operator>(T a, bfloat16 b) {
  return static_cast<float>(a) > static_cast<float>(b);
}

inline std::ostream &operator<<(std::ostream &stream, const bfloat16 &number) {
  return stream << static_cast<float>(number);
}

}  // namespace op

namespace std {

template <>
struct hash<op::bfloat16> {
  size_t operator()(const op::bfloat16 &number) const { return hash<float>()(static_cast<float>(number)); }
};

using op::bfloat16;
inline bool isinf(const bfloat16 &a) { return std::isinf(static_cast<float>(a)); }
inline bool isnan(const bfloat16 &a) { return std::isnan(static_cast<float>(a)); }
inline bool isfinite(const bfloat16 &a) { return std::isfinite(static_cast<float>(a)); }
#define ACLNN_PY_BFLOAT16_FUNCTION(name) \
  inline bfloat16 name(const bfloat16 &a) { return bfloat16(std::name(static_cast<float>(a))); }
ACLNN_PY_BFLOAT16_FUNCTION(abs)
ACLNN_PY_BFLOAT16_FUNCTION(exp)
ACLNN_PY_BFLOAT16_FUNCTION(log)
ACLNN_PY_BFLOAT16_FUNCTION(log10)
ACLNN_PY_BFLOAT16_FUNCTION(sqrt)
ACLNN_PY_BFLOAT16_FUNCTION(sin)
ACLNN_PY_BFLOAT16_FUNCTION(cos)
ACLNN_PY_BFLOAT16_FUNCTION(tan)
ACLNN_PY_BFLOAT16_FUNCTION(tanh)
ACLNN_PY_BFLOAT16_FUNCTION(floor)
ACLNN_PY_BFLOAT16_FUNCTION(ceil)
#undef ACLNN_PY_BFLOAT16_FUNCTION
inline bfloat16 pow(const bfloat16 &a, const bfloat16 &b) {
  return bfloat16(std::pow(static_cast<float>(a), static_cast<float>(b)));
}

template <>
class numeric_limits<op::bfloat16> : public numeric_limits<float> {
  static constexpr op::bfloat16 of(uint16_t bits) { return op::bfloat16(bits, op::bfloat16::from_bits()); }

 public:
  static constexpr bool is_iec559 = false;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr op::bfloat16 min() { return op::bfloat16::min_positive_normal(); }
  static constexpr op::bfloat16 lowest() { return op::bfloat16::lowest(); }
  static constexpr op::bfloat16 max() { return op::bfloat16::highest(); }
  static constexpr op::bfloat16 epsilon() { return op::bfloat16::epsilon(); }
  static constexpr op::bfloat16 round_error() { return of(0x3F00); }
  static constexpr op::bfloat16 infinity() { return of(0x7F80); }
  static constexpr op::bfloat16 quiet_NaN() { return of(op::bfloat16::NAN_VALUE); }
  static constexpr op::bfloat16 signaling_NaN() { return of(0x7F81); }
  static constexpr op::bfloat16 denorm_min() { return of(0x0001); }
};

}  // namespace std

#endif /* __cplusplus */

#endif /* ACLNN_PY_ACLNN_OPDEV_BFLOAT16_H */
