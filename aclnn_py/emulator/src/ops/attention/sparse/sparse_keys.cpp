// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include <algorithm>

#include "core/statuses.h"
#include "ops/attention/sparse/sparse_flash.h"

namespace emu {

Status SparseKeys::read() {
  const auto kind = [](const SequenceForm &form) {
    return form.packed ? LengthList::kEnds : LengthList::kCounts;
  };
  if (const Status s = read_sequences(x_.op, "actualSeqLengthsQueryOptional", c_,
                                      x_.query_lengths_at, kind(x_.query), x_.query, &queries_))
    return s;
  if (const Status s = read_sequences(x_.op, "actualSeqLengthsKvOptional", c_, x_.key_lengths_at,
                                      kind(x_.key), x_.key, &keys_))
    return s;
  if (const Status s = read_page_table(x_.op, c_, x_.table_at, x_.key, keys_, &pages_)) return s;
  chosen_ = read_all<int64_t>(c_, x_.indices_at, c_.tensor(x_.indices_at).numel(), 0);
  return check_chosen();
}

Status SparseKeys::check_chosen() const {
  for (int64_t b = 0; b < x_.query.batch; ++b) {
    const int64_t blocks = (keys_.lengths[static_cast<size_t>(b)] + x_.block - 1) / x_.block;
    for (int64_t t = 0; t < queries_.lengths[static_cast<size_t>(b)]; ++t) {
      for (int64_t i = 0; i < x_.chosen; ++i) {
        const int64_t block = chosen_[static_cast<size_t>(place(b, t) * x_.chosen + i)];
        if (block < 0) break;  // the rest is not valid
        if (block >= blocks)
          return fail(kKernelFault, "%s: sparseIndices has %lld; sequence %lld has %lld blocks",
                      x_.op, static_cast<long long>(block), static_cast<long long>(b),
                      static_cast<long long>(blocks));
      }
    }
  }
  return 0;
}

std::vector<int64_t> SparseKeys::met(int64_t b, int64_t token) const {
  std::vector<int64_t> found;
  const int64_t keys = keys_.lengths[static_cast<size_t>(b)],
                queries = queries_.lengths[static_cast<size_t>(b)];
  if (token >= queries) return found;
  const int64_t seen = x_.causal ? std::clamp<int64_t>(token + 1 + keys - queries, 0, keys) : keys;
  for (int64_t i = 0; i < x_.chosen; ++i) {
    const int64_t block = chosen_[static_cast<size_t>(place(b, token) * x_.chosen + i)];
    if (block < 0) break;
    for (int64_t k = block * x_.block; k < std::min((block + 1) * x_.block, seen); ++k)
      found.push_back(k);
  }
  return found;
}

}  // namespace emu
