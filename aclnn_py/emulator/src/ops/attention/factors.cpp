// SPDX-License-Identifier: Apache-2.0
// Quantised forms of attention: which factors belong to which of them, and their shapes.
#include <algorithm>

#include "ops/attention/rules.h"

namespace emu {
namespace {

constexpr int64_t kMostQuantisedQueries = 16, kPerTokenAndHead = 3;
constexpr int64_t kModes = 6, kPerHead = 2, kPerGroup = 6, kGroup = 32, kQuantisedPage = 128;

bool of_tokens(FactorForm form) {
  return form == FactorForm::kToken || form == FactorForm::kTokenHead ||
         form == FactorForm::kPageToken || form == FactorForm::kPageTokenHead ||
         form == FactorForm::kTokenGroup;
}

}  // namespace

void AttentionRules::factors() {
  const aclDataType query = c_.query->dtype, key = keys_[0]->dtype;
  if (low_float(query)) {
    float_query();
    return results_factors();
  }
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
  check_.that(!has_factors() || contains(dtype_set(ACL_INT8, ACL_INT4, ACL_INT32), key) ||
                  (low_float(key) && !c_.factors),
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
  if (ok() && c_.key_factors) low_float(key) ? float_factors() : separate_factors();
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
  check_.that(a_.key_form == Arrangement::kBlocks || c_.query->dtype != ACL_INT8,
              "key has dtype INT8; with %s it is a cache of pages with 5 dimensions",
              c_.query_scale.name);
  check_.that(a_.queries <= kMostQuantisedQueries,
              "query has %" PRId64 " tokens; with %s at most %" PRId64 " are allowed", a_.queries,
              c_.query_scale.name, kMostQuantisedQueries);
  if (!ok()) return;
  Layout expected = layout_of(*c_.query.given);
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

// Query, keys and values are floats of 8 bits: those of MLA, or of heads of 128 elements with keys
// and values in pages.
void AttentionRules::float_query() {
  check_.that(bool(c_.query_scale), "%s is null; a query of %s needs it",
              c_.query_scale.name ? c_.query_scale.name : "dequantScaleQuery",
              dtype_name(c_.query->dtype));
  check_.that(
      !c_.pse && !a_.query_padded && !a_.keys_padded && !c_.key_prefix && !a_.listed,
      "query has dtype %s; then %s, sequences padded on the left, shared prefixes and lists "
      "of keys are not allowed",
      dtype_name(c_.query->dtype), c_.pse.name);
  check_.that(!c_.block_table || a_.block_size == kQuantisedPage,
              "blockSize is %" PRId64 "; for a query of %s it is %" PRId64, a_.block_size,
              dtype_name(c_.query->dtype), kQuantisedPage);
  check_.that(c_.sparse_mode == 3 || (c_.sparse_mode == 0 && !c_.mask),
              "sparseMode is %" PRId64 "; for a query of %s it is 3, or 0 without %s",
              c_.sparse_mode, dtype_name(c_.query->dtype), c_.mask.name);
  if (!ok() || rotary()) return ok() ? dequantised_query() : void();
  for (const auto *scale : {&c_.dequant1, &c_.dequant2, &c_.quant2, &c_.factors, &c_.factor_offsets,
                            &c_.key_offsets, &c_.value_offsets}) {
    check_.that(!*scale, "%s is given; with %s it must be null", scale->name, c_.query_scale.name);
  }
  check_.that(c_.query->dtype == ACL_FLOAT8_E4M3FN,
              "query has dtype %s; without rotary parts it is FLOAT8_E4M3FN",
              dtype_name(c_.query->dtype));
  check_.that(c_.query_mode == kPerTokenAndHead && c_.key_mode == kPerTokenAndHead &&
                  c_.value_mode == kPerHead,
              "queryQuantMode is %" PRId64 ", keyAntiquantMode %" PRId64
              " and valueAntiquantMode %" PRId64 "; for a query of FLOAT8_E4M3FN they are 3, 3, 2",
              c_.query_mode, c_.key_mode, c_.value_mode);
  check_.that(
      a_.query_form == Arrangement::kPackedHeads && a_.out_form == Arrangement::kPacked &&
          a_.key_form == Arrangement::kHeadsFirst && c_.block_table,
      "inputLayout is %s; for a query of FLOAT8_E4M3FN it is NTD_TND, with keys in pages of "
      "4 dimensions",
      c_.layout.given);
  check_.that(a_.width == 128 && a_.value_width == 128,
              "query has heads of %" PRId64 " elements; of FLOAT8_E4M3FN it is 128", a_.width);
  check_.that(c_.key_factors && c_.value_factors && c_.quant1,
              "%s is given; then %s, %s and %s are needed", c_.query_scale.name,
              c_.key_factors.name, c_.value_factors.name, c_.quant1.name);
  if (!ok()) return;
  const int64_t pages[] = {keys_[0]->shape[0], a_.kv_heads, a_.block_size}, one[] = {1};
  Layout expected = layout_of(*c_.query.given);
  --expected.rank;
  check_.shape(c_.query_scale.name, c_.query_scale.given, expected);
  check_.shape(c_.key_factors.name, c_.key_factors.given, dense_layout(pages, 3));
  check_.shape(c_.value_factors.name, c_.value_factors.given, dense_layout(&a_.kv_heads, 1));
  check_.shape(c_.quant1.name, c_.quant1.given, dense_layout(one, 1));
  for (const auto *scale : {&c_.key_factors, &c_.value_factors})
    check_.dtype_in(scale->name, (*scale)->dtype, dtype_set(ACL_FLOAT));
  a_.key_factors.form = FactorForm::kPageTokenHead;
  a_.value_factors.form = FactorForm::kHead;
}

// Keys and values of floats of 8 or 4 bits beside a half-precision query.
void AttentionRules::float_factors() {
  const aclDataType key = keys_[0]->dtype;
  const int64_t mode = c_.key_mode;
  check_.that(mode == c_.value_mode,
              "keyAntiquantMode is %" PRId64 " and valueAntiquantMode %" PRId64
              "; with key of %s they must be equal",
              mode, c_.value_mode, dtype_name(key));
  check_.that(key == ACL_FLOAT4_E2M1
                  ? mode == kPerGroup
                  : mode == 0 || (key == ACL_FLOAT8_E4M3FN && (mode == 1 || mode == 4)),
              "keyAntiquantMode is %" PRId64 "; with key of %s it is %s", mode, dtype_name(key),
              key == ACL_FLOAT4_E2M1 ? "6"
              : key == ACL_HIFLOAT8  ? "0"
                                     : "0, 1 or 4");
  check_.that(!c_.key_offsets, "%s is given; with key of %s it must be null", c_.key_offsets.name,
              dtype_name(key));
  check_.that(!c_.key_prefix && !rotary() && a_.query_form != Arrangement::kPackedHeads &&
                  (a_.out_form == a_.query_form || a_.out_form == Arrangement::kTokensFirst),
              "key has dtype %s; then shared prefixes and rotary parts are not allowed, and "
              "inputLayout is BSH, BNSD, BSND, BNSD_BSND or TND, not %s",
              dtype_name(key), c_.layout.given);
  check_.that(!c_.quant2 || mode == 0,
              "%s is given; with keyAntiquantMode %" PRId64 " it must be null", c_.quant2.name,
              mode);
  a_.key_factors = factor(c_.key_factors, c_.key_offsets, mode, 1, 0);
  a_.value_factors = factor(c_.value_factors, c_.value_offsets, mode, 1, 0);
  check_.that(mode != 0 || (a_.key_factors.form == FactorForm::kChannel &&
                            a_.value_factors.form == FactorForm::kChannel),
              "%s has 1 element; with key of %s it has one for each element of its heads",
              c_.key_factors.name, dtype_name(key));
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
                c_.layout.given);
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
  const bool own = of_tokens(f.form) || byte_query();
  const aclDataType expected = f.form == FactorForm::kTokenGroup ? ACL_FLOAT8_E8M0
                               : own                             ? ACL_FLOAT
                                                                 : c_.query->dtype;
  check_.that(scale->dtype == expected, "%s has dtype %s; in mode %" PRId64 " it must be %s",
              scale.name, dtype_name(scale->dtype), mode, dtype_name(expected));
  if (offset) check_.shape(offset.name, offset.given, layout_of(*scale.given));
  return f;
}

FactorForm AttentionRules::factor_form(const aclTensor &scale, const char *name, int64_t mode,
                                       int64_t parts, int64_t *tokens) {
  const std::string shape = shape_text(layout_of(scale));
  const int64_t n = a_.kv_heads, channels = n * a_.width, pages = keys_[0]->shape[0];
  const bool grouped = mode == kPerGroup && keys_[0]->dtype == ACL_FLOAT4_E2M1;
  check_.that((mode >= 0 && mode < kModes) || grouped,
              "%s is given with mode %" PRId64 "; allowed: 0 to 5", name, mode);
  check_.rank(name, &scale, 1, 5);
  if (!ok()) return FactorForm::kNone;
  const size_t rank = scale.rank();
  const auto dim = [&](size_t from_last) {
    return from_last < rank ? scale.shape[rank - 1 - from_last] : int64_t{1};
  };
  *tokens = dim(grouped ? 1 : 0);
  if (grouped) {
    const int64_t groups = a_.width / kGroup;
    check_.that(rank == 5 && dim(4) == 1 && dim(3) == a_.batch && dim(2) == n &&
                    *tokens >= a_.keys && dim(0) == groups,
                "%s has shape %s; in mode 6 it is (1, %" PRId64 ", %" PRId64 ", at least %" PRId64
                ", %" PRId64 ")",
                name, shape.c_str(), a_.batch, n, a_.keys, groups);
    return FactorForm::kTokenGroup;
  }
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
              c_.layout.given);
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
