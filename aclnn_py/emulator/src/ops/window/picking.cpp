// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/window/picking.h"
#include "core/pool.h"

#include <algorithm>

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

template <class E>
void pick_elements(const Image &from, const Image &to, const Picks &picks) {
  const int64_t slices = to.extent[0], rows = to.extent[1], width = to.extent[2];
  const int64_t *columns = picks.axes[2].data();
  const std::vector<Run> runs = runs_of(picks.axes[2]);
  const bool dense = from.stride[2] == 1 && to.stride[2] == 1,
             by_runs = dense && static_cast<int64_t>(runs.size()) * kRunCost < width;
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 14) / std::max<int64_t>(1, width));
  parallel_for(to.batch * to.channels * slices * rows, grain, [&](int64_t begin, int64_t end) {
    const E *before = nullptr, *written = nullptr;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t y = i % rows, z = i / rows % slices, plane = i / rows / slices;
      const int64_t n = plane / to.channels, channel = plane % to.channels;
      const E *read = reinterpret_cast<const E *>(from.at(n, channel)) +
                      picks.axes[0][static_cast<size_t>(z)] * from.stride[0] +
                      picks.axes[1][static_cast<size_t>(y)] * from.stride[1];
      E *write = reinterpret_cast<E *>(to.at(n, channel)) + z * to.stride[0] + y * to.stride[1];
      if (by_runs) {
        for (const Run &run : runs) std::copy_n(read + run.from, run.length, write + run.to);
      } else if (dense && i > begin && read == before) {
        std::copy_n(written, width, write);  // the row above once more
      } else if (dense) {
        for (int64_t x = 0; x < width; ++x) write[x] = read[columns[x]];
      } else {
        for (int64_t x = 0; x < width; ++x)
          write[x * to.stride[2]] = read[columns[x] * from.stride[2]];
      }
      before = read;
      written = write;
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
