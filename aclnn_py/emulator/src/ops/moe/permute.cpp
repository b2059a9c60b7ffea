// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeTokenPermute, its V2 and MoeTokenPermuteWithEp: tokens in the order of their experts, all of
// them, the first ones, or those of a range of places.
#include "aclnnop/moe.h"
#include "core/chip.h"
#include "ops/moe/routing.h"

namespace emu {
namespace {

using Number = long long;

struct Permutation {
  const char *op;
  const aclTensor *tokens, *indices, *probs;
  const aclIntArray *range;
  int64_t keep;
  bool padded;
  const aclTensor *out, *out_index, *out_probs;
  bool with_range;      // MoeTokenPermuteWithEp
  bool second_version;  // MoeTokenPermuteV2
  const aclTensor *scales;
  int64_t first = 0, last = 0;  // the places that are kept

  // Without a range its probabilities are ignored.
  bool moves_probs() const { return with_range && range != nullptr && probs != nullptr; }
};

constexpr int64_t kMostIndices = 16777215;

// The places [first, last) of the sorted list that are kept.
void check_places(Check &check, Permutation &a, int64_t all) {
  int64_t kept = all;
  if (a.keep > 0) kept = std::min(all, a.keep);
  if (a.keep < 0) kept = a.keep < -all ? 0 : all + a.keep;
  a.first = 0, a.last = kept;
  if (a.range == nullptr || !check.ok()) return;
  check.that(
      a.range->values.size() == 2,
      "rangeOptional has %zu values; expected 2, the first place and the one behind the last",
      a.range->values.size());
  if (!check.ok()) return;
  a.first = a.range->values[0], a.last = a.range->values[1];
  check.that(a.first >= 0 && a.first <= a.last && a.last <= kept,
             "rangeOptional is [%lld, %lld); it must lie within [0, %lld), the places that "
             "numOutTokens keeps",
             Number{a.first}, Number{a.last}, Number{kept});
}

Check &check_permutation(Check &check, Permutation &a) {
  check.required("tokens", a.tokens).required("indices", a.indices);
  check.optional("probsOptional", a.probs).optional("rangeOptional", a.range);
  check.required("permuteTokensOut", a.out).required("sortedIndicesOut", a.out_index);
  if (a.moves_probs()) check.required("permuteProbsOut", a.out_probs);
  else check.optional("permuteProbsOut", a.out_probs);
  check.dtype("tokens", a.tokens).dtype("indices", a.indices).dtype("probsOptional", a.probs);
  check.dtype("permuteTokensOut", a.out).dtype("sortedIndicesOut", a.out_index);
  check.dtype("permuteProbsOut", a.out_probs);
  if (!check.ok()) return check;
  check.same_dtype("permuteTokensOut", a.out->dtype, "tokens", a.tokens->dtype);
  if (a.moves_probs()) {
    check.same_dtype("probsOptional", a.probs->dtype, "tokens", a.tokens->dtype);
    check.same_dtype("permuteProbsOut", a.out_probs->dtype, "tokens", a.tokens->dtype);
  }
  check.tiling().that(!a.padded, "paddedMode is true; only false is supported");
  check.rank("tokens", a.tokens, 2, a.with_range || a.second_version ? 2 : 8)
      .rank("indices", a.indices, 1, 2);
  check.rank("permuteTokensOut", a.out, 2, a.with_range ? 2 : 8);
  if (!check.ok()) return check;
  const int64_t all = a.indices->numel();
  check.that(a.indices->shape[0] == a.tokens->shape[0], "indices has %lld rows; tokens has %lld",
             Number{a.indices->shape[0]}, Number{a.tokens->shape[0]});
  check.that(all < kMostIndices, "indices has %lld elements; allowed: fewer than %lld", Number{all},
             Number{kMostIndices});
  check_places(check, a, all);
  if (!check.ok()) return check;
  const Layout tokens = layout_of(*a.tokens), out = layout_of(*a.out);
  const int64_t width = count_of(tokens.shape + 1, static_cast<size_t>(tokens.rank - 1)),
                out_width = count_of(out.shape + 1, static_cast<size_t>(out.rank - 1));
  check.that(width != kUncountable, "tokens has shape %s; a row of it is too long",
             shape_text(tokens).c_str());
  check.that(out.shape[0] == a.last - a.first && width == out_width,
             "permuteTokensOut has shape %s; expected %lld rows of %lld elements",
             shape_text(out).c_str(), Number{a.last - a.first}, Number{width});
  check.shape("sortedIndicesOut", a.out_index, dense_layout(&all, 1));
  if (!a.moves_probs()) return check;
  const int64_t rows = a.last - a.first;
  check.shape("probsOptional", a.probs, layout_of(*a.indices));
  return check.shape("permuteProbsOut", a.out_probs, dense_layout(&rows, 1));
}

// Rows of tokens, or single probabilities: entry order[first + i] of `from` becomes row i.
void move_kept(const View &from, const View &to, const std::vector<int64_t> &order, int64_t each,
               int64_t first, int64_t last) {
  std::vector<RowMove> moves;
  for (int64_t place = first; place < last; ++place) {
    moves.push_back({place - first, order[static_cast<size_t>(place)] / each});
  }
  move_rows(from, to, View(), moves, {}, false);
}

Status plan_permutation(const Permutation &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const bool has_probs = a.moves_probs();
  const size_t tokens = plan.input(a.tokens), indices = plan.input(a.indices);
  size_t probs = 0, out_probs = 0;
  if (a.with_range) probs = has_probs ? plan.input(a.probs) : plan.unused(a.probs);
  const size_t out = plan.output(a.out), index = plan.output(a.out_index);
  if (a.with_range) out_probs = has_probs ? plan.output(a.out_probs) : plan.unused(a.out_probs);
  if (a.second_version) plan.unused(a.scales);
  return plan.finish(
      [=, op = a.op, first = a.first, last = a.last](PlanContext &c) {
        const std::vector<int64_t> experts = integers(c, indices);
        for (const int64_t expert : experts) {
          if (expert >= 0 && expert < kMostIndices) continue;
          return fail(kKernelFault, "%s: indices holds %lld; allowed: 0 to %lld", op,
                      Number{expert}, Number{kMostIndices - 1});
        }
        const std::vector<int64_t> order = order_by_expert(experts);
        const View from = view_of(c.tensor(tokens)), to = view_of(c.tensor(out));
        const int64_t rows = from.layout.shape[0];
        const int64_t each = static_cast<int64_t>(order.size()) / std::max<int64_t>(1, rows);
        // A probability is a row of one element. It is read before anything is written.
        std::unique_ptr<Snapshot> weights;
        if (has_probs) weights = std::make_unique<Snapshot>(view_of(c.tensor(probs)));
        move_kept(from, to, order, each, first, last);
        if (has_probs) {
          View list = weights->view();
          list.layout = Layout();
          list.layout.push(static_cast<int64_t>(order.size()), 1);
          move_kept(list, view_of(c.tensor(out_probs)), order, 1, first, last);
        }
        const std::vector<int32_t> inverse = inverse_of(order);
        RowTarget<int32_t>(view_of(c.tensor(index)))
            .write(0, static_cast<int64_t>(inverse.size()), inverse.data());
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeTokenPermute,
             (const aclTensor *tokens, const aclTensor *indices, int64_t numOutTokens,
              bool paddedMode, aclTensor *permuteTokensOut, aclTensor *sortedIndicesOut)) {
  using namespace emu;
  Check check("aclnnMoeTokenPermute");
  Permutation a{};
  a.op = check.op(), a.tokens = tokens, a.indices = indices;
  a.keep = numOutTokens, a.padded = paddedMode;
  a.out = permuteTokensOut, a.out_index = sortedIndicesOut;
  if (!check_permutation(check, a).ok()) return check.status();
  return plan_permutation(a, workspaceSize, executor);
}
EMU_CATCH

// A 910B knows no quantisation here and ignores its mode; that of the 950 is not implemented.
EMU_OPERATOR(MoeTokenPermuteV2,
             (const aclTensor *tokens, const aclTensor *indices, int64_t numOutTokens,
              bool paddedMode, int64_t quantMode, aclTensor *permuteTokensOut,
              aclTensor *sortedIndicesOut, aclTensor *expandedScaleOut)) {
  using namespace emu;
  Check check("aclnnMoeTokenPermuteV2");
  check.required("expandedScaleOut", expandedScaleOut).dtype("expandedScaleOut", expandedScaleOut);
  const bool known = quantMode == -1 || quantMode == 2 || quantMode == 3 || quantMode == 9;
  check.that(known, "quantMode is %lld; allowed: -1, 2, 3 and 9", Number{quantMode});
  check.that(quantMode == -1 || !chip_is_950(),
             "quantMode is %lld; of the modes of a 950 the emulator has -1 alone",
             Number{quantMode});
  Permutation a{};
  a.op = check.op(), a.tokens = tokens, a.indices = indices, a.second_version = true;
  a.keep = numOutTokens, a.padded = paddedMode;
  a.out = permuteTokensOut, a.out_index = sortedIndicesOut, a.scales = expandedScaleOut;
  if (!check_permutation(check, a).ok()) return check.status();
  return plan_permutation(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeTokenPermuteWithEp,
             (const aclTensor *tokens, const aclTensor *indices, const aclTensor *probsOptional,
              const aclIntArray *rangeOptional, int64_t numOutTokens, bool paddedMode,
              aclTensor *permuteTokensOut, aclTensor *sortedIndicesOut,
              aclTensor *permuteProbsOut)) {
  using namespace emu;
  Check check("aclnnMoeTokenPermuteWithEp");
  Permutation a{};
  a.op = check.op(), a.tokens = tokens, a.indices = indices, a.probs = probsOptional;
  a.range = rangeOptional, a.keep = numOutTokens, a.padded = paddedMode, a.with_range = true;
  a.out = permuteTokensOut, a.out_index = sortedIndicesOut, a.out_probs = permuteProbsOut;
  if (!check_permutation(check, a).ok()) return check.status();
  return plan_permutation(a, workspaceSize, executor);
}
EMU_CATCH
