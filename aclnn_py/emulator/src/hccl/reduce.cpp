// SPDX-License-Identifier: Apache-2.0
#include "hccl/reduce.h"

#include <algorithm>
#include <cstring>

#include "core/isa.h"
#include "core/pool.h"
#include "core/stream.h"
#include "hccl/arguments.h"

namespace emu::hccl {

EMU_DECLARE_ISA(Accumulate pick_accumulate(uint32_t dtype, uint32_t op);)

ReduceType reduce_type(uint32_t dtype, uint32_t op) {
  static const auto pick = EMU_PICK_ISA(pick_accumulate);
  return {pick(dtype, op), item_bytes(dtype)};
}

void reduce_in_order(const ReduceType &type, const void *const *sources, uint32_t source_count, void *const *targets,
                     uint32_t target_count, uint64_t count) {
  if (kEmptyKernels) return;
  constexpr uint64_t kBlockBytes = 16384;  // stays in the first-level cache for all the sources
  const uint64_t block = kBlockBytes / type.item_bytes;
  parallel_for(static_cast<int64_t>((count + block - 1) / block), 8, [&](int64_t first, int64_t last) {
    alignas(64) char accumulator[kBlockBytes];
    for (int64_t i = first; i < last; ++i) {
      const uint64_t begin = static_cast<uint64_t>(i) * block;
      const uint64_t n = std::min(block, count - begin), at = begin * type.item_bytes, bytes = n * type.item_bytes;
      std::memcpy(accumulator, static_cast<const char *>(sources[0]) + at, bytes);
      for (uint32_t s = 1; s < source_count; ++s) {
        type.accumulate(accumulator, static_cast<const char *>(sources[s]) + at, n);
      }
      for (uint32_t t = 0; t < target_count; ++t) std::memcpy(static_cast<char *>(targets[t]) + at, accumulator, bytes);
    }
  });
}

}  // namespace emu::hccl
