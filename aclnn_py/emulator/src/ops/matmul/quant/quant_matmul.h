// SPDX-License-Identifier: Apache-2.0
// The family aclnnQuantMatmul to V5, aclnnQuantMatmulWeightNz and aclnnFusedQuantMatmul with its
// form for a weight in blocks: one set of arguments, one set of rules, one kernel. What a version
// has no parameter for stays null.
#pragma once

#include "ops/op.h"

namespace emu {

// As bits, so that a table can name several.
enum QuantMatmulVersion : uint8_t {
  kQuantMatmulV3 = 1,
  kQuantMatmulV4 = 2,
  kQuantMatmulV5 = 4,
  kQuantMatmulNz = 8,
  kQuantMatmulFirst = 16,  // one scale, which is a number
  kQuantMatmulV2 = 32,
  kFusedQuantMatmul = 64,  // with gelu behind it
  kFusedQuantMatmulNz = 128,
};

struct QuantMatmulNames {
  const char *x1_scale, *x2_scale, *y_scale, *x1_offset, *x2_offset, *y_offset, *bias;
};

struct QuantMatmulCall {
  const char *op;
  QuantMatmulVersion version;
  QuantMatmulNames names;
  const aclTensor *x1, *x2;
  const aclTensor *x1_scale = nullptr, *x2_scale = nullptr, *y_scale = nullptr;
  const aclTensor *x1_offset = nullptr, *x2_offset = nullptr, *y_offset = nullptr;
  const aclTensor *bias = nullptr;
  bool transpose_x1 = false, transpose_x2 = false;
  int64_t group_size = 0;
  const aclTensor *out = nullptr;
  float scale = 1;                   // of the first version
  const char *fused_type = nullptr;  // of the fused versions
  const aclTensor *fused = nullptr;  // x3Optional, which must be null
};

// What follows the scales, before the one rounding.
enum class FusedType : uint8_t { kNone, kGeluErf, kGeluTanh };

// Over which values a scale reaches.
enum class QuantMatmulMode : uint8_t {
  kWhole,       // rows and columns: x1Scale (1) or (m), x2Scale (1) or (n)
  kBlocks,      // blocks of both matrices: x1Scale (m, k / 128), x2Scale (n / 128, k / 128)
  kTokenGroup,  // x1Scale (m, 1); x2Scale and x2Offset for each 256 of k and each column
};

// What the rules found out. An operand's shape is that of its numbers, before a transposition.
struct QuantMatmulProblem {
  QuantMatmulCall call;
  QuantMatmulMode mode = QuantMatmulMode::kWhole;
  int64_t m = 0, n = 0, k = 0;
  FusedType fused = FusedType::kNone;
  bool nothing = false;  // the result has no element
};

// Every rule of phase one: 161001, then 161002.
Status check_quant_matmul(QuantMatmulProblem *problem);
// The rules, and the plan.
Status plan_quant_matmul(const QuantMatmulCall &call, uint64_t *workspace_size,
                         aclOpExecutor **executor);

}  // namespace emu
