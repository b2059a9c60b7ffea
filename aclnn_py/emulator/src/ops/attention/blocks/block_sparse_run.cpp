// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of attention over chosen blocks.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/blocks/block_sparse.h"

namespace emu {
namespace {

constexpr int64_t kRows = 16;  // that work together

// A factor for each block of the sequences and heads; 1 where there are none.
class BlockScales {
 public:
  void read(PlanContext &c, size_t at, int64_t block) {
    if (at == kAbsent || !c.has(at)) return;
    const aclTensor &given = c.tensor(at);
    heads_ = given.shape[1];
    blocks_ = given.shape[2];
    block_ = block;
    values_ = read_all<float>(c, at, given.numel(), 1.0f);
  }
  void apply(int64_t b, int64_t head, int64_t token, int64_t width, float *row) const {
    if (values_.empty()) return;
    const float scale =
        values_[static_cast<size_t>((b * heads_ + head) * blocks_ + token / block_)];
    for (int64_t i = 0; i < width; ++i) row[i] *= scale;
  }

 private:
  std::vector<float> values_;
  int64_t heads_ = 0, blocks_ = 0, block_ = 1;
};

class BlockRun {
 public:
  BlockRun(const BlockSparse &x, PlanContext &c) : x_(x), c_(c) {}

  Status run() {
    if (const Status s = choice_.read(x_, c_)) return s;
    query_scales_.read(c_, x_.scales_at[0], x_.query_block);
    key_scales_.read(c_, x_.scales_at[1], x_.key_block);
    value_scales_.read(c_, x_.scales_at[2], x_.key_block);
    const View out = view_of(c_.tensor(x_.out_at));
    const View lse = x_.with_lse ? view_of(c_.tensor(x_.lse_at)) : View();
    Operands operands;
    const auto heads = [&](size_t at) {
      return heads_of(operands.safe(view_of(c_.tensor(at)), {out, lse}), x_.form, x_.width);
    };
    query_ = heads(x_.query_at);
    key_ = heads(x_.key_at);
    value_ = heads(x_.value_at);
    out_ = heads_of(out, x_.form, x_.width);
    if (x_.with_lse) lse_ = heads_of(lse, x_.form, 1);
    int64_t longest = 0;
    for (int64_t b = 0; b < x_.batch; ++b) longest = std::max(longest, tokens_of(b));
    const int64_t pieces = (longest + kRows - 1) / kRows;
    parallel_for(x_.batch * x_.heads * pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t b = task / pieces / x_.heads, first = task % pieces * kRows;
        const int64_t last = std::min(first + kRows, tokens_of(b));
        // Rows of one block of queries meet the same keys.
        for (int64_t t = first; t < last;) {
          const int64_t next = std::min(last, (t / x_.query_block + 1) * x_.query_block);
          rows(b, task / pieces % x_.heads, t, next - t);
          t = next;
        }
      }
    });
    return 0;
  }

 private:
  // Tokens behind the last one of a sequence meet nothing.
  int64_t tokens_of(int64_t b) const {
    return x_.packed() ? x_.query_lengths[static_cast<size_t>(b)] : x_.query_tokens;
  }
  int64_t at(const Heads &h, int64_t b, int64_t head, int64_t token, bool keys) const {
    const auto &starts = keys ? x_.key_starts : x_.query_starts;
    return h.at(b, head, starts[static_cast<size_t>(b)] + token);
  }

  void rows(int64_t b, int64_t head, int64_t first, int64_t count) const {
    const int64_t used =
        std::clamp<int64_t>(x_.query_lengths[static_cast<size_t>(b)] - first, 0, count);
    const int64_t kv_head = head / (x_.heads / x_.kv_heads);
    std::vector<int64_t> keys;
    if (used > 0) {
      for (const int64_t block : choice_.met(x_, b, head, first / x_.query_block)) {
        const int64_t end =
            std::min((block + 1) * x_.key_block, x_.key_lengths[static_cast<size_t>(b)]);
        for (int64_t k = block * x_.key_block; k < end; ++k) keys.push_back(k);
      }
    }
    const auto n = static_cast<int64_t>(keys.size());
    std::vector<float> q(static_cast<size_t>(count * x_.width)),
        k(static_cast<size_t>(n * x_.width)), v(k.size());
    for (int64_t i = 0; i < used; ++i) {
      load_head(query_, at(query_, b, head, first + i, false), x_.width, q.data() + i * x_.width);
      query_scales_.apply(b, head, first + i, x_.width, q.data() + i * x_.width);
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t key = keys[static_cast<size_t>(i)];
      load_head(key_, at(key_, b, kv_head, key, true), x_.width, k.data() + i * x_.width);
      load_head(value_, at(value_, b, kv_head, key, true), x_.width, v.data() + i * x_.width);
      key_scales_.apply(b, kv_head, key, x_.width, k.data() + i * x_.width);
      value_scales_.apply(b, kv_head, key, x_.width, v.data() + i * x_.width);
    }
    GatheredResult result;
    attend({q.data(), k.data(), v.data(), count, n, x_.width, x_.width, x_.scale}, &result);
    for (int64_t i = 0; i < count; ++i) {
      float *row = result.out.data() + i * x_.width;
      const bool empty = i >= used || n == 0;
      if (empty) std::fill(row, row + x_.width, 0.0f);
      store_f32(row, const_cast<char *>(out_.data), out_.dtype, at(out_, b, head, first + i, false),
                out_.item, x_.width);
      if (!x_.with_lse) continue;
      const auto j = static_cast<size_t>(i);
      const float lse = empty ? std::numeric_limits<float>::infinity()
                              : result.highest[j] + std::log(result.sum[j]);
      store_f32(&lse, const_cast<char *>(lse_.data), ACL_FLOAT, at(lse_, b, head, first + i, false),
                1, 1);
    }
  }

  const BlockSparse &x_;
  PlanContext &c_;
  BlockChoice choice_;
  BlockScales query_scales_, key_scales_, value_scales_;
  Heads query_, key_, value_, out_, lse_;
};

}  // namespace

Status BlockChoice::read(const BlockSparse &x, PlanContext &c) {
  if (x.pairs_at != kAbsent) {
    pairs_ = read_all<int64_t>(c, x.pairs_at, c.tensor(x.pairs_at).numel(), 0);
    return 0;
  }
  list_ = read_all<int64_t>(c, x.list_at, c.tensor(x.list_at).numel(), 0);
  counts_ = read_all<int64_t>(c, x.counts_at, c.tensor(x.counts_at).numel(), 0);
  int64_t first = 0;
  for (size_t b = 0; b < x.query_lengths.size(); ++b) {
    firsts_.push_back(first);
    const int64_t rows = blocks_of(x.query_lengths[b], x.query_block),
                  there = blocks_of(x.key_lengths[b], x.key_block);
    for (int64_t i = first * x.heads; i < (first + rows) * x.heads; ++i) {
      const int64_t count = counts_[static_cast<size_t>(i)];
      if (count < 0 || count > x.list_width)
        return fail(kKernelFault, "%s: selectNumIdx has %lld; selectIdx has room for %lld blocks",
                    x.op, static_cast<long long>(count), static_cast<long long>(x.list_width));
      for (int64_t j = 0; j < count; ++j) {
        const int64_t block = list_[static_cast<size_t>(i * x.list_width + j)];
        if (block < 0 || block >= there)
          return fail(kKernelFault, "%s: selectIdx has %lld; sequence %zu has %lld blocks", x.op,
                      static_cast<long long>(block), b, static_cast<long long>(there));
      }
    }
    first += rows;
  }
  return 0;
}

std::vector<int64_t> BlockChoice::met(const BlockSparse &x, int64_t b, int64_t head,
                                      int64_t block) const {
  std::vector<int64_t> found;
  if (!pairs_.empty()) {
    const int64_t at = ((b * x.heads + head) * x.pair_rows + block) * x.pair_columns;
    for (int64_t i = 0; i < x.pair_columns; ++i) {
      if (pairs_[static_cast<size_t>(at + i)] != 0) found.push_back(i);
    }
    return found;
  }
  const int64_t row = (firsts_[static_cast<size_t>(b)] + block) * x.heads + head;
  for (int64_t i = 0; i < counts_[static_cast<size_t>(row)]; ++i)
    found.push_back(list_[static_cast<size_t>(row * x.list_width + i)]);
  return found;
}

Status run_blocks(const BlockSparse &blocks, PlanContext &context) {
  return BlockRun(blocks, context).run();
}

}  // namespace emu
