// SPDX-License-Identifier: Apache-2.0
// The leaf routines of the matrix product that are compiled once per instruction set.
// Only plain types cross this border: inline library code compiled for a newer instruction set must
// never be shared with files built for the baseline.
#pragma once

#include <cstdint>

namespace emu {

// Element offset of index i along one axis of a matrix: either i * stride, or blocks of `block`
// elements that lie `block_stride` apart (FRACTAL_NZ keeps the columns of a matrix in such blocks).
struct GemmAxis {
  int64_t stride = 0;
  int64_t block = 0;
  int64_t block_stride = 0;

  int64_t at(int64_t i) const {
    return block ? (i / block) * block_stride + (i % block) * stride : i * stride;
  }
};

enum class GemmStorage : int { float32, float16, bfloat16, int8, uint8, float64, count };

// One packed panel: `width` indices of the `wide` axis side by side, for `depth` consecutive
// indices of the `deep` axis. Short panels are filled up with zeros. Bytes become int16, two depths
// of one index beside each other, the pair an odd depth leaves half empty filled up with zero.
struct GemmPanel {
  const void *source;
  GemmAxis wide, deep;
  int64_t wide_begin, wide_count, deep_begin, depth;
  int width;
};

constexpr int kGemmMostRows = 12;

// c[height][columns] (leading dimension ldc) = or += packed_a * b over `depth`. `ldb` is the
// distance between the packed rows of b: rows of single elements, of pairs for int16.
template <class P, class C>
using GemmTile = void (*)(const P *a, const P *b, int64_t ldb, int64_t depth, C *c, int64_t ldc,
                          bool add);

struct GemmKernels {
  int rows;                // height of the largest register tile
  int columns, columns64;  // width of the tiles for 4 bytes and for float64
  void (*pack[static_cast<int>(GemmStorage::count)])(const GemmPanel &, void *packed);
  // the same, but bytes are converted to float32 and not paired
  void (*pack_wide[static_cast<int>(GemmStorage::count)])(const GemmPanel &, void *packed);
  // by height - 1
  GemmTile<float, float> tile_f32[kGemmMostRows];
  GemmTile<int16_t, int32_t> tile_i32[kGemmMostRows];
  GemmTile<double, double> tile_f64[kGemmMostRows];
  GemmTile<double, double> less_f64[kGemmMostRows];  // takes the products from c, whatever `add`
  void (*add)(const float *, const float *, float *sum, int64_t);
  // contiguous rows: float to and from the 16-bit kinds, one rounding to nearest even
  void (*to_f16)(const float *, uint16_t *, int64_t);
  void (*to_bfloat16)(const float *, uint16_t *, int64_t);
  void (*from_f16)(const uint16_t *, float *, int64_t);
  void (*from_bfloat16)(const uint16_t *, float *, int64_t);
};

// A few rows times a matrix that is read once, where it lies. Sums are made in the order of the
// tiles: one product after the other for `gemm_depth_step` depths, then these sums one after the
// other.
constexpr int gemm_few_rows = 8;
constexpr int64_t gemm_depth_step = 256;

struct GemmStream {
  const void *a;  // packed by pack_wide as one panel as wide as there are rows
  const void *b;  // depth 0 of the first column
  // from one depth to the next, or from one column to the next where depths are neighbours
  int64_t step;
  int64_t columns, depth;
  void *sums;           // (rows, columns)
  int64_t sums_stride;  // between rows
  int64_t next = 0;     // Matrix::next of b
};
using GemmStreamFn = void (*)(const GemmStream &);

// By storage of b and by rows - 1. Not every number of rows has a kernel: a product takes the next
// one, with rows of zeros, as it waits for memory anyway. All at most gemm_few_rows have one that
// is high enough, but for uint8, of which only vectors are multiplied.
struct GemmStreams {
  // Columns are neighbours. At most gemm_depth_step depths; sums are float32, float64 where b is.
  GemmStreamFn across[static_cast<int>(GemmStorage::count)][gemm_few_rows];
  // Depths are neighbours. Sums are float32, float64, int32 for bytes. Null where the instruction
  // set has no quick way.
  GemmStreamFn along[static_cast<int>(GemmStorage::count)][gemm_few_rows];
};

const GemmStreams &gemm_streams();
const GemmKernels &gemm_kernels();  // those of the best instruction set of this machine

}  // namespace emu
