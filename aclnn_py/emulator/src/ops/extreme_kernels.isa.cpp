// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math -fno-math-errno
#include "ops/extreme_kernels.h"

#include <cstring>
#include <limits>

#include "core/isa.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

// The bytes of one register: of wider vectors the compiler makes single elements where they are
// chosen by a comparison.
#if defined(__AVX512F__)
constexpr int64_t kBytes = 64;
#elif defined(__AVX2__)
constexpr int64_t kBytes = 32;
#else
constexpr int64_t kBytes = 16;
#endif

template <class T>
constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(T));

template <class T>
struct Register {
  typedef T Type __attribute__((vector_size(kBytes)));
};
template <class T>
using Wide = typename Register<T>::Type;
// What a comparison of registers gives, and the places that a shuffle takes lanes from.
template <class T>
using Truths = Wide<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;

template <class T>
Wide<T> at(const T *from) {
  Wide<T> loaded;
  std::memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

// Keeps a register from being loaded again for its second use, as the compiler would have it.
template <class T>
void loaded([[maybe_unused]] Wide<T> &once) {
#if defined(__SSE2__)
  asm("" : "+v"(once));
#endif
}

// Rows follow each other, and the processor does not read ahead from one page to the next. There
// may be nothing at that address.
void fetch_ahead(const void *at) {
  constexpr uintptr_t kAhead = 2048;
  __builtin_prefetch(reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(at) + kAhead));
}

template <class T>
constexpr bool is_odd([[maybe_unused]] T x) {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  else return false;
}

// The greater or less of each pair, `found` where it is not decided.
template <bool kGreatest, class T>
Wide<T> better(Wide<T> next, Wide<T> found) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return kGreatest ? _mm512_maskz_max_ps(0xffff, next, found)
                     : _mm512_maskz_min_ps(0xffff, next, found);
  if constexpr (std::is_same_v<T, double>)
    return kGreatest ? _mm512_maskz_max_pd(0xff, next, found)
                     : _mm512_maskz_min_pd(0xff, next, found);
#elif defined(__AVX2__)
  if constexpr (std::is_same_v<T, float>)
    return kGreatest ? _mm256_max_ps(next, found) : _mm256_min_ps(next, found);
  if constexpr (std::is_same_v<T, double>)
    return kGreatest ? _mm256_max_pd(next, found) : _mm256_min_pd(next, found);
#elif defined(__SSE2__)
  if constexpr (std::is_same_v<T, float>)
    return kGreatest ? _mm_max_ps(next, found) : _mm_min_ps(next, found);
  if constexpr (std::is_same_v<T, double>)
    return kGreatest ? _mm_max_pd(next, found) : _mm_min_pd(next, found);
#endif
  return (kGreatest ? next > found : next < found) ? next : found;
}

// The same of two elements, where a NaN that is there stays and a new one is taken.
template <bool kGreatest, class T>
T better_of(T next, T found) {
  const bool keep =
      static_cast<int>(kGreatest ? found >= next : found <= next) | static_cast<int>(is_odd(found));
  return keep ? found : next;
}

template <class T>
bool any_of(Truths<T> truths) {
#if defined(__AVX512F__)
  const auto bits = reinterpret_cast<__m512i>(truths);
  return _mm512_test_epi32_mask(bits, bits) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_epi8(reinterpret_cast<__m256i>(truths)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_epi8(reinterpret_cast<__m128i>(truths)) != 0;
#else
  int64_t all = 0;
  for (int64_t lane = 0; lane < kLanes<T>; ++lane) all |= truths[lane];
  return all != 0;
#endif
}

// Whether there was a NaN, asked about two registers at a time.
template <class T>
class Odd {
 public:
  void take([[maybe_unused]] Wide<T> a, [[maybe_unused]] Wide<T> b) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) found_ |= _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
    if constexpr (std::is_same_v<T, double>) found_ |= _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) found_ |= Truths<T>(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
    if constexpr (std::is_same_v<T, double>) found_ |= Truths<T>(_mm256_cmp_pd(a, b, _CMP_UNORD_Q));
#elif defined(__SSE2__)
    if constexpr (std::is_same_v<T, float>) found_ |= Truths<T>(_mm_cmpunord_ps(a, b));
    if constexpr (std::is_same_v<T, double>) found_ |= Truths<T>(_mm_cmpunord_pd(a, b));
#else
    if constexpr (std::is_floating_point_v<T>) found_ |= (a != a) | (b != b);
#endif
  }
#if defined(__AVX512F__)
  bool any() const { return found_ != 0; }

 private:
  uint32_t found_ = 0;
#else
  bool any() const { return std::is_floating_point_v<T> && any_of<T>(found_); }

 private:
  Truths<T> found_{};
#endif
};

// The lanes of a register, folded in halves.
template <bool kGreatest, class T>
T best_lane(Wide<T> lanes) {
  Truths<T> order;
  for (int lane = 0; lane < static_cast<int>(kLanes<T>); ++lane) order[lane] = lane;
#pragma GCC unroll 4
  for (int half = static_cast<int>(kLanes<T> / 2); half > 0; half /= 2)
    lanes = better<kGreatest, T>(__builtin_shuffle(lanes, order + half), lanes);
  return lanes[0];
}

// Of fewer elements than a register has: others beside them that change nothing.
template <bool kGreatest, class T>
Wide<T> padded(const T *x, int64_t count) {
  using Limits = std::numeric_limits<T>;
  T lanes[kLanes<T>];
  for (T &lane : lanes) {
    if constexpr (Limits::has_infinity) lane = kGreatest ? -Limits::infinity() : Limits::infinity();
    else lane = kGreatest ? Limits::min() : Limits::max();
  }
  for (int64_t i = 0; i < count; ++i) lanes[i] = x[i];
  return at(lanes);
}

// The extreme itself; which of two zeros is not decided.
template <bool kGreatest, class T>
T extreme_of(const T *x, int64_t count) {
  constexpr int64_t kWide = kLanes<T>, kChains = 8, kStep = kChains * kWide;
  const bool few = count < kWide;
  // The last register overlaps those before it.
  Wide<T> found = few ? padded<kGreatest>(x, count) : at(x + count - kWide);
  Odd<T> odd;
  odd.take(found, found);
  int64_t i = 0;
  if (count >= kStep) {
    // Side by side, so that none waits for the one before it.
    Wide<T> chains[kChains];
#pragma GCC unroll 8
    for (Wide<T> &chain : chains) chain = found;
    for (; i + kStep <= count; i += kStep) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < kChains; k += 2) {
        fetch_ahead(x + i + k * kWide);
        Wide<T> one = at(x + i + k * kWide), other = at(x + i + (k + 1) * kWide);
        loaded<T>(one);
        loaded<T>(other);
        chains[k] = better<kGreatest, T>(one, chains[k]);
        chains[k + 1] = better<kGreatest, T>(other, chains[k + 1]);
        odd.take(one, other);
      }
    }
#pragma GCC unroll 8
    for (const Wide<T> &chain : chains) found = better<kGreatest, T>(chain, found);
  }
  for (; i + kWide <= count; i += kWide) {
    const Wide<T> next = at(x + i);
    found = better<kGreatest, T>(next, found);
    odd.take(next, next);
  }
  if (odd.any()) return std::numeric_limits<T>::quiet_NaN();
  return best_lane<kGreatest, T>(found);
}

// The place of the first element that equals one that is there, or is NaN where that is.
template <class T>
int64_t first_of(const T *x, T wanted) {
  int64_t i = 0;
  const bool odd = is_odd(wanted);
  const auto is_it = [=](T v) { return odd ? is_odd(v) : v == wanted; };
  while (!is_it(x[i])) ++i;
  return i;
}

// A register at a time to the one that holds it.
template <class T>
int64_t first_of(const T *x, int64_t count, T wanted) {
  int64_t i = 0;
  for (; i + kLanes<T> <= count; i += kLanes<T>) {
    const Wide<T> next = at(x + i);
    if (any_of<T>(is_odd(wanted) ? next != next : next == wanted)) break;
  }
  return i + first_of(x + i, wanted);
}

template <bool kGreatest, class T>
void extremes(const T *x, int64_t rows, int64_t length, T *so_far) {
  for (int64_t row = 0; row < rows; ++row, x += length) {
    T found = extreme_of<kGreatest>(x, length);
    if constexpr (std::is_floating_point_v<T>) {
      if (found == 0) found = x[first_of(x, length, found)];
    }
    so_far[row] = better_of<kGreatest>(found, so_far[row]);
  }
}

template <bool kGreatest, class T>
int64_t first_beyond(const T *x, int64_t count, T bound) {
  const T found = extreme_of<kGreatest>(x, count);
  const bool beyond = kGreatest ? found > bound : found < bound;
  return beyond || is_odd(found) ? first_of(x, count, found) : -1;
}

template <bool kGreatest, class T>
void take_each(T *so_far, const T *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) so_far[i] = better_of<kGreatest>(x[i], so_far[i]);
}

template <class T>
constexpr Extremes<T> kExtremes = {extremes<true, T>,     extremes<false, T>,
                                   first_beyond<true, T>, first_beyond<false, T>,
                                   take_each<true, T>,    take_each<false, T>};

}  // namespace

extern const ExtremeKernels extreme_kernel_table;
constexpr ExtremeKernels extreme_kernel_table = {kExtremes<float>, kExtremes<double>,
                                                 kExtremes<int32_t>, kExtremes<int64_t>};

}  // namespace EMU_ISA_NS
}  // namespace emu
