// SPDX-License-Identifier: Apache-2.0
// Registers of the instruction set that a file *.isa.cpp is compiled for, as vectors of the
// compiler. Of wider vectors it makes single elements where they are chosen by a comparison.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/isa.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {

#if defined(__AVX512F__)
constexpr int64_t kRegisterBytes = 64;
#elif defined(__AVX2__)
constexpr int64_t kRegisterBytes = 32;
#else
constexpr int64_t kRegisterBytes = 16;
#endif

// The elements of one register.
template <class T>
constexpr int64_t kLanes = kRegisterBytes / static_cast<int64_t>(sizeof(T));

template <class T, int64_t kBytes>
struct Register {
  typedef T Type __attribute__((vector_size(kBytes)));
};
template <class T, int64_t kBytes = kRegisterBytes>
using Wide = typename Register<T, kBytes>::Type;

template <int64_t kSize>
using SignedOf = std::conditional_t<
    kSize == 1, int8_t,
    std::conditional_t<kSize == 2, int16_t, std::conditional_t<kSize == 4, int32_t, int64_t>>>;
// What a comparison of registers gives, and the places that a shuffle takes lanes from.
template <class T, int64_t kBytes = kRegisterBytes>
using Truths = Wide<SignedOf<sizeof(T)>, kBytes>;

// One that lies anywhere.
template <class T>
inline Wide<T> at(const T *from) {
  Wide<T> loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

// Those elements of another type that fill a register as elements of type S. The compiler's own
// conversion is in two halves.
template <class S, class X>
inline Wide<S> widened_at(const X *from) {
  [[maybe_unused]] constexpr bool kReal = std::is_same_v<X, float> && std::is_same_v<S, double>;
  [[maybe_unused]] constexpr bool kWhole = std::is_same_v<X, int32_t> && sizeof(S) == 8 && !kReal;
#if defined(__AVX512F__)
  if constexpr (kReal) return Wide<S>(_mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from)));
  if constexpr (kWhole)
    return Wide<S>(_mm512_maskz_cvtepi32_epi64(
        0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from))));
#elif defined(__AVX2__)
  if constexpr (kReal) return Wide<S>(_mm256_cvtps_pd(_mm_loadu_ps(from)));
  if constexpr (kWhole)
    return Wide<S>(_mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from))));
#endif
  if constexpr (sizeof(S) == sizeof(X)) {
    return (Wide<S>)at(from);  // whole numbers with and without sign
  } else {
    Wide<X, kRegisterBytes / static_cast<int64_t>(sizeof(S) / sizeof(X))> narrow;
    std::memcpy(&narrow, from, sizeof narrow);
    return __builtin_convertvector(narrow, Wide<S>);
  }
}

// Has what lies some bytes further on fetched. There may be nothing at that address.
inline void fetch(const void *from, int64_t bytes) {
  const auto at = reinterpret_cast<uintptr_t>(from) + static_cast<uintptr_t>(bytes);
  __builtin_prefetch(reinterpret_cast<const void *>(at));
}

// Whether any bit is set.
template <class V>
inline bool any_of(V bits) {
#if defined(__AVX512F__)
  const auto all = reinterpret_cast<__m512i>(bits);
  return _mm512_test_epi32_mask(all, all) != 0;
#elif defined(__AVX2__)
  const auto all = reinterpret_cast<__m256i>(bits);
  return _mm256_testz_si256(all, all) == 0;
#elif defined(__SSE2__)
  const auto none = _mm_cmpeq_epi8(reinterpret_cast<__m128i>(bits), _mm_setzero_si128());
  return _mm_movemask_epi8(none) != 0xffff;
#else
  uint64_t words[kRegisterBytes / 8], all = 0;
  std::memcpy(words, &bits, sizeof words);
  for (const uint64_t word : words) all |= word;
  return all != 0;
#endif
}

// The place of the first lane that is true; -1 where none is.
template <class T>
inline int64_t first_true(Truths<T> truths) {
#if defined(__SSE2__)
#if defined(__AVX512BW__)
  const uint64_t bytes = _mm512_movepi8_mask(reinterpret_cast<__m512i>(truths));
#elif defined(__AVX2__)
  const auto bytes = static_cast<uint32_t>(_mm256_movemask_epi8(reinterpret_cast<__m256i>(truths)));
#else
  const auto bytes = static_cast<uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(truths)));
#endif
  constexpr int64_t kSize = sizeof(T);
  return bytes == 0 ? -1 : __builtin_ctzll(bytes) / kSize;
#else
  for (int64_t lane = 0; lane < kLanes<T>; ++lane) {
    if (truths[lane] != 0) return lane;
  }
  return -1;
#endif
}

}  // namespace EMU_ISA_NS
}  // namespace emu
