// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of SparseFlashMlaGrad.
#include <cmath>

#include "ops/attention/sparse/gathered_sums.h"
#include "ops/attention/sparse/sparse_mla.h"

namespace emu {
namespace {

class MlaBack : MlaKeys {
 public:
  using MlaKeys::MlaKeys;

  Status run() {
    if (const Status s = read()) return s;
    const int64_t heads = x_.query.heads;
    lse_ = read_all<float>(c_, x_.lse_at, c_.tensor(x_.lse_at).numel(), 0.0f);
    if (x_.sinks_at != kAbsent) sinks_ = read_all<float>(c_, x_.sinks_at, heads, 0.0f);
    along_.assign(lse_.size(), 0.0f);
    sources();
    for (const View &result : results_) clear(result);
    for (int64_t b = 0; b < x_.query.batch; ++b) sequence(b);
    if (x_.sinks_gradient_at != kAbsent) sink_slopes();
    return 0;
  }

 private:
  using Source = std::unique_ptr<const TokenReader>;

  void sources() {
    for (const size_t at : {x_.dq_at, x_.own_gradient_at, x_.compressed_gradient_at,
                            x_.sinks_gradient_at, x_.shares_at})
      if (at != kAbsent) results_.push_back(view_of(c_.tensor(at)));
    query_ = source(x_.query_at, x_.query, queries_);
    dy_ = source(x_.dy_at, x_.query, queries_);
    out_ = source(x_.out_at, x_.query, queries_);
    own_kv_ = source(x_.own.kv_at, x_.own.form, own_.sequences);
    to_query_ = target(x_.dq_at, x_.query, queries_);
    to_own_ = target(x_.own_gradient_at, x_.own.form, own_.sequences);
    if (!x_.compressed.given) return;
    compressed_kv_ = source(x_.compressed.kv_at, x_.compressed.form, compressed_.sequences);
    to_compressed_ = target(x_.compressed_gradient_at, x_.compressed.form, compressed_.sequences);
  }

  Source source(size_t at, const SequenceForm &form, const Sequences &sequences) {
    View view = view_of(c_.tensor(at));
    for (const View &result : results_) view = operands_.safe(view, {result});
    return std::make_unique<const TokenReader>(view, form, sequences, nullptr);
  }
  Source target(size_t at, const SequenceForm &form, const Sequences &sequences) const {
    return std::make_unique<const TokenReader>(view_of(c_.tensor(at)), form, sequences, nullptr);
  }

  // Compressed tokens stand behind the others in the sums.
  void sequence(int64_t b) {
    const auto at = static_cast<size_t>(b);
    const int64_t own = own_.sequences.lengths[at],
                  compressed = x_.compressed.given ? compressed_.sequences.lengths[at] : 0;
    const GatheredSums sums =
        sum_of_tokens(queries_.lengths[at], own + compressed, kMlaWidth, 0,
                      [&](int64_t token, GatheredSums *sum) { row(b, token, own, sum); });
    parallel_for(own + compressed, 64, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        if (k < own) store_token(*to_own_, b, 0, k, sums.key(k));
        else store_token(*to_compressed_, b, 0, k - own, sums.key(k));
      }
    });
  }

  void row(int64_t b, int64_t token, int64_t own, GatheredSums *sums) {
    std::vector<int64_t> keys = own_keys(b, token), places;
    const std::vector<int64_t> compressed = compressed_keys(b, token, &places);
    const size_t before = keys.size();
    for (const int64_t key : compressed) keys.push_back(own + key);
    const int64_t count = static_cast<int64_t>(keys.size()), heads = x_.query.heads;
    std::vector<float> q(static_cast<size_t>(heads * kMlaWidth)), dy(q.size()),
        k(static_cast<size_t>(count * kMlaWidth)), out(static_cast<size_t>(kMlaWidth));
    GatheredStatistics rows{dy.data(), {}, {}, {}};
    for (int64_t n = 0; n < heads; ++n) {
      float *slopes = dy.data() + n * kMlaWidth;
      query_->load(b, n, token, q.data() + n * kMlaWidth);
      dy_->load(b, n, token, slopes);
      out_->load(b, n, token, out.data());
      const auto at = static_cast<size_t>(place(b, token) * heads + n);
      along_[at] = sum_along(slopes, out.data(), kMlaWidth);
      rows.along.push_back(along_[at]);
      rows.references.push_back(lse_[at]);
      rows.factors.push_back(1.0f);
    }
    if (count == 0) return;
    for (size_t i = 0; i < keys.size(); ++i) {
      float *to = k.data() + static_cast<int64_t>(i) * kMlaWidth;
      if (i < before) own_kv_->load(b, 0, keys[i], to);
      else compressed_kv_->load(b, 0, keys[i] - own, to);
    }
    GatheredSlopes found;
    GatheredAttention given{q.data(), k.data(),  k.data(),  heads,
                            count,    kMlaWidth, kMlaWidth, x_.scale};
    given.with_chances = x_.shares_at != kAbsent;
    attend_back(given, rows, keys, sums, &found);
    for (int64_t n = 0; n < heads; ++n)
      store_token(*to_query_, b, n, token, found.query.data() + n * kMlaWidth);
    if (x_.shares_at != kAbsent) store_shares(b, token, before, places, found.chances);
  }

  // The average over the heads of the softmax of each chosen compressed token.
  void store_shares(int64_t b, int64_t token, size_t before, const std::vector<int64_t> &places,
                    const std::vector<float> &chances) const {
    const auto heads = static_cast<size_t>(x_.query.heads), count = before + places.size();
    std::vector<float> shares(static_cast<size_t>(x_.compressed.chosen), 0.0f);
    for (size_t i = 0; i < places.size(); ++i) {
      double sum = 0.0;
      for (size_t n = 0; n < heads; ++n) sum += chances[n * count + before + i];
      shares[static_cast<size_t>(places[i])] = static_cast<float>(sum / static_cast<double>(heads));
    }
    RowTarget<float>(view_of(c_.tensor(x_.shares_at)))
        .write(place(b, token) * x_.compressed.chosen, x_.compressed.chosen, shares.data());
  }

  // A sink has no value: what it takes away from the results of all tokens.
  void sink_slopes() const {
    const auto heads = static_cast<size_t>(x_.query.heads);
    std::vector<double> sums(heads, 0.0);
    for (int64_t b = 0; b < x_.query.batch; ++b) {
      for (int64_t t = 0; t < queries_.lengths[static_cast<size_t>(b)]; ++t) {
        for (size_t n = 0; n < heads; ++n) {
          const size_t at = static_cast<size_t>(place(b, t)) * heads + n;
          sums[n] -= std::exp(static_cast<double>(sinks_[n]) - lse_[at]) * along_[at];
        }
      }
    }
    const std::vector<float> slopes(sums.begin(), sums.end());
    RowTarget<float>(view_of(c_.tensor(x_.sinks_gradient_at)))
        .write(0, x_.query.heads, slopes.data());
  }

  Operands operands_;
  std::vector<View> results_;
  Source query_, dy_, out_, own_kv_, compressed_kv_, to_query_, to_own_, to_compressed_;
  std::vector<float> lse_, sinks_, along_;
};

}  // namespace

Status run_mla_back(const Mla &mla, PlanContext &context) { return MlaBack(mla, context).run(); }

}  // namespace emu
