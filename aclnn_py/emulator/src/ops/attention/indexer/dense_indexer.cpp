// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// DenseLightningIndexerSoftmaxLse: the highest score of an indexer over the keys that a token sees,
// and the sum of the powers against it.
#include <algorithm>
#include <cinttypes>
#include <limits>

#include "aclnnop/attention.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/indexer/indexer.h"
#include "ops/float_kernels.h"

namespace emu {
namespace {

constexpr int64_t kWidth = 128, kMostBatches = 256, kMostTokens = int64_t{1} << 20;
constexpr int64_t kCausal = 3;

struct DenseIndexer {
  SequenceForm query, key;
  Sequences queries, keys;
  size_t query_at, key_at, weight_at, highest_at, sum_at;
};

Status run_dense(const DenseIndexer &x, PlanContext &c) {
  const auto reader = [&](size_t at, const SequenceForm &form, const Sequences &sequences) {
    View view = view_of(c.tensor(at));
    if (form.width == 1) view.layout.push(1, 1);
    return TokenReader(view, form, sequences, nullptr);
  };
  SequenceForm weights = x.query;
  weights.width = 1;
  const TokenReader query = reader(x.query_at, x.query, x.queries),
                    key = reader(x.key_at, x.key, x.keys),
                    weight = reader(x.weight_at, weights, x.queries);
  IndexerTensors tensors{&query, &key, &weight};
  tensors.heads = x.query.heads;
  const View highest = view_of(c.tensor(x.highest_at)), sum = view_of(c.tensor(x.sum_at));
  const int64_t longest = *std::max_element(x.queries.lengths.begin(), x.queries.lengths.end());
  const int64_t blocks = (longest + kIndexerBlock - 1) / kIndexerBlock;
  parallel_for(x.query.batch * blocks, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> scores;
    for (int64_t task = begin; task < end; ++task) {
      const auto b = static_cast<size_t>(task / blocks);
      const int64_t first = task % blocks * kIndexerBlock, length = x.queries.lengths[b];
      const int64_t count = std::min(kIndexerBlock, length - first);
      if (count <= 0) continue;
      const int64_t shift = x.keys.lengths[b] - length, most = first + count + shift;
      indexer_scores(tensors, static_cast<int64_t>(b), first, count, most, &scores);
      for (int64_t i = 0; i < count; ++i) {
        float *row = scores.data() + i * most;
        const int64_t seen = first + i + 1 + shift;
        const float top = float_kernels().highest(row, seen);
        const auto total =
            static_cast<float>(float_kernels().shifted_powers(row, seen, top, false));
        // (B, 1, S) or (1, T): a row for each sequence, or one for all.
        const int64_t token = x.queries.starts[b] + first + i;
        const int64_t at =
            x.query.packed ? token : static_cast<int64_t>(b) * x.query.tokens + token;
        RowTarget<float>(highest).write(at, 1, &top);
        RowTarget<float>(sum).write(at, 1, &total);
      }
    }
  });
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DenseLightningIndexerSoftmaxLse,
             (const aclTensor *queryIndex, const aclTensor *keyIndex, const aclTensor *weight,
              const aclIntArray *actualSeqLengthsQueryOptional,
              const aclIntArray *actualSeqLengthsKeyOptional, const char *layoutOptional,
              int64_t sparseMode, int64_t preTokens, int64_t nextTokens, aclTensor *softmaxMaxOut,
              aclTensor *softmaxSumOut)) {
  static_cast<void>(preTokens);
  static_cast<void>(nextTokens);
  emu::Check check("aclnnDenseLightningIndexerSoftmaxLse");
  check.required("queryIndex", queryIndex)
      .required("keyIndex", keyIndex)
      .required("weight", weight)
      .optional("actualSeqLengthsQueryOptional", actualSeqLengthsQueryOptional)
      .optional("actualSeqLengthsKeyOptional", actualSeqLengthsKeyOptional)
      .required("softmaxMaxOut", softmaxMaxOut)
      .required("softmaxSumOut", softmaxSumOut)
      .dtype("queryIndex", queryIndex)
      .dtype("keyIndex", keyIndex)
      .dtype("weight", weight)
      .dtype("softmaxMaxOut", softmaxMaxOut)
      .dtype("softmaxSumOut", softmaxSumOut);
  if (!check.ok()) return check.status();
  check.same_dtype("keyIndex", keyIndex->dtype, "queryIndex", queryIndex->dtype);
  if (weight->dtype != ACL_FLOAT)
    check.same_dtype("weight", weight->dtype, "queryIndex", queryIndex->dtype);
  check.tiling();
  const char *layout = layoutOptional ? layoutOptional : "TND";
  emu::DenseIndexer x;
  emu::PlanBuilder plan("aclnnDenseLightningIndexerSoftmaxLse");
  x.query_at = plan.input(queryIndex);
  x.key_at = plan.input(keyIndex);
  x.weight_at = plan.input(weight);
  x.highest_at = plan.output(softmaxMaxOut);
  x.sum_at = plan.output(softmaxSumOut);
  if (check.ok() && queryIndex->numel() == 0)
    return plan.finish([](emu::PlanContext &) { return emu::Status{0}; }, workspaceSize, executor);
  x.query = emu::sequence_form(check, "queryIndex", queryIndex, "layoutOptional", layout, nullptr);
  x.key = emu::sequence_form(check, "keyIndex", keyIndex, "layoutOptional", layout, nullptr);
  check.that(sparseMode == emu::kCausal, "sparseMode is %" PRId64 "; allowed: 3", sparseMode);
  if (!check.ok()) return check.status();
  const int64_t heads = x.query.heads;
  check.that(heads == 8 || heads == 16 || heads == 32 || heads == 64,
             "queryIndex has %" PRId64 " heads; allowed: 8, 16, 32, 64", heads);
  check.that(x.key.heads == 1, "keyIndex has %" PRId64 " heads; it must have 1", x.key.heads);
  check.that(x.query.width == emu::kWidth && x.key.width == emu::kWidth,
             "queryIndex has heads of %" PRId64 " elements and keyIndex of %" PRId64
             "; both must have 128",
             x.query.width, x.key.width);
  if (x.query.packed) {
    check.that(actualSeqLengthsQueryOptional && actualSeqLengthsKeyOptional,
               "actualSeqLengthsQueryOptional and actualSeqLengthsKeyOptional are needed with "
               "layoutOptional TND");
    if (!check.ok()) return check.status();
    x.query.batch = static_cast<int64_t>(actualSeqLengthsQueryOptional->values.size());
    x.key.batch = x.query.batch;
  }
  check.that(x.query.batch >= 1 && x.query.batch <= emu::kMostBatches,
             "queryIndex has %" PRId64 " sequences; allowed: 1 to 256", x.query.batch);
  check.that(x.key.batch == x.query.batch,
             "keyIndex has %" PRId64
             " sequences and queryIndex "
             "%" PRId64,
             x.key.batch, x.query.batch);
  emu::counts_or_ends(check, "actualSeqLengthsQueryOptional", actualSeqLengthsQueryOptional,
                      x.query, &x.queries);
  emu::counts_or_ends(check, "actualSeqLengthsKeyOptional", actualSeqLengthsKeyOptional, x.key,
                      &x.keys);
  for (size_t b = 0; check.ok() && b < x.queries.lengths.size(); ++b) {
    check.that(x.queries.lengths[b] <= x.keys.lengths[b] && x.keys.lengths[b] <= emu::kMostTokens,
               "sequence %zu has %" PRId64 " queries and %" PRId64
               " keys; it must have at least as many keys, and at most 1048576",
               b, x.queries.lengths[b], x.keys.lengths[b]);
  }
  emu::Layout rows = emu::layout_of(*queryIndex);
  --rows.rank;
  check.shape("weight", weight, rows);
  emu::Layout expected;
  if (!x.query.packed) expected.push(x.query.batch, 0);
  expected.push(1, 0);
  expected.push(x.query.tokens, 0);
  check.shape("softmaxMaxOut", softmaxMaxOut, expected)
      .shape("softmaxSumOut", softmaxSumOut, expected);
  if (!check.ok()) return check.status();
  const auto kept = std::make_shared<const emu::DenseIndexer>(std::move(x));
  return plan.finish([kept](emu::PlanContext &c) { return emu::run_dense(*kept, c); },
                     workspaceSize, executor);
}
EMU_CATCH
