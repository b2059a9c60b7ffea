// SPDX-License-Identifier: Apache-2.0
// Results of quantisation: how a value is rounded, what it is limited to, and how it lies in
// memory. INT4 puts two values into a byte, an INT32 holds eight of 4 bits, the lowest bits first.
#pragma once

#include <optional>

#include "ops/op.h"
#include "ops/shared/low_codes.h"
#include "ops/shared/rows.h"

namespace emu {

enum class Rounding : uint8_t { kNearestEven, kCeil, kFloor, kTrunc };

// The range of what a quantised tensor of this dtype holds.
struct QuantRange {
  float lowest, highest;
};
QuantRange quant_range(aclDataType dtype);

// Numbers of 4 bits that one element of the dtype holds: 8 for INT32, else 1.
constexpr int64_t values_per_element(aclDataType dtype) { return dtype == ACL_INT32 ? 8 : 1; }

// The shape of `y` is that of the values, the last dimension divided by eight for INT32. A tensor
// of INT4 must have an even last dimension, be dense and start at a whole byte.
Check &check_packing(Check &check, const char *parameter, const aclTensor *packed, Layout values,
                     const char *values_name);

// An attribute that repeats the dtype of a tensor: the number of aclDataType.
Check &check_dst_type(Check &check, const char *attribute, int64_t given, const char *parameter,
                      const aclTensor *tensor);

// A tensor of quantised values that is written in blocks of consecutive values.
class QuantTarget {
 public:
  explicit QuantTarget(const aclTensor &y, Rounding rounding = Rounding::kNearestEven);
  // Rounds and limits the values; NaN becomes 0 among integers. What shares a byte or an INT32 is
  // written by one call.
  void write(int64_t start, int64_t count, const float *values) const;

 private:
  void (*to_integers_)(const float *values, int64_t count, const QuantRange &range, int32_t *to);
  QuantRange range_;
  char *nibbles_ = nullptr;  // of INT4
  bool words_ = false;       // INT32 with eight values
  std::optional<RowTarget<int32_t>> integers_;
  std::optional<RowTarget<float>> floats_;
  std::optional<LowCodes> codes_;  // of HIFLOAT8
};

// The memory of a quantised result, for `Operands::safe`; empty for INT4, which no other tensor can
// share.
View shared_view(const aclTensor &packed);

// `count` consecutive quantised values as float32, counted from the first one of a tensor of INT8,
// INT4, INT32 with eight values or floats of 8 bits.
class QuantSource {
 public:
  explicit QuantSource(const aclTensor &x);
  void read(int64_t start, int64_t count, float *to) const;

 private:
  const uint8_t *nibbles_ = nullptr;
  std::optional<RowSource<int32_t>> words_;
  std::optional<RowSource<float>> whole_;
  std::optional<LowValues> codes_;  // of HIFLOAT8
};

}  // namespace emu
