// SPDX-License-Identifier: Apache-2.0
// build flags: -O2 -fno-tree-vectorize
#include "ops/reduce/products.h"

namespace emu {
namespace {

// Side by side, so that none waits for another; one by one, because vectors have no multiplication
// of 64 bits before AVX-512.
template <class Whole>
void multiply(int64_t *lanes, const Whole *x, int64_t rows, int64_t length) {
  constexpr int64_t kEach = 8;
  for (int64_t row = 0; row < rows; ++row, x += length) {
    uint64_t parts[kEach] = {static_cast<uint64_t>(lanes[row]), 1, 1, 1, 1, 1, 1, 1};
    int64_t i = 0;
    for (; i + kEach <= length; i += kEach) {
#pragma GCC unroll 8
      for (int64_t k = 0; k < kEach; ++k) parts[k] *= static_cast<uint64_t>(int64_t{x[i + k]});
    }
    for (; i < length; ++i) parts[0] *= static_cast<uint64_t>(int64_t{x[i]});
    for (int64_t k = 1; k < kEach; ++k) parts[0] *= parts[k];
    lanes[row] = static_cast<int64_t>(parts[0]);
  }
}

}  // namespace

void multiply_rows(int64_t *lanes, const int64_t *x, int64_t rows, int64_t length) {
  multiply(lanes, x, rows, length);
}
void multiply_rows(int64_t *lanes, const int32_t *x, int64_t rows, int64_t length) {
  multiply(lanes, x, rows, length);
}

}  // namespace emu
