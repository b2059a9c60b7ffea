// SPDX-License-Identifier: Apache-2.0
// Arithmetic with every case defined, for the formulas of rows: integers wrap, division by a zero
// integer gives 0, NaN propagates through maximum and minimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ops/dtype.h"

namespace emu {

template <class T>
inline constexpr bool is_complex_v = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

// The type whose arithmetic wraps instead of being undefined on overflow; not a narrower one than
// int, to which C++ would widen it with a sign.
template <class T>
using Wrap = typename std::conditional_t<
    !std::is_integral_v<T>, std::common_type<T>,
    std::conditional_t<sizeof(T) < sizeof(int), std::common_type<unsigned>,
                       std::make_unsigned<T>>>::type;

template <class T>
T plus(T x, T y) {
  return static_cast<T>(static_cast<Wrap<T>>(x) + static_cast<Wrap<T>>(y));
}
template <class T>
T minus(T x, T y) {
  return static_cast<T>(static_cast<Wrap<T>>(x) - static_cast<Wrap<T>>(y));
}
template <class T>
T times(T x, T y) {
  if constexpr (is_complex_v<T>) {
    // As the device and NumPy: without the cases in which C++ makes an infinity of what is none.
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else {
    return static_cast<T>(static_cast<Wrap<T>>(x) * static_cast<Wrap<T>>(y));
  }
}
template <class T>
T negate(T x) {
  return minus(T{}, x);
}
// -0.0 for 0.0, which subtraction from zero would not give.
inline float negate(float x) { return -x; }
inline double negate(double x) { return -x; }
inline Complex64 negate(Complex64 x) { return -x; }
inline Complex128 negate(Complex128 x) { return -x; }

template <class T>
bool is_nan(T x) {
  if constexpr (is_complex_v<T>) return is_nan(x.real()) || is_nan(x.imag());
  else return x != x;
}

// In float64, which holds every square of a float32; an infinity counts beside what is no number.
inline double magnitude(Complex64 x) {
  const double re = x.real(), im = x.imag(), infinite = std::numeric_limits<double>::infinity();
  const int endless =
      static_cast<int>(std::abs(re) == infinite) | static_cast<int>(std::abs(im) == infinite);
  return endless != 0 ? infinite : std::sqrt(re * re + im * im);
}
inline double magnitude(Complex128 x) { return std::abs(x); }

template <class T>
auto absolute(T x) {
  if constexpr (std::is_integral_v<T>) return x < T{} ? negate(x) : x;
  else if constexpr (is_complex_v<T>) return static_cast<typename T::value_type>(magnitude(x));
  else return std::abs(x);
}

template <class T>
T sign(T x) {
  if constexpr (is_complex_v<T>) {
    if (is_nan(x)) return x;
    const double size = magnitude(x), divisor = size == 0 ? 1 : size;
    return {static_cast<typename T::value_type>(x.real() / divisor),
            static_cast<typename T::value_type>(x.imag() / divisor)};
  } else {
    const T found = static_cast<T>((T{} < x) - (x < T{}));
    return is_nan(x) ? x : found;
  }
}

// The neutral elements of maximum and minimum.
template <class T>
constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::min();
}
template <class T>
constexpr T highest() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
  else return std::numeric_limits<T>::max();
}

template <class T>
T maximum(T x, T y) {
  // Choices one after the other, of which the compiler makes vectors: NaN is below nothing.
  const T greater = x < y ? y : x;
  return is_nan(y) ? y : greater;
}
template <class T>
T minimum(T x, T y) {
  const T smaller = y < x ? y : x;
  return is_nan(y) ? y : smaller;
}

// Quotient towards zero.
template <class T>
T divide_trunc(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::trunc(x / y);
  } else if constexpr (std::is_same_v<T, int32_t>) {
    // In float64, which holds both and divides them exactly enough: of that there are vectors.
    const int odd = static_cast<int>(y == 0) | static_cast<int>(y == -1);
    const T quotient = static_cast<T>(static_cast<double>(x) / static_cast<double>(odd ? 1 : y));
    const T negated = y == -1 ? negate(x) : quotient;
    return y == 0 ? 0 : negated;
  } else if constexpr (std::is_integral_v<T>) {
    if (y == T{}) return T{};
    if (std::is_signed_v<T> && y == static_cast<T>(-1)) return negate(x);
    return x / y;
  } else {
    return x / y;
  }
}

// The quotient as the type has it: integers towards zero.
template <class T>
T divide_any(T x, T y) {
  if constexpr (std::is_integral_v<T>) return divide_trunc(x, y);
  else return x / y;
}

// Remainder with the sign of the dividend.
template <class T>
T mod_trunc(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmod(x, y);
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return y == 0 ? 0 : minus(x, times(divide_trunc(x, y), y));
  } else {
    if (y == T{} || (std::is_signed_v<T> && y == static_cast<T>(-1))) return T{};
    return x % y;
  }
}

// Remainder with the sign of the divisor.
template <class T>
T mod_floor(T x, T y) {
  const T rest = mod_trunc(x, y);
  const int turn = static_cast<int>(rest != T{}) & static_cast<int>((rest < T{}) != (y < T{}));
  return turn != 0 ? plus(rest, y) : rest;
}

// Quotient towards minus infinity, consistent with mod_floor.
template <class T>
T divide_floor(T x, T y) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int32_t)) {
    // In float32, which holds both; a quotient is never rounded to a whole number that it is not.
    const float quotient = std::floor(static_cast<float>(x) / static_cast<float>(y == T{} ? 1 : y));
    return y == T{} ? T{} : static_cast<T>(static_cast<int32_t>(quotient));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (y == T{}) return x / y;
    const T rest = std::fmod(x, y);
    T quotient = (x - rest) / y;
    if (rest != T{} && (rest < T{}) != (y < T{})) quotient -= 1;
    if (quotient == T{}) return std::copysign(T{}, x / y);
    const T whole = std::floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
  } else if constexpr (std::is_integral_v<T>) {
    const T quotient = divide_trunc(x, y);
    const int below = static_cast<int>(y != T{}) & static_cast<int>(times(quotient, y) != x) &
                      static_cast<int>((x < T{}) != (y < T{}));
    return minus(quotient, static_cast<T>(below));
  } else {
    return x / y;
  }
}

// By squares, for an exponent that is not negative.
template <class T, class Count>
T power_by_squares(T x, Count exponent) {
  T result{1};
  while (exponent != 0) {
    if ((exponent & 1) != 0) result = times(result, x);
    exponent >>= 1;
    if (exponent != 0) x = times(x, x);
  }
  return result;
}

template <class T>
T power(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y < T{}) {  // a fraction, which truncates to zero unless the base is 1 or -1
      if (x == T{1}) return T{1};
      return x == static_cast<T>(-1) ? (y % 2 == 0 ? T{1} : static_cast<T>(-1)) : T{};
    }
    return power_by_squares(x, static_cast<std::make_unsigned_t<T>>(y));
  } else if constexpr (is_complex_v<T>) {
    // Small whole powers as products; the logarithm of a complex zero is no number.
    const auto whole = y.real();
    if (y.imag() == 0 && whole == std::trunc(whole) && std::abs(whole) < 100) {
      const T size = power_by_squares(x, static_cast<unsigned>(std::abs(whole)));
      return whole < 0 ? T{1} / size : size;
    }
    return std::pow(x, y);
  } else {
    return std::pow(x, y);
  }
}

template <class T>
T gcd(T x, T y) {
  using Count = std::make_unsigned_t<T>;
  auto a = static_cast<Count>(absolute(x)), b = static_cast<Count>(absolute(y));
  while (b != 0) {
    const Count rest = a % b;
    a = b;
    b = rest;
  }
  return static_cast<T>(a);
}

template <class T>
T round_half_even(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::nearbyint(x);
  else return x;
}
template <class T>
T round_down(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::floor(x);
  else return x;
}
template <class T>
T round_up(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::ceil(x);
  else return x;
}
template <class T>
T round_to_zero(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::trunc(x);
  else return x;
}

template <class T>
bool is_finite(T x) {
  if constexpr (is_complex_v<T>) return is_finite(x.real()) && is_finite(x.imag());
  else if constexpr (std::is_floating_point_v<T>) return std::isfinite(x);
  else return true;
}
template <class T>
bool is_infinite(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isinf(x);
  else return false;
}

template <class T>
bool sign_bit(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    std::conditional_t<sizeof(T) == 4, int32_t, int64_t> bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits < 0;
  } else {
    return x < T{};
  }
}

template <class T>
auto real_part_of(T x) {
  if constexpr (is_complex_v<T>) return x.real();
  else return x;
}

// A count below 0 is 0. What is shifted out of the type is lost, the sign of a shift to the right
// excepted.
template <class T>
T shift_left(T x, T count) {
  constexpr T kWidth = static_cast<T>(8 * sizeof(T));
  if (count >= kWidth) return T{};
  return count <= T{} ? x : static_cast<T>(static_cast<Wrap<T>>(x) << count);
}
template <class T>
T shift_right(T x, T count) {
  constexpr T kLast = static_cast<T>(8 * sizeof(T) - 1);
  if (count > kLast) return std::is_signed_v<T> ? static_cast<T>(x >> kLast) : T{};
  return count <= T{} ? x : static_cast<T>(x >> count);
}

template <class T>
bool truth(T x) {
  return x != T{};
}

template <class T>
T log2_of(T x) {
  // By a real number: a quotient of complex ones would make NaN of an infinite part.
  if constexpr (is_complex_v<T>) return std::log(x) / std::log(typename T::value_type(2));
  else return std::log2(x);
}

template <class T>
T log_add_exp(T x, T y) {
  const T high = maximum(x, y), low = minimum(x, y);
  return std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
}
template <class T>
T log_add_exp2(T x, T y) {
  const T high = maximum(x, y), low = minimum(x, y);
  return std::isinf(high) ? high : high + std::log2(T(1) + std::exp2(low - high));
}

template <class T>
T sigmoid(T x) {
  if constexpr (is_complex_v<T>) {
    return T(1) / (T(1) + std::exp(-x));
  } else {
    // Either branch keeps exp from overflowing.
    const T e = std::exp(-std::abs(x));
    return x >= T{} ? T(1) / (T(1) + e) : e / (T(1) + e);
  }
}

template <class T>
T softplus(T x, T beta, T threshold) {
  const T scaled = x * beta;
  return scaled > threshold ? x : std::log1p(std::exp(scaled)) / beta;
}

template <class T>
T log_sigmoid(T x) {
  return std::min(x, T{}) - std::log1p(std::exp(-std::abs(x)));
}

template <class T>
T gelu_erf(T x) {
  return T(0.5) * x * std::erfc(-x * T(0.70710678118654752440));
}
template <class T>
T gelu_tanh(T x) {
  return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}

template <class T>
T clamp(T x, T low, T high) {
  // As torch: NaN stays, and an upper bound below the lower one wins.
  return minimum(maximum(x, low), high);
}

template <class T>
T hard_sigmoid(T x) {
  return clamp(x + T(3), T(0), T(6)) / T(6);
}

template <class T>
T elu(T x, T alpha, T scale, T input_scale) {
  return x > T{} ? scale * x : scale * alpha * std::expm1(x * input_scale);
}

template <class T>
T lerp(T start, T end, T weight) {
  // The form that is exact at both ends.
  return std::abs(weight) < T(0.5) ? start + weight * (end - start)
                                   : end - (end - start) * (T(1) - weight);
}

}  // namespace emu
