// SPDX-License-Identifier: Apache-2.0
#include "ops/power_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const PowerKernels power_table;)

const PowerKernels &power_kernels() {
  static const PowerKernels &chosen = *EMU_PICK_ISA(power_table);
  return chosen;
}

}  // namespace emu
