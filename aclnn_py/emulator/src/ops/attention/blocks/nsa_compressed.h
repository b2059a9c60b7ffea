// SPDX-License-Identifier: Apache-2.0
// What phase one makes of a call of attention over compressed keys.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

// The statistics of a row lie in the memory this often.
constexpr int64_t kCompressedLanes = 8;

struct Compressed {
  const char *op;
  SequenceForm query, key, value;
  Sequences queries, keys;
  // Where only the last tokens of sequences are there: the tokens of a sequence before compression,
  // of which each query sees those up to its own. Empty elsewhere.
  std::vector<int64_t> whole;
  int64_t window = 0, stride = 0;  // of the compression
  int64_t block = 0, count = 0;    // tokens of a block, and how many are chosen
  float scale = 1.0f;
  bool with_mask = false, with_sums = false;
  size_t query_at, key_at, value_at, mask_at = kAbsent, table_at = kAbsent, out_at, chosen_at,
                                     highest_at = kAbsent, sum_at = kAbsent;

  int64_t group() const { return query.heads / key.heads; }
  int64_t keys_per_block() const { return block / stride; }
  int64_t blocks(int64_t compressed) const {
    return compressed / keys_per_block() + (compressed % keys_per_block() != 0);
  }
  // Where the row of a token begins in the results that have no layout of their own, in tokens.
  int64_t place(int64_t batch, int64_t token) const {
    return queries.starts[static_cast<size_t>(batch)] + (query.packed ? 0 : batch * query.tokens) +
           token;
  }
};

// Phase two.
Status run_compressed(const Compressed &compressed, PlanContext &context);

}  // namespace emu
