// SPDX-License-Identifier: Apache-2.0
// MlaPreprocess: tokens become the queries and the cached keys of latent attention, through
// products of numbers of 8 bits.
#pragma once

#include "ops/attention/mla/mla_prolog.h"

namespace emu {

// One quantised product: what is in front of it and behind it.
struct PreprocessStep {
  const aclTensor *gamma, *beta, *scale, *offset;  // in front
  const aclTensor *weight, *factors, *bias;
};

struct PreprocessCall {
  const char *op;
  const aclTensor *input;
  PreprocessStep step[2];
  const aclTensor *gamma, *cos, *sin, *up;
  const aclTensor *kv_cache, *kr_cache, *slots;
  const aclTensor *unused[2];  // scales of cacheMode 2
  double epsilon;
  bool transposed[3];
  int64_t cache_mode, quant_mode;
  bool norm;
  int64_t parts;
  bool with_down = false;  // of the second version
  const aclTensor *query, *kv_out, *query_rope, *kr_out, *down = nullptr;
  bool second = false;
};

struct PreprocessSizes {
  int64_t tokens, hidden, rank, heads, head;  // head: without its rotary part
  int64_t places, slots;
};

// Caches that lie in one piece, in two, or in two whose elements lie in runs of 32 bytes.
constexpr int64_t kJoinedCache = 0, kSplitCache = 1, kBlockedCache = 3;
constexpr int64_t kJoinedKey = kKeyRank + kRotary;

PreprocessSizes check_preprocess(Check &check, const PreprocessCall &call);
// A weight (rows, columns) given as such in FRACTAL_NZ, or as its blocks.
aclTensor weight_matrix(const aclTensor &weight, int64_t rows, int64_t columns);

}  // namespace emu
