// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include <algorithm>
#include <vector>

#include "ops/matmul/dequantise.h"

#include "core/pool.h"
#include "ops/four_bits.h"
#include "ops/matmul/stack.h"
#include "ops/shared/packed_scale.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// `count` integers of a row of a matrix as float32. Two values of INT4 share a byte, the low half
// first; as half bytes have no address, `origin` is the position of their first element.
void load_integers(const Matrix &m, int64_t origin, int64_t row, int64_t count, float *out) {
  const int64_t first = m.row.at(row) + origin;
  if (m.dtype == ACL_INT8) {
    const auto *bytes = static_cast<const int8_t *>(m.data) + first;
    for (int64_t j = 0; j < count; ++j) out[j] = bytes[m.col.at(j)];
    return;
  }
  for (int64_t j = 0; j < count; ++j) out[j] = number_of_4_bits(m.data, first + m.col.at(j));
}

// Scale or offset as rows of one value per column; a single value stands for all.
class PerGroup {
 public:
  PerGroup(const aclTensor &tensor, int64_t columns) {
    matrix_ = tensor.rank() == 1 ? row_of(tensor) : matrix_stack(tensor).first;
    if (matrix_.cols == 1 && columns != 1) matrix_.col.stride = 0;
  }
  void load(int64_t group, int64_t count, float *out) const {
    load_f32(matrix_.data, matrix_.dtype, matrix_.row.at(group), matrix_.col.stride, count, out);
  }

 private:
  Matrix matrix_;
};

}  // namespace

Matrix dequantised_weight(const aclTensor &x2, const aclTensor &scale, const aclTensor *offset,
                          int64_t group_size, void *memory) {
  const Matrix quantised = matrix_stack(x2).first;
  const int64_t rows = quantised.rows, columns = quantised.cols,
                origin = x2.dtype == ACL_INT4 ? x2.offset : 0;
  const PerGroup scales(scale, columns);
  std::vector<PerGroup> offsets;
  if (offset) offsets.emplace_back(*offset, columns);
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, columns));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> values(static_cast<size_t>(columns)), factor(values.size()),
        shift(values.size(), 0.0f);
    int64_t loaded = -1;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = group_size > 0 ? i / group_size : 0;
      if (group != loaded) {
        scales.load(group, columns, factor.data());
        if (offset) offsets.front().load(group, columns, shift.data());
        loaded = group;
      }
      load_integers(quantised, origin, i, columns, values.data());
      for (size_t j = 0; j < values.size(); ++j) values[j] = (values[j] + shift[j]) * factor[j];
      store_f32(values.data(), memory, scale.dtype, i * columns, 1, columns);
    }
  });
  Matrix dense;
  dense.data = memory;
  dense.dtype = scale.dtype;
  dense.rows = rows;
  dense.cols = columns;
  dense.row.stride = columns;
  dense.col.stride = 1;
  return dense;
}

std::vector<float> values_of(const aclTensor &tensor) {
  const Matrix row = tensor.rank() == 1 ? row_of(tensor) : matrix_stack(tensor).first;
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  if (tensor.dtype == ACL_UINT64) {
    const auto *packed = static_cast<const uint64_t *>(row.data);
    for (size_t j = 0; j < values.size(); ++j)
      values[j] = unpack_scale(packed[row.col.at(static_cast<int64_t>(j))]);
  } else {
    load_f32(row.data, tensor.dtype, 0, row.col.stride, static_cast<int64_t>(values.size()),
             values.data());
  }
  return values;
}

std::vector<float> every_scale(const aclTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  const auto count = static_cast<int64_t>(values.size());
  View view = view_of(tensor);
  if (tensor.dtype == ACL_UINT64 || tensor.dtype == ACL_INT64) {
    std::vector<uint64_t> packed(values.size());
    view.dtype = ACL_UINT64;  // the same bits
    RowSource<uint64_t>(view).read(0, count, packed.data());
    std::transform(packed.begin(), packed.end(), values.begin(), unpack_scale);
  } else {
    RowSource<float>(view).read(0, count, values.data());
  }
  return values;
}

}  // namespace emu
