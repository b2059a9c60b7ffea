// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradient of BlockSparseAttention.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/pool.h"
#include "ops/attention/blocks/block_sparse.h"
#include "ops/attention/sparse/gathered_sums.h"

namespace emu {
namespace {

constexpr int64_t kWidth = 128, kAll = 2147483647, kRows = 64;  // that work together

struct BlockBack : BlockSparse {
  size_t dy_at, dq_at, dk_at, dv_at;
};

// Each head of the keys goes through the rows that meet it in order.
class BlockBackRun {
 public:
  BlockBackRun(const BlockBack &x, PlanContext &c) : x_(x), c_(c) {}

  Status run() {
    if (const Status s = choice_.read(x_, c_)) return s;
    const View dq = view_of(c_.tensor(x_.dq_at)), dk = view_of(c_.tensor(x_.dk_at)),
               dv = view_of(c_.tensor(x_.dv_at));
    Operands operands;
    const auto heads = [&](size_t at, int64_t width) {
      return heads_of(operands.safe(view_of(c_.tensor(at)), {dq, dk, dv}), x_.form, width);
    };
    query_ = heads(x_.query_at, x_.width);
    key_ = heads(x_.key_at, x_.width);
    value_ = heads(x_.value_at, x_.width);
    dy_ = heads(x_.dy_at, x_.width);
    out_ = heads(x_.out_at, x_.width);
    lse_ = heads(x_.lse_at, 1);
    dq_ = heads_of(dq, x_.form, x_.width);
    dk_ = heads_of(dk, x_.form, x_.width);
    dv_ = heads_of(dv, x_.form, x_.width);
    parallel_for(x_.batch * x_.kv_heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) head(task / x_.kv_heads, task % x_.kv_heads);
    });
    return 0;
  }

 private:
  int64_t at(const Heads &h, int64_t b, int64_t head, int64_t token, bool keys) const {
    const auto &starts = keys ? x_.key_starts : x_.query_starts;
    return h.at(b, head, starts[static_cast<size_t>(b)] + token);
  }
  void store(const float *row, const Heads &to, int64_t at) const {
    store_f32(row, const_cast<char *>(to.data), to.dtype, at, to.item, x_.width);
  }

  void head(int64_t b, int64_t kv_head) const {
    const int64_t group = x_.heads / x_.kv_heads;
    const auto in = static_cast<size_t>(b);
    // The tokens behind the last one of a sequence are no operands; their gradient is 0.
    const int64_t rows = x_.packed() ? x_.query_lengths[in] : x_.query_tokens,
                  keys = x_.packed() ? x_.key_lengths[in] : x_.key_tokens;
    GatheredSums sums(keys, x_.width, x_.width);
    const std::vector<float> nothing(static_cast<size_t>(x_.width), 0.0f);
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      for (int64_t t = 0; t < x_.query_lengths[in];) {
        const int64_t next =
            std::min({x_.query_lengths[in], (t / x_.query_block + 1) * x_.query_block, t + kRows});
        piece(b, h, kv_head, t, next - t, &sums);
        t = next;
      }
      for (int64_t t = x_.query_lengths[in]; t < rows; ++t)
        store(nothing.data(), dq_, at(dq_, b, h, t, false));
    }
    for (int64_t k = 0; k < keys; ++k) {
      store(sums.key(k), dk_, at(dk_, b, kv_head, k, true));
      store(sums.value(k), dv_, at(dv_, b, kv_head, k, true));
    }
  }

  // Rows of one block of queries meet the same keys.
  void piece(int64_t b, int64_t head, int64_t kv_head, int64_t first, int64_t count,
             GatheredSums *sums) const {
    std::vector<int64_t> keys;
    for (const int64_t block : choice_.met(x_, b, head, first / x_.query_block)) {
      const int64_t end =
          std::min((block + 1) * x_.key_block, x_.key_lengths[static_cast<size_t>(b)]);
      for (int64_t k = block * x_.key_block; k < end; ++k) keys.push_back(k);
    }
    const auto n = static_cast<int64_t>(keys.size());
    const int64_t width = x_.width;
    const auto rows_of = [&](int64_t rows) {
      return std::vector<float>(static_cast<size_t>(rows * width));
    };
    std::vector<float> q = rows_of(count), dy = rows_of(count), out = rows_of(1), k = rows_of(n),
                       v = rows_of(n);
    GatheredStatistics rows{dy.data(), {}, {}, {}};
    for (int64_t i = 0; i < count; ++i) {
      float *slopes = dy.data() + i * width, lse = 0.0f;
      load_head(query_, at(query_, b, head, first + i, false), width, q.data() + i * width);
      load_head(dy_, at(dy_, b, head, first + i, false), width, slopes);
      load_head(out_, at(out_, b, head, first + i, false), width, out.data());
      load_head(lse_, at(lse_, b, head, first + i, false), 1, &lse);
      rows.along.push_back(sum_along(slopes, out.data(), width));
      rows.references.push_back(lse);
      rows.factors.push_back(1.0f);
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t key = keys[static_cast<size_t>(i)];
      load_head(key_, at(key_, b, kv_head, key, true), width, k.data() + i * width);
      load_head(value_, at(value_, b, kv_head, key, true), width, v.data() + i * width);
    }
    GatheredSlopes found;
    attend_back({q.data(), k.data(), v.data(), count, n, width, width, x_.scale}, rows, keys, sums,
                &found);
    for (int64_t i = 0; i < count; ++i)
      store(found.query.data() + i * width, dq_, at(dq_, b, head, first + i, false));
  }

  const BlockBack &x_;
  PlanContext &c_;
  BlockChoice choice_;
  Heads query_, key_, value_, dy_, out_, lse_, dq_, dk_, dv_;
};

int64_t longest(const std::vector<int64_t> &lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

struct BlockForm {
  const char *query, *key;  // layouts
  const aclIntArray *shape;
};

void check_form(Check &check, const BlockForm &given, BlockBack *x) {
  const std::pair<const char *, Arrangement> forms[] = {{"TND", Arrangement::kPacked},
                                                        {"BNSD", Arrangement::kHeadsFirst},
                                                        {"BSND", Arrangement::kTokensFirst}};
  const auto *end = std::end(forms) - (chip_is_950() ? 0 : 1);
  const auto *form = std::find_if(std::begin(forms), end, [&](const auto &f) {
    return std::strcmp(f.first, given.query) == 0;
  });
  check.that(form != end, "qInputLayout is \"%.40s\"; allowed: TND, BNSD%s", given.query,
             chip_is_950() ? ", BSND" : "");
  check.that(std::strcmp(given.query, given.key) == 0,
             "kvInputLayout is \"%.40s\"; it must be qInputLayout, \"%.40s\"", given.key,
             given.query);
  if (given.shape) {
    const auto &shape = given.shape->values;
    check.that(shape.size() >= 2, "blockShapeOptional has %zu elements; it must have 2",
               shape.size());
    check.that(check.ok() && shape[0] > 0 && shape[1] > 0, "blockShapeOptional has a size below 1");
    if (check.ok()) {
      x->query_block = shape[0];
      x->key_block = shape[1];
    }
  }
  if (check.ok()) x->form = form->second;
}

void check_sizes(Check &check, const aclTensor *query, const aclTensor *key, int64_t kv_heads,
                 BlockBack *x) {
  const int rank = x->packed() ? 3 : 4;
  check.rank("query", query, rank, rank).rank("key", key, rank, rank);
  if (!check.ok()) return;
  check.that(query->numel() != 0 && key->numel() != 0,
             "query has shape %s and key %s; they must not be empty",
             shape_text(layout_of(*query)).c_str(), shape_text(layout_of(*key)).c_str());
  const size_t n = x->form == Arrangement::kTokensFirst ? 2 : 1;
  const auto &q = query->shape, &k = key->shape;
  x->heads = q[n];
  x->kv_heads = k[n];
  x->width = q[static_cast<size_t>(rank - 1)];
  x->query_tokens = x->packed() ? q[0] : q[3 - n];
  x->key_tokens = x->packed() ? k[0] : k[3 - n];
  x->batch = q[0];
  check.that(x->kv_heads == kv_heads && x->kv_heads > 0 && x->heads % x->kv_heads == 0,
             "query has %" PRId64 " heads, key %" PRId64 " and numKeyValueHeads is %" PRId64
             "; key has that many, and query a multiple",
             x->heads, x->kv_heads, kv_heads);
  check.that(chip_is_950() || x->heads == x->kv_heads,
             "query has %" PRId64 " heads and key %" PRId64 "; the numbers must be equal", x->heads,
             x->kv_heads);
  check.that(x->width == kWidth && k[static_cast<size_t>(rank - 1)] == kWidth,
             "query has heads of %" PRId64 " elements and key of %" PRId64 "; both must have 128",
             x->width, k[static_cast<size_t>(rank - 1)]);
  check.that(x->packed() || q[0] == k[0], "query has %" PRId64 " sequences and key %" PRId64, q[0],
             k[0]);
}

// (sequences, heads, blocks of queries, blocks of keys), by the longest sequences or the tensors.
void check_pairs(Check &check, const aclTensor *pairs, BlockBack *x) {
  check.rank("blockSparseMaskOptional", pairs, 4, 4);
  if (!check.ok()) return;
  const auto &shape = pairs->shape;
  const int64_t rows = blocks_of(longest(x->query_lengths), x->query_block),
                columns = blocks_of(longest(x->key_lengths), x->key_block);
  const bool by_lengths = shape[2] == rows && shape[3] == columns;
  const bool by_tensors = !x->packed() && shape[2] == blocks_of(x->query_tokens, x->query_block) &&
                          shape[3] == blocks_of(x->key_tokens, x->key_block);
  check.that(shape[0] == x->batch && shape[1] == x->heads && (by_lengths || by_tensors),
             "blockSparseMaskOptional has shape %s; expected (%" PRId64 ", %" PRId64 ", %" PRId64
             ", %" PRId64 ")",
             shape_text(layout_of(*pairs)).c_str(), x->batch, x->heads, rows, columns);
  x->pair_rows = shape[2];
  x->pair_columns = shape[3];
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BlockSparseAttentionGrad,
             (const aclTensor *dout, const aclTensor *query, const aclTensor *key,
              const aclTensor *value, const aclTensor *attentionOut, const aclTensor *softmaxLse,
              const aclTensor *blockSparseMaskOptional, const aclTensor *attenMaskOptional,
              const aclIntArray *blockShapeOptional, const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKvOptional, const char *qInputLayout,
              const char *kvInputLayout, int64_t numKeyValueHeads, int64_t maskType,
              double scaleValue, int64_t preTokens, int64_t nextTokens, aclTensor *dq,
              aclTensor *dk, aclTensor *dv)) {
  using namespace emu;
  Check check("aclnnBlockSparseAttentionGrad");
  const std::pair<const char *, const aclTensor *> floats[] = {{"dout", dout},
                                                               {"query", query},
                                                               {"key", key},
                                                               {"value", value},
                                                               {"attentionOut", attentionOut},
                                                               {"dq", dq},
                                                               {"dk", dk},
                                                               {"dv", dv}};
  for (const auto &[name, tensor] : floats) check.required(name, tensor);
  check.required("softmaxLse", softmaxLse)
      .required("blockSparseMaskOptional", blockSparseMaskOptional)
      .optional("attenMaskOptional", attenMaskOptional)
      .optional("blockShapeOptional", blockShapeOptional)
      .required_text("qInputLayout", qInputLayout)
      .required_text("kvInputLayout", kvInputLayout);
  if (!check.ok()) return check.status();
  const bool packed = std::strcmp(qInputLayout, "TND") == 0;
  if (packed)
    check.required("actualSeqLengthsOptional", actualSeqLengthsOptional)
        .required("actualSeqLengthsKvOptional", actualSeqLengthsKvOptional);
  check.optional("actualSeqLengthsOptional", actualSeqLengthsOptional)
      .optional("actualSeqLengthsKvOptional", actualSeqLengthsKvOptional)
      .dtype("softmaxLse", softmaxLse)
      .dtype("blockSparseMaskOptional", blockSparseMaskOptional);
  for (const auto &[name, tensor] : floats) {
    check.dtype(name, tensor);
    if (check.ok()) check.same_dtype(name, tensor->dtype, "query", query->dtype);
  }
  check.that(!attenMaskOptional, "attenMaskOptional is given; it must be null");
  auto x = std::make_shared<BlockBack>();
  x->op = check.op();
  if (check.ok()) check_form(check, {qInputLayout, kvInputLayout, blockShapeOptional}, x.get());
  check.tiling();
  check.that(maskType == 0, "maskType is %" PRId64 "; allowed: 0", maskType);
  check.that(preTokens == kAll && nextTokens == kAll,
             "preTokens is %" PRId64 " and nextTokens %" PRId64 "; allowed: 2147483647", preTokens,
             nextTokens);
  if (check.ok()) check_sizes(check, query, key, numKeyValueHeads, x.get());
  if (!check.ok()) return check.status();
  if (packed) x->batch = static_cast<int64_t>(actualSeqLengthsOptional->values.size());
  check.that(x->batch >= 1, "actualSeqLengthsOptional is empty");
  const bool listed = packed || !chip_is_950();
  read_lengths(check, "actualSeqLengthsOptional", listed ? actualSeqLengthsOptional : nullptr,
               packed, x->batch, x->query_tokens, &x->query_starts, &x->query_lengths);
  read_lengths(check, "actualSeqLengthsKvOptional", listed ? actualSeqLengthsKvOptional : nullptr,
               packed, x->batch, x->key_tokens, &x->key_starts, &x->key_lengths);
  if (check.ok()) check_pairs(check, blockSparseMaskOptional, x.get());
  Layout sums = layout_of(*query);
  sums.shape[sums.rank - 1] = 1;
  check.shape("softmaxLse", softmaxLse, sums);
  for (const auto &[name, tensor] : floats) {
    const bool of_keys = tensor == key || tensor == value || tensor == dk || tensor == dv;
    check.shape(name, tensor, layout_of(of_keys ? *key : *query));
  }
  if (!check.ok()) return check.status();
  x->scale = static_cast<float>(scaleValue);
  PlanBuilder plan(x->op);
  x->dy_at = plan.input(dout);
  x->query_at = plan.input(query);
  x->key_at = plan.input(key);
  x->value_at = plan.input(value);
  x->out_at = plan.input(attentionOut);
  x->lse_at = plan.input(softmaxLse);
  x->pairs_at = plan.input(blockSparseMaskOptional);
  plan.unused(attenMaskOptional);
  x->dq_at = plan.output(dq);
  x->dk_at = plan.output(dk);
  x->dv_at = plan.output(dv);
  const std::shared_ptr<const BlockBack> kept = x;
  return plan.finish([kept](PlanContext &c) { return BlockBackRun(*kept, c).run(); }, workspaceSize,
                     executor);
}
EMU_CATCH
