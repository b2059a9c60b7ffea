// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include <algorithm>
#include <limits>

#include "core/statuses.h"
#include "ops/attention/flash_attn.h"
#include "ops/attention/rules.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

struct Side {
  const char *ends_name, *used_name;
  size_t ends_at, used_at;
  bool packed;
  int64_t tokens;  // of a sequence, or of all packed ones
};

// Where packed sequences begin and how long they are; the shorter one of two lengths counts.
Status read_side(const Flash &f, PlanContext &c, const Side &side, std::vector<int64_t> *starts,
                 std::vector<int64_t> *lengths) {
  const Attention &a = f.attention;
  const std::vector<int64_t> ends =
      read_all<int64_t>(c, side.ends_at, side.packed ? a.batch + 1 : 0, 0);
  const std::vector<int64_t> used =
      read_all<int64_t>(c, side.used_at, a.batch, std::numeric_limits<int64_t>::max());
  for (size_t b = 0; b < used.size(); ++b) {
    int64_t length = side.tokens;
    if (side.packed) {
      length = ends[b + 1] - ends[b];
      if ((b == 0 && ends[0] != 0) || length < 0 || ends[b + 1] > side.tokens) {
        return fail(kKernelFault,
                    "%s: %s has %lld behind %lld; it must begin with 0, not decrease and end "
                    "within the %lld tokens",
                    a.op, side.ends_name, wide(ends[b + 1]), wide(ends[b]), wide(side.tokens));
      }
      starts->push_back(ends[b]);
    }
    const bool given = used[b] != std::numeric_limits<int64_t>::max();
    if (used[b] < 0 || (given && !side.packed && used[b] > length)) {
      return fail(kKernelFault, "%s: %s is %lld for sequence %zu; allowed: 0 to %lld", a.op,
                  side.used_name, wide(used[b]), b, wide(length));
    }
    lengths->push_back(std::min(length, used[b]));
  }
  return 0;
}

// Masks count from the last tokens of both sequences.
Band band_of(const Flash &f, int64_t queries, int64_t keys) {
  const int64_t shift = keys - queries;
  if (f.mask == kFlashWhole) return {kFarthest, kFarthest};
  if (f.mask == kFlashCausal) return {kFarthest, shift};
  return {f.left < 0 ? kFarthest : f.left - shift, f.right < 0 ? kFarthest : f.right + shift};
}

// Tokens of packed sequences that do not count have no result.
void clear_behind(const Flash &f, const Attention &a, PlanContext &c) {
  const RowTarget<float> out(view_of(c.tensor(a.out_at)));
  const std::vector<float> zeros(static_cast<size_t>(a.heads * a.width), 0.0f);
  const float nothing = std::numeric_limits<float>::infinity();
  for (size_t b = 0; b < a.query_lengths.size(); ++b) {
    const int64_t end = b + 1 < a.query_starts.size() ? a.query_starts[b + 1] : f.tokens;
    for (int64_t t = a.query_starts[b] + a.query_lengths[b]; t < end; ++t) {
      out.write(t * a.heads * a.width, a.heads * a.width, zeros.data());
      if (!a.with_lse) continue;
      const RowTarget<float> lse(view_of(c.tensor(a.lse_at)));
      for (int64_t n = 0; n < a.heads; ++n)
        lse.write(a.lse_heads_first ? n * f.tokens + t : t * a.heads + n, 1, &nothing);
    }
  }
}

}  // namespace

Status run_flash(const Flash &f, PlanContext &c) {
  Attention a = f.attention;
  const Side query{"cuSeqlensQOptional", "sequsedQOptional", f.query_ends_at,
                   f.query_used_at,      a.packed(),         f.tokens};
  const Side key{"cuSeqlensKvOptional", "sequsedKvOptional", f.key_ends_at,
                 f.key_used_at,         f.packed_keys,       f.key_tokens};
  if (const Status bad = read_side(f, c, query, &a.query_starts, &a.query_lengths)) return bad;
  if (const Status bad = read_side(f, c, key, &a.key_starts, &a.key_lengths)) return bad;
  a.queries =
      a.packed() ? *std::max_element(a.query_lengths.begin(), a.query_lengths.end()) : f.tokens;
  a.keys = f.key_tokens;
  for (size_t b = 0; b < a.query_lengths.size(); ++b)
    a.bands.push_back(band_of(f, a.query_lengths[b], a.key_lengths[b]));
  if (const Status bad = run_attention(a, c)) return bad;
  if (a.packed()) clear_behind(f, a, c);
  return 0;
}

}  // namespace emu
