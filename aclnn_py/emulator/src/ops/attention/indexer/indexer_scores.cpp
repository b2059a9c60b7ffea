// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include <algorithm>

#include "ops/attention/indexer/indexer.h"

namespace emu {
namespace {

constexpr int64_t kTile = 512;  // keys whose elements are gathered at a time

// Adds weight * relu(score) of every head to the score of a key. Rows are the heads of one token
// after those of another.
class ReluSink final : public RowSink<float> {
 public:
  ReluSink(const float *weights, const float *row_scales, const float *key_scales, int64_t heads,
           float *to, int64_t pitch)
      : weights_(weights),
        row_scales_(row_scales),
        key_scales_(key_scales),
        heads_(heads),
        to_(to),
        pitch_(pitch) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    // One of the loops, each of which vectorises, passes over every score of every head.
    float *__restrict to = to_ + row / heads_ * pitch_ + col;
    const float weight = weights_[row];
    if (!key_scales_) {
      for (int64_t i = 0; i < count; ++i) to[i] += weight * (values[i] < 0.0f ? 0.0f : values[i]);
      return;
    }
    const float scale = row_scales_ ? row_scales_[row] : 1.0f;
    const float *scales = key_scales_ + col;
    for (int64_t i = 0; i < count; ++i) {
      const float score = values[i] * (scale * scales[i]);
      to[i] += weight * (score < 0.0f ? 0.0f : score);
    }
  }

 private:
  const float *weights_, *row_scales_, *key_scales_;
  const int64_t heads_;
  float *to_;
  const int64_t pitch_;
};

}  // namespace

void indexer_scores(const IndexerTensors &t, int64_t batch, int64_t first, int64_t queries,
                    int64_t keys, std::vector<float> *scores) {
  const int64_t rows = queries * t.heads, width = t.query->width();
  scores->assign(static_cast<size_t>(queries * keys), 0.0f);
  std::vector<float> query(static_cast<size_t>(rows * width)), weights(static_cast<size_t>(rows)),
      row_scales(t.query_scale ? weights.size() : 0),
      key(static_cast<size_t>(std::min(kTile, keys) * width)),
      key_scales(t.key_scale ? static_cast<size_t>(std::min(kTile, keys)) : 0);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t token = first + i / t.heads, head = i % t.heads;
    t.query->load(batch, head, token, query.data() + i * width);
    t.weights->load(batch, head, token, weights.data() + i);
    if (t.query_scale) t.query_scale->load(batch, head, token, row_scales.data() + i);
  }
  const Matrix few{query.data(), ACL_FLOAT, rows, width, {width}, {1}};
  for (int64_t start = 0; start < keys; start += kTile) {
    const int64_t count = std::min(kTile, keys - start);
    for (int64_t j = 0; j < count; ++j) {
      t.key->load(batch, 0, start + j, key.data() + j * width);
      if (t.key_scale) t.key_scale->load(batch, 0, start + j, key_scales.data() + j);
    }
    const Matrix many{key.data(), ACL_FLOAT, count, width, {width}, {1}};
    gemm_f32(
        few, many.transposed(),
        ReluSink(weights.data(), t.query_scale ? row_scales.data() : nullptr,
                 t.key_scale ? key_scales.data() : nullptr, t.heads, scores->data() + start, keys));
  }
}

}  // namespace emu
