// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// SparseFlashAttentionGrad: the gradient of attention over the blocks of keys that were chosen.
#include <cinttypes>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/sparse/gathered_sums.h"
#include "ops/attention/sparse/sparse_flash.h"

namespace emu {
namespace {

constexpr int64_t kChosenUnit = 1024, kMostChosen = 8192, kMostSequences = 256;

struct SparseGradCall {
  const aclTensor *query, *key, *value, *indices, *dy, *out, *highest, *sum, *query_lengths,
      *key_lengths, *query_rope, *key_rope;
  double scale;
  int64_t block;
  const char *layout;
  int64_t mode;
  const aclTensor *dq, *dk, *dv, *query_rope_gradient, *key_rope_gradient;
};

void check_tensors(const SparseGradCall &c, Check &check) {
  const std::pair<const char *, const aclTensor *> floats[] = {
      {"query", c.query}, {"key", c.key},      {"dOut", c.dy},
      {"out", c.out},     {"dQueryOut", c.dq}, {"dKeyOut", c.dk}};
  const std::pair<const char *, const aclTensor *> options[] = {
      {"valueOptional", c.value},
      {"dValueOutOptional", c.dv},
      {"queryRopeOptional", c.query_rope},
      {"keyRopeOptional", c.key_rope},
      {"dQueryRopeOutOptional", c.query_rope_gradient},
      {"dKeyRopeOutOptional", c.key_rope_gradient}};
  for (const auto &[name, tensor] : floats) check.required(name, tensor);
  check.required("sparseIndices", c.indices)
      .required("softmaxMax", c.highest)
      .required("softmaxSum", c.sum)
      .optional("actualSeqLengthsQueryOptional", c.query_lengths)
      .optional("actualSeqLengthsKvOptional", c.key_lengths);
  for (const auto &[name, tensor] : options) check.optional(name, tensor);
  if (c.value) check.required("dValueOutOptional", c.dv);
  if (c.query_rope) check.required("dQueryRopeOutOptional", c.query_rope_gradient);
  if (c.key_rope) check.required("dKeyRopeOutOptional", c.key_rope_gradient);
  for (const auto &[name, tensor] : floats) check.dtype(name, tensor);
  for (const auto &[name, tensor] : options) check.dtype(name, tensor);
  check.dtype("sparseIndices", c.indices)
      .dtype("softmaxMax", c.highest)
      .dtype("softmaxSum", c.sum)
      .dtype("actualSeqLengthsQueryOptional", c.query_lengths)
      .dtype("actualSeqLengthsKvOptional", c.key_lengths);
  if (!check.ok()) return;
  for (const auto &[name, tensor] : floats)
    check.same_dtype(name, tensor->dtype, "query", c.query->dtype);
  for (const auto &[name, tensor] : options)
    if (tensor) check.same_dtype(name, tensor->dtype, "query", c.query->dtype);
}

bool fits_heads(int64_t n) {
  if (n < 1 || n > kSparseMostHeads) return false;
  const auto power = [](int64_t x) { return (x & (x - 1)) == 0; };
  return power(n) || (chip_is_950() && n % 3 == 0 && power(n / 3) && n <= 48);
}

void check_forms(const SparseGradCall &c, Check &check, Sparse *x) {
  x->query = sequence_form(check, "query", c.query, "layoutOptional", c.layout, nullptr);
  x->key = sequence_form(check, "key", c.key, "layoutOptional", c.layout, nullptr);
  check.that(fits_heads(x->query.heads),
             "query has %" PRId64
             " heads; allowed: powers of 2 up to "
             "128%s",
             x->query.heads, chip_is_950() ? " and 3, 6, 12, 24, 48" : "");
  check.that(x->key.heads == 1, "key has %" PRId64 " heads; it must have 1", x->key.heads);
  check.that(x->query.width == kSparseWidth && x->key.width == kSparseWidth,
             "query has heads of %" PRId64 " elements and key of %" PRId64 "; both must have 512",
             x->query.width, x->key.width);
  check.that(c.mode == 0 || c.mode == kSparseCausal, "sparseMode is %" PRId64 "; allowed: 0, 3",
             c.mode);
  const bool blocks = c.block == 8 || c.block == 16 || c.block == 32 || c.block == 64;
  check.that(c.block == 1 || (blocks && !chip_is_950()),
             "sparseBlockSize is %" PRId64 "; allowed: %s", c.block,
             chip_is_950() ? "1" : "1, 8, 16, 32, 64");
  check.that(!x->query.packed || (c.query_lengths && c.key_lengths),
             "actualSeqLengthsQueryOptional or actualSeqLengthsKvOptional is null; with "
             "layoutOptional TND both are needed");
  check.that(bool(c.query_rope) == bool(c.key_rope),
             "queryRopeOptional is %s and keyRopeOptional is %s; give both or none",
             c.query_rope ? "given" : "null", c.key_rope ? "given" : "null");
  check.that(c.value || !c.dv,
             "dValueOutOptional is given without valueOptional; then the gradient of the values is "
             "part of "
             "dKeyOut: pass null");
}

void check_sizes(const SparseGradCall &c, Check &check, Sparse *x) {
  if (x->query.packed) x->query.batch = c.query_lengths->numel();
  check.that(x->query.batch >= 1 && x->query.batch <= kMostSequences,
             "query has %" PRId64 " sequences; allowed: 1 to 256", x->query.batch);
  check.that(x->key.packed || x->key.batch == x->query.batch,
             "key has %" PRId64 " sequences and query %" PRId64 "; the numbers must be equal",
             x->key.batch, x->query.batch);
  x->key.batch = x->query.batch;
  check_lengths(check, "actualSeqLengthsQueryOptional", c.query_lengths, LengthList::kCounts,
                x->query.batch);
  check_lengths(check, "actualSeqLengthsKvOptional", c.key_lengths, LengthList::kCounts,
                x->query.batch);
  const int rank = c.query->rank();
  check.rank("sparseIndices", c.indices, rank, rank);
  if (!check.ok()) return;
  x->chosen = c.indices->shape[static_cast<size_t>(rank - 1)];
  check.that(x->chosen >= kChosenUnit && x->chosen <= kMostChosen && x->chosen % kChosenUnit == 0,
             "sparseIndices has %" PRId64
             " places for each token; allowed: 1024 to 8192 in steps "
             "of 1024",
             x->chosen);
  const Layout query = layout_of(*c.query), key = layout_of(*c.key);
  const auto with_width = [](Layout layout, int64_t width) {
    layout.shape[layout.rank - 1] = width;
    return layout;
  };
  Layout indices = with_width(query, x->chosen), sums;
  indices.shape[rank - 2] = 1;
  if (!x->query.packed) sums.push(x->query.batch, 0);
  for (const int64_t size : {int64_t{1}, x->query.tokens, x->query.heads}) sums.push(size, 0);
  check.shape("sparseIndices", c.indices, indices)
      .shape("dOut", c.dy, query)
      .shape("out", c.out, query)
      .shape("softmaxMax", c.highest, sums)
      .shape("softmaxSum", c.sum, sums)
      .shape("dQueryOut", c.dq, query)
      .shape("dKeyOut", c.dk, key);
  if (c.value) check.shape("valueOptional", c.value, key).shape("dValueOutOptional", c.dv, key);
  if (!c.query_rope) return;
  check.shape("queryRopeOptional", c.query_rope, with_width(query, kSparseRotary))
      .shape("keyRopeOptional", c.key_rope, with_width(key, kSparseRotary))
      .shape("dQueryRopeOutOptional", c.query_rope_gradient, with_width(query, kSparseRotary))
      .shape("dKeyRopeOutOptional", c.key_rope_gradient, with_width(key, kSparseRotary));
}

class SparseBack : SparseKeys {
 public:
  using SparseKeys::SparseKeys;

  Status run() {
    if (const Status s = read()) return s;
    sources();
    highest_ = statistics(x_.highest_at);
    sum_ = statistics(x_.sum_at);
    for (const View &result : results_) clear(result);
    for (int64_t b = 0; b < x_.query.batch; ++b) sequence(b);
    return 0;
  }

 private:
  std::vector<float> statistics(size_t at) const {
    return read_all<float>(c_, at, c_.tensor(at).numel(), 0.0f);
  }
  int64_t width() const { return kSparseWidth + (x_.rotary ? kSparseRotary : 0); }
  bool united() const { return x_.value_at == kAbsent; }

  void sources() {
    for (const size_t at :
         {x_.dq_at, x_.dk_at, x_.dv_at, x_.query_rope_gradient_at, x_.key_rope_gradient_at})
      if (at != kAbsent) results_.push_back(view_of(c_.tensor(at)));
    query_ = reader(x_.query_at, x_.query, queries_);
    key_ = reader(x_.key_at, x_.key, keys_);
    dy_ = reader(x_.dy_at, x_.query, queries_);
    out_ = reader(x_.out_at, x_.query, queries_);
    to_query_ = target(x_.dq_at, x_.query, queries_);
    to_key_ = target(x_.dk_at, x_.key, keys_);
    if (!united()) {
      value_ = reader(x_.value_at, x_.key, keys_);
      to_value_ = target(x_.dv_at, x_.key, keys_);
    }
    if (!x_.rotary) return;
    SequenceForm query = x_.query, key = x_.key;
    query.width = key.width = kSparseRotary;
    query_rope_ = reader(x_.query_rope_at, query, queries_);
    key_rope_ = reader(x_.key_rope_at, key, keys_);
    to_query_rope_ = target(x_.query_rope_gradient_at, query, queries_);
    to_key_rope_ = target(x_.key_rope_gradient_at, key, keys_);
  }

  std::unique_ptr<const TokenReader> reader(size_t at, const SequenceForm &form,
                                            const Sequences &s) {
    View view = view_of(c_.tensor(at));
    for (const View &result : results_) view = operands_.safe(view, {result});
    return std::make_unique<const TokenReader>(view, form, s, nullptr);
  }
  std::unique_ptr<const TokenReader> target(size_t at, const SequenceForm &form,
                                            const Sequences &s) {
    return std::make_unique<const TokenReader>(view_of(c_.tensor(at)), form, s, nullptr);
  }

  void sequence(int64_t b) {
    const auto at = static_cast<size_t>(b);
    const int64_t keys = keys_.lengths[at];
    const GatheredSums sums =
        sum_of_tokens(queries_.lengths[at], keys, width(), united() ? 0 : kSparseWidth,
                      [&](int64_t token, GatheredSums *sum) { row(b, token, sum); });
    parallel_for(keys, 64, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        store_token(*to_key_, b, 0, k, sums.key(k));
        if (x_.rotary) store_token(*to_key_rope_, b, 0, k, sums.key(k) + kSparseWidth);
        if (!united()) store_token(*to_value_, b, 0, k, sums.value(k));
      }
    });
  }

  void row(int64_t b, int64_t token, GatheredSums *sums) const {
    const std::vector<int64_t> keys = met(b, token);
    if (keys.empty()) return;
    const int64_t count = static_cast<int64_t>(keys.size()), heads = x_.query.heads, wide = width();
    std::vector<float> q(static_cast<size_t>(heads * wide)), k(static_cast<size_t>(count * wide)),
        v(static_cast<size_t>(united() ? 0 : count * kSparseWidth)),
        dy(static_cast<size_t>(heads * kSparseWidth)), out(static_cast<size_t>(kSparseWidth));
    GatheredStatistics rows{dy.data(), {}, {}, {}};
    for (int64_t n = 0; n < heads; ++n) {
      float *slopes = dy.data() + n * kSparseWidth;
      query_->load(b, n, token, q.data() + n * wide);
      if (x_.rotary) query_rope_->load(b, n, token, q.data() + n * wide + kSparseWidth);
      dy_->load(b, n, token, slopes);
      out_->load(b, n, token, out.data());
      rows.along.push_back(sum_along(slopes, out.data(), kSparseWidth));
      const auto at = static_cast<size_t>(place(b, token) * heads + n);
      rows.references.push_back(highest_[at]);
      rows.factors.push_back(1.0f / sum_[at]);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = keys[static_cast<size_t>(i)];
      key_->load(b, 0, at, k.data() + i * wide);
      if (x_.rotary) key_rope_->load(b, 0, at, k.data() + i * wide + kSparseWidth);
      if (!united()) value_->load(b, 0, at, v.data() + i * kSparseWidth);
    }
    GatheredSlopes found;
    attend_back({q.data(), k.data(), v.data(), heads, count, wide, kSparseWidth, x_.scale}, rows,
                keys, sums, &found);
    for (int64_t n = 0; n < heads; ++n) {
      const float *slopes = found.query.data() + n * wide;
      store_token(*to_query_, b, n, token, slopes);
      if (x_.rotary) store_token(*to_query_rope_, b, n, token, slopes + kSparseWidth);
    }
  }

  Operands operands_;
  std::vector<View> results_;
  std::unique_ptr<const TokenReader> query_, key_, value_, dy_, out_, query_rope_, key_rope_,
      to_query_, to_key_, to_value_, to_query_rope_, to_key_rope_;
  std::vector<float> highest_, sum_;
};

Status plan_sparse_back(const SparseGradCall &c, uint64_t *workspace_size,
                        aclOpExecutor **executor) {
  Check check("aclnnSparseFlashAttentionGrad");
  check_tensors(c, check);
  check.tiling();
  const bool nothing = check.ok() && c.query->numel() == 0;
  Sparse x;
  x.op = "aclnnSparseFlashAttentionGrad";
  if (check.ok() && !nothing) check_forms(c, check, &x);
  if (check.ok() && !nothing) check_sizes(c, check, &x);
  if (!check.ok()) return check.status();
  x.block = c.block;
  x.scale = static_cast<float>(c.scale);
  x.causal = c.mode == kSparseCausal;
  x.rotary = c.query_rope != nullptr;
  PlanBuilder plan(x.op);
  const auto result = [&](const aclTensor *tensor, bool wanted) {
    const size_t at = wanted ? plan.output(tensor) : plan.unused(tensor);
    return wanted ? at : kAbsent;
  };
  x.query_at = plan.input(c.query);
  x.key_at = plan.input(c.key);
  const size_t value_at = plan.input(c.value);
  x.value_at = c.value ? value_at : kAbsent;
  x.indices_at = plan.input(c.indices);
  x.dy_at = plan.input(c.dy);
  x.out_at = plan.input(c.out);
  x.highest_at = plan.input(c.highest);
  x.sum_at = plan.input(c.sum);
  x.query_lengths_at = plan.input(c.query_lengths);
  x.key_lengths_at = plan.input(c.key_lengths);
  x.query_rope_at = plan.input(c.query_rope);
  x.key_rope_at = plan.input(c.key_rope);
  x.dq_at = plan.output(c.dq);
  x.dk_at = plan.output(c.dk);
  x.dv_at = result(c.dv, c.value);
  x.query_rope_gradient_at = result(c.query_rope_gradient, x.rotary);
  x.key_rope_gradient_at = result(c.key_rope_gradient, x.rotary);
  const auto kept = std::make_shared<const Sparse>(x);
  return plan.finish(
      [kept, nothing](PlanContext &context) {
        return nothing ? Status{0} : SparseBack(*kept, context).run();
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SparseFlashAttentionGrad,
             (const aclTensor *query, const aclTensor *key, const aclTensor *valueOptional,
              const aclTensor *sparseIndices, const aclTensor *dOut, const aclTensor *out,
              const aclTensor *softmaxMax, const aclTensor *softmaxSum,
              const aclTensor *actualSeqLengthsQueryOptional,
              const aclTensor *actualSeqLengthsKvOptional, const aclTensor *queryRopeOptional,
              const aclTensor *keyRopeOptional, double scaleValue, int64_t sparseBlockSize,
              const char *layoutOptional, int64_t sparseMode, int64_t preTokens, int64_t nextTokens,
              bool deterministic, aclTensor *dQueryOut, aclTensor *dKeyOut,
              aclTensor *dValueOutOptional, aclTensor *dQueryRopeOutOptional,
              aclTensor *dKeyRopeOutOptional)) {
  // Bands are not among the modes, and results never depend on the order of threads.
  static_cast<void>(preTokens);
  static_cast<void>(nextTokens);
  static_cast<void>(deterministic);
  return emu::plan_sparse_back({query,
                                key,
                                valueOptional,
                                sparseIndices,
                                dOut,
                                out,
                                softmaxMax,
                                softmaxSum,
                                actualSeqLengthsQueryOptional,
                                actualSeqLengthsKvOptional,
                                queryRopeOptional,
                                keyRopeOptional,
                                scaleValue,
                                sparseBlockSize,
                                layoutOptional ? layoutOptional : "BSND",
                                sparseMode,
                                dQueryOut,
                                dKeyOut,
                                dValueOutOptional,
                                dQueryRopeOutOptional,
                                dKeyRopeOutOptional},
                               workspaceSize, executor);
}
EMU_CATCH
