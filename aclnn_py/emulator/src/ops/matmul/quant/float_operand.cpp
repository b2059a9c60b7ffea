// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/quant/float_operand.h"

#include <algorithm>

#include "core/pool.h"
#include "ops/quant/low_codes.h"

namespace emu {

std::vector<float> low_values(const aclTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  const auto count = static_cast<int64_t>(values.size());
  const LowValues source(tensor);
  // Two elements may share a byte: pieces are of even length.
  parallel_for((count + kBlock - 1) / kBlock, 16, [&](int64_t first, int64_t last) {
    const int64_t begin = first * kBlock, end = std::min(last * kBlock, count);
    source.read(begin, end - begin, values.data() + begin);
  });
  return values;
}

Matrix as_float(const aclTensor &matrix, std::vector<float> &memory) {
  const Matrix m = matrix_stack(matrix).first;
  const bool nibbles = contains(kFloat4, matrix.dtype);
  // The data of numbers of 4 bits begin with the tensor's memory, not with its offset.
  const int64_t origin = nibbles ? matrix.offset : 0;
  const auto *bytes = static_cast<const uint8_t *>(m.data);
  float value_of[256];
  low_value_table(matrix.dtype, value_of);
  memory.resize(static_cast<size_t>(m.rows * m.cols));
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, m.cols));
  parallel_for(m.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = origin + m.row.at(i);
      float *to = memory.data() + i * m.cols;
      for (int64_t j = 0; j < m.cols; ++j) {
        const int64_t at = first + m.col.at(j);
        to[j] = value_of[nibbles ? bytes[at / 2] >> (at % 2 * 4) & 0xf : bytes[at]];
      }
    }
  });
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
