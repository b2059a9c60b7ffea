// SPDX-License-Identifier: Apache-2.0
// The arguments of AlltoAllvGroupedMatMul, GroupedMatMulAlltoAllv and their quantised forms.
#pragma once

#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {

// What the quantised forms have beside: one scale for a tensor (mode 1), or powers of two, one for
// 32 values along the sum, two of them together (mode 6, MX quantisation).
struct OperandScales {
  const aclTensor *x, *weight, *mm_x, *mm_weight;
  int64_t x_mode, weight_mode, mm_x_mode, mm_weight_mode, group_size;
  const aclTensor *travelling = nullptr;
  int64_t travelling_mode = 0, travelling_dtype = -1;

  bool powers() const { return x_mode == kPowersMode; }
  static constexpr int64_t kTensorMode = 1, kPowersMode = 6;
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
  const OperandScales *scales = nullptr;
};

Status plan_grouped_exchange(const GroupedExchangeCall &call, uint64_t *workspace_size,
                             aclOpExecutor **executor);

}  // namespace emu
