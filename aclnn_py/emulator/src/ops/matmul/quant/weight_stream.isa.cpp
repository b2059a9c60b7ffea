// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
// Products of a few rows with a quantised weight, which wait for memory: the numbers are read once,
// become weights in registers, and are multiplied there.
#include "ops/matmul/quant/weight_stream_kernels.h"

#include <utility>

#include "ops/matmul/quant/weight_numbers.isa.h"
#include "ops/matmul/quant/weight_turn.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

// Adds the products of `deep` depths from `begin` on, one or an even number of them, to the sums of
// all columns.
template <class S, class R, WeightRange range, int rows, int deep>
void add_depths(const WeightStream &s, int64_t begin) {
  constexpr int vectors = S::vectors, line = 64;
  constexpr int read = deep > S::depths ? deep / S::depths : 1;  // rows of the weight
  const WeightBlock &w = s.weight;
  const bool add = s.add || begin > 0;
  float factors[deep * rows];
  memcpy(factors, s.a + begin * rows, sizeof factors);
  const uint8_t *row[read];
  for (int i = 0; i < read; ++i) row[i] = w.b + (begin / S::depths + i) * w.step;
  const int64_t place = deep < S::depths ? begin % S::depths : 0;  // of the first depth in its row
  // The rows that come next are asked for one after the other, as memory has them: the processor
  // foresees long pieces only. Words were made from memory just now.
  constexpr bool awaits = deep > 1 && S::depths == 1;
  const uint8_t *next = w.b + (begin + deep) * w.step;
  const int64_t row_bytes = w.columns / vectors;
  int64_t j = 0, at = 0;
  for (; j + vectors * lanes <= w.columns; j += vectors * lanes) {
    if constexpr (awaits) {
#pragma GCC unroll 4
      for (int i = 0; i < deep * lanes / line; ++i) __builtin_prefetch(next + at + i * line);
      at += deep * lanes;
      if (at >= row_bytes) {
        at -= row_bytes;
        next += w.step;
      }
    }
    F scale[vectors], shift[vectors], sum[rows][vectors] = {};
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      scale[v] = load(w.scale + j + v * lanes);
      shift[v] = load(w.shift + j + v * lanes);
#pragma GCC unroll 16
      for (int i = 0; i < rows && add; ++i)
        sum[i][v] = load(s.sums + i * s.sums_stride + j + v * lanes);
    }
#pragma GCC unroll 16
    for (int n = 0; n < deep; ++n) {
      const int p = deep > 1 ? n ^ 1 : n;  // the order of the general product
      F numbers[vectors];
      S::run(row[p / S::depths], j, place + p % S::depths, numbers);
#pragma GCC unroll 2
      for (int v = 0; v < vectors; ++v) {
        const F weights = rounded_weights<S, R, range>(numbers[v], v, scale[v], shift[v]);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) sum[i][v] += factors[p * rows + i] * weights;
      }
    }
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
#pragma GCC unroll 16
      for (int i = 0; i < rows; ++i) store(sum[i][v], s.sums + i * s.sums_stride + j + v * lanes);
  }
  for (; j < w.columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      float sum = add ? s.sums[i * s.sums_stride + j] : 0.0f;
      for (int n = 0; n < deep; ++n) {
        const int p = deep > 1 ? n ^ 1 : n;
        const float number = S::one(row[p / S::depths], j, place + p % S::depths);
        sum += factors[p * rows + i] * rounded_weight<R, range>(number, w.scale[j], w.shift[j]);
      }
      s.sums[i * s.sums_stride + j] = sum;
    }
  }
}

template <class S, class R, WeightRange range, int rows>
void across_range(const WeightStream &s) {
  constexpr int deep = range == WeightRange::any                ? 2
                       : rows <= 2 || rows > 4 || S::depths > 1 ? 8
                                                                : 4;
  const int64_t depth = s.weight.depth;
  int64_t p = 0;
  for (; p + deep <= depth; p += deep) add_depths<S, R, range, rows, deep>(s, p);
  for (; p + 2 <= depth && deep > 2; p += 2) add_depths<S, R, range, rows, 2>(s, p);
  if (p < depth) add_depths<S, R, range, rows, 1>(s, p);
}

template <class S, class R, int rows>
void across(const WeightStream &s) {
  switch (s.weight.range) {
    case WeightRange::exact: return across_range<S, R, WeightRange::exact, rows>(s);
    case WeightRange::tame: return across_range<S, R, WeightRange::tame, rows>(s);
    case WeightRange::any: return across_range<S, R, WeightRange::any, rows>(s);
  }
}

template <class R>
void dequantise(const int8_t *numbers, int64_t count, const float *scale, const float *shift,
                uint16_t *out) {
  for (int64_t j = 0; j < count; ++j) out[j] = R::bits(weight_of(numbers[j], scale[j], shift[j]));
}

// As many rows as there are registers for their sums.
template <class S>
constexpr int most_rows = vector_bytes == 64 || S::vectors == 1 ? 8 : 4;

template <class S, class R, int... less_one>
constexpr void fill(WeightStreams *streams, WeightStorage storage, WeightRounding rounding,
                    std::integer_sequence<int, less_one...>) {
  const int s = static_cast<int>(storage), r = static_cast<int>(rounding);
  ((streams->across[s][r][less_one] = across<S, R, less_one + 1>), ...);
  streams->across[s][r][most_rows<S> - 1] = across<S, R, most_rows<S>>;
  streams->rows[s] = most_rows<S>;
  streams->prepare[s][r] = prepare<S, R>;
}

template <class R>
constexpr void fill_kind(WeightStreams *streams, WeightRounding rounding) {
  const std::make_integer_sequence<int, any_streamed_rows> heights;
  fill<Bytes, R>(streams, WeightStorage::bytes, rounding, heights);
  fill<Halves, R>(streams, WeightStorage::halves, rounding, heights);
  fill<Words<8>, R>(streams, WeightStorage::words_of_bytes, rounding, heights);
  fill<Words<4>, R>(streams, WeightStorage::words_of_halves, rounding, heights);
  streams->dequantise[static_cast<int>(rounding)] = dequantise<R>;
}

constexpr WeightStreams make_streams() {
  WeightStreams streams{};
  streams.block = Halves::vectors * lanes;
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
