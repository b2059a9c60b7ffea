// SPDX-License-Identifier: Apache-2.0
// Stacks of matrices whose elements are floats of 8 or 4 bits, as float32.
#pragma once

#include <vector>

#include "ops/matmul/stack.h"

namespace emu {

class FloatStack {
 public:
  explicit FloatStack(const aclTensor &tensor);
  const MatrixStack &stack() const { return stack_; }
  void transpose() { stack_.first = stack_.first.transposed(); }

 private:
  std::vector<float> memory_;
  MatrixStack stack_;
};

// A matrix of floats of 8 or 4 bits as float32 in row-major order, whatever its strides or blocks.
// `memory` keeps the values.
Matrix as_float(const aclTensor &matrix, std::vector<float> &memory);

// A matrix of these floats with its columns multiplied by their scales (one for all, or one for
// each), rounded to `dtype` of 16 bits, in row-major order.
std::vector<uint16_t> scaled_columns(const aclTensor &matrix, const std::vector<float> &scale,
                                     aclDataType dtype);

// Every element, in order, also of matrices in FRACTAL_NZ. A power of two of FLOAT8_E8M0 becomes
// that power.
std::vector<float> low_values(const aclTensor &tensor);

}  // namespace emu
