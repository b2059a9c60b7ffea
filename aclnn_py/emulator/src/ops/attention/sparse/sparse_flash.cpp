// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// SparseFlashAttention: each token of a query meets the blocks of keys that an indexer chose.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/sparse/sparse_flash.h"

namespace emu {
namespace {

constexpr int64_t kPageUnit = 16, kLongestPage = 1024, kLargestBlock = 128;
constexpr int64_t kAbsorbed = 2;

struct SparseCall {
  const char *op;
  const aclTensor *query, *key, *value, *indices, *table, *query_lengths, *key_lengths, *query_rope,
      *key_rope;
  Named<aclTensor> sinks;
  double scale;
  int64_t block;
  const char *query_layout, *key_layout;
  int64_t mode, attention_mode;
  bool with_sums;
  const aclTensor *out, *highest, *sum;
};

bool power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

void check_arguments(const SparseCall &c, Check &check) {
  check.required("query", c.query)
      .required("key", c.key)
      .required("value", c.value)
      .required("sparseIndices", c.indices)
      .optional("blockTableOptional", c.table)
      .optional("actualSeqLengthsQueryOptional", c.query_lengths)
      .optional("actualSeqLengthsKvOptional", c.key_lengths)
      .optional("queryRopeOptional", c.query_rope)
      .optional("keyRopeOptional", c.key_rope)
      .optional(c.sinks.name, c.sinks.given)
      .required("attentionOut", c.out);
  if (c.with_sums) check.required("softmaxMax", c.highest).required("softmaxSum", c.sum);
  check.optional("softmaxMax", c.highest).optional("softmaxSum", c.sum);
  check.dtype("query", c.query).dtype("key", c.key).dtype("value", c.value);
  check.dtype("sparseIndices", c.indices).dtype("blockTableOptional", c.table);
  check.dtype("actualSeqLengthsQueryOptional", c.query_lengths)
      .dtype("actualSeqLengthsKvOptional", c.key_lengths);
  check.dtype("queryRopeOptional", c.query_rope).dtype("keyRopeOptional", c.key_rope);
  check.dtype("attentionOut", c.out);
  check.dtype("softmaxMax", c.highest).dtype("softmaxSum", c.sum);
  check.that(!c.sinks || chip_is_950(), "%s is given; only a 950 takes it: pass null",
             c.sinks.name);
  if (c.sinks && check.ok()) check.dtype_in(c.sinks.name, c.sinks->dtype, dtype_set(ACL_FLOAT));
  if (!check.ok()) return;
  for (const auto &[name, tensor] :
       {std::pair{"key", c.key}, std::pair{"value", c.value},
        std::pair{"queryRopeOptional", c.query_rope}, std::pair{"keyRopeOptional", c.key_rope},
        std::pair{"attentionOut", c.out}}) {
    if (tensor) check.same_dtype(name, tensor->dtype, "query", c.query->dtype);
  }
}

void check_forms(const SparseCall &c, Check &check, Sparse *x) {
  x->query = sequence_form(check, "query", c.query, "layoutQueryOptional", c.query_layout, nullptr);
  x->key = sequence_form(check, "key", c.key, "layoutKvOptional", c.key_layout, "PA_BSND");
  const bool newer = chip_is_950();  // any number of heads, and tokens that are chosen one by one
  check.that((newer || power_of_two(x->query.heads)) && x->query.heads >= 1 &&
                 x->query.heads <= kSparseMostHeads,
             "query has %" PRId64 " heads; allowed: %s", x->query.heads,
             newer ? "1 to 128" : "powers of 2 up to 128");
  check.that(x->key.heads == 1, "key has %" PRId64 " heads; it must have 1", x->key.heads);
  check.that(x->query.width == kSparseWidth && x->key.width == kSparseWidth,
             "query has heads of %" PRId64 " elements and key of %" PRId64 "; both must have 512",
             x->query.width, x->key.width);
  check.that(!x->key.paged || (x->key.tokens % kPageUnit == 0 && x->key.tokens <= kLongestPage),
             "key has pages of %" PRId64 " tokens; allowed: multiples of 16 up to 1024",
             x->key.tokens);
  if (check.ok()) check.shape("value", c.value, layout_of(*c.key));
  check.that(c.attention_mode == kAbsorbed, "attentionMode is %" PRId64 "; allowed: 2",
             c.attention_mode);
  check.that(c.mode == 0 || c.mode == kSparseCausal, "sparseMode is %" PRId64 "; allowed: 0, 3",
             c.mode);
  check.that(newer ? c.block == 1 : power_of_two(c.block) && c.block <= kLargestBlock,
             "sparseBlockSize is %" PRId64 "; allowed: %s", c.block,
             newer ? "1" : "powers of 2 up to 128");
  check.that(!x->key.paged || (c.block > 0 && x->key.tokens % c.block == 0),
             "sparseBlockSize is %" PRId64 "; it must divide a page of %" PRId64 " tokens", c.block,
             x->key.tokens);
  check.that(!c.with_sums || !x->key.paged,
             "returnSoftmaxLse is true; with layoutKvOptional PA_BSND it must be false");
  check.that(!x->query.packed || c.query_lengths,
             "actualSeqLengthsQueryOptional is null; with layoutQueryOptional TND it is needed");
  check.that(!(x->key.packed || x->key.paged) || c.key_lengths,
             "actualSeqLengthsKvOptional is null; with layoutKvOptional \"%s\" it is needed",
             c.key_layout);
  check.that(bool(c.query_rope) == bool(c.key_rope),
             "queryRopeOptional is %s and keyRopeOptional is %s; give both or none",
             c.query_rope ? "given" : "null", c.key_rope ? "given" : "null");
}

void check_sizes(const SparseCall &c, Check &check, Sparse *x) {
  if (x->query.packed) x->query.batch = c.query_lengths->numel();
  check.that(x->query.batch >= 1, "query has no sequences");
  check.that(x->key.packed || x->key.paged || x->key.batch == x->query.batch,
             "key has %" PRId64 " sequences and query %" PRId64 "; the numbers must be equal",
             x->key.batch, x->query.batch);
  x->key.batch = x->query.batch;
  check_pages(check, "blockTableOptional", c.table, x->key.batch, &x->key);
  check_lengths(check, "actualSeqLengthsQueryOptional", c.query_lengths, LengthList::kCounts,
                x->query.batch);
  check_lengths(check, "actualSeqLengthsKvOptional", c.key_lengths, LengthList::kCounts,
                x->query.batch);
  const auto with_width = [](const aclTensor &tensor, int64_t width) {
    Layout layout = layout_of(tensor);
    layout.shape[layout.rank - 1] = width;
    return layout;
  };
  if (c.query_rope) {
    check.shape("queryRopeOptional", c.query_rope, with_width(*c.query, kSparseRotary))
        .shape("keyRopeOptional", c.key_rope, with_width(*c.key, kSparseRotary));
  }
  const int rank = c.query->rank();
  check.rank("sparseIndices", c.indices, rank, rank);
  if (!check.ok()) return;
  x->chosen = c.indices->shape[static_cast<size_t>(rank - 1)];
  Layout indices = with_width(*c.query, x->chosen);
  indices.shape[rank - 2] = 1;
  check.shape("sparseIndices", c.indices, indices);
  check.that(x->chosen > 0, "sparseIndices has shape %s; its last dimension must not be 0",
             shape_text(layout_of(*c.indices)).c_str());
  check.shape("attentionOut", c.out, layout_of(*c.query));
  if (c.sinks) {
    const int64_t heads = x->query.heads;
    check.shape(c.sinks.name, c.sinks.given, dense_layout(&heads, 1));
  }
  if (!c.with_sums) return;
  Layout sums;
  if (!x->query.packed) sums.push(x->query.batch, 0);
  for (const int64_t size : {int64_t{1}, x->query.tokens, x->query.heads}) sums.push(size, 0);
  check.shape("softmaxMax", c.highest, sums).shape("softmaxSum", c.sum, sums);
}

class SparseRun : SparseKeys {
 public:
  using SparseKeys::SparseKeys;

  Status run() {
    if (const Status s = read()) return s;
    sinks_ = x_.sinks_at != kAbsent && c_.has(x_.sinks_at)
                 ? read_all<float>(c_, x_.sinks_at, x_.query.heads, 0.0f)
                 : std::vector<float>();
    out_ = view_of(c_.tensor(x_.out_at));
    compute();
    return 0;
  }

 private:
  int64_t tokens_of(int64_t batch) const {
    return x_.query.packed ? queries_.lengths[static_cast<size_t>(batch)] : x_.query.tokens;
  }

  TokenReader reader(size_t at, SequenceForm form, int64_t width, const Sequences &sequences) {
    form.width = width;
    const View view = view_of(c_.tensor(at));
    return {at == x_.out_at ? view : operands_.safe(view, {out_}), form, sequences, &pages_};
  }

  void compute() {
    const TokenReader query = reader(x_.query_at, x_.query, kSparseWidth, queries_),
                      key = reader(x_.key_at, x_.key, kSparseWidth, keys_),
                      value = reader(x_.value_at, x_.key, kSparseWidth, keys_),
                      out = reader(x_.out_at, x_.query, kSparseWidth, queries_);
    std::vector<TokenReader> ropes;
    if (x_.rotary) {
      ropes.push_back(reader(x_.query_rope_at, x_.query, kSparseRotary, queries_));
      ropes.push_back(reader(x_.key_rope_at, x_.key, kSparseRotary, keys_));
    }
    int64_t longest = 0;
    for (int64_t b = 0; b < x_.query.batch; ++b) longest = std::max(longest, tokens_of(b));
    parallel_for(x_.query.batch * longest, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        if (task % longest < tokens_of(task / longest))
          row(task / longest, task % longest, query, key, value, ropes, out);
      }
    });
  }

  void row(int64_t b, int64_t token, const TokenReader &query, const TokenReader &key,
           const TokenReader &value, const std::vector<TokenReader> &ropes,
           const TokenReader &out) const {
    const std::vector<int64_t> keys = met(b, token);
    const int64_t count = static_cast<int64_t>(keys.size()), heads = x_.query.heads,
                  width = kSparseWidth + (x_.rotary ? kSparseRotary : 0);
    std::vector<float> q(static_cast<size_t>(heads * width)), k(static_cast<size_t>(count * width)),
        v(static_cast<size_t>(count * kSparseWidth));
    for (int64_t n = 0; n < heads; ++n) {
      query.load(b, n, token, q.data() + n * width);
      if (x_.rotary) ropes[0].load(b, n, token, q.data() + n * width + kSparseWidth);
    }
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = keys[static_cast<size_t>(i)];
      key.load(b, 0, at, k.data() + i * width);
      if (x_.rotary) ropes[1].load(b, 0, at, k.data() + i * width + kSparseWidth);
      value.load(b, 0, at, v.data() + i * kSparseWidth);
    }
    GatheredAttention a{q.data(), k.data(), v.data(), heads, count, width, kSparseWidth, x_.scale};
    a.sinks = sinks_.empty() ? nullptr : sinks_.data();
    GatheredResult result;
    attend(a, &result);
    const Heads &to = out.heads();
    for (int64_t n = 0; n < heads; ++n) {
      store_f32(result.out.data() + n * kSparseWidth, const_cast<char *>(to.data), to.dtype,
                out.at(b, n, token), to.item, kSparseWidth);
    }
    if (!x_.with_sums) return;
    const int64_t first = place(b, token) * heads;
    RowTarget<float>(view_of(c_.tensor(x_.highest_at))).write(first, heads, result.highest.data());
    RowTarget<float>(view_of(c_.tensor(x_.sum_at))).write(first, heads, result.sum.data());
  }

  Operands operands_;
  View out_;
  std::vector<float> sinks_;
};

Status plan_sparse(const SparseCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(c.op);
  check_arguments(c, check);
  check.tiling();
  Sparse x;
  x.op = c.op;
  if (check.ok()) check_forms(c, check, &x);
  if (check.ok()) check_sizes(c, check, &x);
  if (!check.ok()) return check.status();
  x.block = c.block;
  x.scale = static_cast<float>(c.scale);
  x.causal = c.mode == kSparseCausal;
  x.with_sums = c.with_sums;
  x.rotary = c.query_rope != nullptr;
  PlanBuilder plan(c.op);
  x.query_at = plan.input(c.query);
  x.key_at = plan.input(c.key);
  x.value_at = plan.input(c.value);
  x.indices_at = plan.input(c.indices);
  x.table_at = plan.input(c.table);
  x.query_lengths_at = plan.input(c.query_lengths);
  x.key_lengths_at = plan.input(c.key_lengths);
  x.query_rope_at = plan.input(c.query_rope);
  x.key_rope_at = plan.input(c.key_rope);
  if (c.sinks.name != nullptr) x.sinks_at = plan.input(c.sinks.given);
  x.out_at = plan.output(c.out);
  x.highest_at = c.with_sums ? plan.output(c.highest) : plan.unused(c.highest);
  x.sum_at = c.with_sums ? plan.output(c.sum) : plan.unused(c.sum);
  return plan.finish([x](PlanContext &context) { return SparseRun(x, context).run(); },
                     workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define SPARSE_TENSORS                                                                             \
  const aclTensor *query, const aclTensor *key, const aclTensor *value,                            \
      const aclTensor *sparseIndices, const aclTensor *blockTableOptional,                         \
      const aclTensor *actualSeqLengthsQueryOptional, const aclTensor *actualSeqLengthsKvOptional, \
      const aclTensor *queryRopeOptional, const aclTensor *keyRopeOptional
#define SPARSE_ATTRIBUTES                                                                      \
  double scaleValue, int64_t sparseBlockSize, const char *layoutQueryOptional,                 \
      const char *layoutKvOptional, int64_t sparseMode, int64_t preTokens, int64_t nextTokens, \
      int64_t attentionMode, bool returnSoftmaxLse, aclTensor *attentionOut,                   \
      aclTensor *softmaxMax, aclTensor *softmaxSum
// Bands are not among the modes.
#define SPARSE_CALL(OP)                                                   \
  static_cast<void>(preTokens);                                           \
  static_cast<void>(nextTokens);                                          \
  emu::SparseCall call{};                                                 \
  call.op = OP;                                                           \
  call.query = query;                                                     \
  call.key = key;                                                         \
  call.value = value;                                                     \
  call.indices = sparseIndices;                                           \
  call.table = blockTableOptional;                                        \
  call.query_lengths = actualSeqLengthsQueryOptional;                     \
  call.key_lengths = actualSeqLengthsKvOptional;                          \
  call.query_rope = queryRopeOptional;                                    \
  call.key_rope = keyRopeOptional;                                        \
  call.scale = scaleValue;                                                \
  call.block = sparseBlockSize;                                           \
  call.query_layout = layoutQueryOptional ? layoutQueryOptional : "BSND"; \
  call.key_layout = layoutKvOptional ? layoutKvOptional : "BSND";         \
  call.mode = sparseMode;                                                 \
  call.attention_mode = attentionMode;                                    \
  call.with_sums = returnSoftmaxLse;                                      \
  call.out = attentionOut;                                                \
  call.highest = softmaxMax;                                              \
  call.sum = softmaxSum

EMU_OPERATOR(SparseFlashAttention, (SPARSE_TENSORS, SPARSE_ATTRIBUTES)) {
  SPARSE_CALL("aclnnSparseFlashAttention");
  return emu::plan_sparse(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(SparseFlashAttentionV2,
             (SPARSE_TENSORS, const aclTensor *sinksOptional, SPARSE_ATTRIBUTES)) {
  SPARSE_CALL("aclnnSparseFlashAttentionV2");
  call.sinks = EMU_ARGUMENT(sinksOptional);
  return emu::plan_sparse(call, workspaceSize, executor);
}
EMU_CATCH
