// SPDX-License-Identifier: Apache-2.0
// Caches in pages: a slot is the place of one token, block * block_size + place in the block.
#pragma once

#include <vector>

#include "ops/cache/byte_rows.h"

namespace emu {

// The cache with the dimension `places` (that of the places in a block) as its second one, so that
// the first two dimensions number the slots.
View slots_of(const aclTensor &cache, int places);

// `count` consecutive rows, `step` apart, that go to consecutive slots; with `mean` their average
// goes to one slot.
struct Piece {
  int64_t row, step, count, slot;
  bool mean = false;
};

// `element` is the dtype of the rows, for averages.
void write_pieces(const ByteRows &from, const ByteRows &slots, const std::vector<Piece> &pieces,
                  aclDataType element);

// What the lists of a compressed cache say, for each sequence (`lengths`) and head (the others).
// A sequence begins `pitch` tokens after the one before it, or with 0 right behind it. `offsets`
// may be empty.
struct Compression {
  const char *op;
  std::vector<int64_t> slots, kept, offsets, lengths;
  int64_t heads, tokens, pitch, slot_count;
  bool mean;  // the tokens that are cut out leave their average
};

// The rows number (token, head). A fault when a list leads out of the tokens or slots.
Status pieces_of(const Compression &c, std::vector<Piece> *pieces);
// One token to each slot; a slot below 0 takes nothing.
Status pieces_of(const char *op, const std::vector<int64_t> &slots, int64_t slot_count,
                 std::vector<Piece> *pieces);

}  // namespace emu
