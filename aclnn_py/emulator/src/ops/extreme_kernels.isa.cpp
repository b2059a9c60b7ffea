// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/extreme_kernels.h"

#include <limits>

#include "ops/registers.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Keeps a register from being loaded again for its second use, as the compiler would have it.
template <class T>
void loaded([[maybe_unused]] Wide<T> &once) {
#if defined(__SSE2__)
  asm("" : "+v"(once));
#endif
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
  bool any() const { return std::is_floating_point_v<T> && any_of(found_); }

 private:
  Truths<T> found_{};
#endif
};

// The lanes of a register, folded in halves. None is NaN.
template <bool kGreatest, class T, int64_t kBytes>
T best_lane(Wide<T, kBytes> lanes) {
  constexpr int64_t kCount = kBytes / static_cast<int64_t>(sizeof(T));
  if constexpr (kBytes > 16) {
    Wide<T, kBytes / 2> low, high;
    std::memcpy(&low, &lanes, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char *>(&lanes) + sizeof low, sizeof high);
    return best_lane<kGreatest, T, kBytes / 2>((kGreatest ? high > low : high < low) ? high : low);
  } else {
    Truths<T, kBytes> order;
    for (int64_t lane = 0; lane < kCount; ++lane)
      order[lane] = static_cast<SignedOf<sizeof(T)>>(lane);
#pragma GCC unroll 4
    for (int64_t half = kCount / 2; half > 0; half /= 2) {
      const auto other = __builtin_shuffle(lanes, order + static_cast<SignedOf<sizeof(T)>>(half));
      lanes = (kGreatest ? other > lanes : other < lanes) ? other : lanes;
    }
    return lanes[0];
  }
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
    // Side by side, so that none waits for the one before it. Rows follow each other, and the
    // processor does not read ahead from one page to the next.
    Wide<T> chains[kChains];
#pragma GCC unroll 8
    for (Wide<T> &chain : chains) chain = found;
    for (; i + kStep <= count; i += kStep) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < kChains; k += 2) {
        fetch(x + i + k * kWide, 2048);
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
  return best_lane<kGreatest, T, kRegisterBytes>(found);
}

// The place of the first element that equals one that is there, or is NaN where that is.
template <bool kOdd, class T>
int64_t first_of(const T *x, int64_t count, T wanted) {
  constexpr int64_t kTogether = 4, kWide = kLanes<T>;
  const auto is_it = [=](auto v) {
    if constexpr (kOdd) return v != v;
    else return v == wanted;
  };
  int64_t i = 0;
  for (; i + kTogether * kWide <= count; i += kTogether * kWide) {
    Truths<T> found{};
#pragma GCC unroll 4
    for (int64_t k = 0; k < kTogether; ++k) found |= is_it(at(x + i + k * kWide));
    if (any_of(found)) break;
  }
  for (; i + kWide <= count; i += kWide) {
    const int64_t lane = first_true<T>(is_it(at(x + i)));
    if (lane >= 0) return i + lane;
  }
  while (!is_it(x[i])) ++i;
  return i;
}

template <class T>
int64_t first_of(const T *x, int64_t count, T wanted) {
  return is_odd(wanted) ? first_of<true>(x, count, wanted) : first_of<false>(x, count, wanted);
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

// Looks for the place only in the part of the row that has the extreme: short ones, which are still
// near.
template <bool kGreatest, class T>
int64_t place_in(const T *x, int64_t length) {
  constexpr int64_t kPart = 8192 / static_cast<int64_t>(sizeof(T));
  T best = extreme_of<kGreatest>(x, length < kPart ? length : kPart);
  int64_t part = 0;
  for (int64_t i = kPart; i < length && !is_odd(best); i += kPart) {
    const T next = extreme_of<kGreatest>(x + i, length - i < kPart ? length - i : kPart);
    if ((kGreatest ? next > best : next < best) || is_odd(next)) {
      best = next;
      part = i;
    }
  }
  return part + first_of(x + part, length - part < kPart ? length - part : kPart, best);
}

template <bool kGreatest, class T>
void places(const T *x, int64_t rows, int64_t length, int64_t *to) {
  for (int64_t row = 0; row < rows; ++row) to[row] = place_in<kGreatest>(x + row * length, length);
}

// The same of registers, as a choice for which there are instructions.
template <bool kGreatest, class T>
Wide<T> better_of(Wide<T> next, Wide<T> found) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    const auto taken = _mm512_cmp_ps_mask(next, found, kGreatest ? _CMP_NLE_UQ : _CMP_NGE_UQ);
    return _mm512_mask_mov_ps(found, _mm512_mask_cmp_ps_mask(taken, found, found, _CMP_ORD_Q),
                              next);
  }
  if constexpr (std::is_same_v<T, double>) {
    const auto taken = _mm512_cmp_pd_mask(next, found, kGreatest ? _CMP_NLE_UQ : _CMP_NGE_UQ);
    return _mm512_mask_mov_pd(found, _mm512_mask_cmp_pd_mask(taken, found, found, _CMP_ORD_Q),
                              next);
  }
#endif
  if constexpr (std::is_floating_point_v<T>) {
    const auto keep = (kGreatest ? found >= next : found <= next) | (found != found);
    return keep ? found : next;
  } else {
    return (kGreatest ? next > found : next < found) ? next : found;
  }
}

// Some rows at a time, so that what was found is loaded and stored less often.
template <bool kGreatest, class T>
void take_rows(T *so_far, const T *x, int64_t rows, int64_t step, int64_t count) {
  constexpr int64_t kTogether = 4;
  const auto take = [&](auto together) {
    int64_t c = 0;
    for (; c + kLanes<T> <= count; c += kLanes<T>) {
      Wide<T> found = at(so_far + c);
      for (int64_t k = 0; k < together; ++k)
        found = better_of<kGreatest, T>(at(x + k * step + c), found);
      std::memcpy(so_far + c, &found, sizeof found);
    }
    for (; c < count; ++c)
      for (int64_t k = 0; k < together; ++k)
        so_far[c] = better_of<kGreatest>(x[k * step + c], so_far[c]);
    x += together * step;
    rows -= together;
  };
  while (rows >= kTogether) take(std::integral_constant<int64_t, kTogether>());
  while (rows > 0) take(std::integral_constant<int64_t, 1>());
}

template <class T>
constexpr Extremes<T> kExtremes = {extremes<true, T>, extremes<false, T>, places<true, T>,
                                   places<false, T>,  take_rows<true, T>, take_rows<false, T>};

}  // namespace

extern const ExtremeKernels extreme_kernel_table;
constexpr ExtremeKernels extreme_kernel_table = {
    kExtremes<float>,   kExtremes<double>,  kExtremes<int8_t>, kExtremes<uint8_t>,
    kExtremes<int16_t>, kExtremes<int32_t>, kExtremes<int64_t>};

}  // namespace EMU_ISA_NS
}  // namespace emu
