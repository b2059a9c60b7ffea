// SPDX-License-Identifier: Apache-2.0
#include "ops/sum_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const SumKernels sum_table;)

const SumKernels &sum_kernels() {
  static const SumKernels &chosen = *EMU_PICK_ISA(sum_table);
  return chosen;
}

}  // namespace emu
