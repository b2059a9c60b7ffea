// SPDX-License-Identifier: Apache-2.0
// Products of bfloat16 with the instruction that adds two of them at once. It sums as two fused
// multiplications and additions do, the second depth of a pair first, but takes subnormal numbers
// for zeros. A panel that has a number so small that its products or their sums could be subnormal
// is multiplied by the other tiles: the result is the same to the last bit, whichever is taken.
#pragma once

#include "ops/matmul/gemm_kernels.h"

namespace emu {

struct GemmPairs {
  // Pairs of depths, as bytes are packed, but each element as it is.
  void (*pack)(const GemmPanel &, void *packed);
  bool (*has_tiny)(const uint16_t *packed, int64_t count);
  // by height - 1; the careful ones take any number
  GemmTile<uint16_t, float> quick[kGemmMostRows], careful[kGemmMostRows];
};

// Null where the processor has no such instruction, or one that sums otherwise.
const GemmPairs *gemm_pairs();

}  // namespace emu
