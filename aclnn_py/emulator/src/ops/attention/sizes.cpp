// SPDX-License-Identifier: Apache-2.0
// The shapes of queries, keys and values, their lengths, and what lies before or beside them.
#include <algorithm>

#include "ops/attention/rules.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

constexpr int64_t kMostBatches = 65536, kWidestHead = 512, kMostTokens = 20971520;
constexpr int64_t kMostListed = 256, kWidthUnit = 16, kByteWidthUnit = 32, kNibbleWidthUnit = 64;
constexpr int64_t kMostPacked = 4096, kWidestPacked = 256;
constexpr int64_t kMostBlockSize = 512, kRelaxedBlockSize = 1024, kPromptBlockUnit = 128,
                  kStepBlockUnit = 16, kByteBlockUnit = 32, kNibbleBlockUnit = 64,
                  kWidestPage = 65535;
constexpr int64_t kRotaryWidth = 64, kRotaryHeadWidth = 128, kJoinedWidth = 192;

}  // namespace

// What a tensor of the arrangement holds, for `heads` heads. An element of INT32 has eight values.
AttentionRules::Sizes AttentionRules::measure(const char *name, const aclTensor &t,
                                              Arrangement form, const char *heads_name,
                                              int64_t heads) {
  const int rank = form == Arrangement::kBlocks                      ? 5
                   : form == Arrangement::kHidden || is_packed(form) ? 3
                                                                     : 4;
  check_.rank(name, &t, rank, rank);
  if (!ok()) return {};
  const int64_t values = values_per_element(t.dtype);
  if (form == Arrangement::kHidden) {
    const int64_t hidden = check_.size(name, Checked(t.shape[2]) * values);
    check_.that(hidden % heads == 0,
                "%s has %" PRId64 " as its last dimension, not a multiple of %s, %" PRId64, name,
                hidden, heads_name, heads);
    return {t.shape[0], t.shape[1], hidden / heads};
  }
  const size_t n = form == Arrangement::kTokensFirst   ? 2
                   : form == Arrangement::kPackedHeads ? 0
                                                       : 1;
  check_.that(t.shape[n] == heads, "dimension %zu of %s is %" PRId64 "; it must be %s, %" PRId64, n,
              name, t.shape[n], heads_name, heads);
  if (form == Arrangement::kBlocks) {
    const int64_t columns = fractal_columns(t.dtype);
    check_.that(t.shape[4] == columns,
                "%s has 5 dimensions, of which the last is %" PRId64 "; for %s it must be %" PRId64,
                name, t.shape[4], dtype_name(t.dtype), columns);
    return {t.shape[0], t.shape[3], check_.size(name, Checked(t.shape[2]) * columns)};
  }
  const int64_t width = check_.size(name, Checked(t.shape[rank - 1]) * values);
  if (is_packed(form)) return {1, t.shape[1 - n], width};
  return {t.shape[0], t.shape[3 - n], width};
}

// Packed sequences: the list has the tokens of each sequence and of all before it. Tokens after the
// last sequence are ignored; their part of the result is not written.
int64_t AttentionRules::unpack(const Named<aclIntArray> &ends, const char *name, int64_t tokens,
                               std::vector<int64_t> *starts, std::vector<int64_t> *lengths) {
  check_.that(ends && !ends->values.empty(), "%s is missing; with inputLayout %s it is needed",
              ends.name, c_.layout.given);
  int64_t last = 0, longest = 0;
  for (size_t i = 0; ok() && i < ends->values.size(); ++i) {
    const int64_t end = ends->values[i];
    check_.that(end >= last && end <= tokens,
                "%s[%zu] is %" PRId64 "; allowed: %" PRId64 " to %" PRId64
                ", from the end before it to the tokens of %s",
                ends.name, i, end, last, tokens, name);
    if (!ok()) break;  // the difference of any two numbers need not be one
    starts->push_back(last);
    lengths->push_back(end - last);
    longest = std::max(longest, end - last);
    last = end;
  }
  return longest;
}

void AttentionRules::query() {
  const Sizes q = measure("query", *c_.query.given, a_.query_form, "numHeads", a_.heads);
  a_.batch = q.batch;
  a_.queries = q.tokens;
  a_.width = a_.value_width = q.width;
  // Lists with an entry for each sequence follow: their number is judged first.
  check_.that(a_.batch <= kMostBatches,
              "query has %" PRId64 " sequences; at most %" PRId64 " are allowed", a_.batch,
              kMostBatches);
  if (ok() && a_.packed()) {
    a_.queries = unpack(c_.query_lengths, "query", q.tokens, &a_.query_starts, &a_.query_lengths);
    a_.batch = static_cast<int64_t>(a_.query_lengths.size());
    check_.that(a_.batch <= kMostPacked,
                "%s has %" PRId64 " sequences; at most %" PRId64 " are allowed",
                c_.query_lengths.name, a_.batch, kMostPacked);
    check_.that(rotary() || a_.width <= kWidestPacked,
                "query has heads of %" PRId64 " elements; with inputLayout %s at most %" PRId64
                " are allowed",
                a_.width, c_.layout.given, kWidestPacked);
  }
  check_.that(form_.kind != AttentionKind::kStep || q.tokens == 1,
              "query has %" PRId64 " tokens per sequence; a step has 1", q.tokens);
}

// Heads of values may be narrower than those of keys where the rotary part is joined to the keys.
void AttentionRules::widths(const char *name, const Sizes &key, const Sizes &value) {
  check_.that(key.width == a_.width,
              "%s has heads of %" PRId64 " elements; those of query have %" PRId64, name, key.width,
              a_.width);
  const bool joined = form_.layouts == AttentionLayouts::kAll && key.width == kJoinedWidth &&
                      value.width == kRotaryHeadWidth && !has_factors();
  check_.that(value.width == key.width || joined,
              "value has heads of %" PRId64 " elements and key of %" PRId64
              "; they must be equal, or %" PRId64 " and %" PRId64,
              value.width, key.width, kRotaryHeadWidth, kJoinedWidth);
  a_.value_width = value.width;
}

// Keys and values beside the query: one tensor of all sequences, or one tensor of each.
void AttentionRules::sequences() {
  const auto &keys = keys_, &values = values_;
  check_.that(keys.size() == values.size(),
              "key has %zu tensors and value %zu; the numbers must be equal", keys.size(),
              values.size());
  a_.listed = keys.size() > 1;
  const int64_t count = static_cast<int64_t>(keys.size());
  check_.that(!a_.listed || count == a_.batch,
              "key has %zu tensors; it must have one, or one for each of the %" PRId64
              " sequences of query",
              keys.size(), a_.batch);
  check_.that(count <= kMostListed, "key has %zu tensors; at most %" PRId64 " are allowed",
              keys.size(), kMostListed);
  for (size_t i = 0; ok() && i < keys.size(); ++i) {
    const Sizes k = measure("key", *keys[i], a_.key_form, kv_heads_name(), a_.kv_heads);
    const Sizes v = measure("value", *values[i], a_.key_form, kv_heads_name(), a_.kv_heads);
    check_.that(k.batch == v.batch && k.tokens == v.tokens,
                "value has shape %s; its sequences and tokens must be those of key, %s",
                shape_text(layout_of(*values[i])).c_str(), shape_text(layout_of(*keys[i])).c_str());
    const int64_t batch = a_.listed ? 1 : a_.batch;
    check_.that(k.batch == batch, "key[%zu] has %" PRId64 " sequences; expected %" PRId64, i,
                k.batch, batch);
    if (ok()) widths(("key[" + std::to_string(i) + "]").c_str(), k, v);
    a_.keys = std::max(a_.keys, k.tokens);
    if (a_.listed) a_.key_lengths.push_back(k.tokens);
  }
  if (ok() && !a_.listed) a_.key_lengths.assign(static_cast<size_t>(a_.batch), a_.keys);
}

// Keys and values of all sequences, concatenated.
void AttentionRules::packed() {
  check_.that(keys_.size() == 1 && values_.size() == 1,
              "key has %zu tensors and value %zu; with inputLayout %s each has one", keys_.size(),
              values_.size(), c_.layout.given);
  if (!ok()) return;
  const Sizes k = measure("key", *keys_[0], a_.key_form, kv_heads_name(), a_.kv_heads);
  const Sizes v = measure("value", *values_[0], a_.key_form, kv_heads_name(), a_.kv_heads);
  check_.that(k.tokens == v.tokens,
              "value has %" PRId64 " tokens and key %" PRId64 "; the numbers must be equal",
              v.tokens, k.tokens);
  if (ok()) widths("key", k, v);
  if (ok()) a_.keys = unpack(c_.key_lengths, "key", k.tokens, &a_.key_starts, &a_.key_lengths);
  check_.that(a_.key_lengths.size() == a_.query_lengths.size(),
              "%s has %zu sequences and %s %zu; the numbers must be equal", c_.key_lengths.name,
              a_.key_lengths.size(), c_.query_lengths.name, a_.query_lengths.size());
}

// Keys and values in the pages of a cache; the rank of the cache says how a page is arranged.
void AttentionRules::pages() {
  check_.that(keys_.size() == 1 && values_.size() == 1,
              "key has %zu tensors and value %zu; with %s each has one", keys_.size(),
              values_.size(), c_.block_table.name);
  const aclTensor &cache = *keys_[0];
  check_.rank("key", &cache, 3, 5);
  if (!ok()) return;
  a_.key_form = cache.rank() == 3   ? Arrangement::kHidden
                : cache.rank() == 4 ? Arrangement::kHeadsFirst
                                    : Arrangement::kBlocks;
  check_.that(cache.rank() != 4 || form_.relaxed || rotary() ||
                  a_.query_form == Arrangement::kHeadsFirst || a_.packed(),
              "key has 4 dimensions; with inputLayout %s a cache of pages is (pages, blockSize, H)",
              c_.layout.given);
  check_.that(!few_bits() || cache.dtype == ACL_FLOAT4_E2M1,
              "key has dtype %s, which a cache of pages cannot have", dtype_name(cache.dtype));
  const Sizes k = measure("key", cache, a_.key_form, kv_heads_name(), a_.kv_heads);
  const Sizes v = measure("value", *values_[0], a_.key_form, kv_heads_name(), a_.kv_heads);
  check_.that(k.batch == v.batch && k.tokens == v.tokens,
              "value has shape %s; its pages must be like those of key, %s",
              shape_text(layout_of(*values_[0])).c_str(), shape_text(layout_of(cache)).c_str());
  if (ok()) widths("key", k, v);
  if (ok()) page_size(k);
  check_.that(cache.rank() != 3 || cache.shape[2] <= kWidestPage,
              "key has %" PRId64 " as its last dimension; at most %" PRId64 " is allowed",
              cache.shape[cache.rank() - 1], kWidestPage);
  check_.that(c_.key_lengths && !c_.key_lengths->values.empty(),
              "%s is missing; with %s it is needed", c_.key_lengths.name, c_.block_table.name);
  const aclTensor &table = *c_.block_table.given;
  check_.rank(c_.block_table.name, &table, 2, 2);
  if (!ok()) return;
  check_.that(table.shape[0] == a_.batch,
              "%s has %" PRId64 " rows; it must have one for each of the %" PRId64
              " sequences of query",
              c_.block_table.name, table.shape[0], a_.batch);
  if (!ok()) return;
  a_.block_size = c_.block_size;
  const int64_t most = check_.size(c_.block_table.name, Checked(table.shape[1]) * a_.block_size);
  a_.key_lengths.assign(static_cast<size_t>(a_.batch), most);
}

void AttentionRules::page_size(const Sizes &key) {
  const bool usual = a_.width == kWidthUnit * 4 || a_.width == kRotaryHeadWidth;
  const bool fine = rotary() || (form_.relaxed && usual && a_.value_width == a_.width);
  const aclDataType dtype = keys_[0]->dtype;
  const int64_t unit = dtype == ACL_FLOAT4_E2M1                               ? kNibbleBlockUnit
                       : low_float(dtype) || (dtype == ACL_INT8 && !prompt()) ? kByteBlockUnit
                       : prompt() && !fine                                    ? kPromptBlockUnit
                                                                              : kStepBlockUnit;
  const bool wide = fine || (form_.relaxed && prompt());
  const int64_t most = wide && !low_float(dtype) ? kRelaxedBlockSize : kMostBlockSize;
  check_.that(c_.block_size > 0 && c_.block_size <= most && c_.block_size % unit == 0,
              "blockSize is %" PRId64 "; with %" PRId64
              " tokens per query it is a multiple of %" PRId64 " up to %" PRId64,
              c_.block_size, a_.queries, unit, most);
  check_.that(key.tokens == c_.block_size,
              "key has pages of %" PRId64 " tokens; blockSize is %" PRId64, key.tokens,
              c_.block_size);
}

// The rotary parts of MLA lie beside those they belong to.
void AttentionRules::rotary_parts() {
  check_.that(bool(c_.query_rope) == bool(c_.key_rope), "%s is %s and %s is %s; give both or none",
              c_.query_rope.name, c_.query_rope ? "given" : "null", c_.key_rope.name,
              c_.key_rope ? "given" : "null");
  if (!ok() || !rotary()) return;
  a_.rope_width = kRotaryWidth;
  check_.that(a_.width == kLatentWidth || a_.width == kRotaryHeadWidth,
              "query has heads of %" PRId64 " elements; with %s it is %" PRId64 " or %" PRId64,
              a_.width, c_.query_rope.name, kRotaryHeadWidth, kLatentWidth);
  check_.that(a_.value_width == a_.width,
              "value has heads of %" PRId64 " elements; with %s they have those of query, %" PRId64,
              a_.value_width, c_.query_rope.name, a_.width);
  check_.that(a_.width != kLatentWidth || a_.kv_heads == 1,
              "numKeyValueHeads is %" PRId64 "; with heads of %" PRId64 " elements it is 1",
              a_.kv_heads, kLatentWidth);
  constexpr int64_t kMostLatentHeads = 128;
  check_.that(a_.width != kLatentWidth ||
                  (a_.heads <= kMostLatentHeads && (a_.heads & (a_.heads - 1)) == 0),
              "numHeads is %" PRId64 "; with heads of %" PRId64
              " elements it is a power of 2 up to %" PRId64,
              a_.heads, kLatentWidth, kMostLatentHeads);
  check_.that(!a_.listed && !c_.pse && !c_.key_prefix && !c_.quant2 && !c_.factors &&
                  (!c_.key_factors || c_.query_scale),
              "%s is given; then key must be one tensor, and %s, shared prefixes, quantised keys "
              "with a half query, and quantised results are not allowed",
              c_.query_rope.name, c_.pse.name);
  rotary_part(c_.query_rope, *c_.query.given, a_.query_form, "numHeads", a_.heads);
  rotary_part(c_.key_rope, *keys_[0], a_.key_form, kv_heads_name(), a_.kv_heads);
}

void AttentionRules::rotary_part(const Named<aclTensor> &part, const aclTensor &whole,
                                 Arrangement form, const char *heads_name, int64_t heads) {
  if (!ok()) return;
  const Sizes p = measure(part.name, *part.given, form, heads_name, heads);
  const Sizes w = measure(part.name, whole, form, heads_name, heads);
  check_.that(p.width == kRotaryWidth && p.batch == w.batch && p.tokens == w.tokens,
              "%s has shape %s; beside its heads of %" PRId64
              " elements it must be like the tensor it belongs to, %s",
              part.name, shape_text(layout_of(*part.given)).c_str(), kRotaryWidth,
              shape_text(layout_of(whole)).c_str());
}

// One length for all, or the first of at least one per sequence; without any the tensors say it.
void AttentionRules::shorten(const Named<aclIntArray> &given, std::vector<int64_t> *lengths) {
  if (!given || given->values.empty()) return;
  const auto &values = given->values;
  check_.that(values.size() == 1 || values.size() >= lengths->size(),
              "%s has %zu lengths; it must have 1 or one for each of %zu sequences", given.name,
              values.size(), lengths->size());
  for (size_t i = 0; ok() && i < lengths->size(); ++i) {
    const int64_t length = values[values.size() == 1 ? 0 : i];
    check_.that(length >= 0 && length <= (*lengths)[i],
                "%s[%zu] is %" PRId64 "; allowed: 0 to %" PRId64 ", the tokens there are",
                given.name, values.size() == 1 ? 0 : i, length, (*lengths)[i]);
    (*lengths)[i] = length;
  }
}

void AttentionRules::lengths() {
  a_.step = !prompt();
  if (!a_.packed()) {
    a_.query_lengths.assign(static_cast<size_t>(a_.batch), a_.queries);
    if (prompt()) shorten(c_.query_lengths, &a_.query_lengths);  // one token is its own length
  }
  if (a_.key_starts.empty()) shorten(c_.key_lengths, &a_.key_lengths);
}

// Keys and values that all sequences have before their own.
void AttentionRules::prefix() {
  check_.that(bool(c_.key_prefix) == bool(c_.value_prefix),
              "%s is %s and %s is %s; give both or none", c_.key_prefix.name,
              c_.key_prefix ? "given" : "null", c_.value_prefix.name,
              c_.value_prefix ? "given" : "null");
  check_.that(c_.key_prefix || !c_.prefix_length, "%s is given without %s", c_.prefix_length.name,
              c_.key_prefix.name);
  if (!ok() || !c_.key_prefix) return;
  check_.that(!c_.block_table && !a_.listed && !a_.packed() && !byte_query(),
              "%s is given; then key must be one tensor without pages, inputLayout %s must not "
              "pack sequences, and query must not be of 8 bits",
              c_.key_prefix.name, c_.layout.given);
  if (!ok()) return;
  const Sizes k = measure(c_.key_prefix.name, *c_.key_prefix.given, a_.prefix_form, kv_heads_name(),
                          a_.kv_heads);
  const Sizes v = measure(c_.value_prefix.name, *c_.value_prefix.given, a_.prefix_form,
                          kv_heads_name(), a_.kv_heads);
  check_.that(k.batch == 1 && k.width == a_.width && v.batch == 1 && v.width == a_.value_width &&
                  v.tokens == k.tokens,
              "%s has shape %s and %s %s; they must be one sequence of equal length with the heads "
              "of key and value",
              c_.key_prefix.name, shape_text(layout_of(*c_.key_prefix.given)).c_str(),
              c_.value_prefix.name, shape_text(layout_of(*c_.value_prefix.given)).c_str());
  if (!ok()) return;
  std::vector<int64_t> length{k.tokens};
  check_.that(!c_.prefix_length || c_.prefix_length->values.size() == 1,
              "%s has %zu lengths; it must have 1", c_.prefix_length.name,
              c_.prefix_length ? c_.prefix_length->values.size() : 0);
  if (ok()) shorten(c_.prefix_length, &length);
  if (!ok()) return;
  a_.prefix = length[0];
  a_.keys = check_.size("key", Checked(a_.keys) + a_.prefix);
  for (int64_t &tokens : a_.key_lengths) tokens += a_.prefix;
}

// A mask or an encoding reaches over whole pages.
void AttentionRules::table() {
  const int64_t longest = *std::max_element(a_.key_lengths.begin(), a_.key_lengths.end());
  a_.keys = (longest + a_.block_size - 1) / a_.block_size * a_.block_size;
}

// Without lengths nobody pads on the left. A step ignores what a prompt refuses.
void AttentionRules::paddings() {
  const auto given = [&](const Named<aclTensor> &padding, const Named<aclIntArray> &lengths) {
    if (!ok() || !padding) return false;
    check_.that(padding->numel() == 1, "%s has shape %s; it must have 1 element", padding.name,
                shape_text(layout_of(*padding.given)).c_str());
    return ok() && lengths && !lengths->values.empty();
  };
  const bool query = given(c_.query_padding, c_.query_lengths) && !a_.step;
  const bool keys = given(c_.kv_padding, c_.key_lengths);
  if (!ok()) return;
  const bool possible =
      !c_.block_table && !a_.listed && !a_.packed() && !c_.key_prefix && !rotary() && !few_bits();
  check_.that(a_.step || possible || !(query || keys),
              "%s is given; sequences padded on the left are neither packed nor in lists or pages, "
              "and have no shared prefix, no rotary parts and no values of 4 bits",
              query ? c_.query_padding.name : c_.kv_padding.name);
  a_.query_padded = query && possible;
  a_.keys_padded = keys && possible;
}

void AttentionRules::limits() {
  check_.that(a_.width <= kWidestHead,
              "query has heads of %" PRId64 " elements; at most %" PRId64 " are allowed", a_.width,
              kWidestHead);
  const bool turned =
      a_.query_form == Arrangement::kHeadsFirst && a_.out_form == Arrangement::kTokensFirst;
  check_.that(!turned || prompt(),
              "inputLayout is BNSD_BSND, which needs more than one token per query");
  check_.that(!few_bits() || a_.width % kNibbleWidthUnit == 0,
              "query has heads of %" PRId64
              " elements; for keys of 4 bits it is a multiple of "
              "%" PRId64,
              a_.width, kNibbleWidthUnit);
  if (!prompt()) return;
  const bool bytes = one_byte(keys_[0]->dtype) || one_byte(c_.out->dtype);
  const int64_t unit = bytes ? kByteWidthUnit : kWidthUnit;
  check_.that(a_.width % unit == 0,
              "query has heads of %" PRId64
              " elements; with more than one token it is a multiple of %" PRId64,
              a_.width, unit);
  check_.that(a_.queries <= kMostTokens && a_.keys <= kMostTokens,
              "query has %" PRId64 " tokens and key %" PRId64 "; at most %" PRId64 " are allowed",
              a_.queries, a_.keys, kMostTokens);
}

}  // namespace emu
