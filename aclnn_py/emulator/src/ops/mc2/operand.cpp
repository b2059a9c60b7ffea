// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/mc2/operand.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/pool.h"

namespace emu {

OperandMatrix::OperandMatrix(const aclTensor &tensor, bool transposed) {
  if (tensor.dtype == ACL_INT4) {
    unpack(tensor.data, tensor.offset, tensor.shape[0], tensor.strides[0], tensor.shape[1],
           tensor.strides[1]);
  } else {
    matrix_ = matrix_stack(tensor).first;
  }
  if (transposed) matrix_ = matrix_.transposed();
}

OperandMatrix::OperandMatrix(const void *rows, aclDataType dtype, int64_t count, int64_t width) {
  if (dtype == ACL_INT4) {
    unpack(rows, 0, count, width, width, 1);
    return;
  }
  const int64_t shape[] = {count, width};
  char *data = const_cast<char *>(static_cast<const char *>(rows));
  matrix_ = matrix_stack(View{data, dtype, dense_layout(shape, 2)}).first;
}

void OperandMatrix::unpack(const void *nibbles, int64_t first, int64_t rows, int64_t row_stride,
                           int64_t columns, int64_t column_stride) {
  const auto *bytes = static_cast<const uint8_t *>(nibbles);
  unpacked_.resize(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t at = first + i * row_stride + j * column_stride;
      const int value = bytes[at / 2] >> (at % 2 * 4) & 15;
      unpacked_[static_cast<size_t>(i * columns + j)] =
          static_cast<int8_t>(value < 8 ? value : value - 16);
    }
  }
  const int64_t shape[] = {rows, columns};
  char *data = reinterpret_cast<char *>(unpacked_.data());
  matrix_ = matrix_stack(View{data, ACL_INT8, dense_layout(shape, 2)}).first;
}

Check &check_packed_operand(Check &check, const char *parameter, const aclTensor *tensor) {
  if (!check.ok() || tensor == nullptr || !halves_bytes(tensor->dtype)) return check;
  return check.that(
      tensor->offset % 2 == 0 && (layout_of(*tensor).is_dense() || is_transposed_view(*tensor)),
      "%s has dtype %s; then it must be contiguous, or a transposed view, and start at a whole "
      "byte",
      parameter, dtype_name(tensor->dtype));
}

void copy_operand(const aclTensor &tensor, void *to) {
  if (halves_bytes(tensor.dtype)) {
    std::memcpy(to, static_cast<const char *>(tensor.data) + tensor.offset / 2,
                operand_bytes(tensor.dtype, tensor.numel()));
    return;
  }
  const View from = view_of(tensor);
  copy_view(from, {static_cast<char *>(to), from.dtype, dense_like(from.layout)});
}

void quantise_operand(const Matrix &rows, const std::vector<float> &smooth, float highest,
                      QuantisedRows *result) {
  const int64_t width = rows.cols;
  result->values.resize(static_cast<size_t>(rows.rows * width));
  result->scales.resize(static_cast<size_t>(rows.rows));
  parallel_for(rows.rows, 4, [&](int64_t begin, int64_t end) {
    std::vector<float> x(static_cast<size_t>(width));
    for (int64_t i = begin; i < end; ++i) {
      load_f32(rows.data, rows.dtype, rows.row.at(i), rows.col.stride, width, x.data());
      float most = 0;
      for (int64_t j = 0; j < width; ++j) {
        float &value = x[static_cast<size_t>(j)];
        if (!smooth.empty()) value *= smooth[static_cast<size_t>(j)];
        most = std::fabs(value) > most ? std::fabs(value) : most;
      }
      const float scale = most / highest;
      result->scales[static_cast<size_t>(i)] = scale;
      for (int64_t j = 0; j < width; ++j) {
        const float value = std::nearbyint(x[static_cast<size_t>(j)] / scale);
        result->values[static_cast<size_t>(i * width + j)] = static_cast<int8_t>(
            std::isnan(value) ? 0 : std::min(std::max(value, -highest - 1), highest));
      }
    }
  });
  const int64_t shape[] = {rows.rows, width};
  char *data = reinterpret_cast<char *>(result->values.data());
  result->matrix = matrix_stack(View{data, ACL_INT8, dense_layout(shape, 2)}).first;
}

}  // namespace emu
