// SPDX-License-Identifier: Apache-2.0
// Quantised matrices as tensors hold them: bytes, numbers of 4 bits, or eight of these to an INT32.
#pragma once

#include <vector>

#include "ops/four_bits.h"
#include "ops/matmul/stack.h"

namespace emu {

// Where the eight 4-bit numbers of an INT32 element lie.
enum class Packing : uint8_t { kNone, kAlongRows, kAlongColumns };

// A transposed view of packed elements has its numbers along the rows.
Packing packing_of(const aclTensor &tensor);

// Rows and columns of the last two dimensions, counted in numbers.
struct NumberShape {
  int64_t rows, cols;
};
NumberShape number_shape(const aclTensor &tensor, Packing packing);

// Matrices that lie dense one after the other, each as it is or with its axes exchanged.
void check_matrix_layout(Check &check, const char *name, const aclTensor &tensor);

// A stack of integer matrices as int8: where it lies, or unpacked from 4 bits into memory of its
// own.
class IntegerStack {
 public:
  IntegerStack(const aclTensor &tensor, Packing packing);
  const MatrixStack &stack() const { return stack_; }
  void transpose() { stack_.first = stack_.first.transposed(); }

 private:
  std::vector<int8_t> memory_;
  MatrixStack stack_;
};

}  // namespace emu
