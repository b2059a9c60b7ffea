// SPDX-License-Identifier: Apache-2.0
// Quantised forms of attention: which factors belong to which of them, and their shapes.
#include <algorithm>

#include "ops/attention/rules.h"

namespace emu {
namespace {

constexpr int64_t kMostQuantisedQueries = 16, kPerTokenAndHead = 3;
constexpr int64_t kModes = 6;

bool of_tokens(FactorForm form) {
  return form == FactorForm::kToken || form == FactorForm::kTokenHead ||
         form == FactorForm::kPageToken || form == FactorForm::kPageTokenHead;
}

}  // namespace

void AttentionRules::factors() {
  const aclDataType query = c_.query->dtype, key = keys_[0]->dtype;
  if (query == ACL_INT8) {
    check_.that(key == ACL_INT8, "key has dtype %s; for a query of INT8 it must be INT8",
                dtype_name(key));
    if (ok()) c_.query_scale ? dequantised_query() : quantised();
    return results_factors();
  }
  for (const auto *scale : {&c_.dequant1, &c_.quant1, &c_.dequant2, &c_.query_scale}) {
    check_.that(!*scale, "%s is given, but query has dtype %s; it belongs to a query of INT8",
                scale->name, dtype_name(query));
  }
  check_.that(!has_factors() || contains(dtype_set(ACL_INT8, ACL_INT4, ACL_INT32), key),
              "%s is given, but key has dtype %s; factors belong to quantised keys and values",
              c_.key_factors ? c_.key_factors.name : c_.factors.name, dtype_name(key));
  check_.that(c_.factors || !c_.factor_offsets, "%s is given without %s", c_.factor_offsets.name,
              c_.factors.name);
  check_.that(bool(c_.key_factors) == bool(c_.value_factors),
              "%s is %s and %s is %s; give both or none", c_.key_factors.name,
              c_.key_factors ? "given" : "null", c_.value_factors.name,
              c_.value_factors ? "given" : "null");
  check_.that(bool(c_.key_offsets) == bool(c_.value_offsets) && (c_.key_factors || !c_.key_offsets),
              "%s and %s have to be given both or not, and only with %s", c_.key_offsets.name,
              c_.value_offsets.name, c_.key_factors.name);
  // Where both are given, the separate ones count.
  if (ok() && c_.key_factors) separate_factors();
  else if (ok() && c_.factors) common_factors();
  check_.that(
      a_.prefix == 0 || !(of_tokens(a_.key_factors.form) || of_tokens(a_.value_factors.form)),
      "%s is given; then keys and values have no factors for each token", c_.key_prefix.name);
  results_factors();
}

// All of query, keys, values and powers are INT8.
void AttentionRules::quantised() {
  for (const auto *scale : {&c_.dequant1, &c_.quant1, &c_.dequant2}) {
    check_.that(bool(*scale), "%s is null; a query of INT8 needs it", scale->name);
    check_.that(ok() && scale->given->numel() == 1, "%s has shape %s; it must have 1 element",
                scale->name, *scale ? shape_text(layout_of(*scale->given)).c_str() : "()");
  }
  check_.that(!has_factors(), "%s is given; with %s it must be null",
              c_.key_factors ? c_.key_factors.name : c_.factors.name, c_.dequant1.name);
  check_.that(prompt() && !a_.packed() && !c_.block_table,
              "query has dtype INT8, which needs more than one token per query, an inputLayout "
              "that does not pack sequences, and no pages");
  a_.quantised = true;
}

// The latent query of MLA, which has a factor for each token and head.
void AttentionRules::dequantised_query() {
  for (const auto *scale : {&c_.dequant1, &c_.quant1, &c_.dequant2, &c_.quant2, &c_.factors,
                            &c_.factor_offsets, &c_.key_offsets, &c_.value_offsets}) {
    check_.that(!*scale, "%s is given; with %s it must be null", scale->name, c_.query_scale.name);
  }
  check_.that(c_.key_factors && c_.value_factors && rotary(),
              "%s is given; then %s, %s, %s and %s are needed", c_.query_scale.name,
              c_.key_factors.name, c_.value_factors.name, c_.query_rope.name, c_.key_rope.name);
  check_.that(c_.query_mode == kPerTokenAndHead, "queryQuantMode is %" PRId64 "; allowed: 3",
              c_.query_mode);
  check_.that(a_.key_form == Arrangement::kBlocks,
              "key has dtype INT8; with %s it is a cache of pages with 5 dimensions",
              c_.query_scale.name);
  check_.that(a_.queries <= kMostQuantisedQueries,
              "query has %" PRId64 " tokens; with %s at most %" PRId64 " are allowed", a_.queries,
              c_.query_scale.name, kMostQuantisedQueries);
  if (!ok()) return;
  Layout expected = layout_of(*c_.query);
  if (a_.query_form == Arrangement::kHidden) expected.shape[2] = a_.heads;
  else --expected.rank;
  check_.shape(c_.query_scale.name, c_.query_scale.given, expected);
  a_.key_factors = factor(c_.key_factors, c_.key_offsets, c_.key_mode, 1, 0);
  a_.value_factors = factor(c_.value_factors, c_.value_offsets, c_.value_mode, 1, 0);
  check_.that(
      a_.key_factors.form == FactorForm::kTensor && a_.value_factors.form == FactorForm::kTensor,
      "%s and %s must have 1 element with %s", c_.key_factors.name, c_.value_factors.name,
      c_.query_scale.name);
}

void AttentionRules::separate_factors() {
  const bool mixed = c_.key_mode == 0 && c_.value_mode == 1;
  check_.that(c_.key_mode == c_.value_mode || mixed,
              "keyAntiquantMode is %" PRId64 " and valueAntiquantMode %" PRId64
              "; they must be equal, or 0 and 1",
              c_.key_mode, c_.value_mode);
  if (prompt()) {
    check_.that(c_.key_mode >= 0 && c_.key_mode <= 1 && !mixed,
                "keyAntiquantMode is %" PRId64
                "; with more than one token per query both modes are 0 or 1",
                c_.key_mode);
    check_.that(a_.queries <= kMostQuantisedQueries,
                "query has %" PRId64 " tokens; with %s at most %" PRId64 " are allowed", a_.queries,
                c_.key_factors.name, kMostQuantisedQueries);
    check_.that(c_.query->dtype == ACL_BF16 && keys_[0]->dtype == ACL_INT8 && !c_.quant2,
                "%s is given with more than one token per query; then query and attentionOut must "
                "be BFLOAT16 and key INT8",
                c_.key_factors.name);
    check_.that(!a_.listed && (!c_.block_table || a_.key_form == Arrangement::kBlocks),
                "%s is given with more than one token per query; then key must be one tensor, and "
                "a cache of pages have 5 dimensions",
                c_.key_factors.name);
    check_.that(!a_.packed() || c_.key_mode == 0,
                "keyAntiquantMode is %" PRId64 "; with inputLayout %s it is 0", c_.key_mode,
                c_.layout);
  }
  a_.key_factors = factor(c_.key_factors, c_.key_offsets, c_.key_mode, 1, 0);
  a_.value_factors = factor(c_.value_factors, c_.value_offsets, c_.value_mode, 1, 0);
}

void AttentionRules::common_factors() {
  check_.that(keys_[0]->dtype == ACL_INT8,
              "key has dtype %s; %s belongs to INT8, values of 4 bits have separate factors",
              dtype_name(keys_[0]->dtype), c_.factors.name);
  check_.that(!prompt() || c_.query->dtype == ACL_FLOAT16,
              "query has dtype %s; with %s and more than one token it must be FLOAT16",
              dtype_name(c_.query->dtype), c_.factors.name);
  const int64_t mode = prompt() ? 0 : c_.factor_mode;
  check_.that(mode == 0 || mode == 1, "antiquantMode is %" PRId64 "; allowed: 0, 1", mode);
  a_.key_factors = factor(c_.factors, c_.factor_offsets, mode, 2, 0);
  a_.value_factors = factor(c_.factors, c_.factor_offsets, mode, 2, 1);
}

// Those of part `part` of the `parts` that the tensor has one after the other.
Factors AttentionRules::factor(const Named<aclTensor> &scale, const Named<aclTensor> &offset,
                               int64_t mode, int64_t parts, int64_t part) {
  Factors f;
  if (!ok()) return f;
  f.form = factor_form(*scale.given, scale.name, mode, parts, &f.tokens);
  f.first = scale->numel() / parts * part;
  if (!ok()) return f;
  const bool own = of_tokens(f.form) || c_.query->dtype == ACL_INT8;
  const aclDataType expected = own ? ACL_FLOAT : c_.query->dtype;
  check_.that(scale->dtype == expected, "%s has dtype %s; in mode %" PRId64 " it must be %s",
              scale.name, dtype_name(scale->dtype), mode, dtype_name(expected));
  if (offset) check_.shape(offset.name, offset.given, layout_of(*scale.given));
  return f;
}

FactorForm AttentionRules::factor_form(const aclTensor &scale, const char *name, int64_t mode,
                                       int64_t parts, int64_t *tokens) {
  const std::string shape = shape_text(layout_of(scale));
  const int64_t n = a_.kv_heads, channels = n * a_.width, pages = keys_[0]->shape[0];
  check_.that(mode >= 0 && mode < kModes, "%s is given with mode %" PRId64 "; allowed: 0 to 5",
              name, mode);
  check_.rank(name, &scale, 1, 5);
  if (!ok()) return FactorForm::kNone;
  const size_t rank = scale.rank();
  const auto dim = [&](size_t from_last) {
    return from_last < rank ? scale.shape[rank - 1 - from_last] : int64_t{1};
  };
  *tokens = dim(0);
  switch (mode) {
    case 0: {
      check_.that(scale.numel() == parts || scale.numel() == parts * channels,
                  "%s has shape %s; in mode 0 it has %" PRId64 " elements, or %" PRId64
                  " for each of %" PRId64 " heads of %" PRId64,
                  name, shape.c_str(), parts, parts, n, a_.width);
      return scale.numel() == parts ? FactorForm::kTensor : FactorForm::kChannel;
    }
    case 2:
      check_.that(scale.numel() == n && rank == 1,
                  "%s has shape %s; in mode 2 it is (%" PRId64 ",)", name, shape.c_str(), n);
      return FactorForm::kHead;
    case 1:
    case 3: {
      const int64_t least = a_.keys - a_.prefix, heads = mode == 3 ? n : 1;
      const bool fits = mode == 3 ? dim(1) == n && dim(2) == a_.batch : dim(1) == a_.batch;
      check_.that(fits && *tokens >= least && scale.numel() == parts * a_.batch * heads * *tokens,
                  "%s has shape %s; in mode %" PRId64 " it is (%s%" PRId64 ", %sat least %" PRId64
                  ")",
                  name, shape.c_str(), mode, parts == 2 ? "2, " : "", a_.batch,
                  mode == 3 ? (std::to_string(n) + ", ").c_str() : "", least);
      return mode == 3 ? FactorForm::kTokenHead : FactorForm::kToken;
    }
    default: {
      const bool by_head = mode == 5;
      check_.that(bool(c_.block_table), "%s is given with mode %" PRId64 ", which needs pages",
                  name, mode);
      check_.that(rank == (by_head ? 3u : 2u) && scale.shape[0] == pages &&
                      dim(0) == a_.block_size && (!by_head || dim(1) == n),
                  "%s has shape %s; in mode %" PRId64 " it is (%" PRId64 ", %s%" PRId64 ")", name,
                  shape.c_str(), mode, pages, by_head ? (std::to_string(n) + ", ").c_str() : "",
                  a_.block_size);
      return by_head ? FactorForm::kPageTokenHead : FactorForm::kPageToken;
    }
  }
}

void AttentionRules::results_factors() {
  check_.that(c_.quant2 || !c_.offset2, "%s is given without %s", c_.offset2.name, c_.quant2.name);
  if (!ok() || !c_.quant2) return;
  check_.that(!few_bits(), "%s is given; results for keys of 4 bits cannot be quantised",
              c_.quant2.name);
  check_.that(!a_.packed(), "%s is given; with inputLayout %s it must be null", c_.quant2.name,
              c_.layout);
  const int64_t channels = a_.heads * a_.value_width, count = c_.quant2->numel();
  check_.that(count == 1 || count == channels,
              "%s has shape %s; it must have 1 element or %" PRId64
              ", one for each element of a token",
              c_.quant2.name, shape_text(layout_of(*c_.quant2.given)).c_str(), channels);
  if (c_.offset2) check_.shape(c_.offset2.name, c_.offset2.given, layout_of(*c_.quant2.given));
  a_.channel_results = count != 1;
  check_.that(!a_.channel_results || !(a_.query_padded || a_.keys_padded),
              "%s has %" PRId64 " elements; for sequences padded on the left it has 1",
              c_.quant2.name, count);
}

}  // namespace emu
