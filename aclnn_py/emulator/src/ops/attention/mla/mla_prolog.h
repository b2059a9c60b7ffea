// SPDX-License-Identifier: Apache-2.0
// What stands before latent attention: queries, latent keys and rotary keys of new tokens.
#pragma once

#include <memory>

#include "ops/op.h"

namespace emu {

struct PrologCall {
  const char *op;
  int version;
  const aclTensor *x, *w_dq, *w_uq_qr, *w_uk, *w_dkv_kr, *gamma_cq, *gamma_ckv, *sin, *cos;
  const aclTensor *index, *kv_cache, *kr_cache;
  const aclTensor *scale_x, *scale_w_dq, *scale_w_uq_qr, *scale_w_dkv_kr;
  const aclTensor *quant_ckv, *quant_ckr, *smooth;
  double epsilon_cq, epsilon_ckv;
  const char *mode;
  const aclTensor *query, *query_rope, *query_scale;
  // of the third version
  const aclTensor *ends = nullptr, *clip = nullptr;
  int64_t weight_mode = 0, cache_mode = 0, query_mode = 0, merged = 0, merged_scales = 0;
  double query_factor = 1.0, key_factor = 1.0;
  const aclTensor *query_norm = nullptr, *query_norm_scale = nullptr;
};

// How the caches are addressed: by slot, by block, or as the tokens lie.
enum class PrologPlaces : uint8_t { kSlots, kBlocks, kOwn };

struct PrologSizes {
  int64_t tokens, batches, sequence;  // batches: 0 where all tokens are in one dimension
  int64_t hidden, query_rank, heads, head;
  int64_t places, slots;
  PrologPlaces by;
  bool fractal;        // caches in runs of 32 bytes
  aclDataType low;     // what quantised weights are
  bool mx;             // with powers of two for 32 values
  bool whole;          // tokens and their weights are quantised
  bool part;           // at least weightUqQr is
  bool keys, queries;  // latent keys, and queries, are quantised
};

constexpr int64_t kKeyRank = 512, kRotary = 64;

PrologSizes check_prolog(Check &check, const PrologCall &call);
Status plan_prolog(const PrologCall &call, uint64_t *workspace_size, aclOpExecutor **executor);

}  // namespace emu
