// SPDX-License-Identifier: Apache-2.0
// Grouped products whose operands are floats of 8 or 4 bits, on chips of the 950 series.
#pragma once

#include "ops/gmm/grouped.h"

namespace emu {

// Whether the chip multiplies the elements of x so.
bool is_grouped_floats(const GroupedCall &call);

// Dtypes, and what has to be given or absent; fills in the mode.
void check_float_dtypes(Check &check, const GroupedCall &call, const char *out_name,
                        FloatGroups *form);
// Shapes of scales and bias, once those of the operands are known to fit.
void check_float_scales(Check &check, const GroupedProblem &problem, bool weight_turned,
                        FloatGroups *form);

// Whether x of FLOAT8_E4M3FN meets a weight of FLOAT4_E2M1, also with eight values to a FLOAT.
bool is_mixed_floats(const GroupedCall &call);

// Whether a half-precision x meets a weight of FLOAT4_E2M1 with powers of two for each 32 of K, and
// the rules for its shapes.
bool is_powers_weight(const GroupedCall &call);
void check_powers_weight(Check &check, const GroupedProblem &problem, bool weight_turned);

// Whether a half-precision x meets a weight of floats of 8 or 4 bits, and the rules for that.
bool is_float_weight(const GroupedCall &call);
void check_float_weight(Check &check, const GroupedCall &call);
// Such a weight times its scales, of columns or of groups of K, rounded to `dtype` but kept in
// float32.
Matrix dequantised_floats(const aclTensor &weight, const aclTensor &scale, aclDataType dtype,
                          std::vector<float> &memory);

Status run_grouped_floats(const GroupedJob &job, PlanContext &context);

}  // namespace emu
