// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/attention/mla/mla_prolog_low.h"

#include "ops/matmul/stack.h"
#include "ops/shared/dynamic.h"

namespace emu {

std::vector<uint8_t> read_powers(const aclTensor &tensor) {
  std::vector<uint8_t> powers(static_cast<size_t>(tensor.numel()));
  LowCodes(tensor).read(0, tensor.numel(), powers.data());
  return powers;
}

PrologWeight::PrologWeight(PlanContext &c, size_t weight, size_t scales, bool scaled, bool mx) {
  const aclTensor &tensor = c.tensor(weight);
  matrix_ = matrix_stack(tensor).first;
  std::vector<uint8_t> powers;
  if (scaled && mx) powers = read_powers(c.tensor(scales));
  else if (scaled) by_column_ = read_all<float>(c, scales, matrix_.cols, 1.0f);
  if (!gemm_is_float(tensor.dtype) && !gemm_is_int8(tensor.dtype)) expand(tensor, powers);
}

void PrologWeight::expand(const aclTensor &weight, const std::vector<uint8_t> &powers) {
  const int64_t depth = matrix_.rows, columns = matrix_.cols, blocks = depth / kLowBlock;
  float value_of[256];
  low_value_table(weight.dtype, value_of);
  values_.resize(static_cast<size_t>(depth * columns));
  const auto *codes = static_cast<const uint8_t *>(matrix_.data);
  parallel_for(depth, 16, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      float *to = values_.data() + k * columns;
      for (int64_t j = 0; j < columns; ++j) {
        to[j] = value_of[codes[matrix_.row.at(k) + matrix_.col.at(j)]];
        if (!powers.empty())
          to[j] *= e8m0_to_float(powers[static_cast<size_t>(j * blocks + k / kLowBlock)]);
      }
    }
  });
  matrix_ = {values_.data(), ACL_FLOAT, depth, columns, {columns, 0, 0}, {1, 0, 0}};
}

void PrologWeight::multiply(const Matrix &a, const float *by_row, float *to) const {
  const int64_t columns = matrix_.cols;
  std::vector<int32_t> sums;
  if (a.dtype == ACL_INT8) {
    sums.resize(static_cast<size_t>(a.rows * columns));
    gemm(a, matrix_, {sums.data(), ACL_INT32, columns, 1});
  } else {
    gemm(a, matrix_, {to, ACL_FLOAT, columns, 1});
    if (by_row == nullptr && by_column_.empty()) return;
  }
  for (int64_t i = 0; i < a.rows; ++i) {
    const float row = by_row == nullptr ? 1.0f : by_row[i];
    for (int64_t j = 0; j < columns; ++j) {
      const auto at = static_cast<size_t>(i * columns + j);
      const float sum = sums.empty() ? to[at] : static_cast<float>(sums[at]);
      to[at] = sum * row * (by_column_.empty() ? 1.0f : by_column_[static_cast<size_t>(j)]);
    }
  }
}

LowRows::LowRows(aclDataType dtype, int64_t width) : dtype_(dtype), width_(width) {
  low_value_table(dtype, value_of_);
}

void LowRows::decode(const uint8_t *codes, const uint8_t *powers, int64_t count, float *to) const {
  const int64_t blocks = width_ / kLowBlock;
  parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t e = 0; e < width_; ++e) {
        to[i * width_ + e] = value_of_[codes[i * width_ + e]];
        if (powers != nullptr)
          to[i * width_ + e] *= e8m0_to_float(powers[i * blocks + e / kLowBlock]);
      }
    }
  });
}

float LowRows::quantise(float *row) const {
  const float scale = scale_symmetric(row, width_, quant_range(dtype_)).scale;
  std::vector<uint8_t> codes(static_cast<size_t>(width_));
  encoder(dtype_, LowRounding::kRint)(row, width_, 1.0f, codes.data());
  for (int64_t e = 0; e < width_; ++e) row[e] = value_of_[codes[static_cast<size_t>(e)]];
  return scale;
}

void LowRows::quantise_mx(float *row, uint8_t *powers, float *plain) const {
  MxFormat format;
  format.dtype = dtype_;
  constexpr int64_t pair = 2 * kLowBlock;
  uint8_t codes[pair], found[2];
  for (int64_t first = 0; first < width_; first += pair) {
    mx_quantise_pair(format, row + first, pair, 1, kLowBlock, codes, found);
    for (int64_t i = 0; i < pair; ++i) {
      plain[first + i] = value_of_[codes[i]];
      row[first + i] = plain[first + i] * e8m0_to_float(found[i / kLowBlock]);
    }
    powers[first / kLowBlock] = found[0];
    powers[first / kLowBlock + 1] = found[1];
  }
}

}  // namespace emu
