// SPDX-License-Identifier: Apache-2.0
// The arguments of AlltoAllvGroupedMatMul, GroupedMatMulAlltoAllv and their quantised forms.
#pragma once

#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {

// What the quantised forms have beside: scales that are powers of two, one for 32 values along the
// sum, two of them together (MX quantisation).
struct MxOperands {
  const aclTensor *x, *weight, *mm_x, *mm_weight;
  int64_t x_mode, weight_mode, mm_x_mode, mm_weight_mode, group_size;
  const aclTensor *travelling = nullptr;
  int64_t travelling_mode = 0, travelling_dtype = -1;
};

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
  const MxOperands *mx = nullptr;
};

Status plan_grouped_exchange(const GroupedExchangeCall &call, uint64_t *workspace_size,
                             aclOpExecutor **executor);

}  // namespace emu
