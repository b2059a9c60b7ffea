// SPDX-License-Identifier: Apache-2.0
// What phase one makes of a call of attention over selected blocks.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

// The statistics of a row lie in the memory this often.
constexpr int64_t kSelectedLanes = 8;

struct Selected {
  const char *op;
  SequenceForm query, key, value;
  Sequences queries, keys;
  int64_t block = 0, count = 0;
  float scale = 1.0f;
  bool causal = false;    // by the places from the first tokens on
  bool stepwise = false;  // the last tokens of a sequence: each sees the keys up to its own
  bool with_mask = false, with_sums = false;
  size_t query_at, key_at, value_at, chosen_at, mask_at = kAbsent, table_at = kAbsent, out_at,
                                                highest_at = kAbsent, sum_at = kAbsent;
  size_t dy_at = kAbsent, dq_at = kAbsent, dk_at = kAbsent, dv_at = kAbsent;  // of the gradient

  int64_t group() const { return query.heads / key.heads; }
  // Where the row of a token begins in topkIndices and the statistics, counted in tokens.
  int64_t place(int64_t batch, int64_t token) const {
    return queries.starts[static_cast<size_t>(batch)] + (query.packed ? 0 : batch * query.tokens) +
           token;
  }
};

// The arguments of the forward operator and its gradient that say what is met.
struct SelectedArguments {
  const aclTensor *query, *key, *value, *chosen, *mask;
  const aclIntArray *query_ends, *key_ends;
  double scale;
  int64_t heads;
  const char *layout;
  int64_t mode, block, count;
};
// Their sizes; the tensors are there and of the right dtypes.
void check_selected(const SelectedArguments &given, Check &check, Selected *selected);
// (tokens, heads, lanes) and (tokens, heads, width of a value).
Layout selected_statistics(const Selected &selected);
Layout selected_result(const Selected &selected);

// Phase two.
Status run_selected(const Selected &selected, PlanContext &context);
Status run_selected_back(const Selected &selected, PlanContext &context);

}  // namespace emu
