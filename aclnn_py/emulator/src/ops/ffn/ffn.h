// SPDX-License-Identifier: Apache-2.0
// Feed-forward blocks, two products with an activation between, for each expert: one argument set
// behind all versions.
#pragma once

#include <vector>

#include "ops/op.h"

namespace emu {

enum class FfnMode { kFloat, kInt8, kAntiquant };

struct FfnCall {
  const char *op;
  const char *const *names;  // of the optional parameters, in C order; see ffn.cpp
  const aclTensor *x, *weight[2];
  const aclIntArray *token_array;  // versions 1 and 2
  const aclTensor *token_tensor;   // version 3
  bool tensor_tokens;              // the version has a tensor here
  const aclTensor *bias[2], *scale, *offset, *dequant[2], *antiquant_scale[2], *antiquant_offset[2];
  const char *activation;
  int64_t precision;
  bool ends;  // tokens of experts are where they end, not how many there are
  const aclTensor *y;
};

// What the checks found out.
struct FfnProblem {
  FfnCall call;
  FfnMode mode = FfnMode::kFloat;
  bool experts = false;  // weights and what belongs to them have an entry for each expert
  int64_t groups = 1, rows = 0, width = 0, hidden = 0;
  int64_t activation = 0;  // of `activate`
};

// Every rule of phase one.
Status check_ffn(FfnProblem *problem);

}  // namespace emu
