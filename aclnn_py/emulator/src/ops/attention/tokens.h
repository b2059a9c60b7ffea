// SPDX-License-Identifier: Apache-2.0
// Tensors of heads as matrices of tokens, wherever their dimensions are and whether or not a cache
// of pages holds them.
#pragma once

#include <vector>

#include "ops/attention/attention.h"
#include "ops/matmul/gemm.h"

namespace emu {

// A tensor of heads: distances in elements between sequences, heads, tokens and the elements of a
// head.
struct Heads {
  const char *data = nullptr;
  aclDataType dtype = ACL_FLOAT;
  int64_t batch = 0, head = 0, token = 0, item = 0;

  int64_t at(int64_t b, int64_t n, int64_t s) const { return b * batch + n * head + s * token; }
};

Heads heads_of(const View &view, Arrangement form, int64_t width);

// Keys or values: the tokens of every sequence.
class Tokens {
 public:
  // `tensors` has one view, or one for each sequence.
  Tokens(const Attention &attention, const std::vector<View> &tensors,
         const std::vector<int64_t> &pages, int64_t pages_per_sequence);

  // Tokens [first, first + count) of a sequence and head as the rows of a matrix: where they lie,
  // or for pages copied to `room`, which has a place for them.
  Matrix rows(int64_t batch, int64_t head, int64_t first, int64_t count, char *room) const;
  // Bytes that `count` tokens take in `room`.
  size_t room(int64_t count) const;

 private:
  std::vector<Heads> heads_;
  const std::vector<int64_t> &starts_;  // of packed sequences
  bool listed_;
  int64_t width_, block_size_, pages_per_sequence_;
  const std::vector<int64_t> &pages_;
};

}  // namespace emu
