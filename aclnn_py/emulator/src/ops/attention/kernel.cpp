// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// softmax(scale * query @ keys^T + pse, masked) @ values, a block of rows at a time over tiles of
// the keys: no matrix of all scores is ever in memory.
//
// Numbers: products accumulate in float32, scores, powers and sums of powers are float32 (sums are
// collected in float64), and the result is rounded once, when it is stored. The NPU rounds the
// powers to the dtype of the values before the second product, so that it is less exact.
//
// Rows that meet no key:
// - outside the band or past the actual length, or without any key: the result is 0 and softmaxLse
// +inf. The
//   documents promise both (what is no data is inf).
// - all keys masked: with innerPrecise 2 or 3 the same, as documented. With 0 or 1 the documents
// only say that
//   such rows may lose precision; the published kernels put a large negative number where the mask
//   is set, so that the row becomes the average of the values it was kept from. So it does here,
//   and a program that relies on zeros sees that it has to ask for them.
#include "ops/attention/kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/pool.h"
#include "ops/float_kernels.h"
#include "ops/shared/low_codes.h"

namespace emu {
namespace {

constexpr int64_t kRows = 128;  // rows of a block: of all heads that share keys, token by token
// keys of a tile; tiles start at its multiples, so that a row adds up in one order
constexpr int64_t kTile = 512;
// pages of as many tokens are tiles: nothing is copied
constexpr int64_t kPageTile = 64;
constexpr float kMasked = std::numeric_limits<float>::lowest();
constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr int64_t kWorthATask = int64_t{1} << 18;  // multiplications

// The state of one row while its keys pass by. `token` counts from the first of its sequence.
struct Row {
  int64_t head, token;
  float highest, correction;
  double sum;
};

// Rounded and limited; NaN becomes 0.
float to_int8(float value) {
  return value == value ? std::clamp(std::nearbyint(value), -128.0f, 127.0f) : 0.0f;
}

// The rows, and where those lie that are read after them.
Matrix before(Matrix rows, const Matrix &next) {
  if (next.data && rows.dtype == next.dtype && rows.row.stride == next.row.stride &&
      rows.col.stride == next.col.stride)
    rows.next = static_cast<const char *>(next.data) - static_cast<const char *>(rows.data);
  return rows;
}

class ScoreSink final : public RowSink<float> {
 public:
  ScoreSink(float *scores, float scale) : scores_(scores), scale_(scale) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *to = scores_ + row * kTile + col;
    for (int64_t i = 0; i < count; ++i) to[i] = values[i] * scale_;
  }

 private:
  float *scores_;
  const float scale_;
};

// Adds the products of one tile to those of the tiles before it, which were made against a lower
// maximum.
class ResultSink final : public RowSink<float> {
 public:
  ResultSink(float *result, int64_t width, const std::vector<Row> &rows)
      : result_(result), width_(width), rows_(rows) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *to = result_ + row * width_ + col;
    const float correction = rows_[static_cast<size_t>(row)].correction;
    for (int64_t i = 0; i < count; ++i) to[i] = to[i] * correction + values[i];
  }

 private:
  float *result_;
  const int64_t width_;
  const std::vector<Row> &rows_;
};

// One block of rows after the other, in memory of its own.
class Worker {
 public:
  Worker(const Attention &attention, const AttentionOperand &operand, const Tokens &keys,
         const Tokens &values)
      : a_(attention),
        o_(operand),
        keys_(keys),
        values_(values),
        blocks_(blocks_of(attention)),
        tile_(a_.block_size >= kPageTile && a_.block_size <= kTile ? a_.block_size : kTile),
        full_width_(a_.width + a_.rope_width),
        brains_(o_.query.dtype == ACL_BF16 && !o_.query_scale.data &&
                (a_.rope_width == 0 || o_.rope.dtype == ACL_BF16)) {
    const int64_t rows = std::min(kRows, a_.queries * a_.group()),
                  tile = std::min(tile_, std::max<int64_t>(1, a_.keys));
    if (brains_) brain_query_.resize(static_cast<size_t>(rows * full_width_));
    else query_.resize(static_cast<size_t>(rows * full_width_));
    result_.resize(static_cast<size_t>(rows * a_.value_width));
    scores_.resize(static_cast<size_t>(rows * kTile));
    pse_.resize(o_.pse.data ? static_cast<size_t>(tile) : 0);
    room_.resize(std::max(keys_.room(tile), values_.room(tile)) / sizeof(float) + 1);
  }

  static int64_t blocks_of(const Attention &a) {
    return (a.queries * a.group() + kRows - 1) / kRows;
  }

  void run(int64_t task) {
    const int64_t block = task % blocks_, kv_head = task / blocks_ % a_.kv_heads,
                  batch = task / blocks_ / a_.kv_heads;
    start(batch, kv_head, block * kRows);
    if (rows_.empty()) return;
    const int64_t keys = o_.key_lengths[static_cast<size_t>(batch)];
    int64_t low = keys, high = 0;
    for (const Row &row : rows_) {
      low = std::min(low, first_key(batch, row));
      high = std::max(high, end_of_keys(batch, row));
    }
    const auto each_tile = [&](auto &&body) {
      for (int64_t first = low / tile_ * tile_; first < high; first += tile_)
        body(first, std::min(tile_, high - first));
    };
    if (a_.quantised) {
      // The powers are quantised after they were divided by their sum, so that it comes first.
      each_tile([&](int64_t first, int64_t count) { weigh(batch, kv_head, first, count); });
      each_tile([&](int64_t first, int64_t count) { average_bytes(batch, kv_head, first, count); });
    } else {
      // Each product asks for the memory of the next one: pages lie apart, and a tile is read too
      // fast for the processor to foresee them. After the last tile comes the next head.
      const auto keys_from = [&](int64_t first) {
        const int64_t head = kv_head + (first >= high);
        if (first >= high) first = low / tile_ * tile_;
        return head < a_.kv_heads
                   ? keys_.rows_there(batch, head, first, std::min(tile_, high - first))
                   : Matrix{};
      };
      each_tile([&](int64_t first, int64_t count) {
        weigh(batch, kv_head, first, count, values_.rows_there(batch, kv_head, first, count));
        average(batch, kv_head, first, count, keys_from(first + tile_));
      });
    }
    for (size_t i = 0; i < rows_.size(); ++i) finish(batch, static_cast<int64_t>(i));
  }

 private:
  int64_t first_key(int64_t batch, const Row &row) const {
    return std::max<int64_t>(0, row.token - a_.bands[static_cast<size_t>(batch)].before);
  }
  int64_t end_of_keys(int64_t batch, const Row &row) const {
    const auto b = static_cast<size_t>(batch);
    if (row.token < 0 || row.token >= a_.query_lengths[b]) return 0;
    const int64_t end = row.token + a_.bands[b].after + 1;
    return std::clamp<int64_t>(a_.reach.empty() ? end : std::max(end, a_.reach[b]), 0,
                               o_.key_lengths[b]);
  }
  static int64_t start_of(const std::vector<int64_t> &starts, int64_t batch) {
    return starts.empty() ? 0 : starts[static_cast<size_t>(batch)];
  }

  int64_t at(const Heads &heads, int64_t batch, const Row &row) const {
    return heads.at(batch, row.head, start_of(o_.query_starts, batch) + row.token);
  }

  void start(int64_t batch, int64_t kv_head, int64_t first) {
    const int64_t group = a_.group();
    // Behind the tokens of a packed sequence are those of the next; before those of a padded one
    // are tokens that meet nothing.
    const int64_t tokens = a_.packed() ? a_.query_lengths[static_cast<size_t>(batch)] : a_.queries;
    const int64_t end = std::min(first + kRows, tokens * group);
    const int64_t padding = a_.packed() ? 0 : start_of(o_.query_starts, batch);
    rows_.clear();
    for (int64_t i = first; i < end; ++i) {
      Row row{kv_head * group + i % group, i / group - padding, kNothing, 1.0f, 0.0};
      if (!o_.sink.empty()) {  // as if a key without a value had been there
        row.highest = o_.sink[static_cast<size_t>(row.head)];
        row.sum = 1.0;
      }
      rows_.push_back(row);
    }
    std::fill(result_.begin(), result_.end(), 0.0f);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const int64_t to = static_cast<int64_t>(i) * full_width_;
      if (brains_) copy_query(batch, rows_[i], brain_query_.data() + to);
      else load_query(batch, rows_[i], query_.data() + to);
    }
  }

  void copy_query(int64_t batch, const Row &row, uint16_t *to) const {
    copy_head(o_.query, at(o_.query, batch, row), a_.width, to);
    if (a_.rope_width != 0)
      copy_head(o_.rope, at(o_.rope, batch, row), a_.rope_width, to + a_.width);
  }

  void load_query(int64_t batch, const Row &row, float *to) const {
    load_head(o_.query, at(o_.query, batch, row), a_.width, to);
    if (o_.query_scale.data) {
      float scale;
      load_head(o_.query_scale, at(o_.query_scale, batch, row), 1, &scale);
      for (int64_t i = 0; i < a_.width; ++i) to[i] *= scale;
    }
    if (a_.rope_width != 0)
      load_head(o_.rope, at(o_.rope, batch, row), a_.rope_width, to + a_.width);
  }

  // The scores of a tile, with what is added to them and what hides them.
  void score(int64_t batch, int64_t kv_head, int64_t first, int64_t count,
             const Matrix &next = {}) {
    const int64_t rows = static_cast<int64_t>(rows_.size());
    Matrix query{query_.data(), ACL_FLOAT, rows, full_width_, {full_width_}, {1}};
    if (brains_) {
      query.data = brain_query_.data();
      query.dtype = ACL_BF16;
    }
    const Matrix keys = before(keys_.rows(batch, kv_head, first, count, room()), next);
    gemm_f32(query, keys.transposed(), ScoreSink(scores_.data(), a_.scale * o_.dequant1));
  }

  // Calls body(row, scores, key, n) for the n keys from `key` on of the tile that the row meets;
  // the scores of other keys become 0.
  template <class F>
  void each_row(int64_t batch, int64_t first, int64_t count, F &&body) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      Row &row = rows_[i];
      float *scores = scores_.data() + static_cast<int64_t>(i) * kTile;
      const int64_t end = std::clamp<int64_t>(end_of_keys(batch, row) - first, 0, count);
      const int64_t begin = std::clamp<int64_t>(first_key(batch, row) - first, 0, end);
      std::fill(scores, scores + begin, 0.0f);
      std::fill(scores + end, scores + count, 0.0f);
      row.correction = 1.0f;
      if (begin == end) continue;
      shift(batch, row, first + begin, end - begin, scores + begin);
      hide(batch, row, first + begin, end - begin, scores + begin);
      body(row, scores + begin, first + begin, end - begin);
    }
  }

  // The scores of a tile become powers, against the highest score so far.
  void weigh(int64_t batch, int64_t kv_head, int64_t first, int64_t count,
             const Matrix &next = {}) {
    score(batch, kv_head, first, count, next);
    each_row(batch, first, count, [&](Row &row, float *scores, int64_t key, int64_t n) {
      const FloatKernels &kernels = float_kernels();
      const float highest = std::max(row.highest, kernels.highest(scores, n));
      if (highest != row.highest) row.correction = std::exp(row.highest - highest);
      row.highest = highest;
      // Scores of -inf only: their powers are 0 until a higher one comes.
      const float reference = highest == kNothing ? 0.0f : highest;
      row.sum = row.sum * static_cast<double>(row.correction) +
                kernels.shifted_powers(scores, n, reference, false);
      if (o_.terms) o_.terms->drop(batch, row.head, row.token, key, n, scores);
    });
  }

  void average(int64_t batch, int64_t kv_head, int64_t first, int64_t count,
               const Matrix &next = {}) {
    const int64_t rows = static_cast<int64_t>(rows_.size());
    const Matrix powers{scores_.data(), ACL_FLOAT, rows, count, {kTile}, {1}};
    gemm_f32(powers, before(values_.rows(batch, kv_head, first, count, room()), next),
             ResultSink(result_.data(), a_.value_width, rows_));
  }

  void average_bytes(int64_t batch, int64_t kv_head, int64_t first, int64_t count) {
    score(batch, kv_head, first, count);
    each_row(batch, first, count, [&](Row &row, float *scores, int64_t, int64_t n) {
      const float reference = row.highest == kNothing ? 0.0f : row.highest;
      float_kernels().shifted_powers(scores, n, reference, false);
      const float factor = static_cast<float>(static_cast<double>(o_.quant1) / row.sum);
      for (int64_t i = 0; i < n; ++i) scores[i] = to_int8(scores[i] * factor);
    });
    average(batch, kv_head, first, count);
  }

  void shift(int64_t batch, const Row &row, int64_t first, int64_t count, float *scores) {
    if (o_.terms) o_.terms->shift(batch, row.head, row.token, first, count, scores);
    if (!o_.pse.data) return;
    const int64_t at = o_.pse.at(batch, row.head, start_of(o_.query_starts, batch) + row.token,
                                 start_of(o_.key_starts, batch) + first);
    load_f32(o_.pse.data, o_.pse.dtype, at, o_.pse.key, count, pse_.data());
    for (int64_t i = 0; i < count; ++i) scores[i] += pse_[static_cast<size_t>(i)];
  }

  void hide(int64_t batch, const Row &row, int64_t first, int64_t count, float *scores) const {
    if (!o_.mask.data) return;
    const auto b = static_cast<size_t>(batch);
    const char *mask = o_.mask.data;
    const int64_t step = o_.mask.key;
    if (a_.tree) {
      // Only the last tokens are in the tree; those before it are met by all.
      const int64_t queries = a_.query_lengths[b], root = o_.key_lengths[b] - queries,
                    skipped = std::max<int64_t>(0, root - first);
      if (skipped >= count) return;
      mask += o_.trees.empty()
                  ? o_.mask.at(batch, 0, row.token, first + skipped - root)
                  : (o_.trees[b] + row.token * queries + first + skipped - root) * step;
      scores += skipped;
      count -= skipped;
    } else {
      mask += o_.mask.at(batch, row.head,
                         a_.packed() ? row.token : start_of(o_.query_starts, batch) + row.token,
                         (a_.keys_padded ? start_of(o_.key_starts, batch) : 0) + first);
    }
    if (step == 1) {  // the usual case, in a loop that vectorises
      for (int64_t i = 0; i < count; ++i) scores[i] = mask[i] != 0 ? kMasked : scores[i];
    } else {
      for (int64_t i = 0; i < count; ++i) scores[i] = mask[i * step] != 0 ? kMasked : scores[i];
    }
  }

  void finish(int64_t batch, int64_t index) {
    const Row &row = rows_[static_cast<size_t>(index)];
    const int64_t width = a_.value_width;
    float *result = result_.data() + index * width;
    const bool empty = first_key(batch, row) >= end_of_keys(batch, row) ||
                       (a_.clear_masked_rows && row.highest == kMasked);
    const float factor = a_.quantised ? o_.dequant2 : static_cast<float>(1.0 / row.sum);
    for (int64_t i = 0; i < width; ++i) result[i] = empty ? 0.0f : result[i] * factor;
    if (!o_.quant2.empty() && !empty) quantise(row, result);
    const int64_t to = at(o_.out, batch, row);
    auto *data = const_cast<char *>(o_.out.data);
    if (o_.out.low()) {
      uint8_t code;
      for (int64_t i = 0; i < width; ++i) {
        encode_(result + i, 1, 1.0f, &code);
        data[to + i * o_.out.item] = static_cast<char>(code);
      }
    } else if (o_.out.dtype == ACL_INT8) {
      for (int64_t i = 0; i < width; ++i)
        data[to + i * o_.out.item] = static_cast<char>(static_cast<int8_t>(result[i]));
    } else {
      store_f32(result, data, o_.out.dtype, to, o_.out.item, width);
    }
    if (o_.terms) {
      const bool none = empty && o_.sink.empty();
      o_.terms->keep_sums(batch, row.head, row.token, none ? kNothing : row.highest,
                          none ? 0.0 : row.sum);
    }
    if (!o_.lse.data) return;
    const float lse = empty ? std::numeric_limits<float>::infinity()
                            : static_cast<float>(row.highest + std::log(row.sum));
    store_f32(&lse, const_cast<char *>(o_.lse.data), ACL_FLOAT, at(o_.lse, batch, row), 1, 1);
  }

  void quantise(const Row &row, float *result) const {
    const int64_t width = a_.value_width, first = a_.channel_results ? row.head * width : 0;
    for (int64_t i = 0; i < width; ++i) {
      const auto j = static_cast<size_t>(a_.channel_results ? first + i : 0);
      const float value = result[i] * o_.quant2[j] + (o_.offset2.empty() ? 0.0f : o_.offset2[j]);
      result[i] = o_.out.low() ? value : to_int8(value);
    }
  }

  char *room() { return static_cast<char *>(static_cast<void *>(room_.data())); }

  const Attention &a_;
  const AttentionOperand &o_;
  const Tokens &keys_, &values_;
  const int64_t blocks_, tile_, full_width_;
  // The query stays as it is: a product of bfloat16 is quicker and no different.
  const bool brains_;
  const EncodeFn encode_ = encoder(o_.out.dtype, LowRounding::kRint);  // of floats of 8 bits
  std::vector<Row> rows_;
  std::vector<uint16_t> brain_query_;
  std::vector<float> query_, scores_, result_, pse_, room_;
};

}  // namespace

void compute_attention(const Attention &a, const AttentionOperand &operand, const Tokens &keys,
                       const Tokens &values) {
  const int64_t tasks = a.batch * a.kv_heads * Worker::blocks_of(a);
  if (tasks == 0) return;  // packed sequences without tokens
  const int64_t work =
      std::max<int64_t>(1, a.queries * a.heads * a.batch / tasks * a.keys * a.width * 2);
  parallel_for(tasks, std::max<int64_t>(1, kWorthATask / work), [&](int64_t begin, int64_t end) {
    Worker worker(a, operand, keys, values);
    for (int64_t task = begin; task < end; ++task) worker.run(task);
  });
}

}  // namespace emu
