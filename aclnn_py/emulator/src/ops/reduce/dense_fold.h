// SPDX-License-Identifier: Apache-2.0
// Extremes and truth of elements as they lie in memory, at their own width: lanes have the dtype of
// the elements, or are bools.
#pragma once

#include "ops/reduce/fold.h"

namespace emu {

// A long reduction is cut into pieces of this many elements, whatever the number of threads, so
// that its rounding does not depend on the machine.
constexpr int64_t kFoldPiece = 128 * kBlock;

// Does all of a fold whose dimensions were reordered, the reduced ones first for `columns` and last
// otherwise; false where the elements have no such kernel or do not lie in rows without gaps.
bool fold_dense(const FoldTask &task, const View &in, bool columns, int64_t results, int64_t length,
                const Writer &writer);

}  // namespace emu
