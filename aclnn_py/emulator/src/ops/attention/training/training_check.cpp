// SPDX-License-Identifier: Apache-2.0
// The tensors of the attention of training and their sizes.
#include <cstring>

#include "ops/attention/training/training_rules.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kMostBatches = 2 << 20, kMostTokens = 1 << 20, kMostHeads = 256, kWidest = 768,
                  kMostPacked = 20000, kLanes = 8;

}  // namespace

Status TrainingRules::run() {
  nulls();
  if (ok() && form_.united) {
    if (const Status s = check_chip(check_, kNoKernel)) return s;
  }
  dtypes();
  check_.tiling();
  if (ok()) layout();
  if (ok()) sizes();
  if (ok()) attributes();
  if (ok()) mode();
  if (ok() && c_.mask) mask();
  if (ok()) prefix();
  if (ok()) bias();
  if (ok()) dropout();
  if (ok()) others();
  if (ok()) statistics();
  if (ok()) results();
  return check_.status();
}

void TrainingRules::nulls() {
  for (const auto *t : {&c_.query, &c_.key, &c_.value}) check_.required(t->name, t->given);
  if (form_.gradient) check_.required(c_.dy.name, c_.dy.given);
  each_optional([&](const Named<aclTensor> &t) { check_.optional(t.name, t.given); });
  for (const auto *list :
       {&c_.prefix, &c_.query_ends, &c_.key_ends, &c_.query_start, &c_.key_start})
    check_.optional(list->name, list->given);
  each_reserved([&](const Named<aclTensor> &t) { check_.optional(t.name, t.given); });
  for (const auto *t : {&c_.softmax, &c_.pse_gradient}) check_.optional(t->name, t->given);
  check_.required_text(c_.layout.name, c_.layout.given);
  if (form_.gradient) {
    for (const auto *t : {&c_.query_gradient, &c_.key_gradient, &c_.value_gradient})
      check_.required(t->name, t->given);
  } else {
    for (const auto *t : {&c_.highest, &c_.sum, &c_.out}) check_.required(t->name, t->given);
  }
}

void TrainingRules::dtypes() {
  const aclDataType kind = ok() ? c_.query->dtype : ACL_FLOAT;
  check_.dtype(c_.query.name, c_.query.given);
  const auto same = [&](const Named<aclTensor> &t) {
    check_.dtype(t.name, t.given);
    if (ok()) check_.same_dtype(t.name, t->dtype, c_.query.name, kind);
  };
  same(c_.key);
  same(c_.value);
  for (const auto *t : {&c_.query_rope, &c_.key_rope}) {
    if (*t) same(*t);
  }
  if (c_.pse) {
    check_.dtype(c_.pse.name, c_.pse.given);
    t_.slopes = c_.pse_type == 2 || c_.pse_type == 3;
    if (ok() && t_.slopes) check_.dtype_in(c_.pse.name, c_.pse->dtype, dtype_set(ACL_FLOAT));
    else if (ok()) check_.same_dtype(c_.pse.name, c_.pse->dtype, c_.query.name, kind);
  }
  for (const auto *t : {&c_.drop, &c_.mask, &c_.sink, &c_.highest, &c_.sum, &c_.sink_gradient})
    check_.dtype(t->name, t->given);
  for (const auto *t : {&c_.out, &c_.dy, &c_.query_gradient, &c_.key_gradient, &c_.value_gradient,
                        &c_.query_rope_gradient, &c_.key_rope_gradient}) {
    if (*t) same(*t);
  }
  each_reserved([&](const Named<aclTensor> &t) { check_.dtype(t.name, t.given); });
  each_optional([&](const Named<aclTensor> &t) { check_.plain_format(t.name, t.given); });
}

void TrainingRules::layout() {
  struct Known {
    const char *name;
    Arrangement form;
  };
  static constexpr Known kKnown[] = {{"BSH", Arrangement::kHidden},
                                     {"SBH", Arrangement::kHidden},
                                     {"BSND", Arrangement::kTokensFirst},
                                     {"BNSD", Arrangement::kHeadsFirst},
                                     {"TND", Arrangement::kPacked}};
  const char *allowed = form_.united   ? "BSH, SBH, BSND, BNSD, TND"
                        : form_.packed ? "TND"
                                       : "BSH, SBH, BSND, BNSD";
  const auto *found = std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known &k) {
    return std::strcmp(k.name, c_.layout.given) == 0 &&
           (form_.united || form_.packed == (k.form == Arrangement::kPacked));
  });
  check_.that(found != std::end(kKnown), "inputLayout is \"%.40s\"; allowed: %s", c_.layout.given,
              allowed);
  check_.that(c_.heads >= 1 && c_.heads <= kMostHeads,
              "headNum is %" PRId64 "; allowed: 1 to %" PRId64, c_.heads, kMostHeads);
  if (!ok()) return;
  a_.op = c_.op;
  a_.query_form = a_.key_form = a_.prefix_form = a_.out_form = found->form;
  t_.sequence_first = found->name[0] == 'S';
  a_.heads = c_.heads;
  check_.that(!c_.padding || c_.padding->numel() == 0, "%s is reserved; pass null",
              c_.padding.name);
  each_reserved([&](const Named<aclTensor> &t) {
    check_.that(!t, "%s is given; queries of this dtype have no scale, pass null", t.name);
  });
  const std::string statistics = c_.softmax_layout ? c_.softmax_layout.given : "";
  check_.that(statistics.empty() || statistics == "same_as_input",
              "%s is \"%.40s\"; allowed: \"\", \"same_as_input\"", c_.softmax_layout.name,
              statistics.c_str());
  t_.tokens_first = statistics == "same_as_input";
}

// `width` is that of a head where heads lie side by side and their number is not known.
TrainingRules::Sizes TrainingRules::measure(const Named<aclTensor> &t, int64_t heads,
                                            int64_t width) {
  const bool hidden = a_.query_form == Arrangement::kHidden;
  const int rank = hidden || packed() ? 3 : 4;
  check_.rank(t.name, t.given, rank, rank);
  if (!ok()) return {};
  const auto &s = t->shape;
  if (packed()) return {1, s[0], s[1], s[2]};
  if (!hidden) {
    const size_t n = a_.query_form == Arrangement::kHeadsFirst ? 1 : 2;
    return {s[0], s[3 - n], s[n], s[3]};
  }
  const size_t b = t_.sequence_first ? 1 : 0;
  if (heads == 0) {
    check_.that(width > 0 && s[2] % width == 0,
                "%s has %" PRId64 " as its last dimension, not a multiple of the %" PRId64
                " elements of a head",
                t.name, s[2], width);
    return ok() ? Sizes{s[b], s[1 - b], s[2] / width, width} : Sizes{};
  }
  check_.that(s[2] % heads == 0,
              "%s has %" PRId64 " as its last dimension, not a multiple of its %" PRId64 " heads",
              t.name, s[2], heads);
  return ok() ? Sizes{s[b], s[1 - b], heads, s[2] / heads} : Sizes{};
}

void TrainingRules::sizes() {
  const Sizes q = measure(c_.query, a_.heads);
  if (!ok()) return;
  const Sizes k = measure(c_.key, 0, q.width);
  if (!ok()) return;
  check_.that(q.heads == a_.heads, "%s has %" PRId64 " heads; headNum is %" PRId64, c_.query.name,
              q.heads, a_.heads);
  check_.that(k.heads >= 1 && a_.heads % k.heads == 0,
              "%s has %" PRId64 " heads; their number must divide headNum, %" PRId64, c_.key.name,
              k.heads, a_.heads);
  if (!ok()) return;
  const Sizes v = measure(c_.value, k.heads);
  if (!ok()) return;
  check_.that(k.batch == q.batch && v.batch == q.batch,
              "%s has %" PRId64 " sequences, %s %" PRId64 " and %s %" PRId64
              "; the numbers must be equal",
              c_.query.name, q.batch, c_.key.name, k.batch, c_.value.name, v.batch);
  check_.that(v.tokens == k.tokens && v.heads == k.heads,
              "%s has shape %s; its tokens and heads must be those of %s, %s", c_.value.name,
              shape_text(layout_of(*c_.value.given)).c_str(), c_.key.name,
              shape_text(layout_of(*c_.key.given)).c_str());
  check_.that(k.width == q.width && v.width <= k.width,
              "heads of %s have %" PRId64 " elements, of %s %" PRId64 " and of %s %" PRId64
              "; the first two must be equal and the third not greater",
              c_.query.name, q.width, c_.key.name, k.width, c_.value.name, v.width);
  check_.that(v.width >= 1 && q.width <= kWidest,
              "heads of %s have %" PRId64 " elements and of %s %" PRId64 "; allowed: 1 to %" PRId64,
              c_.query.name, q.width, c_.value.name, v.width, kWidest);
  check_.that(q.batch >= 1 && q.batch <= kMostBatches,
              "%s has %" PRId64 " sequences; allowed: 1 to %" PRId64, c_.query.name, q.batch,
              kMostBatches);
  for (const auto &[name, tokens] :
       {std::pair{c_.query.name, q.tokens}, std::pair{c_.key.name, k.tokens}})
    check_.that(tokens >= 1 && tokens <= kMostTokens,
                "%s has %" PRId64 " tokens; allowed: 1 to %" PRId64, name, tokens, kMostTokens);
  if (!ok()) return;
  a_.batch = q.batch;
  a_.kv_heads = k.heads;
  a_.width = q.width;
  a_.value_width = v.width;
  a_.queries = t_.query_tokens = q.tokens;
  a_.keys = t_.key_tokens = k.tokens;
  if (packed()) sequences();
  if (ok()) ropes(q, k);
}

void TrainingRules::ropes(const Sizes &q, const Sizes &k) {
  check_.that(bool(c_.query_rope) == bool(c_.key_rope),
              "only one of %s and %s is given; pass both or none", c_.query_rope.name,
              c_.key_rope.name);
  if (!ok() || !c_.query_rope) return;
  const Sizes qr = measure(c_.query_rope, a_.heads), kr = measure(c_.key_rope, a_.kv_heads);
  if (!ok()) return;
  check_.that(qr.batch == q.batch && qr.tokens == q.tokens && qr.heads == q.heads,
              "%s has shape %s; only its last dimension may differ from %s, %s", c_.query_rope.name,
              shape_text(layout_of(*c_.query_rope.given)).c_str(), c_.query.name,
              shape_text(layout_of(*c_.query.given)).c_str());
  check_.that(
      kr.batch == k.batch && kr.tokens == k.tokens && kr.heads == k.heads && kr.width == qr.width,
      "%s has shape %s; its heads have as many elements as those of %s, and its other "
      "dimensions are those of %s",
      c_.key_rope.name, shape_text(layout_of(*c_.key_rope.given)).c_str(), c_.query_rope.name,
      c_.key.name);
  check_.that(qr.width >= 1 && qr.width <= kWidest,
              "heads of %s have %" PRId64 " elements; allowed: 1 to %" PRId64, c_.query_rope.name,
              qr.width, kWidest);
  check_.that(!c_.pse && !c_.drop, "%s is given; then %s and %s must be null", c_.query_rope.name,
              c_.pse.name, c_.drop.name);
  a_.rope_width = qr.width;
}

// The ends of sequences; the last ones may be 0 and stand for sequences without tokens.
int64_t TrainingRules::unpack(const Named<aclIntArray> &ends, const char *of, int64_t tokens,
                              std::vector<int64_t> *starts, std::vector<int64_t> *lengths) {
  check_.that(ends && !ends->values.empty(), "%s is missing; with inputLayout TND it is needed",
              ends.name);
  if (!ok()) return 0;
  size_t used = ends->values.size();
  while (used > 1 && ends->values[used - 1] == 0) --used;
  int64_t last = 0, longest = 0;
  for (size_t i = 0; i < ends->values.size(); ++i) {
    const int64_t end = i < used ? ends->values[i] : last;
    check_.that(end >= last && end <= tokens,
                "%s[%zu] is %" PRId64 "; allowed: %" PRId64 " to %" PRId64
                ", from the end before it to the tokens of %s",
                ends.name, i, end, last, tokens, of);
    if (!ok()) return 0;
    starts->push_back(last);
    lengths->push_back(end - last);
    longest = std::max(longest, end - last);
    last = end;
  }
  return longest;
}

void TrainingRules::sequences() {
  for (const auto *list : {&c_.query_ends, &c_.key_ends})
    check_.that(!*list || static_cast<int64_t>((*list)->values.size()) <= kMostPacked,
                "%s has %zu sequences; at most %" PRId64 " are allowed", list->name,
                *list ? (*list)->values.size() : 0, kMostPacked);
  if (!ok()) return;
  a_.queries =
      unpack(c_.query_ends, c_.query.name, t_.query_tokens, &a_.query_starts, &a_.query_lengths);
  a_.keys = unpack(c_.key_ends, c_.key.name, t_.key_tokens, &a_.key_starts, &a_.key_lengths);
  if (!ok()) return;
  check_.that(a_.query_lengths.size() == a_.key_lengths.size(),
              "%s has %zu sequences and %s %zu; the numbers must be equal", c_.query_ends.name,
              a_.query_lengths.size(), c_.key_ends.name, a_.key_lengths.size());
  a_.batch = static_cast<int64_t>(a_.query_lengths.size());
}

void TrainingRules::attributes() {
  a_.scale = static_cast<float>(c_.scale);
  t_.keep = static_cast<float>(c_.keep);
  check_.that(c_.keep > 0.0 && c_.keep <= 1.0 && t_.keep > 0.0f,
              "keepProb is %g; allowed: greater than 0, up to 1", c_.keep);
  check_.that(c_.pse_type >= 0 && c_.pse_type <= 3, "pseType is %" PRId64 "; allowed: 0 to 3",
              c_.pse_type);
  check_.that(c_.inner_precise >= 0 && c_.inner_precise <= 4,
              "innerPrecise is %" PRId64 "; allowed: 0 to 4", c_.inner_precise);
  a_.clear_masked_rows = c_.inner_precise == 2;
}

void TrainingRules::others() {
  if (!c_.sink) return;
  check_.rank(c_.sink.name, c_.sink.given, 1, 1);
  check_.that(ok() && c_.sink->shape[0] == a_.heads,
              "%s has shape %s; it must be (%" PRId64 ",), an element per head", c_.sink.name,
              shape_text(layout_of(*c_.sink.given)).c_str(), a_.heads);
  check_.that(c_.query->dtype != ACL_FLOAT, "%s is FLOAT; with %s it is FLOAT16 or BFLOAT16",
              c_.query.name, c_.sink.name);
}

void TrainingRules::statistics() {
  for (const auto *t : {&c_.highest, &c_.sum}) {
    check_.that(bool(*t), "%s is null; the gradient needs what the forward form put there",
                t->name);
    if (!ok()) return;
    const auto &s = (*t)->shape;
    const std::string shape = shape_text(layout_of(*t->given));
    if (packed()) {
      const bool fits = s.size() == 3 && s[2] == kLanes &&
                        ((s[0] == t_.query_tokens && s[1] == a_.heads) ||
                         (s[0] == a_.heads && s[1] == t_.query_tokens));
      check_.that(fits,
                  "%s has shape %s; expected (%" PRId64 ", %" PRId64 ", 8) or (%" PRId64
                  ", %" PRId64 ", 8)",
                  t->name, shape.c_str(), a_.heads, t_.query_tokens, t_.query_tokens, a_.heads);
    } else {
      const int64_t expected[] = {a_.batch, a_.heads, a_.queries, kLanes};
      check_.shape(t->name, t->given, dense_layout(expected, 4));
    }
  }
}

void TrainingRules::results() {
  // dy, and the result of the forward form.
  Layout like = layout_of(*c_.query.given);
  const int last = like.rank - 1;
  like.shape[last] =
      a_.query_form == Arrangement::kHidden ? a_.heads * a_.value_width : a_.value_width;
  if (!form_.gradient) {
    check_.shape(c_.out.name, c_.out.given, like);
    return;
  }
  check_.shape(c_.dy.name, c_.dy.given, like);
  check_.that(bool(c_.out), "%s is null; the gradient needs the result of the forward form",
              c_.out.name);
  if (!ok()) return;
  check_.shape(c_.out.name, c_.out.given, like);
  const auto as = [&](const Named<aclTensor> &t, const Named<aclTensor> &model) {
    check_.that(!model || bool(t), "%s is null, but %s is given", t.name, model.name);
    if (ok() && model && t) check_.shape(t.name, t.given, layout_of(*model.given));
  };
  as(c_.query_gradient, c_.query);
  as(c_.key_gradient, c_.key);
  as(c_.value_gradient, c_.value);
  as(c_.query_rope_gradient, c_.query_rope);
  as(c_.key_rope_gradient, c_.key_rope);
  as(c_.sink_gradient, c_.sink);
}

Status check_training(const TrainingCall &call, TrainingForm form, Training *training) {
  return TrainingRules(call, form, training).run();
}

}  // namespace emu
