// SPDX-License-Identifier: Apache-2.0
// Moving whole rows that lie anywhere, compiled once per instruction set: short rows are a few
// vectors.
#pragma once

#include <cstdint>

namespace emu {

struct RowKernels {
  // Whether all of `count` numbers, int64 if `wide` and int32 otherwise, are in [low, high).
  bool (*within)(const void *index, bool wide, int64_t count, int64_t low, int64_t high);
  // Row i of `to`, `size` bytes, becomes row index[i] of `from`, whose rows are `step` bytes apart;
  // below zero counts from `extent`. `size` is at least kShortestRow.
  void (*gather)(const char *from, int64_t step, int64_t extent, const void *index, bool wide,
                 int64_t count, int64_t size, char *to);
  // The `size` bytes at from[i] go to to[i], in order. `size` is at least kShortestRow.
  void (*copy)(const char *const *from, char *const *to, int64_t count, int64_t size);
};

constexpr int64_t kShortestRow = 64;

const RowKernels &row_kernels();

}  // namespace emu
