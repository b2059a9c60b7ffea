// SPDX-License-Identifier: Apache-2.0
// Quantised operands of products per expert: floats of 8 and 4 bits and their scales.
#pragma once

#include <vector>

#include "ops/matmul/gemm.h"
#include "ops/mc2/exchange/grouped_exchange.h"

namespace emu {

// Pairs of powers of two for a depth.
int64_t scale_pairs(int64_t depth);

// Dtypes of the operands, and everything about their scales and modes.
void check_scaled_dtypes(Check &check, const GroupedExchangeCall &call, const char *x_name,
                         const char *y_name);
void check_scales(Check &check, const GroupedExchangeCall &call);

// An operand as float32. Powers of two are multiplied in, which is exact; the scale of a tensor
// waits for the sum.
class ScaledMatrix {
 public:
  // Dense rows; their powers of two, if they have any, lie densely in `powers`.
  ScaledMatrix(const char *rows, aclDataType dtype, int64_t count, int64_t depth,
               const aclTensor &scale, const char *powers);
  // The left operand of a product.
  ScaledMatrix(const aclTensor &rows, const aclTensor &scale);
  // The right one: a matrix, or that of an expert.
  ScaledMatrix(const aclTensor &weight, bool transposed, const aclTensor &scale, int64_t expert);

  const Matrix &matrix() const { return matrix_; }
  float scale() const { return scale_; }
  bool whole() const { return whole_; }  // one scale

 private:
  struct Powers;
  void read(const aclTensor &values, const aclTensor &scale, const Powers &powers);

  std::vector<float> values_;
  Matrix matrix_;
  float scale_ = 1.0f;
  bool whole_ = false;
};

// The dense product, rounded once.
void multiply_scaled(const ScaledMatrix &left, const ScaledMatrix &right, aclDataType dtype,
                     char *out);

}  // namespace emu
