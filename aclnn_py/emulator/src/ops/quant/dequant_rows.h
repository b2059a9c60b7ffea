// SPDX-License-Identifier: Apache-2.0
// Rows of integers back to float32: (x + bias of integers) * scale of the column * scale of the
// row + bias of floats. Rows of floats are read as they are.
#pragma once

#include <optional>

#include "ops/shared/rows.h"

namespace emu {

class DequantRows {
 public:
  DequantRows(const View &x, int64_t width) : width_(width) {
    if (x.dtype == ACL_INT32 || x.dtype == ACL_INT8) integers_.emplace(x);
    else floats_.emplace(x);
  }
  // What stays empty is absent. The vectors of columns hold `width` values for each group, or one.
  std::vector<float> column_scales, row_scales, float_bias;
  std::vector<int64_t> integer_bias;

  void read(int64_t row, int64_t group, float *to) const {
    if (floats_) return floats_->read(row * width_, width_, to);
    std::vector<int64_t> sums(static_cast<size_t>(width_));
    integers_->read(row * width_, width_, sums.data());
    const float scale = row_scales.empty() ? 1.0f : row_scales[row_scales.size() == 1 ? 0 : row];
    for (int64_t i = 0; i < width_; ++i) {
      const int64_t sum = sums[static_cast<size_t>(i)] + at(integer_bias, group, i, int64_t{0});
      to[i] = static_cast<float>(sum) * at(column_scales, group, i, 1.0f) * scale +
              at(float_bias, group, i, 0.0f);
    }
  }

 private:
  template <class T>
  T at(const std::vector<T> &values, int64_t group, int64_t column, T absent) const {
    if (values.empty()) return absent;
    return values[values.size() == 1 ? 0 : static_cast<size_t>(group * width_ + column)];
  }

  int64_t width_;
  std::optional<RowSource<int64_t>> integers_;
  std::optional<RowSource<float>> floats_;
};

}  // namespace emu
