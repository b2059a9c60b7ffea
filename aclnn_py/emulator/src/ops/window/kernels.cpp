// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/window/kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const WindowKernels window_table;)

const WindowKernels &window_kernels() {
  static const WindowKernels &chosen = *EMU_PICK_ISA(window_table);
  return chosen;
}

}  // namespace emu
