// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Copies and fills of views: dense runs as bytes, transpositions in tiles, anything else by
// elements.
#include <algorithm>
#include <cstring>

#include "core/pool.h"
#include "ops/copy_kernels.h"
#include "ops/direct_casts.h"
#include "ops/view.h"

namespace emu {
namespace {

// Enough work per piece that waking a thread pays.
constexpr int64_t kGrain = 64 * kBlock;
constexpr int64_t kTile = 32;

struct Wide {
  uint64_t parts[2];
};

// Whether all bytes of an item are the same, as those of zero are.
bool of_one_byte(const char *item, size_t size) {
  return std::all_of(item, item + size, [item](char byte) { return byte == *item; });
}

// Four lines of four elements, of which the lines become the columns.
void turn_four(const char *read, int64_t step, char *write, int64_t to_step) {
  using Four = uint32_t __attribute__((vector_size(16)));
  Four line[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&line[i], read + i * step, sizeof(Four));
  const Four low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, first = {0, 1, 4, 5}, second = {2, 3, 6, 7};
  const Four a = __builtin_shuffle(line[0], line[1], low);
  const Four b = __builtin_shuffle(line[2], line[3], low);
  const Four c = __builtin_shuffle(line[0], line[1], high);
  const Four d = __builtin_shuffle(line[2], line[3], high);
  const Four turned[4] = {__builtin_shuffle(a, b, first), __builtin_shuffle(a, b, second),
                          __builtin_shuffle(c, d, first), __builtin_shuffle(c, d, second)};
  for (int i = 0; i < 4; ++i) std::memcpy(write + i * to_step, &turned[i], sizeof(Four));
}

// A tile of a transposition: elements lie side by side in the columns of what is read and in the
// rows of what is written; steps in bytes.
template <class E>
void turn_tile(const char *read, int64_t step, char *write, int64_t to_step, int64_t rows,
               int64_t columns) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(E));
  int64_t row = 0;
  if constexpr (sizeof(E) == 4) {
    for (; row + 4 <= rows; row += 4) {
      int64_t column = 0;
      for (; column + 4 <= columns; column += 4)
        turn_four(read + row * kSize + column * step, step, write + row * to_step + column * kSize,
                  to_step);
      for (; column < columns; ++column) {
        for (int64_t r = row; r < row + 4; ++r)
          std::memcpy(write + r * to_step + column * kSize, read + r * kSize + column * step,
                      sizeof(E));
      }
    }
  }
  for (; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column)
      std::memcpy(write + row * to_step + column * kSize, read + row * kSize + column * step,
                  sizeof(E));
  }
}

// Both sides of a copy with the dimensions they share; offsets and strides in elements.
struct Pair {
  int rank = 0;
  int64_t shape[kMaxRank], from[kMaxRank], to[kMaxRank];
};

Pair pair_up(const Layout &from, const Layout &to) {
  Pair pair;
  for (int d = 0; d < to.rank; ++d) {
    if (to.shape[d] == 1) continue;
    const int last = pair.rank - 1;
    if (last >= 0 && pair.from[last] == from.stride[d] * to.shape[d] &&
        pair.to[last] == to.stride[d] * to.shape[d]) {
      pair.shape[last] *= to.shape[d];
    } else {
      pair.shape[pair.rank++] = to.shape[d];
    }
    pair.from[pair.rank - 1] = from.stride[d];
    pair.to[pair.rank - 1] = to.stride[d];
  }
  if (pair.rank == 0) pair.shape[pair.rank++] = pair.from[0] = pair.to[0] = 1;
  return pair;
}

// Calls f(from, to, run) for the elements [start, start + count) in row-major order: where `run` of
// them that follow each other along the last dimension begin on both sides.
template <class F>
void for_each_run(const Pair &pair, int64_t start, int64_t count, F &&f) {
  const int last = pair.rank - 1;
  const int64_t width = pair.shape[last];
  int64_t index[kMaxRank];
  int64_t rest = start / width, column = start % width, from = 0, to = 0;
  for (int d = last - 1; d >= 0; --d) {
    index[d] = rest % pair.shape[d];
    rest /= pair.shape[d];
    from += index[d] * pair.from[d];
    to += index[d] * pair.to[d];
  }
  while (count > 0) {
    const int64_t run = std::min(count, width - column);
    f(from + column * pair.from[last], to + column * pair.to[last], run);
    count -= run;
    column = 0;
    for (int d = last - 1; d >= 0 && count > 0; --d) {
      from += pair.from[d];
      to += pair.to[d];
      if (++index[d] < pair.shape[d]) break;
      from -= pair.from[d] * pair.shape[d];
      to -= pair.to[d] * pair.shape[d];
      index[d] = 0;
    }
  }
}

// The dimension along which the source is dense while the target is dense along the last one; -1
// when the copy is no transposition.
int crossing(const Pair &pair) {
  const int last = pair.rank - 1;
  if (last < 1 || pair.to[last] != 1 || pair.from[last] == 1) return -1;
  for (int d = 0; d < last; ++d) {
    if (pair.from[d] == 1 && pair.shape[d] >= 8) return d;
  }
  return -1;
}

// Tiles keep the lines that both sides touch in the cache: walking one side in order would use one
// element of each line of the other.
template <class E>
void copy_tiles(const Pair &pair, int cross, const char *from, char *to) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(E));
  const int last = pair.rank - 1;
  const int64_t width = pair.shape[last], height = pair.shape[cross];
  const int64_t strips = (height + kTile - 1) / kTile;
  int64_t outer = 1;
  for (int d = 0; d < last; ++d) outer *= d == cross ? 1 : pair.shape[d];
  parallel_for(outer * strips, std::max<int64_t>(1, kGrain / (kTile * width)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t strip = begin; strip < end; ++strip) {
                   const int64_t first = strip % strips * kTile,
                                 rows = std::min(kTile, height - first);
                   int64_t rest = strip / strips;
                   int64_t source = first * pair.from[cross], target = first * pair.to[cross];
                   for (int d = last - 1; d >= 0; --d) {
                     if (d == cross) continue;
                     source += rest % pair.shape[d] * pair.from[d];
                     target += rest % pair.shape[d] * pair.to[d];
                     rest /= pair.shape[d];
                   }
                   for (int64_t column = 0; column < width; column += kTile) {
                     const int64_t columns = std::min(kTile, width - column);
                     const char *read = from + (source + column * pair.from[last]) * kSize;
                     char *write = to + (target + column) * kSize;
                     turn_tile<E>(read, pair.from[last] * kSize, write, pair.to[cross] * kSize,
                                  rows, columns);
                   }
                 }
               });
}

// Whether each element is to be written a few times in a row.
bool repeats_each(const Pair &pair) {
  constexpr int64_t kFew = 32;
  const int last = pair.rank - 1;
  return last > 0 && pair.from[last] == 0 && pair.to[last] == 1 && pair.shape[last] <= kFew &&
         pair.to[last - 1] == pair.shape[last];
}

// Such a copy without a run for every element.
void repeat_elements(Pair pair, const char *from, char *to, int64_t size) {
  const int last = pair.rank - 1;
  const int64_t times = pair.shape[last];
  pair.rank = last;
  int64_t total = 1;
  for (int d = 0; d < last; ++d) total *= pair.shape[d];
  const RepeatEachFn repeat_each = repeat_each_of(size);
  parallel_for(total, kGrain / times, [&](int64_t begin, int64_t end) {
    for_each_run(pair, begin, end - begin, [&](int64_t read, int64_t write, int64_t run) {
      repeat_each(from + read * size, pair.from[last - 1], to + write * size, times, run);
    });
  });
}

template <class E>
void move_elements(const View &from, const View &to) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(E));
  const int64_t total = from.count();
  const bool ordered = overlaps_itself(to.layout);  // the last write wins, in order
  const Pair pair = pair_up(from.layout, to.layout);
  if (!ordered && repeats_each(pair)) return repeat_elements(pair, from.data, to.data, kSize);
  const int cross = ordered ? -1 : crossing(pair);
  if (cross >= 0) return copy_tiles<E>(pair, cross, from.data, to.data);
  const int last = pair.rank - 1;
  const CopyRunFn copy_run = copy_run_of(kSize);
  const auto piece = [&](int64_t begin, int64_t end) {
    for_each_run(pair, begin, end - begin, [&](int64_t read, int64_t write, int64_t run) {
      const char *source = from.data + read * kSize;
      char *target = to.data + write * kSize;
      if (pair.from[last] == 1 && pair.to[last] == 1)
        std::memmove(target, source, static_cast<size_t>(run * kSize));
      else copy_run(source, pair.from[last], target, pair.to[last], run);
    });
  };
  if (ordered) piece(0, total);
  else parallel_for(total, kGrain, piece);
}

void move_bytes(const View &from, const View &to) {
  switch (item_size(from.dtype)) {
    case 1: return move_elements<uint8_t>(from, to);
    case 2: return move_elements<uint16_t>(from, to);
    case 4: return move_elements<uint32_t>(from, to);
    case 8: return move_elements<uint64_t>(from, to);
    default: return move_elements<Wide>(from, to);
  }
}

// Whether a cast leaves the bytes alone: integers of one size keep their bits.
bool same_bits(aclDataType from, aclDataType to) {
  return from == to || (is_integer(from) && is_integer(to) && item_size(from) == item_size(to));
}

// Casts of plain numbers whose runs are dense on both sides need no blocks between.
bool cast_directly(const View &from, const View &to) {
  const DirectFn cast = direct_cast(from.dtype, to.dtype);
  if (cast == nullptr) return false;
  const Pair pair = pair_up(from.layout, to.layout);
  const int last = pair.rank - 1;
  if (pair.from[last] != 1 || pair.to[last] != 1) return false;
  const int64_t from_size = item_size(from.dtype), to_size = item_size(to.dtype);
  const auto piece = [&](int64_t begin, int64_t end) {
    for_each_run(pair, begin, end - begin, [&](int64_t read, int64_t write, int64_t run) {
      cast(from.data + read * from_size, run, to.data + write * to_size);
    });
  };
  if (overlaps_itself(to.layout)) piece(0, to.count());
  else parallel_for(to.count(), kGrain, piece);
  return true;
}

}  // namespace

void copy_view(const View &from, const View &to) {
  const int64_t total = from.count();
  if (total == 0) return;
  if (same_bits(from.dtype, to.dtype)) return move_bytes(from, to);
  if (cast_directly(from, to)) return;
  const Reader reader(from, from.dtype);
  const Writer writer(to, compute_for(from.dtype), ACL_DT_UNDEFINED);
  const auto piece = [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kBlock * sizeof(Complex128)];
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = end - start < kBlock ? end - start : kBlock;
      const void *block = reader.read(start, count, scratch);
      writer.write(start, count, block);
    }
  };
  if (overlaps_itself(to.layout)) piece(0, total);
  else parallel_for(total, kGrain, piece);
}

void fill_view(const View &view, const void *item) {
  const auto size = static_cast<size_t>(item_size(view.dtype));
  const Layout layout = coalesced(view.layout);
  const bool uniform = of_one_byte(static_cast<const char *>(item), size);
  const CopyRunFn copy_run = copy_run_of(item_size(view.dtype));
  parallel_for(view.count(), kGrain, [&](int64_t begin, int64_t end) {
    for_each_run(layout, begin, end - begin, [&](int64_t offset, int64_t step, int64_t run) {
      char *write = view.data + offset * static_cast<int64_t>(size);
      if (uniform && step == 1)
        std::memset(write, *static_cast<const unsigned char *>(item),
                    static_cast<size_t>(run) * size);
      else copy_run(static_cast<const char *>(item), 0, write, step, run);
    });
  });
}

bool copy_with_margins(const View &from, const View &to, int64_t front, int64_t back,
                       const void *item) {
  constexpr int64_t kLongest = 8192;  // bytes
  const int last = to.layout.rank - 1;
  if (last < 0 || from.dtype != to.dtype) return false;
  const int64_t size = item_size(to.dtype), width = to.layout.shape[last];
  const int64_t kept = width - front - back;
  if (width * size > kLongest || to.layout.stride[last] != 1 || from.layout.stride[last] != 1 ||
      overlaps_itself(to.layout)) {
    return false;
  }
  Layout from_lines = from.layout, to_lines = to.layout;
  from_lines.rank = to_lines.rank = last;
  const Pair lines = pair_up(from_lines, to_lines);
  const int inner = lines.rank - 1;
  char margin[kLongest];
  copy_run_of(size)(static_cast<const char *>(item), 0, margin, 1, std::max(front, back));
  const auto bytes = [size](int64_t count) { return static_cast<size_t>(count * size); };
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, width));
  parallel_for(to_lines.count(), grain, [&](int64_t begin, int64_t end) {
    for_each_run(lines, begin, end - begin, [&](int64_t read, int64_t write, int64_t run) {
      for (int64_t i = 0; i < run; ++i) {
        char *line = to.data + (write + i * lines.to[inner]) * size;
        std::memcpy(line, margin, bytes(front));
        std::memcpy(line + bytes(front), from.data + (read + i * lines.from[inner]) * size,
                    bytes(kept));
        std::memcpy(line + bytes(front + kept), margin, bytes(back));
      }
    });
  });
  return true;
}

}  // namespace emu
