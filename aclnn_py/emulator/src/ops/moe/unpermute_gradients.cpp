// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradients of MoeTokenUnpermute, MoeTokenUnpermuteWithEp and MoeFinalizeRoutingV2: each copy
// gets the gradient of its token times its weight, each weight the product of both.
#include "aclnnop/moe.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/moe/gradients.h"

namespace emu {
namespace {

using Number = long long;

constexpr int64_t kMostChosen = 512;

struct UnpermuteGradient {
  const char *op, *gradient_name, *indices_name, *rows_name, *weights_name, *out_name, *slopes_name;
  const aclTensor *gradient, *indices, *rows, *weights, *experts, *bias, *out, *slopes;
  bool weights_of_any_dtype;
  // What the sizes come to.
  int64_t each = 1, first = 0, last = 0, all = 0;
  bool pads = false;
};

void check_tensors(Check &check, const UnpermuteGradient &a) {
  check.required(a.gradient_name, a.gradient).required(a.indices_name, a.indices);
  check.optional(a.rows_name, a.rows).optional(a.weights_name, a.weights);
  check.optional("expertIdxOptional", a.experts).optional("biasOptional", a.bias);
  check.required(a.out_name, a.out);
  if (a.weights) check.required(a.slopes_name, a.slopes);
  check.optional(a.slopes_name, a.slopes);
  check.dtype(a.gradient_name, a.gradient).dtype(a.indices_name, a.indices);
  check.dtype(a.rows_name, a.rows).dtype(a.weights_name, a.weights);
  check.dtype("expertIdxOptional", a.experts).dtype("biasOptional", a.bias);
  check.dtype(a.out_name, a.out).dtype(a.slopes_name, a.slopes);
  if (!check.ok()) return;
  const aclDataType kind = a.gradient->dtype;
  check.same_dtype(a.out_name, a.out->dtype, a.gradient_name, kind);
  if (a.rows) check.same_dtype(a.rows_name, a.rows->dtype, a.gradient_name, kind);
  if (a.bias) check.same_dtype("biasOptional", a.bias->dtype, a.gradient_name, kind);
  if (!a.weights) return;
  if (!a.weights_of_any_dtype)
    check.same_dtype(a.weights_name, a.weights->dtype, a.gradient_name, kind);
  check.same_dtype(a.slopes_name, a.slopes->dtype, a.weights_name, a.weights->dtype);
}

// The tokens, their copies and weights; the rows of the result are up to the operator.
void check_copies(Check &check, UnpermuteGradient &a) {
  check.rank(a.gradient_name, a.gradient, 2, 2).rank(a.indices_name, a.indices, 1, 1);
  check.rank(a.weights_name, a.weights, 2, 2);
  check.that(!a.weights || a.rows, "%s is null; %s needs it", a.rows_name, a.weights_name);
  if (!check.ok()) return;
  const int64_t tokens = a.gradient->shape[0];
  if (a.weights) a.each = a.weights->shape[1];
  check.that(a.each >= 1 && a.each <= kMostChosen,
             "%s makes %lld copies of a token; allowed: 1 to %lld",
             a.weights ? a.weights_name : "topkNum", Number{a.each}, Number{kMostChosen});
  a.all = check.size(a.gradient_name, Checked(tokens) * a.each);
  check.that(a.indices->shape[0] == a.all, "%s has %lld elements; expected %lld", a.indices_name,
             Number{a.indices->shape[0]}, Number{a.all});
  const int64_t pairs[] = {tokens, a.each};
  check.shape(a.weights_name, a.weights, dense_layout(pairs, 2));
  if (a.weights) check.shape(a.slopes_name, a.slopes, dense_layout(pairs, 2));
  a.last = a.all;
}

struct CopyPlaces {
  size_t gradient, indices, rows, weights, experts, bias, out, slopes;
};

Status run_unpermute_gradient(const UnpermuteGradient &a, const CopyPlaces &at, PlanContext &c) {
  const std::vector<int64_t> places = integers(c, at.indices), experts = integers(c, at.experts);
  const int64_t lowest = a.pads ? -1 : 0;
  const View bias = c.has(at.bias) ? view_of(c.tensor(at.bias)) : View();
  std::vector<TokenCopy> copies(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < lowest || places[i] >= a.all)
      return fail(kKernelFault, "%s: %s holds %lld; allowed: %lld to %lld", a.op, a.indices_name,
                  Number{places[i]}, Number{lowest}, Number{a.all - 1});
    TokenCopy &copy = copies[i];
    copy.token = static_cast<int64_t>(i) / a.each;
    if (places[i] >= a.first && places[i] < a.last) copy.row = places[i] - a.first;
    if (!bias.data) continue;
    copy.expert = experts[i];
    if (experts[i] < 0 || experts[i] >= bias.layout.shape[0])
      return fail(kKernelFault, "%s: expertIdxOptional holds %lld; biasOptional has %lld rows",
                  a.op, Number{experts[i]}, Number{bias.layout.shape[0]});
  }
  CopyGradient g;
  Apart apart;
  const bool weighted = c.has(at.weights);
  g.out = view_of(c.tensor(at.out));
  const View slopes_to = weighted ? view_of(c.tensor(at.slopes)) : View();
  g.gradient = apart.from(view_of(c.tensor(at.gradient)), {g.out, slopes_to});
  std::vector<float> slopes;
  if (weighted) {
    g.rows = apart.from(view_of(c.tensor(at.rows)), {g.out, slopes_to});
    if (bias.data) g.bias = apart.from(bias, {g.out, slopes_to});
    g.weights = read_all<float>(c, at.weights, static_cast<int64_t>(places.size()), 1.0f);
  }
  if (const Status s =
          spread_gradient(a.op, a.indices_name, g, copies, weighted ? &slopes : nullptr))
    return s;
  if (weighted)
    RowTarget<float>(slopes_to).write(0, static_cast<int64_t>(slopes.size()), slopes.data());
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeTokenUnpermuteGrad,
             (const aclTensor *permuteTokensOptional, const aclTensor *unpermutedTokensGrad,
              const aclTensor *sortedIndices, const aclTensor *probsOptional, bool paddedMode,
              const aclIntArray *restoreShapeOptional, aclTensor *permutedTokensGradOut,
              aclTensor *probsGradOut)) {
  using namespace emu;
  Check check("aclnnMoeTokenUnpermuteGrad");
  UnpermuteGradient a{
      check.op(),      "unpermutedTokensGrad",  "sortedIndices", "permuteTokensOptional",
      "probsOptional", "permutedTokensGradOut", "probsGradOut",  unpermutedTokensGrad,
      sortedIndices,   permuteTokensOptional,   probsOptional,   nullptr,
      nullptr,         permutedTokensGradOut,   probsGradOut,    true};
  check.required("permuteTokensOptional", permuteTokensOptional);
  check.optional("restoreShapeOptional", restoreShapeOptional);
  check_tensors(check, a);
  check.required("probsGradOut", probsGradOut).tiling();
  check.that(!paddedMode, "paddedMode is true; only false is supported");
  if (check.ok()) check_copies(check, a);
  if (!check.ok()) return check.status();
  const int64_t rows[] = {a.all, unpermutedTokensGrad->shape[1]};
  check.shape("permuteTokensOptional", permuteTokensOptional, dense_layout(rows, 2));
  check.shape("permutedTokensGradOut", permutedTokensGradOut, dense_layout(rows, 2));
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  CopyPlaces at{};
  at.rows = plan.input(permuteTokensOptional);
  at.gradient = plan.input(unpermutedTokensGrad);
  at.indices = plan.input(sortedIndices);
  at.weights = plan.input(probsOptional);
  at.out = plan.output(permutedTokensGradOut);
  at.slopes = probsOptional ? plan.output(probsGradOut) : plan.unused(probsGradOut);
  at.experts = at.bias = plan.input_if(nullptr);
  return plan.finish([a, at](PlanContext &c) { return run_unpermute_gradient(a, at, c); },
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeTokenUnpermuteWithEpGrad,
             (const aclTensor *unpermutedTokensGrad, const aclTensor *sortedIndices,
              const aclTensor *permutedTokensOptional, const aclTensor *probsOptional,
              bool paddedMode, const aclIntArray *restoreShapeOptional,
              const aclIntArray *rangeOptional, int64_t topkNum, aclTensor *permutedTokensGradOut,
              aclTensor *probsGradOut)) {
  using namespace emu;
  Check check("aclnnMoeTokenUnpermuteWithEpGrad");
  UnpermuteGradient a{
      check.op(),      "unpermutedTokensGrad",  "sortedIndices", "permutedTokensOptional",
      "probsOptional", "permutedTokensGradOut", "probsGradOut",  unpermutedTokensGrad,
      sortedIndices,   permutedTokensOptional,  probsOptional,   nullptr,
      nullptr,         permutedTokensGradOut,   probsGradOut,    true};
  a.each = topkNum;
  check.optional("restoreShapeOptional", restoreShapeOptional);
  check.optional("rangeOptional", rangeOptional);
  check_tensors(check, a);
  check.tiling();
  check.that(!paddedMode, "paddedMode is true; only false is supported");
  if (check.ok()) check_copies(check, a);
  if (!check.ok()) return check.status();
  check.that(topkNum == a.each, "topkNum is %lld; probsOptional has rows of %lld", Number{topkNum},
             Number{a.each});
  if (rangeOptional != nullptr) {
    const auto &range = rangeOptional->values;
    check.that(range.size() == 2 && range[0] >= 0 && range[0] <= range[1] && range[1] <= a.all,
               "rangeOptional must be a first place and the one behind the last, within [0, %lld)",
               Number{a.all});
    if (!check.ok()) return check.status();
    a.first = range[0];
    a.last = range[1];
  }
  check.rank("permutedTokensGradOut", permutedTokensGradOut, 2, 2);
  if (!check.ok()) return check.status();
  // The document gives the rows of all places; the forward form makes those of the range.
  const int64_t given = permutedTokensGradOut->shape[0], kept = a.last - a.first;
  check.that((given == kept || given == a.all) &&
                 permutedTokensGradOut->shape[1] == unpermutedTokensGrad->shape[1],
             "permutedTokensGradOut has shape %s; expected %lld or %lld rows like those of "
             "unpermutedTokensGrad",
             shape_text(layout_of(*permutedTokensGradOut)).c_str(), Number{kept}, Number{a.all});
  if (permutedTokensOptional)
    check.shape("permutedTokensOptional", permutedTokensOptional,
                layout_of(*permutedTokensGradOut));
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  CopyPlaces at{};
  at.gradient = plan.input(unpermutedTokensGrad);
  at.indices = plan.input(sortedIndices);
  at.rows = plan.input(permutedTokensOptional);
  at.weights = plan.input(probsOptional);
  at.out = plan.output(permutedTokensGradOut);
  at.slopes = probsOptional ? plan.output(probsGradOut) : plan.unused(probsGradOut);
  at.experts = at.bias = plan.input_if(nullptr);
  return plan.finish([a, at](PlanContext &c) { return run_unpermute_gradient(a, at, c); },
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeFinalizeRoutingV2Grad,
             (const aclTensor *gradY, const aclTensor *expandedRowIdx,
              const aclTensor *expandedXOptional, const aclTensor *scalesOptional,
              const aclTensor *expertIdxOptional, const aclTensor *biasOptional,
              int64_t dropPadMode, int64_t activeNum, int64_t expertNum, int64_t expertCapacity,
              aclTensor *gradExpandedXOut, aclTensor *gradScalesOutOptional)) {
  using namespace emu;
  Check check("aclnnMoeFinalizeRoutingV2Grad");
  UnpermuteGradient a{check.op(),
                      "gradY",
                      "expandedRowIdx",
                      "expandedXOptional",
                      "scalesOptional",
                      "gradExpandedXOut",
                      "gradScalesOutOptional",
                      gradY,
                      expandedRowIdx,
                      expandedXOptional,
                      scalesOptional,
                      expertIdxOptional,
                      biasOptional,
                      gradExpandedXOut,
                      gradScalesOutOptional,
                      chip_is_950()};
  check_tensors(check, a);
  check.required("gradScalesOutOptional", gradScalesOutOptional).tiling();
  check.that(dropPadMode == 0 || dropPadMode == 1, "dropPadMode is %lld; allowed: 0, 1",
             Number{dropPadMode});
  check.that(!biasOptional || expertIdxOptional,
             "expertIdxOptional is null; biasOptional needs it");
  if (check.ok()) check_copies(check, a);
  if (!check.ok()) return noticed_early(check);
  const int64_t width = gradY->shape[1];
  const int64_t pairs[] = {gradY->shape[0], a.each};
  check.shape("expertIdxOptional", expertIdxOptional, dense_layout(pairs, 2));
  check.rank("biasOptional", biasOptional, 2, 2);
  if (check.ok() && biasOptional)
    check.that(biasOptional->shape[1] == width, "biasOptional has rows of %lld, gradY of %lld",
               Number{biasOptional->shape[1]}, Number{width});
  if (!check.ok()) return noticed_early(check);
  a.pads = dropPadMode == 1;
  if (a.pads) {
    check.that(expertNum >= 1 && (!biasOptional || expertNum == biasOptional->shape[0]),
               "expertNum is %lld; it must be at least 1, and the rows of biasOptional",
               Number{expertNum});
    check.that(expertCapacity >= 1, "expertCapacity is %lld; it must be at least 1",
               Number{expertCapacity});
    const int64_t shape[] = {expertNum, expertCapacity, width};
    check.shape("gradExpandedXOut", gradExpandedXOut, dense_layout(shape, 3));
    a.all = a.last = check.size("expertNum", Checked(expertNum) * expertCapacity);
  } else {
    if (activeNum > 0 && activeNum < a.all) a.last = activeNum;
    const int64_t shape[] = {a.last, width};
    check.shape("gradExpandedXOut", gradExpandedXOut, dense_layout(shape, 2));
  }
  if (check.ok() && expandedXOptional)
    check.shape("expandedXOptional", expandedXOptional, layout_of(*gradExpandedXOut));
  if (!check.ok()) return noticed_early(check);
  PlanBuilder plan(a.op);
  CopyPlaces at{};
  at.gradient = plan.input(gradY);
  at.indices = plan.input(expandedRowIdx);
  at.rows = plan.input(expandedXOptional);
  at.weights = plan.input(scalesOptional);
  at.experts = plan.input(expertIdxOptional);
  at.bias = scalesOptional ? plan.input(biasOptional) : plan.unused(biasOptional);
  at.out = plan.output(gradExpandedXOut);
  at.slopes =
      scalesOptional ? plan.output(gradScalesOutOptional) : plan.unused(gradScalesOutOptional);
  return plan.finish([a, at](PlanContext &c) { return run_unpermute_gradient(a, at, c); },
                     workspaceSize, executor);
}
EMU_CATCH
