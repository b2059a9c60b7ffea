// SPDX-License-Identifier: Apache-2.0
// Attention over sequences whose lengths are tensors, in the kernel of inference.
#pragma once

#include "ops/attention/attention.h"

namespace emu {

// maskMode of FlashAttn.
constexpr int64_t kFlashWhole = 0, kFlashCausal = 3, kFlashWindow = 4;

struct Flash {
  Attention attention;  // all of it but what only the lengths say
  bool packed_keys = false;
  int64_t mask = kFlashWhole;
  int64_t left = -1, right = -1;  // keys in front of and behind a token; -1 is all
  int64_t tokens = 0;             // of the query, of a sequence or of all packed ones
  int64_t key_tokens = 0;         // of the keys; with pages, those that a row of the table reaches
  size_t query_ends_at = kAbsent, key_ends_at = kAbsent, query_used_at = kAbsent,
         key_used_at = kAbsent;
};

// Reads the lengths and runs the kernel.
Status run_flash(const Flash &flash, PlanContext &context);

}  // namespace emu
