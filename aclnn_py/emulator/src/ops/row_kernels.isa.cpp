// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/row_kernels.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "core/isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// One register.
#if defined(__AVX512F__)
constexpr int64_t kBytes = 64;
#elif defined(__AVX__)
constexpr int64_t kBytes = 32;
#else
constexpr int64_t kBytes = 16;
#endif
using Bytes = char __attribute__((vector_size(kBytes)));

constexpr int64_t kLine = 64;
// The rows to come are fetched so far ahead, and so much of each: they lie anywhere, and the
// processor itself fetches what follows.
constexpr int64_t kAhead = 12, kFetched = 4 * kLine;

inline void copy_register(const char *from, char *to) {
  Bytes held;
  std::memcpy(&held, from, sizeof held);
  std::memcpy(to, &held, sizeof held);
}

inline void copy_row(const char *from, char *to, int64_t size) {
  int64_t at = 0;
  for (; at + kLine <= size; at += kLine) {
#pragma GCC unroll 4
    for (int64_t part = 0; part < kLine; part += kBytes)
      copy_register(from + at + part, to + at + part);
  }
  if (at == size) return;
  // The rest together with what was copied before it.
#pragma GCC unroll 4
  for (int64_t part = 0; part < kLine; part += kBytes)
    copy_register(from + size - kLine + part, to + size - kLine + part);
}

template <class I>
bool all_within(const I *index, int64_t count, int64_t low, int64_t high) {
  using U = std::make_unsigned_t<I>;
  // As differences from `low` those below it are great. Bounds beyond the type bound nothing.
  const int64_t least = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  const U first = static_cast<U>(low < least ? least : low);
  const U span = static_cast<U>((high - 1 > most ? most : high - 1)) - first;
  U outside = 0;
  for (int64_t i = 0; i < count; ++i)
    outside |= static_cast<U>(static_cast<U>(index[i]) - first) > span ? U{1} : U{0};
  return outside == 0;
}

bool within(const void *index, bool wide, int64_t count, int64_t low, int64_t high) {
  if (low >= high) return count == 0;
  return wide ? all_within(static_cast<const int64_t *>(index), count, low, high)
              : all_within(static_cast<const int32_t *>(index), count, low, high);
}

template <class I>
void gather_rows(const char *from, int64_t step, int64_t extent, const I *index, int64_t count,
                 int64_t size, char *to) {
  const auto row = [&](int64_t i) {
    const int64_t named = index[i];
    return from + (named < 0 ? named + extent : named) * step;
  };
  for (int64_t i = 0; i < count; ++i, to += size) {
    if (i + kAhead < count) {
      const char *next = row(i + kAhead);
      for (int64_t at = 0; at < size && at < kFetched; at += kLine) __builtin_prefetch(next + at);
    }
    copy_row(row(i), to, size);
  }
}

void gather(const char *from, int64_t step, int64_t extent, const void *index, bool wide,
            int64_t count, int64_t size, char *to) {
  if (wide) gather_rows(from, step, extent, static_cast<const int64_t *>(index), count, size, to);
  else gather_rows(from, step, extent, static_cast<const int32_t *>(index), count, size, to);
}

// Rows so many bytes further on are fetched line by line while one is copied. Longer rows are
// fetched well enough by the processor itself.
constexpr int64_t kFetchedAhead = 4096, kLongestFetched = 8192;

void copy(const char *const *from, char *const *to, int64_t count, int64_t size) {
  const int64_t ahead = size < kFetchedAhead ? kFetchedAhead / size : 1;
  const int64_t fetched = size > kLongestFetched ? 0 : count - ahead;
  int64_t i = 0;
  for (; i < fetched; ++i) {
    const char *source = from[i], *next_source = from[i + ahead];
    char *target = to[i], *next_target = to[i + ahead];
    int64_t at = 0;
    for (; at + kLine <= size; at += kLine) {
      __builtin_prefetch(next_source + at);
      __builtin_prefetch(next_target + at, 1);
#pragma GCC unroll 4
      for (int64_t part = 0; part < kLine; part += kBytes)
        copy_register(source + at + part, target + at + part);
    }
    if (at < size) copy_row(source + size - kLine, target + size - kLine, kLine);
  }
  for (; i < count; ++i) std::memcpy(to[i], from[i], static_cast<size_t>(size));
}

}  // namespace

extern const RowKernels row_table;
constexpr RowKernels row_table = {within, gather, copy};

}  // namespace EMU_ISA_NS
}  // namespace emu
