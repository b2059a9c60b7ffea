// SPDX-License-Identifier: Apache-2.0
#include "ops/truth_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const TruthKernels truth_table;)

const TruthKernels &truth_kernels() {
  static const TruthKernels &chosen = *EMU_PICK_ISA(truth_table);
  return chosen;
}

}  // namespace emu
