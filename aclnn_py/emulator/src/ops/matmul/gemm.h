// SPDX-License-Identifier: Apache-2.0
// Matrix product over device memory: any strides, transposes, FRACTAL_NZ operands; float kinds
// accumulate in float32 (float64 for float64), int8 in exact int32. The sum over k runs in the same
// order whatever the tile, the batch or the number of threads, so a row of the result never depends
// on its neighbours. Of each two depths the second one comes first, as in the instruction for two
// products of bfloat16.
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "ops/matmul/gemm_kernels.h"

namespace emu {

struct Matrix {
  const void *data = nullptr;
  aclDataType dtype = ACL_FLOAT;
  int64_t rows = 0, cols = 0;
  GemmAxis row, col;
  // Where not 0, what is read after this matrix lies like it, so many bytes behind each element: a
  // product of a few rows asks for it meanwhile.
  int64_t next = 0;

  Matrix transposed() const { return {data, dtype, cols, rows, col, row, next}; }
};

struct MatrixOut {
  void *data = nullptr;
  aclDataType dtype = ACL_FLOAT;
  int64_t row_stride = 0, col_stride = 0;
};

// out = round(alpha * (a @ b) + beta * addend + bias), everything before the rounding in float32
// (float64 for float64 operands). `addend` has the shape of out (strides of 0 broadcast); `bias` is
// a row of n values. A null `data` leaves the term out.
struct GemmEpilogue {
  double alpha = 1.0, beta = 1.0;
  Matrix addend;
  Matrix bias;
};

// A receiver of finished rows: `count` values of row `row` starting at column `col`. Called from
// several threads, each piece of the result once.
template <class T>
class RowSink {
 public:
  virtual void accept(int64_t row, int64_t col, int64_t count, const T *values) const = 0;

 protected:
  ~RowSink() = default;
};

bool gemm_is_float(aclDataType dtype);  // float32, float16, bfloat16: may be mixed
bool gemm_is_int8(aclDataType dtype);   // int8, uint8: may be mixed

// a (m, k) @ b (k, n). The dtypes are the caller's responsibility: both float kinds, both int8
// kinds (out int32 or a float kind), or both float64. Called from inside a parallel_for it stays on
// the calling thread, so a batch may be spread over the pool.
void gemm(const Matrix &a, const Matrix &b, const MatrixOut &out,
          const GemmEpilogue &epilogue = {});
// The same products with the accumulators handed to a sink instead of being stored: quantised
// operators scale and round there.
void gemm_f32(const Matrix &a, const Matrix &b, const RowSink<float> &sink);
void gemm_i32(const Matrix &a, const Matrix &b, const RowSink<int32_t> &sink);
void gemm_f64(const Matrix &a, const Matrix &b, const RowSink<double> &sink);
// c, whose rows lie `stride` elements apart and which neither operand overlaps, less the products.
void gemm_f64_less(const Matrix &a, const Matrix &b, double *c, int64_t stride);

// Reads `count` elements of a float kind, byte, int32 or float64 as float32; stores float32 as one
// of these with one rounding. Positions and strides in elements.
void load_f32(const void *source, aclDataType dtype, int64_t first, int64_t stride, int64_t count,
              float *out);
void store_f32(const float *values, void *target, aclDataType dtype, int64_t first, int64_t stride,
               int64_t count);

}  // namespace emu
