// SPDX-License-Identifier: Apache-2.0
#include "core/copying.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace emu {

void PastCaches::copy(void *to, const void *from, size_t bytes) {
#if defined(__SSE2__)
  auto *out = static_cast<char *>(to);
  const auto *in = static_cast<const char *>(from);
  const size_t head = std::min(bytes, static_cast<size_t>(-reinterpret_cast<uintptr_t>(to) % 64));
  std::memcpy(out, in, head);
  size_t at = head;
  for (; at + 64 <= bytes; at += 64) {
    const auto *source = reinterpret_cast<const __m128i *>(in + at);
    auto *target = reinterpret_cast<__m128i *>(out + at);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  std::memcpy(out + at, in + at, bytes - at);
#else
  std::memcpy(to, from, bytes);
#endif
}

PastCaches::~PastCaches() {
#if defined(__SSE2__)
  _mm_sfence();  // these stores are not ordered with later ones otherwise
#endif
}

void copy_past_caches(void *to, const void *from, size_t bytes) {
  PastCaches().copy(to, from, bytes);
}

}  // namespace emu
