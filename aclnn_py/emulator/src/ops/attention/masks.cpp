// SPDX-License-Identifier: Apache-2.0
// What is added to scores or hides them, and the shapes of the results.
#include <algorithm>

#include "ops/attention/rules.h"

namespace emu {
namespace {

constexpr int64_t kTriangle = 2048, kTreeMode = 9;

}  // namespace

void AttentionRules::pse() {
  if (!c_.pse) return;
  check_.that(!a_.packed(), "%s is given; with inputLayout %s it must be null", c_.pse.name,
              c_.layout.given);
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
void AttentionRules::mask() {
  const bool may_be_tree = form_.relaxed && c_.sparse_mode == kTreeMode;
  if (prompt() || may_be_tree) {
    check_.that((c_.sparse_mode >= 0 && c_.sparse_mode <= 4) || may_be_tree,
                "sparseMode is %" PRId64 "; allowed: 0 to 4%s", c_.sparse_mode,
                form_.relaxed ? ", 9" : "");
    check_.that(c_.mask || c_.sparse_mode == 0, "%s is null; sparseMode %" PRId64 " needs it",
                c_.mask.name, c_.sparse_mode);
    check_.that(!a_.packed() || (c_.mask ? c_.sparse_mode >= 3 : c_.sparse_mode == 0),
                "sparseMode is %" PRId64
                "; with inputLayout %s it is 0 without a mask, 3 or 4 with one",
                c_.sparse_mode, c_.layout.given);
    a_.triangle = c_.sparse_mode >= 2 && c_.sparse_mode <= 4;
  }
  if (!ok() || !c_.mask) return;
  may_be_tree ? tree() : mask_shape();
}

void AttentionRules::mask_shape() {
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
                "%s has shape %s; with one token per query expected (%" PRId64 ", at least %" PRId64
                ")",
                c_.mask.name, shape.c_str(), a_.batch, a_.keys);
    a_.one_mask_row = true;
  }
}

// Which of the last tokens of a sequence meet each other: a matrix per sequence, or for packed
// sequences their matrices one after the other.
void AttentionRules::tree() {
  const aclTensor &t = *c_.mask.given;
  check_.that(!c_.pse && !c_.key_prefix && !a_.query_padded && !a_.keys_padded && !c_.quant2,
              "sparseMode is 9; then %s, shared prefixes, sequences padded on the left and results "
              "of INT8 are not allowed",
              c_.pse.name);
  check_.rank(c_.mask.name, &t, a_.packed() ? 1 : 3, a_.packed() ? 1 : 3);
  if (!ok()) return;
  Layout expected;
  if (a_.packed()) {
    Checked total(0);
    for (const int64_t length : a_.query_lengths) total += Checked(length) * length;
    expected.push(check_.size(c_.mask.name, total), 1);
  } else {
    for (const int64_t size : {a_.batch, a_.queries, a_.queries}) expected.push(size, 0);
  }
  check_.shape(c_.mask.name, &t, expected);
  for (size_t b = 0; ok() && b < static_cast<size_t>(a_.batch); ++b) {
    check_.that(
        a_.query_lengths[b] <= a_.key_lengths[b],
        "sparseMode is 9; then no sequence has more queries than keys, but sequence %zu has "
        "%" PRId64 " and %" PRId64,
        b, a_.query_lengths[b], a_.key_lengths[b]);
  }
  a_.tree = true;
}

// Left-up masks count from the first tokens of both sequences, right-down ones and bands from the
// last. With padding on the left the mask alone decides in mode 0.
void AttentionRules::bands() {
  const int64_t mode = a_.triangle || prompt() ? c_.sparse_mode : 0;
  const bool padded = a_.query_padded || a_.keys_padded;
  const bool limited = prompt() && c_.mask && ((mode == 0 && !padded) || mode == 4);
  const int64_t before = std::clamp(c_.before, -kFarthest, kFarthest),
                after = std::clamp(c_.after, -kFarthest, kFarthest);
  check_.that(!limited || before + after >= 0,
              "preTokens is %" PRId64 " and nextTokens %" PRId64 "; their sum must not be negative",
              c_.before, c_.after);
  check_.that(!limited || !c_.quant2 || mode != 4 || (before >= 0 && after >= 0),
              "preTokens is %" PRId64 " and nextTokens %" PRId64
              "; with results of INT8 and sparseMode 4 they must not be negative",
              c_.before, c_.after);
  for (size_t b = 0; ok() && b < static_cast<size_t>(a_.batch); ++b) {
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
    // Rows without keys would become the offset instead of what the offset stands for.
    const Band &band = a_.bands.back();
    check_.that(!c_.offset2 || mode == 2 || (band.after >= 0 && band.before + shift >= 0),
                "%s is given, but sequence %zu has tokens that meet no key; quantise its result in "
                "an operator of its own",
                c_.offset2.name, b);
  }
}

// Scores that take their part of each softmax without a value.
void AttentionRules::sink() {
  if (!ok() || !c_.sink) return;
  check_.rank(c_.sink.name, c_.sink.given, 1, 1);
  check_.that(ok() && c_.sink->shape[0] == a_.heads,
              "%s has shape %s; it must be (%" PRId64 ",), an element per head", c_.sink.name,
              shape_text(layout_of(*c_.sink.given)).c_str(), a_.heads);
  check_.that(a_.value_width == 64 || a_.value_width == 128,
              "value has heads of %" PRId64 " elements; with %s it is 64 or 128", a_.value_width,
              c_.sink.name);
  check_.that(!c_.pse && !c_.key_prefix && !a_.query_padded && !a_.keys_padded && !c_.quant2 &&
                  !has_factors() && !byte_query(),
              "%s is given; then %s, shared prefixes, sequences padded on the left and quantised "
              "forms are not allowed",
              c_.sink.name, c_.pse.name);
}

void AttentionRules::results() {
  const int64_t b = a_.batch, n = a_.heads, s = a_.queries, d = a_.value_width;
  const int64_t rows =
      a_.packed() ? c_.query->shape[a_.query_form == Arrangement::kPacked ? 0 : 1] : 0;
  std::vector<int64_t> sizes;
  switch (a_.out_form) {
    case Arrangement::kHidden: sizes = {b, s, n * d}; break;
    case Arrangement::kTokensFirst: sizes = {b, s, n, d}; break;
    case Arrangement::kHeadsFirst: sizes = {b, n, s, d}; break;
    case Arrangement::kHeadsOutside: sizes = {n, b, s, d}; break;
    case Arrangement::kPacked: sizes = {rows, n, d}; break;
    default: sizes = {n, rows, d}; break;
  }
  Layout expected;
  for (const int64_t size : sizes) expected.push(size, 0);
  check_.shape("attentionOut", c_.out.given, expected);
  if (!c_.with_lse) return;
  Layout sums;
  sizes = a_.packed() ? std::vector<int64_t>{rows, n, 1} : std::vector<int64_t>{b, n, s, 1};
  for (const int64_t size : sizes) sums.push(size, 0);
  check_.shape(c_.lse.name, c_.lse.given, sums);
}

}  // namespace emu
