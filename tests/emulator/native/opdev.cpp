// SPDX-License-Identifier: Apache-2.0
// Conversions of op::fp16_t and op::bfloat16, for a table that tests/emulator/test_opdev.py
// compares with NumPy: every number of 16 bits, and the doubles on standard input.
#include <aclnn/opdev/fp16_t.h>

#include <cstdio>
#include <type_traits>

#include "expect.h"

namespace {

template <class T>
void put(T value) {
  EXPECT(std::fwrite(&value, sizeof value, 1, stdout) == 1);
}

void arithmetic() {
  op::fp16_t a(1.5f), b = 2, sum = a + b;
  EXPECT(sum == op::fp16_t(3.5) && sum.val == 0x4300 && a < b && a <= b && b > a && b >= a);
  EXPECT((a - b).val == 0xB800 && (a * b).toFloat() == 3.0f && (b / a).val == 0x3D55);
  a += b;
  a *= b;
  a -= op::fp16_t(1.0f);
  a /= op::fp16_t(4.0f);
  EXPECT(a.toDouble() == 1.5 && a != b);
  const uint16_t number = 0x3C00;
  EXPECT(op::fp16_t(number).toFloat() == 1.0f);  // bits
  a = number;                                    // a number
  EXPECT(a.toFloat() == 15360.0f);
  EXPECT(op::fp16_t(1e6).IsInf() == 1 && op::fp16_t(-1e6).IsInf() == -1 && a.IsInf() == 0);
  EXPECT(std::isnan(op::fp16_t(NAN)) && op::fp16_t(NAN).val == 0x7FFF && !std::isnan(a));
  EXPECT(std::abs(op::fp16_t(-2.5f)) == 2.5f);
  EXPECT(static_cast<bool>(a) && !static_cast<bool>(op::fp16_t(-0.0f)));
  uint16_t sign = 9, mantissa = 9;
  int16_t exponent = 9;
  op::ExtractFP16(0xFBFF, &sign, &exponent, &mantissa);
  EXPECT(sign == 1 && exponent == 30 && mantissa == 0x7FF);
  op::ExtractFP16(0x0001, &sign, &exponent, &mantissa);
  EXPECT(sign == 0 && exponent == 1 && mantissa == 1);
  EXPECT(static_cast<op::bfloat16>(op::fp16_t(1.5f)).value == 0x3FC0);
  EXPECT(op::fp16_t(op::bfloat16(1.5f)).val == 0x3E00);

  op::bfloat16 x(1.5f), y = 2;
  EXPECT((x + y).value == 0x4060 && (x * y) == op::bfloat16(3.0f) && (-x).value == 0xBFC0);
  EXPECT((x + 1).value == 0x4020 && (1 + x) == (x + 1) && x < y && y >= x && x != y);
  x += y;
  EXPECT(x++ == op::bfloat16(3.5f) && --x == op::bfloat16(3.5f) && x / y == op::bfloat16(1.75f));
  EXPECT(std::numeric_limits<op::bfloat16>::max().value == 0x7F7F && op::bfloat16().IsZero());
  EXPECT(std::isinf(std::numeric_limits<op::bfloat16>::infinity()));
  EXPECT(std::isnan(std::numeric_limits<op::bfloat16>::quiet_NaN()));
  EXPECT(std::isnan(std::numeric_limits<op::bfloat16>::signaling_NaN()));
  EXPECT(std::sqrt(op::bfloat16(4.0f)) == y && std::pow(y, y) == op::bfloat16(4.0f));
  static_assert(sizeof(op::fp16_t) == 2 && sizeof(op::bfloat16) == 2, "two bytes each");
}

}  // namespace

int main() {
  arithmetic();
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    op::fp16_t half;
    half.val = static_cast<uint16_t>(bits);
    put(half.toFloat());
    put(static_cast<float>(op::bfloat16(static_cast<uint16_t>(bits), op::bfloat16::from_bits())));
    put(half.toInt8());
    put(half.toUInt8());
    put(half.toInt16());
    put(half.toInt32());
    put(static_cast<uint64_t>(half));
  }
  double number = 0;
  while (std::fread(&number, sizeof number, 1, stdin) == 1) {
    put(op::fp16_t(number).val);
    put(op::fp16_t(static_cast<float>(number)).val);
    put(op::bfloat16(static_cast<float>(number)).value);
  }
  return 0;
}
