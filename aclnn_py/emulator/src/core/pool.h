// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace emu {

namespace pool_detail {
using Body = void (*)(void *context, int64_t begin, int64_t end);
void share_out(int64_t n, int64_t grain, Body body, void *context);
}  // namespace pool_detail

// Threads one parallel_for may use, the caller included: ACLNN_PY_THREADS, else the processors this
// process may run on divided by the ranks of this host (LOCAL_WORLD_SIZE and its kin), at least
// one.
int parallel_width();

// Calls f(begin, end) on pieces of [0, n) that are at least `grain` long (the last one excepted),
// on the caller and on idle threads of the process-wide pool, and returns when all is done. Waits
// block, they never spin, so ranks that share processors do not starve each other. A call from
// inside f runs inline. An exception thrown by f reaches the caller.
template <class F>
void parallel_for(int64_t n, int64_t grain, F &&f) {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  if (n <= grain || parallel_width() == 1) {
    f(int64_t{0}, n);
    return;
  }
  using Target = std::remove_reference_t<F>;
  pool_detail::share_out(
      n, grain,
      [](void *context, int64_t begin, int64_t end) {
        (*static_cast<Target *>(context))(begin, end);
      },
      const_cast<void *>(static_cast<const void *>(std::addressof(f))));
}

}  // namespace emu
