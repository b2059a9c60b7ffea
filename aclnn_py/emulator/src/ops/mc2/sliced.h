// SPDX-License-Identifier: Apache-2.0
// What AllGatherMatmul and MatmulReduceScatter share: the rows of one matrix are spread over the
// ranks.
#pragma once

#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {

struct SlicedCall {
  const char *op;
  const aclTensor *x1, *x2, *bias, *output;
  int64_t stream_mode;
};

// Nulls 161001, then dtypes, streamMode and k == 0: 161002. `gathered` may be null.
void check_sliced_arguments(Check &check, const SlicedCall &call, const aclTensor *gathered);
// Ranks, transposition, k and n: 161002. Not for calls without elements.
void check_sliced_shapes(Check &check, const SlicedCall &call, const aclTensor *gathered);
// commTurn, the formats and the number of ranks: 561002.
Status check_sliced_tiling(const SlicedCall &call, const aclTensor *gathered, int64_t comm_turn,
                           hccl::Communicator &communicator);

// The operators take a bias and log a warning; only one of zeros is harmless. Ends the communicator
// otherwise.
Status refuse_bias(hccl::Communicator &communicator, const char *op, const aclTensor &bias);

}  // namespace emu
