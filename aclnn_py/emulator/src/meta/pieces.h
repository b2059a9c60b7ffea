// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "meta/executor.h"

namespace emu {

// Calls f(start, nbytes) for the pieces of memory a tensor consists of, until it returns false.
template <class F>
void each_piece(const PlanTensor &entry, F f) {
  const aclTensor &tensor = entry.tensor;
  int64_t low = 0, high = 0;
  if (!entry.present || tensor.data == nullptr || !tensor.reach(&low, &high)) return;
  const char *base = static_cast<const char *>(tensor.data);
  const int64_t bits = dtype_bits(tensor.dtype);
  // From `inner` on the elements follow each other.
  size_t inner = tensor.shape.size();
  int64_t length = 1;
  while (inner > 0 && (tensor.shape[inner - 1] == 1 || tensor.strides[inner - 1] == length)) {
    length *= tensor.shape[--inner];
  }
  if (inner == 0 || bits % 8 != 0) {
    f(base + low, static_cast<size_t>(high - low));
    return;
  }
  int64_t index[Dims::kMax] = {};
  for (;;) {
    int64_t at = tensor.offset;
    for (size_t i = 0; i < inner; ++i) at += index[i] * tensor.strides[i];
    if (!f(base + at * bits / 8, static_cast<size_t>(length * bits / 8))) return;
    size_t i = inner;
    while (i > 0 && ++index[i - 1] == tensor.shape[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

}  // namespace emu
