// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// A sum over the ranks of which only eight bits per value travel: each rank quantises, exchanges
// pieces, sums its piece exactly, quantises the sum and hands it to all.
#include <algorithm>
#include <cmath>

#include "core/pool.h"
#include "ops/mc2/reduction/all_reduce_plan.h"

namespace emu {
namespace {

constexpr int64_t kGrain = 1 << 15, kStep = 256;

// To the nearest, ties to even, within the range of int8; NaN becomes 0.
int8_t to_int8(float value) {
  const float nearest = std::nearbyintf(value);
  return static_cast<int8_t>(nearest >= 127       ? 127
                             : nearest <= -128    ? -128
                             : nearest == nearest ? nearest
                                                  : 0);
}

// y / scale, which the hardware narrows to float16 whatever the dtype of y is.
void quantise(const void *rows, aclDataType dtype, int64_t count, const std::vector<float> &scale,
              int8_t *out) {
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    float values[kStep];
    uint16_t narrow[kStep];
    for (int64_t i = begin; i < end; i += kStep) {
      const int64_t n = std::min(kStep, end - i);
      load_f32(rows, dtype, i, 1, n, values);
      for (int64_t j = 0; j < n; ++j) values[j] /= scale[static_cast<size_t>(i + j) % scale.size()];
      store_f32(values, narrow, ACL_FLOAT16, 0, 1, n);
      load_f32(narrow, ACL_FLOAT16, 0, 1, n, values);
      for (int64_t j = 0; j < n; ++j) out[i + j] = to_int8(values[j]);
    }
  });
}

}  // namespace

uint64_t low_bit_workspace(int64_t count, uint32_t ranks) {
  const uint64_t piece = (static_cast<uint64_t>(count) + ranks - 1) / ranks;
  return aligned(static_cast<uint64_t>(count)) + aligned(piece * ranks);
}

Status low_bit_all_reduce(hccl::Session &session, uint32_t rank, uint32_t ranks, void *rows,
                          aclDataType dtype, int64_t count, const LowBitScales &scales,
                          void *workspace) {
  const auto total = static_cast<uint64_t>(count), piece = (total + ranks - 1) / ranks;
  auto *own = static_cast<int8_t *>(workspace);
  int8_t *received = own + aligned(total);
  quantise(rows, dtype, count, scales.first, own);
  std::vector<hccl::Block> pieces(ranks), from(ranks);
  for (uint32_t r = 0; r < ranks; ++r) {
    const uint64_t begin = std::min(total, r * piece);
    pieces[r] = {std::min(total, begin + piece) - begin, begin};
  }
  for (uint32_t r = 0; r < ranks; ++r) from[r] = {pieces[rank].bytes, r * piece};
  if (const Status s = session.all_to_all_v(own, pieces, received, from)) return s;
  // Everyone has read its piece of `own` by now: the sums go there.
  const auto first = static_cast<int64_t>(pieces[rank].offset),
             length = static_cast<int64_t>(pieces[rank].bytes);
  parallel_for(length, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int32_t sum = 0;
      for (uint32_t r = 0; r < ranks; ++r) sum += received[r * piece + static_cast<uint64_t>(i)];
      const size_t column = static_cast<size_t>(first + i) % scales.first.size();
      own[first + i] =
          to_int8(static_cast<float>(sum) * (scales.first[column] / scales.second[column]));
    }
  });
  if (const Status s = session.all_gather_v(own + first, own, pieces)) return s;
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    float values[kStep];
    for (int64_t i = begin; i < end; i += kStep) {
      const int64_t n = std::min(kStep, end - i);
      for (int64_t j = 0; j < n; ++j) {
        values[j] = static_cast<float>(own[i + j]) *
                    scales.second[static_cast<size_t>(i + j) % scales.second.size()];
      }
      store_f32(values, rows, dtype, i, 1, n);
    }
  });
  return 0;
}

}  // namespace emu
