// SPDX-License-Identifier: Apache-2.0
// Tokens of the cache compressed by learned weights: each group of tokens becomes one row, and the
// states of tokens that later groups need stay in a cache of pages.
#pragma once

#include "ops/op.h"

namespace emu {

struct Compressor {
  bool packed = false, ring = false;
  int64_t batch = 0, tokens = 0;  // the tokens of a sequence, or of all packed ones
  int64_t hidden = 0, head = 0, ratio = 0;
  int64_t halves = 1;  // 2: a group also reads the one in front of it
  int64_t blocks = 0, places = 0, columns = 0;
  int64_t rows = 0;  // of the result, or of the part of a sequence
  size_t x_at, kv_at, gate_at, state_at, ape_at, table_at, ends_at, used_at, start_at, out_at;

  int64_t width() const { return halves * head; }  // of the values of a token, and of its scores
};

Status run_compressor(const Compressor &x, PlanContext &c);

}  // namespace emu
