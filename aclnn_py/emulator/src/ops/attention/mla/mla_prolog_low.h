// SPDX-License-Identifier: Apache-2.0
// The products of MlaProlog whose operands are numbers of 8 bits: INT8, whose sums are exact, and
// floats of 8 bits, which are multiplied as float32. Their scales belong to rows and columns, or
// are powers of two for 32 values of the dimension that is summed.
#pragma once

#include <vector>

#include "ops/matmul/gemm.h"
#include "ops/op.h"
#include "ops/shared/mx_format.h"

namespace emu {

constexpr int64_t kLowBlock = 32;

// A weight of any of its kinds.
class PrologWeight {
 public:
  // `scales`: one for each column, or with `mx` (columns, depth / 32) powers of two; kAbsent
  // without
  PrologWeight(PlanContext &c, size_t weight, size_t scales, bool scaled, bool mx);
  int64_t columns() const { return matrix_.cols; }
  // a @ weight in float32, times the scales of the rows, which may be null, and of the columns.
  void multiply(const Matrix &a, const float *by_row, float *to) const;

 private:
  void expand(const aclTensor &weight, const std::vector<uint8_t> &powers);

  Matrix matrix_;
  std::vector<float> values_, by_column_;
};

// Rows of floats of 8 bits become float32.
class LowRows {
 public:
  LowRows(aclDataType dtype, int64_t width);
  // Codes of `count` rows, times the power of two of each 32 where there are any.
  void decode(const uint8_t *codes, const uint8_t *powers, int64_t count, float *to) const;
  // Quantises a row by its largest value, keeps what its codes stand for, and returns the scale.
  float quantise(float *row) const;
  // The same with a power of two for each 32 values; the codes' values without it go to `plain`.
  void quantise_mx(float *row, uint8_t *powers, float *plain) const;

 private:
  aclDataType dtype_;
  int64_t width_;
  float value_of_[256];
};

std::vector<uint8_t> read_powers(const aclTensor &tensor);

}  // namespace emu
