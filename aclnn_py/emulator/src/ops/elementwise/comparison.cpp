// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Comparisons: tensors with tensors and with scalars, into a tensor and in place.
#include "aclnnop/math.h"
#include "ops/elementwise/formula.h"
#include "ops/elementwise/rows.h"

// The four operators of one relation.
#define EMU_RELATION(NAME, SCALARS, TYPES, ...)                      \
  EMU_DIRECT(NAME)                                                   \
  EMU_FORMULA_XY(NAME, __VA_ARGS__)                                  \
  EMU_BINARY_OF(NAME##Tensor, NAME, kToBool, TYPES)                  \
  EMU_BINARY_INPLACE_OF(Inplace##NAME##Tensor, NAME, kToBool, TYPES) \
  EMU_SCALAR_OF(NAME##Scalar, NAME, kToBool | SCALARS, TYPES)        \
  EMU_SCALAR_INPLACE_OF(Inplace##NAME##Scalar, NAME, kToBool | SCALARS, TYPES)

namespace emu {

EMU_RELATION(Eq, kAlikeScalars, types::kAll, x == y)
EMU_RELATION(Ne, kAlikeScalars, types::kAll, x != y)
EMU_RELATION(Lt, kAlikeScalars, types::kReal | types::kUnsigned, x < y)
EMU_RELATION(Le, kAlikeScalars, types::kReal | types::kUnsigned, x <= y)
EMU_RELATION(Gt, kAlikeScalars, types::kReal | types::kUnsigned, x > y)
EMU_RELATION(Ge, kFreeScalars, types::kReal | types::kUnsigned, x >= y)

}  // namespace emu
