// SPDX-License-Identifier: Apache-2.0
// What losses share: the reduction, and the plan of a loss of elements.
#pragma once

#include "ops/elementwise/engine.h"

namespace emu {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

inline Check &reduction_known(Check &check, int64_t reduction) {
  return check.that(reduction >= kNone && reduction <= kSum,
                    "reduction is %lld; allowed: 0 (none), 1 (mean), 2 (sum)",
                    static_cast<long long>(reduction));
}

// The losses of the elements, or their sum or mean in a tensor without dimensions (`fold` says
// otherwise).
inline Status plan_loss(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                        int64_t reduction, Fold fold, aclTensor *out, uint64_t *workspace_size,
                        aclOpExecutor **executor) {
  if (reduction == kNone) return elementwise(row, arguments, out, workspace_size, executor);
  fold.mean = reduction == kMean;
  return elementwise_folded(row, arguments, fold, out, workspace_size, executor);
}

// What the gradient of a loss is divided by: the number of elements of a tensor, for a mean.
inline Argument divisor(int64_t reduction, const aclTensor *counted) {
  return number(reduction == kMean ? static_cast<double>(counted->numel()) : 1.0);
}

}  // namespace emu
