// SPDX-License-Identifier: Apache-2.0
// Attention of training and its gradients.
#include "ops/attention/training/training.h"

namespace {

constexpr emu::TrainingForm kForward{}, kPacked{false, true, false}, kUnited{false, false, true},
    kGradient{true, false, false}, kPackedGradient{true, true, false},
    kUnitedGradient{true, false, true};

}  // namespace

EMU_VERSIONS(FlashAttentionScore, V2, V3) {
  return emu::plan_training(call, kForward, workspaceSize, executor);
}
EMU_CALL(FlashAttentionScoreV4) {
  return emu::plan_training(call, kUnited, workspaceSize, executor);
}
EMU_VERSIONS(FlashAttentionVarLenScore, V2, V3, V4, V5) {
  return emu::plan_training(call, kPacked, workspaceSize, executor);
}

EMU_VERSIONS(FlashAttentionScoreGrad, V2, V3) {
  return emu::plan_training(call, kGradient, workspaceSize, executor);
}
EMU_CALL(FlashAttentionScoreGradV4) {
  return emu::plan_training(call, kUnitedGradient, workspaceSize, executor);
}
EMU_VERSIONS(FlashAttentionUnpaddingScoreGrad, V2, V3, V4, V5) {
  return emu::plan_training(call, kPackedGradient, workspaceSize, executor);
}
