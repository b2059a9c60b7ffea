// SPDX-License-Identifier: Apache-2.0
// The p-norm of a row of elements, in double.
#pragma once

#include "ops/reduce/rows.h"

namespace emu {

// An infinite order gives the largest magnitude, minus infinity the smallest, 0 counts what is not
// zero.
double norm(const Rows<double> &rows, int64_t row, double p);

}  // namespace emu
