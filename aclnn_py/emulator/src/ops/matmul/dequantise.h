// SPDX-License-Identifier: Apache-2.0
// Weights of 8 and 4 bits, and scales, as products want them.
#pragma once

#include <vector>

#include "ops/matmul/gemm.h"
#include "ops/op.h"

namespace emu {

// round((weight + offset) * scale) as a dense matrix in the dtype of the scale. `offset` may be
// null; rows of the scale apply to `group_size` rows of the weight each, 0 meaning all. `memory`
// holds the result.
Matrix dequantised_weight(const aclTensor &weight, const aclTensor &scale, const aclTensor *offset,
                          int64_t group_size, void *memory);

// Every value of a vector or of a matrix of one row as float32; packed scales are unpacked.
std::vector<float> values_of(const aclTensor &tensor);
// Every value of a tensor of any shape as float32, in row-major order; packed scales are unpacked.
std::vector<float> every_scale(const aclTensor &tensor);

}  // namespace emu
