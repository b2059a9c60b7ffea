// SPDX-License-Identifier: Apache-2.0
// What SparseFlashAttention and its gradient know of a call, and which keys a token meets.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

constexpr int64_t kSparseWidth = 512, kSparseRotary = 64, kSparseMostHeads = 128;
// The mode of the mask that hides what is behind a token; the last tokens are level with the keys.
constexpr int64_t kSparseCausal = 3;

struct Sparse {
  const char *op;
  SequenceForm query, key;
  int64_t chosen = 0, block = 1;
  float scale = 1.0f;
  bool causal = false, with_sums = false, rotary = false;
  size_t query_at, key_at, value_at = kAbsent, indices_at, table_at = kAbsent, query_lengths_at,
                           key_lengths_at, query_rope_at, key_rope_at, sinks_at = kAbsent, out_at,
                           highest_at, sum_at;
  // Of the gradient.
  size_t dy_at = kAbsent, dq_at = kAbsent, dk_at = kAbsent, dv_at = kAbsent,
         query_rope_gradient_at = kAbsent, key_rope_gradient_at = kAbsent;
};

// The keys that each token meets, read when the kernel runs.
class SparseKeys {
 public:
  SparseKeys(const Sparse &sparse, PlanContext &context) : x_(sparse), c_(context) {}

  // Reads the lists; a block outside the keys is a fault.
  Status read();
  // Where the row of a token begins in sparseIndices and the statistics, counted in tokens.
  int64_t place(int64_t batch, int64_t token) const {
    return queries_.starts[static_cast<size_t>(batch)] +
           (x_.query.packed ? 0 : batch * x_.query.tokens) + token;
  }
  // The keys of a token in the order of its blocks. A block below 0 ends the list.
  std::vector<int64_t> met(int64_t batch, int64_t token) const;

 protected:
  const Sparse &x_;
  PlanContext &c_;
  Sequences queries_, keys_;
  PageTable pages_;

 private:
  Status check_chosen() const;

  std::vector<int64_t> chosen_;
};

}  // namespace emu
