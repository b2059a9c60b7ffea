// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Products of a few rows, which wait for memory: the matrix is read once, in long pieces, and multiplied in
// registers as it comes.
#include "ops/matmul/gemm_kernels.h"
#include "ops/matmul/gemm_kinds.isa.h"

#include <utility>

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Adds the products of `deep` depths to the sums of all columns, which stay in the first-level cache.
template <class K, int rows, int deep>
void add_depths(const typename K::Packed *a, const typename K::Stored *b, const GemmStream &s, bool first) {
  using T = typename K::Packed;
  using V = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int lanes = Vec<T>::lanes;
  T factors[deep * rows];
  memcpy(factors, a, sizeof factors);
  T *sums = static_cast<T *>(s.sums);
  int64_t j = 0;
  for (; j + lanes <= s.columns; j += lanes) {
    V sum[rows] = {};
#pragma GCC unroll 16
    for (int i = 0; i < rows && !first; ++i) sum[i] = *reinterpret_cast<const L *>(sums + i * s.sums_stride + j);
#pragma GCC unroll 16
    for (int p = 0; p < deep; ++p) {
      const V values = lanes_of<K>(b + p * s.step + j);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) sum[i] += factors[p * rows + i] * values;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) *reinterpret_cast<L *>(sums + i * s.sums_stride + j) = sum[i];
  }
  for (; j < s.columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      T sum = first ? T() : sums[i * s.sums_stride + j];
      for (int p = 0; p < deep; ++p) sum += factors[p * rows + i] * T(K::one(b[p * s.step + j]));
      sums[i * s.sums_stride + j] = sum;
    }
  }
}

template <class K, int rows>
void across(const GemmStream &s) {
  // Rows of b that are read side by side: more than the processor foresees, or than there are registers for, cost.
  constexpr int deep = rows <= 2 ? 8 : 4;
  const auto *a = static_cast<const typename K::Packed *>(s.a);
  const auto *b = static_cast<const typename K::Stored *>(s.b);
  int64_t p = 0;
  for (; p + deep <= s.depth; p += deep) add_depths<K, rows, deep>(a + p * rows, b + p * s.step, s, p == 0);
  for (; p < s.depth; ++p) add_depths<K, rows, 1>(a + p * rows, b + p * s.step, s, p == 0);
}

#if defined(__AVX2__)
template <class K>
using Total = std::conditional_t<sizeof(typename K::Stored) == 1, uint32_t, float>;  // int32 wraps as the device's

// Eight columns at a time, whose next eight depths are turned in registers.
template <class K, int rows>
void along(const GemmStream &s) {
  constexpr int lines = 8;
  using V = Vec<float, 32>::type;
  using Sum = typename Vec<Total<K>, 32>::type;
  const auto *a = static_cast<const float *>(s.a);
  for (int64_t j = 0; j < s.columns; j += lines) {
    const int64_t count = s.columns - j < lines ? s.columns - j : lines;
    const typename K::Stored *line[lines];
    for (int i = 0; i < lines; ++i)
      line[i] = static_cast<const typename K::Stored *>(s.b) + (j + (i < count ? i : 0)) * s.step;
    Sum totals[rows];
    for (int64_t begin = 0; begin < s.depth; begin += gemm_depth_step) {
      const int64_t end = s.depth - begin < gemm_depth_step ? s.depth : begin + gemm_depth_step;
      V sum[rows] = {};
      int64_t p = begin;
      for (; p + lines <= end; p += lines) {
        __m256 turned[lines];
#pragma GCC unroll 8
        for (int i = 0; i < lines; ++i) turned[i] = (__m256)lanes_of<K, 32>(line[i] + p);
        turn_eight(turned);
#pragma GCC unroll 8
        for (int q = 0; q < lines; ++q)
#pragma GCC unroll 16
          for (int i = 0; i < rows; ++i) sum[i] += a[(p + q) * rows + i] * (V)turned[q];
      }
      for (; p < end; ++p) {
        V values;
        for (int i = 0; i < lines; ++i) values[i] = K::one(line[i][p]);
        for (int i = 0; i < rows; ++i) sum[i] += a[p * rows + i] * values;
      }
      for (int i = 0; i < rows; ++i) {
        Sum part;
        if constexpr (std::is_same_v<Total<K>, float>) {
          part = sum[i];
        } else {
          part = (Sum)__builtin_convertvector(sum[i], Vec<int32_t, 32>::type);
        }
        totals[i] = begin ? totals[i] + part : part;
      }
    }
    for (int i = 0; i < rows; ++i)
      memcpy(static_cast<Total<K> *>(s.sums) + i * s.sums_stride + j, &totals[i],
             static_cast<size_t>(count) * sizeof(Total<K>));
  }
}
#endif

template <class K, int... less_one>
constexpr void fill(GemmStreams *streams, GemmStorage storage, std::integer_sequence<int, less_one...>) {
  const int at = static_cast<int>(storage);
  ((streams->across[at][less_one] = across<K, less_one + 1>), ...);
#if defined(__AVX2__)
  if constexpr (std::is_same_v<typename K::Packed, float>)
    ((streams->along[at][less_one] = along<K, less_one + 1>), ...);
#endif
}

constexpr GemmStreams make_streams() {
  GemmStreams streams{};
  const std::make_integer_sequence<int, gemm_few_rows> heights;
  fill<Float32>(&streams, GemmStorage::f32, heights);
  fill<Half>(&streams, GemmStorage::f16, heights);
  fill<Brain>(&streams, GemmStorage::bf16, heights);
  fill<WideByte<int8_t>>(&streams, GemmStorage::i8, heights);
  fill<WideByte<uint8_t>>(&streams, GemmStorage::u8, heights);
  fill<Float64>(&streams, GemmStorage::f64, heights);
  return streams;
}

}  // namespace

extern const GemmStreams gemm_stream_table;
constexpr GemmStreams gemm_stream_table = make_streams();

}  // namespace EMU_ISA_NS
}  // namespace emu
