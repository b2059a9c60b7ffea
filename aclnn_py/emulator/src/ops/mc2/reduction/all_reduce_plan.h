// SPDX-License-Identifier: Apache-2.0
// The stages of the AllReduce family behind plan_all_reduce().
#pragma once

#include "ops/matmul/dequantise.h"
#include "ops/mc2/partial.h"
#include "ops/mc2/reduction/all_reduce.h"

namespace emu {

// The second line of checks: 561002.
Status check_all_reduce_tiling(const AllReduceCall &call, hccl::Communicator &communicator);

// The sum over the ranks of `rows` (dense, of `columns` columns, float16 or bfloat16) in eight
// bits: quantised with scale 1, summed, quantised with scale 2, and back in `rows`.
struct LowBitScales {
  std::vector<float> first, second;  // per column
};
uint64_t low_bit_workspace(int64_t count, uint32_t ranks);
Status low_bit_all_reduce(hccl::Session &session, uint32_t rank, uint32_t ranks, void *rows,
                          aclDataType dtype, int64_t count, const LowBitScales &scales,
                          void *workspace);

// y = sum + residual; norm = y / sqrt(mean(y * y) + epsilon) * gamma, row by row.
void add_and_normalise(const View &sum, const View &residual, const std::vector<float> &gamma,
                       double epsilon, const View &y, const View &norm);

}  // namespace emu
