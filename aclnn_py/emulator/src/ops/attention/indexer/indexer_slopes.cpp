// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/attention/indexer/indexer_slopes.h"

#include <cmath>

#include "ops/float_kernels.h"

namespace emu {
namespace {

class CopiedRows final : public RowSink<float> {
 public:
  CopiedRows(float *to, int64_t pitch) : to_(to), pitch_(pitch) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    std::copy(values, values + count, to_ + row * pitch_ + col);
  }

 private:
  float *to_;
  const int64_t pitch_;
};

Matrix dense_rows(const float *data, int64_t rows, int64_t cols) {
  return {data, ACL_FLOAT, rows, cols, {cols}, {1}};
}

}  // namespace

IndexerSlopes::IndexerSlopes(const IndexerOperands &operands)
    : o_(operands),
      products_(static_cast<size_t>(o_.tokens * o_.heads * o_.keys)),
      scores_(static_cast<size_t>(o_.tokens * o_.keys), 0.0f) {
  if (o_.keys == 0) return;
  gemm_f32(dense_rows(o_.query, o_.tokens * o_.heads, o_.width),
           dense_rows(o_.key, o_.keys, o_.width).transposed(),
           CopiedRows(products_.data(), o_.keys));
  for (int64_t row = 0; row < o_.tokens * o_.heads; ++row) {
    const float *__restrict from = products_.data() + row * o_.keys;
    float *__restrict to = scores_.data() + row / o_.heads * o_.keys;
    const float weight = o_.weights[row];
    for (int64_t j = 0; j < o_.keys; ++j) to[j] += weight * (from[j] < 0.0f ? 0.0f : from[j]);
  }
}

void IndexerSlopes::back(const float *slopes, const std::vector<int64_t> &places,
                         GatheredSums *sums, float *query, float *weights) {
  const int64_t rows = o_.tokens * o_.heads;
  if (o_.keys == 0) {
    std::fill(query, query + rows * o_.width, 0.0f);
    std::fill(weights, weights + rows, 0.0f);
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    // Products become their gradients.
    float *__restrict product = products_.data() + row * o_.keys;
    const float *__restrict slope = slopes + row / o_.heads * o_.keys;
    const float weight = o_.weights[row];
    double sum = 0.0;
    for (int64_t j = 0; j < o_.keys; ++j) {
      const bool positive = product[j] > 0.0f;
      sum += positive ? static_cast<double>(slope[j]) * product[j] : 0.0;
      product[j] = positive ? weight * slope[j] : 0.0f;
    }
    weights[row] = static_cast<float>(sum);
  }
  const Matrix slope = dense_rows(products_.data(), rows, o_.keys);
  gemm_f32(slope, dense_rows(o_.key, o_.keys, o_.width), CopiedRows(query, o_.width));
  sums->add_to_keys(slope.transposed(), dense_rows(o_.query, rows, o_.width), places, 1.0f);
}

double softmax_in_place(float *row, int64_t count) {
  if (count == 0) return 0.0;
  const float highest = float_kernels().highest(row, count);
  const double sum = float_kernels().shifted_powers(row, count, highest, false);
  const auto factor = static_cast<float>(1.0 / sum);
  for (int64_t i = 0; i < count; ++i) row[i] *= factor;
  return highest + std::log(sum);
}

}  // namespace emu
