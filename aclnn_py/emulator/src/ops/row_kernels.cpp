// SPDX-License-Identifier: Apache-2.0
#include "ops/row_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const RowKernels row_table;)

const RowKernels &row_kernels() {
  static const RowKernels &chosen = *EMU_PICK_ISA(row_table);
  return chosen;
}

}  // namespace emu
