// SPDX-License-Identifier: Apache-2.0
#include "core/isa.h"
#include "ops/matmul/gemm_kernels.h"
#include "ops/matmul/gemm_pairs.h"

#include <cstring>

namespace emu {

EMU_DECLARE_ISA(extern const GemmKernels gemm_table; extern const GemmStreams gemm_stream_table;
                extern const GemmPairs gemm_pairs_table;)

namespace {

bool has_instruction() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return isa_level() >= 2 && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

// Whether the instruction rounds and orders its sums as the careful tiles do, on numbers whose sums
// tell one order from another.
bool sums_alike(const GemmPairs &pairs) {
  constexpr int64_t depth = 64, columns = 32;
  uint16_t a[depth], b[depth * columns];
  uint32_t state = 1;
  const auto next = [&state] {  // sizes from 2^-8 to 2^8, both signs
    state = state * 1664525u + 1013904223u;
    return static_cast<uint16_t>((state >> 16 & 0x807f) | ((119 + (state >> 8) % 17) << 7));
  };
  for (uint16_t &value : a) value = next();
  for (uint16_t &value : b) value = next();
  float one[columns], other[columns];
  pairs.quick[0](a, b, columns, depth, one, columns, false);
  pairs.careful[0](a, b, columns, depth, other, columns, false);
  return std::memcmp(one, other, sizeof one) == 0;
}

}  // namespace

const GemmKernels &gemm_kernels() {
  static const GemmKernels &chosen = *EMU_PICK_ISA(gemm_table);
  return chosen;
}

const GemmStreams &gemm_streams() {
  static const GemmStreams &chosen = *EMU_PICK_ISA(gemm_stream_table);
  return chosen;
}

const GemmPairs *gemm_pairs() {
  static const GemmPairs *const chosen = [] {
    const GemmPairs *pairs = EMU_PICK_ISA(gemm_pairs_table);
    return has_instruction() && sums_alike(*pairs) ? pairs : nullptr;
  }();
  return chosen;
}

}  // namespace emu
