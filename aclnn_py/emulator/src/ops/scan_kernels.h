// SPDX-License-Identifier: Apache-2.0
// Loops over dense blocks that one or two operators have, compiled once per instruction set.
#pragma once

#include <cstdint>

namespace emu {

struct ScanKernels {
  // The sum of the squares, off by at most 2^-21 of it.
  double (*squares)(const float *x, int64_t count);
  // Puts from + i for the marks i that are not 0 behind one another; returns how many. Room for
  // `count` is needed, of which the rest is overwritten.
  int64_t (*positions)(const unsigned char *marks, int64_t count, int64_t from, int64_t *to);
};

const ScanKernels &scan_kernels();

}  // namespace emu
