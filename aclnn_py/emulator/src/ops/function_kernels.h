// SPDX-License-Identifier: Apache-2.0
// Kernels of float_kernels.h that are compiled in a file of their own; to[i] = function(from[i]).
#pragma once

#include <cstdint>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {

#define EMU_FUNCTION_KERNEL(NAME) \
  void block_##NAME(const float *from, int64_t count, const float *scalars, float *to);
EMU_FUNCTION_KERNEL(exp2)
EMU_FUNCTION_KERNEL(expm1)
EMU_FUNCTION_KERNEL(log2)
EMU_FUNCTION_KERNEL(log10)
EMU_FUNCTION_KERNEL(log1p)
EMU_FUNCTION_KERNEL(sin)
EMU_FUNCTION_KERNEL(cos)
EMU_FUNCTION_KERNEL(tan)
EMU_FUNCTION_KERNEL(asin)
EMU_FUNCTION_KERNEL(acos)
EMU_FUNCTION_KERNEL(atan)
EMU_FUNCTION_KERNEL(sinh)
EMU_FUNCTION_KERNEL(cosh)
EMU_FUNCTION_KERNEL(asinh)
EMU_FUNCTION_KERNEL(acosh)
EMU_FUNCTION_KERNEL(atanh)
#undef EMU_FUNCTION_KERNEL
void block_atan2(const float *y, const float *x, int64_t count, float *to);

}  // namespace EMU_ISA_NS
}  // namespace emu
