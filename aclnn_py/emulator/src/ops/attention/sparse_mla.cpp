// SPDX-License-Identifier: Apache-2.0
// SparseFlashMla: latent attention whose keys are also its values, over a window of the tokens, or
// chosen ones of them, and over compressed tokens, all of them or chosen ones. Sinks take their
// part of each softmax.
#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/sequences.h"

namespace emu {
namespace {

constexpr int64_t kWidth = 512, kMostHeads = 128, kPageUnit = 16, kLongestPage = 1024,
                  kMetadata = 1024, kMostRatio = 128;
constexpr int64_t kNoMask = 0, kCausal = 3, kBand = 4;
constexpr int64_t kWindow = 127, kChosenRatio = 4, kDenseRatio = 128;

// Tokens or compressed tokens, and what says which of them there are and which are chosen.
struct MlaSide {
  Named<aclTensor> kv, chosen, table, ends, used;
};

struct MlaCall {
  const aclTensor *q;
  MlaSide own, compressed;
  Named<aclTensor> query_ends, used_queries, residuals, counts, reserved, sinks, metadata;
  double scale;
  int64_t ratio, mask, compressed_mask, left, right;
  const char *query_layout, *key_layout;
  int64_t value_mode;
  bool with_lse;
  const aclTensor *out;
  Named<aclTensor> lse;
};

struct MlaPart {
  bool given = false;
  SequenceForm form;
  int64_t chosen = 0;  // for each token; 0 without a list
  size_t kv_at = kAbsent, chosen_at = kAbsent, table_at = kAbsent, ends_at = kAbsent,
         used_at = kAbsent;
};

struct Mla {
  SequenceForm query;
  MlaPart own, compressed;
  int64_t ratio = 1, mask = 0, compressed_mask = 0, left = -1, right = -1;
  float scale = 1.0f;
  bool with_lse = false, counted = false, with_residuals = false;
  size_t query_at, query_ends_at, residuals_at, counts_at, sinks_at, out_at, lse_at;
};

constexpr const char *kOp = "aclnnSparseFlashMla";

// Programs pass empty tensors for what they do not use.
bool used(const Named<aclTensor> &t) { return t && t->numel() != 0; }

template <class F>
void each_input(const MlaCall &c, F &&f) {
  for (const auto *t : {&c.own.kv, &c.compressed.kv, &c.own.chosen, &c.compressed.chosen,
                        &c.own.table, &c.compressed.table, &c.query_ends, &c.own.ends,
                        &c.compressed.ends, &c.used_queries, &c.own.used, &c.compressed.used,
                        &c.residuals, &c.counts, &c.reserved, &c.sinks, &c.metadata})
    f(*t);
}

class MlaRules {
 public:
  MlaRules(const MlaCall &call, Mla *mla) : c_(call), x_(*mla), check_(kOp) {}

  Status run() {
    arguments();
    if (check_.ok()) forms();
    if (check_.ok()) part(c_.own, &x_.own);
    if (check_.ok() && used(c_.compressed.kv)) part(c_.compressed, &x_.compressed);
    if (check_.ok()) modes();
    if (check_.ok()) rest();
    return check_.status();
  }

 private:
  void arguments() {
    check_.required("q", c_.q).required("attnOutOut", c_.out);
    each_input(c_, [&](const Named<aclTensor> &t) { check_.optional(t.name, t.given); });
    if (c_.with_lse) check_.required(c_.lse.name, c_.lse.given);
    check_.optional(c_.lse.name, c_.lse.given);
    check_.dtype("q", c_.q).dtype("attnOutOut", c_.out);
    each_input(c_, [&](const Named<aclTensor> &t) { check_.dtype(t.name, t.given); });
    check_.dtype(c_.lse.name, c_.lse.given);
    if (!check_.ok()) return;
    check_.same_dtype("attnOutOut", c_.out->dtype, "q", c_.q->dtype);
    for (const auto *t : {&c_.own.kv, &c_.compressed.kv})
      if (*t) check_.same_dtype(t->name, t->given->dtype, "q", c_.q->dtype);
    for (const auto *t : {&c_.own.kv, &c_.sinks, &c_.metadata})
      check_.that(used(*t), "%s is null or empty; it is needed", t->name);
    for (const auto *t : {&c_.used_queries, &c_.reserved})
      check_.that(!used(*t), "%s is given; pass null", t->name);
  }

  void forms() {
    x_.query = sequence_form(check_, "q", c_.q, "layoutQOptional", c_.query_layout, nullptr);
    const bool new_chip = chip_is_950();
    const int64_t n = x_.query.heads;
    check_.that(n >= 1 && n <= kMostHeads && (new_chip || (n & (n - 1)) == 0),
                "q has %" PRId64 " heads; allowed: %s", n,
                new_chip ? "1 to 128" : "powers of 2 up to 128");
    check_.that(x_.query.width == kWidth, "q has heads of %" PRId64 " elements; allowed: 512",
                x_.query.width);
    check_.that(!x_.query.packed || used(c_.query_ends),
                "%s is null; with layoutQOptional TND it is needed", c_.query_ends.name);
    if (!check_.ok()) return;
    if (x_.query.packed) x_.query.batch = c_.query_ends->numel() - 1;
    check_.that(x_.query.batch >= 1, "%s has no sequence", c_.query_ends.name);
    if (x_.query.packed)
      check_lengths(check_, c_.query_ends.name, c_.query_ends.given, LengthList::kOffsets,
                    x_.query.batch);
  }

  void part(const MlaSide &side, MlaPart *p) {
    p->given = true;
    p->form = sequence_form(check_, side.kv.name, side.kv.given, "layoutKvOptional", c_.key_layout,
                            "PA_BBND");
    check_.that(p->form.heads == 1 && p->form.width == kWidth,
                "%s has %" PRId64 " heads of %" PRId64 " elements; it must have 1 of 512",
                side.kv.name, p->form.heads, p->form.width);
    check_.that(p->form.paged || p->form.packed == x_.query.packed,
                "layoutKvOptional is \"%.40s\"; it must be layoutQOptional, or PA_BBND",
                c_.key_layout);
    check_.that(!p->form.paged || (p->form.tokens <= kLongestPage &&
                                   (chip_is_950() || p->form.tokens % kPageUnit == 0)),
                "%s has pages of %" PRId64 " tokens; allowed: multiples of 16 up to 1024",
                side.kv.name, p->form.tokens);
    check_.that(!p->form.packed || used(side.ends),
                "%s is null; with layoutKvOptional TND it is "
                "needed",
                side.ends.name);
    check_.that(p->form.packed || p->form.paged || p->form.batch == x_.query.batch,
                "%s has %" PRId64 " sequences and q %" PRId64, side.kv.name, p->form.batch,
                x_.query.batch);
    if (!check_.ok()) return;
    p->form.batch = x_.query.batch;
    check_pages(check_, side.table.name, side.table.given, x_.query.batch, &p->form);
    if (p->form.packed)
      check_lengths(check_, side.ends.name, side.ends.given, LengthList::kOffsets, p->form.batch);
    if (used(side.used))
      check_lengths(check_, side.used.name, side.used.given, LengthList::kCounts, p->form.batch);
    if (!used(side.chosen)) return;
    const int rank = static_cast<int>(c_.q->rank());
    check_.rank(side.chosen.name, side.chosen.given, rank, rank);
    if (!check_.ok()) return;
    p->chosen = side.chosen->shape[static_cast<size_t>(rank - 1)];
    check_.shape(side.chosen.name, side.chosen.given, rows(p->chosen));
  }

  // The shape of q with one head of `last` elements.
  Layout rows(int64_t last) const {
    Layout layout = layout_of(*c_.q);
    layout.shape[layout.rank - 2] = 1;
    layout.shape[layout.rank - 1] = last;
    return layout;
  }

  void modes() {
    const bool sparse = x_.own.chosen != 0, both = x_.compressed.given, new_chip = chip_is_950();
    check_.that(!x_.own.form.paged || used(c_.own.used),
                "%s is null; with layoutKvOptional PA_BBND it is needed", c_.own.used.name);
    check_.that(sparse == used(c_.counts) && !(sparse && both),
                "%s, %s and %s do not fit; the first two go together, without the third",
                c_.own.chosen.name, c_.counts.name, c_.compressed.kv.name);
    check_.that(both || !used(c_.compressed.chosen), "%s is given without %s",
                c_.compressed.chosen.name, c_.compressed.kv.name);
    const bool mask_fits = sparse     ? c_.mask == kNoMask
                           : new_chip ? c_.mask == kNoMask || c_.mask == kCausal || c_.mask == kBand
                                      : c_.mask == kBand;
    check_.that(mask_fits, "oriMaskMode is %" PRId64 "; allowed: %s", c_.mask,
                sparse     ? "0 with chosen tokens"
                : new_chip ? "0, 3, 4"
                           : "4");
    check_.that(
        !both || c_.compressed_mask == kCausal || (new_chip && c_.compressed_mask == kNoMask),
        "cmpMaskMode is %" PRId64 "; allowed: %s", c_.compressed_mask, new_chip ? "0, 3" : "3");
    const int64_t ratio = !both ? 1 : x_.compressed.chosen != 0 ? kChosenRatio : kDenseRatio;
    check_.that(new_chip ? !both || (c_.ratio >= 1 && c_.ratio <= kMostRatio) : c_.ratio == ratio,
                "cmpRatio is %" PRId64 "; allowed: %" PRId64 "%s", c_.ratio, new_chip ? 1 : ratio,
                new_chip ? " to 128" : "");
    const bool window = sparse     ? c_.left >= 0 && c_.right >= 0
                        : new_chip ? c_.left >= -1 && c_.right >= -1
                                   : c_.left == kWindow && c_.right == 0;
    check_.that(window, "oriWinLeft is %" PRId64 " and oriWinRight %" PRId64 "; allowed: %s",
                c_.left, c_.right,
                sparse     ? "0 and above"
                : new_chip ? "-1 and above"
                           : "127 and 0");
    check_.that(x_.compressed.chosen == 0 || new_chip || x_.compressed.chosen == 512 ||
                    x_.compressed.chosen == 1024,
                "%s has %" PRId64 " places for each token; allowed: 512, 1024",
                c_.compressed.chosen.name, x_.compressed.chosen);
    check_.that(!both || c_.ratio == 1 || c_.compressed_mask != kCausal || used(c_.residuals),
                "%s is null; with a cmpRatio above 1 and cmpMaskMode 3 it is needed",
                c_.residuals.name);
    check_.that(c_.value_mode == 1, "topkValueMode is %" PRId64 "; allowed: 1", c_.value_mode);
  }

  void rest() {
    if (used(c_.residuals))
      check_lengths(check_, c_.residuals.name, c_.residuals.given, LengthList::kCounts,
                    x_.query.batch);
    if (used(c_.counts)) {
      Layout counts = rows(1);
      --counts.rank;
      check_.shape(c_.counts.name, c_.counts.given, counts);
    }
    const int64_t heads = x_.query.heads, metadata = kMetadata;
    check_.shape(c_.sinks.name, c_.sinks.given, dense_layout(&heads, 1))
        .shape(c_.metadata.name, c_.metadata.given, dense_layout(&metadata, 1))
        .shape("attnOutOut", c_.out, layout_of(*c_.q));
    if (c_.with_lse) {
      Layout sums;
      if (!x_.query.packed) sums.push(x_.query.batch, 0);
      for (const int64_t size : {int64_t{1}, x_.query.tokens, heads}) sums.push(size, 0);
      check_.shape(c_.lse.name, c_.lse.given, sums);
    }
    x_.ratio = c_.ratio;
    x_.mask = c_.mask;
    x_.compressed_mask = c_.compressed_mask;
    x_.left = c_.left;
    x_.right = c_.right;
    x_.scale = static_cast<float>(c_.scale);
    x_.with_lse = c_.with_lse;
    x_.counted = used(c_.counts);
    x_.with_residuals = used(c_.residuals);
  }

  const MlaCall &c_;
  Mla &x_;
  Check check_;
};

class MlaRun {
 public:
  MlaRun(const Mla &mla, PlanContext &context) : x_(mla), c_(context) {}

  Status run() {
    const auto kind = [](const SequenceForm &form) {
      return form.packed ? LengthList::kOffsets : LengthList::kCounts;
    };
    if (const Status s = read_sequences(kOp, "cuSeqlensQOptional", c_,
                                        x_.query.packed ? x_.query_ends_at : kAbsent,
                                        kind(x_.query), x_.query, &queries_))
      return s;
    if (const Status s = read(x_.own, "the lengths of oriKvOptional", &own_)) return s;
    if (x_.compressed.given) {
      if (const Status s = read(x_.compressed, "the lengths of cmpKvOptional", &compressed_))
        return s;
    }
    if (x_.counted) counts_ = all(x_.counts_at);
    if (x_.with_residuals) residuals_ = all(x_.residuals_at);
    sinks_ = read_all<float>(c_, x_.sinks_at, x_.query.heads, 0.0f);
    if (const Status s = check_chosen()) return s;
    compute();
    return 0;
  }

 private:
  struct Side {
    Sequences sequences;
    PageTable pages;
    std::vector<int64_t> chosen;
  };

  std::vector<int64_t> all(size_t at) const {
    return read_all<int64_t>(c_, at, c_.tensor(at).numel(), 0);
  }

  Status read(const MlaPart &part, const char *what, Side *side) {
    const bool packed = part.form.packed;
    if (const Status s = read_sequences(kOp, what, c_, packed ? part.ends_at : part.used_at,
                                        packed ? LengthList::kOffsets : LengthList::kCounts,
                                        part.form, &side->sequences))
      return s;
    if (packed && part.used_at != kAbsent) {
      const std::vector<int64_t> used = all(part.used_at);
      for (size_t b = 0; b < used.size(); ++b) {
        int64_t &length = side->sequences.lengths[b];
        if (used[b] < 0 || used[b] > length)
          return fail(kKernelFault, "%s: %s are %lld for sequence %zu; allowed: 0 to %lld", kOp,
                      what, static_cast<long long>(used[b]), b, static_cast<long long>(length));
        length = used[b];
      }
    }
    if (part.chosen != 0) side->chosen = all(part.chosen_at);
    return read_page_table(kOp, c_, part.table_at, part.form, side->sequences, &side->pages);
  }

  int64_t place(int64_t b, int64_t token) const {
    return queries_.starts[static_cast<size_t>(b)] + (x_.query.packed ? 0 : b * x_.query.tokens) +
           token;
  }

  // A chosen token outside its sequence would be other memory.
  Status check_chosen() const {
    for (int64_t b = 0; b < x_.query.batch && x_.counted; ++b) {
      const auto at = static_cast<size_t>(b);
      for (int64_t t = 0; t < queries_.lengths[at]; ++t) {
        const int64_t row = place(b, t), count = counts_[static_cast<size_t>(row)];
        if (count < 0 || count > x_.own.chosen)
          return fail(kKernelFault, "%s: oriTopkLengthOptional has %lld; allowed: 0 to %lld", kOp,
                      static_cast<long long>(count), static_cast<long long>(x_.own.chosen));
        for (int64_t i = 0; i < count; ++i) {
          const int64_t key = own_.chosen[static_cast<size_t>(row * x_.own.chosen + i)];
          if (key < 0 || key >= own_.sequences.lengths[at])
            return fail(kKernelFault,
                        "%s: oriSparseIndicesOptional has %lld; sequence %lld has %lld tokens", kOp,
                        static_cast<long long>(key), static_cast<long long>(b),
                        static_cast<long long>(own_.sequences.lengths[at]));
        }
      }
    }
    return 0;
  }

  std::vector<int64_t> own_keys(int64_t b, int64_t token) const {
    const auto at = static_cast<size_t>(b);
    const int64_t there = own_.sequences.lengths[at];
    std::vector<int64_t> keys;
    if (x_.counted) {
      const int64_t row = place(b, token);
      for (int64_t i = 0; i < counts_[static_cast<size_t>(row)]; ++i)
        keys.push_back(own_.chosen[static_cast<size_t>(row * x_.own.chosen + i)]);
      return keys;
    }
    const int64_t threshold = there - queries_.lengths[at] + token + 1;
    int64_t first = 0, end = there;
    if (x_.mask == kCausal) end = threshold;
    if (x_.mask == kBand) {
      if (x_.left >= 0) first = threshold - std::min(x_.left, there + 1) - 1;
      if (x_.right >= 0) end = threshold + std::min(x_.right, there + 1);
    }
    for (int64_t k = std::max<int64_t>(0, first); k < std::min(end, there); ++k) keys.push_back(k);
    return keys;
  }

  std::vector<int64_t> compressed_keys(int64_t b, int64_t token) const {
    std::vector<int64_t> keys;
    if (!x_.compressed.given) return keys;
    const auto at = static_cast<size_t>(b);
    const int64_t there = compressed_.sequences.lengths[at];
    int64_t end = there;
    if (x_.compressed_mask == kCausal) {
      const int64_t whole = there * x_.ratio + (x_.with_residuals ? residuals_[at] : 0);
      const int64_t threshold = whole - queries_.lengths[at] + token + 1;
      end = std::clamp<int64_t>(threshold < 0 ? 0 : threshold / x_.ratio, 0, there);
    }
    if (x_.compressed.chosen == 0) {
      for (int64_t k = 0; k < end; ++k) keys.push_back(k);
      return keys;
    }
    const int64_t row = place(b, token) * x_.compressed.chosen;
    for (int64_t i = 0; i < x_.compressed.chosen; ++i) {
      const int64_t key = compressed_.chosen[static_cast<size_t>(row + i)];
      if (key >= 0 && key < end) keys.push_back(key);
    }
    return keys;
  }

  void compute() {
    Operands operands;
    const View out = view_of(c_.tensor(x_.out_at));
    const auto reader = [&](size_t at, const SequenceForm &form, const Sequences &sequences,
                            const PageTable *pages) {
      return TokenReader(operands.safe(view_of(c_.tensor(at)), {out}), form, sequences, pages);
    };
    const TokenReader query = reader(x_.query_at, x_.query, queries_, nullptr),
                      own = reader(x_.own.kv_at, x_.own.form, own_.sequences, &own_.pages),
                      compressed = x_.compressed.given
                                       ? reader(x_.compressed.kv_at, x_.compressed.form,
                                                compressed_.sequences, &compressed_.pages)
                                       : own,
                      to(out, x_.query, queries_, nullptr);
    int64_t longest = 0;
    for (const int64_t length : queries_.lengths) longest = std::max(longest, length);
    parallel_for(x_.query.batch * longest, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t b = task / longest, token = task % longest;
        if (token < queries_.lengths[static_cast<size_t>(b)])
          row(b, token, query, own, compressed, to);
      }
    });
  }

  void row(int64_t b, int64_t token, const TokenReader &query, const TokenReader &own,
           const TokenReader &compressed, const TokenReader &to) const {
    const std::vector<int64_t> first = own_keys(b, token), second = compressed_keys(b, token);
    const auto count = static_cast<int64_t>(first.size() + second.size());
    const int64_t heads = x_.query.heads;
    std::vector<float> q(static_cast<size_t>(heads * kWidth)),
        k(static_cast<size_t>(count * kWidth));
    for (int64_t n = 0; n < heads; ++n) query.load(b, n, token, q.data() + n * kWidth);
    float *next = k.data();
    for (const int64_t key : first) own.load(b, 0, key, (next += kWidth) - kWidth);
    for (const int64_t key : second) compressed.load(b, 0, key, (next += kWidth) - kWidth);
    GatheredAttention a{q.data(), k.data(), k.data(), heads, count, kWidth, kWidth, x_.scale};
    a.sinks = sinks_.data();
    GatheredResult result;
    attend(a, &result);
    const Heads &out = to.heads();
    std::vector<float> lse(static_cast<size_t>(heads));
    for (int64_t n = 0; n < heads; ++n) {
      const auto i = static_cast<size_t>(n);
      store_f32(result.out.data() + n * kWidth, const_cast<char *>(out.data), out.dtype,
                to.at(b, n, token), out.item, kWidth);
      // Without a key the sink is alone.
      lse[i] = count == 0 ? sinks_[i] : result.highest[i] + std::log(result.sum[i]);
    }
    if (x_.with_lse)
      RowTarget<float>(view_of(c_.tensor(x_.lse_at)))
          .write(place(b, token) * heads, heads, lse.data());
  }

  const Mla &x_;
  PlanContext &c_;
  Sequences queries_;
  Side own_, compressed_;
  std::vector<int64_t> counts_, residuals_;
  std::vector<float> sinks_;
};

}  // namespace
}  // namespace emu

EMU_OPERATOR(SparseFlashMla,
             (const aclTensor *q, const aclTensor *oriKvOptional, const aclTensor *cmpKvOptional,
              const aclTensor *oriSparseIndicesOptional, const aclTensor *cmpSparseIndicesOptional,
              const aclTensor *oriBlockTableOptional, const aclTensor *cmpBlockTableOptional,
              const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional,
              const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional,
              const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional,
              const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional,
              const aclTensor *cmpTopkLengthOptional, const aclTensor *sinksOptional,
              const aclTensor *metadataOptional, double softmaxScale, int64_t cmpRatio,
              int64_t oriMaskMode, int64_t cmpMaskMode, int64_t oriWinLeft, int64_t oriWinRight,
              const char *layoutQOptional, const char *layoutKvOptional, int64_t topkValueMode,
              bool returnSoftmaxLse, aclTensor *attnOutOut, aclTensor *softmaxLseOutOptional)) {
  emu::MlaCall c{};
  c.q = q;
  c.own = {EMU_ARGUMENT(oriKvOptional), EMU_ARGUMENT(oriSparseIndicesOptional),
           EMU_ARGUMENT(oriBlockTableOptional), EMU_ARGUMENT(cuSeqlensOriKvOptional),
           EMU_ARGUMENT(sequsedOriKvOptional)};
  c.compressed = {EMU_ARGUMENT(cmpKvOptional), EMU_ARGUMENT(cmpSparseIndicesOptional),
                  EMU_ARGUMENT(cmpBlockTableOptional), EMU_ARGUMENT(cuSeqlensCmpKvOptional),
                  EMU_ARGUMENT(sequsedCmpKvOptional)};
  c.query_ends = EMU_ARGUMENT(cuSeqlensQOptional);
  c.used_queries = EMU_ARGUMENT(sequsedQOptional);
  c.residuals = EMU_ARGUMENT(cmpResidualKvOptional);
  c.counts = EMU_ARGUMENT(oriTopkLengthOptional);
  c.reserved = EMU_ARGUMENT(cmpTopkLengthOptional);
  c.sinks = EMU_ARGUMENT(sinksOptional);
  c.metadata = EMU_ARGUMENT(metadataOptional);
  c.scale = softmaxScale;
  c.ratio = cmpRatio;
  c.mask = oriMaskMode;
  c.compressed_mask = cmpMaskMode;
  c.left = oriWinLeft;
  c.right = oriWinRight;
  c.query_layout = layoutQOptional ? layoutQOptional : "BSND";
  c.key_layout = layoutKvOptional ? layoutKvOptional : "BSND";
  c.value_mode = topkValueMode;
  c.with_lse = returnSoftmaxLse;
  c.out = attnOutOut;
  c.lse = EMU_ARGUMENT(softmaxLseOutOptional);
  auto x = std::make_shared<emu::Mla>();
  if (const emu::Status s = emu::MlaRules(c, x.get()).run()) return s;
  emu::PlanBuilder plan(emu::kOp);
  x->query_at = plan.input(q);
  // Empty tensors count as absent.
  const auto add = [&](const emu::Named<aclTensor> &t) {
    const size_t at = plan.input(t.given);
    return emu::used(t) ? at : emu::kAbsent;
  };
  size_t unread;
  size_t *const positions[] = {&x->own.kv_at,
                               &x->compressed.kv_at,
                               &x->own.chosen_at,
                               &x->compressed.chosen_at,
                               &x->own.table_at,
                               &x->compressed.table_at,
                               &x->query_ends_at,
                               &x->own.ends_at,
                               &x->compressed.ends_at,
                               &unread,
                               &x->own.used_at,
                               &x->compressed.used_at,
                               &x->residuals_at,
                               &x->counts_at,
                               &unread,
                               &x->sinks_at,
                               &unread};
  size_t next = 0;
  emu::each_input(c, [&](const emu::Named<aclTensor> &t) { *positions[next++] = add(t); });
  x->out_at = plan.output(attnOutOut);
  x->lse_at =
      returnSoftmaxLse ? plan.output(softmaxLseOutOptional) : plan.unused(softmaxLseOutOptional);
  const std::shared_ptr<const emu::Mla> kept = x;
  return plan.finish([kept](emu::PlanContext &ctx) { return emu::MlaRun(*kept, ctx).run(); },
                     workspaceSize, executor);
}
EMU_CATCH
