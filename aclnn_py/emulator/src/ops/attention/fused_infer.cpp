// SPDX-License-Identifier: Apache-2.0
// Attention of inference. The second version of FusedInferAttentionScore adds separate factors of
// keys and values and a shared prefix, the third rotary parts, the fourth factors of the query and
// a sink, the fifth the starts of sequences, which matter to no pseType of inference.
#include "ops/attention/attention.h"

namespace {

using Kind = emu::AttentionKind;
using Layouts = emu::AttentionLayouts;

}  // namespace

EMU_CALL(FusedInferAttentionScore) {
  return emu::plan_attention(call, {}, workspaceSize, executor);
}
EMU_CALL(FusedInferAttentionScoreV2) {
  return emu::plan_attention(call, {Kind::kEither, Layouts::kPacked}, workspaceSize, executor);
}
EMU_CALL(FusedInferAttentionScoreV3) {
  return emu::plan_attention(call, {Kind::kEither, Layouts::kAll}, workspaceSize, executor);
}
EMU_CALL(FusedInferAttentionScoreV4) {
  return emu::plan_attention(call, {Kind::kEither, Layouts::kAll, true}, workspaceSize, executor);
}
EMU_CALL(FusedInferAttentionScoreV5) {
  return emu::plan_attention(call, {Kind::kEither, Layouts::kAll, true}, workspaceSize, executor);
}

// Prompts, whose keys and values are one tensor each.
EMU_VERSIONS(PromptFlashAttention, V2, V3) {
  return emu::plan_attention(call, {Kind::kPrompt}, workspaceSize, executor);
}

// One token over the keys and values before it.
EMU_VERSIONS(IncreFlashAttention, V2, V3, V4) {
  return emu::plan_attention(call, {Kind::kStep}, workspaceSize, executor);
}
