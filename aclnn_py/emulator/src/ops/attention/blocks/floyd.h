// SPDX-License-Identifier: Apache-2.0
// What FusedFloydAttention and its gradient share.
#pragma once

#include <limits>

#include "ops/attention/attention.h"

namespace emu {

constexpr int64_t kFloydLanes = 8;  // the statistics of a row lie in the memory this often
constexpr float kFloydMasked = std::numeric_limits<float>::lowest();

struct FloydSizes {
  int64_t batch, heads, n, m, k, width;

  Layout statistics() const {
    const int64_t shape[] = {batch, heads, n, m, kFloydLanes};
    return dense_layout(shape, 5);
  }
};

// The query, the keys and values of both sides of a pair, and the mask.
struct FloydOperands {
  const aclTensor *key1, *value1, *key2, *value2;
};
FloydSizes check_floyd(Check &check, const aclTensor *query, const FloydOperands &operands,
                       const aclTensor *mask);

}  // namespace emu
