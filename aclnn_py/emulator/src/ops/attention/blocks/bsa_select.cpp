// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The mask of blocks for block sparse attention, chosen by the averages of blocks of queries and
// keys: the pairs with the highest softmax of their scores.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <numeric>

#include "aclnnop/attention.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/attention/blocks/block_sparse.h"

namespace emu {
namespace {

constexpr int64_t kBlockUnit = 8, kHeadWidth = 128;

// Queries or keys.
struct PooledSide {
  std::vector<int64_t> starts, lengths;
  std::vector<int64_t> taken;   // tokens of each block that count, or empty
  std::vector<int64_t> firsts;  // where the blocks of a sequence begin in `taken`
  int64_t block = kUsualBlock, tokens = 0;
  size_t at;

  int64_t blocks(int64_t b) const { return blocks_of(lengths[static_cast<size_t>(b)], block); }
  // Tokens that the average of a block is divided by; 0 for a block that is never chosen.
  int64_t divisor(int64_t b, int64_t i) const {
    return taken.empty() ? block : taken[static_cast<size_t>(firsts[static_cast<size_t>(b)] + i)];
  }
};

struct BlockChoiceCall {
  const char *op;
  Arrangement form;
  int64_t batch = 0, heads = 0;
  PooledSide query, key;
  int64_t pool_rows = 1, pool_columns = 1;
  int64_t rows = 0, columns = 0;  // of the mask of a sequence
  float scale = 1.0f;
  double kept = 0.0;
  size_t out_at;
};

// Averages of the blocks of a sequence and head, a row for each; a block without tokens is zeros.
std::vector<float> averages(const Heads &heads, const PooledSide &side, int64_t b, int64_t head) {
  const int64_t blocks = side.blocks(b), length = side.lengths[static_cast<size_t>(b)];
  std::vector<float> rows(static_cast<size_t>(blocks * kHeadWidth), 0.0f), token(kHeadWidth);
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t divisor = side.divisor(b, i), first = i * side.block,
                  last = std::min(first + divisor, length);
    float *row = rows.data() + i * kHeadWidth;
    for (int64_t t = first; t < last; ++t) {
      load_head(heads, heads.at(b, head, side.starts[static_cast<size_t>(b)] + t), kHeadWidth,
                token.data());
      for (int64_t j = 0; j < kHeadWidth; ++j) row[j] += token[static_cast<size_t>(j)];
    }
    if (divisor == 0) continue;
    for (int64_t j = 0; j < kHeadWidth; ++j) row[j] /= static_cast<float>(divisor);
  }
  return rows;
}

// The softmax of each row of scale * query @ key^T.
std::vector<float> chances(const std::vector<float> &query, const std::vector<float> &key,
                           float scale) {
  const auto rows = static_cast<int64_t>(query.size()) / kHeadWidth;
  GatheredAttention a{
      query.data(), key.data(), key.data(), rows, static_cast<int64_t>(key.size()) / kHeadWidth,
      kHeadWidth,   kHeadWidth, scale};
  a.with_chances = true;
  GatheredResult result;
  attend(a, &result);
  return std::move(result.chances);
}

// What one sequence and head chooses: places in its mask, rows by columns.
struct Candidates {
  int64_t rows, columns;
  std::vector<float> scores;
  std::vector<bool> allowed;
};

Candidates pooled(const BlockChoiceCall &x, int64_t b, const std::vector<float> &scores) {
  const int64_t rows = x.query.blocks(b), columns = x.key.blocks(b);
  Candidates c{blocks_of(rows, x.pool_rows), blocks_of(columns, x.pool_columns), {}, {}};
  c.scores.assign(static_cast<size_t>(c.rows * c.columns), 0.0f);
  c.allowed.assign(c.scores.size(), false);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const auto to = static_cast<size_t>(i / x.pool_rows * c.columns + j / x.pool_columns);
      c.scores[to] += scores[static_cast<size_t>(i * columns + j)];
      if (x.query.divisor(b, i) != 0 && x.key.divisor(b, j) != 0) c.allowed[to] = true;
    }
  }
  for (int64_t i = 0; i < c.rows; ++i) {
    for (int64_t j = 0; j < c.columns; ++j) {
      const int64_t there = std::min(x.pool_rows, rows - i * x.pool_rows) *
                            std::min(x.pool_columns, columns - j * x.pool_columns);
      c.scores[static_cast<size_t>(i * c.columns + j)] /= static_cast<float>(there);
    }
  }
  return c;
}

// The highest first, of equal ones the one in front.
std::vector<int64_t> best(const Candidates &c, double kept) {
  std::vector<int64_t> order;
  for (size_t i = 0; i < c.scores.size(); ++i) {
    if (c.allowed[i]) order.push_back(static_cast<int64_t>(i));
  }
  const auto wanted = static_cast<size_t>(std::round(kept * static_cast<double>(c.scores.size())));
  std::stable_sort(order.begin(), order.end(), [&](int64_t p, int64_t q) {
    const float first = c.scores[static_cast<size_t>(p)], second = c.scores[static_cast<size_t>(q)];
    if (std::isnan(first) || std::isnan(second)) return std::isnan(first) && !std::isnan(second);
    return first > second;
  });
  order.resize(std::min(order.size(), wanted));
  return order;
}

Status run_choice(const BlockChoiceCall &x, PlanContext &c) {
  Operands operands;
  const View out = view_of(c.tensor(x.out_at));
  const auto heads = [&](size_t at) {
    return heads_of(operands.safe(view_of(c.tensor(at)), {out}), x.form, kHeadWidth);
  };
  const Heads query = heads(x.query.at), key = heads(x.key.at);
  const RowTarget<int32_t> target(out);
  parallel_for(x.batch * x.heads, 1, [&](int64_t begin, int64_t end) {
    std::vector<int32_t> mask(static_cast<size_t>(x.rows * x.columns));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t b = task / x.heads, head = task % x.heads;
      std::fill(mask.begin(), mask.end(), 0);
      const std::vector<float> rows = averages(query, x.query, b, head),
                               columns = averages(key, x.key, b, head);
      Candidates found{};
      if (!rows.empty() && !columns.empty()) found = pooled(x, b, chances(rows, columns, x.scale));
      for (const int64_t place : best(found, x.kept)) {
        const int64_t at = place / found.columns * x.columns + place % found.columns;
        mask[static_cast<size_t>(at)] = 1;
      }
      target.write(task * x.rows * x.columns, x.rows * x.columns, mask.data());
    }
  });
  return 0;
}

void check_pair(Check &check, const char *name, const aclIntArray *list, int64_t *rows,
                int64_t *columns) {
  if (list == nullptr || !check.ok()) return;
  const auto &sizes = list->values;
  check.that(sizes.size() >= 2, "%s has %zu elements; it must have 2", name, sizes.size());
  for (size_t i = 0; check.ok() && i < 2; ++i) {
    check.that(sizes[i] > 0 && sizes[i] % kBlockUnit == 0,
               "%s[%zu] is %" PRId64 "; it must be a positive multiple of 8", name, i, sizes[i]);
  }
  if (!check.ok()) return;
  *rows = sizes[0];
  *columns = sizes[1];
}

// The tokens of each block that count: packed sequences have their own blocks behind each other,
// others as many as the longest.
void read_taken(Check &check, const char *name, const aclIntArray *list, bool packed, int64_t most,
                PooledSide *side) {
  if (list == nullptr || !check.ok()) return;
  int64_t first = 0;
  for (size_t b = 0; b < side->lengths.size(); ++b) {
    side->firsts.push_back(first);
    first += packed ? side->blocks(static_cast<int64_t>(b)) : most;
  }
  check.that(static_cast<int64_t>(list->values.size()) == first,
             "%s has %zu elements; the sequences have %" PRId64 " blocks", name,
             list->values.size(), first);
  for (size_t i = 0; check.ok() && i < list->values.size(); ++i) {
    check.that(list->values[i] >= 0 && list->values[i] <= side->block,
               "%s[%zu] is %" PRId64 "; allowed: 0 to %" PRId64, name, i, list->values[i],
               side->block);
  }
  side->taken = list->values;
}

int64_t most_blocks(const PooledSide &side) {
  return blocks_of(*std::max_element(side.lengths.begin(), side.lengths.end()), side.block);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BSASelectBlockMask,
             (const aclTensor *query, const aclTensor *key, const aclIntArray *blockShapeOptional,
              const aclIntArray *postBlockShapeOptional,
              const aclIntArray *actualSeqLengthsOptional,
              const aclIntArray *actualSeqLengthsKVOptional,
              const aclIntArray *actualBlockLenQueryOptional,
              const aclIntArray *actualBlockLenKeyOptional, const char *qInputLayout,
              const char *kvInputLayout, int64_t numKeyValueHeads, double scaleValue,
              double sparsity, aclTensor *blockSparseMaskOut)) {
  emu::Check check("aclnnBSASelectBlockMask");
  check.required("query", query)
      .required("key", key)
      .optional("blockShapeOptional", blockShapeOptional)
      .optional("postBlockShapeOptional", postBlockShapeOptional)
      .optional("actualSeqLengthsOptional", actualSeqLengthsOptional)
      .optional("actualSeqLengthsKVOptional", actualSeqLengthsKVOptional)
      .optional("actualBlockLenQueryOptional", actualBlockLenQueryOptional)
      .optional("actualBlockLenKeyOptional", actualBlockLenKeyOptional)
      .required("blockSparseMaskOut", blockSparseMaskOut)
      .dtype("query", query)
      .dtype("key", key)
      .dtype("blockSparseMaskOut", blockSparseMaskOut);
  if (!check.ok()) return check.status();
  check.same_dtype("key", key->dtype, "query", query->dtype);
  check.tiling();
  auto x = std::make_shared<emu::BlockChoiceCall>();
  x->op = "aclnnBSASelectBlockMask";
  const char *layout = qInputLayout ? qInputLayout : "BNSD",
             *key_layout = kvInputLayout ? kvInputLayout : "BNSD";
  const bool packed = std::strcmp(layout, "TND") == 0;
  check.that(packed || std::strcmp(layout, "BNSD") == 0,
             "qInputLayout is \"%.40s\"; allowed: TND, BNSD", layout);
  check.that(std::strcmp(layout, key_layout) == 0,
             "kvInputLayout is \"%.40s\"; it must be qInputLayout, \"%.40s\"", key_layout, layout);
  emu::check_pair(check, "blockShapeOptional", blockShapeOptional, &x->query.block, &x->key.block);
  emu::check_pair(check, "postBlockShapeOptional", postBlockShapeOptional, &x->pool_rows,
                  &x->pool_columns);
  check.that(sparsity > 0.0 && sparsity < 1.0, "sparsity is %g; it must lie between 0 and 1",
             sparsity);
  const int rank = packed ? 3 : 4;
  check.rank("query", query, rank, rank).rank("key", key, rank, rank);
  check.rank("blockSparseMaskOut", blockSparseMaskOut, 4, 4);
  if (!check.ok()) return check.status();
  check.that(query->numel() != 0 && key->numel() != 0,
             "query has shape %s and key %s; they must not be empty",
             emu::shape_text(emu::layout_of(*query)).c_str(),
             emu::shape_text(emu::layout_of(*key)).c_str());
  const auto &q = query->shape, &k = key->shape;
  const auto last = static_cast<size_t>(rank - 1);
  check.that(q[last] == emu::kHeadWidth && k[last] == emu::kHeadWidth,
             "query and key have heads of %" PRId64 " and %" PRId64 " elements; allowed: 128",
             q[last], k[last]);
  check.that(q[1] == k[1] && k[1] == numKeyValueHeads,
             "query has %" PRId64 " heads, key %" PRId64 " and numKeyValueHeads is %" PRId64
             "; the three must be equal",
             q[1], k[1], numKeyValueHeads);
  check.that(packed || q[0] == k[0], "query has %" PRId64 " sequences and key %" PRId64, q[0],
             k[0]);
  check.that(!packed || (actualSeqLengthsOptional && actualSeqLengthsKVOptional),
             "actualSeqLengthsOptional and actualSeqLengthsKVOptional are needed with TND");
  if (!check.ok()) return check.status();
  x->form = packed ? emu::Arrangement::kPacked : emu::Arrangement::kHeadsFirst;
  x->heads = q[1];
  x->batch = packed ? static_cast<int64_t>(actualSeqLengthsOptional->values.size()) : q[0];
  check.that(x->batch >= 1, "actualSeqLengthsOptional is empty");
  x->query.tokens = packed ? q[0] : q[2];
  x->key.tokens = packed ? k[0] : k[2];
  emu::read_lengths(check, "actualSeqLengthsOptional", actualSeqLengthsOptional, packed, x->batch,
                    x->query.tokens, &x->query.starts, &x->query.lengths);
  emu::read_lengths(check, "actualSeqLengthsKVOptional", actualSeqLengthsKVOptional, packed,
                    x->batch, x->key.tokens, &x->key.starts, &x->key.lengths);
  if (!check.ok()) return check.status();
  // The mask is made for the longest sequences, or for the tensors.
  const auto &mask = blockSparseMaskOut->shape;
  int64_t rows = emu::most_blocks(x->query), columns = emu::most_blocks(x->key);
  const auto pooled = [&] {
    x->rows = emu::blocks_of(rows, x->pool_rows);
    x->columns = emu::blocks_of(columns, x->pool_columns);
  };
  pooled();
  if (!packed && (mask[2] != x->rows || mask[3] != x->columns)) {
    rows = emu::blocks_of(x->query.tokens, x->query.block);
    columns = emu::blocks_of(x->key.tokens, x->key.block);
    pooled();
  }
  check.that(rows > 0 && columns > 0 && (rows > 1 || columns > 1),
             "query has %" PRId64 " blocks and key %" PRId64
             "; there must be several pairs to choose from",
             rows, columns);
  check.that(packed || x->rows > 1 || x->columns > 1,
             "postBlockShapeOptional joins all pairs to one; there must be several to choose from");
  emu::read_taken(check, "actualBlockLenQueryOptional", actualBlockLenQueryOptional, packed, rows,
                  &x->query);
  emu::read_taken(check, "actualBlockLenKeyOptional", actualBlockLenKeyOptional, packed, columns,
                  &x->key);
  check.that(
      mask[0] == x->batch && mask[1] == x->heads && mask[2] == x->rows && mask[3] == x->columns,
      "blockSparseMaskOut has shape %s; expected (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
      ")",
      emu::shape_text(emu::layout_of(*blockSparseMaskOut)).c_str(), x->batch, x->heads, x->rows,
      x->columns);
  if (!check.ok()) return check.status();
  x->scale = static_cast<float>(scaleValue);
  x->kept = sparsity;
  emu::PlanBuilder plan(x->op);
  x->query.at = plan.input(query);
  x->key.at = plan.input(key);
  x->out_at = plan.output(blockSparseMaskOut);
  const std::shared_ptr<const emu::BlockChoiceCall> kept = x;
  return plan.finish([kept](emu::PlanContext &c) { return emu::run_choice(*kept, c); },
                     workspaceSize, executor);
}
EMU_CATCH
