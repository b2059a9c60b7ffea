// SPDX-License-Identifier: Apache-2.0
// Singular values of an upper bidiagonal matrix, and its rotations of lines.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

// Real numbers of lines that lie `stride` apart; no lines where `data` is null.
struct RotatedLines {
  double *data;
  int64_t length, stride;
};

// The values of the matrix with `diagonal` and `above` take the place of the diagonal, in any order
// and with any sign. Its n lines each: `left` are turned as its rows are, `right` as its columns.
// False where the algorithm does not come to an end, which only a defect makes it do.
bool diagonalise(std::vector<double> *diagonal, std::vector<double> *above,
                 const RotatedLines &left, const RotatedLines &right);

}  // namespace emu
