// SPDX-License-Identifier: Apache-2.0
// The arguments of AlltoAllvGroupedMatMul and GroupedMatMulAlltoAllv.
#pragma once

#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {

struct GroupedExchangeCall {
  const char *op;
  bool first_exchanges;
  const aclTensor *x, *weight, *send_tensor, *receive_tensor, *mm_x, *mm_weight;
  const char *group, *comm_mode;
  int64_t ranks;
  const aclIntArray *send, *receive;
  bool transposed, mm_transposed;
  const aclTensor *y, *mm_y;
  bool keeps = false;
  const aclTensor *permuted = nullptr;
};

Status plan_grouped_exchange(const GroupedExchangeCall &call, uint64_t *workspace_size,
                             aclOpExecutor **executor);

}  // namespace emu
