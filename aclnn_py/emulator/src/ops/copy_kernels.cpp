// SPDX-License-Identifier: Apache-2.0
#include "ops/copy_kernels.h"

#include "core/isa.h"

namespace emu {

EMU_DECLARE_ISA(CopyRunFn copy_run_of(int64_t); RepeatEachFn repeat_each_of(int64_t);)

CopyRunFn copy_run_of(int64_t item_size) {
  static const auto chosen = EMU_PICK_ISA(copy_run_of);
  return chosen(item_size);
}

RepeatEachFn repeat_each_of(int64_t item_size) {
  static const auto chosen = EMU_PICK_ISA(repeat_each_of);
  return chosen(item_size);
}

}  // namespace emu
