// SPDX-License-Identifier: Apache-2.0
// Which dimensions a reduction runs over, and the views that follow from it.
#pragma once

#include "ops/op.h"

namespace emu {

// A set of dimensions: bit d stands for dimension d.
using AxisSet = uint32_t;

// The axes an array names, each once, negative ones from the end. An absent or empty array means
// all dimensions, or none when `empty_is_none`. Failures go to `check`.
AxisSet axes_of(Check &check, const char *parameter, const aclIntArray *dims, int rank,
                bool empty_is_none = false);
AxisSet axis_of(Check &check, const char *parameter, int64_t dim, int rank);
AxisSet all_axes(int rank);

// The shape of the result: reduced dimensions have extent 1, or are left out.
Layout reduced_shape(const Layout &in, AxisSet axes, bool keep);
// Elements that make one result.
int64_t reduced_count(const Layout &in, AxisSet axes);
// The dimensions reordered: kept ones first, reduced ones last, or the other way round.
Layout reduced_last(const Layout &in, AxisSet axes);
Layout reduced_first(const Layout &in, AxisSet axes);
// Whether neighbours in memory belong to neighbouring results: elements are columns, not rows.
bool leads_to_next(const Layout &in, AxisSet axes);

}  // namespace emu
