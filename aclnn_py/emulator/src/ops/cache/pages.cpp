// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/cache/pages.h"

#include "core/pool.h"
#include "core/statuses.h"

namespace emu {
namespace {

void write_mean(const ByteRows &from, const ByteRows &slots, const Piece &piece,
                aclDataType element, char *scratch) {
  const int64_t item = item_size(element), width = from.bytes() / item;
  std::vector<float> sum(static_cast<size_t>(width)), row(sum);
  for (int64_t i = 0; i < piece.count; ++i) {
    const char *values = from.read(piece.row + i * piece.step, scratch);
    load_as(element, values, item, width, ACL_FLOAT, row.data());
    for (size_t j = 0; j < row.size(); ++j) sum[j] += row[j];
  }
  const auto count = static_cast<float>(piece.count);
  for (float &value : sum) value /= count;
  store_as(element, scratch, item, width, Compute::F32, sum.data());
  slots.write(piece.slot, scratch);
}

Status out_of_slots(const char *op, int64_t slot, int64_t rows, int64_t slot_count) {
  return fail(kKernelFault,
              "%s: slotMapping holds %lld, where %lld rows begin; the cache has %lld slots", op,
              static_cast<long long>(slot), static_cast<long long>(rows),
              static_cast<long long>(slot_count));
}

Status bad_list(const char *op, const char *list, int64_t value, int64_t length) {
  return fail(kKernelFault,
              "%s: %s holds %lld for a sequence of %lld tokens; it leads out of the sequence", op,
              list, static_cast<long long>(value), static_cast<long long>(length));
}

// The pieces of one head, whose tokens begin at `first`, without their slots.
Status head_pieces(const Compression &c, size_t i, int64_t first, int64_t length,
                   std::vector<Piece> *pieces) {
  const int64_t step = c.heads, kept = c.kept[i];
  if (c.offsets.empty()) {
    if (kept < 0 || kept > length) return bad_list(c.op, "compressLensOptional", kept, length);
    pieces->push_back({first + (length - kept) * step, step, kept, 0});
    return 0;
  }
  const int64_t offset = c.offsets[i];
  if (offset == -1 || kept == 0) {
    pieces->push_back({first, step, length, 0});
    return 0;
  }
  if (offset < 0 || offset > length)
    return bad_list(c.op, "compressSeqOffsetOptional", offset, length);
  if (kept < 0 || kept > length - offset)
    return bad_list(c.op, "compressLensOptional", kept, length);
  pieces->push_back({first, step, offset, 0});
  if (c.mean) pieces->push_back({first + offset * step, step, kept, 0, true});
  pieces->push_back({first + (offset + kept) * step, step, length - offset - kept, 0});
  return 0;
}

}  // namespace

View slots_of(const aclTensor &cache, int places) {
  View view = bytes_of(cache);
  const Layout whole = view.layout;
  view.layout = Layout();
  view.layout.push(whole.shape[0], whole.stride[0]);
  view.layout.push(whole.shape[places], whole.stride[places]);
  for (int d = 1; d < whole.rank; ++d)
    if (d != places) view.layout.push(whole.shape[d], whole.stride[d]);
  return view;
}

void write_pieces(const ByteRows &from, const ByteRows &slots, const std::vector<Piece> &pieces,
                  aclDataType element) {
  const int64_t bytes = from.bytes();
  if (bytes == 0) return;
  const int64_t grain = std::max<int64_t>(1, 65536 / bytes);
  int64_t rows = 0;
  for (const Piece &piece : pieces) rows += piece.count;
  const bool many = rows * bytes >= static_cast<int64_t>(kPastCaches);
  parallel_for(static_cast<int64_t>(pieces.size()), grain, [&](int64_t begin, int64_t end) {
    std::vector<char> scratch(static_cast<size_t>(bytes));
    PastCaches copies;
    for (int64_t p = begin; p < end; ++p) {
      const Piece &piece = pieces[static_cast<size_t>(p)];
      if (piece.mean) {
        write_mean(from, slots, piece, element, scratch.data());
        continue;
      }
      for (int64_t i = 0; i < piece.count; ++i) {
        const char *row = from.read(piece.row + i * piece.step, scratch.data());
        many ? slots.write(piece.slot + i, row, &copies) : slots.write(piece.slot + i, row);
      }
    }
  });
}

Status pieces_of(const Compression &c, std::vector<Piece> *pieces) {
  int64_t token = 0;
  std::vector<Piece> own;
  for (size_t sequence = 0; sequence < c.lengths.size(); ++sequence) {
    const int64_t length = c.lengths[sequence];
    const int64_t room = c.pitch != 0 ? c.pitch : c.tokens - token;
    if (length < 0 || length > room) {
      return fail(kKernelFault, "%s: seqLensOptional holds %lld; key has %lld tokens left for it",
                  c.op, static_cast<long long>(length), static_cast<long long>(room));
    }
    for (int64_t head = 0; head < c.heads; ++head) {
      const size_t i = sequence * static_cast<size_t>(c.heads) + static_cast<size_t>(head);
      own.clear();
      if (const Status bad = head_pieces(c, i, token * c.heads + head, length, &own)) return bad;
      int64_t slot = c.slots[i], rows = 0;
      for (const Piece &piece : own) rows += piece.mean ? 1 : piece.count;
      if (slot < 0 || rows == 0) continue;
      if (slot >= c.slot_count || rows > c.slot_count - slot)
        return out_of_slots(c.op, slot, rows, c.slot_count);
      for (Piece piece : own) {
        piece.slot = slot;
        slot += piece.mean ? 1 : piece.count;
        if (piece.count > 0) pieces->push_back(piece);
      }
    }
    token += c.pitch != 0 ? c.pitch : length;
  }
  return 0;
}

Status pieces_of(const char *op, const std::vector<int64_t> &slots, int64_t slot_count,
                 std::vector<Piece> *pieces) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i] < 0) continue;
    if (slots[i] >= slot_count) return out_of_slots(op, slots[i], 1, slot_count);
    pieces->push_back({static_cast<int64_t>(i), 1, 1, slots[i]});
  }
  return 0;
}

}  // namespace emu
