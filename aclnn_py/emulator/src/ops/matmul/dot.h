// SPDX-License-Identifier: Apache-2.0
// Products of two vectors.
#pragma once

#include "core/isa.h"
#include "ops/view.h"

namespace emu {

// Products that are added up in float32, each lane some of them; the sums are added in float64.
constexpr int64_t dot_block = 1024;
constexpr int dot_lanes = 16;
constexpr int64_t dot_piece = 16 * dot_block;  // whose lanes are added up before those of the next

// The sum of the products of the elements of two vectors, whatever their strides and the number of
// threads. Elements are read as float32 or, modulo 2^32, as int32.
double dot_of_floats(const View &a, const View &b);
uint32_t dot_of_integers(const View &a, const View &b);

// The products of each row of a matrix with a vector, added up as those of two vectors are.
// Elements of a row are neighbours.
void dots_of_rows(const View &matrix, const View &vector, float *sums);

// Products of dense elements. Which lane takes element i depends on i % dot_block: a vector may be
// handed over in parts, all of which but the last consist of whole blocks.
EMU_DECLARE_ISA(void add_products(const float *x, const float *y, int64_t count, double *lanes);
                void row_products(const float *x, int64_t step, int64_t rows, const float *y,
                                  int64_t depth, float *sums);
                uint32_t wrapping_products(const int32_t *x, const int32_t *y, int64_t count);)

}  // namespace emu
