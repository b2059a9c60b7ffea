// SPDX-License-Identifier: Apache-2.0
// Powers of integers: all elements of a part are squared as often as the largest exponent asks, so
// that the compiler makes vectors of them.
#pragma once

#include <algorithm>

#include "ops/elementwise/block.h"
#include "ops/elementwise/formula.h"

namespace emu {
namespace integer_detail {

template <class T>
[[gnu::always_inline]] inline void power_part(const T *x, const T *exponent, int64_t step,
                                              int64_t count, T *out) {
  using Wrapped = std::make_unsigned_t<T>;
  constexpr int64_t kPart = 256;
  Wrapped base[kPart], result[kPart], rest[kPart];
  for (int64_t start = 0; start < count; start += kPart) {
    const int64_t part = std::min(kPart, count - start);
    Wrapped all = 0;
    for (int64_t i = 0; i < part; ++i) {
      base[i] = static_cast<Wrapped>(x[start + i]);
      rest[i] = static_cast<Wrapped>(exponent[(start + i) * step]);
      result[i] = 1;
      all |= rest[i];
    }
    if (static_cast<T>(all) < 0) {  // negative exponents have rules of their own
      for (int64_t i = 0; i < part; ++i) {
        out[start + i] = power(static_cast<T>(base[i]), static_cast<T>(rest[i]));
      }
      continue;
    }
    for (; all != 0; all >>= 1) {
      for (int64_t i = 0; i < part; ++i) {
        const Wrapped product = result[i] * base[i];
        result[i] = (rest[i] & 1) != 0 ? product : result[i];
        base[i] *= base[i];
        rest[i] >>= 1;
      }
    }
    for (int64_t i = 0; i < part; ++i) out[start + i] = static_cast<T>(result[i]);
  }
}

template <class T, int kTensors>
[[gnu::always_inline]] inline void powers(void *out, const void *const *in, int64_t count,
                                          const void *scalars) {
  const auto *exponent = static_cast<const T *>(kTensors == 2 ? in[1] : scalars);
  power_part(static_cast<const T *>(in[0]), exponent, kTensors == 2 ? 1 : 0, count,
             static_cast<T *>(out));
}

template <class T, int kTensors>
void in_blocks(void *out, const void *const *in, int64_t count, const void *scalars) {
  powers<T, kTensors>(out, in, count, scalars);
}
template <class T, int kTensors>
EMU_DIRECT_TARGET void in_memory(void *out, const void *const *in, int64_t count,
                                 const void *scalars) {
  powers<T, kTensors>(out, in, count, scalars);
}

}  // namespace integer_detail

// For a table of powers, of which the second tensor or the scalar is the exponent.
template <int kTensors>
constexpr BlockTable with_integer_powers(BlockTable table) {
  table.fn[static_cast<int>(Compute::I32)] = integer_detail::in_blocks<int32_t, kTensors>;
  table.fn[static_cast<int>(Compute::I64)] = integer_detail::in_blocks<int64_t, kTensors>;
  table.direct.fn[direct_index(ACL_INT32)] = integer_detail::in_memory<int32_t, kTensors>;
  table.direct.fn[direct_index(ACL_INT64)] = integer_detail::in_memory<int64_t, kTensors>;
  return table;
}

}  // namespace emu
