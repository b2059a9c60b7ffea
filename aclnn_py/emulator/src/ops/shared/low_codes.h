// SPDX-License-Identifier: Apache-2.0
// Tensors whose elements are codes of 8 or 4 bits: reading and writing the codes as bytes.
#pragma once

#include "ops/op.h"
#include "ops/shared/low_bits.h"

namespace emu {

constexpr DtypeSet kFloat4 = dtype_set(ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2);

// A tensor of FLOAT4 has an even last dimension, is dense and starts at a whole byte.
Check &check_float4(Check &check, const char *parameter, const aclTensor *tensor);

// The memory of a tensor of codes, for `Operands::safe`; empty for FLOAT4, which no other tensor
// can share.
View code_view(const aclTensor &tensor);

// Consecutive codes of a tensor, one to a byte on this side. Two codes of 4 bits share a byte in
// memory: there `start` and `count` are even.
class LowCodes {
 public:
  explicit LowCodes(const aclTensor &tensor);
  void write(int64_t start, int64_t count, const uint8_t *codes) const;
  void read(int64_t start, int64_t count, uint8_t *codes) const;

 private:
  char *data_;
  bool nibbles_;
  Layout layout_;  // of whole bytes
};

// The value of every code of a dtype; codes of 4 bits repeat.
void low_value_table(aclDataType dtype, float value_of[256]);

// Consecutive values of a tensor of codes as float32.
class LowValues {
 public:
  explicit LowValues(const aclTensor &tensor);
  void read(int64_t start, int64_t count, float *values) const;

 private:
  LowCodes codes_;
  float value_of_[256];
};

// Encodes values times `factor`.
using EncodeFn = void (*)(const float *values, int64_t count, float factor, uint8_t *codes);
EncodeFn encoder(aclDataType dtype, LowRounding rounding);

}  // namespace emu
