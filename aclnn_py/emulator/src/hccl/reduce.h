// SPDX-License-Identifier: Apache-2.0
// The arithmetic of reductions.
#pragma once

#include <cstdint>
#include <vector>

namespace emu::hccl {

// accumulator[i] = accumulator[i] op next[i], rounded to the data type.
using Accumulate = void (*)(void *accumulator, const void *next, uint64_t count);

struct ReduceType {
  Accumulate accumulate = nullptr;
  uint32_t item_bytes = 0;
};

// `dtype` and `op` are HcclDataType and HcclReduceOp; accumulate is null for a pair that has no
// arithmetic.
ReduceType reduce_type(uint32_t dtype, uint32_t op);

// accumulator = ((source 0 op source 1) op source 2) ...; written to each of `targets`, block by
// block, so that a target may be one of the sources. Uses up to `width` threads.
void reduce_in_order(const ReduceType &type, const std::vector<const void *> &sources,
                     const std::vector<void *> &targets, uint64_t count, int width);

}  // namespace emu::hccl
