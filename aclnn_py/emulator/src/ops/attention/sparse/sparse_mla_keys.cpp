// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include <algorithm>

#include "core/statuses.h"
#include "ops/attention/sparse/sparse_mla.h"

namespace emu {

Status MlaKeys::read() {
  const bool packed = x_.query.packed;
  if (const Status s = read_sequences(
          x_.op, "cuSeqlensQOptional", c_, packed ? x_.query_ends_at : x_.used_queries_at,
          packed ? LengthList::kOffsets : LengthList::kCounts, x_.query, &queries_))
    return s;
  if (packed) {
    if (const Status s = shorten(x_.used_queries_at, "sequsedQOptional", &queries_)) return s;
  }
  if (const Status s = read_side(x_.own, "the lengths of oriKvOptional", &own_)) return s;
  if (x_.compressed.given) {
    if (const Status s = read_side(x_.compressed, "the lengths of cmpKvOptional", &compressed_))
      return s;
  }
  if (x_.counted) counts_ = all(x_.counts_at);
  if (x_.compressed_counted) compressed_counts_ = all(x_.compressed_counts_at);
  if (x_.with_residuals) residuals_ = all(x_.residuals_at);
  return check_chosen();
}

std::vector<int64_t> MlaKeys::all(size_t at) const {
  return read_all<int64_t>(c_, at, c_.tensor(at).numel(), 0);
}

// Sequences of which a list says how much is used.
Status MlaKeys::shorten(size_t at, const char *what, Sequences *sequences) const {
  if (at == kAbsent) return 0;
  const std::vector<int64_t> used = all(at);
  for (size_t b = 0; b < used.size(); ++b) {
    int64_t &length = sequences->lengths[b];
    if (used[b] < 0 || used[b] > length)
      return fail(kKernelFault, "%s: %s are %lld for sequence %zu; allowed: 0 to %lld", x_.op, what,
                  static_cast<long long>(used[b]), b, static_cast<long long>(length));
    length = used[b];
  }
  return 0;
}

Status MlaKeys::read_side(const MlaPart &part, const char *what, Side *side) {
  const bool packed = part.form.packed;
  if (const Status s = read_sequences(x_.op, what, c_, packed ? part.ends_at : part.used_at,
                                      packed ? LengthList::kOffsets : LengthList::kCounts,
                                      part.form, &side->sequences))
    return s;
  if (packed) {
    if (const Status s = shorten(part.used_at, what, &side->sequences)) return s;
  }
  if (part.chosen != 0) side->chosen = all(part.chosen_at);
  return read_page_table(x_.op, c_, part.table_at, part.form, side->sequences, &side->pages);
}

Status MlaKeys::check_chosen() const {
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
                      "%s: oriSparseIndicesOptional has %lld; sequence %lld has %lld tokens", x_.op,
                      static_cast<long long>(key), static_cast<long long>(b),
                      static_cast<long long>(own_.sequences.lengths[at]));
      }
    }
  }
  return 0;
}

std::vector<int64_t> MlaKeys::own_keys(int64_t b, int64_t token) const {
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

std::vector<int64_t> MlaKeys::compressed_keys(int64_t b, int64_t token,
                                              std::vector<int64_t> *places) const {
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
    if (key < 0 || key >= end) continue;
    keys.push_back(key);
    if (places != nullptr) places->push_back(i);
  }
  return keys;
}

}  // namespace emu
