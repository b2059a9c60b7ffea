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
  bool names_mode = false;  // whether the operator has commMode
  const char *comm_mode = nullptr;
  const aclTensor *x1_scale = nullptr, *x2_scale = nullptr;
  const aclTensor *comm_scale = nullptr, *x1_offset = nullptr, *x2_offset = nullptr;
  int64_t x1_mode = 0, x2_mode = 0, comm_quant_mode = 0, comm_quant_dtype = -1, group_size = 0;
  int64_t x1_quant_dtype = -1;  // what a dynamic quantisation makes of x1 on a 950

  int64_t depth() const { return x2->shape[transposed2 ? 1 : 0]; }
  int64_t columns() const { return x2->shape[transposed2 ? 0 : 1]; }
};

// What the operators share whatever their numbers are: the axes, the mode of communication, and
// what no chip has.
void check_exchange_modes(Check &check, const ExchangedCall &call);

// Rows of `row` bytes go to the ranks that have them in equal shares; row i of every rank lies
// beside each other then, in the memory they were sent from.
Status exchange_rows(hccl::Session &session, uint32_t ranks, int64_t rows, uint64_t row, char *sent,
                     char *received);
// Each rank gets its share of the columns of all rows, in the memory of `rows`. `share` bytes.
Status exchange_columns(hccl::Session &session, uint32_t ranks, uint64_t height, uint64_t share,
                        char *rows, char *sent);

// The quantised forms of a 950.
Status plan_exchanged_floats(const ExchangedCall &call, uint64_t *workspace_size,
                             aclOpExecutor **executor);

Status plan_exchanged(const ExchangedCall &call, uint64_t *workspace_size,
                      aclOpExecutor **executor);

}  // namespace emu
