// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of attention over selected blocks.
#include <algorithm>
#include <cinttypes>
#include <limits>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/blocks/nsa_selected.h"
#include "ops/attention/sparse/gathered_sums.h"

namespace emu {
namespace {

constexpr float kMasked = std::numeric_limits<float>::lowest();

// Which keys a token meets.
class SelectedKeys {
 public:
  SelectedKeys(const Selected &selected, PlanContext &context) : x_(selected), c_(context) {}

  Status read() {
    chosen_ = read_all<int64_t>(c_, x_.chosen_at, c_.tensor(x_.chosen_at).numel(), 0);
    if (x_.with_mask) mask_ = view_of(c_.tensor(x_.mask_at));
    return check_chosen();
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

 protected:
  const Selected &x_;
  PlanContext &c_;

 private:
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

  std::vector<int64_t> chosen_;
  View mask_;
};

class SelectedRun : SelectedKeys {
 public:
  using SelectedKeys::SelectedKeys;

  Status run() {
    if (const Status s = read_page_table(x_.op, c_, x_.table_at, x_.key, x_.keys, &pages_))
      return s;
    if (const Status s = read()) return s;
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

  PageTable pages_;
};

// Each head of the keys goes through the tokens of its sequence in order.
class SelectedBack : SelectedKeys {
 public:
  using SelectedKeys::SelectedKeys;

  Status run() {
    if (const Status s = read()) return s;
    const View dq = view_of(c_.tensor(x_.dq_at)), dk = view_of(c_.tensor(x_.dk_at)),
               dv = view_of(c_.tensor(x_.dv_at));
    Operands operands;
    const auto safe = [&](size_t at) {
      return operands.safe(view_of(c_.tensor(at)), {dq, dk, dv});
    };
    SequenceForm result = x_.query;
    result.width = x_.value.width;
    const TokenReader query(safe(x_.query_at), x_.query, x_.queries, nullptr),
        key(safe(x_.key_at), x_.key, x_.keys, nullptr),
        value(safe(x_.value_at), x_.value, x_.keys, nullptr),
        dy(safe(x_.dy_at), result, x_.queries, nullptr),
        out(safe(x_.out_at), result, x_.queries, nullptr),
        to_query(dq, x_.query, x_.queries, nullptr), to_key(dk, x_.key, x_.keys, nullptr),
        to_value(dv, x_.value, x_.keys, nullptr);
    const auto statistics = [&](size_t at) {
      return read_all<float>(c_, at, x_.query.tokens * x_.query.heads * kSelectedLanes, 0.0f);
    };
    highest_ = statistics(x_.highest_at);
    sum_ = statistics(x_.sum_at);
    const int64_t heads = x_.key.heads;
    parallel_for(x_.query.batch * heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t b = task / heads, head = task % heads;
        const auto at = static_cast<size_t>(b);
        GatheredSums sums(x_.keys.lengths[at], x_.key.width, x_.value.width);
        for (int64_t token = 0; token < x_.queries.lengths[at]; ++token)
          row(b, token, head, {query, key, value, dy, out}, to_query, &sums);
        for (int64_t k = 0; k < x_.keys.lengths[at]; ++k) {
          store_token(to_key, b, head, k, sums.key(k));
          store_token(to_value, b, head, k, sums.value(k));
        }
      }
    });
    return 0;
  }

 private:
  struct Readers {
    const TokenReader &query, &key, &value, &dy, &out;
  };

  std::vector<int64_t> shown(int64_t token, std::vector<int64_t> keys) const {
    if (!x_.causal && !x_.with_mask) return keys;
    const auto away = [&](int64_t key) { return hidden(token, key); };
    keys.erase(std::remove_if(keys.begin(), keys.end(), away), keys.end());
    return keys;
  }

  // A token whose keys are all hidden has the mean of their values, whatever the scores.
  void mean(const GatheredStatistics &rows, const std::vector<int64_t> &keys,
            GatheredSums *sums) const {
    const auto width = static_cast<size_t>(x_.value.width);
    std::vector<float> row(width, 0.0f);
    for (size_t g = 0; g < rows.factors.size(); ++g)
      for (size_t i = 0; i < width; ++i) row[i] += rows.slopes[g * width + i] * rows.factors[g];
    for (const int64_t key : keys) {
      float *to = sums->value(key);
      for (size_t i = 0; i < width; ++i) to[i] += row[i];
    }
  }

  void row(int64_t b, int64_t token, int64_t head, const Readers &from, const TokenReader &to,
           GatheredSums *sums) const {
    const std::vector<int64_t> all = met(b, token, head), keys = shown(token, all);
    const int64_t count = static_cast<int64_t>(keys.size()), group = x_.group(),
                  width = x_.key.width, value_width = x_.value.width;
    std::vector<float> q(static_cast<size_t>(group * width)), k(static_cast<size_t>(count * width)),
        v(static_cast<size_t>(count * value_width)), dy(static_cast<size_t>(group * value_width)),
        out(static_cast<size_t>(value_width));
    GatheredStatistics rows{dy.data(), {}, {}, {}};
    for (int64_t g = 0; g < group; ++g) {
      const int64_t n = head * group + g;
      float *slopes = dy.data() + g * value_width;
      from.query.load(b, n, token, q.data() + g * width);
      from.dy.load(b, n, token, slopes);
      from.out.load(b, n, token, out.data());
      rows.along.push_back(sum_along(slopes, out.data(), value_width));
      const auto at =
          static_cast<size_t>((x_.place(b, token) * x_.query.heads + n) * kSelectedLanes);
      rows.references.push_back(highest_[at]);
      rows.factors.push_back(1.0f / sum_[at]);
    }
    for (int64_t i = 0; i < count; ++i) {
      from.key.load(b, head, keys[static_cast<size_t>(i)], k.data() + i * width);
      from.value.load(b, head, keys[static_cast<size_t>(i)], v.data() + i * value_width);
    }
    GatheredSlopes found;
    attend_back({q.data(), k.data(), v.data(), group, count, width, value_width, x_.scale}, rows,
                keys, sums, &found);
    if (keys.empty()) mean(rows, all, sums);
    for (int64_t g = 0; g < group; ++g)
      store_token(to, b, head * group + g, token, found.query.data() + g * width);
  }

  std::vector<float> highest_, sum_;
};

}  // namespace

Status run_selected(const Selected &selected, PlanContext &context) {
  return SelectedRun(selected, context).run();
}

Status run_selected_back(const Selected &selected, PlanContext &context) {
  return SelectedBack(selected, context).run();
}

}  // namespace emu
