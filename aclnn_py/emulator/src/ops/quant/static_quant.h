// SPDX-License-Identifier: Apache-2.0
// Scales and offsets that broadcast along one dimension of a tensor.
#pragma once

#include "ops/op.h"

namespace emu {

// `factor` has one value, or one for each index of dimension `axis` of `values`: as a vector, or
// with the rank of `values` and 1 in all other dimensions.
Check &check_along(Check &check, const char *parameter, const aclTensor *factor,
                   const Layout &values, int axis, const char *values_name);

// The factor repeated to the shape of the values. A factor of one element may have any rank.
View spread_view(View factor, const Layout &values, int axis);
View spread_along(const aclTensor &factor, const Layout &values, int axis);

}  // namespace emu
