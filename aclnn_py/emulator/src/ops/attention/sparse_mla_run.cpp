// SPDX-License-Identifier: Apache-2.0
// Phase two of SparseFlashMla and of its form with quantised keys.
#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/sparse_mla.h"
#include "ops/quant/low_bits.h"

namespace emu {
namespace {

// The bytes of a token: the rotary part in BFLOAT16, the rest in FLOAT8_E4M3FN and a scale for each
// group of it. Mode 1 has the rotary part in front and scales in BFLOAT16, mode 2 the rest in front
// and scales in FLOAT8_E8M0. The elements become the rest, then the rotary part.
void load_quantised(int64_t mode, const char *token, float *to) {
  constexpr int64_t rest = kMlaWidth - kMlaRope, group = 64;
  const char *codes = mode == 1 ? token + 2 * kMlaRope : token,
             *rotary = mode == 1 ? token : token + rest, *scales = token + rest + 2 * kMlaRope;
  load_as(ACL_FLOAT8_E4M3FN, codes, 1, rest, ACL_FLOAT, to);
  load_as(ACL_BF16, rotary, 2, kMlaRope, ACL_FLOAT, to + rest);
  for (int64_t g = 0; g < rest / group; ++g) {
    float scale;
    if (mode == 1) load_as(ACL_BF16, scales + 2 * g, 2, 1, ACL_FLOAT, &scale);
    else scale = e8m0_to_float(static_cast<uint8_t>(scales[g]));
    for (int64_t i = 0; i < group; ++i) to[g * group + i] *= scale;
  }
}

class MlaRun {
 public:
  MlaRun(const Mla &mla, PlanContext &context) : x_(mla), c_(context) {}

  Status run() {
    const auto kind = [](const SequenceForm &form) {
      return form.packed ? LengthList::kOffsets : LengthList::kCounts;
    };
    if (const Status s = read_sequences(x_.op, "cuSeqlensQOptional", c_,
                                        x_.query.packed ? x_.query_ends_at : kAbsent,
                                        kind(x_.query), x_.query, &queries_))
      return s;
    if (const Status s = read(x_.own, "the lengths of oriKvOptional", &own_)) return s;
    if (x_.compressed.given) {
      if (const Status s = read(x_.compressed, "the lengths of cmpKvOptional", &compressed_))
        return s;
    }
    if (x_.counted) counts_ = all(x_.counts_at);
    if (x_.compressed_counted) compressed_counts_ = all(x_.compressed_counts_at);
    if (x_.with_residuals) residuals_ = all(x_.residuals_at);
    sinks_ = read_all<float>(c_, x_.sinks_at, x_.query.heads, 0.0f);
    if (const Status s = check_chosen()) return s;
    compute();
    return 0;
  }

 private:
  struct Side {
    Sequences sequences;
    PageTable pages;
    std::vector<int64_t> chosen;
  };

  std::vector<int64_t> all(size_t at) const {
    return read_all<int64_t>(c_, at, c_.tensor(at).numel(), 0);
  }

  Status read(const MlaPart &part, const char *what, Side *side) {
    const bool packed = part.form.packed;
    if (const Status s = read_sequences(x_.op, what, c_, packed ? part.ends_at : part.used_at,
                                        packed ? LengthList::kOffsets : LengthList::kCounts,
                                        part.form, &side->sequences))
      return s;
    if (packed && part.used_at != kAbsent) {
      const std::vector<int64_t> used = all(part.used_at);
      for (size_t b = 0; b < used.size(); ++b) {
        int64_t &length = side->sequences.lengths[b];
        if (used[b] < 0 || used[b] > length)
          return fail(kKernelFault, "%s: %s are %lld for sequence %zu; allowed: 0 to %lld", x_.op,
                      what, static_cast<long long>(used[b]), b, static_cast<long long>(length));
        length = used[b];
      }
    }
    if (part.chosen != 0) side->chosen = all(part.chosen_at);
    return read_page_table(x_.op, c_, part.table_at, part.form, side->sequences, &side->pages);
  }

  int64_t place(int64_t b, int64_t token) const {
    return queries_.starts[static_cast<size_t>(b)] + (x_.query.packed ? 0 : b * x_.query.tokens) +
           token;
  }

  // A chosen token outside its sequence would be other memory.
  Status check_chosen() const {
    for (int64_t b = 0; b < x_.query.batch && x_.counted; ++b) {
      const auto at = static_cast<size_t>(b);
      for (int64_t t = 0; t < queries_.lengths[at]; ++t) {
        const int64_t row = place(b, t), count = counts_[static_cast<size_t>(row)];
        if (count < 0 || count > x_.own.chosen)
          return fail(kKernelFault, "%s: oriTopkLengthOptional has %lld; allowed: 0 to %lld", x_.op,
                      static_cast<long long>(count), static_cast<long long>(x_.own.chosen));
        for (int64_t i = 0; i < count; ++i) {
          const int64_t key = own_.chosen[static_cast<size_t>(row * x_.own.chosen + i)];
          if (key < 0 || key >= own_.sequences.lengths[at])
            return fail(kKernelFault,
                        "%s: oriSparseIndicesOptional has %lld; sequence %lld has %lld tokens",
                        x_.op, static_cast<long long>(key), static_cast<long long>(b),
                        static_cast<long long>(own_.sequences.lengths[at]));
        }
      }
    }
    return 0;
  }

  std::vector<int64_t> own_keys(int64_t b, int64_t token) const {
    const auto at = static_cast<size_t>(b);
    const int64_t there = own_.sequences.lengths[at];
    std::vector<int64_t> keys;
    if (x_.counted) {
      const int64_t row = place(b, token);
      for (int64_t i = 0; i < counts_[static_cast<size_t>(row)]; ++i)
        keys.push_back(own_.chosen[static_cast<size_t>(row * x_.own.chosen + i)]);
      return keys;
    }
    const int64_t threshold = there - queries_.lengths[at] + token + 1;
    int64_t first = 0, end = there;
    if (x_.mask == kMlaCausal) end = threshold;
    if (x_.mask == kMlaBand) {
      if (x_.left >= 0) first = threshold - std::min(x_.left, there + 1) - 1;
      if (x_.right >= 0) end = threshold + std::min(x_.right, there + 1);
    }
    for (int64_t k = std::max<int64_t>(0, first); k < std::min(end, there); ++k) keys.push_back(k);
    return keys;
  }

  std::vector<int64_t> compressed_keys(int64_t b, int64_t token) const {
    std::vector<int64_t> keys;
    if (!x_.compressed.given) return keys;
    const auto at = static_cast<size_t>(b);
    const int64_t there = compressed_.sequences.lengths[at];
    int64_t end = there;
    if (x_.compressed_mask == kMlaCausal) {
      const int64_t whole = there * x_.ratio + (x_.with_residuals ? residuals_[at] : 0);
      const int64_t threshold = whole - queries_.lengths[at] + token + 1;
      end = std::clamp<int64_t>(threshold < 0 ? 0 : threshold / x_.ratio, 0, there);
    }
    if (x_.compressed.chosen == 0) {
      for (int64_t k = 0; k < end; ++k) keys.push_back(k);
      return keys;
    }
    const int64_t row = place(b, token) * x_.compressed.chosen;
    int64_t count = x_.compressed.chosen;
    if (x_.compressed_counted)
      count = std::min(count, compressed_counts_[static_cast<size_t>(place(b, token))]);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t key = compressed_.chosen[static_cast<size_t>(row + i)];
      if (key >= 0 && key < end) keys.push_back(key);
    }
    return keys;
  }

  void compute() {
    Operands operands;
    const View out = view_of(c_.tensor(x_.out_at));
    const auto reader = [&](size_t at, const SequenceForm &form, const Sequences &sequences,
                            const PageTable *pages) {
      return TokenReader(operands.safe(view_of(c_.tensor(at)), {out}), form, sequences, pages);
    };
    const TokenReader query = reader(x_.query_at, x_.query, queries_, nullptr),
                      own = reader(x_.own.kv_at, x_.own.form, own_.sequences, &own_.pages),
                      compressed = x_.compressed.given
                                       ? reader(x_.compressed.kv_at, x_.compressed.form,
                                                compressed_.sequences, &compressed_.pages)
                                       : own,
                      to(out, x_.query, queries_, nullptr);
    int64_t longest = 0;
    for (const int64_t length : queries_.lengths) longest = std::max(longest, length);
    parallel_for(x_.query.batch * longest, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t b = task / longest, token = task % longest;
        if (token < queries_.lengths[static_cast<size_t>(b)])
          row(b, token, query, own, compressed, to);
      }
    });
  }

  void load_key(const TokenReader &tokens, int64_t b, int64_t key, float *to) const {
    if (x_.quant_mode == 0) return tokens.load(b, 0, key, to);
    load_quantised(x_.quant_mode, tokens.heads().data + tokens.at(b, 0, key), to);
  }

  void row(int64_t b, int64_t token, const TokenReader &query, const TokenReader &own,
           const TokenReader &compressed, const TokenReader &to) const {
    const std::vector<int64_t> first = own_keys(b, token), second = compressed_keys(b, token);
    const auto count = static_cast<int64_t>(first.size() + second.size());
    const int64_t heads = x_.query.heads;
    std::vector<float> q(static_cast<size_t>(heads * kMlaWidth)),
        k(static_cast<size_t>(count * kMlaWidth));
    for (int64_t n = 0; n < heads; ++n) query.load(b, n, token, q.data() + n * kMlaWidth);
    float *next = k.data();
    for (const int64_t key : first) load_key(own, b, key, (next += kMlaWidth) - kMlaWidth);
    for (const int64_t key : second) load_key(compressed, b, key, (next += kMlaWidth) - kMlaWidth);
    GatheredAttention a{q.data(), k.data(), k.data(), heads, count, kMlaWidth, kMlaWidth, x_.scale};
    a.sinks = sinks_.data();
    GatheredResult result;
    attend(a, &result);
    const Heads &out = to.heads();
    std::vector<float> lse(static_cast<size_t>(heads));
    for (int64_t n = 0; n < heads; ++n) {
      const auto i = static_cast<size_t>(n);
      store_f32(result.out.data() + n * kMlaWidth, const_cast<char *>(out.data), out.dtype,
                to.at(b, n, token), out.item, kMlaWidth);
      // Without a key the sink is alone.
      lse[i] = count == 0 ? sinks_[i] : result.highest[i] + std::log(result.sum[i]);
    }
    if (x_.with_lse)
      RowTarget<float>(view_of(c_.tensor(x_.lse_at)))
          .write(place(b, token) * heads, heads, lse.data());
  }

  const Mla &x_;
  PlanContext &c_;
  Sequences queries_;
  Side own_, compressed_;
  std::vector<int64_t> counts_, compressed_counts_, residuals_;
  std::vector<float> sinks_;
};

}  // namespace

Status run_mla(const Mla &mla, PlanContext &context) { return MlaRun(mla, context).run(); }

}  // namespace emu
