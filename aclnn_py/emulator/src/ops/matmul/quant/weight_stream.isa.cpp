// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Products of a few rows with a quantised weight, which wait for memory: the numbers are read once,
// become weights in registers, and are multiplied there.
#include "ops/matmul/quant/weight_stream_kernels.h"

#include <utility>

#include "ops/matmul/quant/weight_scales.isa.h"
#include "ops/matmul/quant/weight_turn.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Adds the products of `deep` depths from `begin` on, whole rows of the weight, to the sums of all
// columns, which fill blocks.
template <class S, class R, WeightRange range, int rows, int deep>
void add_depths(const WeightStream &s, int64_t begin) {
  static_assert(deep % S::depths == 0);
  constexpr int vectors = S::vectors, together = S::together(rows), line = 64;
  constexpr int read = deep / S::depths;  // rows of the weight
  const WeightBlock &w = s.weight;
  const bool add = s.add || begin > 0;
  float factors[deep * rows];
  memcpy(factors, s.a + begin * rows, sizeof factors);
  const uint8_t *row[read];
  for (int i = 0; i < read; ++i) row[i] = w.b + (begin / S::depths + i) * w.step;
  // The rows that come next are asked for one after the other, as memory has them: the processor
  // foresees long pieces only. Words were made from memory just now.
  constexpr bool awaits = S::depths == 1;
  constexpr int read_bytes = deep * vectors * lanes * S::bits / 8;
  const uint8_t *next = w.b + (begin + deep) * w.step;
  const int64_t columns = w.columns, row_bytes = columns * S::bits / 8, stride = s.sums_stride;
  const float *scale = w.scale, *shift = w.shift;
  float *sums = s.sums;
  for (int64_t j = 0, at = 0; j < columns; j += vectors * lanes) {
    if constexpr (awaits) {
#pragma GCC unroll 4
      for (int i = 0; i < read_bytes; i += line) __builtin_prefetch(next + at + i, 0, 2);
      at += read_bytes;
      if (at >= row_bytes) {
        at -= row_bytes;
        next += w.step;
      }
    }
#pragma GCC unroll 4
    for (int first = 0; first < vectors; first += together) {
      const int64_t column = j + first * lanes;
      F sum[rows][together] = {};
      if (add)
#pragma GCC unroll 4
        for (int v = 0; v < together; ++v)
#pragma GCC unroll 16
          for (int i = 0; i < rows; ++i) sum[i][v] = load(sums + i * stride + column + v * lanes);
#pragma GCC unroll 16
      for (int n = 0; n < deep; ++n) {
        const int p = n ^ 1;  // the order of the general product
        F numbers[together];
        S::run(row[p / S::depths], j, first, p % S::depths, numbers);
#pragma GCC unroll 4
        for (int v = 0; v < together; ++v) {
          const int64_t of = column + v * lanes;
          const F weights =
              rounded_weights<S, R, range>(numbers[v], load(scale + of), load(shift + of));
#pragma GCC unroll 16
          for (int i = 0; i < rows; ++i) sum[i][v] += factors[p * rows + i] * weights;
        }
      }
#pragma GCC unroll 4
      for (int v = 0; v < together; ++v)
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) store(sum[i][v], sums + i * stride + column + v * lanes);
    }
  }
}

// The same for one or two depths, which are left over, or whose weights are rounded one by one:
// here it costs little to count rows, and a copy for each number of them took the compiler long.
template <class S, class R, WeightRange range>
[[gnu::noinline]] void add_few_depths(const WeightStream &s, int rows, int64_t begin, int deep) {
  const WeightBlock &w = s.weight;
  const bool add = s.add || begin > 0;
  const float *factors = s.a + begin * rows;
  for (int64_t j = 0; j < w.columns; j += S::vectors * lanes) {
    F numbers[2][S::vectors];
    for (int p = 0; p < deep; ++p)
      S::run(w.b + (begin + p) / S::depths * w.step, j, 0,
             static_cast<int>((begin + p) % S::depths), numbers[p]);
    for (int v = 0; v < S::vectors; ++v) {
      const int64_t column = j + v * lanes;
      const F scale = load(w.scale + column), shift = load(w.shift + column);
      F weights[2];
      for (int p = 0; p < deep; ++p)
        weights[p] = rounded_weights<S, R, range>(numbers[p][v], scale, shift);
      for (int i = 0; i < rows; ++i) {
        float *at = s.sums + i * s.sums_stride + column;
        F sum = add ? load(at) : F{};
        if (deep > 1) sum += factors[rows + i] * weights[1];
        store(sum + factors[i] * weights[0], at);
      }
    }
  }
}

template <class S, class R, WeightRange range, int rows>
void across_range(const WeightStream &s) {
  const int64_t depth = s.weight.depth;
  int64_t p = 0;
  if constexpr (range != WeightRange::any) {
    constexpr int deep = rows <= 2 || rows > 4 || S::depths > 1 ? 8 : 4;
    for (; p + deep <= depth; p += deep) add_depths<S, R, range, rows, deep>(s, p);
  }
  for (; p < depth; p += 2) add_few_depths<S, R, range>(s, rows, p, p + 2 <= depth ? 2 : 1);
}

template <class S, class R, int rows>
void across_blocks(const WeightStream &s) {
  switch (s.weight.range) {
    // How `prepare` wrote the scales says all about the kind.
    case WeightRange::exact: return across_range<S, void, WeightRange::exact, rows>(s);
    case WeightRange::tame: return across_range<S, R, WeightRange::tame, rows>(s);
    case WeightRange::any: return across_range<S, R, WeightRange::any, rows>(s);
  }
}

// The columns from `begin` on, too few for a block, in a copy that has as many.
template <class S>
[[gnu::noinline]] void across_rest(const WeightStream &s, int64_t begin, int rows,
                                   WeightStreamFn blocks) {
  constexpr int block = S::vectors * lanes;
  constexpr int64_t bits = S::depths > 1 ? 32 : S::bits, deepest = 32;  // depths of a copy
  const auto count = static_cast<int>(s.weight.columns - begin);
  const auto place = [](int i) { return i % S::vectors * lanes + i / S::vectors; };
  float sums[most_streamed_rows * block];
  memset(sums, 0, static_cast<size_t>(rows * block) * sizeof(float));
  for (int i = 0; i < rows && s.add; ++i)
    for (int j = 0; j < count; ++j)
      sums[i * block + place(j)] = s.sums[i * s.sums_stride + begin + j];
  uint8_t tile[deepest / S::depths * block * bits / 8] = {};
  for (int64_t p = 0; p < s.weight.depth; p += deepest) {
    const int64_t depth = s.weight.depth - p < deepest ? s.weight.depth - p : deepest;
    for (int64_t i = 0; i * S::depths < depth; ++i)
      memcpy(tile + i * block * bits / 8,
             s.weight.b + (p / S::depths + i) * s.weight.step + begin * bits / 8,
             static_cast<size_t>((count * bits + 7) / 8));
    const WeightBlock copy{tile,          block * bits / 8,       block,
                           depth,         s.weight.scale + begin, s.weight.shift + begin,
                           s.weight.range};
    blocks({copy, s.a + p * rows, sums, block, s.add || p > 0});
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < count; ++j)
      s.sums[i * s.sums_stride + begin + j] = sums[i * block + place(j)];
}

template <class S, class R, int rows>
void across(const WeightStream &s) {
  constexpr int64_t block = S::vectors * lanes;
  WeightStream whole = s;
  whole.weight.columns = s.weight.columns / block * block;
  if (whole.weight.columns > 0) across_blocks<S, R, rows>(whole);
  if (whole.weight.columns < s.weight.columns)
    across_rest<S>(s, whole.weight.columns, rows, across_blocks<S, R, rows>);
}

template <class R>
void dequantise(const int8_t *numbers, int64_t count, const float *scale, const float *shift,
                uint16_t *out) {
  for (int64_t j = 0; j < count; ++j) out[j] = R::bits(weight_of(numbers[j], scale[j], shift[j]));
}

// As many rows as there are registers for their sums.
template <class S>
constexpr int most_rows = vector_bytes == 64 || S::together(8) == 1 ? 8 : 4;

template <class S, class R, int... rows>
constexpr void fill(WeightStreams *streams, WeightStorage storage, WeightRounding rounding,
                    std::integer_sequence<int, rows...>) {
  const int s = static_cast<int>(storage), r = static_cast<int>(rounding);
  ((streams->across[s][r][rows - 1] = across<S, R, rows>), ...);
  streams->across[s][r][most_rows<S> - 1] = across<S, R, most_rows<S>>;
  streams->rows[s] = most_rows<S>;
  streams->vectors[s] = S::vectors;
  streams->prepare[s][r] = prepare<S, R>;
  streams->prepare_exact[s][r] = prepare_exact<S, R>;
}

template <class R>
constexpr void fill_kind(WeightStreams *streams, WeightRounding rounding) {
#if defined(__x86_64__) && !defined(__AVX2__)
  const std::integer_sequence<int, 1, any_streamed_rows> heights;
#else
  const std::integer_sequence<int, 1, 2, any_streamed_rows> heights;
#endif
  fill<StoredBytes, R>(streams, WeightStorage::bytes, rounding, heights);
  fill<StoredHalves, R>(streams, WeightStorage::halves, rounding, heights);
  fill<Words<8>, R>(streams, WeightStorage::words_of_bytes, rounding, heights);
  fill<Words<4>, R>(streams, WeightStorage::words_of_halves, rounding, heights);
  streams->dequantise[static_cast<int>(rounding)] = dequantise<R>;
}

constexpr WeightStreams make_streams() {
  WeightStreams streams{};
  streams.lanes = lanes;
  fill_kind<Float16>(&streams, WeightRounding::float16);
  fill_kind<Bfloat16>(&streams, WeightRounding::bfloat16);
  streams.turn[static_cast<int>(WeightStorage::bytes)] = turn<8>;
  streams.turn[static_cast<int>(WeightStorage::halves)] = turn<4>;
  return streams;
}

}  // namespace

extern const WeightStreams weight_stream_table;
constexpr WeightStreams weight_stream_table = make_streams();

}  // namespace EMU_ISA_NS
}  // namespace emu
