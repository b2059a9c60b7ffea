// SPDX-License-Identifier: Apache-2.0
// Powers as loops over float64 blocks.
#pragma once

#include <algorithm>

#include "ops/convert.h"
#include "ops/vector_math.h"

namespace emu {

inline void wide_power_block(void *out, const void *const *in, int64_t count, const void *) {
  wide_pow(static_cast<const double *>(in[0]), static_cast<const double *>(in[1]), count,
           static_cast<double *>(out));
}

// To the power of a number.
inline void wide_power_to_block(void *out, const void *const *in, int64_t count,
                                const void *scalars) {
  const auto *x = static_cast<const double *>(in[0]);
  const double y = *static_cast<const double *>(scalars);
  auto *to = static_cast<double *>(out);
  double same[kBlock];
  std::fill_n(same, count, y);
  wide_pow(x, same, count, to);
}

// Of a number.
inline void wide_power_of_block(void *out, const void *const *in, int64_t count,
                                const void *scalars) {
  double same[kBlock];
  std::fill_n(same, count, *static_cast<const double *>(scalars));
  wide_pow(same, static_cast<const double *>(in[0]), count, static_cast<double *>(out));
}

}  // namespace emu
