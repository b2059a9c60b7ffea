// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/elementwise/direct.h"

#include <algorithm>
#include <cstring>

#include "core/pool.h"
#include "ops/elementwise/engine.h"

namespace emu {
namespace {

// What an operand that is not dense is gathered in: an element less often than a block of it.
constexpr int64_t kPartBytes = 16384;
// A thread is not woken for less.
constexpr int64_t kGrainBytes = 131072;

template <class Item>
void gather(const char *from, int64_t step, int64_t count, char *to) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * static_cast<int64_t>(sizeof(Item)), from + i * step, sizeof(Item));
  }
}

template <class Item>
void scatter(const char *from, int64_t count, char *to, int64_t step) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * step, from + i * static_cast<int64_t>(sizeof(Item)), sizeof(Item));
  }
}

struct Pair {
  uint64_t words[2];
};

// One operand, as the block loop meets it.
struct Operand {
  char *data = nullptr;
  int64_t size = 1;
  Layout layout;
  bool dense = false, repeated = false;

  Operand() = default;
  explicit Operand(const View &view)
      : data(view.data), size(item_size(view.dtype)), layout(coalesced(view.layout)) {
    dense = layout.is_dense();
    repeated = !dense && is_repeated(layout);
  }

  void read(int64_t start, int64_t count, char *to) const {
    for_each_run(layout, start, count, [&](int64_t offset, int64_t step, int64_t run) {
      const char *from = data + offset * size;
      if (step == 1) {
        std::memcpy(to, from, static_cast<size_t>(run * size));
      } else {
        switch (size) {
          case 1: gather<uint8_t>(from, step, run, to); break;
          case 2: gather<uint16_t>(from, step * 2, run, to); break;
          case 4: gather<uint32_t>(from, step * 4, run, to); break;
          case 8: gather<uint64_t>(from, step * 8, run, to); break;
          default: gather<Pair>(from, step * 16, run, to); break;
        }
      }
      to += run * size;
    });
  }

  void write(int64_t start, int64_t count, const char *from) const {
    for_each_run(layout, start, count, [&](int64_t offset, int64_t step, int64_t run) {
      char *to = data + offset * size;
      switch (size) {
        case 1: scatter<uint8_t>(from, run, to, step); break;
        case 2: scatter<uint16_t>(from, run, to, step * 2); break;
        case 4: scatter<uint32_t>(from, run, to, step * 4); break;
        case 8: scatter<uint64_t>(from, run, to, step * 8); break;
        default: scatter<Pair>(from, run, to, step * 16); break;
      }
      from += run * size;
    });
  }
};

bool hold(const ElementwiseTask &task, int32_t least, int32_t most) {
  for (int i = 0; i < kMaxScalars; ++i) {
    int32_t scalar;
    std::memcpy(&scalar, task.scalars + i * static_cast<int>(sizeof scalar), sizeof scalar);
    if (scalar < least || scalar > most) return false;
  }
  return true;
}

// Narrow elements do not hold every scalar of their compute type.
bool scalars_fit(const ElementwiseTask &task) {
  switch (task.compute_dtype) {
    case ACL_INT8: return hold(task, INT8_MIN, INT8_MAX);
    case ACL_UINT8: return hold(task, 0, UINT8_MAX);
    case ACL_INT16: return hold(task, INT16_MIN, INT16_MAX);
    case ACL_BOOL: return hold(task, 0, 1);
    default: return true;
  }
}

void run_range(const ElementwiseTask &task, const Operand *operands, const Operand &result,
               int64_t widest, int64_t begin, int64_t end) {
  // The odd lines keep parts from lying a multiple of a page apart, where loads wait for unrelated
  // stores.
  alignas(64) char scratch[kMaxTensors][kPartBytes + 5 * 64];
  alignas(64) char found[kPartBytes];
  const void *from[kMaxTensors] = {};
  bool in_parts = !result.dense;
  for (int i = 0; i < task.inputs; ++i) in_parts = in_parts || !operands[i].dense;
  const int64_t part = in_parts ? std::min(end - begin, kPartBytes / widest) : end - begin;
  for (int i = 0; i < task.inputs; ++i) {
    if (!operands[i].repeated) continue;
    operands[i].read(begin, part, scratch[i]);
    from[i] = scratch[i];
  }
  for (int64_t start = begin; start < end; start += part) {
    const int64_t count = std::min(part, end - start);
    for (int i = 0; i < task.inputs; ++i) {
      const Operand &operand = operands[i];
      if (operand.dense) from[i] = operand.data + start * operand.size;
      if (operand.dense || operand.repeated) continue;
      operand.read(start, count, scratch[i]);
      from[i] = scratch[i];
    }
    void *to = result.dense ? result.data + start * result.size : found;
    task.direct(to, from, count, task.scalars);
    if (!result.dense) result.write(start, count, found);
  }
}

}  // namespace

bool run_direct(const ElementwiseTask &task, const View *in, const View &out) {
  if (task.direct == nullptr || out.dtype != task.result_dtype || !scalars_fit(task)) return false;
  for (int i = 0; i < task.inputs; ++i) {
    if (in[i].dtype != task.compute_dtype) return false;
  }
  Operand operands[kMaxTensors];
  for (int i = 0; i < task.inputs; ++i) operands[i] = Operand(in[i]);
  const Operand result(out);
  const int64_t total = out.count();
  const int64_t widest = std::max(result.size, item_size(task.compute_dtype));
  const auto piece = [&](int64_t begin, int64_t end) {
    run_range(task, operands, result, widest, begin, end);
  };
  // Where several indices name one element the last one wins, as in a sequential loop.
  if (overlaps_itself(out.layout)) piece(0, total);
  else parallel_for(total, kGrainBytes / widest, piece);
  return true;
}

}  // namespace emu
