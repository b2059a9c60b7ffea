// SPDX-License-Identifier: Apache-2.0
#include "hccl/reduce.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

namespace {

// Past the caches, so that the memory under `to` is not read first.
void write_past_caches(char *to, const char *from, size_t bytes) {
#if defined(__SSE2__)
  const size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(to) % 64);
  std::memcpy(to, from, head);
  size_t at = head;
  for (; at + 64 <= bytes; at += 64) {
    const auto *in = reinterpret_cast<const __m128i *>(from + at);
    auto *out = reinterpret_cast<__m128i *>(to + at);
    const __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1);
    const __m128i c = _mm_loadu_si128(in + 2), d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
  }
  std::memcpy(to + at, from + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

void finish_writes() {
#if defined(__SSE2__)
  _mm_sfence();  // the stores above are not ordered with the release of a step otherwise
#endif
}

}  // namespace

void reduce_in_order(const ReduceType &type, const std::vector<const void *> &sources,
                     const std::vector<void *> &targets, uint64_t count, int width) {
  if (kEmptyKernels || count == 0) return;
  constexpr uint64_t kBlockBytes = 16384;              // stays in the first-level cache for all the sources
  constexpr uint64_t kManyBytes = uint64_t{4} << 20;  // more than anyone finds in a cache afterwards
  const uint64_t block = kBlockBytes / type.item_bytes, blocks = (count + block - 1) / block;
  const bool past_caches = count * type.item_bytes * targets.size() >= kManyBytes;
  const uint64_t grain = std::max<uint64_t>(8, (blocks + static_cast<uint64_t>(width) - 1) / static_cast<uint64_t>(width));
  parallel_for(static_cast<int64_t>(blocks), static_cast<int64_t>(grain), [&](int64_t first, int64_t last) {
    alignas(64) char accumulator[kBlockBytes];
    for (int64_t i = first; i < last; ++i) {
      const uint64_t begin = static_cast<uint64_t>(i) * block;
      const uint64_t n = std::min(block, count - begin), at = begin * type.item_bytes, bytes = n * type.item_bytes;
      std::memcpy(accumulator, static_cast<const char *>(sources[0]) + at, bytes);
      for (size_t s = 1; s < sources.size(); ++s) {
        type.accumulate(accumulator, static_cast<const char *>(sources[s]) + at, n);
      }
      for (void *target : targets) {
        char *to = static_cast<char *>(target) + at;
        if (past_caches) write_past_caches(to, accumulator, bytes);
        else std::memcpy(to, accumulator, bytes);
      }
    }
    finish_writes();
  });
}

}  // namespace emu::hccl
