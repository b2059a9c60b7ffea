// SPDX-License-Identifier: Apache-2.0
// Products of floats of 8 and 4 bits as parts of fused operators: their scales, and their rows.
#pragma once

#include <vector>

#include "ops/gmm/float_scales.h"

namespace emu {

struct FloatForm {
  FloatMode mode = FloatMode::kWhole;
  ScaleMap left, right;  // of rows of x1 and columns of x2; whole scales: a step of 0 is one value
  int64_t left_count = 1;  // scales of the rows of one product
};

// groupSize is 0, or names the groups that the mode has.
void check_float_groups(Check &check, FloatMode mode, int64_t group_size);

// Dense rows in `dtype`, with the steps of QuantMatmulV5. `row_scales` may be null, `bias` empty.
void multiply_float_rows(const FloatForm &form, const aclTensor &x1, const aclTensor &x2,
                         const float *row_scales, const std::vector<float> &column_scales,
                         const std::vector<float> &bias, void *rows, aclDataType dtype);

}  // namespace emu
