// SPDX-License-Identifier: Apache-2.0
// What phase one makes of a call of a lightning indexer.
#pragma once

#include "ops/attention/sequences.h"

namespace emu {

// `_at`: where a tensor is in the plan.
struct Indexer {
  const char *op, *query_lengths_name, *key_lengths_name;
  SequenceForm query, key;
  LengthList query_kind, key_kind;
  int64_t count = 0, ratio = 1;
  bool causal = false, with_values = false;
  size_t query_at, key_at, weights_at, query_scale_at = kAbsent, key_scale_at = kAbsent,
                                       query_lengths_at = kAbsent, key_lengths_at = kAbsent,
                                       residuals_at = kAbsent, table_at = kAbsent, indices_at,
                                       values_at = kAbsent;
};

// Phase two.
Status run_indexer(const Indexer &indexer, PlanContext &context);

}  // namespace emu
