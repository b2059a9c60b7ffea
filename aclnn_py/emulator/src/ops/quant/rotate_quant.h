// SPDX-License-Identifier: Apache-2.0
// RotateQuant: rows of integers with a scale of their own, or blocks with a power of two.
#pragma once

#include "ops/op.h"

namespace emu {

constexpr const char *kRotateQuant = "aclnnRotateQuant";

struct RotateArguments {
  const aclTensor *x, *rotation, *alpha;
  int64_t axis;
  const char *mode;
  int64_t algorithm;
  double highest;
  bool transposed;
  const aclTensor *y, *scale;
};

// What chips of the 950 series do.
Status plan_rotate_mx_quant(const RotateArguments &arguments, uint64_t *workspace_size,
                            aclOpExecutor **executor);

}  // namespace emu
