// SPDX-License-Identifier: Apache-2.0
// Tensors seen as stacks of matrices: the last two dimensions are the matrix, those before it the
// stack.
#pragma once

#include "ops/matmul/gemm.h"
#include "ops/op.h"

namespace emu {

struct MatrixStack {
  Matrix first;
  Layout batch;  // strides in elements

  Matrix at(int64_t offset) const;
};

// Any strides; a tensor in FRACTAL_NZ is read through its blocks, a transposed view of one
// included.
MatrixStack matrix_stack(const aclTensor &tensor);
// A vector as a column (length, 1) or as a row (1, length).
Matrix column_of(const aclTensor &vector);
Matrix row_of(const aclTensor &vector);
// The same for a dense or strided view.
MatrixStack matrix_stack(const View &view);

// out[b] = epilogue(a[b] @ b[b]) for every index of out's stack; the stacks of a, b and the addend
// broadcast. An operand whose memory the result overlaps is copied first.
struct StackProduct {
  MatrixStack a, b;
  View out;  // rank >= 2
  double alpha = 1.0, beta = 1.0;
  bool has_addend = false;
  bool keeps_addend = false;  // with beta of zero too: the zero of a NaN is a NaN
  MatrixStack addend;         // broadcast to out
  Matrix bias;                // a row, or data == nullptr
};
void multiply(const StackProduct &product);

}  // namespace emu
