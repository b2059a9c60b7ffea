// SPDX-License-Identifier: Apache-2.0
#include "ops/float_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const FloatKernels float_table;)

const FloatKernels &float_kernels() {
  static const FloatKernels &chosen = *EMU_PICK_ISA(float_table);
  return chosen;
}

}  // namespace emu
