// SPDX-License-Identifier: Apache-2.0
// What phase one makes of a call of SparseFlashMla.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

constexpr const char *kMlaOp = "aclnnSparseFlashMla";
constexpr int64_t kMlaWidth = 512;
// Modes of the masks.
constexpr int64_t kMlaNoMask = 0, kMlaCausal = 3, kMlaBand = 4;

struct MlaPart {
  bool given = false;
  SequenceForm form;
  int64_t chosen = 0;  // for each token; 0 without a list
  size_t kv_at = kAbsent, chosen_at = kAbsent, table_at = kAbsent, ends_at = kAbsent,
         used_at = kAbsent;
};

struct Mla {
  SequenceForm query;
  MlaPart own, compressed;
  int64_t ratio = 1, mask = 0, compressed_mask = 0, left = -1, right = -1;
  float scale = 1.0f;
  bool with_lse = false, counted = false, with_residuals = false;
  size_t query_at, query_ends_at, residuals_at, counts_at, sinks_at, out_at, lse_at;
};

// Phase two.
Status run_mla(const Mla &mla, PlanContext &context);

}  // namespace emu
