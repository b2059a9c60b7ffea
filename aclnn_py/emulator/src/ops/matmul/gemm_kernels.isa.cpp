// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Compiled once per instruction set: vector extensions of the compiler give the width, the register
// tile is chosen for the number of registers.
#include "ops/matmul/gemm_kernels.h"

#include <utility>

#include "ops/matmul/gemm_pack.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

template <int rows, class T, bool less = false>
void tile(const T *a, const T *b, int64_t ldb, int64_t depth, T *c, int64_t ldc,
          [[maybe_unused]] bool add) {
  using V = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int lanes = Vec<T>::lanes;
  V sum[rows][2] = {};
  await_rows<rows>(c, ldc, 2 * lanes);
  // Adds the products of one depth.
  const auto add_depth = [&sum](const T *x, const T *y) {
    const V left = *reinterpret_cast<const L *>(y), right = *reinterpret_cast<const L *>(y + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += x[i] * left;
      sum[i][1] += x[i] * right;
    }
  };
  for (int64_t p = 0; p + 2 <= depth; p += 2) {
    await_panel<rows>(a);
    add_depth(a + rows, b + ldb);
    add_depth(a, b);
    a += 2 * rows;
    b += 2 * ldb;
  }
  if (depth % 2) add_depth(a, b);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto *first = reinterpret_cast<L *>(c + i * ldc),
         *second = reinterpret_cast<L *>(c + i * ldc + lanes);
    if constexpr (less) {
      *first = V(*first) - sum[i][0];
      *second = V(*second) - sum[i][1];
    } else {
      *first = add ? V(*first) + sum[i][0] : sum[i][0];
      *second = add ? V(*second) + sum[i][1] : sum[i][1];
    }
  }
}

using Whole = Vec<uint32_t>::type;  // int32 sums wrap as the device's do

// Per lane: the product of the low int16 plus that of the high int16.
inline Whole pair_products(Whole a, Whole b) {
#if defined(__AVX512BW__)
  return (Whole)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Whole)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (Whole)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
  using Signed = Vec<int32_t>::type;
  const Signed x = (Signed)a, y = (Signed)b;
  return (Whole)((((Signed)(a << 16)) >> 16) * (((Signed)(b << 16)) >> 16) + (x >> 16) * (y >> 16));
#endif
}

template <int rows>
void tile_pairs(const int16_t *a, const int16_t *b, int64_t ldb, int64_t depth, int32_t *c,
                int64_t ldc, bool add) {
  using L = Vec<uint32_t>::loose;
  constexpr int lanes = Vec<uint32_t>::lanes;
  Whole sum[rows][2] = {};
  await_rows<rows>(c, ldc, 2 * lanes);
  for (int64_t p = 0; p < depth; p += 2) {
    await_panel<rows>(a);
    const Whole left = *reinterpret_cast<const L *>(b),
                right = *reinterpret_cast<const L *>(b + 2 * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      uint32_t pair;
      memcpy(&pair, a + 2 * i, sizeof pair);
      const Whole both = pair - Whole{};
      sum[i][0] += pair_products(both, left);
      sum[i][1] += pair_products(both, right);
    }
    a += 2 * rows;
    b += 2 * ldb;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto *first = reinterpret_cast<L *>(c + i * ldc),
         *second = reinterpret_cast<L *>(c + i * ldc + lanes);
    *first = add ? Whole(*first) + sum[i][0] : sum[i][0];
    *second = add ? Whole(*second) + sum[i][1] : sum[i][1];
  }
}

uint16_t float_to_float16(float value) {
  uint32_t bits = float_to_bits(value), sign = (bits >> 16) & 0x8000u,
           magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u)
    return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x1FFu));
  // rounds to 65536 or above
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x38800000u) {  // subnormal result: the addition rounds at the right bit
    float shifted = bits_to_float(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (float_to_bits(shifted) - 0x3F000000u));
  }
  uint32_t rounded = magnitude + 0xC8000FFFu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

uint16_t float_to_brain(float value) {
  uint32_t bits = float_to_bits(value);
  uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<uint16_t>((bits & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
}

void to_f16(const float *source, uint16_t *target, int64_t count) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(target + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < count; ++i) target[i] = float_to_float16(source[i]);
}

void to_bfloat16(const float *source, uint16_t *target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = float_to_brain(source[i]);
}

void add(const float *a, const float *b, float *sum, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

template <class T, int... less_one>
constexpr void fill_tiles(GemmTile<T, T> *tiles, std::integer_sequence<int, less_one...>) {
  ((tiles[less_one] = tile<less_one + 1, T>), ...);
}

template <int... less_one>
constexpr GemmKernels make_table(std::integer_sequence<int, less_one...> heights) {
  GemmKernels k{};
  k.rows = tile_rows;
  k.columns = Vec<float>::columns;
  k.columns64 = Vec<double>::columns;
  fill_tiles<float>(k.tile_f32, heights);
  fill_tiles<double>(k.tile_f64, heights);
  ((k.less_f64[less_one] = tile<less_one + 1, double, true>), ...);
  ((k.tile_i32[less_one] = tile_pairs<less_one + 1>), ...);
  k.pack[static_cast<int>(GemmStorage::float32)] = pack<Float32>;
  k.pack[static_cast<int>(GemmStorage::float16)] = pack<Half>;
  k.pack[static_cast<int>(GemmStorage::bfloat16)] = pack<Brain>;
  k.pack[static_cast<int>(GemmStorage::int8)] = pack<Byte<int8_t>>;
  k.pack[static_cast<int>(GemmStorage::uint8)] = pack<Byte<uint8_t>>;
  k.pack[static_cast<int>(GemmStorage::float64)] = pack<Float64>;
  for (int i = 0; i < static_cast<int>(GemmStorage::count); ++i) k.pack_wide[i] = k.pack[i];
  k.pack_wide[static_cast<int>(GemmStorage::int8)] = pack<WideByte<int8_t>>;
  k.pack_wide[static_cast<int>(GemmStorage::uint8)] = pack<WideByte<uint8_t>>;
  k.add = add;
  k.to_f16 = to_f16;
  k.to_bfloat16 = to_bfloat16;
  k.from_f16 = from_f16;
  k.from_bfloat16 = from_bfloat16;
  return k;
}

}  // namespace

extern const GemmKernels gemm_table;
constexpr GemmKernels gemm_table = make_table(std::make_integer_sequence<int, tile_rows>());

}  // namespace EMU_ISA_NS
}  // namespace emu
