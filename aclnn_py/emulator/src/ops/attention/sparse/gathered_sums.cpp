// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/attention/sparse/gathered_sums.h"

#include "ops/float_kernels.h"

namespace emu {
namespace {

void add_row(const float *__restrict from, int64_t count, float scale, float *__restrict to) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i] * scale;
}

class StoredRows final : public RowSink<float> {
 public:
  StoredRows(float *to, int64_t pitch, float scale) : to_(to), pitch_(pitch), scale_(scale) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *to = to_ + row * pitch_ + col;
    for (int64_t i = 0; i < count; ++i) to[i] = values[i] * scale_;
  }

 private:
  float *to_;
  const int64_t pitch_;
  const float scale_;
};

class AddedRows final : public RowSink<float> {
 public:
  AddedRows(float *to, int64_t pitch, const std::vector<int64_t> &places, float scale)
      : to_(to), pitch_(pitch), places_(places), scale_(scale) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    add_row(values, count, scale_, to_ + places_[static_cast<size_t>(row)] * pitch_ + col);
  }

 private:
  float *to_;
  const int64_t pitch_;
  const std::vector<int64_t> &places_;
  const float scale_;
};

bool repeats(const std::vector<int64_t> &places) {
  std::vector<bool> met(static_cast<size_t>(*std::max_element(places.begin(), places.end())) + 1);
  for (const int64_t place : places) {
    if (met[static_cast<size_t>(place)]) return true;
    met[static_cast<size_t>(place)] = true;
  }
  return false;
}

// Rows of the product arrive on several threads: those of one place are added one after another.
void add_product(const Matrix &left, const Matrix &right, const std::vector<int64_t> &places,
                 float scale, int64_t pitch, float *to) {
  if (places.empty()) return;
  if (!repeats(places)) return gemm_f32(left, right, AddedRows(to, pitch, places, scale));
  std::vector<float> product(static_cast<size_t>(left.rows * right.cols));
  gemm_f32(left, right, StoredRows(product.data(), right.cols, scale));
  for (size_t i = 0; i < places.size(); ++i)
    add_row(product.data() + static_cast<int64_t>(i) * right.cols, right.cols, 1.0f,
            to + places[i] * pitch);
}

Matrix dense(const float *data, int64_t rows, int64_t cols, int64_t pitch) {
  return {data, ACL_FLOAT, rows, cols, {pitch}, {1}};
}

}  // namespace

void GatheredSums::add_to_keys(const Matrix &left, const Matrix &right,
                               const std::vector<int64_t> &places, float scale) {
  add_product(left, right, places, scale, width_, key_.data());
}

void GatheredSums::add_to_values(const Matrix &left, const Matrix &right,
                                 const std::vector<int64_t> &places) {
  add_product(left, right, places, 1.0f, value_width_, value_.data());
}

void GatheredSums::add(const GatheredSums &other) {
  add_row(other.key_.data(), static_cast<int64_t>(key_.size()), 1.0f, key_.data());
  add_row(other.value_.data(), static_cast<int64_t>(value_.size()), 1.0f, value_.data());
}

void attend_back(const GatheredAttention &a, const GatheredStatistics &rows,
                 const std::vector<int64_t> &places, GatheredSums *sums, GatheredSlopes *found) {
  const int64_t all = a.rows * a.keys;
  found->query.assign(static_cast<size_t>(a.rows * a.width), 0.0f);
  found->chances.clear();
  if (a.keys == 0) return;
  const bool united = sums->united();
  // The slopes of the scores, and behind them their chances.
  std::vector<float> both(static_cast<size_t>(2 * all));
  float *slopes = both.data(), *chances = slopes + all;
  const Matrix query = dense(a.query, a.rows, a.width, a.width),
               key = dense(a.key, a.keys, a.width, a.width),
               value = united ? dense(a.key, a.keys, a.value_width, a.width)
                              : dense(a.value, a.keys, a.value_width, a.value_width),
               dy = dense(rows.slopes, a.rows, a.value_width, a.value_width),
               slope = dense(slopes, a.rows, a.keys, a.keys),
               chance = dense(chances, a.rows, a.keys, a.keys);
  gemm_f32(query, key.transposed(), StoredRows(chances, a.keys, a.scale));
  gemm_f32(dy, value.transposed(), StoredRows(slopes, a.keys, 1.0f));
  for (size_t i = 0; i < static_cast<size_t>(a.rows); ++i) {
    const auto first = static_cast<int64_t>(i) * a.keys;
    float *__restrict p = chances + first, *__restrict s = slopes + first;
    float_kernels().shifted_powers(p, a.keys, rows.references[i], false);
    const float factor = rows.factors[i], along = rows.along[i], scale = a.scale;
    for (int64_t j = 0; j < a.keys; ++j) {
      p[j] *= factor;
      s[j] = scale * p[j] * (s[j] - along);
    }
  }
  gemm_f32(slope, key, StoredRows(found->query.data(), a.width, 1.0f));
  if (united) {
    // One product adds what a key gets as a key and what it gets as a value.
    std::vector<float> operands(static_cast<size_t>(2 * a.rows * a.width), 0.0f);
    std::copy(a.query, a.query + a.rows * a.width, operands.begin());
    for (int64_t i = 0; i < a.rows; ++i)
      std::copy(rows.slopes + i * a.value_width, rows.slopes + (i + 1) * a.value_width,
                operands.begin() + (a.rows + i) * a.width);
    sums->add_to_keys(dense(slopes, 2 * a.rows, a.keys, a.keys).transposed(),
                      dense(operands.data(), 2 * a.rows, a.width, a.width), places, 1.0f);
  } else {
    sums->add_to_keys(slope.transposed(), query, places, 1.0f);
    sums->add_to_values(chance.transposed(), dy, places);
  }
  if (a.with_chances) found->chances.assign(chances, chances + all);
}

}  // namespace emu
