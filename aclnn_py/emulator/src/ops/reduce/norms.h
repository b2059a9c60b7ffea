// SPDX-License-Identifier: Apache-2.0
// The p-norm of a row of elements, in float64.
#pragma once

#include "ops/reduce/row_reader.h"

namespace emu {

// An infinite order gives the largest magnitude, minus infinity the smallest, 0 counts what is not
// zero.
template <class T>
double norm(const RowReader<T> &rows, int64_t row, double p);
extern template double norm(const RowReader<float> &, int64_t, double);
extern template double norm(const RowReader<double> &, int64_t, double);

}  // namespace emu
