// SPDX-License-Identifier: Apache-2.0
// The divergence between the scores of an indexer and the attention it stands for, with its
// gradients: over chosen keys, and over all keys up to a token's own.
#include <cinttypes>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/indexer/indexer_back.h"

namespace emu {
namespace {

constexpr int64_t kRightDown = 3, kLossBatches = 256, kLossRope = 64, kSharedWidth = 512,
                  kOwnWidth = 128, kPlacesUnit = 1024, kMostPlaces = 8192;

struct KlLossCall {
  const char *op;
  bool dense;
  const aclTensor *query, *key, *query_index, *key_index, *weights, *indices, *highest, *sum,
      *index_highest, *index_sum, *query_rope, *key_rope;
  const aclIntArray *query_list, *key_list;
  double scale;
  const char *layout;
  int64_t mode;
  const aclTensor *dq, *dk, *dweights, *loss;
};

class KlLossRules {
 public:
  KlLossRules(const KlLossCall &call, IndexerBack *x) : c_(call), x_(*x), check_(call.op) {}

  Status run() {
    tensors();
    if (!check_.ok() || empty()) return check_.status();
    check_.tiling();
    forms();
    if (check_.ok()) sizes();
    if (check_.ok()) sequences();
    if (check_.ok()) shapes();
    return check_.status();
  }
  // Nothing is done for a query without tokens.
  bool empty() const { return !c_.dense && c_.query->numel() == 0; }

 private:
  using Parameter = std::pair<const char *, const aclTensor *>;

  void tensors() {
    const Parameter floats[] = {
        {"query", c_.query},        {"key", c_.key},        {"queryIndex", c_.query_index},
        {"keyIndex", c_.key_index}, {"dQueryIndex", c_.dq}, {"dKeyIndex", c_.dk}};
    const Parameter others[] = {{"weights", c_.weights},
                                {"softmaxMax", c_.highest},
                                {"softmaxSum", c_.sum},
                                {"dWeights", c_.dweights},
                                {"loss", c_.loss}};
    const Parameter of_form[] = {{"sparseIndices", c_.indices},
                                 {"softmaxMaxIndex", c_.index_highest},
                                 {"softmaxSumIndex", c_.index_sum}};
    const Parameter options[] = {{"queryRopeOptional", c_.query_rope},
                                 {"keyRopeOptional", c_.key_rope}};
    for (const auto &[name, tensor] : floats) check_.required(name, tensor);
    for (const auto &[name, tensor] : others) check_.required(name, tensor);
    for (size_t i = c_.dense ? 1 : 0; i < (c_.dense ? 3u : 1u); ++i)
      check_.required(of_form[i].first, of_form[i].second);
    for (const auto &[name, tensor] : options) check_.optional(name, tensor);
    check_.optional("actualSeqLengthsQueryOptional", c_.query_list)
        .optional("actualSeqLengthsKeyOptional", c_.key_list)
        .required_text("layout", c_.layout);
    for (const auto &[name, tensor] : floats) check_.dtype(name, tensor);
    for (const auto &[name, tensor] : others) check_.dtype(name, tensor);
    for (const auto &[name, tensor] : of_form) check_.dtype(name, tensor);
    for (const auto &[name, tensor] : options) check_.dtype(name, tensor);
    if (!check_.ok()) return;
    for (const auto &[name, tensor] : floats)
      check_.same_dtype(name, tensor->dtype, "query", c_.query->dtype);
    for (const auto &[name, tensor] : options)
      if (tensor) check_.same_dtype(name, tensor->dtype, "query", c_.query->dtype);
    if (c_.weights->dtype != ACL_FLOAT)
      check_.same_dtype("weights", c_.weights->dtype, "query", c_.query->dtype);
    check_.same_dtype("dWeights", c_.dweights->dtype, "weights", c_.weights->dtype);
  }

  SequenceForm form(const char *name, const aclTensor *tensor) {
    return sequence_form(check_, name, tensor, "layout", c_.layout, nullptr);
  }

  void forms() {
    check_.that(c_.mode == kRightDown, "sparseMode is %" PRId64 "; allowed: 3", c_.mode);
    x_.main_query = form("query", c_.query);
    x_.main_key = form("key", c_.key);
    x_.query = form("queryIndex", c_.query_index);
    x_.key = form("keyIndex", c_.key_index);
    check_.that((c_.query_rope == nullptr) == (c_.key_rope == nullptr),
                "queryRopeOptional is %s and keyRopeOptional is %s; give both or none",
                c_.query_rope ? "given" : "null", c_.key_rope ? "given" : "null");
  }

  void sizes() {
    const int64_t heads = x_.main_query.heads, index = x_.query.heads;
    const bool pair = heads == 48 && index == 24 && !c_.dense && chip_is_950();
    check_.that(heads == 32 || heads == 64 || heads == 128 || pair,
                "query has %" PRId64 " heads; allowed: 32, 64, 128", heads);
    check_.that(index == 8 || index == 16 || index == 32 || index == 64 || pair,
                "queryIndex has %" PRId64 " heads; allowed: 8, 16, 32, 64", index);
    const int64_t keys = c_.dense ? heads : 1;
    check_.that(x_.main_key.heads == keys, "key has %" PRId64 " heads; it must have %" PRId64,
                x_.main_key.heads, keys);
    check_.that(x_.key.heads == 1, "keyIndex has %" PRId64 " heads; it must have 1", x_.key.heads);
    const int64_t width = c_.dense ? kOwnWidth : kSharedWidth;
    check_.that(x_.main_query.width == width && x_.main_key.width == width,
                "query has heads of %" PRId64 " elements and key of %" PRId64
                "; both must have %" PRId64,
                x_.main_query.width, x_.main_key.width, width);
    check_.that(x_.query.width == kIndexerWidth && x_.key.width == kIndexerWidth,
                "queryIndex has heads of %" PRId64 " elements and keyIndex of %" PRId64
                "; both must have 128",
                x_.query.width, x_.key.width);
    const auto same = [&](const char *name, const SequenceForm &a, const char *other,
                          const SequenceForm &b) {
      check_.that(a.tokens == b.tokens && a.batch == b.batch,
                  "%s and %s have other sequences: %" PRId64 " and %" PRId64 " tokens", name, other,
                  a.tokens, b.tokens);
    };
    same("queryIndex", x_.query, "query", x_.main_query);
    same("keyIndex", x_.key, "key", x_.main_key);
  }

  void sequences() {
    if (x_.query.packed) {
      check_.that(c_.query_list && c_.key_list,
                  "actualSeqLengthsQueryOptional or actualSeqLengthsKeyOptional is null; with "
                  "layout TND both are "
                  "needed");
      if (!check_.ok()) return;
      x_.query.batch = x_.key.batch = static_cast<int64_t>(c_.query_list->values.size());
    }
    check_.that(x_.query.batch >= 1 && x_.query.batch <= kLossBatches,
                "query has %" PRId64 " sequences; allowed: 1 to 256", x_.query.batch);
    check_.that(x_.key.batch == x_.query.batch,
                "key has %" PRId64 " sequences and query %" PRId64 "; the numbers must be equal",
                x_.key.batch, x_.query.batch);
    counts_or_ends(check_, "actualSeqLengthsQueryOptional", c_.query_list, x_.query, &x_.queries);
    counts_or_ends(check_, "actualSeqLengthsKeyOptional", c_.key_list, x_.key, &x_.keys);
    x_.main_query.batch = x_.main_key.batch = x_.query.batch;
    for (size_t b = 0; check_.ok() && !c_.dense && b < x_.queries.lengths.size(); ++b)
      check_.that(x_.queries.lengths[b] <= x_.keys.lengths[b],
                  "sequence %zu has %" PRId64 " queries and %" PRId64
                  " keys; it must have at least as many keys",
                  b, x_.queries.lengths[b], x_.keys.lengths[b]);
  }

  Layout with_last(const aclTensor &like, int64_t last) const {
    Layout layout = layout_of(like);
    layout.shape[layout.rank - 1] = last;
    return layout;
  }

  // (heads, tokens) or (sequences, heads, tokens), and what is behind them.
  Layout statistics(int64_t heads, int64_t last) const {
    Layout layout;
    if (!x_.query.packed) layout.push(x_.query.batch, 0);
    layout.push(heads, 0);
    layout.push(x_.query.tokens, 0);
    if (last != 0) layout.push(last, 0);
    return layout;
  }

  void shapes() {
    Layout weights = layout_of(*c_.query_index);
    --weights.rank;
    const int64_t one = 1, heads = x_.main_query.heads;
    const Layout sums = c_.dense ? statistics(heads, 1) : statistics(1, heads);
    check_.shape("weights", c_.weights, weights)
        .shape("softmaxMax", c_.highest, sums)
        .shape("softmaxSum", c_.sum, sums)
        .shape("dQueryIndex", c_.dq, layout_of(*c_.query_index))
        .shape("dKeyIndex", c_.dk, layout_of(*c_.key_index))
        .shape("loss", c_.loss, dense_layout(&one, 1));
    // Documents show it with a dimension more.
    check_.that(c_.dweights->numel() == c_.weights->numel(),
                "dWeights has shape %s; it must have the %" PRId64 " elements of weights",
                shape_text(layout_of(*c_.dweights)).c_str(), c_.weights->numel());
    if (c_.query_rope)
      check_.shape("queryRopeOptional", c_.query_rope, with_last(*c_.query, kLossRope))
          .shape("keyRopeOptional", c_.key_rope, with_last(*c_.key, kLossRope));
    if (c_.dense) {
      check_.shape("softmaxMaxIndex", c_.index_highest, statistics(1, 0))
          .shape("softmaxSumIndex", c_.index_sum, statistics(1, 0));
      return;
    }
    const int rank = static_cast<int>(c_.query_index->rank());
    check_.rank("sparseIndices", c_.indices, rank, rank);
    if (!check_.ok()) return;
    x_.chosen = c_.indices->shape.back();
    Layout indices = with_last(*c_.query_index, x_.chosen);
    indices.shape[rank - 2] = 1;
    check_.shape("sparseIndices", c_.indices, indices);
    check_.that(
        x_.chosen >= kPlacesUnit && x_.chosen <= kMostPlaces && x_.chosen % kPlacesUnit == 0,
        "sparseIndices has %" PRId64
        " places for each token; allowed: 1024 to 8192 in steps of 1024",
        x_.chosen);
  }

  const KlLossCall &c_;
  IndexerBack &x_;
  Check check_;
};

Status plan_kl_loss(const KlLossCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  const auto x = std::make_shared<IndexerBack>();
  KlLossRules rules(c, x.get());
  if (const Status s = rules.run()) return s;
  x->op = c.op;
  x->target = IndexerTarget::kAttention;
  x->causal = x->known = true;
  x->dense = c.dense;
  x->scale = static_cast<float>(c.scale);
  PlanBuilder plan(c.op);
  const auto input = [&](const aclTensor *tensor) {
    const size_t at = plan.input(tensor);
    return tensor ? at : kAbsent;
  };
  x->main_query_at = input(c.query);
  x->main_key_at = input(c.key);
  x->query_at = input(c.query_index);
  x->key_at = input(c.key_index);
  x->weights_at = input(c.weights);
  if (!c.dense) x->indices_at = input(c.indices);
  x->highest_at = input(c.highest);
  x->sum_at = input(c.sum);
  if (c.dense) {
    x->index_highest_at = input(c.index_highest);
    x->index_sum_at = input(c.index_sum);
  }
  x->query_rope_at = input(c.query_rope);
  x->key_rope_at = input(c.key_rope);
  x->dq_at = plan.output(c.dq);
  x->dk_at = plan.output(c.dk);
  x->dweights_at = plan.output(c.dweights);
  x->loss_at = plan.output(c.loss);
  const std::shared_ptr<const IndexerBack> kept = x;
  const bool nothing = rules.empty();
  return plan.finish(
      [kept, nothing](PlanContext &ctx) {
        return nothing ? Status{0} : run_indexer_back(*kept, ctx);
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SparseLightningIndexerGradKLLoss,
             (const aclTensor *query, const aclTensor *key, const aclTensor *queryIndex,
              const aclTensor *keyIndex, const aclTensor *weights, const aclTensor *sparseIndices,
              const aclTensor *softmaxMax, const aclTensor *softmaxSum,
              const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional,
              const aclIntArray *actualSeqLengthsQueryOptional,
              const aclIntArray *actualSeqLengthsKeyOptional, double scaleValue, const char *layout,
              int64_t sparseMode, int64_t pre_tokens, int64_t next_tokens, bool deterministic,
              aclTensor *dQueryIndex, aclTensor *dKeyIndex, aclTensor *dWeights, aclTensor *loss)) {
  // Bands are not among the modes, and results never depend on the order of threads.
  static_cast<void>(pre_tokens);
  static_cast<void>(next_tokens);
  static_cast<void>(deterministic);
  return emu::plan_kl_loss({"aclnnSparseLightningIndexerGradKLLoss",
                            false,
                            query,
                            key,
                            queryIndex,
                            keyIndex,
                            weights,
                            sparseIndices,
                            softmaxMax,
                            softmaxSum,
                            nullptr,
                            nullptr,
                            queryRopeOptional,
                            keyRopeOptional,
                            actualSeqLengthsQueryOptional,
                            actualSeqLengthsKeyOptional,
                            scaleValue,
                            layout,
                            sparseMode,
                            dQueryIndex,
                            dKeyIndex,
                            dWeights,
                            loss},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DenseLightningIndexerGradKLLoss,
             (const aclTensor *query, const aclTensor *key, const aclTensor *queryIndex,
              const aclTensor *keyIndex, const aclTensor *weights, const aclTensor *softmaxMax,
              const aclTensor *softmaxSum, const aclTensor *softmaxMaxIndex,
              const aclTensor *softmaxSumIndex, const aclTensor *queryRopeOptional,
              const aclTensor *keyRopeOptional, const aclIntArray *actualSeqLengthsQueryOptional,
              const aclIntArray *actualSeqLengthsKeyOptional, double scaleValue, const char *layout,
              int64_t sparseMode, int64_t preTokens, int64_t nextTokens, aclTensor *dQueryIndex,
              aclTensor *dKeyIndex, aclTensor *dWeights, aclTensor *loss)) {
  static_cast<void>(preTokens);
  static_cast<void>(nextTokens);
  return emu::plan_kl_loss({"aclnnDenseLightningIndexerGradKLLoss",
                            true,
                            query,
                            key,
                            queryIndex,
                            keyIndex,
                            weights,
                            nullptr,
                            softmaxMax,
                            softmaxSum,
                            softmaxMaxIndex,
                            softmaxSumIndex,
                            queryRopeOptional,
                            keyRopeOptional,
                            actualSeqLengthsQueryOptional,
                            actualSeqLengthsKeyOptional,
                            scaleValue,
                            layout,
                            sparseMode,
                            dQueryIndex,
                            dKeyIndex,
                            dWeights,
                            loss},
                           workspaceSize, executor);
}
EMU_CATCH
