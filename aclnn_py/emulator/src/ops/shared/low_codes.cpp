// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/shared/low_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/half.h"
#include "ops/four_bits.h"

namespace emu {
namespace {

template <uint8_t (*kEncode)(float)>
void encode(const float *values, int64_t count, float factor, uint8_t *codes) {
  for (int64_t i = 0; i < count; ++i) codes[i] = kEncode(values[i] * factor);
}

template <LowRounding kRounding>
EncodeFn nibble_encoder(aclDataType dtype) {
  return dtype == ACL_FLOAT4_E2M1 ? encode<saturated_e2m1<kRounding>>
                                  : encode<saturated_e1m2<kRounding>>;
}

// The bits behind the sign begin with the width of the exponent: 11, 10, 01, 001 and 0001 for 4, 3,
// 2, 1 and 0 bits. The exponent is a sign and a magnitude without its leading one; the rest is the
// mantissa. With 0000 in front, three bits count up from 2^-23.
float hifloat8_to_float(uint8_t code) {
  const int rest = code & 0x7f;
  const float sign = code & 0x80 ? -1.0f : 1.0f;
  if (rest == 0) return sign < 0 ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
  if (rest == 0x6f) return sign * std::numeric_limits<float>::infinity();
  if (rest < 8) return sign * std::ldexp(1.0f, rest - 23);
  const int width = rest >> 5 > 0 ? (rest >> 5) + 1 : rest >> 4,
            prefix = width >= 2 ? 2 : 4 - width;
  const int places = 7 - prefix - width, mantissa = rest & ((1 << places) - 1);
  const int field = rest >> places & ((1 << width) - 1), top = width > 0 ? 1 << (width - 1) : 0;
  const int magnitude = width > 0 ? top | (field & (top - 1)) : 0;
  const int power = field & top ? -magnitude : magnitude;
  return sign * std::ldexp(1.0f + std::ldexp(static_cast<float>(mantissa), -places), power);
}

float decoded(aclDataType dtype, uint8_t code) {
  switch (dtype) {
    case ACL_HIFLOAT8: return hifloat8_to_float(code);
    case ACL_FLOAT8_E5M2: return e5m2_to_float(code);
    case ACL_FLOAT8_E4M3FN: return e4m3_to_float(code);
    case ACL_FLOAT4_E2M1: return e2m1_to_float(code);
    case ACL_FLOAT4_E1M2: return e1m2_to_float(code);
    default: return e8m0_to_float(code);
  }
}

}  // namespace

Check &check_float4(Check &check, const char *parameter, const aclTensor *tensor) {
  if (!check.ok() || !contains(kFloat4, tensor->dtype)) return check;
  const Layout layout = layout_of(*tensor);
  const int64_t last = layout.rank > 0 ? layout.shape[layout.rank - 1] : 1;
  check.that(last % 2 == 0,
             "%s has shape %s and dtype %s, two values to a byte; its last dimension must be even",
             parameter, shape_text(layout).c_str(), dtype_name(tensor->dtype));
  return check.that(layout.is_dense() && tensor->offset % 2 == 0,
                    "%s has dtype %s; then it must be contiguous and start at a whole byte",
                    parameter, dtype_name(tensor->dtype));
}

View code_view(const aclTensor &tensor) {
  if (contains(kFloat4, tensor.dtype)) return View();
  View view = view_of(tensor);
  view.dtype = ACL_UINT8;
  return view;
}

LowCodes::LowCodes(const aclTensor &tensor) : nibbles_(contains(kFloat4, tensor.dtype)) {
  if (nibbles_) {
    data_ = static_cast<char *>(tensor.data) + tensor.offset / 2;
  } else {
    data_ = static_cast<char *>(tensor.view_data());
    layout_ = coalesced(layout_of(tensor));
  }
}

void LowCodes::write(int64_t start, int64_t count, const uint8_t *codes) const {
  if (nibbles_) {
    char *to = data_ + start / 2;
    for (int64_t i = 0; i < count; i += 2)
      to[i / 2] = static_cast<char>((codes[i] & 0xf) | (codes[i + 1] & 0xf) << 4);
    return;
  }
  for_each_run(layout_, start, count, [&](int64_t offset, int64_t step, int64_t run) {
    if (step == 1) std::memcpy(data_ + offset, codes, static_cast<size_t>(run));
    else
      for (int64_t i = 0; i < run; ++i) data_[offset + i * step] = static_cast<char>(codes[i]);
    codes += run;
  });
}

void LowCodes::read(int64_t start, int64_t count, uint8_t *codes) const {
  if (nibbles_) {
    for (int64_t i = 0; i < count; ++i)
      codes[i] = static_cast<uint8_t>(code_of_4_bits(data_, start + i));
    return;
  }
  for_each_run(layout_, start, count, [&](int64_t offset, int64_t step, int64_t run) {
    for (int64_t i = 0; i < run; ++i) codes[i] = static_cast<uint8_t>(data_[offset + i * step]);
    codes += run;
  });
}

void low_value_table(aclDataType dtype, float value_of[256]) {
  const int mask = contains(kFloat4, dtype) ? 0xf : 0xff;
  for (int code = 0; code < 256; ++code)
    value_of[code] = decoded(dtype, static_cast<uint8_t>(code & mask));
}

LowValues::LowValues(const aclTensor &tensor) : codes_(tensor) {
  low_value_table(tensor.dtype, value_of_);
}

void LowValues::read(int64_t start, int64_t count, float *values) const {
  uint8_t codes[kBlock];
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t n = std::min(kBlock, count - at);
    codes_.read(start + at, n, codes);
    for (int64_t i = 0; i < n; ++i) values[at + i] = value_of_[codes[i]];
  }
}

EncodeFn encoder(aclDataType dtype, LowRounding rounding) {
  switch (dtype) {
    case ACL_FLOAT8_E5M2: return encode<saturated_e5m2>;
    case ACL_FLOAT8_E4M3FN: return encode<saturated_e4m3>;
    case ACL_HIFLOAT8: return encode<saturated_hifloat8>;
    case ACL_INT8: return encode<saturated_int8>;
    default: break;
  }
  switch (rounding) {
    case LowRounding::kFloor: return nibble_encoder<LowRounding::kFloor>(dtype);
    case LowRounding::kRound: return nibble_encoder<LowRounding::kRound>(dtype);
    default: return nibble_encoder<LowRounding::kRint>(dtype);
  }
}

}  // namespace emu
