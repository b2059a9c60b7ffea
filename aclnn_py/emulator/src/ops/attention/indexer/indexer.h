// SPDX-License-Identifier: Apache-2.0
// The scores by which the lightning indexers choose keys: the sum over heads of
// weight * relu(query @ key).
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

struct IndexerTensors {
  const TokenReader *query, *key, *weights;
  // Factors of quantised numbers, one for each head and token; null without.
  const TokenReader *query_scale = nullptr, *key_scale = nullptr;
  int64_t heads = 0;
};

// The scores of `queries` tokens from `first` on with the first `keys` keys of their sequence, a
// row for each token.
void indexer_scores(const IndexerTensors &tensors, int64_t batch, int64_t first, int64_t queries,
                    int64_t keys, std::vector<float> *scores);

// How many tokens of a query are scored together.
constexpr int64_t kIndexerBlock = 8;

}  // namespace emu
