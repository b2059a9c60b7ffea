// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Products of a few rows, which wait for memory: the matrix is read once, in long pieces, and
// multiplied in registers as it comes.
#include "ops/matmul/gemm_kernels.h"
#include "ops/matmul/gemm_turn.isa.h"

#include <utility>

namespace emu {
namespace EMU_ISA_NS {
namespace {

// What is done at edges is compiled once for a storage kind and counts rows and depths: the copies
// for each number of rows took the compiler longer than all that matters for speed.
constexpr int most_deep = 8;

// Adds the products of `deep` depths to the sums of the columns from `j` on, too few for a vector.
template <class K>
[[gnu::noinline]] void add_last_columns(const typename K::Packed *a, const typename K::Stored *b,
                                        const GemmStream &s, int rows, int deep, int64_t j,
                                        bool first) {
  using T = typename K::Packed;
  for (; j < s.columns; ++j) {
    T values[most_deep];
    for (int p = 0; p < deep; ++p) values[p] = T(K::one(b[p * s.step + j]));
    for (int i = 0; i < rows; ++i) {
      T *at = static_cast<T *>(s.sums) + i * s.sums_stride + j;
      T sum = first ? T() : *at;
      for (int n = 0; n < deep; ++n) {
        const auto p = nth_of(n, deep);
        sum += a[p * rows + i] * values[p];
      }
      *at = sum;
    }
  }
}

// Adds the products of an even number of depths to the sums of all columns, which stay in the
// first-level cache.
template <class K, int rows, int deep>
void add_depths(const typename K::Packed *a, const typename K::Stored *b, const GemmStream &s,
                bool first) {
  static_assert(deep % 2 == 0 && deep <= most_deep);
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
    for (int n = 0; n < deep; ++n) {
      const int p = nth_depth(n);
      const V values = lanes_of<K>(row[p] + j);
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) sum[i] += factors[p * rows + i] * values;
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) *reinterpret_cast<L *>(sums + i * stride + j) = sum[i];
  }
  if (j < columns) add_last_columns<K>(a, b, s, rows, deep, j, first);
}

// The same for the one or two depths that are left.
template <class K>
[[gnu::noinline]] void add_last_depths(const typename K::Packed *a, const typename K::Stored *b,
                                       const GemmStream &s, int rows, int deep, bool first) {
  using T = typename K::Packed;
  using V = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int lanes = Vec<T>::lanes;
  const typename K::Stored *other = b + (deep - 1) * s.step;  // b itself where there is one
  int64_t j = 0;
  for (; j + lanes <= s.columns; j += lanes) {
    const V values = lanes_of<K>(b + j), more = lanes_of<K>(other + j);
    for (int i = 0; i < rows; ++i) {
      auto *at = reinterpret_cast<L *>(static_cast<T *>(s.sums) + i * s.sums_stride + j);
      V sum{};
      if (!first) sum = *at;
      if (deep > 1) sum += a[rows + i] * more;
      sum += a[i] * values;
      *at = sum;
    }
  }
  if (j < s.columns) add_last_columns<K>(a, b, s, rows, deep, j, first);
}

// Asks for what comes after the matrix: it waits in the second cache, as the first is full of the
// matrix itself.
template <class S>
inline void await_next(const S *here, int64_t next) {
  __builtin_prefetch(reinterpret_cast<const char *>(here) + next, 0, 2);
}

// Depths of columns that are taken at a time where rows are short; those of the next slab are on
// their way meanwhile.
constexpr int64_t slab = 32;

// Depths from `begin` to `end`, of `vectors` vectors of columns at a time, whose sums stay in
// registers; the columns from `j` on that fill them. Returns the first column that is left.
template <class K, int rows, int vectors>
int64_t add_columns(const GemmStream &s, int64_t j, int64_t begin, int64_t end) {
  using T = typename K::Packed;
  using V = typename Vec<T>::type;
  using L = typename Vec<T>::loose;
  constexpr int lanes = Vec<T>::lanes, line = 64;
  constexpr int bytes = vectors * lanes * static_cast<int>(sizeof(typename K::Stored));
  T *sums = static_cast<T *>(s.sums);
  const int64_t ahead = s.next == 0 && end < s.depth ? slab * s.step : 0;
  for (; j + vectors * lanes <= s.columns; j += vectors * lanes) {
    const auto *a = static_cast<const T *>(s.a) + begin * rows;
    const auto *b = static_cast<const typename K::Stored *>(s.b) + begin * s.step + j;
    V sum[rows][vectors] = {};
    if (begin > 0)
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v)
          sum[i][v] = *reinterpret_cast<const L *>(sums + i * s.sums_stride + j + v * lanes);
    // Where several pieces share a line, the first one asks.
    const bool awaits = s.next != 0 && (bytes >= line || j * sizeof *b % line == 0);
    const auto add_depth = [&](const T *x, const typename K::Stored *y) {
#pragma GCC unroll 8
      for (int at = 0; at < bytes; at += line) {
        if (ahead != 0) __builtin_prefetch(reinterpret_cast<const char *>(y + ahead) + at);
        if (awaits) await_next(reinterpret_cast<const char *>(y) + at, s.next);
      }
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) {
        const V values = lanes_of<K>(y + v * lanes);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) sum[i][v] += x[i] * values;
      }
    };
    int64_t p = begin;
    for (; p + 2 <= end; p += 2, a += 2 * rows, b += 2 * s.step) {
      add_depth(a + rows, b + s.step);
      add_depth(a, b);
    }
    if (p < end) add_depth(a, b);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v)
        *reinterpret_cast<L *>(sums + i * s.sums_stride + j + v * lanes) = sum[i][v];
  }
  return j;
}

// Few columns: their rows are too short for the sums of each to be fetched and put back.
template <class K, int rows>
void across_few(const GemmStream &s) {
  using S = typename K::Stored;
  constexpr int most = vector_bytes == 64 ? 16 : 8, vectors = most / rows < 8 ? most / rows : 8;
  constexpr int64_t lanes = Vec<typename K::Packed>::lanes;
  int64_t j = 0;
  for (int64_t p = 0; p < s.depth; p += slab) {
    const int64_t end = p + slab < s.depth ? p + slab : s.depth;
    j = add_columns<K, rows, vectors>(s, 0, p, end);
    if constexpr (vectors > 1) j = add_columns<K, rows, 1>(s, j, p, end);
  }
  if (j == s.columns) return;
  // The columns that are left have their sums made by the same instructions: with some of those
  // before them, or in a copy that is wide enough.
  if (s.columns >= lanes) {
    add_columns<K, rows, 1>(s, s.columns - lanes, 0, s.depth);
    return;
  }
  S wide[gemm_depth_step * lanes] = {};
  for (int64_t p = 0; p < s.depth; ++p)
    memcpy(wide + p * lanes, static_cast<const S *>(s.b) + p * s.step,
           static_cast<size_t>(s.columns) * sizeof(S));
  typename K::Packed sums[rows * lanes];
  add_columns<K, rows, 1>({s.a, wide, lanes, lanes, s.depth, sums, lanes}, 0, 0, s.depth);
  for (int i = 0; i < rows; ++i)
    memcpy(static_cast<typename K::Packed *>(s.sums) + i * s.sums_stride, sums + i * lanes,
           static_cast<size_t>(s.columns) * sizeof(typename K::Packed));
}

template <class K, int rows>
void across(const GemmStream &s) {
  // Rows of b that are read side by side: more than the processor foresees, or than there are
  // registers for, cost.
  constexpr int deep = rows <= 2 ? 8 : 4;
  constexpr int64_t few = 256;
  if (s.columns <= few) return across_few<K, rows>(s);
  const auto *a = static_cast<const typename K::Packed *>(s.a);
  const auto *b = static_cast<const typename K::Stored *>(s.b);
  int64_t p = 0;
  for (; p + deep <= s.depth; p += deep)
    add_depths<K, rows, deep>(a + p * rows, b + p * s.step, s, p == 0);
  for (; p < s.depth; p += 2)
    add_last_depths<K>(a + p * rows, b + p * s.step, s, rows, p + 2 <= s.depth ? 2 : 1, p == 0);
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
  for (int n = 0; n < lines; ++n) {
    const int q = nth_depth(n);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) sum[i] += a[q * rows + i] * (Vec<float, 32>::type)turned[q];
  }
}

// Adds the products of `count` whole steps of eight depths.
template <class K, int rows>
[[gnu::noinline]] void add_lines(const typename K::Stored *b, int64_t step, const float *a,
                                 int64_t count, Vec<float, 32>::type (&sums)[rows]) {
  Vec<float, 32>::type sum[rows];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sum[i] = sums[i];
  for (int64_t p = 0; p + lines <= count; p += lines) add_turned<K>(b + p, step, a + p * rows, sum);
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) sums[i] = sum[i];
}

// Columns `first[g]` to that plus eight, of each group. With up to four rows a single group would
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
  // Short columns are asked for before their turn: the processor does not foresee so many pieces.
  constexpr int64_t per_line = 64 / sizeof(S);
  const bool awaits = steps == 1 && s.next == 0;
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
      for (int g = 0; g < groups; ++g) {
        const S *at = b[g] + begin[g] + p;
        if (awaits && p % per_line == 0) {
#pragma GCC unroll 8
          for (int i = 0; i < lines; ++i)
            __builtin_prefetch(at + i * step + groups * width * s.step);
        }
        if (s.next != 0 && p % per_line == 0) {
#pragma GCC unroll 8
          for (int i = 0; i < lines; ++i) await_next(at + i * step, s.next);
        }
        add_turned<K>(at, step, a + (begin[g] + p) * rows, sum[g]);
      }
#pragma GCC unroll 2
    for (int g = 0; g < groups; ++g) {
      int64_t p = begin[g] + common;
      // A single group has all of them behind it.
      if constexpr (groups > 1) {
        if (p + lines <= end[g]) {
          // A copy, so that the sums themselves stay in registers.
          Vec<float, 32>::type part[rows];
#pragma GCC unroll 16
          for (int i = 0; i < rows; ++i) part[i] = sum[g][i];
          add_lines<K>(b[g] + p, step, a + p * rows, end[g] - p, part);
#pragma GCC unroll 16
          for (int i = 0; i < rows; ++i) sum[g][i] = part[i];
          p += (end[g] - p) / lines * lines;
        }
      }
      for (int64_t n = p; n < end[g]; ++n) {
        const int64_t q = nth_of(n, end[g]);
        Vec<float, 32>::type values;
        for (int i = 0; i < lines; ++i) values[i] = K::one(b[g][i * step + q]);
        for (int i = 0; i < rows; ++i) sum[g][i] += a[q * rows + i] * values;
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

#endif

#if defined(__AVX512BW__)
// As `along_groups`, sixteen columns at a time.
template <class K, int rows, int groups>
inline void along_wide_groups(const GemmStream &s, int64_t column) {
  using Sum = Vec<float, 64>::type;
  const auto *a = static_cast<const float *>(s.a);
  const uint16_t *b[groups];
  for (int g = 0; g < groups; ++g)
    b[g] = static_cast<const uint16_t *>(s.b) + (column + g * wide_lines) * s.step;
  const int64_t steps = (s.depth + gemm_depth_step - 1) / gemm_depth_step, lag = steps > 1;
  // What is asked for early: what comes after the matrix, the same depths of the columns that come
  // next, or the next depth step where these lie too far away to stay in the second cache.
  constexpr int64_t near = int64_t(1) << 17, size = sizeof(uint16_t);
  const int64_t columns = groups * wide_lines * s.step * size;
  const int64_t own = columns <= near ? columns : gemm_depth_step * size;
  const int64_t ahead = s.next != 0 ? s.next : own;
  Sum totals[groups][rows] = {};
  for (int64_t d = 0; d < steps + (groups - 1) * lag; ++d) {
    Sum sum[groups][rows] = {};
    int64_t begin[groups], end[groups];
    for (int g = 0; g < groups; ++g) {
      const int64_t at = d - g * lag;
      begin[g] = at * gemm_depth_step;
      end[g] = begin[g] + gemm_depth_step < s.depth ? begin[g] + gemm_depth_step : s.depth;
      if (at < 0 || at >= steps) end[g] = begin[g];
    }
    for (int64_t p = 0; p < gemm_depth_step; p += wide_depths) {
#pragma GCC unroll 2
      for (int g = 0; g < groups; ++g) {
        const int64_t at = begin[g] + p;
        if (at >= end[g]) continue;
#pragma GCC unroll 16
        for (int i = 0; i < wide_lines; ++i) await_next(b[g] + i * s.step + at, ahead);
        if (end[g] - at >= wide_depths) {
          add_sixteen<K>(b[g] + at, s.step, a + at * rows, sum[g]);
          continue;
        }
        // A copy, so that the sums themselves stay in registers.
        Sum part[rows];
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) part[i] = sum[g][i];
        add_last_lines<K>(b[g] + at, s.step, a + at * rows, end[g] - at, rows, part);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) sum[g][i] = part[i];
      }
    }
    for (int g = 0; g < groups; ++g)
      for (int i = 0; i < rows && end[g] > begin[g]; ++i)
        totals[g][i] = begin[g] ? totals[g][i] + sum[g][i] : sum[g][i];
  }
  for (int g = 0; g < groups; ++g)
    for (int i = 0; i < rows; ++i)
      memcpy(static_cast<float *>(s.sums) + i * s.sums_stride + column + g * wide_lines,
             &totals[g][i], sizeof(Sum));
}
#endif

// The columns that are left when whole vectors of them were taken.
template <class K, int rows>
int64_t along_wide([[maybe_unused]] const GemmStream &s) {
  int64_t j = 0;
#if defined(__AVX512BW__)
  if constexpr (sizeof(typename K::Stored) == 2) {
    constexpr int groups = rows <= 4 ? 2 : 1;
    for (; j + groups * wide_lines <= s.columns; j += groups * wide_lines)
      along_wide_groups<K, rows, groups>(s, j);
    for (; j + wide_lines <= s.columns; j += wide_lines) along_wide_groups<K, rows, 1>(s, j);
  }
#endif
  return j;
}

#if defined(__AVX2__)
template <class K, int rows>
void along(const GemmStream &s) {
  // Behind whole vectors few columns are left.
  constexpr bool behind_wide = vector_bytes == 64 && sizeof(typename K::Stored) == 2;
  constexpr int groups = rows <= 4 && !behind_wide ? 2 : 1;
  // The last group begins early where it would reach beyond the end; fewer than eight columns are
  // taken one by one, as eight times the same.
  const int64_t width = s.columns < lines ? 1 : lines, step = s.columns < lines ? 0 : s.step;
  for (int64_t j = along_wide<K, rows>(s); j < s.columns; j += groups * width) {
    int64_t first[groups];
    for (int g = 0; g < groups; ++g)
      first[g] = j + (g + 1) * width <= s.columns ? j + g * width : s.columns - width;
    along_groups<K, rows, groups>(s, first, step, width);
  }
}
#endif

template <class K, int... rows>
constexpr void fill(GemmStreams *streams, GemmStorage storage,
                    std::integer_sequence<int, rows...>) {
  const int at = static_cast<int>(storage);
  ((streams->across[at][rows - 1] = across<K, rows>), ...);
#if defined(__AVX2__)
  if constexpr (std::is_same_v<typename K::Packed, float>)
    ((streams->along[at][rows - 1] = along<K, rows>), ...);
#endif
}

constexpr GemmStreams make_streams() {
  GemmStreams streams{};
  // Each one more takes the compiler seconds.
#if defined(__x86_64__) && !defined(__AVX2__)
  const std::integer_sequence<int, 1, 4, 8> usual;
#else
  const std::integer_sequence<int, 1, 2, 3, 4, 6, 8> usual;
#endif
  fill<Float32>(&streams, GemmStorage::float32, usual);
  fill<Half>(&streams, GemmStorage::float16, usual);
  fill<Brain>(&streams, GemmStorage::bfloat16, usual);
  fill<WideByte<int8_t>>(&streams, GemmStorage::int8, usual);
  fill<WideByte<uint8_t>>(&streams, GemmStorage::uint8, std::integer_sequence<int, 1>());
  fill<Float64>(&streams, GemmStorage::float64, std::integer_sequence<int, 1, 2, 4, 8>());
  return streams;
}

}  // namespace

extern const GemmStreams gemm_stream_table;
constexpr GemmStreams gemm_stream_table = make_streams();

}  // namespace EMU_ISA_NS
}  // namespace emu
