// SPDX-License-Identifier: Apache-2.0
// MoeDistributeCombine in all its versions, with and without the norm that follows it.
#pragma once

#include "ops/mc2/experts.h"

namespace emu {

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

  bool normalises = false;

  bool first() const { return attributes.version == 1; }
  bool with_norm() const { return normalises; }
  const char *name(const char *of_first, const char *of_others) const {
    return first() ? of_first : of_others;
  }
};

// All checks of phase one.
Status check_combine(const CombineCall &call, Experts *experts);
Status plan_combine(const CombineCall &call, uint64_t *workspace_size, aclOpExecutor **executor);

}  // namespace emu
