// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/window/picking.h"
#include "core/pool.h"

#include <algorithm>
#include <cstring>

namespace emu {
namespace {

struct Wide {
  uint64_t parts[2];
};

// Neighbouring places whose elements are neighbours too.
struct Run {
  int64_t from, to, length;
};

std::vector<Run> runs_of(const std::vector<int64_t> &places) {
  std::vector<Run> runs;
  for (size_t i = 0; i < places.size(); ++i) {
    if (i == 0 || places[i] != places[i - 1] + 1)
      runs.push_back({places[i], static_cast<int64_t>(i), 0});
    ++runs.back().length;
  }
  return runs;
}

// What a copy of a run costs, in elements.
constexpr int64_t kRunCost = 8;

// Runs are short as a rule: a call of memcpy would cost as much as the copy.
template <class E>
inline __attribute__((always_inline)) void copy_run(const E *from, E *to, int64_t length) {
  constexpr int64_t kPiece = 16 / int64_t{sizeof(E)}, kLong = 64 * kPiece;
  if (length == 1) {
    *to = *from;
  } else if (length >= kLong) {
    std::copy_n(from, length, to);
  } else if (length < kPiece) {
    for (int64_t i = 0; i < length; ++i) to[i] = from[i];
  } else {
    int64_t i = 0;
    for (; i + 4 * kPiece <= length; i += 4 * kPiece) {
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part)
        std::memcpy(to + i + part * kPiece, from + i + part * kPiece, 16);
    }
    for (; i + kPiece <= length; i += kPiece) std::memcpy(to + i, from + i, 16);
    // The rest together with what was copied before it.
    if (i < length) std::memcpy(to + length - kPiece, from + length - kPiece, 16);
  }
}

template <class E>
void pick_elements(const Image &from, const Image &to, const Picks &picks) {
  const int64_t slices = to.extent[0], rows = to.extent[1], width = to.extent[2];
  const int64_t *columns = picks.axes[2].data();
  const std::vector<Run> runs = runs_of(picks.axes[2]);
  const bool dense = from.stride[2] == 1 && to.stride[2] == 1,
             by_runs = dense && static_cast<int64_t>(runs.size()) * kRunCost < width,
             slices_dense = to.stride[2] == 1 && to.stride[1] == width;
  // Rows [y, stop) of a slice.
  const auto pick_rows = [&](const E *read_slice, E *write, int64_t y, int64_t stop) {
    int64_t above = -1;
    write += y * to.stride[1];
    for (; y < stop; ++y, write += to.stride[1]) {
      const int64_t source = picks.axes[1][static_cast<size_t>(y)];
      const E *read = read_slice + source * from.stride[1];
      if (dense && source == above) {
        copy_run(write - to.stride[1], write, width);  // the row above once more
      } else if (by_runs) {
        for (const Run &run : runs) copy_run(read + run.from, write + run.to, run.length);
      } else if (dense) {
        for (int64_t x = 0; x < width; ++x) write[x] = read[columns[x]];
      } else {
        for (int64_t x = 0; x < width; ++x)
          write[x * to.stride[2]] = read[columns[x] * from.stride[2]];
      }
      above = source;
    }
  };
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 14) / std::max<int64_t>(1, width));
  parallel_for(to.batch * to.channels * slices * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin, next; i < end; i = next) {
      const int64_t y = i % rows, z = i / rows % slices, plane = i / rows / slices;
      const int64_t n = plane / to.channels, channel = plane % to.channels;
      const int64_t stop = std::min(rows, y + end - i);
      next = i + stop - y;
      const auto &sources = picks.axes[0];
      const int64_t source = sources[static_cast<size_t>(z)];
      E *const write = reinterpret_cast<E *>(to.at(n, channel)) + z * to.stride[0];
      if (slices_dense && z > 0 && source == sources[static_cast<size_t>(z - 1)] &&
          i - rows >= begin) {
        // the slice before once more
        std::copy_n(write - to.stride[0] + y * width, (stop - y) * width, write + y * width);
        continue;
      }
      pick_rows(reinterpret_cast<const E *>(from.at(n, channel)) + source * from.stride[0], write,
                y, stop);
    }
  });
}

}  // namespace

void pick(const Image &from, const Image &to, const Picks &picks) {
  switch (item_size(to.dtype)) {
    case 1: return pick_elements<uint8_t>(from, to, picks);
    case 2: return pick_elements<uint16_t>(from, to, picks);
    case 4: return pick_elements<uint32_t>(from, to, picks);
    case 8: return pick_elements<uint64_t>(from, to, picks);
    default: return pick_elements<Wide>(from, to, picks);
  }
}

}  // namespace emu
