// SPDX-License-Identifier: Apache-2.0
// Products of a few rows, or into a few columns: they wait for memory, so the large matrix is read
// once, where it lies, and not packed.
#pragma once

#include "ops/matmul/gemm.h"

namespace emu {

// a @ b, with the sums of the general product to the last bit; false, and nothing is done, for a
// product that is not of this kind.
template <class C>
bool stream_product(const Matrix &a, const Matrix &b, const RowSink<C> &sink);

}  // namespace emu
