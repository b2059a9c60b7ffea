// SPDX-License-Identifier: Apache-2.0
// What the attention of training does with the pairs of its tokens: modes, masks, biases, dropout.
#include "ops/attention/training/training_rules.h"

namespace emu {
namespace {

constexpr int64_t kMostPrefixed = 2048, kMostPackedPrefixed = 1024, kTriangle = 2048,
                  kTriangleAndRows = 3072, kLastRows = 1024;

}  // namespace

void TrainingRules::mode() {
  t_.masked = bool(c_.mask);
  const int64_t mode = c_.sparse_mode;
  const bool known = mode >= 0 && mode <= 8 && (packed() ? mode != 5 : mode <= 6);
  check_.that(known, "sparseMode is %" PRId64 "; allowed: %s", mode,
              packed() ? "0 to 4, 6, 7, 8" : "0 to 6");
  check_.that(mode != 6 || !c_.query_rope, "sparseMode is 6; then %s must be null",
              c_.query_rope.name);
  if (!ok()) return;
  // Without a mask everything is computed, whatever the mode.
  t_.sparse_mode = c_.mask ? mode : 1;
  a_.triangle = t_.sparse_mode >= 2 && t_.sparse_mode != 5;
  t_.band = {std::clamp(c_.before, -kFarthest, kFarthest),
             std::clamp(c_.after, -kFarthest, kFarthest)};
  const bool limited =
      t_.sparse_mode == 0 || t_.sparse_mode == 4 || t_.sparse_mode == 7 || t_.sparse_mode == 8;
  check_.that(!limited || t_.band.before + t_.band.after >= 0,
              "preTokens is %" PRId64 " and nextTokens %" PRId64 "; their sum must not be negative",
              c_.before, c_.after);
  if (!packed() || t_.sparse_mode != 3) return;
  each_sequence([&](int64_t queries, int64_t keys, size_t b) {
    check_.that(queries <= keys,
                "%s and %s give sequence %zu %" PRId64 " queries and %" PRId64
                " keys; with sparseMode 3 it must not have more queries",
                c_.query_ends.name, c_.key_ends.name, b, queries, keys);
  });
}

void TrainingRules::mask() {
  const aclTensor &t = *c_.mask.given;
  const std::string shape = shape_text(layout_of(t));
  check_.rank(c_.mask.name, &t, 2, 4);
  if (!ok()) return;
  const size_t last = t.rank() - 1;
  if (a_.triangle) {
    const int64_t rows = t_.sparse_mode == 6 ? kTriangleAndRows : kTriangle;
    check_.that(
        t.shape[last] == kTriangle && t.shape[last - 1] == rows && t.numel() == rows * kTriangle,
        "%s has shape %s; sparseMode %" PRId64 " takes (%" PRId64 ", %" PRId64 ")", c_.mask.name,
        shape.c_str(), t_.sparse_mode, rows, kTriangle);
    return;
  }
  const auto fits = [&](int64_t given, int64_t needed) {
    return packed() ? given >= needed : given == needed;
  };
  check_.that(t.rank() != 3, "%s has shape %s; it has 2 or 4 dimensions", c_.mask.name,
              shape.c_str());
  const bool whole = t.rank() == 2 || ((t.shape[0] == 1 || t.shape[0] == a_.batch) &&
                                       (t.shape[1] == 1 || t.shape[1] == a_.heads));
  check_.that(whole && fits(t.shape[last - 1], a_.queries) && fits(t.shape[last], a_.keys),
              "%s has shape %s; expected%s (%" PRId64 ", %" PRId64
              "), or 4 dimensions with %" PRId64 " or 1 and %" PRId64 " or 1 in front",
              c_.mask.name, shape.c_str(), packed() ? " at least" : "", a_.queries, a_.keys,
              a_.batch, a_.heads);
}

void TrainingRules::prefix() {
  if (t_.sparse_mode != 5 && t_.sparse_mode != 6) return;
  check_.that(c_.prefix || t_.sparse_mode == 5, "%s is null; sparseMode 6 needs it",
              c_.prefix.name);
  if (!ok()) return;
  if (!c_.prefix) {
    t_.sparse_mode = 1;
    return;
  }
  const int64_t most = packed() ? kMostPackedPrefixed : kMostPrefixed;
  check_.that(static_cast<int64_t>(c_.prefix->values.size()) == a_.batch && a_.batch <= most,
              "%s has %zu elements; it must have one for each of the %" PRId64
              " sequences, of which there are at most %" PRId64,
              c_.prefix.name, c_.prefix->values.size(), a_.batch, most);
  for (size_t b = 0; ok() && b < c_.prefix->values.size(); ++b) {
    const int64_t queries = packed() ? a_.query_lengths[b] : a_.queries,
                  keys = packed() ? a_.key_lengths[b] : a_.keys, given = c_.prefix->values[b],
                  least = std::max<int64_t>(0, keys - queries);
    check_.that(given >= least && (given <= keys || t_.sparse_mode == 5),
                "%s[%zu] is %" PRId64 "; allowed: %" PRId64 " to %" PRId64, c_.prefix.name, b,
                given, least, keys);
  }
  t_.prefix = c_.prefix->values;
}

void TrainingRules::bias() {
  if (!c_.pse) return;
  const aclTensor &t = *c_.pse.given;
  const std::string shape = shape_text(layout_of(t));
  check_.that(t_.sparse_mode != 7, "%s is given; with sparseMode 7 it must be null", c_.pse.name);
  each_sequence([&](int64_t queries, int64_t, size_t b) {
    check_.that(queries > 0, "%s is given, but sequence %zu has no query", c_.pse.name, b);
  });
  if (!ok()) return;
  t_.bias_scale = c_.pse_type == 1 ? a_.scale : 1.0f;
  if (t_.slopes) {
    const bool fits = (t.rank() == 1 && t.shape[0] == a_.heads) ||
                      (t.rank() == 2 && t.shape[0] == a_.batch && t.shape[1] == a_.heads);
    check_.that(fits,
                "%s has shape %s; with pseType %" PRId64 " it is (%" PRId64 ",) or (%" PRId64
                ", %" PRId64 ")",
                c_.pse.name, shape.c_str(), c_.pse_type, a_.heads, a_.batch, a_.heads);
    t_.roots = c_.pse_type == 3;
    distances();
    return;
  }
  if (packed() && t.rank() == 1) {
    Checked total(0);
    for (size_t b = 0; b < a_.query_lengths.size(); ++b)
      total += Checked(a_.query_lengths[b]) * a_.key_lengths[b] * a_.heads;
    const int64_t needed = check_.size(c_.pse.name, total);
    check_.that(t.shape[0] == needed,
                "%s has %" PRId64 " elements; the pairs of all sequences and heads are %" PRId64,
                c_.pse.name, t.shape[0], needed);
    t_.bias = BiasForm::kPackedPairs;
    return;
  }
  check_.rank(c_.pse.name, &t, 4, 4);
  if (!ok()) return;
  const bool shared = (t.shape[0] == 1 || t.shape[0] == a_.batch) && t.shape[1] == a_.heads;
  const bool last_rows = t.shape[2] == kLastRows && (packed() || a_.queries > kLastRows);
  if (last_rows) {
    each_sequence([&](int64_t queries, int64_t keys, size_t b) {
      check_.that(queries == keys,
                  "%s has the last %" PRId64 " rows, but sequence %zu has %" PRId64
                  " queries and %" PRId64 " keys; they must be equal",
                  c_.pse.name, kLastRows, b, queries, keys);
    });
    check_.that(t_.sparse_mode == 0 || t_.sparse_mode == 2 || t_.sparse_mode == 3,
                "%s has the last %" PRId64 " rows; then sparseMode is 0, 2 or 3, with a mask",
                c_.pse.name, kLastRows);
    check_.that(
        shared && t.shape[3] >= std::max(a_.keys, kLastRows) && (packed() || t.shape[3] == a_.keys),
        "%s has shape %s; expected (%" PRId64 " or 1, %" PRId64 ", %" PRId64 ", %" PRId64 ")",
        c_.pse.name, shape.c_str(), a_.batch, a_.heads, kLastRows, std::max(a_.keys, kLastRows));
    t_.bias = BiasForm::kLastRows;
    return;
  }
  check_.that(
      !packed() && shared && (t.shape[2] == 1 || t.shape[2] == a_.queries) && t.shape[3] == a_.keys,
      "%s has shape %s; expected (%" PRId64 " or 1, %" PRId64 ", %" PRId64 " or 1, %" PRId64 ")%s",
      c_.pse.name, shape.c_str(), a_.batch, a_.heads, a_.queries, a_.keys,
      packed() ? ", of unpacked sequences; packed ones lie behind each other" : "");
  t_.bias = BiasForm::kPairs;
}

// The distance between tokens counts from the beginning of the whole sequences.
void TrainingRules::distances() {
  const auto first = [](const Named<aclIntArray> &list) {
    return list && !list->values.empty() ? list->values[0] : int64_t{0};
  };
  const int64_t query = first(c_.query_start), key = first(c_.key_start);
  for (const auto &[name, value] :
       {std::pair{c_.query_start.name, query}, std::pair{c_.key_start.name, key}})
    check_.that(value >= -kFarthest && value <= kFarthest,
                "%s[0] is %" PRId64 "; allowed: %" PRId64 " to %" PRId64, name, value, -kFarthest,
                kFarthest);
  if (!ok()) return;
  bool cut = t_.sparse_mode == 8;
  each_sequence([&](int64_t queries, int64_t keys, size_t b) {
    const bool is_first = cut;
    cut = false;
    check_.that(queries == keys || (is_first && queries - keys + query - key == 0),
                "%s is given with pseType %" PRId64 ", but sequence %zu has %" PRId64
                " queries and %" PRId64 " keys; they must be equal",
                c_.pse.name, c_.pse_type, b, queries, keys);
  });
  (t_.sparse_mode == 8 ? t_.start_distance : t_.distance) = query - key;
}

void TrainingRules::dropout() {
  check_.that(c_.drop || c_.keep == 1.0,
              "keepProb is %g and %s is null; make the mask with aclnnDropoutGenMask", c_.keep,
              c_.drop.name);
  if (!ok() || !c_.drop) return;
  Checked bits(0);
  if (packed()) {
    for (size_t b = 0; b < a_.query_lengths.size(); ++b)
      bits += Checked(a_.query_lengths[b]) * a_.key_lengths[b] * a_.heads;
  } else {
    bits = Checked(a_.batch) * a_.heads * a_.queries * a_.keys;
  }
  const int64_t needed = check_.size(c_.drop.name, bits);
  const int64_t bytes = needed / 8 + (needed % 8 != 0);
  check_.that(c_.drop->numel() >= bytes,
              "%s has %" PRId64 " bytes; a bit for each pair of tokens takes %" PRId64,
              c_.drop.name, c_.drop->numel(), bytes);
}

}  // namespace emu
