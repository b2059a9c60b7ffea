// SPDX-License-Identifier: Apache-2.0
// Loops that call functions of the C library which take and give registers of float64.
#pragma once

#include <cstdint>

namespace emu {

struct VectorCalls {
  const char *prefix;  // of the names of such functions; null: the machine has none
  // to[i] = function(from[i]); `to` may be `from`.
  void (*each)(void *function, const double *from, int64_t count, double *to);
  // to[i] = function(x[i], y[i]); `to` may be `x` or `y`.
  void (*pairs)(void *function, const double *x, const double *y, int64_t count, double *to);
};

}  // namespace emu
