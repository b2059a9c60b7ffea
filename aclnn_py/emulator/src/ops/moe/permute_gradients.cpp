// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradients of MoeTokenPermute, MoeTokenPermuteWithEp and MoeInitRoutingV2: each token gets the
// sum of the gradients of its copies.
#include "aclnnop/moe.h"
#include "core/statuses.h"
#include "ops/moe/combining.h"

namespace emu {
namespace {

using Number = long long;

constexpr int64_t kMostChosen = 512;

struct PermuteGradient {
  const char *op, *rows_name, *indices_name, *out_name;
  const aclTensor *rows, *indices, *out;
  int64_t each;
  int64_t first = 0, last = 0;  // places that have a row; all of them are below `all`
  int64_t all = 0;
  bool pads = false;                                       // -1 is a copy that was dropped
  const aclTensor *probs = nullptr, *probs_out = nullptr;  // of MoeTokenPermuteWithEp
  bool with_probs = false;                                 // it has these two
  bool moves_probs() const { return with_probs && probs != nullptr; }
};

void check_tensors(Check &check, const PermuteGradient &a) {
  check.required(a.rows_name, a.rows).required(a.indices_name, a.indices);
  check.required(a.out_name, a.out);
  check.dtype(a.rows_name, a.rows).dtype(a.indices_name, a.indices).dtype(a.out_name, a.out);
  if (check.ok()) check.same_dtype(a.out_name, a.out->dtype, a.rows_name, a.rows->dtype);
}

// The tokens and the width of their rows.
void check_tokens(Check &check, const PermuteGradient &a) {
  check.rank(a.indices_name, a.indices, 1, 1).rank(a.out_name, a.out, 2, 2);
  if (!check.ok()) return;
  const int64_t copies = a.indices->shape[0];
  check.that(copies % a.each == 0,
             "%s has %lld elements; expected a multiple of %lld, the copies "
             "of a token",
             a.indices_name, Number{copies}, Number{a.each});
  if (!check.ok()) return;
  const int64_t shape[] = {copies / a.each, a.rows->shape.back()};
  check.shape(a.out_name, a.out, dense_layout(shape, 2));
}

Status run_permute_gradient(const PermuteGradient &a, size_t rows, size_t indices, size_t probs,
                            size_t out, size_t probs_out, PlanContext &c) {
  const std::vector<int64_t> places = integers(c, indices);
  std::vector<Term> terms(places.size());
  const int64_t lowest = a.pads ? -1 : 0;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < lowest || places[i] >= a.all)
      return fail(kKernelFault, "%s: %s holds %lld; allowed: %lld to %lld", a.op, a.indices_name,
                  Number{places[i]}, Number{lowest}, Number{a.all - 1});
    if (places[i] >= a.first && places[i] < a.last) terms[i] = {Term::kRow, places[i] - a.first, 0};
  }
  Apart apart;
  Combination sum;
  sum.out = view_of(c.tensor(out));
  const View to_probs = a.moves_probs() ? view_of(c.tensor(probs_out)) : View();
  sum.results = apart.from(view_of(c.tensor(rows)), {sum.out, to_probs});
  std::vector<float> moved(places.size(), 0.0f);
  if (a.moves_probs()) {
    const RowSource<float> source(apart.from(view_of(c.tensor(probs)), {sum.out, to_probs}));
    for (size_t i = 0; i < terms.size(); ++i) {
      if (terms[i].kind == Term::kRow) source.read(terms[i].row, 1, &moved[i]);
    }
  }
  combine(sum, terms, a.each);
  if (a.moves_probs())
    RowTarget<float>(to_probs).write(0, static_cast<int64_t>(moved.size()), moved.data());
  return 0;
}

Status plan_permute_gradient(const PermuteGradient &a, uint64_t *workspace_size,
                             aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const size_t rows = plan.input(a.rows), indices = plan.input(a.indices);
  size_t probs = 0, probs_out = 0;
  if (a.with_probs) probs = a.probs ? plan.input(a.probs) : plan.unused(a.probs);
  const size_t out = plan.output(a.out);
  if (a.with_probs) probs_out = a.probs ? plan.output(a.probs_out) : plan.unused(a.probs_out);
  return plan.finish(
      [=](PlanContext &c) {
        return run_permute_gradient(a, rows, indices, probs, out, probs_out, c);
      },
      workspace_size, executor);
}

// Every copy has a row.
void check_whole(Check &check, PermuteGradient &a, bool padded) {
  check.that(!padded, "paddedMode is true; only false is supported");
  check.that(a.each >= 1 && a.each <= kMostChosen, "numTopk is %lld; allowed: 1 to %lld",
             Number{a.each}, Number{kMostChosen});
  check.rank(a.rows_name, a.rows, 2, 2);
  if (check.ok()) check_tokens(check, a);
  if (!check.ok()) return;
  a.all = a.last = a.indices->shape[0];
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeTokenPermuteGrad,
             (const aclTensor *permutedOutputGrad, const aclTensor *sortedIndices, int64_t numTopk,
              bool paddedMode, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMoeTokenPermuteGrad");
  PermuteGradient a{check.op(),
                    "permutedOutputGrad",
                    "sortedIndices",
                    "out",
                    permutedOutputGrad,
                    sortedIndices,
                    out,
                    numTopk};
  check_tensors(check, a);
  check.tiling();
  if (!check.ok()) return check.status();
  check_whole(check, a, paddedMode);
  if (check.ok())
    check.that(permutedOutputGrad->shape[0] == a.all,
               "permutedOutputGrad has %lld rows; sortedIndices has %lld elements",
               Number{permutedOutputGrad->shape[0]}, Number{a.all});
  if (!check.ok()) return check.status();
  return plan_permute_gradient(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeTokenPermuteWithEpGrad,
             (const aclTensor *permutedTokensOutputGrad, const aclTensor *sortedIndices,
              const aclTensor *permutedProbsOutputGradOptional, int64_t numTopk,
              const aclIntArray *rangeOptional, bool paddedMode, aclTensor *tokenGradOut,
              aclTensor *probsGradOut)) {
  using namespace emu;
  Check check("aclnnMoeTokenPermuteWithEpGrad");
  PermuteGradient a{check.op(),
                    "permutedTokensOutputGrad",
                    "sortedIndices",
                    "tokenGradOut",
                    permutedTokensOutputGrad,
                    sortedIndices,
                    tokenGradOut,
                    numTopk};
  a.with_probs = true;
  a.probs_out = probsGradOut;
  const aclTensor *probs = permutedProbsOutputGradOptional;
  check_tensors(check, a);
  check.optional("permutedProbsOutputGradOptional", probs).optional("rangeOptional", rangeOptional);
  check.dtype("permutedProbsOutputGradOptional", probs);
  // Without a range the probabilities are ignored.
  if (rangeOptional != nullptr) a.probs = probs;
  if (a.probs) check.required("probsGradOut", probsGradOut);
  check.optional("probsGradOut", probsGradOut).dtype("probsGradOut", probsGradOut);
  if (check.ok() && a.probs) {
    const aclDataType kind = permutedTokensOutputGrad->dtype;
    check.same_dtype("permutedProbsOutputGradOptional", probs->dtype, a.rows_name, kind);
    check.same_dtype("probsGradOut", probsGradOut->dtype, a.rows_name, kind);
  }
  check.tiling();
  if (!check.ok()) return check.status();
  check_whole(check, a, paddedMode);
  if (!check.ok()) return check.status();
  if (rangeOptional != nullptr) {
    const auto &range = rangeOptional->values;
    check.that(range.size() == 2 && range[0] >= 0 && range[0] <= range[1] && range[1] <= a.all,
               "rangeOptional must be a first place and the one behind the last, within [0, %lld)",
               Number{a.all});
    if (!check.ok()) return check.status();
    a.first = range[0];
    a.last = range[1];
  }
  const int64_t rows = permutedTokensOutputGrad->shape[0], kept = a.last - a.first;
  check.that(rows >= kept, "permutedTokensOutputGrad has %lld rows; expected at least %lld",
             Number{rows}, Number{kept});
  if (a.probs) {
    const int64_t pairs[] = {a.all / a.each, a.each};
    check.shape("permutedProbsOutputGradOptional", probs, dense_layout(&rows, 1));
    check.shape("probsGradOut", probsGradOut, dense_layout(pairs, 2));
  }
  if (!check.ok()) return check.status();
  return plan_permute_gradient(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeInitRoutingV2Grad,
             (const aclTensor *gradExpandedX, const aclTensor *expandedRowIdx, int64_t topK,
              int64_t dropPadMode, int64_t activeNum, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMoeInitRoutingV2Grad");
  PermuteGradient a{
      check.op(), "gradExpandedX", "expandedRowIdx", "out", gradExpandedX, expandedRowIdx, out,
      topK};
  check_tensors(check, a);
  check.tiling();
  check.that(topK >= 1, "topK is %lld; it must be at least 1", Number{topK});
  check.that(dropPadMode == 0 || dropPadMode == 1, "dropPadMode is %lld; allowed: 0, 1",
             Number{dropPadMode});
  check.that(activeNum >= 0, "activeNum is %lld; it must not be negative", Number{activeNum});
  const int rank = dropPadMode == 1 ? 3 : 2;
  check.rank("gradExpandedX", gradExpandedX, rank, rank);
  if (check.ok()) check_tokens(check, a);
  if (!check.ok()) return check.status();
  a.pads = dropPadMode == 1;
  const auto &shape = gradExpandedX->shape;
  const int64_t copies = expandedRowIdx->shape[0];
  if (a.pads) {
    a.all = a.last = check.size("gradExpandedX", Checked(shape[0]) * shape[1]);
  } else {
    const int64_t rows = activeNum > 0 ? activeNum : copies;
    check.that(shape[0] == rows, "gradExpandedX has %lld rows; expected %lld", Number{shape[0]},
               Number{rows});
    a.all = copies;
    a.last = rows;
  }
  if (!check.ok()) return check.status();
  return plan_permute_gradient(a, workspaceSize, executor);
}
EMU_CATCH
