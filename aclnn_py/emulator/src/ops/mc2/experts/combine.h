// SPDX-License-Identifier: Apache-2.0
// MoeDistributeCombine in all its versions, with and without the norm that follows it.
#pragma once

#include "ops/mc2/experts/experts.h"

namespace emu {

struct HalfCall;

struct CombineCall {
  ExpertAttributes attributes;
  const aclTensor *expanded, *ids, *assist, *ep_counts, *weights, *tp_counts, *mask;
  const aclTensor *expanded_weights = nullptr, *shared = nullptr;
  // Reserved: they must be null.
  const aclTensor *activation_scale = nullptr, *weight_scale = nullptr, *group_list = nullptr,
                  *elastic = nullptr;
  const aclTensor *x = nullptr, *alpha = nullptr, *beta = nullptr, *constant = nullptr,
                  *times = nullptr;
  int64_t out_dtype = 0, quant_mode = 0, group_list_type = 0;
  const aclTensor *out = nullptr;  // without the norm
  const aclTensor *residual = nullptr, *gamma = nullptr, *y = nullptr, *rstd = nullptr,
                  *sum = nullptr;  // with the norm
  double epsilon = 0;
  const aclTensor *quantised = nullptr, *places = nullptr,
                  *commands = nullptr;  // of a teardown

  bool normalises = false;

  bool first() const { return attributes.version == 1; }
  bool with_norm() const { return normalises; }
  const char *name(const char *of_first, const char *of_others) const {
    return first() ? of_first : of_others;
  }
};

// A row of this rank's experts that goes back, and the token it belongs to.
struct Outgoing {
  int64_t row;
  Origin origin;
};
using SendingOrder = std::vector<Outgoing>;

// The order in which rows leave, by the rank they go to, and their numbers: as epSendCounts and
// assistInfoForCombine, which the first version lacks, give them, or as a setup wrote them down.
Status order_rows(const Experts &experts, const std::vector<int64_t> &ep_counts,
                  const std::vector<int64_t> &assist, int64_t rows, SendingOrder *order,
                  RowCounts *counts);
void order_as_told(const std::vector<TokenRoute> &routes, SendingOrder *order, RowCounts *counts);

// All checks of phase one.
Status check_combine(const CombineCall &call, Experts *experts);
// With `half` the second half alone: a setup has written down where the rows go.
Status plan_combine(const CombineCall &call, uint64_t *workspace_size, aclOpExecutor **executor,
                    const HalfCall *half = nullptr);

}  // namespace emu
