// SPDX-License-Identifier: Apache-2.0
#include "ops/scan_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const ScanKernels scan_table;)

const ScanKernels &scan_kernels() {
  static const ScanKernels &chosen = *EMU_PICK_ISA(scan_table);
  return chosen;
}

}  // namespace emu
