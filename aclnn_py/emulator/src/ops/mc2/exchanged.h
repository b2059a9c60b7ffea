// SPDX-License-Identifier: Apache-2.0
// The arguments of AlltoAllMatmul, MatmulAlltoAll and their quantised forms.
#pragma once

#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {

struct ExchangedCall {
  const char *op;
  bool first_exchanges, quantised;
  const aclTensor *x1, *x2, *bias;
  const aclIntArray *axes;
  const char *group;
  bool transposed1, transposed2;
  const aclTensor *output;
  const aclTensor *exchanged = nullptr;
  const char *comm_mode = nullptr;
  const aclTensor *x1_scale = nullptr, *x2_scale = nullptr;
  const aclTensor *comm_scale = nullptr, *x1_offset = nullptr, *x2_offset = nullptr;
  int64_t x1_mode = 0, x2_mode = 0, comm_quant_mode = 0, comm_quant_dtype = -1, group_size = 0;

  int64_t depth() const { return x2->shape[transposed2 ? 1 : 0]; }
  int64_t columns() const { return x2->shape[transposed2 ? 0 : 1]; }
};

Status plan_exchanged(const ExchangedCall &call, uint64_t *workspace_size,
                      aclOpExecutor **executor);

}  // namespace emu
