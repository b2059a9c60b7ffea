// SPDX-License-Identifier: Apache-2.0
// How a weight with two zeros in every four elements is packed: the two others, and the places
// where they stood, in blocks of 16 rows. A row of a block keeps 32 values in 32 bytes and their
// places in 8: two bits where the first of four elements stood among the first three, two where the
// second stood among the last three. What is missing is 0 at place 0.
#pragma once

#include <cstdint>

namespace emu {

constexpr int64_t kSparseGroup = 4;                    // elements of which two are kept
constexpr int64_t kSparseRows = 16, kSparseKept = 32;  // of a block of values
constexpr int64_t kSparsePlaces = kSparseKept / 4;     // bytes with the places of a row of a block
constexpr int64_t kSparseSource = 2 * kSparseKept;     // elements a row of a block comes from

}  // namespace emu
