// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of the gradients of the lightning indexers.
#include "ops/attention/indexer/indexer_back.h"

#include <cmath>

#include "core/statuses.h"
#include "ops/attention/indexer/indexer_slopes.h"
#include "ops/float_kernels.h"

namespace emu {
namespace {

constexpr int64_t kBlock = 16;  // tokens that are taken together where they meet the same keys

class AveragedRows final : public RowSink<float> {
 public:
  AveragedRows(float *to, int64_t pitch, float scale) : to_(to), pitch_(pitch), scale_(scale) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *to = to_ + row * pitch_ + col;
    for (int64_t i = 0; i < count; ++i) to[i] += values[i] * scale_;
  }

 private:
  float *to_;
  const int64_t pitch_;
  const float scale_;
};

class IndexerBackRun {
 public:
  IndexerBackRun(const IndexerBack &indexer, PlanContext &context) : x_(indexer), c_(context) {}

  Status run() {
    if (const Status s = read()) return s;
    sources();
    for (const View &result : results_) clear(result);
    losses_.assign(static_cast<size_t>(rows_of_queries()), 0.0);
    for (int64_t b = 0; b < x_.query.batch; ++b) sequence(b);
    if (x_.loss_at == kAbsent) return 0;
    double loss = 0.0;
    for (const double part : losses_) loss += part;
    const auto rounded = static_cast<float>(loss);
    RowTarget<float>(view_of(c_.tensor(x_.loss_at))).write(0, 1, &rounded);
    return 0;
  }

 private:
  using Source = std::unique_ptr<const TokenReader>;

  int64_t rows_of_queries() const {
    return x_.query.tokens * (x_.query.packed ? 1 : x_.query.batch);
  }
  // Where the row of a token begins in tensors without heads, counted in tokens.
  int64_t place(int64_t b, int64_t token) const {
    return queries_.starts[static_cast<size_t>(b)] + (x_.query.packed ? 0 : b * x_.query.tokens) +
           token;
  }

  Status read() {
    queries_ = x_.queries;
    keys_ = x_.keys;
    if (!x_.known) {
      if (const Status s = read_sequences(x_.op, x_.query_list, c_, x_.query_list_at, x_.kind,
                                          x_.query, &queries_))
        return s;
      if (const Status s =
              read_sequences(x_.op, x_.key_list, c_, x_.key_list_at, x_.kind, x_.key, &keys_))
        return s;
    }
    if (x_.dense) return 0;
    chosen_ = read_all<int64_t>(c_, x_.indices_at, rows_of_queries() * x_.chosen, 0);
    for (int64_t b = 0; b < x_.query.batch; ++b) {
      const int64_t there = keys_.lengths[static_cast<size_t>(b)];
      const int64_t *row = chosen_.data() + place(b, 0) * x_.chosen;
      for (int64_t i = 0; i < queries_.lengths[static_cast<size_t>(b)] * x_.chosen; ++i) {
        if (row[i] >= there)
          return fail(kKernelFault, "%s: sparseIndices has %lld; sequence %lld has %lld keys",
                      x_.op, static_cast<long long>(row[i]), static_cast<long long>(b),
                      static_cast<long long>(there));
      }
    }
    return 0;
  }

  void sources() {
    for (const size_t at : {x_.dq_at, x_.dk_at, x_.dweights_at, x_.softmax_at, x_.loss_at})
      if (at != kAbsent) results_.push_back(view_of(c_.tensor(at)));
    query_ = source(x_.query_at, x_.query, queries_);
    key_ = source(x_.key_at, x_.key, keys_);
    weights_ = safe(x_.weights_at);
    if (x_.given_at != kAbsent) given_ = safe(x_.given_at);
    to_query_ = std::make_unique<TokenReader>(results_[0], x_.query, queries_, nullptr);
    to_key_ = std::make_unique<TokenReader>(results_[1], x_.key, keys_, nullptr);
    if (x_.target != IndexerTarget::kAttention) return;
    main_query_ = source(x_.main_query_at, x_.main_query, queries_);
    main_key_ = source(x_.main_key_at, x_.main_key, keys_);
    const auto all = [&](size_t at) {
      return read_all<float>(c_, at, c_.tensor(at).numel(), 0.0f);
    };
    highest_ = all(x_.highest_at);
    sum_ = all(x_.sum_at);
    if (x_.dense) {
      index_highest_ = all(x_.index_highest_at);
      index_sum_ = all(x_.index_sum_at);
    }
    if (x_.query_rope_at == kAbsent) return;
    SequenceForm query = x_.main_query, key = x_.main_key;
    query.width = key.width = rope_width();
    query_rope_ = source(x_.query_rope_at, query, queries_);
    key_rope_ = source(x_.key_rope_at, key, keys_);
  }

  int64_t rope_width() const { return c_.tensor(x_.query_rope_at).shape.back(); }

  View safe(size_t at) {
    View view = view_of(c_.tensor(at));
    for (const View &result : results_) view = operands_.safe(view, {result});
    return view;
  }
  Source source(size_t at, const SequenceForm &form, const Sequences &sequences) {
    return std::make_unique<TokenReader>(safe(at), form, sequences, nullptr);
  }

  // How many keys of the sequence a token sees.
  int64_t seen(int64_t b, int64_t token) const {
    const int64_t keys = keys_.lengths[static_cast<size_t>(b)];
    if (!x_.causal) return keys;
    return std::clamp<int64_t>(token + 1 + keys - queries_.lengths[static_cast<size_t>(b)], 0,
                               keys);
  }

  void sequence(int64_t b) {
    const int64_t tokens = queries_.lengths[static_cast<size_t>(b)],
                  keys = keys_.lengths[static_cast<size_t>(b)], each = x_.dense ? kBlock : 1,
                  units = (tokens + each - 1) / each;
    const GatheredSums sums = sum_of_tokens(
        units, keys, kIndexerWidth, 0,
        [&](int64_t unit, GatheredSums *sum) {
          if (x_.dense) block(b, unit * kBlock, std::min(kBlock, tokens - unit * kBlock), sum);
          else row(b, unit, sum);
        },
        x_.dense ? 1 : 16);
    parallel_for(keys, 256, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) store_token(*to_key_, b, 0, k, sums.key(k));
    });
  }

  struct Loaded {
    std::vector<float> query, weights, key;
  };

  // The operands of some tokens of a sequence and of the keys at `places`.
  Loaded load(int64_t b, int64_t first, int64_t tokens, const std::vector<int64_t> &places) const {
    const int64_t heads = x_.query.heads, rows = tokens * heads;
    Loaded l{std::vector<float>(static_cast<size_t>(rows * kIndexerWidth)),
             std::vector<float>(static_cast<size_t>(rows)),
             std::vector<float>(places.size() * static_cast<size_t>(kIndexerWidth))};
    for (int64_t i = 0; i < rows; ++i)
      query_->load(b, i % heads, first + i / heads, l.query.data() + i * kIndexerWidth);
    RowSource<float>(weights_).read(place(b, first) * heads, rows, l.weights.data());
    for (size_t i = 0; i < places.size(); ++i)
      key_->load(b, 0, places[i], l.key.data() + static_cast<int64_t>(i) * kIndexerWidth);
    return l;
  }

  // Stores the gradients of some tokens.
  void store(int64_t b, int64_t first, int64_t tokens, const std::vector<float> &query,
             const std::vector<float> &weights) const {
    const int64_t heads = x_.query.heads;
    for (int64_t i = 0; i < tokens * heads; ++i)
      store_token(*to_query_, b, i % heads, first + i / heads, query.data() + i * kIndexerWidth);
    RowTarget<float>(results_[2]).write(place(b, first) * heads, tokens * heads, weights.data());
  }

  // One token and the keys that are chosen for it.
  void row(int64_t b, int64_t token, GatheredSums *sums) {
    std::vector<int64_t> keys, places;  // and where they stand in the list
    const int64_t *list = chosen_.data() + place(b, token) * x_.chosen, most = seen(b, token);
    for (int64_t i = 0; i < x_.chosen; ++i) {
      if (list[i] < 0 || list[i] >= most) continue;
      keys.push_back(list[i]);
      places.push_back(i);
    }
    if (keys.empty()) return;
    const Loaded l = load(b, token, 1, keys);
    const auto count = static_cast<int64_t>(keys.size());
    IndexerSlopes indexer(
        {l.query.data(), l.weights.data(), l.key.data(), 1, x_.query.heads, count, kIndexerWidth});
    std::vector<float> slopes(keys.size()), given(static_cast<size_t>(x_.chosen));
    if (x_.given_at != kAbsent)
      RowSource<float>(given_).read(place(b, token) * x_.chosen, x_.chosen, given.data());
    if (x_.target == IndexerTarget::kValues) {
      for (size_t i = 0; i < keys.size(); ++i) slopes[i] = given[static_cast<size_t>(places[i])];
    } else {
      slopes = indexer.scores();
      const double lse = softmax_in_place(slopes.data(), count);
      if (x_.target == IndexerTarget::kShares) {
        std::vector<float> softmax(static_cast<size_t>(x_.chosen), 0.0f);
        for (size_t i = 0; i < keys.size(); ++i) {
          softmax[static_cast<size_t>(places[i])] = slopes[i];
          slopes[i] -= given[static_cast<size_t>(places[i])];
        }
        RowTarget<float>(view_of(c_.tensor(x_.softmax_at)))
            .write(place(b, token) * x_.chosen, x_.chosen, softmax.data());
      } else {
        const std::vector<float> shares = attention_of(b, token, keys);
        losses_[static_cast<size_t>(place(b, token))] =
            divergence(shares.data(), indexer.scores().data(), lse, count);
        for (size_t i = 0; i < keys.size(); ++i) slopes[i] -= shares[i];
      }
    }
    std::vector<float> query(l.query.size()), weights(l.weights.size());
    indexer.back(slopes.data(), keys, sums, query.data(), weights.data());
    store(b, token, 1, query, weights);
  }

  // Of the distribution `shares` from softmax(scores); what has no share takes no part.
  static double divergence(const float *shares, const float *scores, double lse, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      if (shares[i] <= 0.0f) continue;
      const double share = shares[i];
      sum += share * (std::log(share) - (scores[i] - lse));
    }
    return sum;
  }

  // The softmax of attention over some keys that all heads share, averaged over the heads.
  std::vector<float> attention_of(int64_t b, int64_t token,
                                  const std::vector<int64_t> &keys) const {
    const int64_t heads = x_.main_query.heads, nope = x_.main_query.width,
                  width = nope + (query_rope_ ? rope_width() : 0);
    const auto count = static_cast<int64_t>(keys.size());
    std::vector<float> q(static_cast<size_t>(heads * width)), k(static_cast<size_t>(count * width)),
        scores(static_cast<size_t>(heads * count), 0.0f);
    for (int64_t n = 0; n < heads; ++n) {
      main_query_->load(b, n, token, q.data() + n * width);
      if (query_rope_) query_rope_->load(b, n, token, q.data() + n * width + nope);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t key = keys[static_cast<size_t>(i)];
      main_key_->load(b, 0, key, k.data() + i * width);
      if (key_rope_) key_rope_->load(b, 0, key, k.data() + i * width + nope);
    }
    const Matrix query{q.data(), ACL_FLOAT, heads, width, {width}, {1}},
        key{k.data(), ACL_FLOAT, count, width, {width}, {1}};
    gemm_f32(query, key.transposed(), AveragedRows(scores.data(), count, x_.scale));
    std::vector<float> shares(keys.size(), 0.0f);
    for (int64_t n = 0; n < heads; ++n)
      add_chances(scores.data() + n * count, count, place(b, token) * heads + n, shares.data());
    return shares;
  }

  // Adds the share of one head, whose statistics are at a place, to those of all heads.
  void add_chances(float *scores, int64_t count, int64_t at, float *shares) const {
    const auto i = static_cast<size_t>(at);
    float_kernels().shifted_powers(scores, count, highest_[i], false);
    const float factor = 1.0f / (sum_[i] * static_cast<float>(x_.main_query.heads));
    for (int64_t j = 0; j < count; ++j) shares[j] += scores[j] * factor;
  }

  // Tokens that meet all keys up to their own.
  void block(int64_t b, int64_t first, int64_t tokens, GatheredSums *sums) {
    const int64_t most = seen(b, first + tokens - 1);
    if (most == 0) return;
    std::vector<int64_t> keys(static_cast<size_t>(most));
    for (int64_t k = 0; k < most; ++k) keys[static_cast<size_t>(k)] = k;
    const Loaded l = load(b, first, tokens, keys);
    IndexerSlopes indexer({l.query.data(), l.weights.data(), l.key.data(), tokens, x_.query.heads,
                           most, kIndexerWidth});
    const std::vector<float> shares = attention_of_block(b, first, tokens, most);
    std::vector<float> slopes = indexer.scores();
    for (int64_t i = 0; i < tokens; ++i) {
      const int64_t there = seen(b, first + i);
      const auto at = static_cast<size_t>(place(b, first + i));
      float *slope = slopes.data() + i * most;
      const float *share = shares.data() + i * most, *scores = indexer.scores().data() + i * most,
                  factor = 1.0f / index_sum_[at];
      if (there > 0)
        losses_[at] =
            divergence(share, scores,
                       index_highest_[at] + std::log(static_cast<double>(index_sum_[at])), there);
      float_kernels().shifted_powers(slope, there, index_highest_[at], false);
      for (int64_t j = 0; j < there; ++j) slope[j] = slope[j] * factor - share[j];
      std::fill(slope + there, slope + most, 0.0f);
    }
    std::vector<float> query(l.query.size()), weights(l.weights.size());
    indexer.back(slopes.data(), keys, sums, query.data(), weights.data());
    store(b, first, tokens, query, weights);
  }

  // The tokens of a head where they lie.
  static Matrix rows(const TokenReader &from, int64_t b, int64_t head, int64_t first,
                     int64_t count) {
    const Heads &h = from.heads();
    const char *data = h.data + from.at(b, head, first) * static_cast<int64_t>(item_size(h.dtype));
    return {data, h.dtype, count, from.width(), {h.token}, {h.item}};
  }

  // The same average where each head has keys of its own: a row for each token.
  std::vector<float> attention_of_block(int64_t b, int64_t first, int64_t tokens,
                                        int64_t most) const {
    const int64_t heads = x_.main_query.heads;
    std::vector<float> shares(static_cast<size_t>(tokens * most), 0.0f), scores(shares.size());
    for (int64_t n = 0; n < heads; ++n) {
      std::fill(scores.begin(), scores.end(), 0.0f);
      const AveragedRows to(scores.data(), most, x_.scale);
      gemm_f32(rows(*main_query_, b, n, first, tokens),
               rows(*main_key_, b, n, 0, most).transposed(), to);
      if (query_rope_)
        gemm_f32(rows(*query_rope_, b, n, first, tokens),
                 rows(*key_rope_, b, n, 0, most).transposed(), to);
      for (int64_t i = 0; i < tokens; ++i) {
        // Statistics have their heads in front of the tokens.
        const int64_t token = first + i, all = x_.query.tokens,
                      at = x_.query.packed ? n * all + place(b, token)
                                           : (b * heads + n) * all + token;
        add_chances(scores.data() + i * most, seen(b, token), at, shares.data() + i * most);
      }
    }
    return shares;
  }

  const IndexerBack &x_;
  PlanContext &c_;
  Operands operands_;
  Sequences queries_, keys_;
  std::vector<int64_t> chosen_;
  std::vector<View> results_;
  View weights_, given_;
  Source query_, key_, main_query_, main_key_, query_rope_, key_rope_, to_query_, to_key_;
  std::vector<float> highest_, sum_, index_highest_, index_sum_;
  std::vector<double> losses_;
};

}  // namespace

Status run_indexer_back(const IndexerBack &indexer, PlanContext &context) {
  return IndexerBackRun(indexer, context).run();
}

}  // namespace emu
