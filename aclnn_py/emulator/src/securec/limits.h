// SPDX-License-Identifier: Apache-2.0
// What the functions of libc_sec share: the largest sizes, and whether objects overlap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "securec.h"

namespace emu::securec {

template <class T>
bool usable_size(size_t size) {
  return size != 0 && size <= SECUREC_MEM_MAX_LEN / sizeof(T);
}

// Whether [a, a + count) and [b, b + count) share an element. The addresses are compared as
// numbers: they may belong to different objects.
template <class T>
bool overlap(const T *a, size_t a_count, const T *b, size_t b_count) {
  const auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x < y + b_count * sizeof(T) && y < x + a_count * sizeof(T);
}

}  // namespace emu::securec
