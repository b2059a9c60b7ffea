// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/shared/quantised.h"

#include "ops/four_bits.h"
#include "ops/shared/low_bits.h"

namespace emu {
namespace {

constexpr int64_t kPerWord = 8;

// Adding and subtracting it rounds a small float to the nearest integer, half to even.
constexpr float kRounder = 12582912.0f;

// The bounds are integers, so that limiting first gives what limiting last does.
template <Rounding kRounding>
int32_t to_integer(float value, const QuantRange &range) {
  value = value == value ? value : 0.0f;
  value = value < range.lowest ? range.lowest : value;
  value = value > range.highest ? range.highest : value;
  if constexpr (kRounding == Rounding::kNearestEven)
    return static_cast<int32_t>((value + kRounder) - kRounder);
  const auto whole = static_cast<int32_t>(value);
  if constexpr (kRounding == Rounding::kCeil) return whole + (static_cast<float>(whole) < value);
  if constexpr (kRounding == Rounding::kFloor) return whole - (static_cast<float>(whole) > value);
  return whole;
}

template <Rounding kRounding>
void all_to_integers(const float *values, int64_t count, const QuantRange &range, int32_t *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = to_integer<kRounding>(values[i], range);
}

using ToIntegers = void (*)(const float *, int64_t, const QuantRange &, int32_t *);

ToIntegers to_integers_by(Rounding rounding) {
  switch (rounding) {
    case Rounding::kCeil: return all_to_integers<Rounding::kCeil>;
    case Rounding::kFloor: return all_to_integers<Rounding::kFloor>;
    case Rounding::kTrunc: return all_to_integers<Rounding::kTrunc>;
    default: return all_to_integers<Rounding::kNearestEven>;
  }
}

// The byte that holds the first value of a dense tensor of INT4.
char *first_byte(const aclTensor &tensor) {
  return static_cast<char *>(tensor.data) + tensor.offset / 2;
}

}  // namespace

QuantRange quant_range(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8: return {-128.0f, 127.0f};
    case ACL_UINT8: return {0.0f, 255.0f};
    case ACL_FLOAT8_E4M3FN: return {-448.0f, 448.0f};
    case ACL_FLOAT8_E5M2: return {-57344.0f, 57344.0f};
    case ACL_HIFLOAT8: return {-kLargestHifloat8, kLargestHifloat8};
    default: return {-8.0f, 7.0f};
  }
}

Check &check_packing(Check &check, const char *parameter, const aclTensor *packed, Layout values,
                     const char *values_name) {
  if (!check.ok()) return check;
  const int64_t per_element = values_per_element(packed->dtype);
  if (packed->dtype != ACL_INT4 && per_element == 1) return check.shape(parameter, packed, values);
  check.that(values.rank > 0, "%s has dtype %s; then %s needs at least one dimension", parameter,
             dtype_name(packed->dtype), values_name);
  if (!check.ok()) return check;
  int64_t &last = values.shape[values.rank - 1];
  const int64_t multiple = packed->dtype == ACL_INT4 ? 2 : kPerWord;
  check.that(last % multiple == 0,
             "%s has dtype %s; then the last dimension of %s must be a multiple of %lld, but it is "
             "%lld",
             parameter, dtype_name(packed->dtype), values_name, static_cast<long long>(multiple),
             static_cast<long long>(last));
  if (packed->dtype == ACL_INT4) {
    check.that(layout_of(*packed).is_dense() && packed->offset % 2 == 0,
               "%s has dtype INT4; then it must be contiguous and start at a whole byte",
               parameter);
  }
  last /= per_element;
  return check.shape(parameter, packed, values);
}

Check &check_dst_type(Check &check, const char *attribute, int64_t given, const char *parameter,
                      const aclTensor *tensor) {
  if (!check.ok()) return check;
  return check.that(given == static_cast<int64_t>(tensor->dtype),
                    "%s is %lld; it must be the number of the dtype of %s, %d (%s)", attribute,
                    static_cast<long long>(given), parameter, static_cast<int>(tensor->dtype),
                    dtype_name(tensor->dtype));
}

QuantTarget::QuantTarget(const aclTensor &y, Rounding rounding)
    : to_integers_(to_integers_by(rounding)),
      range_(quant_range(y.dtype)),
      words_(y.dtype == ACL_INT32) {
  if (y.dtype == ACL_INT4) nibbles_ = first_byte(y);
  else if (y.dtype == ACL_HIFLOAT8) codes_.emplace(y);
  else if (contains(dt::kFloat8, y.dtype)) floats_.emplace(view_of(y));
  else integers_.emplace(view_of(y));
}

void QuantTarget::write(int64_t start, int64_t count, const float *values) const {
  if (floats_) {
    float limited_values[kBlock];
    for (int64_t at = 0; at < count; at += kBlock) {
      const int64_t n = std::min(kBlock, count - at);
      for (int64_t i = 0; i < n; ++i) limited_values[i] = limited(values[at + i], range_.highest);
      floats_->write(start + at, n, limited_values);
    }
    return;
  }
  if (codes_) {
    uint8_t codes[kBlock];
    for (int64_t at = 0; at < count; at += kBlock) {
      const int64_t n = std::min(kBlock, count - at);
      for (int64_t i = 0; i < n; ++i) codes[i] = saturated_hifloat8(values[at + i]);
      codes_->write(start + at, n, codes);
    }
    return;
  }
  int32_t block[kBlock];
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t n = std::min(kBlock, count - at), first = start + at;
    to_integers_(values + at, n, range_, block);
    if (nibbles_ != nullptr) {
      for (int64_t i = 0; i < n; i += 2) {
        nibbles_[(first + i) / 2] = static_cast<char>((block[i] & 0xf) | (block[i + 1] & 0xf) << 4);
      }
    } else if (words_) {
      int32_t packed[kBlock / kPerWord];
      for (int64_t i = 0; i < n; i += kPerWord) {
        uint32_t word = 0;
        for (int64_t j = 0; j < kPerWord; ++j)
          word |= (static_cast<uint32_t>(block[i + j]) & 0xf) << (4 * j);
        packed[i / kPerWord] = static_cast<int32_t>(word);
      }
      integers_->write(first / kPerWord, n / kPerWord, packed);
    } else {
      integers_->write(first, n, block);
    }
  }
}

View shared_view(const aclTensor &packed) {
  if (packed.dtype == ACL_HIFLOAT8) return code_view(packed);
  return packed.dtype == ACL_INT4 ? View() : view_of(packed);
}

QuantSource::QuantSource(const aclTensor &x) {
  if (x.dtype == ACL_INT4) nibbles_ = reinterpret_cast<const uint8_t *>(first_byte(x));
  else if (x.dtype == ACL_INT32) words_.emplace(view_of(x));
  else if (x.dtype == ACL_HIFLOAT8) codes_.emplace(x);
  else whole_.emplace(view_of(x));
}

void QuantSource::read(int64_t start, int64_t count, float *to) const {
  if (whole_) {
    whole_->read(start, count, to);
  } else if (codes_) {
    codes_->read(start, count, to);
  } else if (nibbles_ != nullptr) {
    for (int64_t i = 0; i < count; ++i) to[i] = number_of_4_bits(nibbles_, start + i);
  } else {
    int32_t packed[kBlock];
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t n = std::min(kBlock, count - i);
      words_->read((start + i) / kPerWord, n / kPerWord, packed);
      for (int64_t j = 0; j < n; ++j) to[i + j] = number_of_4_bits(packed, j);
    }
  }
}

}  // namespace emu
