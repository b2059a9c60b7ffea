// SPDX-License-Identifier: Apache-2.0
// Grouped products with a gated unit and quantisation: one argument set behind all versions.
#pragma once

#include <vector>

#include "ops/gmm/low_bits.h"

namespace emu {

struct SwigluQuantCall {
  const char *op;
  bool first;  // the first version: single tensors, the help of the weight is called bias
  Blocks blocks;
  const aclTensor *x;
  std::vector<const aclTensor *> weight, scale, help;
  const aclTensor *x_scale, *smooth, *groups;
  int64_t dequant_mode, dequant_dtype, quant_mode, list_type;
  const aclTensor *output, *output_scale;
};

// What the checks found out.
struct SwigluQuantProblem {
  SwigluQuantCall call;
  int64_t experts = 0, rows = 0, depth = 0, columns = 0;
  int64_t pieces = 1;   // of the depth, each with its own scales
  bool halves = false;  // rows of INT8 with a weight of INT4
};

// Every rule of phase one behind nulls and lists.
Status check_swiglu_quant(SwigluQuantProblem *problem);

// Phase two. Indices are those of the plan.
struct SwigluQuantJob {
  const char *op;
  Blocks blocks;
  size_t x, weight, scale, help, x_scale, smooth, groups, output, output_scale;
  bool has_help, has_smooth;
  size_t tensors;  // of weight, scale and help; 1 holds all groups
  int64_t list_type, experts, rows, columns, pieces;
};
Status run_swiglu_quant(const SwigluQuantJob &job, PlanContext &context);

}  // namespace emu
