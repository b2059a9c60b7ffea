// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "hccl/reduce.h"

#include <algorithm>
#include <cstring>

#include "core/copying.h"
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

void reduce_in_order(const ReduceType &type, const std::vector<const void *> &sources,
                     const std::vector<void *> &targets, uint64_t count, int width) {
  if (kEmptyKernels || count == 0) return;
  constexpr uint64_t kBlockBytes = 16384;  // stays in the first-level cache for all the sources
  const uint64_t block = kBlockBytes / type.item_bytes, blocks = (count + block - 1) / block;
  const bool past_caches = count * type.item_bytes * targets.size() >= kPastCaches;
  const uint64_t grain = std::max<uint64_t>(
      8, (blocks + static_cast<uint64_t>(width) - 1) / static_cast<uint64_t>(width));
  parallel_for(static_cast<int64_t>(blocks), static_cast<int64_t>(grain),
               [&](int64_t first, int64_t last) {
                 alignas(64) char accumulator[kBlockBytes];
                 for (int64_t i = first; i < last; ++i) {
                   const uint64_t begin = static_cast<uint64_t>(i) * block;
                   const uint64_t n = std::min(block, count - begin), at = begin * type.item_bytes,
                                  bytes = n * type.item_bytes;
                   std::memcpy(accumulator, static_cast<const char *>(sources[0]) + at, bytes);
                   for (size_t s = 1; s < sources.size(); ++s) {
                     type.accumulate(accumulator, static_cast<const char *>(sources[s]) + at, n);
                   }
                   for (void *target : targets) {
                     char *to = static_cast<char *>(target) + at;
                     if (past_caches) copy_past_caches(to, accumulator, bytes);
                     else std::memcpy(to, accumulator, bytes);
                   }
                 }
               });
}

}  // namespace emu::hccl
