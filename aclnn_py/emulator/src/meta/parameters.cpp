// SPDX-License-Identifier: Apache-2.0
#include "meta/parameters.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace emu {
namespace {

constexpr TensorParameter kParameters[] = {
#include "op_tensors.inc"
};

// Operators whose C interface CANN generates from the kernel. Sorted.
constexpr const char *kGenerated[] = {
    "aclnnApplyRotaryPosEmb",
    "aclnnApplyRotaryPosEmbV2",
    "aclnnForeachACosInplace",
    "aclnnForeachAbs",
    "aclnnForeachAcos",
    "aclnnForeachAddListInplace",
    "aclnnForeachAddScalar",
    "aclnnForeachAddScalarList",
    "aclnnForeachAddcdivList",
    "aclnnForeachAddcmulList",
    "aclnnForeachAddcmulScalar",
    "aclnnForeachAddcmulScalarList",
    "aclnnForeachAsin",
    "aclnnForeachAtan",
    "aclnnForeachCos",
    "aclnnForeachCosh",
    "aclnnForeachDivListInplace",
    "aclnnForeachDivScalarList",
    "aclnnForeachErf",
    "aclnnForeachErfc",
    "aclnnForeachExp",
    "aclnnForeachExpm1",
    "aclnnForeachLog",
    "aclnnForeachLog10",
    "aclnnForeachLog1p",
    "aclnnForeachLog2",
    "aclnnForeachLogInplace",
    "aclnnForeachMaximumList",
    "aclnnForeachMaximumScalar",
    "aclnnForeachMaximumScalarList",
    "aclnnForeachMinimumList",
    "aclnnForeachMinimumScalar",
    "aclnnForeachMinimumScalarList",
    "aclnnForeachMulListInplace",
    "aclnnForeachMulScalar",
    "aclnnForeachMulScalarInplace",
    "aclnnForeachMulScalarList",
    "aclnnForeachNeg",
    "aclnnForeachPowList",
    "aclnnForeachPowScalar",
    "aclnnForeachPowScalarList",
    "aclnnForeachReciprocal",
    "aclnnForeachSigmoid",
    "aclnnForeachSign",
    "aclnnForeachSin",
    "aclnnForeachSinh",
    "aclnnForeachSubList",
    "aclnnForeachSubListInplace",
    "aclnnForeachSubScalar",
    "aclnnForeachSubScalarInplace",
    "aclnnForeachSubScalarList",
    "aclnnForeachTan",
    "aclnnForeachTanh",
    "aclnnForeachZeroInplace",
    "aclnnIsInf",
    "aclnnRmsNorm",
    "aclnnRotaryPositionEmbedding",
    "aclnnSquaredRelu",
    "aclnnSwiGlu",
};

// Operators whose phase one is written by hand and hands everything to a generated one with more
// parameters. The fused operators of collectives are such too; their WorkspaceRule tells.
constexpr const char *kWrapped[] = {"aclnnFusedInferAttentionScore", "aclnnIncreFlashAttention",
                                    "aclnnPromptFlashAttention"};

struct ByOperator {
  bool operator()(const TensorParameter &row, const char *op) const {
    return std::strcmp(row.op, op) < 0;
  }
  bool operator()(const char *op, const TensorParameter &row) const {
    return std::strcmp(op, row.op) < 0;
  }
};

}  // namespace

TensorParameters find_tensor_parameters(const char *op) {
  const auto [first, last] =
      std::equal_range(std::begin(kParameters), std::end(kParameters), op, ByOperator());
  return {first, static_cast<int32_t>(last - first)};
}

ExecutorKind executor_kind(const char *op) {
  for (const char *family : kWrapped) {
    if (std::strncmp(op, family, std::strlen(family)) == 0) return ExecutorKind::wrapped;
  }
  const bool generated =
      std::binary_search(std::begin(kGenerated), std::end(kGenerated), op,
                         [](const char *a, const char *b) { return std::strcmp(a, b) < 0; });
  return generated ? ExecutorKind::generated : ExecutorKind::composed;
}

}  // namespace emu
