// SPDX-License-Identifier: Apache-2.0
// Attention of inference: the arguments all its operators share, what phase one makes of them, and
// the kernel.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace emu {

// An argument under the name its operator has for it; versions of one operator differ in their
// names.
template <class T>
struct Named {
  const char *name;
  const T *given;

  explicit operator bool() const { return given != nullptr; }
  const T *operator->() const { return given; }
};

// What an operator takes its query for.
// one token is a step; always a prompt; always one token
enum class AttentionKind { kEither, kPrompt, kStep };

// Keys or values: a list, or the one tensor of an operator that takes no list.
struct AttentionSide {
  const aclTensorList *list = nullptr;
  const aclTensor *tensor = nullptr;
};

struct AttentionCall {
  const char *op;
  AttentionKind kind;
  const aclTensor *query;
  AttentionSide key, value;
  Named<aclTensor> pse, mask;
  Named<aclIntArray> query_lengths, key_lengths;
  // What belongs to forms that the emulator does not compute, in the order of the operator: the
  // arguments before blockTable and those behind it.
  std::vector<Named<aclTensor>> absent, later_absent;
  Named<aclTensor> block_table;
  Named<aclIntArray> prefix_length;
  int64_t heads, kv_heads;
  double scale;
  int64_t before, after;  // preTokens, nextTokens
  const char *layout;
  int64_t sparse_mode, inner_precise, block_size;
  bool with_lse, takes_packed;
  const aclTensor *out;
  Named<aclTensor> lse;
};

// An argument of the operator's definition as a Named.
#define EMU_ARGUMENT(NAME) {#NAME, NAME}

// Where the dimensions of a tensor are. In kHidden (BSH) the heads lie side by side in the last
// one; in kPacked (TND) the tokens of all sequences follow each other.
enum class Arrangement { kHidden, kTokensFirst, kHeadsFirst, kPacked };

// The keys that token s of the query meets are those from s - before to s + after, both included.
struct Band {
  int64_t before, after;
};

// A valid call without addresses.
struct Attention {
  const char *op;
  int64_t batch = 0, heads = 0, kv_heads = 0, width = 0;  // width: of one head
  int64_t queries = 0, keys = 0;                          // tokens of the longest sequence
  Arrangement query_form, key_form, out_form;
  bool listed = false;     // keys and values are one tensor per sequence
  int64_t block_size = 0;  // tokens of a page of the cache; 0 without pages
  std::vector<int64_t> query_lengths, key_lengths;
  // where sequences begin that are packed; else empty
  std::vector<int64_t> query_starts, key_starts;
  std::vector<Band> bands;
  bool one_mask_row = false;  // the mask has one row per sequence, whatever its rank
  bool triangle = false;      // the mask is the triangle that stands for any causal mask or band
  bool clear_masked_rows = false;
  float scale = 1.0f;
  bool nothing = false;  // there is no result to compute

  bool with_lse = false;
  // Positions in the plan.
  size_t query_at, key_at, value_at, pse_at, mask_at, table_at = 0, out_at, lse_at = 0;

  int64_t group() const { return heads / kv_heads; }
  bool packed() const { return query_form == Arrangement::kPacked; }
};

// Phase one without the plan: 161001 for nulls, 161002 for dtypes, formats and strides, 561002 for
// the rest.
Status check_attention(const AttentionCall &call, Attention *attention);

// Runs on the worker of the stream.
Status run_attention(const Attention &attention, PlanContext &context);

// Both, with the plan between them.
Status plan_attention(const AttentionCall &call, uint64_t *workspace_size,
                      aclOpExecutor **executor);

}  // namespace emu
