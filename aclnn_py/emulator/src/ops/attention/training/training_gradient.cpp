// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradient of attention. Powers are made again from the scores and the statistics of the
// forward form, tile by tile: with P the softmax and D the row sums of dy * out,
// dV = P^T dy, dS = P * (dy V^T - D), dQ = scale * dS K, dK = scale * dS^T Q.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/pool.h"
#include "ops/attention/training/training.h"
#include "ops/float_kernels.h"

namespace emu {
namespace {

constexpr int64_t kRows = 256, kTile = 256, kLanes = 8;
// Few sequences and heads are shared out by their keys, in as many parts whatever the number of
// threads.
constexpr int64_t kFew = 8, kParts = 4;
constexpr float kMasked = std::numeric_limits<float>::lowest();

class Store final : public RowSink<float> {
 public:
  Store(float *to, int64_t stride) : to_(to), stride_(stride) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    std::copy_n(values, count, to_ + row * stride_ + col);
  }

 private:
  float *to_;
  const int64_t stride_;
};

class Sum final : public RowSink<float> {
 public:
  Sum(float *to, int64_t stride) : to_(to), stride_(stride) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *to = to_ + row * stride_ + col;
    for (int64_t i = 0; i < count; ++i) to[i] += values[i];
  }

 private:
  float *to_;
  const int64_t stride_;
};

Matrix rows_of(const std::vector<float> &values, int64_t rows, int64_t columns, int64_t stride) {
  return {values.data(), ACL_FLOAT, rows, columns, {stride}, {1}};
}

// A head in two parts, of which the rotary one may be absent.
struct WholeHead {
  Heads plain, rope;
  int64_t width = 0, rope_width = 0;

  void load(int64_t b, int64_t head, int64_t token, float *to) const {
    load_head(plain, plain.at(b, head, token), width, to);
    if (rope_width != 0) load_head(rope, rope.at(b, head, token), rope_width, to + width);
  }
  void store(int64_t b, int64_t head, int64_t token, const float *from) const {
    put(plain, plain.at(b, head, token), width, from);
    if (rope_width != 0) put(rope, rope.at(b, head, token), rope_width, from + width);
  }
  static void put(const Heads &to, int64_t at, int64_t width, const float *from) {
    store_f32(from, const_cast<char *>(to.data), to.dtype, at, to.item, width);
  }
};

struct GradientOperands {
  WholeHead query, key, value, dy, out, dq, dk, dv;
  std::vector<float> highest, sum;
};

class GradientRun {
 public:
  GradientRun(TrainingTerms &terms, PlanContext &c)
      : terms_(terms), t_(terms.training()), a_(terms.attention()), c_(c) {}

  void run() {
    load();
    const int64_t pairs = a_.batch * a_.kv_heads;
    parts_ = pairs >= kFew ? 1 : std::clamp<int64_t>(a_.keys / kTile, 1, kParts);
    sinks_.assign(static_cast<size_t>(a_.batch * a_.heads), 0.0);
    sums_.resize(static_cast<size_t>(parts_ == 1 ? 0 : pairs * parts_));
    const int64_t work = a_.queries * a_.group() * a_.keys * a_.width;
    parallel_for(pairs * parts_, std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, work)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t task = begin; task < end; ++task) part(task);
                 });
    if (parts_ > 1) {
      parallel_for(pairs, 1, [&](int64_t begin, int64_t end) {
        for (int64_t pair = begin; pair < end; ++pair) join(pair);
      });
    }
    if (a_.packed()) clear_unused();
    store_sinks();
  }

 private:
  void load() {
    const auto results = {t_.query_gradient_at,      t_.key_gradient_at,      t_.value_gradient_at,
                          t_.query_rope_gradient_at, t_.key_rope_gradient_at, t_.sink_gradient_at};
    terms_.read_pairs(results);
    const auto whole = [&](size_t at, size_t rope_at, int64_t width) {
      WholeHead h{terms_.operand(at, a_.query_form, width, results), {}, width, 0};
      if (rope_at == kAbsent || a_.rope_width == 0) return h;
      h.rope_width = a_.rope_width;
      h.rope = terms_.operand(rope_at, a_.query_form, h.rope_width, results);
      return h;
    };
    o_.query = whole(a_.query_at, a_.query_rope_at, a_.width);
    o_.key = whole(a_.key_at, a_.key_rope_at, a_.width);
    o_.value = whole(a_.value_at, kAbsent, a_.value_width);
    o_.dy = whole(t_.dy_at, kAbsent, a_.value_width);
    o_.out = whole(a_.out_at, kAbsent, a_.value_width);
    const auto result = [&](size_t at, size_t rope_at, int64_t width) {
      WholeHead h{terms_.heads(at, a_.query_form, width), {}, width, 0};
      if (rope_at == kAbsent || a_.rope_width == 0) return h;
      h.rope_width = a_.rope_width;
      h.rope = terms_.heads(rope_at, a_.query_form, h.rope_width);
      return h;
    };
    o_.dq = result(t_.query_gradient_at, t_.query_rope_gradient_at, a_.width);
    o_.dk = result(t_.key_gradient_at, t_.key_rope_gradient_at, a_.width);
    o_.dv = result(t_.value_gradient_at, kAbsent, a_.value_width);
    o_.highest = read_all<float>(c_, t_.highest_at, c_.tensor(t_.highest_at).numel(), 0.0f);
    o_.sum = read_all<float>(c_, t_.sum_at, c_.tensor(t_.sum_at).numel(), 0.0f);
  }

  int64_t full() const { return a_.width + a_.rope_width; }
  int64_t queries(int64_t b) const { return a_.query_lengths[static_cast<size_t>(b)]; }
  int64_t keys(int64_t b) const { return a_.key_lengths[static_cast<size_t>(b)]; }
  static int64_t start_of(const std::vector<int64_t> &starts, int64_t b) {
    return starts.empty() ? 0 : starts[static_cast<size_t>(b)];
  }
  int64_t query_at(int64_t b, int64_t token) const { return start_of(a_.query_starts, b) + token; }
  int64_t key_at(int64_t b, int64_t token) const { return start_of(a_.key_starts, b) + token; }
  int64_t first_key(int64_t b, int64_t token) const {
    return std::max<int64_t>(0, token - a_.bands[static_cast<size_t>(b)].before);
  }
  int64_t end_of_keys(int64_t b, int64_t token) const {
    const auto i = static_cast<size_t>(b);
    const int64_t end = token + a_.bands[i].after + 1;
    return std::clamp<int64_t>(a_.reach.empty() ? end : std::max(end, a_.reach[i]), 0, keys(b));
  }

  // What one part works with: rows are the tokens of all heads that share keys.
  struct Room {
    int64_t b, kv_head, rows;
    std::vector<float> along;  // the row sums of dy * out
    std::vector<float> *sum;   // of the gradient of the queries
    std::vector<float> key, value, key_sum, value_sum, query, dy, scores, slopes;
  };

  int64_t head_of(const Room &r, int64_t row) const {
    return r.kv_head * a_.group() + row % a_.group();
  }
  int64_t token_of(int64_t row) const { return row / a_.group(); }

  void part(int64_t task) {
    const int64_t pair = task / parts_, part = task % parts_;
    Room r{};
    r.b = pair / a_.kv_heads;
    r.kv_head = pair % a_.kv_heads;
    r.rows = queries(r.b) * a_.group();
    std::vector<float> own;
    r.sum = parts_ == 1 ? &own : &sums_[static_cast<size_t>(task)];
    r.sum->assign(static_cast<size_t>(r.rows * full()), 0.0f);
    row_sums(r, part == 0);
    const int64_t tiles = (keys(r.b) + kTile - 1) / kTile;
    for (int64_t i = part * tiles / parts_; i < (part + 1) * tiles / parts_; ++i)
      tile(r, i * kTile, std::min(kTile, keys(r.b) - i * kTile));
    if (parts_ == 1) store_queries(r, own);
  }

  void row_sums(Room &r, bool with_sinks) {
    r.along.resize(static_cast<size_t>(r.rows));
    const auto width = static_cast<size_t>(a_.value_width);
    std::vector<float> dy(width), out(width);
    const auto &sink = terms_.attention_operand().sink;
    for (int64_t row = 0; row < r.rows; ++row) {
      const int64_t head = head_of(r, row), token = token_of(row);
      o_.dy.load(r.b, head, query_at(r.b, token), dy.data());
      o_.out.load(r.b, head, query_at(r.b, token), out.data());
      double sum = 0.0;
      for (size_t i = 0; i < width; ++i) sum += static_cast<double>(dy[i]) * out[i];
      r.along[static_cast<size_t>(row)] = static_cast<float>(sum);
      if (!with_sinks || sink.empty()) continue;
      const auto at = static_cast<size_t>(terms_.statistics_at(r.b, head, token) * kLanes);
      const double share =
          std::exp(static_cast<double>(sink[static_cast<size_t>(head)]) - o_.highest[at]) /
          o_.sum[at];
      if (o_.sum[at] > 0.0f) sinks_[static_cast<size_t>(r.b * a_.heads + head)] -= share * sum;
    }
  }

  void tile(Room &r, int64_t first, int64_t count) {
    const int64_t width = a_.value_width;
    r.key.resize(static_cast<size_t>(count * full()));
    r.value.resize(static_cast<size_t>(count * width));
    for (int64_t i = 0; i < count; ++i) {
      o_.key.load(r.b, r.kv_head, key_at(r.b, first + i), r.key.data() + i * full());
      o_.value.load(r.b, r.kv_head, key_at(r.b, first + i), r.value.data() + i * width);
    }
    r.key_sum.assign(r.key.size(), 0.0f);
    r.value_sum.assign(r.value.size(), 0.0f);
    for (int64_t row = 0; row < r.rows; row += kRows)
      block(r, row, std::min(kRows, r.rows - row), first, count);
    for (float &x : r.key_sum) x *= a_.scale;
    for (int64_t i = 0; i < count; ++i) {
      o_.dk.store(r.b, r.kv_head, key_at(r.b, first + i), r.key_sum.data() + i * full());
      o_.dv.store(r.b, r.kv_head, key_at(r.b, first + i), r.value_sum.data() + i * width);
    }
  }

  void block(Room &r, int64_t row, int64_t rows, int64_t first, int64_t count) {
    bool meets = false;
    for (int64_t i = row; i < row + rows && !meets; ++i)
      meets = end_of_keys(r.b, token_of(i)) > first && first_key(r.b, token_of(i)) < first + count;
    if (!meets) return;
    const int64_t width = a_.value_width;
    r.query.resize(static_cast<size_t>(rows * full()));
    r.dy.resize(static_cast<size_t>(rows * width));
    r.scores.resize(static_cast<size_t>(rows * count));
    r.slopes.resize(r.scores.size());
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t head = head_of(r, row + i), token = query_at(r.b, token_of(row + i));
      o_.query.load(r.b, head, token, r.query.data() + i * full());
      o_.dy.load(r.b, head, token, r.dy.data() + i * width);
    }
    const Matrix query = rows_of(r.query, rows, full(), full()),
                 dy = rows_of(r.dy, rows, width, width),
                 key = rows_of(r.key, count, full(), full()),
                 value = rows_of(r.value, count, width, width),
                 scores = rows_of(r.scores, rows, count, count),
                 slopes = rows_of(r.slopes, rows, count, count);
    gemm_f32(query, key.transposed(), Store(r.scores.data(), count));
    gemm_f32(dy, value.transposed(), Store(r.slopes.data(), count));
    for (int64_t i = 0; i < rows; ++i) {
      one_row(r, row + i, first, count, r.scores.data() + i * count, r.slopes.data() + i * count);
    }
    gemm_f32(scores.transposed(), dy, Sum(r.value_sum.data(), width));
    gemm_f32(slopes, key, Sum(r.sum->data() + row * full(), full()));
    gemm_f32(slopes.transposed(), query, Sum(r.key_sum.data(), full()));
  }

  // Products become powers, as dropout leaves them, and products of dy and values become the slopes
  // of the scores.
  void one_row(const Room &r, int64_t row, int64_t first, int64_t count, float *scores,
               float *slopes) const {
    const int64_t head = head_of(r, row), token = token_of(row);
    const auto at = static_cast<size_t>(terms_.statistics_at(r.b, head, token) * kLanes);
    const float highest = o_.highest[at], sum = o_.sum[at];
    int64_t end = std::clamp<int64_t>(end_of_keys(r.b, token) - first, 0, count);
    const int64_t begin = std::clamp<int64_t>(first_key(r.b, token) - first, 0, end);
    if (sum == 0.0f) end = begin;  // nothing was met
    std::fill(scores, scores + begin, 0.0f);
    std::fill(scores + end, scores + count, 0.0f);
    std::fill(slopes, slopes + begin, 0.0f);
    std::fill(slopes + end, slopes + count, 0.0f);
    const int64_t n = end - begin;
    if (n == 0) return;
    scores += begin;
    slopes += begin;
    for (int64_t i = 0; i < n; ++i) scores[i] *= a_.scale;
    terms_.shift(r.b, head, token, first + begin, n, scores);
    hide(r.b, head, token, first + begin, n, scores);
    float_kernels().shifted_powers(scores, n, highest, false);
    const float factor = 1.0f / sum, along = r.along[static_cast<size_t>(row)];
    terms_.drop(r.b, head, token, first + begin, n, slopes);
    if (highest == kMasked) {
      // All keys are masked: the scores do not depend on anything.
      std::fill(slopes, slopes + n, 0.0f);
      for (int64_t i = 0; i < n; ++i) scores[i] *= factor;
    } else {
      for (int64_t i = 0; i < n; ++i) {
        scores[i] *= factor;
        slopes[i] = scores[i] * (slopes[i] - along);
      }
    }
    terms_.drop(r.b, head, token, first + begin, n, scores);
  }

  void hide(int64_t b, int64_t head, int64_t token, int64_t first, int64_t count,
            float *scores) const {
    const Pairs &mask = terms_.attention_operand().mask;
    if (mask.data == nullptr) return;
    const char *row = mask.data + mask.at(b, head, token, first);
    for (int64_t i = 0; i < count; ++i) {
      if (row[i * mask.key] != 0) scores[i] = kMasked;
    }
  }

  void store_queries(const Room &r, std::vector<float> &sum) const {
    for (float &x : sum) x *= a_.scale;
    for (int64_t row = 0; row < r.rows; ++row)
      o_.dq.store(r.b, head_of(r, row), query_at(r.b, token_of(row)), sum.data() + row * full());
  }

  void join(int64_t pair) {
    Room r{};
    r.b = pair / a_.kv_heads;
    r.kv_head = pair % a_.kv_heads;
    r.rows = queries(r.b) * a_.group();
    std::vector<float> &whole = sums_[static_cast<size_t>(pair * parts_)];
    for (int64_t part = 1; part < parts_; ++part) {
      const std::vector<float> &more = sums_[static_cast<size_t>(pair * parts_ + part)];
      for (size_t i = 0; i < whole.size(); ++i) whole[i] += more[i];
    }
    store_queries(r, whole);
  }

  // Tokens behind the last sequence have no part in the result.
  void clear_unused() const {
    const std::vector<float> zeros(static_cast<size_t>(std::max(full(), a_.value_width)), 0.0f);
    const auto clear = [&](const WholeHead &to, int64_t first, int64_t end, int64_t heads) {
      for (int64_t token = first; token < end; ++token) {
        for (int64_t n = 0; n < heads; ++n) to.store(0, n, token, zeros.data());
      }
    };
    const int64_t query = a_.query_starts.back() + a_.query_lengths.back(),
                  key = a_.key_starts.back() + a_.key_lengths.back();
    clear(o_.dq, query, t_.query_tokens, a_.heads);
    clear(o_.dk, key, t_.key_tokens, a_.kv_heads);
    clear(o_.dv, key, t_.key_tokens, a_.kv_heads);
  }

  void store_sinks() const {
    if (t_.sink_gradient_at == kAbsent || !c_.has(t_.sink_gradient_at)) return;
    std::vector<float> whole(static_cast<size_t>(a_.heads));
    for (size_t n = 0; n < whole.size(); ++n) {
      double sum = 0.0;
      for (size_t i = n; i < sinks_.size(); i += whole.size()) sum += sinks_[i];
      whole[n] = static_cast<float>(sum);
    }
    RowTarget<float>(view_of(c_.tensor(t_.sink_gradient_at))).write(0, a_.heads, whole.data());
  }

  TrainingTerms &terms_;
  const Training &t_;
  const Attention &a_;
  PlanContext &c_;
  GradientOperands o_;
  int64_t parts_ = 1;
  std::vector<std::vector<float>> sums_;
  std::vector<double> sinks_;
};

}  // namespace

Status run_training_gradient(const Training &training, PlanContext &context) {
  TrainingTerms terms(training, context);
  if (const Status s = terms.read()) return s;
  GradientRun(terms, context).run();
  return 0;
}

}  // namespace emu
