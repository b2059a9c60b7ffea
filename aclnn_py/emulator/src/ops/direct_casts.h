// SPDX-License-Identifier: Apache-2.0
// Casts between dtypes of plain numbers in one loop, without blocks of a compute type between.
#pragma once

#include "ops/dtype.h"

namespace emu {

// Dense elements of one dtype to another, by the rules of store_as; both may be the same memory
// where their sizes are the same.
using DirectFn = void (*)(const char *from, int64_t count, char *to);

// Null where there is no such loop: the same bits are to be copied, and other dtypes take blocks.
DirectFn direct_cast(aclDataType from, aclDataType to);

}  // namespace emu
