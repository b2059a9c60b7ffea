// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Products of a few rows, which wait for memory: the matrix is read once, in long pieces, and
// multiplied in registers as it comes.
#include "ops/matmul/gemm_kernels.h"
#include "ops/matmul/gemm_kinds.isa.h"

#include <utility>

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Adds the products of `deep` depths to the sums of all columns, which stay in the first-level
// cache.
template <class K, int rows, int deep>
void add_depths(const typename K::Packed *a, const typename K::Stored *b, const GemmStream &s,
                bool first) {
  using T = typename K::Packed;
  using V = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int lanes = Vec<T>::lanes;
  T factors[deep * rows];
  memcpy(factors, a, sizeof factors);
  const int64_t columns = s.columns, stride = s.sums_stride;
  const typename K::Stored *row[deep];
  for (int p = 0; p < deep; ++p) row[p] = b + p * s.step;
  T *sums = static_cast<T *>(s.sums);
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    V sum[rows] = {};
#pragma GCC unroll 16
    for (int i = 0; i < rows && !first; ++i)
      sum[i] = *reinterpret_cast<const L *>(sums + i * stride + j);
#pragma GCC unroll 16
    for (int p = 0; p < deep; ++p) {
      const V values = lanes_of<K>(row[p] + j);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) sum[i] += factors[p * rows + i] * values;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) *reinterpret_cast<L *>(sums + i * stride + j) = sum[i];
  }
  for (; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      T sum = first ? T() : sums[i * stride + j];
      for (int p = 0; p < deep; ++p) sum += factors[p * rows + i] * T(K::one(row[p][j]));
      sums[i * stride + j] = sum;
    }
  }
}

template <class K, int rows>
void across(const GemmStream &s) {
  // Rows of b that are read side by side: more than the processor foresees, or than there are
  // registers for, cost.
  constexpr int deep = rows <= 2 ? 8 : 4;
  const auto *a = static_cast<const typename K::Packed *>(s.a);
  const auto *b = static_cast<const typename K::Stored *>(s.b);
  int64_t p = 0;
  for (; p + deep <= s.depth; p += deep)
    add_depths<K, rows, deep>(a + p * rows, b + p * s.step, s, p == 0);
  for (; p < s.depth; ++p) add_depths<K, rows, 1>(a + p * rows, b + p * s.step, s, p == 0);
}

#if defined(__AVX2__)
template <class K>
// int32 wraps as the device's
using Total = std::conditional_t<sizeof(typename K::Stored) == 1, uint32_t, float>;

constexpr int lines = 8;  // columns whose next depths are turned in registers, as many at once

template <class K, int rows>
inline void add_turned(const typename K::Stored *b, int64_t step, const float *a,
                       Vec<float, 32>::type (&sum)[rows]) {
  __m256 turned[lines];
#pragma GCC unroll 8
  for (int i = 0; i < lines; ++i) turned[i] = (__m256)lanes_of<K, 32>(b + i * step);
  turn_eight(turned);
#pragma GCC unroll 8
  for (int q = 0; q < lines; ++q)
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) sum[i] += a[q * rows + i] * (Vec<float, 32>::type)turned[q];
}

// Columns `first[g]` to that plus eight, of each group. With up to three rows a single group would
// wait for each of its additions; more than two groups are more streams of memory than the
// processor foresees. A group is a depth step behind the one before it: their lines would share
// cache sets otherwise, since strides tend to be powers of two.
template <class K, int rows, int groups>
inline void along_groups(const GemmStream &s, const int64_t (&first)[groups], int64_t step,
                         int64_t width) {
  using S = typename K::Stored;
  using Sum = typename Vec<Total<K>, 32>::type;
  const auto *a = static_cast<const float *>(s.a);
  const int64_t steps = (s.depth + gemm_depth_step - 1) / gemm_depth_step, lag = steps > 1;
  const S *b[groups];
  for (int g = 0; g < groups; ++g) b[g] = static_cast<const S *>(s.b) + first[g] * s.step;
  Sum totals[groups][rows];
  for (int64_t d = 0; d < steps + (groups - 1) * lag; ++d) {
    Vec<float, 32>::type sum[groups][rows] = {};
    int64_t begin[groups], end[groups], common = gemm_depth_step;
    for (int g = 0; g < groups; ++g) {
      const int64_t at = d - g * lag;
      begin[g] = at * gemm_depth_step;
      end[g] = begin[g] + gemm_depth_step < s.depth ? begin[g] + gemm_depth_step : s.depth;
      if (at < 0 || at >= steps) end[g] = begin[g];
      if (end[g] - begin[g] < common) common = (end[g] - begin[g]) / lines * lines;
    }
    for (int64_t p = 0; p < common; p += lines)
#pragma GCC unroll 2
      for (int g = 0; g < groups; ++g)
        add_turned<K>(b[g] + begin[g] + p, step, a + (begin[g] + p) * rows, sum[g]);
#pragma GCC unroll 2
    for (int g = 0; g < groups; ++g) {
      int64_t p = begin[g] + common;
      for (; p + lines <= end[g]; p += lines) add_turned<K>(b[g] + p, step, a + p * rows, sum[g]);
      for (; p < end[g]; ++p) {
        Vec<float, 32>::type values;
        for (int i = 0; i < lines; ++i) values[i] = K::one(b[g][i * step + p]);
        for (int i = 0; i < rows; ++i) sum[g][i] += a[p * rows + i] * values;
      }
      for (int i = 0; i < rows && end[g] > begin[g]; ++i) {
        Sum part;
        if constexpr (std::is_same_v<Total<K>, float>) {
          part = sum[g][i];
        } else {
          part = (Sum) __builtin_convertvector(sum[g][i], Vec<int32_t, 32>::type);
        }
        totals[g][i] = begin[g] ? totals[g][i] + part : part;
      }
    }
  }
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i < rows; ++i)
      memcpy(static_cast<Total<K> *>(s.sums) + i * s.sums_stride + first[g], &totals[g][i],
             static_cast<size_t>(width) * sizeof(Total<K>));
}

template <class K, int rows>
void along(const GemmStream &s) {
  constexpr int groups = rows <= 3 ? 2 : 1;
  // The last group begins early where it would reach beyond the end; fewer than eight columns are
  // taken one by one, as eight times the same.
  const int64_t width = s.columns < lines ? 1 : lines, step = s.columns < lines ? 0 : s.step;
  for (int64_t j = 0; j < s.columns; j += groups * width) {
    int64_t first[groups];
    for (int g = 0; g < groups; ++g)
      first[g] = j + (g + 1) * width <= s.columns ? j + g * width : s.columns - width;
    along_groups<K, rows, groups>(s, first, step, width);
  }
}
#endif

template <class K, int... less_one>
constexpr void fill(GemmStreams *streams, GemmStorage storage,
                    std::integer_sequence<int, less_one...>) {
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
  fill<Float32>(&streams, GemmStorage::float32, heights);
  fill<Half>(&streams, GemmStorage::float16, heights);
  fill<Brain>(&streams, GemmStorage::bfloat16, heights);
  fill<WideByte<int8_t>>(&streams, GemmStorage::int8, heights);
  fill<WideByte<uint8_t>>(&streams, GemmStorage::uint8, heights);
  fill<Float64>(&streams, GemmStorage::float64, heights);
  return streams;
}

}  // namespace

extern const GemmStreams gemm_stream_table;
constexpr GemmStreams gemm_stream_table = make_streams();

}  // namespace EMU_ISA_NS
}  // namespace emu
