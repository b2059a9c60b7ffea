// SPDX-License-Identifier: Apache-2.0
// Gradients of the lightning indexers: what phase one makes of the operators that have them.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

// The indexers' heads have this many elements.
constexpr int64_t kIndexerWidth = 128;

// Where the gradient of the scores comes from.
enum class IndexerTarget : uint8_t {
  kValues,     // it is given
  kShares,     // softmax(scores) less a distribution that is given
  kAttention,  // less the softmax of attention, averaged over its heads
};

// `_at`: where a tensor is in the plan. What begins with `main` is of attention.
struct IndexerBack {
  const char *op;
  IndexerTarget target;
  bool causal = false, dense = false;
  SequenceForm query, key, main_query, main_key;
  int64_t chosen = 0;  // places for each token; 0 where every key is met
  float scale = 1.0f;
  // Sequences that phase one knows, else the lists that say them.
  bool known = false;
  Sequences queries, keys;
  LengthList kind = LengthList::kCounts;
  const char *query_list = nullptr, *key_list = nullptr;
  size_t query_list_at = kAbsent, key_list_at = kAbsent;
  size_t query_at, key_at, weights_at, indices_at = kAbsent, given_at = kAbsent;
  size_t main_query_at = kAbsent, main_key_at = kAbsent, query_rope_at = kAbsent,
         key_rope_at = kAbsent, highest_at = kAbsent, sum_at = kAbsent, index_highest_at = kAbsent,
         index_sum_at = kAbsent;
  size_t dq_at, dk_at, dweights_at, softmax_at = kAbsent, loss_at = kAbsent;
};

Status run_indexer_back(const IndexerBack &indexer, PlanContext &context);

}  // namespace emu
