// SPDX-License-Identifier: Apache-2.0
// FRACTAL_NZ whose blocks are not 32 bytes wide.
#pragma once

#include "meta/tensor.h"

namespace emu {

// The dtype whose blocks have as many columns as those of a tensor in FRACTAL_NZ: its own, or,
// where its storage shape says so, that of the other operand of a product. Chips of the 950 series
// keep weights of 4 bits as wide as 16-bit kinds, also where eight numbers are called one element.
aclDataType block_dtype(const aclTensor &tensor);

// Elements of all blocks of a tensor of 2 dimensions or more; kUncountable when 64 bits cannot
// count them.
int64_t block_elements(const aclTensor &tensor);

// Whether a tensor in FRACTAL_NZ reads nothing beyond the storage it was described with, at its
// offset and strides. True for any other tensor: of these the memory decides, when the kernel runs.
bool within_storage(const aclTensor &tensor);

}  // namespace emu
