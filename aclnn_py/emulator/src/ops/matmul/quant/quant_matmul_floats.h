// SPDX-License-Identifier: Apache-2.0
// QuantMatmulV5 and QuantMatmulWeightNz with operands of 8 and 4 bits that are floats, for chips of
// the 950 series.
#pragma once

#include "ops/matmul/quant/quant_matmul.h"

namespace emu {

// Whether a call is one of these: the chip has such floats and x1 is one.
bool is_product_of_floats(const QuantMatmulCall &call);
Status plan_quant_matmul_floats(const QuantMatmulCall &call, uint64_t *workspace_size,
                                aclOpExecutor **executor);

}  // namespace emu
