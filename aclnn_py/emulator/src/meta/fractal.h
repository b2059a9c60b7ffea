// SPDX-License-Identifier: Apache-2.0
// FRACTAL_NZ whose blocks are not 32 bytes wide.
#pragma once

#include "meta/tensor.h"

namespace emu {

// The dtype whose blocks have as many columns as those of a tensor in FRACTAL_NZ: its own, or,
// where its storage shape says so, that of the other operand of a product. Chips of the 950 series
// keep weights of 4 bits as wide as 16-bit kinds, also where eight numbers are called one element.
aclDataType block_dtype(const aclTensor &tensor);

}  // namespace emu
