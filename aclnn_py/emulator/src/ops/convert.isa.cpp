// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/convert.h"

#include <cmath>
#include <limits>

#include "core/float_bits.h"
#include "core/isa.h"
#include "ops/truncate.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace emu::EMU_ISA_NS {
namespace {

// Each codec: the memory type, the compute type, and the two conversions of one element.
template <class M, class C>
struct Plain {
  using Memory = M;
  using Value = C;
  static C decode(M value) { return static_cast<C>(value); }
  static M encode(C value) { return static_cast<M>(value); }
};

struct Bool {
  using Memory = uint8_t;
  using Value = int32_t;
  static int32_t decode(uint8_t value) { return value != 0; }
  static uint8_t encode(int32_t value) { return value != 0; }
};

template <class M, float (*kDecode)(M), M (*kEncode)(float)>
struct Small {
  using Memory = M;
  using Value = float;
  static float decode(M value) { return kDecode(value); }
  static M encode(float value) { return kEncode(value); }
};

using Half = Small<uint16_t, float16_to_float, float_to_float16>;
using Bfloat16 = Small<uint16_t, bfloat16_to_float, float_to_bfloat16>;
using E5m2 = Small<uint8_t, e5m2_to_float, float_to_e5m2>;
using E4m3 = Small<uint8_t, e4m3_to_float, float_to_e4m3>;

struct HalfPair {
  uint16_t re, im;
};

struct Complex32 {
  using Memory = HalfPair;
  using Value = Complex64;
  static Complex64 decode(HalfPair value) {
    return {float16_to_float(value.re), float16_to_float(value.im)};
  }
  static HalfPair encode(Complex64 value) {
    return {float_to_float16(value.real()), float_to_float16(value.imag())};
  }
};

template <class Codec>
void load(const char *memory, int64_t step, int64_t count, void *block) {
  using M = typename Codec::Memory;
  auto *to = static_cast<typename Codec::Value *>(block);
  if (step == static_cast<int64_t>(sizeof(M))) {
    for (int64_t i = 0; i < count; ++i) {
      M item;
      std::memcpy(&item, memory + i * static_cast<int64_t>(sizeof(M)), sizeof item);
      to[i] = Codec::decode(item);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    M item;
    std::memcpy(&item, memory + i * step, sizeof item);
    to[i] = Codec::decode(item);
  }
}

template <class Codec>
void store(char *memory, int64_t step, int64_t count, const void *block) {
  using M = typename Codec::Memory;
  const auto *from = static_cast<const typename Codec::Value *>(block);
  if (step == static_cast<int64_t>(sizeof(M))) {
    for (int64_t i = 0; i < count; ++i) {
      const M item = Codec::encode(from[i]);
      std::memcpy(memory + i * static_cast<int64_t>(sizeof(M)), &item, sizeof item);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const M item = Codec::encode(from[i]);
    std::memcpy(memory + i * step, &item, sizeof item);
  }
}

#if defined(__F16C__)
// Half is the commonest dtype: dense runs use the machine's own conversion. It keeps NaN payloads
// and rounds to nearest even as the portable code does.
template <>
void load<Half>(const char *memory, int64_t step, int64_t count, void *block) {
  auto *to = static_cast<float *>(block);
  int64_t i = 0;
  if (step == 2) {
#if defined(__AVX512F__)
    for (; i + 16 <= count; i += 16) {
      const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(memory + 2 * i));
      _mm512_storeu_ps(to + i, _mm512_maskz_cvtph_ps(0xffff, half));
    }
#endif
    for (; i + 8 <= count; i += 8) {
      const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i *>(memory + 2 * i));
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(half));
    }
  }
  for (; i < count; ++i) {
    uint16_t item;
    std::memcpy(&item, memory + i * step, sizeof item);
    to[i] = float16_to_float(item);
  }
}

template <>
void store<Half>(char *memory, int64_t step, int64_t count, const void *block) {
  const auto *from = static_cast<const float *>(block);
  int64_t i = 0;
  if (step == 2) {
#if defined(__AVX512F__)
    for (; i + 16 <= count; i += 16) {
      const __m256i half =
          _mm512_maskz_cvtps_ph(0xffff, _mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(memory + 2 * i), half);
    }
#endif
    for (; i + 8 <= count; i += 8) {
      const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i *>(memory + 2 * i), half);
    }
  }
  for (; i < count; ++i) {
    const uint16_t item = float_to_float16(from[i]);
    std::memcpy(memory + i * step, &item, sizeof item);
  }
}
#endif

#if defined(__AVX2__)
template <>
void load<Bfloat16>(const char *memory, int64_t step, int64_t count, void *block) {
  auto *to = static_cast<float *>(block);
  int64_t i = 0;
  if (step == 2) {
    for (; i + 8 <= count; i += 8) {
      const __m128i narrow = _mm_loadu_si128(reinterpret_cast<const __m128i *>(memory + 2 * i));
      const __m256i wide = _mm256_slli_epi32(_mm256_cvtepu16_epi32(narrow), 16);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + i), wide);
    }
  }
  for (; i < count; ++i) {
    uint16_t item;
    std::memcpy(&item, memory + i * step, sizeof item);
    to[i] = bfloat16_to_float(item);
  }
}

// float_to_bfloat16 of eight elements, each in the low half of its lane.
inline __m256i narrow_to_bfloat16(const float *from) {
  const __m256 value = _mm256_loadu_ps(from);
  const __m256i bits = _mm256_castps_si256(value), upper = _mm256_srli_epi32(bits, 16);
  const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
  const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(rounded, quiet, nan);
}

template <>
void store<Bfloat16>(char *memory, int64_t step, int64_t count, const void *block) {
  const auto *from = static_cast<const float *>(block);
  int64_t i = 0;
  if (step == 2) {
    for (; i + 16 <= count; i += 16) {
      // The packing takes 128-bit halves in turn; the permutation puts them in order.
      const __m256i mixed =
          _mm256_packus_epi32(narrow_to_bfloat16(from + i), narrow_to_bfloat16(from + i + 8));
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(memory + 2 * i),
                          _mm256_permute4x64_epi64(mixed, 0xd8));
    }
  }
  for (; i < count; ++i) {
    const uint16_t item = float_to_bfloat16(from[i]);
    std::memcpy(memory + i * step, &item, sizeof item);
  }
}
#endif

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

// An integer as a float64 whose last bits record what was lost, for narrow_to_odd.
template <class From>
double to_double_odd(From value) {
  if constexpr (sizeof(From) == 8) {
    constexpr From kLow = 0x7ff, kExact = From{1} << 53;
    bool wide = value > kExact;
    if constexpr (std::is_signed_v<From>) wide = wide || value < -kExact;
    if (wide && (value & kLow) != 0) value = static_cast<From>((value & ~kLow) | (kLow + 1));
  }
  return static_cast<double>(value);
}

template <class To, bool kOdd, class From>
To cast_one(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsComplex<To>) {
    using Part = typename To::value_type;
    if constexpr (kIsComplex<From>) {
      return {cast_one<Part, kOdd>(value.real()), cast_one<Part, kOdd>(value.imag())};
    } else {
      return {cast_one<Part, kOdd>(value), Part{0}};
    }
  } else if constexpr (kIsComplex<From>) {
    return cast_one<To, kOdd>(value.real());
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncate<To>(value);
  } else if constexpr (kOdd && std::is_same_v<To, float>) {
    if constexpr (std::is_integral_v<From>) return narrow_to_odd(to_double_odd(value));
    else return narrow_to_odd(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class To, bool kOdd, class From>
void cast(const void *from, int64_t count, void *to) {
  if constexpr (std::is_floating_point_v<From> &&
                (std::is_same_v<To, int32_t> || std::is_same_v<To, int64_t>)) {
    return truncate_all<To, From, To>(static_cast<const char *>(from), count,
                                      static_cast<char *>(to));
  }
  const auto *source = static_cast<const From *>(from);
  auto *target = static_cast<To *>(to);
  for (int64_t i = 0; i < count; ++i) target[i] = cast_one<To, kOdd>(source[i]);
}

template <class From, class... To>
void fill_row(CastFn *nearest, CastFn *odd) {
  ((nearest[static_cast<int>(compute_of<To>())] = cast<To, false, From>), ...);
  ((odd[static_cast<int>(compute_of<To>())] = cast<To, true, From>), ...);
}

template <class... Each>
void fill_casts(ConvertTable &table) {
  (fill_row<Each, Each...>(table.cast[static_cast<int>(compute_of<Each>())],
                           table.cast_to_odd[static_cast<int>(compute_of<Each>())]),
   ...);
}

template <class Codec>
void fill_codec(ConvertTable &table, aclDataType dtype) {
  table.load[dtype] = load<Codec>;
  table.store[dtype] = store<Codec>;
}

ConvertTable build() {
  ConvertTable table{};
  fill_codec<Plain<float, float>>(table, ACL_FLOAT);
  fill_codec<Half>(table, ACL_FLOAT16);
  fill_codec<Bfloat16>(table, ACL_BF16);
  fill_codec<E5m2>(table, ACL_FLOAT8_E5M2);
  fill_codec<E4m3>(table, ACL_FLOAT8_E4M3FN);
  fill_codec<Plain<double, double>>(table, ACL_DOUBLE);
  fill_codec<Plain<int8_t, int32_t>>(table, ACL_INT8);
  fill_codec<Plain<uint8_t, int32_t>>(table, ACL_UINT8);
  fill_codec<Plain<int16_t, int32_t>>(table, ACL_INT16);
  fill_codec<Plain<uint16_t, int32_t>>(table, ACL_UINT16);
  fill_codec<Plain<int32_t, int32_t>>(table, ACL_INT32);
  fill_codec<Bool>(table, ACL_BOOL);
  fill_codec<Plain<uint32_t, int64_t>>(table, ACL_UINT32);
  fill_codec<Plain<int64_t, int64_t>>(table, ACL_INT64);
  fill_codec<Plain<uint64_t, uint64_t>>(table, ACL_UINT64);
  fill_codec<Complex32>(table, ACL_COMPLEX32);
  fill_codec<Plain<Complex64, Complex64>>(table, ACL_COMPLEX64);
  fill_codec<Plain<Complex128, Complex128>>(table, ACL_COMPLEX128);
  fill_casts<float, double, int32_t, int64_t, uint64_t, Complex64, Complex128>(table);
  return table;
}

}  // namespace

const ConvertTable &table() {
  static const ConvertTable built = build();
  return built;
}

}  // namespace emu::EMU_ISA_NS
