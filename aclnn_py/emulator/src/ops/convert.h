// SPDX-License-Identifier: Apache-2.0
// Blocks of elements between memory and the compute types. Code size grows with the number of
// dtypes plus the square of the few compute types, and not at all with the number of operators.
#pragma once

#include "ops/dtype.h"

namespace emu {

constexpr int64_t kBlock = 1024;

// `count` elements at `memory`, `step` bytes apart (0 repeats one), to or from a dense block of the
// dtype's own compute type.
using LoadFn = void (*)(const char *memory, int64_t step, int64_t count, void *block);
using StoreFn = void (*)(char *memory, int64_t step, int64_t count, const void *block);
// One dense block to another compute type.
using CastFn = void (*)(const void *from, int64_t count, void *to);

struct ConvertTable {
  LoadFn load[64];
  StoreFn store[64];
  CastFn cast[kComputeCount][kComputeCount];  // [from][to], rounded to nearest
  // for a float that a narrower store rounds again
  CastFn cast_to_odd[kComputeCount][kComputeCount];
};

// The table built for this machine's instruction set.
const ConvertTable &convert_table();

// `from` elements of compute type `have` into the dtype `to`, `step` bytes apart. Rounds once.
// Casts float to integer by truncation, saturating at 32 or 64 bits, keeping the low bits of a
// narrower integer; NaN becomes 0.
void store_as(aclDataType to, char *memory, int64_t step, int64_t count, Compute have,
              const void *from);
// Elements of dtype `from` as compute type `want`, rounded to `via` (the dtype the operator
// computes in) on the way.
void load_as(aclDataType from, const char *memory, int64_t step, int64_t count, aclDataType via,
             void *to);

}  // namespace emu
