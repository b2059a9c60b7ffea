// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of SparseFlashMla and of its form with quantised keys.
#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/sparse/sparse_mla.h"
#include "ops/shared/low_bits.h"

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

class MlaRun : MlaKeys {
 public:
  using MlaKeys::MlaKeys;

  Status run() {
    if (const Status s = read()) return s;
    sinks_ = read_all<float>(c_, x_.sinks_at, x_.query.heads, 0.0f);
    compute();
    return 0;
  }

 private:
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

  std::vector<float> sinks_;
};

}  // namespace

Status run_mla(const Mla &mla, PlanContext &context) { return MlaRun(mla, context).run(); }

}  // namespace emu
