// SPDX-License-Identifier: Apache-2.0
// Elements made from their position.
#pragma once

#include "core/pool.h"
#include "ops/op.h"

namespace emu {

// Values are rounded to `via` first, where it is given.
// Has fill(start, count, block) make the elements [start, start + count) of `out`, in blocks, up to
// the first `total`.
template <class T, class F>
void generate_blocks(const View &out, int64_t total, F &&fill, aclDataType via = ACL_DT_UNDEFINED) {
  const Writer writer(out, compute_of<T>(), via);
  parallel_for(total, 32 * kBlock, [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kBlock * sizeof(T)];
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = end - start < kBlock ? end - start : kBlock;
      auto *block = static_cast<T *>(writer.target(start, scratch));
      fill(start, count, block);
      writer.write(start, count, block);
    }
  });
}

// Writes value(i) for every element i of `out`.
template <class T, class F>
void generate(const View &out, F &&value, aclDataType via = ACL_DT_UNDEFINED) {
  generate_blocks<T>(
      out, out.count(),
      [&](int64_t start, int64_t count, T *block) {
        for (int64_t i = 0; i < count; ++i) block[i] = value(start + i);
      },
      via);
}

}  // namespace emu
