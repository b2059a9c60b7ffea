// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradients of MoeTokenPermuteWithRoutingMap and MoeTokenUnpermuteWithRoutingMap. Without
// padding the rows are in the order of the experts, and of the tokens that the map routes to each;
// with it every expert has as many rows.
#include "aclnnop/moe.h"
#include "core/statuses.h"
#include "ops/moe/gradients.h"

namespace emu {
namespace {

using Number = long long;

constexpr int64_t kMostChosen = 512;

// Where the weight of each row is in (tokens, experts): by the map.
Status weights_of_rows(const char *op, const std::vector<int64_t> &map, int64_t tokens,
                       int64_t experts, int64_t rows, std::vector<int64_t> *at) {
  for (int64_t expert = 0; expert < experts; ++expert) {
    for (int64_t token = 0; token < tokens; ++token) {
      const int64_t entry = token * experts + expert;
      if (map[static_cast<size_t>(entry)] != 0) at->push_back(entry);
    }
  }
  if (static_cast<int64_t>(at->size()) == rows) return 0;
  return fail(kKernelFault,
              "%s: routingMapOptional routes tokens to experts %zu times; there are %lld rows", op,
              at->size(), Number{rows});
}

// Values of the rows at their places, zeros elsewhere.
void write_weights(const View &to, const std::vector<float> &values,
                   const std::vector<int64_t> &at) {
  std::vector<float> all(static_cast<size_t>(to.count()), 0.0f);
  for (size_t i = 0; i < at.size(); ++i) all[static_cast<size_t>(at[i])] = values[i];
  RowTarget<float>(to).write(0, static_cast<int64_t>(all.size()), all.data());
}

Status outside(const char *op, const char *name, int64_t value, int64_t end) {
  return fail(kKernelFault, "%s: %s holds %lld; allowed: 0 to %lld", op, name, Number{value},
              Number{end - 1});
}

struct MapGradient {
  const char *op;
  bool padded;
  int64_t tokens = 0, experts = 0, rows = 0, each = 0;
  size_t in = 0, probs = 0, indices = 0, map = 0, out = 0, probs_out = 0, token_ids = 0, made = 0;
};

Status run_permute(const MapGradient &g, PlanContext &c) {
  const std::vector<int64_t> indices = integers(c, g.indices), map = integers(c, g.map);
  std::vector<int64_t> counts(static_cast<size_t>(g.tokens), 0), token_of(indices.size());
  std::vector<int64_t> row_of(indices.size()), places;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t end = g.padded ? g.tokens : g.rows;
    if (indices[i] < 0 || indices[i] >= end) return outside(g.op, "sortedIndices", indices[i], end);
    token_of[i] = g.padded ? indices[i] : static_cast<int64_t>(i) / g.each;
    row_of[i] = g.padded ? static_cast<int64_t>(i) : indices[i];
    ++counts[static_cast<size_t>(token_of[i])];
    if (g.padded) places.push_back(indices[i] * g.experts + static_cast<int64_t>(i) / g.each);
  }
  const bool weighted = c.has(g.probs);
  if (weighted && !g.padded) {
    if (const Status s = weights_of_rows(g.op, map, g.tokens, g.experts, g.rows, &places)) return s;
  }
  const int64_t most = g.tokens > 0 ? *std::max_element(counts.begin(), counts.end()) : 0;
  std::vector<Term> terms(static_cast<size_t>(g.tokens * most));
  std::fill(counts.begin(), counts.end(), 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t token = token_of[i];
    terms[static_cast<size_t>(token * most + counts[static_cast<size_t>(token)]++)] = {
        Term::kRow, row_of[i], 0};
  }
  Combination sum;
  Apart apart;
  sum.out = view_of(c.tensor(g.out));
  const View to = weighted ? view_of(c.tensor(g.probs_out)) : View();
  sum.results = apart.from(view_of(c.tensor(g.in)), {sum.out, to});
  std::vector<float> values;
  if (weighted) values = read_all<float>(c, g.probs, g.rows, 0.0f);
  combine(sum, terms, most);
  if (weighted) write_weights(to, values, places);
  return 0;
}

Status run_unpermute(const MapGradient &g, PlanContext &c) {
  const std::vector<int64_t> rows = integers(c, g.indices), tokens = integers(c, g.token_ids);
  std::vector<TokenCopy> copies(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0 || rows[i] >= g.rows) return outside(g.op, "outIndex", rows[i], g.rows);
    if (tokens[i] < 0 || tokens[i] >= g.tokens)
      return outside(g.op, "permuteTokenId", tokens[i], g.tokens);
    copies[i] = {tokens[i], rows[i], 0};
  }
  CopyGradient gradient;
  Apart apart;
  const bool weighted = c.has(g.probs);
  gradient.out = view_of(c.tensor(g.out));
  const View to = weighted ? view_of(c.tensor(g.probs_out)) : View();
  gradient.gradient = apart.from(view_of(c.tensor(g.in)), {gradient.out, to});
  std::vector<int64_t> places;  // of the weight of each copy
  std::vector<float> slopes;
  if (weighted) {
    gradient.rows = apart.from(view_of(c.tensor(g.made)), {gradient.out, to});
    std::vector<int64_t> by_row;
    if (g.padded) {
      for (const TokenCopy &copy : copies)
        places.push_back(copy.token * g.experts + copy.row / g.each);
    } else {
      const Status s =
          weights_of_rows(g.op, integers(c, g.map), g.tokens, g.experts, g.rows, &by_row);
      if (s != 0) return s;
      for (const TokenCopy &copy : copies) places.push_back(by_row[static_cast<size_t>(copy.row)]);
    }
    const std::vector<float> weights = read_all<float>(c, g.probs, g.tokens * g.experts, 0.0f);
    for (const int64_t at : places) gradient.weights.push_back(weights[static_cast<size_t>(at)]);
  }
  if (const Status s =
          spread_gradient(g.op, "outIndex", gradient, copies, weighted ? &slopes : nullptr))
    return s;
  if (weighted) write_weights(to, slopes, places);
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeTokenPermuteWithRoutingMapGrad,
             (const aclTensor *permutedTokenOutputGrad,
              const aclTensor *permutedProbsOutputGradOptional, const aclTensor *sortedIndices,
              const aclTensor *routingMapOptional, int64_t numExperts, int64_t tokensNum,
              bool dropAndPad, aclTensor *tokensGradOut, aclTensor *probsGradOutOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnMoeTokenPermuteWithRoutingMapGrad";
  const aclTensor *x = permutedTokenOutputGrad, *probs = permutedProbsOutputGradOptional;
  Check check(op);
  check.required("permutedTokenOutputGrad", x).required("sortedIndices", sortedIndices);
  check.optional("permutedProbsOutputGradOptional", probs);
  check.optional("routingMapOptional", routingMapOptional);
  check.required("tokensGradOut", tokensGradOut);
  if (probs) check.required("probsGradOutOptional", probsGradOutOptional);
  check.optional("probsGradOutOptional", probsGradOutOptional);
  if (probs && !dropAndPad) check.required("routingMapOptional", routingMapOptional);
  check.dtype("permutedTokenOutputGrad", x).dtype("permutedProbsOutputGradOptional", probs);
  check.dtype("sortedIndices", sortedIndices).dtype("routingMapOptional", routingMapOptional);
  check.dtype("tokensGradOut", tokensGradOut).dtype("probsGradOutOptional", probsGradOutOptional);
  if (!check.ok()) return check.status();
  check.same_dtype("tokensGradOut", tokensGradOut->dtype, "permutedTokenOutputGrad", x->dtype);
  if (probs) {
    const bool wide = x->dtype == ACL_BF16 && probs->dtype == ACL_FLOAT;
    if (!wide)
      check.same_dtype("permutedProbsOutputGradOptional", probs->dtype, "permutedTokenOutputGrad",
                       x->dtype);
    check.same_dtype("probsGradOutOptional", probsGradOutOptional->dtype,
                     "permutedProbsOutputGradOptional", probs->dtype);
  }
  check.rank("permutedTokenOutputGrad", x, 2, 2).rank("tokensGradOut", tokensGradOut, 2, 2);
  check.that(numExperts >= 1, "numExperts is %lld; it must be at least 1", Number{numExperts});
  check.that(tokensNum >= 1, "tokensNum is %lld; it must be at least 1", Number{tokensNum});
  if (!check.ok()) return check.status();
  const int64_t rows = x->shape[0], parts = dropAndPad ? numExperts : tokensNum;
  check.that(rows >= 1 && rows % parts == 0,
             "permutedTokenOutputGrad has %lld rows; expected a multiple of %lld, the number of %s",
             Number{rows}, Number{parts}, dropAndPad ? "experts" : "tokens");
  check.that(dropAndPad || rows / parts <= kMostChosen,
             "permutedTokenOutputGrad has %lld copies of a token; allowed: up to %lld",
             Number{rows / parts}, Number{kMostChosen});
  const int64_t out[] = {tokensNum, x->shape[1]}, table[] = {tokensNum, numExperts};
  check.shape("sortedIndices", sortedIndices, dense_layout(&rows, 1));
  check.shape("tokensGradOut", tokensGradOut, dense_layout(out, 2));
  check.shape("routingMapOptional", routingMapOptional, dense_layout(table, 2));
  check.shape("permutedProbsOutputGradOptional", probs, dense_layout(&rows, 1));
  if (probs) check.shape("probsGradOutOptional", probsGradOutOptional, dense_layout(table, 2));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  MapGradient g{op, dropAndPad, tokensNum, numExperts, rows, rows / parts};
  g.in = plan.input(x);
  g.probs = plan.input(probs);
  g.indices = plan.input(sortedIndices);
  g.map = probs && !dropAndPad ? plan.input(routingMapOptional) : plan.unused(routingMapOptional);
  g.out = plan.output(tokensGradOut);
  g.probs_out = probs ? plan.output(probsGradOutOptional) : plan.unused(probsGradOutOptional);
  return plan.finish([g](PlanContext &c) { return run_permute(g, c); }, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeTokenUnpermuteWithRoutingMapGrad,
             (const aclTensor *unpermutedTokensGrad, const aclTensor *outIndex,
              const aclTensor *permuteTokenId, const aclTensor *routingMapOptional,
              const aclTensor *permutedTokensOptional, const aclTensor *probsOptional,
              bool dropAndPad, const aclIntArray *restoreShapeOptional,
              aclTensor *permutedTokensGradOut, aclTensor *probsGradOutOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnMoeTokenUnpermuteWithRoutingMapGrad";
  const aclTensor *x = unpermutedTokensGrad, *probs = probsOptional;
  Check check(op);
  check.required("unpermutedTokensGrad", x).required("outIndex", outIndex);
  check.required("permuteTokenId", permuteTokenId);
  check.optional("routingMapOptional", routingMapOptional);
  check.optional("permutedTokensOptional", permutedTokensOptional).optional("probsOptional", probs);
  check.optional("restoreShapeOptional", restoreShapeOptional);
  check.required("permutedTokensGradOut", permutedTokensGradOut);
  if (probs) check.required("probsGradOutOptional", probsGradOutOptional);
  check.optional("probsGradOutOptional", probsGradOutOptional);
  check.dtype("unpermutedTokensGrad", x).dtype("outIndex", outIndex);
  check.dtype("permuteTokenId", permuteTokenId).dtype("routingMapOptional", routingMapOptional);
  check.dtype("permutedTokensOptional", permutedTokensOptional).dtype("probsOptional", probs);
  check.dtype("permutedTokensGradOut", permutedTokensGradOut);
  check.dtype("probsGradOutOptional", probsGradOutOptional);
  if (!check.ok()) return check.status();
  check.same_dtype("permutedTokensGradOut", permutedTokensGradOut->dtype, "unpermutedTokensGrad",
                   x->dtype);
  if (permutedTokensOptional)
    check.same_dtype("permutedTokensOptional", permutedTokensOptional->dtype,
                     "unpermutedTokensGrad", x->dtype);
  check.tiling();
  check.that(!probs || routingMapOptional, "routingMapOptional is null; probsOptional needs it");
  check.that(!probs || permutedTokensOptional,
             "permutedTokensOptional is null; probsOptional needs it");
  if (probs) {
    const bool wide = x->dtype == ACL_BF16 && probs->dtype == ACL_FLOAT;
    if (!wide) check.same_dtype("probsOptional", probs->dtype, "unpermutedTokensGrad", x->dtype);
    check.same_dtype("probsGradOutOptional", probsGradOutOptional->dtype, "probsOptional",
                     probs->dtype);
  }
  check.rank("unpermutedTokensGrad", x, 2, 2).rank("outIndex", outIndex, 1, 1);
  check.rank("probsOptional", probs, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t tokens = x->shape[0], rows = outIndex->shape[0],
                experts = probs ? probs->shape[1] : 1, parts = dropAndPad ? experts : tokens;
  const int64_t shape[] = {rows, x->shape[1]}, table[] = {tokens, experts};
  check.shape("permuteTokenId", permuteTokenId, dense_layout(&rows, 1));
  check.shape("permutedTokensGradOut", permutedTokensGradOut, dense_layout(shape, 2));
  int64_t each = 0;
  if (probs) {
    check.shape("probsOptional", probs, dense_layout(table, 2));
    check.shape("routingMapOptional", routingMapOptional, dense_layout(table, 2));
    check.shape("permutedTokensOptional", permutedTokensOptional, dense_layout(shape, 2));
    check.shape("probsGradOutOptional", probsGradOutOptional, dense_layout(table, 2));
    check.that(rows >= 1 && parts >= 1 && rows % parts == 0,
               "outIndex has %lld elements; expected a multiple of %lld, the number of %s",
               Number{rows}, Number{parts}, dropAndPad ? "experts" : "tokens");
    if (!check.ok()) return check.status();
    each = rows / parts;
    check.that(dropAndPad ? each <= tokens : each <= kMostChosen && each <= experts,
               "outIndex has %lld places for each of the %s; allowed: up to %lld", Number{each},
               dropAndPad ? "experts" : "tokens",
               Number{dropAndPad ? tokens : std::min(kMostChosen, experts)});
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  MapGradient g{op, dropAndPad, tokens, experts, rows, each};
  g.in = plan.input(x);
  g.indices = plan.input(outIndex);
  g.token_ids = plan.input(permuteTokenId);
  g.map = probs && !dropAndPad ? plan.input(routingMapOptional) : plan.unused(routingMapOptional);
  g.made = probs ? plan.input(permutedTokensOptional) : plan.unused(permutedTokensOptional);
  g.probs = plan.input(probs);
  g.out = plan.output(permutedTokensGradOut);
  g.probs_out = probs ? plan.output(probsGradOutOptional) : plan.unused(probsGradOutOptional);
  return plan.finish([g](PlanContext &c) { return run_unpermute(g, c); }, workspaceSize, executor);
}
EMU_CATCH
