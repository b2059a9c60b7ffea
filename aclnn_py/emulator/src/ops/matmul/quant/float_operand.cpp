// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/quant/float_operand.h"

#include <algorithm>

#include "core/pool.h"
#include "ops/four_bits.h"
#include "ops/matmul/gemm.h"
#include "ops/shared/low_codes.h"

namespace emu {

namespace {

// Rows of matrices that lie in any order, or in blocks.
class LowRows {
 public:
  explicit LowRows(const aclTensor &tensor)
      : stack_(matrix_stack(tensor)),
        nibbles_(contains(kFloat4, tensor.dtype)),
        // The data of numbers of 4 bits begin with the tensor's memory, not with its offset.
        origin_(nibbles_ ? tensor.offset : 0) {
    low_value_table(tensor.dtype, value_of_);
  }

  // Row `line` of all rows of the stack.
  void read(int64_t line, float *to) const {
    const Matrix &m = stack_.first;
    const auto *bytes = static_cast<const uint8_t *>(m.data);
    int64_t rest = line / m.rows, first = origin_ + m.row.at(line % m.rows);
    for (int d = stack_.batch.rank - 1; d >= 0; --d) {
      first += rest % stack_.batch.shape[d] * stack_.batch.stride[d];
      rest /= stack_.batch.shape[d];
    }
    for (int64_t j = 0; j < m.cols; ++j) {
      const int64_t at = first + m.col.at(j);
      to[j] = value_of_[nibbles_ ? code_of_4_bits(bytes, at) : bytes[at]];
    }
  }

  // Every row of the first `count`.
  void read_all(int64_t count, float *to) const {
    const int64_t cols = stack_.first.cols;
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, cols));
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) read(line, to + line * cols);
    });
  }

  const Matrix &first() const { return stack_.first; }

 private:
  const MatrixStack stack_;
  const bool nibbles_;
  const int64_t origin_;
  float value_of_[256];
};

}  // namespace

std::vector<float> low_values(const aclTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  const auto count = static_cast<int64_t>(values.size());
  if (is_fractal(tensor) && tensor.rank() >= 2) {
    if (count > 0) LowRows(tensor).read_all(count / tensor.shape.back(), values.data());
    return values;
  }
  const LowValues source(tensor);
  // Two elements may share a byte: pieces are of even length.
  parallel_for((count + kBlock - 1) / kBlock, 16, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kBlock, end = std::min(last * kBlock, count);
    source.read(begin, end - begin, values.data() + begin);
  });
  return values;
}

std::vector<uint16_t> scaled_columns(const aclTensor &matrix, const std::vector<float> &scale,
                                     aclDataType dtype) {
  const LowRows rows(matrix);
  const Matrix &m = rows.first();
  std::vector<uint16_t> values(static_cast<size_t>(m.rows * m.cols));
  parallel_for(m.rows, 16, [&](int64_t begin, int64_t end) {
    std::vector<float> row(static_cast<size_t>(m.cols));
    for (int64_t i = begin; i < end; ++i) {
      rows.read(i, row.data());
      for (int64_t j = 0; j < m.cols; ++j) row[j] *= scale[scale.size() == 1 ? 0 : j];
      store_f32(row.data(), values.data(), dtype, i * m.cols, 1, m.cols);
    }
  });
  return values;
}

Matrix as_float(const aclTensor &matrix, std::vector<float> &memory) {
  const LowRows rows(matrix);
  const Matrix &m = rows.first();
  memory.resize(static_cast<size_t>(m.rows * m.cols));
  rows.read_all(m.rows, memory.data());
  Matrix dense;
  dense.data = memory.data();
  dense.dtype = ACL_FLOAT;
  dense.rows = m.rows;
  dense.cols = m.cols;
  dense.row = {m.cols, 0, 0};
  dense.col = {1, 0, 0};
  return dense;
}

FloatStack::FloatStack(const aclTensor &tensor) : memory_(low_values(tensor)) {
  View dense;
  dense.data = reinterpret_cast<char *>(memory_.data());
  dense.dtype = ACL_FLOAT;
  dense.layout = dense_like(layout_of(tensor));
  stack_ = matrix_stack(dense);
}

}  // namespace emu
