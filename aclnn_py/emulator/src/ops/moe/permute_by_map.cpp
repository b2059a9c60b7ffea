// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeTokenPermuteWithRoutingMap: tokens sorted by the experts that a map of ones and zeros routes
// them to, or with drops and padding as many tokens for each expert.
#include "aclnnop/moe.h"
#include "core/statuses.h"
#include "ops/moe/routing.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

using Number = long long;

constexpr int64_t kMostChosen = 512, kMostEntries = 16777214;

struct MapArguments {
  const char *op;
  const aclTensor *tokens, *map, *probs;
  int64_t wanted;
  bool pads;
  const aclTensor *out, *out_probs, *indices;
};

// What the sizes come to: copies of each token, or places of each expert.
struct MapSizes {
  int64_t tokens = 0, experts = 0, each = 0, rows = 0;
};

Check check_map(const MapArguments &a, MapSizes *z) {
  Check check(a.op);
  check.required("tokens", a.tokens)
      .required("routingMap", a.map)
      .optional("probsOptional", a.probs);
  check.required("permuteTokensOut", a.out).optional("permuteProbsOutOptional", a.out_probs);
  if (a.probs) check.required("permuteProbsOutOptional", a.out_probs);
  check.required("sortedIndicesOut", a.indices);
  check.dtype("tokens", a.tokens).dtype("routingMap", a.map).dtype("probsOptional", a.probs);
  check.dtype("permuteTokensOut", a.out).dtype("permuteProbsOutOptional", a.out_probs);
  check.dtype("sortedIndicesOut", a.indices);
  if (!check.ok()) return check;
  check.same_dtype("permuteTokensOut", a.out->dtype, "tokens", a.tokens->dtype);
  if (a.probs) {
    const bool wide = a.tokens->dtype == ACL_BF16 && a.probs->dtype == ACL_FLOAT;
    if (!wide) check.same_dtype("probsOptional", a.probs->dtype, "tokens", a.tokens->dtype);
    check.same_dtype("permuteProbsOutOptional", a.out_probs->dtype, "probsOptional",
                     a.probs->dtype);
  }
  check.rank("tokens", a.tokens, 2, 2).rank("routingMap", a.map, 2, 2);
  if (!check.ok()) return check;
  z->tokens = a.map->shape[0];
  z->experts = a.map->shape[1];
  check.that(z->tokens <= kMostEntries && z->experts <= kMostEntries,
             "routingMap has shape %s; each dimension is at most %lld",
             shape_text(layout_of(*a.map)).c_str(), Number{kMostEntries});
  check.that(a.tokens->shape[0] == z->tokens, "tokens has %lld rows; routingMap has %lld",
             Number{a.tokens->shape[0]}, Number{z->tokens});
  if (!check.ok()) return check;
  check.that(a.wanted >= 0 && a.wanted <= z->tokens * z->experts,
             "numOutTokens is %lld; allowed: 0 to %lld", Number{a.wanted},
             Number{z->tokens * z->experts});
  const int64_t parts = a.pads ? z->experts : z->tokens;
  z->each = parts == 0 ? 0 : a.wanted / parts;
  z->rows = z->each * parts;
  check.that(!a.pads || z->each <= z->tokens,
             "numOutTokens is %lld, %lld places for each expert; there are %lld tokens",
             Number{a.wanted}, Number{z->each}, Number{z->tokens});
  const int64_t shape[] = {z->rows, a.tokens->shape[1]};
  check.shape("probsOptional", a.probs, layout_of(*a.map));
  check.shape("permuteTokensOut", a.out, dense_layout(shape, 2));
  check.shape("sortedIndicesOut", a.indices, dense_layout(shape, 1));
  if (a.probs) check.shape("permuteProbsOutOptional", a.out_probs, dense_layout(shape, 1));
  return check;
}

// The row of the result, the token and the expert of each copy.
struct Copy {
  int64_t row, token, expert;
};

// Expert by expert its tokens in their order. `indices` gets the row of each copy of a token, -1
// where a token has fewer than the others.
Status copies_in_order(const char *op, const std::vector<uint8_t> &map, const MapSizes &z,
                       std::vector<Copy> *copies, std::vector<int32_t> *indices) {
  std::vector<int64_t> taken(static_cast<size_t>(z.tokens), 0);
  indices->assign(static_cast<size_t>(z.rows), -1);
  for (int64_t expert = 0; expert < z.experts; ++expert) {
    for (int64_t token = 0; token < z.tokens; ++token) {
      if (map[static_cast<size_t>(token * z.experts + expert)] == 0) continue;
      int64_t &count = taken[static_cast<size_t>(token)];
      if (count == z.each) {
        return fail(kKernelFault,
                    "%s: routingMap routes token %lld to more than %lld experts, the "
                    "copies that numOutTokens leaves for each token",
                    op, Number{token}, Number{z.each});
      }
      const auto row = static_cast<int64_t>(copies->size());
      (*indices)[static_cast<size_t>(token * z.each + count)] = static_cast<int32_t>(row);
      copies->push_back({row, token, expert});
      ++count;
    }
  }
  return 0;
}

// As many tokens for each expert: first those that are routed to it, then the others, both in their
// order. `indices` gets the token of each row.
void copies_in_places(const std::vector<uint8_t> &map, const MapSizes &z, std::vector<Copy> *copies,
                      std::vector<int32_t> *indices) {
  for (int64_t expert = 0; expert < z.experts; ++expert) {
    const auto end = static_cast<size_t>((expert + 1) * z.each);
    for (const bool routed : {true, false}) {
      for (int64_t token = 0; token < z.tokens && copies->size() < end; ++token) {
        if ((map[static_cast<size_t>(token * z.experts + expert)] != 0) != routed) continue;
        copies->push_back({static_cast<int64_t>(copies->size()), token, expert});
        indices->push_back(static_cast<int32_t>(token));
      }
    }
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeTokenPermuteWithRoutingMap,
             (const aclTensor *tokens, const aclTensor *routingMap, const aclTensor *probsOptional,
              int64_t numOutTokens, bool dropAndPad, aclTensor *permuteTokensOut,
              aclTensor *permuteProbsOutOptional, aclTensor *sortedIndicesOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnMoeTokenPermuteWithRoutingMap";
  const MapArguments a{op,
                       tokens,
                       routingMap,
                       probsOptional,
                       numOutTokens,
                       dropAndPad,
                       permuteTokensOut,
                       permuteProbsOutOptional,
                       sortedIndicesOut};
  MapSizes z;
  const Check check = check_map(a, &z);
  if (!check.ok()) return check.status();
  if (!dropAndPad && z.each > kMostChosen) {
    return fail(kInnerNull,
                "%s: numOutTokens is %lld, %lld copies of each of %lld tokens; at most %lld copies "
                "are allowed.",
                op, Number{numOutTokens}, Number{z.each}, Number{z.tokens}, Number{kMostChosen});
  }
  PlanBuilder plan(op);
  const size_t input = plan.input(tokens), map = plan.input(routingMap),
               probs = plan.input(probsOptional), out = plan.output(permuteTokensOut);
  const size_t out_probs =
      probsOptional ? plan.output(permuteProbsOutOptional) : plan.unused(permuteProbsOutOptional);
  const size_t indices = plan.output(sortedIndicesOut);
  return plan.finish(
      [=](PlanContext &c) {
        const DenseSource dense(view_of(c.tensor(map)));
        const auto *first = reinterpret_cast<const uint8_t *>(dense.data());
        const std::vector<uint8_t> routes(first, first + z.tokens * z.experts);
        std::vector<Copy> copies;
        std::vector<int32_t> places;
        if (dropAndPad) {
          copies_in_places(routes, z, &copies, &places);
        } else {
          const Status s = copies_in_order(op, routes, z, &copies, &places);
          if (s != 0) return s;
        }
        const View to = view_of(c.tensor(out)), to_indices = view_of(c.tensor(indices));
        const View to_probs = c.has(probs) ? view_of(c.tensor(out_probs)) : View();
        Apart apart;
        const View from = apart.from(view_of(c.tensor(input)), {to, to_indices, to_probs});
        if (c.has(probs)) {
          const RowSource<float> source(
              apart.from(view_of(c.tensor(probs)), {to, to_indices, to_probs}));
          const RowTarget<float> target(to_probs);
          for (const Copy &copy : copies) {
            float value;
            source.read(copy.token * z.experts + copy.expert, 1, &value);
            target.write(copy.row, 1, &value);
          }
        }
        std::vector<RowMove> moves;
        moves.reserve(copies.size());
        for (const Copy &copy : copies) moves.push_back({copy.row, copy.token, copy.expert});
        move_rows(from, to, View(), moves, Quantisation(), false);
        RowTarget<int32_t>(to_indices).write(0, static_cast<int64_t>(places.size()), places.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
