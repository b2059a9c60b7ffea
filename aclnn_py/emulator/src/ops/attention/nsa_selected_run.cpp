// SPDX-License-Identifier: Apache-2.0
// Phase two of attention over selected blocks.
#include <algorithm>
#include <cinttypes>
#include <limits>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/nsa_selected.h"

namespace emu {
namespace {

constexpr float kMasked = std::numeric_limits<float>::lowest();

class SelectedRun {
 public:
  SelectedRun(const Selected &selected, PlanContext &context) : x_(selected), c_(context) {}

  Status run() {
    if (const Status s = read_page_table(x_.op, c_, x_.table_at, x_.key, x_.keys, &pages_))
      return s;
    chosen_ = read_all<int64_t>(c_, x_.chosen_at, c_.tensor(x_.chosen_at).numel(), 0);
    if (const Status s = check_chosen()) return s;
    const View out = view_of(c_.tensor(x_.out_at));
    Operands operands;
    const auto reader = [&](size_t at, const SequenceForm &form, const Sequences &sequences) {
      return TokenReader(operands.safe(token_view(at, form), {out}), form, sequences, &pages_);
    };
    const TokenReader query = reader(x_.query_at, x_.query, x_.queries),
                      key = reader(x_.key_at, x_.key, x_.keys),
                      value = reader(x_.value_at, x_.value, x_.keys);
    SequenceForm result = x_.query;
    result.width = x_.value.width;
    const TokenReader to(split_heads(out, result), result, x_.queries, nullptr);
    if (x_.with_mask) mask_ = view_of(c_.tensor(x_.mask_at));
    // Tokens behind the last one of a sequence meet nothing.
    const auto tokens_of = [&](int64_t b) {
      return x_.query.packed ? x_.queries.lengths[static_cast<size_t>(b)] : x_.query.tokens;
    };
    int64_t longest = 0;
    for (int64_t b = 0; b < x_.query.batch; ++b) longest = std::max(longest, tokens_of(b));
    const int64_t heads = x_.key.heads;
    parallel_for(x_.query.batch * longest * heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t b = task / heads / longest, token = task / heads % longest;
        if (token < tokens_of(b)) row(b, token, task % heads, query, key, value, to);
      }
    });
    return 0;
  }

 private:
  View token_view(size_t at, const SequenceForm &form) const {
    return split_heads(view_of(c_.tensor(at)), form);
  }

  const int64_t *blocks(int64_t b, int64_t token, int64_t head) const {
    return chosen_.data() + (x_.place(b, token) * x_.key.heads + head) * x_.count;
  }

  // A block outside the keys would read other memory.
  Status check_chosen() const {
    for (int64_t b = 0; b < x_.query.batch; ++b) {
      const auto at = static_cast<size_t>(b);
      const int64_t there = (x_.keys.lengths[at] + x_.block - 1) / x_.block;
      for (int64_t i = 0; i < x_.queries.lengths[at] * x_.key.heads * x_.count; ++i) {
        const int64_t block = blocks(b, 0, 0)[i];
        if (block >= there)
          return fail(kKernelFault, "%s: topkIndices has %lld; sequence %lld has %lld blocks",
                      x_.op, static_cast<long long>(block), static_cast<long long>(b),
                      static_cast<long long>(there));
      }
    }
    return 0;
  }

  // The places of the keys that a token meets; blocks below 0 are none.
  std::vector<int64_t> met(int64_t b, int64_t token, int64_t head) const {
    const auto at = static_cast<size_t>(b);
    int64_t seen = x_.keys.lengths[at];
    if (x_.stepwise) seen = std::clamp<int64_t>(seen - x_.queries.lengths[at] + token + 1, 0, seen);
    std::vector<int64_t> found;
    if (token >= x_.queries.lengths[at]) return found;
    for (int64_t i = 0; i < x_.count; ++i) {
      const int64_t block = blocks(b, token, head)[i];
      if (block < 0) continue;
      for (int64_t k = block * x_.block; k < std::min((block + 1) * x_.block, seen); ++k)
        found.push_back(k);
    }
    return found;
  }

  bool hidden(int64_t token, int64_t key) const {
    if (x_.causal) return key > token;
    return mask_.data[token * mask_.layout.stride[0] + key * mask_.layout.stride[1]] != 0;
  }

  void row(int64_t b, int64_t token, int64_t head, const TokenReader &query, const TokenReader &key,
           const TokenReader &value, const TokenReader &to) const {
    const std::vector<int64_t> keys = met(b, token, head);
    const int64_t count = static_cast<int64_t>(keys.size()), group = x_.group(),
                  width = x_.key.width, value_width = x_.value.width;
    std::vector<float> q(static_cast<size_t>(group * width)), k(static_cast<size_t>(count * width)),
        v(static_cast<size_t>(count * value_width)), bias;
    for (int64_t g = 0; g < group; ++g)
      query.load(b, head * group + g, token, q.data() + g * width);
    if (x_.causal || x_.with_mask) bias.assign(static_cast<size_t>(group * count), 0.0f);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = keys[static_cast<size_t>(i)];
      key.load(b, head, at, k.data() + i * width);
      value.load(b, head, at, v.data() + i * value_width);
      if (bias.empty() || !hidden(token, at)) continue;
      for (int64_t g = 0; g < group; ++g) bias[static_cast<size_t>(g * count + i)] = kMasked;
    }
    GatheredAttention a{q.data(), k.data(), v.data(), group, count, width, value_width, x_.scale};
    a.bias = bias.empty() ? nullptr : bias.data();
    GatheredResult result;
    attend(a, &result);
    const Heads &out = to.heads();
    for (int64_t g = 0; g < group; ++g) {
      const int64_t n = head * group + g;
      store_f32(result.out.data() + g * value_width, const_cast<char *>(out.data), out.dtype,
                to.at(b, n, token), out.item, value_width);
      if (!x_.with_sums) continue;
      float lanes[kSelectedLanes];
      const int64_t first = (x_.place(b, token) * x_.query.heads + n) * kSelectedLanes;
      std::fill(lanes, lanes + kSelectedLanes, result.highest[static_cast<size_t>(g)]);
      RowTarget<float>(view_of(c_.tensor(x_.highest_at))).write(first, kSelectedLanes, lanes);
      std::fill(lanes, lanes + kSelectedLanes, result.sum[static_cast<size_t>(g)]);
      RowTarget<float>(view_of(c_.tensor(x_.sum_at))).write(first, kSelectedLanes, lanes);
    }
  }

  const Selected &x_;
  PlanContext &c_;
  PageTable pages_;
  std::vector<int64_t> chosen_;
  View mask_;
};

}  // namespace

Status run_selected(const Selected &selected, PlanContext &context) {
  return SelectedRun(selected, context).run();
}

}  // namespace emu
