// SPDX-License-Identifier: Apache-2.0
// Operands of the fused products: matrices of floats, INT8 and INT4.
#pragma once

#include <vector>

#include "ops/matmul/stack.h"
#include "ops/mc2/fused.h"
#include "ops/mc2/partial.h"

namespace emu {

constexpr DtypeSet kIntegerOperands = dtype_set(ACL_INT8, ACL_INT4);

inline bool is_integer_operand(const aclTensor &tensor) {
  return contains(kIntegerOperands, tensor.dtype);
}

// Elements of 4 bits share a byte.
inline bool halves_bytes(aclDataType dtype) { return dtype_bits(dtype) < 8; }
inline uint64_t operand_bytes(aclDataType dtype, int64_t count) {
  return static_cast<uint64_t>(halves_bytes(dtype) ? count / 2 : count * item_size(dtype));
}

// A tensor as a matrix that products read; INT4 is unpacked.
class OperandMatrix {
 public:
  explicit OperandMatrix(const aclTensor &tensor, bool transposed = false);
  // Dense rows.
  OperandMatrix(const void *rows, aclDataType dtype, int64_t count, int64_t width);
  const Matrix &matrix() const { return matrix_; }

 private:
  void unpack(const void *nibbles, int64_t first, int64_t rows, int64_t row_stride, int64_t columns,
              int64_t column_stride);

  std::vector<int8_t> unpacked_;
  Matrix matrix_;
};

// A tensor of 4 bits that is read where it lies: dense, or a transposed view, from a whole byte on.
Check &check_packed_operand(Check &check, const char *parameter, const aclTensor *tensor);

// Copies a tensor's elements to dense memory, whatever its strides; those of 4 bits have to be
// dense.
void copy_operand(const aclTensor &tensor, void *to);

// Rows of float16 or bfloat16 quantised to 8 or 4 bits, each by its own scale: `smooth` (of one
// value per column, or empty) is multiplied in first.
struct QuantisedRows {
  std::vector<int8_t> values;
  std::vector<float> scales;
  Matrix matrix;
};
void quantise_operand(const Matrix &rows, const std::vector<float> &smooth, float highest,
                      QuantisedRows *result);

}  // namespace emu
