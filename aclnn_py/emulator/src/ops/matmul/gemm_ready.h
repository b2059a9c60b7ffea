// SPDX-License-Identifier: Apache-2.0
// A matrix that is the right operand of many products, as the weights of a recurrent network are:
// its columns are packed once. Results are those of the matrix itself.
#pragma once

#include "core/numbers.h"
#include "ops/matmul/gemm.h"

namespace emu {

class ReadyColumns {
 public:
  // `b` is float32 and stays as it is. The products have up to `rows` rows.
  ReadyColumns(const Matrix &b, int64_t rows);

  const Matrix &matrix() const { return b_; }
  // Null where products are quicker with the matrix as it lies.
  const float *panels() const { return panels_.empty() ? nullptr : panels_.data(); }

 private:
  const Matrix b_;
  Numbers<float> panels_;
};

void gemm(const Matrix &a, const ReadyColumns &b, const MatrixOut &out,
          const GemmEpilogue &epilogue = {});
void gemm_f32(const Matrix &a, const ReadyColumns &b, const RowSink<float> &sink);

}  // namespace emu
