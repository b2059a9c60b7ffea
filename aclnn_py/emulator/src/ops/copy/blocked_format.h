// SPDX-License-Identifier: Apache-2.0
// Storage formats that cut a tensor into blocks, beside the plain formats they are cast from and
// to: where each element lies in both.
#pragma once

#include <cstdint>

#include "meta/tensor.h"

namespace emu {

// Elements from index 0 of an axis to index i; an axis may be cut into blocks.
struct BlockedAxis {
  int64_t step = 0, block = 0, across = 0;  // block 0: not cut

  int64_t at(int64_t i) const {
    return block == 0 ? i * step : i / block * across + i % block * step;
  }
};

constexpr int kFormatAxes = 5;

// One tensor of a pair: its axes N, C, D, H, W, or leading dimensions, rows and columns as the
// first and the last two.
struct BlockedPlaces {
  BlockedAxis axis[kFormatAxes];
};

struct FormatPair {
  int64_t extent[kFormatAxes];
  BlockedPlaces plain, blocked;
  Dims storage;  // of the blocked one
};

// Whether the chip casts between the two.
bool is_format_pair(aclFormat plain, aclFormat blocked);
// FRACTAL_NZ and its forms with a width of block of their own.
bool is_matrix_format(aclFormat format);
// Columns of a block: 32 bytes, unless the format fixes them.
int64_t block_columns(aclFormat format, aclDataType dtype);
// False when the rank is not that of the formats, or 64 bits do not count the blocks' elements.
bool pair_formats(aclFormat plain, aclFormat blocked, const Dims &shape, int64_t columns,
                  FormatPair *pair);

}  // namespace emu
