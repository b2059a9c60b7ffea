// SPDX-License-Identifier: Apache-2.0
// What one rank contributes to a reduction: its product, finished step by step as the hardware does
// it. Each step that the hardware rounds is rounded here, unless the reduction is asked to round
// once at its end.
#pragma once

#include <vector>

#include "core/status.h"
#include "hccl/reduce.h"
#include "ops/matmul/gemm.h"

namespace emu {

// Scales of an int8 product, as float32.
struct Dequantisation {
  std::vector<float> scale;     // one value, or one per column; empty: no integer product
  std::vector<float> pertoken;  // one per row, or empty
};

// product (+ bias) -> dequantised -> rounded -> + x3 -> rounded, as dense rows in `dtype`. A null
// `data` leaves a term out. An int32 bias is added to the int32 sums, a floating one to what an
// integer product was dequantised to.
struct Contribution {
  Matrix left, right;
  Matrix bias;
  Matrix x3;
  Dequantisation dequantisation;
  void *rows = nullptr;
  aclDataType dtype = ACL_FLOAT16;  // ACL_FLOAT: nothing is rounded yet
};
void contribute(const Contribution &contribution);

// The dtype in which contributions to an output of dtype `output` travel: its own, or ACL_FLOAT
// where ACLNN_PY_REDUCE=fp32 asks for one rounding at the end. 561000 for another value of the
// variable.
Status travelling_dtype(const char *op, aclDataType output, aclDataType *travelling);

// The sum in that dtype; each partial sum is rounded to it.
hccl::ReduceType sum_of(aclDataType dtype);

}  // namespace emu
