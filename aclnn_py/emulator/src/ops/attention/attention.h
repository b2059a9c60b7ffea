// SPDX-License-Identifier: Apache-2.0
// Attention of inference: the arguments all its operators share, what phase one makes of them, and
// the kernel.
#pragma once

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "calls/attention.h"

namespace emu {

// What an operator takes its query for.
// one token is a step; always a prompt; always one token
enum class AttentionKind { kEither, kPrompt, kStep };

// Which layouts an operator knows: BSH, BSND, BNSD and BNSD_BSND; also TND; also those that turn
// the result and those with heads before packed tokens.
enum class AttentionLayouts { kFour, kPacked, kAll };

// How the operators of AttentionCall differ.
struct AttentionForm {
  AttentionKind kind = AttentionKind::kEither;
  AttentionLayouts layouts = AttentionLayouts::kFour;
  bool relaxed = false;  // more heads per group and more sizes of pages
};

// An argument of an operator's definition as a Named.
#define EMU_ARGUMENT(NAME) {#NAME, NAME}

// Where the dimensions of a tensor are. In kHidden (BSH) the heads lie side by side in the last
// one; in kPacked (TND) and kPackedHeads (NTD) the tokens of all sequences follow each other;
// kHeadsOutside is NBSD; kBlocks are pages in blocks of 32 bytes of a head: (pages, heads, blocks,
// tokens, elements).
enum class Arrangement {
  kHidden,
  kTokensFirst,
  kHeadsFirst,
  kHeadsOutside,
  kPacked,
  kPackedHeads,
  kBlocks
};

constexpr bool is_packed(Arrangement form) {
  return form == Arrangement::kPacked || form == Arrangement::kPackedHeads;
}

// The keys that token s of the query meets are those from s - before to s + after, both included.
struct Band {
  int64_t before, after;
};

// What the factors of quantised numbers belong to.
enum class FactorForm : uint8_t {
  kNone,
  kTensor,
  kChannel,  // of one head
  kToken,    // of a sequence
  kHead,
  kTokenHead,
  kPageToken,  // a place of a page
  kPageTokenHead,
  kTokenGroup  // 32 elements of a head
};

// Numbers become (number + offset) * scale.
struct Factors {
  FactorForm form = FactorForm::kNone;
  int64_t first = 0;   // where they begin in tensors that have those of keys and of values
  int64_t tokens = 0;  // for which forms with tokens have room
  size_t scale_at = kAbsent, offset_at = kAbsent;
};

// A valid call without addresses.
struct Attention {
  const char *op;
  int64_t batch = 0, heads = 0, kv_heads = 0;
  int64_t width = 0, value_width = 0, rope_width = 0;  // of one head; the rotary part may be 0
  int64_t queries = 0, keys = 0;                       // tokens of the longest sequence
  Arrangement query_form, key_form, prefix_form, out_form;
  bool listed = false;     // keys and values are one tensor per sequence
  int64_t block_size = 0;  // tokens of a page of the cache; 0 without pages
  int64_t prefix = 0;      // tokens before those of each sequence
  // with the prefix
  std::vector<int64_t> query_lengths, key_lengths;
  // where sequences begin that are packed; else empty
  std::vector<int64_t> query_starts, key_starts;
  std::vector<Band> bands;
  // Keys at the beginning of each sequence that all its tokens meet, besides the band; or empty.
  std::vector<int64_t> reach;
  bool one_mask_row = false;  // the mask has one row per sequence, whatever its rank
  bool triangle = false;      // the mask is the triangle that stands for any causal mask or band
  bool tree = false;          // the mask is about the last tokens of each sequence only
  bool clear_masked_rows = false;
  bool step = false;
  // The tokens of each sequence end before a padding.
  bool query_padded = false, keys_padded = false;
  bool quantised = false;  // query, keys, values and powers are all INT8
  Factors key_factors, value_factors;
  bool channel_results = false;  // results are quantised with a factor for each element of a token
  float scale = 1.0f;
  bool nothing = false;  // there is no result to compute

  bool with_lse = false;
  bool lse_heads_first = false;  // that of packed sequences has the heads in front of the tokens
  // Positions in the plan.
  size_t query_at, key_at, value_at, pse_at, mask_at, out_at;
  size_t dequant1_at = kAbsent, quant1_at = kAbsent, dequant2_at = kAbsent, quant2_at = kAbsent,
         offset2_at = kAbsent, table_at = kAbsent, query_padding_at = kAbsent,
         kv_padding_at = kAbsent, key_prefix_at = kAbsent, value_prefix_at = kAbsent,
         query_rope_at = kAbsent, key_rope_at = kAbsent, query_scale_at = kAbsent,
         sink_at = kAbsent, lse_at = kAbsent;

  int64_t group() const { return heads / kv_heads; }
  bool packed() const { return is_packed(query_form); }
};

// Phase one without the plan: 161001 for nulls, 161002 for dtypes, formats and strides, 561002 for
// the rest.
Status check_attention(const AttentionCall &call, AttentionForm form, Attention *attention);

// Runs on the worker of the stream.
Status run_attention(const Attention &attention, PlanContext &context);

// Both, with the plan between them.
Status plan_attention(AttentionCall &call, AttentionForm form, uint64_t *workspace_size,
                      aclOpExecutor **executor);

}  // namespace emu
