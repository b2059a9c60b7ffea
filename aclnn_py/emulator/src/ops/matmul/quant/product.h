// SPDX-License-Identifier: Apache-2.0
// Products of two quantised matrices: exact sums of 32 bits, then bias, scales, offset and the one
// rounding. Phase one hands over tensors and what they mean; everything else happens in phase two.
#pragma once

#include <vector>

#include "ops/matmul/stack.h"

namespace emu {

// How the int32 sums of a product become its result, in this order; an absent part is left out.
struct Dequantised {
  const int32_t *integer_bias = nullptr;  // added to the sums, which wrap around
  int64_t integer_bias_step = 0;
  std::vector<float> column_scale;  // one value, or one for each column
  std::vector<float> row_scale;     // one value, or one for each row
  std::vector<float> column_shift;  // a bias of floats or an offset: one value, or one per column
  // a function of the values, in place
  void (*then)(float *values, int64_t count) = nullptr;
};

// Stores int32 sums as the dtype of `out`; int32 takes the sums with their bias and nothing else.
class DequantisedStore : public RowSink<int32_t> {
 public:
  DequantisedStore(const Dequantised &form, const MatrixOut &out) : form_(form), out_(out) {}
  void accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const override;

 private:
  const Dequantised &form_;
  const MatrixOut out_;
};

// Float32 values as a float kind, or as int8 to the nearest number, half to even; NaN becomes 0.
void store_quantised(const float *values, const MatrixOut &out, int64_t row, int64_t col,
                     int64_t count);

// Stores float32 sums, plus bias, with one rounding.
class RoundedStore final : public RowSink<float> {
 public:
  MatrixOut out;
  std::vector<float> bias;  // a value per column, or none

  void accept(int64_t row, int64_t col, int64_t count, const float *sums) const override;
};

// Stores float32 sums, plus bias, as scaled and shifted numbers of 8 bits.
class RequantisedStore final : public RowSink<float> {
 public:
  MatrixOut out;
  std::vector<float> bias, scale, shift;  // one value, or one per column; bias and shift may lack

  void accept(int64_t row, int64_t col, int64_t count, const float *sums) const override;
};

// Products whose scales change along the inner axis: the parts of the sum are scaled and added in
// float32, in order.
class GroupedSums {
 public:
  GroupedSums(int64_t rows, int64_t cols);
  // Blocks of 128: row_scale (rows, k / 128), column_scale (cols / 128, k / 128).
  void add_blocks(const Matrix &a, const Matrix &b, const std::vector<float> &row_scale,
                  const std::vector<float> &column_scale);
  // Groups of 256 of the inner axis: scale and offset (k / 256, cols). The offset is taken off the
  // numbers of b.
  void add_groups(const Matrix &a, const Matrix &b, const std::vector<float> &scale,
                  const std::vector<float> &offset);
  // a @ b, each element times the scales of its row and of its column.
  void add_scaled(const Matrix &a, const Matrix &b, const float *row_scale,
                  const float *column_scale);
  void scale_rows(const std::vector<float> &scale);
  // `shift` has a value for each column, or none.
  void store(const std::vector<float> &shift, const MatrixOut &out);

 private:
  int64_t rows_, cols_;
  std::vector<float> sums_;
};

// Every value of a vector, or of a matrix of one row, as float32; scales of 64 bits are unpacked.
std::vector<float> scale_values(const aclTensor &tensor);
// The offsets that scales of 64 bits hold; empty when none of them holds one.
std::vector<float> packed_offsets(const aclTensor &tensor);

// Whether the bytes that two tensors reach overlap.
bool memory_overlaps(const aclTensor &a, const aclTensor &b);

}  // namespace emu
