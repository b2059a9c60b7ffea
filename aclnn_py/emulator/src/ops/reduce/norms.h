// SPDX-License-Identifier: Apache-2.0
// The p-norm of a row of elements, in float64.
#pragma once

#include "ops/reduce/row_reader.h"

namespace emu {

// An infinite order gives the largest magnitude, minus infinity the smallest, 0 counts what is not
// zero.
double norm(const RowReader<double> &rows, int64_t row, double p);

}  // namespace emu
