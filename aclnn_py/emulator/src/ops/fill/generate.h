// SPDX-License-Identifier: Apache-2.0
// Elements made from their position.
#pragma once

#include "ops/op.h"

namespace emu {

// Writes value(i) for every element i of `out`, in blocks.
template <class T, class F>
void generate(const View &out, F &&value) {
  const Writer writer(out, compute_of<T>(), ACL_DT_UNDEFINED);
  parallel_for(out.count(), 32 * kBlock, [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kBlock * sizeof(T)];
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = end - start < kBlock ? end - start : kBlock;
      auto *block = static_cast<T *>(writer.target(start, scratch));
      for (int64_t i = 0; i < count; ++i) block[i] = value(start + i);
      writer.write(start, count, block);
    }
  });
}

}  // namespace emu
