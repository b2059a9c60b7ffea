// SPDX-License-Identifier: Apache-2.0
#include "ops/extreme_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const ExtremeKernels extreme_kernel_table;)

const ExtremeKernels &extreme_kernels() {
  static const ExtremeKernels &chosen = *EMU_PICK_ISA(extreme_kernel_table);
  return chosen;
}

}  // namespace emu
