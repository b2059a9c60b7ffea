// SPDX-License-Identifier: Apache-2.0
// Phase one of the attention of inference. The documents give 161001 to nulls and 161002 to dtypes
// and formats; what they only call unsupported or an exception is judged by the tiling, whose
// refusal is 561002.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "ops/attention/attention.h"
#include "ops/matmul/stack.h"

namespace emu {
namespace {

constexpr int64_t kMostBatches = 65536, kMostHeads = 256, kWidestHead = 512, kMostTokens = 20971520;
constexpr int64_t kLargestGroup = 64, kMostListed = 256, kWidthUnit = 16;
constexpr int64_t kMostPacked = 4096, kWidestPacked = 256;
constexpr int64_t kTriangle = 2048;
constexpr int64_t kMostBlockSize = 512, kPromptBlockUnit = 128, kStepBlockUnit = 16,
                  kWidestPage = 65535;
// the value that means "all tokens"; larger values mean the same
constexpr int64_t kFarthest = 2147483647;

// The rules of phase one, applied in order; they fill in the problem as they go.
class AttentionRules {
 public:
  AttentionRules(const AttentionCall &call, Attention *attention)
      : c_(call), a_(*attention), check_(call.op) {}

  Status run() {
    a_.op = c_.op;
    nulls();
    if (ok()) dtypes();
    if (ok()) contiguous();
    if (ok()) unsupported();
    check_.tiling();
    if (ok()) attributes();
    if (ok()) query();
    if (ok()) a_.nothing = c_.query->numel() == 0;
    if (!ok() || a_.nothing) return check_.status();
    if (ok()) c_.block_table ? pages() : a_.packed() ? packed() : sequences();
    if (ok()) lengths();
    if (ok() && c_.block_table) table();
    if (ok()) limits();
    if (ok()) pse();
    if (ok()) mask();
    if (ok()) bands();
    if (ok()) results();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  bool prompt() const { return a_.queries > 1 || a_.packed() || c_.kind == AttentionKind::kPrompt; }

  void nulls() {
    check_.required("query", c_.query);
    side("key", c_.key);
    side("value", c_.value);
    check_.required("attentionOut", c_.out).required_text("inputLayout", c_.layout);
    if (c_.with_lse) check_.required(c_.lse.name, c_.lse.given);
    for (const auto *tensor : {&c_.pse, &c_.mask, &c_.block_table})
      check_.optional(tensor->name, tensor->given);
    for (const auto *array : {&c_.query_lengths, &c_.key_lengths, &c_.prefix_length}) {
      check_.optional(array->name, array->given);
    }
    for (const auto *tensors : {&c_.absent, &c_.later_absent}) {
      for (const auto &tensor : *tensors) check_.optional(tensor.name, tensor.given);
    }
    if (ok()) keys_ = members("key", c_.key);
    if (ok()) values_ = members("value", c_.value);
  }

  void side(const char *name, const AttentionSide &given) {
    given.tensor ? check_.required(name, given.tensor) : check_.required(name, given.list);
  }

  std::vector<const aclTensor *> members(const char *name, const AttentionSide &given) {
    if (given.tensor) return {given.tensor};
    const auto &members = given.list->members;
    check_.that(!members.empty(), "%s is an empty list", name);
    for (size_t i = 0; ok() && i < members.size(); ++i) {
      check_.that(members[i] && live(members[i]), "%s[%zu] is null or was destroyed", name, i);
    }
    return {members.begin(), members.end()};
  }

  void half(const char *name, const aclTensor *tensor) {
    constexpr DtypeSet kQuantised = dtype_set(ACL_INT8, ACL_INT4, ACL_INT32);
    if (!ok()) return;
    check_.that(!contains(kQuantised, tensor->dtype),
                "%s has dtype %s, a quantised form that the emulator does not compute; allowed: %s",
                name, dtype_name(tensor->dtype), dtype_list(dt::kHalf).c_str());
    check_.dtype(name, tensor, ~dt::kHalf);
    check_.that(!is_fractal(*tensor), "%s is in FRACTAL_NZ; allowed: ND", name);
  }

  void dtypes() {
    half("query", c_.query);
    for (const auto &[name, tensors] : {std::pair{"key", &keys_}, std::pair{"value", &values_}}) {
      for (const aclTensor *tensor : *tensors) {
        half(name, tensor);
        check_.same_dtype(name, tensor->dtype, "query", c_.query->dtype);
      }
    }
    check_.dtype(c_.pse.name, c_.pse.given);
    if (c_.pse) check_.same_dtype(c_.pse.name, c_.pse->dtype, "query", c_.query->dtype);
    check_.dtype(c_.mask.name, c_.mask.given).dtype(c_.block_table.name, c_.block_table.given);
    half("attentionOut", c_.out);
    check_.same_dtype("attentionOut", c_.out->dtype, "query", c_.query->dtype);
    if (c_.with_lse) check_.dtype(c_.lse.name, c_.lse.given);
  }

  // The kernel of PromptFlashAttention alone takes its tensors as they lie; those of the others
  // copy strided ones.
  void contiguous() {
    if (c_.kind != AttentionKind::kPrompt) return;
    const auto whole = [&](const char *name, const aclTensor *tensor) {
      check_.that(!tensor || tensor->contiguous(), "%s is a strided view; it must be contiguous",
                  name);
    };
    whole("query", c_.query);
    for (const aclTensor *tensor : keys_) whole("key", tensor);
    for (const aclTensor *tensor : values_) whole("value", tensor);
    whole(c_.pse.name, c_.pse.given);
    whole(c_.mask.name, c_.mask.given);
  }

  void unsupported() {
    for (const auto *tensors : {&c_.absent, &c_.later_absent}) {
      for (const auto &tensor : *tensors) {
        check_.that(!tensor,
                    "%s is given; the emulator computes no quantised forms, no shared prefixes, no "
                    "sequences padded on the left and no rotary parts: pass null",
                    tensor.name);
      }
    }
    check_.that(!c_.prefix_length,
                "%s is given; the emulator computes no shared prefixes: pass null",
                c_.prefix_length.name);
  }

  void attributes() {
    const std::pair<const char *, Arrangement> forms[] = {{"BSH", Arrangement::kHidden},
                                                          {"BSND", Arrangement::kTokensFirst},
                                                          {"BNSD", Arrangement::kHeadsFirst},
                                                          {"BNSD_BSND", Arrangement::kHeadsFirst},
                                                          {"TND", Arrangement::kPacked}};
    const auto *form = std::find_if(std::begin(forms), std::end(forms), [&](const auto &f) {
      return std::strcmp(f.first, c_.layout) == 0;
    });
    check_.that(
        form != std::end(forms) && (form->second != Arrangement::kPacked || c_.takes_packed),
        "inputLayout is \"%.40s\"; allowed: BSH, BSND, BNSD, BNSD_BSND%s", c_.layout,
        c_.takes_packed ? ", TND" : "");
    if (!ok()) return;
    a_.query_form = a_.key_form = a_.out_form = form->second;
    turned_ = std::strcmp(c_.layout, "BNSD_BSND") == 0;
    if (turned_) a_.out_form = Arrangement::kTokensFirst;
    a_.heads = c_.heads;
    a_.kv_heads = c_.kv_heads == 0 ? c_.heads : c_.kv_heads;
    a_.scale = static_cast<float>(c_.scale);
    check_.that(c_.heads >= 1 && c_.heads <= kMostHeads,
                "numHeads is %" PRId64 "; allowed: 1 to %" PRId64, c_.heads, kMostHeads);
    check_.that(c_.kv_heads >= 0 && c_.kv_heads <= c_.heads,
                "numKeyValueHeads is %" PRId64 "; allowed: 0 to numHeads, %" PRId64, c_.kv_heads,
                c_.heads);
    check_.that(ok() && c_.heads % a_.kv_heads == 0,
                "numHeads is %" PRId64 ", not a multiple of numKeyValueHeads, %" PRId64, c_.heads,
                a_.kv_heads);
    check_.that(ok() && a_.group() <= kLargestGroup,
                "numHeads is %" PRId64 ", more than %" PRId64 " times numKeyValueHeads, %" PRId64,
                c_.heads, kLargestGroup, a_.kv_heads);
    check_.that(c_.inner_precise >= 0 && c_.inner_precise <= 3,
                "innerPrecise is %" PRId64 "; allowed: 0 to 3", c_.inner_precise);
    a_.clear_masked_rows = (c_.inner_precise & 2) != 0;
  }

  struct Sizes {
    int64_t batch, tokens, width;
  };

  // What a tensor of the arrangement holds, for `heads` heads.
  Sizes measure(const char *name, const aclTensor &t, Arrangement form, const char *heads_name,
                int64_t heads) {
    const int rank = form == Arrangement::kHidden || form == Arrangement::kPacked ? 3 : 4;
    check_.rank(name, &t, rank, rank);
    if (!ok()) return {};
    if (form == Arrangement::kHidden) {
      check_.that(t.shape[2] % heads == 0,
                  "%s has %" PRId64 " as its last dimension, not a multiple of %s, %" PRId64, name,
                  t.shape[2], heads_name, heads);
      return {t.shape[0], t.shape[1], t.shape[2] / heads};
    }
    const size_t n = form == Arrangement::kTokensFirst ? 2 : 1;
    check_.that(t.shape[n] == heads, "dimension %zu of %s is %" PRId64 "; it must be %s, %" PRId64,
                n, name, t.shape[n], heads_name, heads);
    if (form == Arrangement::kPacked) return {1, t.shape[0], t.shape[2]};
    return {t.shape[0], t.shape[3 - n], t.shape[3]};
  }

  // Packed sequences: the list has the tokens of each sequence and of all before it. Tokens after
  // the last sequence are ignored; their part of the result is not written.
  int64_t unpack(const Named<aclIntArray> &ends, const char *name, int64_t tokens,
                 std::vector<int64_t> *starts, std::vector<int64_t> *lengths) {
    check_.that(ends && !ends->values.empty(), "%s is missing; with inputLayout TND it is needed",
                ends.name);
    int64_t last = 0, longest = 0;
    for (size_t i = 0; ok() && i < ends->values.size(); ++i) {
      const int64_t end = ends->values[i];
      check_.that(end >= last && end <= tokens,
                  "%s[%zu] is %" PRId64 "; allowed: %" PRId64 " to %" PRId64
                  ", from the end before it to the tokens of %s",
                  ends.name, i, end, last, tokens, name);
      starts->push_back(last);
      lengths->push_back(end - last);
      longest = std::max(longest, end - last);
      last = end;
    }
    return longest;
  }

  void query() {
    const Sizes q = measure("query", *c_.query, a_.query_form, "numHeads", a_.heads);
    a_.batch = q.batch;
    a_.queries = q.tokens;
    a_.width = q.width;
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
      check_.that(a_.width <= kWidestPacked,
                  "query has heads of %" PRId64 " elements; with inputLayout TND at most %" PRId64
                  " are allowed",
                  a_.width, kWidestPacked);
    }
    check_.that(c_.kind != AttentionKind::kStep || q.tokens == 1,
                "query has %" PRId64 " tokens per sequence; a step has 1", q.tokens);
  }

  const char *kv_heads_name() const { return c_.kv_heads == 0 ? "numHeads" : "numKeyValueHeads"; }

  // Keys and values beside the query: one tensor of all sequences, or one tensor of each.
  void sequences() {
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
      check_.shape("value", values[i], layout_of(*keys[i]));
      const Sizes k = measure("key", *keys[i], a_.key_form, kv_heads_name(), a_.kv_heads);
      const int64_t batch = a_.listed ? 1 : a_.batch;
      check_.that(k.batch == batch, "key[%zu] has %" PRId64 " sequences; expected %" PRId64, i,
                  k.batch, batch);
      check_.that(k.width == a_.width,
                  "key[%zu] has heads of %" PRId64 " elements; those of query have %" PRId64, i,
                  k.width, a_.width);
      a_.keys = std::max(a_.keys, k.tokens);
      if (a_.listed) a_.key_lengths.push_back(k.tokens);
    }
    if (ok() && !a_.listed) a_.key_lengths.assign(static_cast<size_t>(a_.batch), a_.keys);
  }

  // Keys and values of all sequences, concatenated.
  void packed() {
    check_.that(keys_.size() == 1 && values_.size() == 1,
                "key has %zu tensors and value %zu; with inputLayout TND each has one",
                keys_.size(), values_.size());
    check_.shape("value", values_[0], layout_of(*keys_[0]));
    const Sizes k = measure("key", *keys_[0], a_.key_form, kv_heads_name(), a_.kv_heads);
    check_.that(k.width == a_.width,
                "key has heads of %" PRId64 " elements; those of query have %" PRId64, k.width,
                a_.width);
    if (ok()) a_.keys = unpack(c_.key_lengths, "key", k.tokens, &a_.key_starts, &a_.key_lengths);
    check_.that(a_.key_lengths.size() == a_.query_lengths.size(),
                "%s has %zu sequences and %s %zu; the numbers must be equal", c_.key_lengths.name,
                a_.key_lengths.size(), c_.query_lengths.name, a_.query_lengths.size());
  }

  // Keys and values in the pages of a cache; the rank of the cache says how a page is arranged.
  void pages() {
    const auto &keys = keys_, &values = values_;
    check_.that(keys.size() == 1 && values.size() == 1,
                "key has %zu tensors and value %zu; with %s each has one", keys.size(),
                values.size(), c_.block_table.name);
    const aclTensor &cache = *keys[0];
    check_.rank("key", &cache, 3, 4).shape("value", values[0], layout_of(cache));
    if (!ok()) return;
    a_.key_form = cache.rank() == 3 ? Arrangement::kHidden : Arrangement::kHeadsFirst;
    check_.that(
        cache.rank() == 3 || a_.query_form == Arrangement::kHeadsFirst || a_.packed(),
        "key has 4 dimensions; with inputLayout %s a cache of pages is (pages, blockSize, H)",
        c_.layout);
    const Sizes k = measure("key", cache, a_.key_form, kv_heads_name(), a_.kv_heads);
    const int64_t unit = prompt() ? kPromptBlockUnit : kStepBlockUnit;
    check_.that(c_.block_size > 0 && c_.block_size <= kMostBlockSize && c_.block_size % unit == 0,
                "blockSize is %" PRId64 "; with %" PRId64
                " tokens per query it is a multiple of %" PRId64 " up to %" PRId64,
                c_.block_size, a_.queries, unit, kMostBlockSize);
    check_.that(k.tokens == c_.block_size,
                "key has pages of %" PRId64 " tokens; blockSize is %" PRId64, k.tokens,
                c_.block_size);
    check_.that(k.width == a_.width,
                "key has heads of %" PRId64 " elements; those of query have %" PRId64, k.width,
                a_.width);
    check_.that(cache.rank() == 4 || cache.shape[2] <= kWidestPage,
                "key has %" PRId64 " as its last dimension; at most %" PRId64 " is allowed",
                cache.shape[2], kWidestPage);
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

  // One length for all, or the first of at least one per sequence; without any the tensors say it.
  void shorten(const Named<aclIntArray> &given, std::vector<int64_t> *lengths) {
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

  void lengths() {
    if (!a_.packed()) {
      a_.query_lengths.assign(static_cast<size_t>(a_.batch), a_.queries);
      if (prompt()) shorten(c_.query_lengths, &a_.query_lengths);  // one token is its own length
    }
    if (a_.key_starts.empty()) shorten(c_.key_lengths, &a_.key_lengths);
  }

  // A mask or an encoding reaches over whole pages.
  void table() {
    const int64_t longest = *std::max_element(a_.key_lengths.begin(), a_.key_lengths.end());
    a_.keys = (longest + a_.block_size - 1) / a_.block_size * a_.block_size;
  }

  void limits() {
    check_.that(a_.width <= kWidestHead,
                "query has heads of %" PRId64 " elements; at most %" PRId64 " are allowed",
                a_.width, kWidestHead);
    check_.that(!turned_ || prompt(),
                "inputLayout is BNSD_BSND, which needs more than one token per query");
    if (!prompt()) return;
    check_.that(a_.width % kWidthUnit == 0,
                "query has heads of %" PRId64
                " elements; with more than one token it is a multiple of %" PRId64,
                a_.width, kWidthUnit);
    check_.that(a_.queries <= kMostTokens && a_.keys <= kMostTokens,
                "query has %" PRId64 " tokens and key %" PRId64 "; at most %" PRId64 " are allowed",
                a_.queries, a_.keys, kMostTokens);
  }

  void pse() {
    if (!c_.pse) return;
    check_.that(!a_.packed(), "%s is given; with inputLayout TND it must be null", c_.pse.name);
    const aclTensor &t = *c_.pse.given;
    check_.rank(c_.pse.name, &t, 4, 4);
    if (!ok()) return;
    check_.that((t.shape[0] == a_.batch || t.shape[0] == 1) && t.shape[1] == a_.heads &&
                    t.shape[2] >= a_.queries && t.shape[3] >= a_.keys,
                "%s has shape %s; expected (%" PRId64 " or 1, %" PRId64 ", at least %" PRId64
                ", at least %" PRId64 ")",
                c_.pse.name, shape_text(layout_of(t)).c_str(), a_.batch, a_.heads, a_.queries,
                a_.keys);
  }

  // A step has one row per sequence, whatever the rank; a prompt may share its rows between
  // sequences.
  void mask() {
    if (prompt()) {
      check_.that(c_.sparse_mode >= 0 && c_.sparse_mode <= 4,
                  "sparseMode is %" PRId64 "; allowed: 0 to 4", c_.sparse_mode);
      check_.that(c_.mask || c_.sparse_mode == 0, "%s is null; sparseMode %" PRId64 " needs it",
                  c_.mask.name, c_.sparse_mode);
      check_.that(!a_.packed() || (c_.mask ? c_.sparse_mode >= 3 : c_.sparse_mode == 0),
                  "sparseMode is %" PRId64
                  "; with inputLayout TND it is 0 without a mask, 3 or 4 with one",
                  c_.sparse_mode);
      a_.triangle = c_.sparse_mode >= 2;
    }
    if (!ok() || !c_.mask) return;
    const aclTensor &t = *c_.mask.given;
    check_.rank(c_.mask.name, &t, 2, 4);
    if (!ok()) return;
    const size_t last = t.rank() - 1;
    const std::string shape = shape_text(layout_of(t));
    if (a_.triangle) {
      check_.that(t.shape[last] == kTriangle && t.shape[last - 1] == kTriangle &&
                      t.numel() == kTriangle * kTriangle,
                  "%s has shape %s; sparseMode %" PRId64 " takes (%" PRId64 ", %" PRId64 ")",
                  c_.mask.name, shape.c_str(), c_.sparse_mode, kTriangle, kTriangle);
    } else if (prompt()) {
      const int64_t batch = last == 1 ? 1 : t.shape[0];
      check_.that((batch == 1 || batch == a_.batch) && (last < 3 || t.shape[1] == 1) &&
                      t.shape[last - 1] >= a_.queries && t.shape[last] >= a_.keys,
                  "%s has shape %s; expected at least (%" PRId64 ", %" PRId64
                  "), or such a matrix for each of the %" PRId64 " sequences",
                  c_.mask.name, shape.c_str(), a_.queries, a_.keys, a_.batch);
    } else {
      check_.that(t.shape[0] == a_.batch && t.numel() == t.shape[0] * t.shape[last] &&
                      t.shape[last] >= a_.keys,
                  "%s has shape %s; with one token per query expected (%" PRId64
                  ", at least %" PRId64 ")",
                  c_.mask.name, shape.c_str(), a_.batch, a_.keys);
      a_.one_mask_row = true;
    }
  }

  // Left-up masks count from the first tokens of both sequences, right-down ones and bands from the
  // last.
  void bands() {
    const int64_t mode = prompt() ? c_.sparse_mode : 0;
    const bool limited = prompt() && c_.mask && (mode == 0 || mode == 4);
    const int64_t before = std::clamp(c_.before, -kFarthest, kFarthest),
                  after = std::clamp(c_.after, -kFarthest, kFarthest);
    check_.that(!limited || before + after >= 0,
                "preTokens is %" PRId64 " and nextTokens %" PRId64
                "; their sum must not be negative",
                c_.before, c_.after);
    for (size_t b = 0; b < static_cast<size_t>(a_.batch); ++b) {
      const int64_t shift = a_.key_lengths[b] - a_.query_lengths[b];
      if (mode == 2) {
        a_.bands.push_back({kFarthest, 0});
      } else if (mode == 3) {
        a_.bands.push_back({kFarthest, shift});
      } else if (mode == 4) {
        a_.bands.push_back({before - shift, after + shift});
      } else {
        a_.bands.push_back(limited ? Band{before, after} : Band{kFarthest, kFarthest});
      }
    }
  }

  void results() {
    Layout expected;
    const int64_t sizes[] = {a_.batch, a_.queries, a_.heads, a_.width};
    if (turned_) {
      for (const int64_t size : sizes) expected.push(size, 0);
    } else {
      expected = layout_of(*c_.query);
    }
    check_.shape("attentionOut", c_.out, expected);
    if (!c_.with_lse) return;
    Layout rows;
    if (a_.packed()) {
      for (const int64_t size : {c_.query->shape[0], a_.heads, int64_t{1}}) rows.push(size, 0);
    } else {
      for (const int64_t size : {a_.batch, a_.heads, a_.queries, int64_t{1}}) rows.push(size, 0);
    }
    check_.shape(c_.lse.name, c_.lse.given, rows);
  }

  const AttentionCall &c_;
  Attention &a_;
  Check check_;
  std::vector<const aclTensor *> keys_, values_;
  bool turned_ = false;  // the result has its tokens before its heads, unlike the query
};

}  // namespace

Status check_attention(const AttentionCall &call, Attention *attention) {
  return AttentionRules(call, attention).run();
}

}  // namespace emu
