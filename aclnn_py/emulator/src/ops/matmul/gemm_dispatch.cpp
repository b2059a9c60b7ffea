// SPDX-License-Identifier: Apache-2.0
#include "core/isa.h"
#include "ops/matmul/gemm_kernels.h"

namespace emu {

EMU_DECLARE_ISA(extern const GemmKernels gemm_table; extern const GemmStreams gemm_stream_table;)

const GemmKernels &gemm_kernels() {
  static const GemmKernels &chosen = *EMU_PICK_ISA(gemm_table);
  return chosen;
}

const GemmStreams &gemm_streams() {
  static const GemmStreams &chosen = *EMU_PICK_ISA(gemm_stream_table);
  return chosen;
}

}  // namespace emu
