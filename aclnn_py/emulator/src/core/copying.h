// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace emu {

// A copy of at least this many bytes does not stay in a cache until it is read.
constexpr size_t kPastCaches = size_t{4} << 20;

// Copies with stores that bypass the caches: the memory at `to` is not read first, and cached data
// is not evicted. The C library does this only above a fraction of the last-level cache, on many
// machines far above kPastCaches. A thread that learns of the copy through an atomic variable sees
// the result.
void copy_past_caches(void *to, const void *from, size_t bytes);

// Several such copies of one thread: their results are seen after its end.
class PastCaches {
 public:
  PastCaches() = default;
  PastCaches(const PastCaches &) = delete;
  PastCaches &operator=(const PastCaches &) = delete;
  ~PastCaches();

  void copy(void *to, const void *from, size_t bytes);
};

}  // namespace emu
