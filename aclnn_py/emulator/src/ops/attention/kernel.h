// SPDX-License-Identifier: Apache-2.0
// The operands of attention where they lie, and the kernel over them.
#pragma once

#include <vector>

#include "ops/attention/tokens.h"

namespace emu {

// A tensor that has an entry per pair of a query's and a key's token, with its strides in elements.
struct Pairs {
  const char *data = nullptr;
  aclDataType dtype = ACL_BOOL;
  int64_t batch = 0, head = 0, token = 0, key = 0;

  int64_t at(int64_t b, int64_t n, int64_t s, int64_t k) const {
    return b * batch + n * head + s * token + k * key;
  }
};

// What training adds to the pairs of tokens, by the head and the place of a token in its sequence.
class PairTerms {
 public:
  // Adds the bias of `count` keys from `first` on.
  virtual void shift(int64_t batch, int64_t head, int64_t token, int64_t first, int64_t count,
                     float *scores) const = 0;
  // Dropout.
  virtual void drop(int64_t batch, int64_t head, int64_t token, int64_t first, int64_t count,
                    float *powers) const = 0;
  // Takes the highest score of a token and the sum of its powers.
  virtual void keep_sums(int64_t batch, int64_t head, int64_t token, float highest,
                         double sum) const = 0;

 protected:
  ~PairTerms() = default;
};

struct AttentionOperand {
  Heads query, rope, out, lse;
  Heads query_scale;  // one element per head
  Pairs pse, mask;
  std::vector<int64_t> trees;  // where the matrices of packed sequences begin
  std::vector<float> sink;
  float dequant1 = 1.0f, quant1 = 1.0f, dequant2 = 1.0f;
  std::vector<float> quant2, offset2;
  // Where sequences begin that are packed or padded on the left; else empty.
  std::vector<int64_t> query_starts, key_starts;
  std::vector<int64_t> key_lengths;
  const PairTerms *terms = nullptr;  // of training
};

// All of it, on the threads of the pool.
void compute_attention(const Attention &attention, const AttentionOperand &operand,
                       const Tokens &keys, const Tokens &values);

}  // namespace emu
