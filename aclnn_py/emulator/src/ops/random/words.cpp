// SPDX-License-Identifier: Apache-2.0
#include "ops/random/words.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(extern const WordKernels word_table;)

const WordKernels &word_kernels() {
  static const WordKernels &chosen = *EMU_PICK_ISA(word_table);
  return chosen;
}

}  // namespace emu
