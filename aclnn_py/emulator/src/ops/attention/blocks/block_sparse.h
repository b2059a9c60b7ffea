// SPDX-License-Identifier: Apache-2.0
// What phase one makes of a call of attention over chosen blocks.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

constexpr int64_t kUsualBlock = 128;

constexpr int64_t blocks_of(int64_t tokens, int64_t size) {
  return tokens / size + (tokens % size != 0);
}

struct BlockSparse {
  const char *op;
  Arrangement form;
  int64_t batch = 0, heads = 0, kv_heads = 0, width = 0;
  int64_t query_tokens = 0, key_tokens = 0;  // of a sequence, or of all packed ones
  std::vector<int64_t> query_starts, query_lengths, key_starts, key_lengths;
  int64_t query_block = kUsualBlock, key_block = kUsualBlock;
  float scale = 1.0f;
  bool with_lse = false;
  size_t query_at, key_at, value_at, pairs_at = kAbsent, list_at = kAbsent, counts_at = kAbsent,
                                     out_at, lse_at;
  size_t scales_at[3] = {kAbsent, kAbsent, kAbsent};  // of the blocks of query, key and value
  int64_t pair_rows = 0, pair_columns = 0;            // blocks of a sequence in the mask of pairs
  int64_t list_width = 0;

  bool packed() const { return form == Arrangement::kPacked; }
};

// Which blocks of keys each block of queries meets.
class BlockChoice {
 public:
  Status read(const BlockSparse &blocks, PlanContext &context);
  std::vector<int64_t> met(const BlockSparse &blocks, int64_t batch, int64_t head,
                           int64_t block) const;

 private:
  std::vector<int64_t> pairs_, list_, counts_, firsts_;
};

// Phase two.
Status run_blocks(const BlockSparse &blocks, PlanContext &context);

}  // namespace emu
