// SPDX-License-Identifier: Apache-2.0
// Images as the matrix of their windows and back. Row (channel, k0, k1, k2) of the matrix holds
// element k of every window of a channel, one window a column.
#pragma once

#include "ops/window/geometry.h"

namespace emu {

// Writes rows [first_row, last_row), columns [first, first + count) of the matrix of sample `n`,
// whatever the dtype; `row_step` elements from a row to the next. Margins read as zero.
void unfold(const Image &image, int64_t n, const Windows &windows, int64_t first_row,
            int64_t last_row, int64_t first, int64_t count, char *to, int64_t row_step);

// The adjoint: adds the columns of `lines` rows of windows, from row `first_line` on, into the
// dense plane they were taken from. `columns` holds one row of the matrix for each element of a
// window, `row_step` apart; with `weights` each row is multiplied by one of them.
template <class T>
void fold_add(const T *columns, int64_t row_step, const Windows &windows, int64_t first_line,
              int64_t lines, T *plane, const T *weights = nullptr);

}  // namespace emu
