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
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/tokens.h"
#include "ops/float_kernels.h"
#include "ops/index/addresses.h"
#include "ops/norm/rows.h"

namespace emu {
namespace {

constexpr int64_t kRows = 128;  // rows of a block: of all heads that share keys, token by token
// keys of a tile; tiles start at its multiples, so that a row adds up in one order
constexpr int64_t kTile = 512;
constexpr float kMasked = std::numeric_limits<float>::lowest();
constexpr float kNothing = -std::numeric_limits<float>::infinity();
constexpr int64_t kWorthATask = int64_t{1} << 18;  // multiplications

// A tensor that has an entry per pair of a query's and a key's token, with its strides in elements.
struct Pairs {
  const char *data = nullptr;
  int64_t batch = 0, head = 0, token = 0, key = 0;

  int64_t at(int64_t b, int64_t n, int64_t s, int64_t k) const {
    return b * batch + n * head + s * token + k * key;
  }
};

struct Operand {
  Heads query, out, lse;
  Pairs pse, mask;
};

// A matrix of pairs, or one for each sequence, perhaps with dimensions of 1 between.
Pairs mask_of(const View &view, bool one_row) {
  const int last = view.layout.rank - 1;
  const int64_t *stride = view.layout.stride;
  if (one_row) return {view.data, stride[0], 0, 0, stride[last]};
  const bool shared = last == 1 || view.layout.shape[0] == 1;
  return {view.data, shared ? 0 : stride[0], 0, stride[last - 1], stride[last]};
}

Pairs encoding_of(const View &view) {
  const int64_t *stride = view.layout.stride;
  return {view.data, view.layout.shape[0] == 1 ? 0 : stride[0], stride[1], stride[2], stride[3]};
}

// The state of one row while its keys pass by.
struct Row {
  int64_t head, token;
  float highest, correction;
  double sum;
};

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
  Worker(const Attention &attention, const Operand &operand, const Tokens &keys,
         const Tokens &values)
      : a_(attention), o_(operand), keys_(keys), values_(values), blocks_(blocks_of(attention)) {
    const int64_t rows = std::min(kRows, a_.queries * a_.group()),
                  tile = std::min(kTile, std::max<int64_t>(1, a_.keys));
    query_.resize(static_cast<size_t>(rows * a_.width));
    result_.resize(query_.size());
    scores_.resize(static_cast<size_t>(rows * kTile));
    pse_.resize(o_.pse.data ? static_cast<size_t>(tile) : 0);
    room_.resize(keys_.room(tile));
  }

  static int64_t blocks_of(const Attention &a) {
    return (a.queries * a.group() + kRows - 1) / kRows;
  }

  void run(int64_t task) {
    const int64_t block = task % blocks_, kv_head = task / blocks_ % a_.kv_heads,
                  batch = task / blocks_ / a_.kv_heads;
    start(batch, kv_head, block * kRows);
    if (rows_.empty()) return;
    const int64_t keys = a_.key_lengths[static_cast<size_t>(batch)];
    int64_t low = keys, high = 0;
    for (const Row &row : rows_) {
      low = std::min(low, first_key(batch, row));
      high = std::max(high, end_of_keys(batch, row));
    }
    for (int64_t first = low / kTile * kTile; first < high; first += kTile) {
      tile(batch, kv_head, first, std::min(kTile, high - first));
    }
    for (size_t i = 0; i < rows_.size(); ++i) finish(batch, static_cast<int64_t>(i));
  }

 private:
  int64_t first_key(int64_t batch, const Row &row) const {
    return std::max<int64_t>(0, row.token - a_.bands[static_cast<size_t>(batch)].before);
  }
  int64_t end_of_keys(int64_t batch, const Row &row) const {
    const auto b = static_cast<size_t>(batch);
    if (row.token >= a_.query_lengths[b]) return 0;
    return std::clamp<int64_t>(row.token + a_.bands[b].after + 1, 0, a_.key_lengths[b]);
  }

  int64_t at(const Heads &heads, int64_t batch, const Row &row) const {
    const int64_t start = a_.packed() ? a_.query_starts[static_cast<size_t>(batch)] : 0;
    return heads.at(batch, row.head, start + row.token);
  }

  void start(int64_t batch, int64_t kv_head, int64_t first) {
    const int64_t group = a_.group();
    // Behind the tokens of a packed sequence are those of the next.
    const int64_t tokens = a_.packed() ? a_.query_lengths[static_cast<size_t>(batch)] : a_.queries;
    const int64_t end = std::min(first + kRows, tokens * group);
    rows_.clear();
    for (int64_t i = first; i < end; ++i)
      rows_.push_back({kv_head * group + i % group, i / group, kNothing, 1.0f, 0.0});
    std::fill(result_.begin(), result_.end(), 0.0f);
    for (size_t i = 0; i < rows_.size(); ++i) {
      load_f32(o_.query.data, o_.query.dtype, at(o_.query, batch, rows_[i]), o_.query.item,
               a_.width, query_.data() + static_cast<int64_t>(i) * a_.width);
    }
  }

  void tile(int64_t batch, int64_t kv_head, int64_t first, int64_t count) {
    const int64_t rows = static_cast<int64_t>(rows_.size());
    const Matrix query{query_.data(), ACL_FLOAT, rows, a_.width, {a_.width}, {1}};
    gemm_f32(query, keys_.rows(batch, kv_head, first, count, room_.data()).transposed(),
             ScoreSink(scores_.data(), a_.scale));
    for (int64_t i = 0; i < rows; ++i)
      soften(batch, &rows_[static_cast<size_t>(i)], first, count, scores_.data() + i * kTile);
    const Matrix powers{scores_.data(), ACL_FLOAT, rows, count, {kTile}, {1}};
    gemm_f32(powers, values_.rows(batch, kv_head, first, count, room_.data()),
             ResultSink(result_.data(), a_.width, rows_));
  }

  // The scores of a row's part of a tile become powers; outside the band they become 0.
  void soften(int64_t batch, Row *row, int64_t first, int64_t count, float *scores) {
    const int64_t end = std::clamp<int64_t>(end_of_keys(batch, *row) - first, 0, count);
    const int64_t begin = std::clamp<int64_t>(first_key(batch, *row) - first, 0, end);
    std::fill(scores, scores + begin, 0.0f);
    std::fill(scores + end, scores + count, 0.0f);
    row->correction = 1.0f;
    if (begin == end) return;
    shift(batch, *row, first + begin, end - begin, scores + begin);
    hide(batch, *row, first + begin, end - begin, scores + begin);
    const FloatKernels &kernels = float_kernels();
    const float highest = std::max(row->highest, kernels.highest(scores + begin, end - begin));
    if (highest != row->highest) row->correction = std::exp(row->highest - highest);
    row->highest = highest;
    // Scores of -inf only: their powers are 0 until a higher one comes.
    const float reference = highest == kNothing ? 0.0f : highest;
    row->sum = row->sum * static_cast<double>(row->correction) +
               kernels.shifted_powers(scores + begin, end - begin, reference, false);
  }

  void shift(int64_t batch, const Row &row, int64_t first, int64_t count, float *scores) {
    if (!o_.pse.data) return;
    const int64_t at = o_.pse.at(batch, row.head, row.token, first);
    load_f32(o_.pse.data, o_.query.dtype, at, o_.pse.key, count, pse_.data());
    for (int64_t i = 0; i < count; ++i) scores[i] += pse_[static_cast<size_t>(i)];
  }

  void hide(int64_t batch, const Row &row, int64_t first, int64_t count, float *scores) const {
    if (!o_.mask.data) return;
    const char *mask = o_.mask.data + o_.mask.at(batch, row.head, row.token, first);
    const int64_t step = o_.mask.key;
    if (step == 1) {  // the usual case, in a loop that vectorises
      for (int64_t i = 0; i < count; ++i) scores[i] = mask[i] != 0 ? kMasked : scores[i];
    } else {
      for (int64_t i = 0; i < count; ++i) scores[i] = mask[i * step] != 0 ? kMasked : scores[i];
    }
  }

  void finish(int64_t batch, int64_t index) {
    const Row &row = rows_[static_cast<size_t>(index)];
    float *result = result_.data() + index * a_.width;
    const bool empty = first_key(batch, row) >= end_of_keys(batch, row) ||
                       (a_.clear_masked_rows && row.highest == kMasked);
    const float factor = static_cast<float>(1.0 / row.sum);
    for (int64_t i = 0; i < a_.width; ++i) result[i] = empty ? 0.0f : result[i] * factor;
    store_f32(result, const_cast<char *>(o_.out.data), o_.out.dtype, at(o_.out, batch, row),
              o_.out.item, a_.width);
    if (!o_.lse.data) return;
    const float lse = empty ? std::numeric_limits<float>::infinity()
                            : static_cast<float>(row.highest + std::log(row.sum));
    store_f32(&lse, const_cast<char *>(o_.lse.data), ACL_FLOAT, at(o_.lse, batch, row), 1, 1);
  }

  const Attention &a_;
  const Operand &o_;
  const Tokens &keys_, &values_;
  const int64_t blocks_;
  std::vector<Row> rows_;
  std::vector<float> query_, scores_, result_, pse_;
  std::vector<char> room_;
};

// The pages of all sequences. A page number outside the cache would read other memory.
Status read_pages(const Attention &a, PlanContext &c, std::vector<int64_t> *pages) {
  const aclTensor &table = c.tensor(a.table_at);
  const int64_t width = table.shape[1], there = c.tensor(a.key_at).shape[0];
  pages->resize(static_cast<size_t>(table.numel()));
  RowSource<int64_t>(view_of(table)).read(0, table.numel(), pages->data());
  for (int64_t b = 0; b < a.batch; ++b) {
    const int64_t used = (a.key_lengths[static_cast<size_t>(b)] + a.block_size - 1) / a.block_size;
    for (int64_t i = 0; i < used; ++i) {
      const int64_t page = (*pages)[static_cast<size_t>(b * width + i)];
      if (page < 0 || page >= there) {
        return fail(kKernelFault,
                    "%s: the block table has %lld at (%lld, %lld); the cache has %lld pages", a.op,
                    static_cast<long long>(page), static_cast<long long>(b),
                    static_cast<long long>(i), static_cast<long long>(there));
      }
    }
  }
  return 0;
}

// The one mask that stands for all causal ones is not read where it could be computed; but a
// program that passes another one, an inverted one for instance, gets wrong results from the NPU
// and has to hear of it.
Status check_triangle(const Attention &a, const aclTensor &mask) {
  const size_t last = mask.rank() - 1;
  const int64_t side = mask.shape[last], row = mask.strides[last - 1], step = mask.strides[last];
  const auto *data = static_cast<const unsigned char *>(mask.view_data());
  std::vector<unsigned char> line(static_cast<size_t>(2 * side), 0);
  std::fill(line.begin() + side, line.end(), 1);
  std::atomic<int64_t> wrong{side};
  parallel_for(side, side / 8, [&](int64_t begin, int64_t end) {
    std::vector<unsigned char> gathered(step == 1 ? 0 : static_cast<size_t>(side));
    for (int64_t i = begin; i < end; ++i) {
      const unsigned char *given = data + i * row;
      if (step != 1) {
        for (int64_t j = 0; j < side; ++j) gathered[static_cast<size_t>(j)] = given[j * step];
        given = gathered.data();
      }
      // Row i has i + 1 zeros before its ones.
      if (std::memcmp(given, line.data() + side - 1 - i, static_cast<size_t>(side)) != 0) wrong = i;
    }
  });
  if (wrong == side) return 0;
  return fail(kKernelFault,
              "%s: row %lld of the mask is not 0 up to its diagonal and 1 behind it, as sparseMode "
              "2, 3 and 4 need it",
              a.op, static_cast<long long>(wrong.load()));
}

}  // namespace

Status run_attention(const Attention &a, PlanContext &c) {
  const View out = view_of(c.tensor(a.out_at));
  const std::optional<View> lse =
      a.with_lse ? std::optional(view_of(c.tensor(a.lse_at))) : std::nullopt;
  Operands operands;
  const auto safe = [&](size_t index) {
    return operands.safe(view_of(c.tensor(index)), {out, lse.value_or(View())});
  };
  std::vector<int64_t> pages;
  if (a.block_size != 0) {
    if (const Status s = read_pages(a, c, &pages)) return s;
  }
  Operand operand;
  operand.query = heads_of(safe(a.query_at), a.query_form, a.width);
  operand.out = heads_of(out, a.out_form, a.width);
  // A row of one element each, arranged like heads whose tokens come last, or first where sequences
  // are packed.
  if (lse)
    operand.lse = heads_of(*lse, a.packed() ? Arrangement::kPacked : Arrangement::kHeadsFirst, 1);
  if (c.has(a.pse_at)) operand.pse = encoding_of(safe(a.pse_at));
  if (c.has(a.mask_at) && a.triangle) {
    if (const Status s = check_triangle(a, c.tensor(a.mask_at))) return s;
  } else if (c.has(a.mask_at)) {
    operand.mask = mask_of(safe(a.mask_at), a.one_mask_row);
  }
  std::vector<View> keys, values;
  for (size_t i = 0; i < (a.listed ? static_cast<size_t>(a.batch) : 1); ++i) {
    keys.push_back(safe(a.key_at + i));
    values.push_back(safe(a.value_at + i));
  }
  const int64_t pages_per_sequence = a.block_size != 0 ? c.tensor(a.table_at).shape[1] : 0;
  const Tokens key_tokens(a, keys, pages, pages_per_sequence),
      value_tokens(a, values, pages, pages_per_sequence);
  const int64_t tasks = a.batch * a.kv_heads * Worker::blocks_of(a);
  if (tasks == 0) return 0;  // packed sequences without tokens
  const int64_t work =
      std::max<int64_t>(1, a.queries * a.heads * a.batch / tasks * a.keys * a.width * 2);
  parallel_for(tasks, std::max<int64_t>(1, kWorthATask / work), [&](int64_t begin, int64_t end) {
    Worker worker(a, operand, key_tokens, value_tokens);
    for (int64_t task = begin; task < end; ++task) worker.run(task);
  });
  return 0;
}

Status plan_attention(const AttentionCall &call, uint64_t *workspace_size,
                      aclOpExecutor **executor) {
  const auto attention = std::make_shared<Attention>();
  if (const Status s = check_attention(call, attention.get())) return s;
  PlanBuilder plan(call.op);
  attention->query_at = plan.input(call.query);
  const auto side = [&](const AttentionSide &given) {
    return given.tensor ? plan.input(given.tensor) : plan.input_list(given.list);
  };
  attention->key_at = side(call.key);
  attention->value_at = side(call.value);
  attention->pse_at = plan.input(call.pse.given);
  attention->mask_at = plan.input(call.mask.given);
  for (const auto &argument : call.absent) plan.input(argument.given);
  if (call.block_table.name != nullptr) attention->table_at = plan.input(call.block_table.given);
  for (const auto &argument : call.later_absent) plan.input(argument.given);
  attention->out_at = plan.output(call.out);
  attention->with_lse = call.with_lse;
  if (call.lse.name != nullptr)
    attention->lse_at = call.with_lse ? plan.output(call.lse.given) : plan.unused(call.lse.given);
  if (attention->nothing)
    return plan.finish([](PlanContext &) { return Status{0}; }, workspace_size, executor);
  const std::shared_ptr<const Attention> kept = attention;
  return plan.finish([kept](PlanContext &context) { return run_attention(*kept, context); },
                     workspace_size, executor);
}

}  // namespace emu
