// SPDX-License-Identifier: Apache-2.0
// What phase one of FlashAttn takes: dtypes are refused with 161002, what its document says beside
// them by the tiling, with 561002.
#include "ops/attention/flash_attn.h"

#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kMaskSide = 2048, kMostBatches = 65535, kPlaceUnit = 16, kMostPlaces = 1024;

struct FlashCall {
  const char *op;
  const aclTensor *q, *k, *v, *table, *query_ends, *key_ends, *query_used, *key_used, *sinks, *mask,
      *metadata;
  double scale;
  int64_t mode, left, right, longest_query, longest_key;
  const char *layout_q, *layout_kv, *layout_out;
  int64_t returns_lse;
  const aclTensor *out;
  Named<aclTensor> lse;
};

struct Form {
  const char *name;
  Arrangement arrangement;
  bool paged;
};
constexpr Form kForms[] = {
    {"BSND", Arrangement::kTokensFirst, false},  {"BNSD", Arrangement::kHeadsFirst, false},
    {"TND", Arrangement::kPacked, false},        {"PA_BBND", Arrangement::kTokensFirst, true},
    {"PA_BNBD", Arrangement::kHeadsFirst, true}, {"PA_NZ", Arrangement::kBlocks, true}};

class Rules {
 public:
  Rules(const FlashCall &call, Flash *flash)
      : c_(call), f_(*flash), a_(flash->attention), check_(call.op) {}

  Status run() {
    nulls();
    if (!check_.ok()) return check_.status();
    if (const Status bad = check_chip(check_, kNoKernel)) return bad;
    check_.tiling();
    layouts();
    if (check_.ok()) sizes();
    if (check_.ok()) keys();
    if (check_.ok()) lists();
    if (check_.ok()) mask();
    if (check_.ok()) results();
    return check_.status();
  }

 private:
  void nulls() {
    check_.required("q", c_.q).required("k", c_.k).required("v", c_.v);
    const std::pair<const char *, const aclTensor *> optional[] = {
        {"blockTableOptional", c_.table},     {"cuSeqlensQOptional", c_.query_ends},
        {"cuSeqlensKvOptional", c_.key_ends}, {"sequsedQOptional", c_.query_used},
        {"sequsedKvOptional", c_.key_used},   {"sinksOptional", c_.sinks},
        {"attnMaskOptional", c_.mask},        {"metadataOptional", c_.metadata},
        {c_.lse.name, c_.lse.given}};
    for (const auto &[name, tensor] : optional) check_.optional(name, tensor);
    check_.required("attnOut", c_.out);
    check_.dtype("q", c_.q).dtype("k", c_.k).dtype("v", c_.v);
    for (const auto &[name, tensor] : optional) check_.dtype(name, tensor);
    check_.dtype("attnOut", c_.out);
    if (!check_.ok()) return;
    check_.same_dtype("k", c_.k->dtype, "q", c_.q->dtype)
        .same_dtype("v", c_.v->dtype, "q", c_.q->dtype)
        .same_dtype("attnOut", c_.out->dtype, "q", c_.q->dtype);
  }

  const Form *form(const char *parameter, const char *given, bool pages, const char *allowed) {
    const char *name = given ? given : "BSND";
    for (const Form &known : kForms) {
      if (std::strcmp(known.name, name) == 0 && (pages || !known.paged)) return &known;
    }
    check_.that(false, "%s is \"%.40s\"; allowed: %s", parameter, name, allowed);
    return kForms;
  }

  void layouts() {
    const Form *query = form("layoutQ", c_.layout_q, false, "BSND, BNSD, TND");
    const Form *key =
        form("layoutKv", c_.layout_kv, true, "BSND, BNSD, TND, PA_BBND, PA_BNBD, PA_NZ");
    const Form *out = form("layoutOut", c_.layout_out, false, "BSND, BNSD, TND");
    check_.that(key->paged || key == query, "layoutKv is \"%s\"; it must be layoutQ or of pages",
                key->name);
    check_.that(out == query || (query->arrangement == Arrangement::kHeadsFirst &&
                                 out->arrangement == Arrangement::kTokensFirst),
                "layoutOut is \"%s\"; with layoutQ \"%s\" that is not allowed", out->name,
                query->name);
    a_.query_form = query->arrangement;
    a_.key_form = key->arrangement;
    a_.out_form = out->arrangement;
    paged_ = key->paged;
    f_.packed_keys = key->arrangement == Arrangement::kPacked;
  }

  void sizes() {
    const int rank = a_.packed() ? 3 : 4;
    check_.rank("q", c_.q, rank, rank).rank("attnOut", c_.out, rank, rank);
    check_.that(check_.ok() && c_.q->numel() != 0, "q is empty");
    if (!check_.ok()) return;
    const auto &shape = c_.q->shape;
    const bool heads_first = a_.query_form == Arrangement::kHeadsFirst;
    a_.heads = shape[heads_first || a_.packed() ? 1 : 2];
    f_.tokens = shape[a_.packed() ? 0 : heads_first ? 2 : 1];
    a_.width = a_.value_width = shape[static_cast<size_t>(rank - 1)];
    check_.that(a_.width == 64 || a_.width == 128 || a_.width == 256,
                "q has heads of %" PRId64 " elements; allowed: 64, 128, 256", a_.width);
    check_.that(!a_.packed() || c_.query_ends != nullptr,
                "cuSeqlensQOptional is null; layoutQ TND needs it");
    if (a_.packed() && check_.ok()) check_.rank("cuSeqlensQOptional", c_.query_ends, 1, 1);
    if (!check_.ok()) return;
    a_.batch = a_.packed() ? c_.query_ends->shape[0] - 1 : shape[0];
    check_.that(a_.batch > 0 && a_.batch <= kMostBatches,
                "there are %" PRId64 " sequences; allowed: 1 to 65535", a_.batch);
  }

  void keys() {
    const bool blocks = a_.key_form == Arrangement::kBlocks;
    const int rank = f_.packed_keys ? 3 : blocks ? 5 : 4;
    check_.rank("k", c_.k, rank, rank);
    if (check_.ok()) check_.shape("v", c_.v, layout_of(*c_.k));
    check_.that(check_.ok() && c_.k->numel() != 0, "k is empty");
    if (!check_.ok()) return;
    const auto &shape = c_.k->shape;
    const bool heads_first = a_.key_form != Arrangement::kTokensFirst;
    const int64_t width = blocks ? shape[2] * shape[4] : shape.back(),
                  tokens = f_.packed_keys ? shape[0]
                                          : shape[blocks        ? 3
                                                  : heads_first ? 2
                                                                : 1];
    a_.kv_heads = shape[heads_first ? 1 : 2];
    check_.that(width == a_.width && (!blocks || shape[4] == kPlaceUnit),
                "k has shape %s; q has heads of %" PRId64 " elements",
                shape_text(layout_of(*c_.k)).c_str(), a_.width);
    check_.that(a_.heads % a_.kv_heads == 0,
                "q has %" PRId64 " heads and k %" PRId64 "; the first must be a multiple", a_.heads,
                a_.kv_heads);
    check_.that(paged_ || f_.packed_keys || shape[0] == a_.batch,
                "k has %" PRId64 " sequences and q %" PRId64, shape[0], a_.batch);
    f_.key_tokens = tokens;
    for (const auto &[name, tensor] : {std::pair{"k", c_.k}, {"v", c_.v}}) lies(name, *tensor);
    if (paged_ && check_.ok()) pages(tokens);
    check_.that(paged_ || c_.table == nullptr,
                "blockTableOptional is given; layoutKv has no pages");
  }

  // Only pages, and the heads in them, may lie apart.
  void lies(const char *name, const aclTensor &tensor) {
    const size_t free = !paged_ ? 0 : a_.key_form == Arrangement::kTokensFirst ? 1 : 2;
    int64_t step = 1;
    for (size_t d = tensor.rank(); d-- > free;) {
      check_.that(tensor.shape[d] == 1 || tensor.strides[d] == step, "%s must be contiguous%s",
                  name, paged_ ? " within its pages" : "");
      step *= tensor.shape[d];
    }
  }

  void pages(int64_t places) {
    check_.that(places >= kPlaceUnit && places <= kMostPlaces && places % kPlaceUnit == 0,
                "k has pages of %" PRId64 " tokens; allowed: multiples of 16 up to 1024", places);
    check_.that(c_.table != nullptr, "blockTableOptional is null; pages need it");
    check_.that(c_.key_used != nullptr, "sequsedKvOptional is null; pages need it");
    if (check_.ok()) check_.rank("blockTableOptional", c_.table, 2, 2);
    if (!check_.ok()) return;
    check_.that(c_.table->shape[0] == a_.batch,
                "blockTableOptional has %" PRId64 " rows for %" PRId64 " sequences",
                c_.table->shape[0], a_.batch);
    a_.block_size = places;
    f_.key_tokens = check_.size("blockTableOptional", Checked(c_.table->shape[1]) * places);
  }

  void list(const char *name, const aclTensor *given, int64_t length) {
    if (given == nullptr) return;
    check_.rank(name, given, 1, 1);
    check_.that(check_.ok() && given->shape[0] == length,
                "%s has shape %s; it must have %" PRId64 " elements", name,
                shape_text(layout_of(*given)).c_str(), length);
  }

  void lists() {
    check_.that(a_.packed() || c_.query_ends == nullptr,
                "cuSeqlensQOptional is given; layoutQ is not TND");
    check_.that(f_.packed_keys == (c_.key_ends != nullptr),
                "cuSeqlensKvOptional is %s; layoutKv is %sTND", c_.key_ends ? "given" : "null",
                f_.packed_keys ? "" : "not ");
    list("cuSeqlensKvOptional", c_.key_ends, a_.batch + 1);
    list("sequsedQOptional", c_.query_used, a_.batch);
    list("sequsedKvOptional", c_.key_used, a_.batch);
    for (const auto &[name, longest] :
         {std::pair{"maxSeqlenQ", c_.longest_query}, {"maxSeqlenKV", c_.longest_key}})
      check_.that(longest >= -1, "%s is %" PRId64 "; allowed: -1 and above", name, longest);
    check_.that(c_.sinks == nullptr, "sinksOptional is given; the operator does not support it");
    check_.that(c_.metadata != nullptr,
                "metadataOptional is null; it must be what FlashAttnMetadata gives");
  }

  void mask() {
    const bool window = c_.mode == kFlashWindow, whole = c_.mode == kFlashWhole;
    check_.that(whole || window || c_.mode == kFlashCausal,
                "maskMode is %" PRId64 "; allowed: 0, 3, 4", c_.mode);
    check_.that(window ? c_.left >= -1 && c_.right >= -1 : c_.left == -1 && c_.right == -1,
                "winLeft is %" PRId64 " and winRight %" PRId64 "; with maskMode %" PRId64
                " allowed: -1%s",
                c_.left, c_.right, c_.mode, window ? " and above" : "");
    check_.that(whole == (c_.mask == nullptr), "attnMaskOptional is %s; maskMode is %" PRId64,
                c_.mask ? "given" : "null", c_.mode);
    const int64_t side[] = {kMaskSide, kMaskSide};
    if (check_.ok() && !whole) check_.shape("attnMaskOptional", c_.mask, dense_layout(side, 2));
    a_.triangle = !whole;
    f_.mask = c_.mode;
    f_.left = c_.left;
    f_.right = c_.right;
  }

  void results() {
    const int64_t n = a_.heads, s = f_.tokens, d = a_.width;
    const int64_t heads_first[] = {a_.batch, n, s, d}, tokens_first[] = {a_.batch, s, n, d},
                  packed[] = {s, n, d};
    check_.shape("attnOut", c_.out,
                 a_.packed()                               ? dense_layout(packed, 3)
                 : a_.out_form == Arrangement::kHeadsFirst ? dense_layout(heads_first, 4)
                                                           : dense_layout(tokens_first, 4));
    check_.that(c_.returns_lse == 0 || c_.returns_lse == 1,
                "returnSoftmaxLse is %" PRId64 "; allowed: 0, 1", c_.returns_lse);
    a_.with_lse = c_.returns_lse == 1;
    if (!a_.with_lse || !check_.ok()) return;
    check_.that(bool(c_.lse), "%s is null; with returnSoftmaxLse it is needed", c_.lse.name);
    if (!check_.ok()) return;
    const int64_t turned[] = {n, s}, plain[] = {s, n};
    const Layout given = layout_of(*c_.lse.given);
    // The documents give both shapes to packed sequences.
    a_.lse_heads_first =
        a_.packed() && (given.rank != 2 || given.shape[0] != s || given.shape[1] != n || n == s);
    check_.shape(c_.lse.name, c_.lse.given,
                 !a_.packed()         ? dense_layout(heads_first, 3)
                 : a_.lse_heads_first ? dense_layout(turned, 2)
                                      : dense_layout(plain, 2));
  }

  const FlashCall &c_;
  Flash &f_;
  Attention &a_;
  Check check_;
  bool paged_ = false;
};

Status plan_flash(const FlashCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  const auto flash = std::make_shared<Flash>();
  Attention &a = flash->attention;
  a.op = call.op;
  if (const Status bad = Rules(call, flash.get()).run()) return bad;
  a.scale = static_cast<float>(call.scale);
  a.prefix_form = a.key_form;
  a.pse_at = kAbsent;
  PlanBuilder plan(call.op);
  a.query_at = plan.input(call.q);
  a.key_at = plan.input(call.k);
  a.value_at = plan.input(call.v);
  a.table_at = plan.input(call.table);
  flash->query_ends_at = plan.input(call.query_ends);
  flash->key_ends_at = plan.input(call.key_ends);
  flash->query_used_at = plan.input(call.query_used);
  flash->key_used_at = plan.input(call.key_used);
  plan.unused(call.sinks);
  a.mask_at = plan.input(call.mask);
  plan.unused(call.metadata);
  a.out_at = plan.output(call.out);
  a.lse_at = a.with_lse ? plan.output(call.lse.given) : plan.unused(call.lse.given);
  const std::shared_ptr<const Flash> kept = flash;
  return plan.finish([kept](PlanContext &c) { return run_flash(*kept, c); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

#define FLASH_PARAMETERS(LSE)                                                                      \
  const aclTensor *q, const aclTensor *k, const aclTensor *v, const aclTensor *blockTableOptional, \
      const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKvOptional,                   \
      const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional,                       \
      const aclTensor *sinksOptional, const aclTensor *attnMaskOptional,                           \
      const aclTensor *metadataOptional, double softmaxScale, int64_t maskMode, int64_t winLeft,   \
      int64_t winRight, int64_t maxSeqlenQ, int64_t maxSeqlenKV, const char *layoutQ,              \
      const char *layoutKv, const char *layoutOut, int64_t returnSoftmaxLse, aclTensor *attnOut,   \
      aclTensor *LSE
#define FLASH_CALL(NAME, LSE)                                                                     \
  emu::FlashCall {                                                                                \
    NAME, q, k, v, blockTableOptional, cuSeqlensQOptional, cuSeqlensKvOptional, sequsedQOptional, \
        sequsedKvOptional, sinksOptional, attnMaskOptional, metadataOptional, softmaxScale,       \
        maskMode, winLeft, winRight, maxSeqlenQ, maxSeqlenKV, layoutQ, layoutKv, layoutOut,       \
        returnSoftmaxLse, attnOut, EMU_ARGUMENT(LSE)                                              \
  }

EMU_OPERATOR(FlashAttn, (FLASH_PARAMETERS(softmaxLseOptional))) {
  return emu::plan_flash(FLASH_CALL("aclnnFlashAttn", softmaxLseOptional), workspaceSize, executor);
}
EMU_CATCH

// What FlashAttn calls with all that it was given.
EMU_OPERATOR(InnerFlashAttn, (FLASH_PARAMETERS(softmaxLse))) {
  return emu::plan_flash(FLASH_CALL("aclnnInnerFlashAttn", softmaxLse), workspaceSize, executor);
}
EMU_CATCH
