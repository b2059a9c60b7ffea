// SPDX-License-Identifier: Apache-2.0
// The arguments of SparseFlashMla and of its form with quantised keys, and what phase one makes of
// them.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

// A token has this many elements, of which the last ones are the rotary part.
constexpr int64_t kMlaWidth = 512, kMlaRope = 64;
// Modes of the masks.
constexpr int64_t kMlaNoMask = 0, kMlaCausal = 3, kMlaBand = 4;

// Tokens or compressed tokens, and what says which of them there are and which are chosen.
struct MlaSide {
  Named<aclTensor> kv, chosen, table, ends, used;
};

// The arguments of both operators.
struct MlaCall {
  const char *op;
  bool quantised;
  int64_t quant_mode, rope;
  const aclTensor *q;
  MlaSide own, compressed;
  Named<aclTensor> query_ends, used_queries, residuals, counts, compressed_counts, sinks, metadata;
  double scale;
  int64_t ratio, mask, compressed_mask, left, right;
  const char *query_layout, *key_layout;
  int64_t value_mode;
  bool with_lse;
  const aclTensor *out;
  Named<aclTensor> lse;
};

struct MlaPart {
  bool given = false;
  SequenceForm form;
  int64_t chosen = 0;  // for each token; 0 without a list
  size_t kv_at = kAbsent, chosen_at = kAbsent, table_at = kAbsent, ends_at = kAbsent,
         used_at = kAbsent;
};

struct Mla {
  const char *op;
  int64_t quant_mode = 0;  // 0: keys are what they say
  SequenceForm query;
  MlaPart own, compressed;
  int64_t ratio = 1, mask = 0, compressed_mask = 0, left = -1, right = -1;
  float scale = 1.0f;
  bool with_lse = false, counted = false, compressed_counted = false, with_residuals = false;
  size_t query_at, query_ends_at, used_queries_at = kAbsent, residuals_at, counts_at,
                                  compressed_counts_at, sinks_at, out_at, lse_at;
  // Of the gradient; `shares` is the softmax of compressed tokens, averaged over the heads.
  size_t dy_at = kAbsent, dq_at = kAbsent, own_gradient_at = kAbsent,
         compressed_gradient_at = kAbsent, sinks_gradient_at = kAbsent, shares_at = kAbsent;
};

// The tokens and compressed tokens that each token meets, read when the kernel runs.
class MlaKeys {
 public:
  MlaKeys(const Mla &mla, PlanContext &context) : x_(mla), c_(context) {}

  // Reads the lists; a chosen token outside its sequence is a fault.
  Status read();
  // Where the row of a token begins in the lists of chosen tokens, counted in tokens.
  int64_t place(int64_t batch, int64_t token) const {
    return queries_.starts[static_cast<size_t>(batch)] +
           (x_.query.packed ? 0 : batch * x_.query.tokens) + token;
  }
  std::vector<int64_t> own_keys(int64_t batch, int64_t token) const;
  // `places`, if any, becomes where each of them stands among the chosen ones.
  std::vector<int64_t> compressed_keys(int64_t batch, int64_t token,
                                       std::vector<int64_t> *places = nullptr) const;

 protected:
  struct Side {
    Sequences sequences;
    PageTable pages;
    std::vector<int64_t> chosen;
  };

  const Mla &x_;
  PlanContext &c_;
  Sequences queries_;
  Side own_, compressed_;

 private:
  std::vector<int64_t> all(size_t at) const;
  Status shorten(size_t at, const char *what, Sequences *sequences) const;
  Status read_side(const MlaPart &part, const char *what, Side *side);
  Status check_chosen() const;

  std::vector<int64_t> counts_, compressed_counts_, residuals_;
};

// Phase one of both operators.
Status plan_mla(const MlaCall &call, uint64_t *workspace_size, aclOpExecutor **executor);
// Phase two.
Status run_mla(const Mla &mla, PlanContext &context);
Status run_mla_back(const Mla &mla, PlanContext &context);

}  // namespace emu
