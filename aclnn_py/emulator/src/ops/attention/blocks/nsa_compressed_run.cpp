// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of attention over compressed keys, with the choice of blocks for the next step.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/pool.h"
#include "ops/attention/blocks/nsa_compressed.h"

namespace emu {
namespace {

constexpr float kMasked = std::numeric_limits<float>::lowest();
constexpr float kUnseen = -std::numeric_limits<float>::infinity();
constexpr int64_t kTokensOfTask = 16;

class CompressedRun {
 public:
  CompressedRun(const Compressed &compressed, PlanContext &context) : x_(compressed), c_(context) {}

  Status run() {
    if (const Status s = read_page_table(x_.op, c_, x_.table_at, x_.key, x_.keys, &pages_))
      return s;
    const View out = view_of(c_.tensor(x_.out_at));
    Operands operands;
    const auto reader = [&](size_t at, const SequenceForm &form, const Sequences &sequences) {
      const View view = split_heads(view_of(c_.tensor(at)), form);
      return TokenReader(operands.safe(view, {out}), form, sequences, &pages_);
    };
    const TokenReader query = reader(x_.query_at, x_.query, x_.queries),
                      key = reader(x_.key_at, x_.key, x_.keys),
                      value = reader(x_.value_at, x_.value, x_.keys);
    SequenceForm result = x_.query;
    result.width = x_.value.width;
    const TokenReader to(out, result, x_.queries, nullptr);
    if (x_.with_mask) mask_ = view_of(c_.tensor(x_.mask_at));
    int64_t longest = 0;
    for (int64_t b = 0; b < x_.query.batch; ++b) longest = std::max(longest, tokens_of(b));
    const int64_t heads = x_.key.heads, parts = (longest + kTokensOfTask - 1) / kTokensOfTask;
    parallel_for(x_.query.batch * parts * heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t b = task / heads / parts, first = task / heads % parts * kTokensOfTask,
                      count = std::min(kTokensOfTask, tokens_of(b) - first);
        if (count > 0) rows(b, first, count, task % heads, query, key, value, to);
      }
    });
    return 0;
  }

 private:
  // With those behind the last one of a sequence, which meet nothing.
  int64_t tokens_of(int64_t b) const {
    return x_.query.packed ? x_.queries.lengths[static_cast<size_t>(b)] : x_.query.tokens;
  }

  // Compressed keys that a token sees: those whose last token is not behind it.
  int64_t seen(int64_t b, int64_t token) const {
    const auto at = static_cast<size_t>(b);
    const int64_t keys = x_.keys.lengths[at], queries = x_.queries.lengths[at];
    if (token >= queries) return 0;
    if (x_.whole.empty()) return keys;
    const int64_t before = x_.whole[at] - queries + token + 1 - x_.window;
    return before < 0 ? 0 : std::min(keys, before / x_.stride + 1);
  }

  void rows(int64_t b, int64_t first, int64_t count, int64_t head, const TokenReader &query,
            const TokenReader &key, const TokenReader &value, const TokenReader &to) const {
    const int64_t keys = x_.keys.lengths[static_cast<size_t>(b)], group = x_.group(),
                  width = x_.key.width, value_width = x_.value.width, all = count * group;
    std::vector<float> q(static_cast<size_t>(all * width)), k(static_cast<size_t>(keys * width)),
        v(static_cast<size_t>(keys * value_width)), bias(static_cast<size_t>(all * keys), 0.0f);
    for (int64_t i = 0; i < keys; ++i) {
      key.load(b, head, i, k.data() + i * width);
      value.load(b, head, i, v.data() + i * value_width);
    }
    for (int64_t row = 0; row < all; ++row) {
      const int64_t token = first + row / group;
      query.load(b, head * group + row % group, token, q.data() + row * width);
      float *hidden = bias.data() + row * keys;
      const int64_t there = seen(b, token);
      for (int64_t i = 0; i < keys; ++i) {
        if (i >= there) hidden[i] = kUnseen;
        else if (x_.with_mask && masked(token, i)) hidden[i] = kMasked;
      }
    }
    GatheredAttention a{q.data(), k.data(), v.data(), all, keys, width, value_width, x_.scale};
    a.bias = bias.data();
    a.with_chances = true;
    GatheredResult result;
    attend(a, &result);
    for (int64_t row = 0; row < all; ++row)
      write(b, first + row / group, head * group + row % group, row, result, to);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t there = seen(b, first + i);
      choose(b, first + i, head, there, there ? result.chances.data() + i * group * keys : nullptr,
             keys);
    }
  }

  bool masked(int64_t token, int64_t key) const {
    return mask_.data[token * mask_.layout.stride[0] + key * mask_.layout.stride[1]] != 0;
  }

  void write(int64_t b, int64_t token, int64_t head, int64_t row, const GatheredResult &result,
             const TokenReader &to) const {
    const Heads &out = to.heads();
    store_f32(result.out.data() + row * x_.value.width, const_cast<char *>(out.data), out.dtype,
              to.at(b, head, token), out.item, x_.value.width);
    if (!x_.with_sums) return;
    float lanes[kCompressedLanes];
    const int64_t first = (x_.place(b, token) * x_.query.heads + head) * kCompressedLanes;
    std::fill(lanes, lanes + kCompressedLanes, result.highest[static_cast<size_t>(row)]);
    RowTarget<float>(view_of(c_.tensor(x_.highest_at))).write(first, kCompressedLanes, lanes);
    std::fill(lanes, lanes + kCompressedLanes, result.sum[static_cast<size_t>(row)]);
    RowTarget<float>(view_of(c_.tensor(x_.sum_at))).write(first, kCompressedLanes, lanes);
  }

  // The blocks with the highest sums of the group's chances, the highest in front, of equal ones
  // the first. The key l'/d * j - m - n counts once for each of its pairs of m and n.
  void choose(int64_t b, int64_t token, int64_t head, int64_t there, const float *chances,
              int64_t keys) const {
    const int64_t blocks = x_.blocks(there), step = x_.keys_per_block(),
                  taps = x_.window / x_.stride;
    std::vector<float> sums(static_cast<size_t>(blocks), 0.0f), joined(static_cast<size_t>(there));
    for (int64_t g = 0; g < x_.group(); ++g) {
      for (int64_t i = 0; i < there; ++i) joined[static_cast<size_t>(i)] += chances[g * keys + i];
    }
    for (int64_t j = 0; j < blocks; ++j) {
      for (int64_t m = 0; m < step; ++m) {
        for (int64_t n = 0; n < taps; ++n) {
          const int64_t at = step * j - m - n;
          if (at >= 0) sums[static_cast<size_t>(j)] += joined[static_cast<size_t>(at)];
        }
      }
    }
    std::vector<int64_t> order(sums.size());
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](int64_t p, int64_t q) {
      const float first = sums[static_cast<size_t>(p)], second = sums[static_cast<size_t>(q)];
      const bool first_nan = std::isnan(first), second_nan = std::isnan(second);
      if (first_nan != second_nan) return first_nan;
      if (!first_nan && first != second) return first > second;
      return p < q;
    };
    std::sort(order.begin(), order.end(), before);
    order.resize(static_cast<size_t>(x_.count), -1);
    RowTarget<int64_t>(view_of(c_.tensor(x_.chosen_at)))
        .write((x_.place(b, token) * x_.key.heads + head) * x_.count, x_.count, order.data());
  }

  const Compressed &x_;
  PlanContext &c_;
  PageTable pages_;
  View mask_;
};

}  // namespace

Status run_compressed(const Compressed &compressed, PlanContext &context) {
  return CompressedRun(compressed, context).run();
}

}  // namespace emu
