// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/random/words.h"

#include <cstring>

#include "core/isa.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

// A word of 32 bits in the low half of each lane of 64, so that one multiplication makes both
// halves of a product. What is in the high half has no meaning.
// Registers that are worked on in turns, because a product waits for the one before it: as many as
// the instruction set has room for.
#if defined(__AVX512F__)
constexpr int kRegister = 8, kTogether = 4;
#elif defined(__AVX2__)
constexpr int kRegister = 4, kTogether = 2;
#else
constexpr int kRegister = 2, kTogether = 2;
#endif
constexpr int kLanes = kTogether * kRegister;
using Register = uint64_t __attribute__((vector_size(kRegister * sizeof(uint64_t))));
using Reals = double __attribute__((vector_size(kRegister * sizeof(double))));
using Lanes = Register[kTogether];

constexpr uint64_t kLow = 0xFFFFFFFFu;

inline Register all(uint64_t x) { return Register{} + x; }
inline Reals reals(double x) { return Reals{} + x; }
inline Reals as_reals(Register x) { return reinterpret_cast<Reals>(x); }
inline Register as_bits(Reals x) { return reinterpret_cast<Register>(x); }

// The products of the low halves. The compiler does not know that the high ones have no part in it.
inline Register product(Register a, Register b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Register>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Register>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Register>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & kLow) * (b & kLow);
#endif
}

inline Reals square_root(Reals x) {
#if defined(__AVX512F__)
  return reinterpret_cast<Reals>(_mm512_maskz_sqrt_pd(0xff, reinterpret_cast<__m512d>(x)));
#elif defined(__AVX2__)
  return reinterpret_cast<Reals>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(x)));
#else
  for (int i = 0; i < kRegister; ++i) x[i] = __builtin_sqrt(x[i]);
  return x;
#endif
}

// Which pair of a register is in a lane. In this order store() needs one step a register.
constexpr uint64_t pair_of(int lane) {
  return static_cast<uint64_t>(lane % 2 * (kRegister / 2) + lane / 2);
}

// What became of the first and of the second words, in the order of the sequence.
template <class T, class V>
inline void store(V first, V second, T *to) {
#if defined(__AVX512F__)
  constexpr Register kEven = {0, 8, 2, 10, 4, 12, 6, 14}, kOdd = {1, 9, 3, 11, 5, 13, 7, 15};
#elif defined(__AVX2__)
  constexpr Register kEven = {0, 4, 2, 6}, kOdd = {1, 5, 3, 7};
#else
  constexpr Register kEven = {0, 2}, kOdd = {1, 3};
#endif
  const V front = __builtin_shuffle(first, second, kEven);
  const V back = __builtin_shuffle(first, second, kOdd);
  std::memcpy(to, &front, sizeof front);
  std::memcpy(to + kRegister, &back, sizeof back);
}

// The halves of a word; above the low 32 bits of each is what has no meaning.
struct Halves {
  Register high, low;

  Register word() const { return high << 32 | (low & kLow); }
};

struct Pairs {
  Halves first[kTogether], second[kTogether];  // the two words of each pair
};

// The keys of the rounds in every lane.
struct Keys {
  Register low[10], high[10];

  explicit Keys(uint64_t seed) {
    uint64_t a = seed & kLow, b = seed >> 32;
    for (int round = 0; round < 10; ++round) {
      low[round] = all(a);
      high[round] = all(b);
      a = (a + 0x9E3779B9u) & kLow;
      b = (b + 0xBB67AE85u) & kLow;
    }
  }
};

// Pairs `start` to `start + kLanes`, counted with 63 bits. Philox 4x32 with ten rounds; see
// philox.h.
inline __attribute__((always_inline)) Pairs draw(const Keys &keys, uint64_t start) {
  Register lane{};
  for (int i = 0; i < kRegister; ++i) lane[i] = pair_of(i);
  Lanes c0, c1, c2, c3;
  for (int k = 0; k < kTogether; ++k) {
    const Register pair = (lane + start + static_cast<uint64_t>(k * kRegister)) & ~uint64_t{0} >> 1;
    // The first round of a counter whose upper half is 0.
    const Register a = product(pair, all(0xD2511F53u));
    c0[k] = pair >> 32 ^ keys.low[0];
    c1[k] = Register{};
    c2[k] = a >> 32 ^ keys.high[0];
    c3[k] = a;
  }
  for (int round = 1; round < 10; ++round) {
    for (int k = 0; k < kTogether; ++k) {
      const Register a = product(c0[k], all(0xD2511F53u));
      const Register b = product(c2[k], all(0xCD9E8D57u));
      c0[k] = b >> 32 ^ c1[k] ^ keys.low[round];
      c1[k] = b;
      c2[k] = a >> 32 ^ c3[k] ^ keys.high[round];
      c3[k] = a;
    }
  }
  Pairs found;
  for (int k = 0; k < kTogether; ++k) {
    found.first[k] = {c0[k], c1[k]};
    found.second[k] = {c2[k], c3[k]};
  }
  return found;
}

// make(first, second, to) turns a register of pairs into the elements of both their words.
template <class T, class F>
inline __attribute__((always_inline)) void each(const RandomPart &part, T *to, F &&make) {
  constexpr int64_t kItems = 2 * kLanes;
  const Keys keys(part.seed);
  uint64_t first = part.position / 2;
  // The first word of an odd position belongs to no element.
  int64_t start = -static_cast<int64_t>(part.position % 2);
  for (; start < part.count; start += kItems, first += kLanes) {
    alignas(64) T items[kItems];
    const bool whole = start >= 0 && start + kItems <= part.count;
    T *const target = whole ? to + start : items;
    const Pairs drawn = draw(keys, first);
    for (int k = 0; k < kTogether; ++k)
      make(drawn.first[k], drawn.second[k], target + 2 * k * kRegister);
    if (whole) continue;
    const int64_t skipped = start < 0 ? 1 : 0;
    const int64_t end = start + kItems < part.count ? kItems : part.count - start;
    std::memcpy(to + start + skipped, items + skipped,
                static_cast<size_t>(end - skipped) * sizeof(T));
  }
}

void words(const RandomPart &part, uint64_t *to) {
  each(part, to, [](const Halves &first, const Halves &second, uint64_t *at) {
    store(first.word(), second.word(), at);
  });
}

// The upper 53 bits as a number of [0, 1). All steps are exact: the bits are put where the digits
// of 2^20 and of 1/2 are.
inline Reals unit_of(const Halves &word) {
  constexpr uint64_t kOfHigh = uint64_t{1023 + 20} << 52, kOfLow = uint64_t{1023 - 1} << 52;
  const Reals high = as_reals((word.high & kLow) | kOfHigh);
  const Reals low = as_reals((word.low >> 11 & (kLow >> 11)) | kOfLow);
  return high - (0x1p20 + 0x1p-1) + low;
}

void uniform(const RandomPart &part, const UniformRange &range, double *to) {
  const Reals from = reals(range.from), width = reals(range.width), last = reals(range.last);
  const auto at = [&](const Halves &word) {
    const Reals x = from + unit_of(word) * width;
    const Reals low = last < x ? last : x;
    return from < low ? low : from;
  };
  each(part, to, [&](const Halves &first, const Halves &second, double *items) {
    store(at(first), at(second), items);
  });
}

void integers(const RandomPart &part, int64_t from, uint64_t width, int64_t *to) {
  const Register factor = all(width), lowest = all(static_cast<uint64_t>(from));
  const auto at = [&](const Halves &word) {
    const Register carried = product(word.low, factor) >> 32;
    return lowest + ((product(word.high, factor) + carried) >> 32);
  };
  each(part, to, [&](const Halves &first, const Halves &second, int64_t *items) {
    store(at(first), at(second), items);
  });
}

// sqrt(-2 ln(x)) for x from 2^-53 to 1, off by 2^-48 of it.
inline Reals radius_of(Reals x) {
  constexpr uint64_t kRootOfHalf = 0x3fe6a09e667f3bcdu, kBias = 64;
  // x = 2^power * m, where m is between the roots of 1/2 and 2
  const Register moved = as_bits(x) - kRootOfHalf + (kBias << 52);
  const Register biased = moved >> 52;
  const Reals power = as_reals(biased | uint64_t{1023 + 52} << 52) - (0x1p52 + kBias);
  const Reals m = as_reals(as_bits(x) - ((biased - kBias) << 52));
  // ln(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...), |s| < 0.172
  const Reals s = (m - 1) / (m + 1), square = s * s;
  Reals series = reals(1.0 / 17);
  for (int k = 15; k > 0; k -= 2) series = series * square + 1.0 / k;
  const Reals log = power * 0.69314718055994530942 + (s + s) * series;
  return square_root(log * -2);
}

struct Direction {
  Reals cosine, sine;
};

// Of `turns` whole turns, from 0 to 1, off by 2^-49.
inline Direction direction_of(Reals turns) {
  // Quarters and what is left, from -1/2 to 1/2. The sum ends in the number of quarters.
  constexpr double kWhole = 0x1.8p52;
  const Reals quarters = turns * 4, shifted = quarters + kWhole;
  const Register quarter = as_bits(shifted);
  const Reals angle = (quarters - (shifted - kWhole)) * 1.57079632679489661923;
  const Reals square = angle * angle;
  Reals sine = reals(1), cosine = reals(1);
  for (int k = 14; k > 0; k -= 2) sine = 1.0 - square * sine * (1.0 / (k * (k + 1)));
  for (int k = 16; k > 0; k -= 2) cosine = 1.0 - square * cosine * (1.0 / ((k - 1) * k));
  sine *= angle;
  const Register odd = -(quarter & 1);
  const Register across = (as_bits(sine) & odd) | (as_bits(cosine) & ~odd);
  const Register up = (as_bits(cosine) & odd) | (as_bits(sine) & ~odd);
  // Signs of the second and third quarter, and of the third and fourth.
  return {as_reals(across ^ ((quarter + 1) & 2) << 62), as_reals(up ^ (quarter & 2) << 62)};
}

// Whether rounding to 24 digits, or cutting off after them, tells numbers from x - error to x +
// error apart: bits behind the 25th digit are not equal.
inline uint64_t apart(double x, double error) {
  const double ends[2] = {x - error, x + error};
  uint64_t bits[2];
  std::memcpy(bits, ends, sizeof bits);
  return (bits[0] ^ bits[1]) >> 28;
}

int64_t normal(const RandomPart &part, const double *means, const double *deviations, double *to,
               int64_t *unsure) {
  each(part, to, [](const Halves &first, const Halves &second, double *items) {
    const Reals radius = radius_of(1.0 - unit_of(first));
    const Direction direction = direction_of(unit_of(second));
    store(radius * direction.cosine, radius * direction.sine, items);
  });
  // A radius is at most 8.6, so that the numbers are off by less than 2^-43, and those of
  // normal_pair by less; the sum is rounded too. Near 0 the sign is to be found.
  const auto error = [&](int64_t i) {
    return __builtin_fabs(deviations[i]) * 0x1p-42 + __builtin_fabs(means[i]) * 0x1p-51 + 0x1p-1000;
  };
  uint64_t any = 0;
  for (int64_t i = 0; i < part.count; ++i) {
    to[i] = means[i] + deviations[i] * to[i];
    any |= apart(to[i], error(i));
  }
  int64_t found = 0;
  if (any == 0) return found;
  for (int64_t i = 0; i < part.count; ++i)
    if (apart(to[i], error(i)) != 0) unsure[found++] = i;
  return found;
}

void compare(uint64_t seed, uint64_t first, int64_t pairs, uint64_t least, uint64_t *bits) {
  const Keys keys(seed);
  constexpr int kPairsOfWord = 32;
  for (int64_t start = 0; start < pairs; start += kPairsOfWord) {
    Register marks{};
    for (int part = 0; part < kPairsOfWord; part += kLanes) {
      const Pairs drawn = draw(keys, first + static_cast<uint64_t>(start + part));
      for (int k = 0; k < kTogether; ++k) {
        // Numbers of 53 bits: the difference is negative where they are not below `least`.
        const Register even = (least - 1 - (drawn.first[k].word() >> 11)) >> 63;
        const Register odd = (least - 1 - (drawn.second[k].word() >> 11)) >> 63;
        marks |= (even | odd << 1) << static_cast<uint64_t>(2 * (part + k * kRegister));
      }
    }
    uint64_t word = 0;
    for (int i = 0; i < kRegister; ++i) word |= marks[i] << 2 * pair_of(i);
    bits[start / kPairsOfWord] = word;
  }
}

}  // namespace

extern const WordKernels word_table;
constexpr WordKernels word_table = {words, uniform, integers, normal, compare};

}  // namespace EMU_ISA_NS
}  // namespace emu
