// SPDX-License-Identifier: Apache-2.0
// MoeTokenUnpermute and MoeTokenUnpermuteWithEp: each token becomes the weighted sum of its
// permuted copies; of a range of places only those that lie in it.
#include "aclnnop/moe.h"
#include "ops/moe/combining.h"

namespace emu {
namespace {

using Number = long long;

struct Return {
  const char *op;
  const aclTensor *permuted, *indices, *probs;
  const aclIntArray *range;
  int64_t top;
  bool padded;
  const aclTensor *out;
  bool with_range;                        // MoeTokenUnpermuteWithEp
  int64_t each = 1, first = 0, last = 0;  // copies of a token; places that are there
};

constexpr int64_t kMostChosen = 512;

void check_sizes(Check &check, Return &a) {
  const int64_t all = a.indices->numel(), width = a.permuted->shape[1];
  const bool ranged = a.range != nullptr;
  a.each = a.probs != nullptr ? a.probs->shape[1] : ranged ? a.top : 1;
  check.that(a.each >= 1 && a.each <= kMostChosen,
             "%s makes %lld copies of a token; allowed: 1 to %lld",
             a.probs != nullptr ? "probsOptional" : "numTopk", Number{a.each}, Number{kMostChosen});
  check.that(!ranged || a.probs == nullptr || a.top == a.each,
             "numTopk is %lld; probsOptional has rows of %lld", Number{a.top}, Number{a.each});
  check.that(!check.ok() || all % a.each == 0,
             "sortedIndices has %lld elements; expected a multiple of %lld, the copies of a token",
             Number{all}, Number{a.each});
  if (!check.ok()) return;
  const int64_t tokens = all / a.each;
  const int64_t pairs[] = {tokens, a.each}, rows[] = {tokens, width};
  check.shape("probsOptional", a.probs, dense_layout(pairs, 2));
  check.shape("out", a.out, dense_layout(rows, 2));
  a.first = 0, a.last = all;
  if (ranged) {
    check.that(a.range->values.size() == 2,
               "rangeOptional has %zu values; expected 2, the first place and the one behind the "
               "last",
               a.range->values.size());
    if (!check.ok()) return;
    a.first = a.range->values[0], a.last = a.range->values[1];
    check.that(a.first >= 0 && a.first <= a.last && a.last <= all,
               "rangeOptional is [%lld, %lld); it must lie within [0, %lld), the places of "
               "sortedIndices",
               Number{a.first}, Number{a.last}, Number{all});
    if (!check.ok()) return;
  }
  check.that(a.permuted->shape[0] == a.last - a.first,
             "permutedTokens has %lld rows; expected %lld", Number{a.permuted->shape[0]},
             Number{a.last - a.first});
}

Check &check_return(Check &check, Return &a) {
  check.required("permutedTokens", a.permuted).required("sortedIndices", a.indices);
  check.optional("probsOptional", a.probs).optional("rangeOptional", a.range);
  check.required("out", a.out);
  check.dtype("permutedTokens", a.permuted).dtype("sortedIndices", a.indices);
  check.dtype("probsOptional", a.probs).dtype("out", a.out);
  if (check.ok()) check.same_dtype("out", a.out->dtype, "permutedTokens", a.permuted->dtype);
  if (!a.with_range) check.tiling();
  check.that(!a.padded, "paddedMode is true; only false is supported");
  check.rank("permutedTokens", a.permuted, 2, 2).rank("sortedIndices", a.indices, 1, 1);
  check.rank("probsOptional", a.probs, 2, 2).rank("out", a.out, 2, 2);
  if (check.ok()) check_sizes(check, a);
  return check;
}

Status plan_return(const Return &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const size_t permuted = plan.input(a.permuted), indices = plan.input(a.indices),
               probs = plan.input(a.probs), out = plan.output(a.out);
  return plan.finish(
      [=, op = a.op, each = a.each, first = a.first, last = a.last](PlanContext &c) {
        const std::vector<int64_t> places = integers(c, indices);
        std::vector<Term> terms(places.size());
        for (size_t i = 0; i < places.size(); ++i) {
          if (places[i] < 0 || places[i] >= static_cast<int64_t>(places.size())) {
            return fail(kKernelFault, "%s: sortedIndices holds %lld; allowed: 0 to %lld", op,
                        Number{places[i]}, Number{static_cast<int64_t>(places.size()) - 1});
          }
          if (places[i] < first || places[i] >= last) continue;
          terms[i].kind = Term::kRow;
          terms[i].row = places[i] - first;
        }
        Combination combination;
        Apart apart;
        combination.out = view_of(c.tensor(out));
        combination.results = apart.from(view_of(c.tensor(permuted)), {combination.out});
        if (c.has(probs)) combination.weights = view_of(c.tensor(probs));
        combine(combination, terms, each);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeTokenUnpermute, (const aclTensor *permutedTokens, const aclTensor *sortedIndices,
                                 const aclTensor *probsOptional, bool paddedMode,
                                 const aclIntArray *restoreShapeOptional, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMoeTokenUnpermute");
  Return a{};
  a.op = check.op(), a.permuted = permutedTokens, a.indices = sortedIndices;
  a.probs = probsOptional, a.padded = paddedMode, a.out = out;
  check.optional("restoreShapeOptional", restoreShapeOptional);
  if (!check_return(check, a).ok()) return check.status();
  return plan_return(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeTokenUnpermuteWithEp,
             (const aclTensor *permutedTokens, const aclTensor *sortedIndices,
              const aclTensor *probsOptional, int64_t numTopk, const aclIntArray *rangeOptional,
              bool paddedMode, const aclIntArray *restoreShapeOptional, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMoeTokenUnpermuteWithEp");
  Return a{};
  a.op = check.op(), a.permuted = permutedTokens, a.indices = sortedIndices;
  a.probs = probsOptional, a.range = rangeOptional, a.top = numTopk, a.padded = paddedMode;
  a.out = out, a.with_range = true;
  check.optional("restoreShapeOptional", restoreShapeOptional);
  if (!check_return(check, a).ok()) return check.status();
  return plan_return(a, workspaceSize, executor);
}
EMU_CATCH
