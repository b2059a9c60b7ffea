// SPDX-License-Identifier: Apache-2.0
// The index scores of a few tokens over the same keys, and what their gradient adds to all
// operands.
#pragma once

#include "ops/attention/sparse/gathered_sums.h"

namespace emu {

// The queries have `heads` rows for each token, one token after another.
struct IndexerOperands {
  const float *query, *weights, *key;
  int64_t tokens, heads, keys, width;
};

class IndexerSlopes {
 public:
  explicit IndexerSlopes(const IndexerOperands &operands);

  // The sum over heads of weight * relu(query @ key): a row for each token.
  const std::vector<float> &scores() const { return scores_; }
  // From the gradient of the scores: those of queries and weights, and those of the keys added to
  // `sums` at their places.
  void back(const float *slopes, const std::vector<int64_t> &places, GatheredSums *sums,
            float *query, float *weights);

 private:
  IndexerOperands o_;
  std::vector<float> products_, scores_;
};

// A row becomes its softmax; the logarithm of its sum of powers is returned.
double softmax_in_place(float *row, int64_t count);

}  // namespace emu
