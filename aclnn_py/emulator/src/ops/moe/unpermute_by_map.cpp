// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeTokenUnpermuteWithRoutingMap: each token becomes the weighted sum of its permuted copies. It
// undoes MoeTokenPermuteWithRoutingMap in both of its modes.
#include <algorithm>
#include <numeric>

#include "aclnnop/moe.h"
#include "core/statuses.h"
#include "ops/moe/combining.h"

namespace emu {
namespace {

using Number = long long;

constexpr int64_t kMostChosen = 512;

struct Back {
  const char *op;
  const aclTensor *permuted, *indices, *map, *probs;
  bool padded;
  const aclIntArray *restored;
  const aclTensor *out, *out_index, *token_ids, *out_probs;
};

// With padding `each` is the number of places of an expert, else that of the copies of a token.
struct Sizes {
  int64_t tokens = 0, experts = 0, each = 0, rows = 0;
};

void check_sizes(Check &check, const Back &a, Sizes *z) {
  z->tokens = a.out->shape[0];
  z->rows = a.permuted->shape[0];
  const int64_t width = a.permuted->shape[1];
  check.that(a.out->shape[1] == width, "unpermutedTokens has rows of %lld, permutedTokens of %lld",
             Number{a.out->shape[1]}, Number{width});
  const int64_t shape[] = {z->rows};
  check.shape("sortedIndices", a.indices, dense_layout(shape, 1));
  check.shape("outIndex", a.out_index, dense_layout(shape, 1));
  check.shape("permuteTokenId", a.token_ids, dense_layout(shape, 1));
  if (a.restored != nullptr && check.ok()) {
    const auto &given = a.restored->values;
    check.that(given.size() == 2 && given[0] == z->tokens && given[1] == width,
               "restoreShapeOptional must be [%lld, %lld], the shape of unpermutedTokens",
               Number{z->tokens}, Number{width});
  }
  if (a.probs != nullptr && check.ok()) {
    z->experts = a.probs->shape[1];
    check.shape("routingMapOptional", a.map, layout_of(*a.probs));
    check.shape("permuteProbs", a.out_probs, dense_layout(shape, 1));
  }
  if (!check.ok()) return;
  const int64_t parts = a.padded ? z->experts : z->tokens;
  if (a.padded && a.probs == nullptr) return;
  check.that(parts > 0 ? z->rows % parts == 0 : z->rows == 0,
             "permutedTokens has %lld rows; expected a multiple of %lld, the number of %s",
             Number{z->rows}, Number{parts}, a.padded ? "experts" : "tokens");
  z->each = parts > 0 ? z->rows / parts : 0;
}

Check check_back(const Back &a, Sizes *z) {
  Check check(a.op);
  check.required("permutedTokens", a.permuted).required("sortedIndices", a.indices);
  check.optional("routingMapOptional", a.map).optional("probsOptional", a.probs);
  if (a.probs) check.required("routingMapOptional", a.map);
  check.optional("restoreShapeOptional", a.restored).required("unpermutedTokens", a.out);
  check.required("outIndex", a.out_index).required("permuteTokenId", a.token_ids);
  if (a.probs) check.required("permuteProbs", a.out_probs);
  check.optional("permuteProbs", a.out_probs);
  check.dtype("permutedTokens", a.permuted).dtype("sortedIndices", a.indices);
  check.dtype("routingMapOptional", a.map).dtype("probsOptional", a.probs);
  check.dtype("unpermutedTokens", a.out).dtype("outIndex", a.out_index);
  check.dtype("permuteTokenId", a.token_ids).dtype("permuteProbs", a.out_probs);
  if (!check.ok()) return check;
  const aclDataType dtype = a.permuted->dtype;
  check.same_dtype("unpermutedTokens", a.out->dtype, "permutedTokens", dtype);
  if (a.probs) {
    const bool mixed = dtype == ACL_BF16 && a.probs->dtype == ACL_FLOAT;
    if (!mixed) check.same_dtype("probsOptional", a.probs->dtype, "permutedTokens", dtype);
    check.same_dtype("permuteProbs", a.out_probs->dtype, "probsOptional", a.probs->dtype);
  }
  check.plain_format("permutedTokens", a.permuted).plain_format("sortedIndices", a.indices);
  check.plain_format("probsOptional", a.probs).plain_format("unpermutedTokens", a.out);
  check.rank("permutedTokens", a.permuted, 2, 2).rank("unpermutedTokens", a.out, 2, 2);
  check.rank("probsOptional", a.probs, 2, 2);
  if (check.ok()) check_sizes(check, a, z);
  return check;
}

// What 561103 stands for.
Status check_inner(const Back &a, const Sizes &z) {
  if (!a.padded && z.each > kMostChosen) {
    return fail(kInnerNull,
                "%s: permutedTokens has %lld copies of each of %lld tokens; at most %lld are "
                "allowed.",
                a.op, Number{z.each}, Number{z.tokens}, Number{kMostChosen});
  }
  if (a.probs != nullptr && a.probs->shape[0] != z.tokens) {
    return fail(kInnerNull, "%s: probsOptional has %lld rows; unpermutedTokens has %lld.", a.op,
                Number{a.probs->shape[0]}, Number{z.tokens});
  }
  return 0;
}

struct Problem {
  const char *op;
  bool padded;
  Sizes sizes;
  size_t permuted, indices, map, probs, out, out_index, token_ids, out_probs;
};

// The weight of each permuted row: by expert, then by token, those that the map routes.
Status weights_in_order(const Problem &p, PlanContext &c, std::vector<float> *weights) {
  const Sizes &z = p.sizes;
  const std::vector<int64_t> map = integers(c, p.map);
  const RowSource<float> probs(view_of(c.tensor(p.probs)));
  for (int64_t expert = 0; expert < z.experts; ++expert) {
    for (int64_t token = 0; token < z.tokens; ++token) {
      const int64_t at = token * z.experts + expert;
      if (map[static_cast<size_t>(at)] == 0) continue;
      float value;
      probs.read(at, 1, &value);
      weights->push_back(value);
    }
  }
  if (static_cast<int64_t>(weights->size()) <= z.rows) return 0;
  return fail(kKernelFault,
              "%s: routingMapOptional routes tokens to experts %zu times; permutedTokens has %lld "
              "rows",
              p.op, weights->size(), Number{z.rows});
}

// Copies of tokens: the token of each and its row, or none where that is -1.
struct Slots {
  std::vector<int64_t> token, row;
};

Status run(const Problem &p, PlanContext &c) {
  const Sizes &z = p.sizes;
  const std::vector<int64_t> indices = integers(c, p.indices);
  const int64_t end = p.padded ? z.tokens : z.rows, first = p.padded ? 0 : -1;
  for (const int64_t index : indices) {
    if (index < first || index >= end) {
      return fail(kKernelFault, "%s: sortedIndices holds %lld; allowed: %lld to %lld", p.op,
                  Number{index}, Number{first}, Number{end - 1});
    }
  }
  std::vector<float> weights;
  Slots slots;
  if (p.padded) {
    slots.row.resize(indices.size());
    std::iota(slots.row.begin(), slots.row.end(), 0);
    std::stable_sort(slots.row.begin(), slots.row.end(), [&](int64_t x, int64_t y) {
      return indices[static_cast<size_t>(x)] < indices[static_cast<size_t>(y)];
    });
    for (const int64_t row : slots.row) slots.token.push_back(indices[static_cast<size_t>(row)]);
    if (c.has(p.probs)) {
      const RowSource<float> probs(view_of(c.tensor(p.probs)));
      weights.resize(indices.size());
      for (int64_t i = 0; i < z.rows; ++i)
        probs.read(indices[static_cast<size_t>(i)] * z.experts + i / z.each, 1,
                   &weights[static_cast<size_t>(i)]);
    }
  } else {
    slots.row = indices;
    for (int64_t i = 0; i < z.rows; ++i) slots.token.push_back(i / z.each);
    if (c.has(p.probs)) {
      if (const Status s = weights_in_order(p, c, &weights)) return s;
    }
  }
  std::vector<int64_t> counts(static_cast<size_t>(z.tokens), 0);
  for (size_t i = 0; i < slots.row.size(); ++i) {
    if (c.has(p.probs) && slots.row[i] >= static_cast<int64_t>(weights.size())) {
      return fail(kKernelFault,
                  "%s: sortedIndices holds %lld; routingMapOptional routes tokens to experts %zu "
                  "times",
                  p.op, Number{slots.row[i]}, weights.size());
    }
    if (slots.row[i] >= 0) ++counts[static_cast<size_t>(slots.token[i])];
  }
  const int64_t most = z.tokens > 0 ? *std::max_element(counts.begin(), counts.end()) : 0;
  std::vector<Term> terms(static_cast<size_t>(z.tokens * most));
  std::vector<float> factors(terms.size(), 1.0f);
  std::fill(counts.begin(), counts.end(), 0);
  for (size_t i = 0; i < slots.row.size(); ++i) {
    if (slots.row[i] < 0) continue;
    const int64_t token = slots.token[i];
    const auto at = static_cast<size_t>(token * most + counts[static_cast<size_t>(token)]++);
    terms[at] = {Term::kRow, slots.row[i], 0};
    if (!weights.empty()) factors[at] = weights[static_cast<size_t>(slots.row[i])];
  }
  const auto count = static_cast<int64_t>(factors.size());
  Combination all;
  Apart apart;
  all.out = view_of(c.tensor(p.out));
  all.results = apart.from(view_of(c.tensor(p.permuted)), {all.out});
  all.weights = {reinterpret_cast<char *>(factors.data()), ACL_FLOAT, dense_layout(&count, 1)};
  combine(all, terms, most);
  RowTarget<int64_t>(view_of(c.tensor(p.out_index))).write(0, z.rows, slots.row.data());
  RowTarget<int64_t>(view_of(c.tensor(p.token_ids))).write(0, z.rows, slots.token.data());
  if (c.has(p.probs)) {
    RowTarget<float>(view_of(c.tensor(p.out_probs)))
        .write(0, static_cast<int64_t>(weights.size()), weights.data());
  }
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeTokenUnpermuteWithRoutingMap,
             (const aclTensor *permutedTokens, const aclTensor *sortedIndices,
              const aclTensor *routingMapOptional, const aclTensor *probsOptional, bool paddedMode,
              const aclIntArray *restoreShapeOptional, aclTensor *unpermutedTokens,
              aclTensor *outIndex, aclTensor *permuteTokenId, aclTensor *permuteProbs)) {
  using namespace emu;
  const Back a{"aclnnMoeTokenUnpermuteWithRoutingMap",
               permutedTokens,
               sortedIndices,
               routingMapOptional,
               probsOptional,
               paddedMode,
               restoreShapeOptional,
               unpermutedTokens,
               outIndex,
               permuteTokenId,
               permuteProbs};
  Problem p{};
  p.op = a.op;
  p.padded = paddedMode;
  const Check check = check_back(a, &p.sizes);
  if (!check.ok()) return check.status();
  if (const Status s = check_inner(a, p.sizes)) return s;
  PlanBuilder plan(a.op);
  p.permuted = plan.input(permutedTokens);
  p.indices = plan.input(sortedIndices);
  const bool weighted = probsOptional != nullptr;
  p.map = weighted ? plan.input(routingMapOptional) : plan.unused(routingMapOptional);
  p.probs = plan.input(probsOptional);
  p.out = plan.output(unpermutedTokens);
  p.out_index = plan.output(outIndex);
  p.token_ids = plan.output(permuteTokenId);
  p.out_probs = weighted ? plan.output(permuteProbs) : plan.unused(permuteProbs);
  return plan.finish([p](PlanContext &c) { return run(p, c); }, workspaceSize, executor);
}
EMU_CATCH
