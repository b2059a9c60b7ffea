// SPDX-License-Identifier: Apache-2.0
#include "ops/block_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const BlockKernels block_kernel_table;)

const BlockKernels &block_kernels() {
  static const BlockKernels &chosen = *EMU_PICK_ISA(block_kernel_table);
  return chosen;
}

}  // namespace emu
