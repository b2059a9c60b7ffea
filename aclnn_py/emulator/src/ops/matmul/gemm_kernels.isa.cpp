// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Compiled once per instruction set: vector extensions of the compiler give the width, the register tile is
// chosen for the number of registers.
#include "ops/matmul/gemm_kernels.h"

#include <string.h>

#include <type_traits>

#include "core/isa.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, tile_rows = 12;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32, tile_rows = 6;
#elif defined(__aarch64__)
constexpr int vector_bytes = 16, tile_rows = 8;
#else
constexpr int vector_bytes = 16, tile_rows = 4;
#endif

constexpr int thin_rows = 2;

template <class T>
struct Vec {
  typedef T type __attribute__((vector_size(vector_bytes)));
  typedef T loose __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
  static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));
  static constexpr int columns = 2 * lanes;
};

// Integer accumulators receive sums that fp32 holds exactly: the caller keeps depth short enough. They wrap
// as the device's do.
template <class T, class C>
inline void write_part(const typename Vec<T>::type &sum, C *c, bool add) {
  if constexpr (std::is_same<T, C>::value) {
    auto *wide = reinterpret_cast<typename Vec<T>::loose *>(c);
    *wide = add ? typename Vec<T>::type(*wide) + sum : sum;
  } else {
    auto *wide = reinterpret_cast<typename Vec<uint32_t>::loose *>(c);
    auto whole = (typename Vec<uint32_t>::type) __builtin_convertvector(sum, typename Vec<int32_t>::type);
    *wide = add ? typename Vec<uint32_t>::type(*wide) + whole : whole;
  }
}

template <int rows, class T, class C>
void tile(const T *a, const T *b, int64_t ldb, int64_t depth, C *c, int64_t ldc, bool add) {
  using V = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int lanes = Vec<T>::lanes;
  V sum[rows][2] = {};
  for (int64_t p = 0; p < depth; ++p) {
    V left = *reinterpret_cast<const L *>(b), right = *reinterpret_cast<const L *>(b + lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      sum[i][0] += a[i] * left;
      sum[i][1] += a[i] * right;
    }
    a += rows;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    write_part<T, C>(sum[i][0], c + i * ldc, add);
    write_part<T, C>(sum[i][1], c + i * ldc + lanes, add);
  }
}

float bits_to_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}
uint32_t float_to_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

// Branch-free so that the baseline build vectorises it: rebias the exponent by a multiplication, then put
// back infinity and NaN.
float half_to_float(uint16_t half) {
  uint32_t magnitude = half & 0x7FFFu, sign = (half & 0x8000u) << 16;
  float scaled = bits_to_float(magnitude << 13) * bits_to_float(0x77800000u);
  uint32_t special = magnitude >= 0x7C00u ? 0x7F800000u | (magnitude << 13) : float_to_bits(scaled);
  return bits_to_float(special | sign);
}

uint16_t float_to_half(float value) {
  uint32_t bits = float_to_bits(value), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x1FFu));
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);  // rounds to 65536 or above
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

void from_f16(const uint16_t *source, float *target, int64_t count) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(target + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(source + i))));
#endif
  for (; i < count; ++i) target[i] = half_to_float(source[i]);
}

void from_bf16(const uint16_t *source, float *target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = bits_to_float(static_cast<uint32_t>(source[i]) << 16);
}

void to_f16(const float *source, uint16_t *target, int64_t count) {
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i *>(target + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(source + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < count; ++i) target[i] = float_to_half(source[i]);
}

void to_bf16(const float *source, uint16_t *target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) target[i] = float_to_brain(source[i]);
}

// How one storage kind becomes the packed kind, singly and in runs.
struct Float32 {
  using Stored = float;
  using Packed = float;
  static float one(float v) { return v; }
  static void run(const float *s, float *t, int64_t n) { memcpy(t, s, static_cast<size_t>(n) * 4); }
};
struct Float64 {
  using Stored = double;
  using Packed = double;
  static double one(double v) { return v; }
  static void run(const double *s, double *t, int64_t n) { memcpy(t, s, static_cast<size_t>(n) * 8); }
};
struct Half {
  using Stored = uint16_t;
  using Packed = float;
  static float one(uint16_t v) { return half_to_float(v); }
  static void run(const uint16_t *s, float *t, int64_t n) { from_f16(s, t, n); }
};
struct Brain {
  using Stored = uint16_t;
  using Packed = float;
  static float one(uint16_t v) { return bits_to_float(static_cast<uint32_t>(v) << 16); }
  static void run(const uint16_t *s, float *t, int64_t n) { from_bf16(s, t, n); }
};
template <class T>
struct Byte {
  using Stored = T;
  using Packed = float;
  static float one(T v) { return static_cast<float>(v); }
  static void run(const T *s, float *t, int64_t n) {
    for (int64_t i = 0; i < n; ++i) t[i] = static_cast<float>(s[i]);
  }
};

// `count` consecutive indices of an axis of unit stride, which blocks may cut into pieces.
template <class K>
void read_run(const typename K::Stored *source, const GemmAxis &axis, int64_t begin, int64_t count,
              typename K::Packed *target) {
  while (count > 0) {
    int64_t piece = axis.block ? axis.block - begin % axis.block : count;
    if (piece > count) piece = count;
    K::run(source + axis.at(begin), target, piece);
    begin += piece;
    target += piece;
    count -= piece;
  }
}

constexpr int64_t staging =
    256;  // columns transposed at a time; four such rows stay in the first-level cache

template <class K>
void pack(const GemmPanel &panel, void *packed_raw) {
  using S = typename K::Stored;
  using P = typename K::Packed;
  const S *source = static_cast<const S *>(panel.source);
  P *packed = static_cast<P *>(packed_raw);
  const int64_t width = panel.width, count = panel.wide_count;
  if (count < width) memset(packed, 0, static_cast<size_t>(width * panel.depth) * sizeof(P));
  if (panel.wide.stride == 1) {
    for (int64_t p = 0; p < panel.depth; ++p)
      read_run<K>(source + panel.deep.at(panel.deep_begin + p), panel.wide, panel.wide_begin, count,
                  packed + p * width);
    return;
  }
  if (panel.deep.stride == 1) {
    P staged[4][staging];
    for (int64_t first = 0; first < count; first += 4) {
      const int64_t lines = count - first < 4 ? count - first : 4;
      for (int64_t p = 0; p < panel.depth; p += staging) {
        const int64_t run = panel.depth - p < staging ? panel.depth - p : staging;
        for (int64_t line = 0; line < lines; ++line)
          read_run<K>(source + panel.wide.at(panel.wide_begin + first + line), panel.deep,
                      panel.deep_begin + p, run, staged[line]);
        P *target = packed + p * width + first;
        if (lines == 4) {
          for (int64_t q = 0; q < run; ++q) {
            P four[4] = {staged[0][q], staged[1][q], staged[2][q], staged[3][q]};
            memcpy(target + q * width, four, sizeof four);
          }
        } else {
          for (int64_t q = 0; q < run; ++q)
            for (int64_t line = 0; line < lines; ++line) target[q * width + line] = staged[line][q];
        }
      }
    }
    return;
  }
  for (int64_t p = 0; p < panel.depth; ++p) {
    const S *line = source + panel.deep.at(panel.deep_begin + p);
    for (int64_t i = 0; i < count; ++i)
      packed[p * width + i] = K::one(line[panel.wide.at(panel.wide_begin + i)]);
  }
}

}  // namespace

extern const GemmKernels gemm_table;
const GemmKernels gemm_table = {
    tile_rows,
    thin_rows,
    Vec<float>::columns,
    Vec<double>::columns,
    {pack<Float32>, pack<Half>, pack<Brain>, pack<Byte<int8_t>>, pack<Byte<uint8_t>>, pack<Float64>},
    {tile<tile_rows, float, float>, tile<thin_rows, float, float>},
    {tile<tile_rows, float, int32_t>, tile<thin_rows, float, int32_t>},
    {tile<tile_rows, double, double>, tile<thin_rows, double, double>},
    to_f16,
    to_bf16,
    from_f16,
    from_bf16,
};

}  // namespace EMU_ISA_NS
}  // namespace emu
