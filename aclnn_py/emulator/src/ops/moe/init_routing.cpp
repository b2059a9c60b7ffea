// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeInitRouting and MoeInitRoutingQuant: tokens sorted by their experts, where rowIdx says which
// place of the list each expert belongs to.
#include "aclnnop/moe.h"
#include "ops/moe/routing.h"

namespace emu {
namespace {

using Number = long long;

struct FirstRouting {
  const char *op;
  const aclTensor *x, *row_index, *experts;
  int64_t active;
  const aclTensor *out, *out_index, *out_experts;
};

Check &check_routing(Check &check, const FirstRouting &a, bool quantised) {
  check.required("x", a.x).required("rowIdx", a.row_index).required("expertIdx", a.experts);
  check.required("expandedXOut", a.out).required("expandedRowIdxOut", a.out_index);
  check.required("expandedExpertIdxOut", a.out_experts);
  check.dtype("x", a.x).dtype("rowIdx", a.row_index).dtype("expertIdx", a.experts);
  check.dtype("expandedXOut", a.out).dtype("expandedRowIdxOut", a.out_index);
  check.dtype("expandedExpertIdxOut", a.out_experts);
  if (!check.ok()) return check;
  if (!quantised) check.same_dtype("expandedXOut", a.out->dtype, "x", a.x->dtype);
  check.tiling().rank("x", a.x, 2, 2).rank("expertIdx", a.experts, 2, 2);
  check.that(a.active >= 0, "activeNum is %lld; it cannot be negative", Number{a.active});
  if (!check.ok()) return check;
  const int64_t tokens = a.x->shape[0], each = a.experts->shape[1];
  check.that(a.experts->shape[0] == tokens, "expertIdx has %lld rows; x has %lld",
             Number{a.experts->shape[0]}, Number{tokens});
  check.shape("rowIdx", a.row_index, layout_of(*a.experts));
  const int64_t rows = check.size("expertIdx", Checked(std::min(tokens, a.active)) * each);
  const int64_t all = check.size("expertIdx", Checked(tokens) * each);
  if (!check.ok()) return check;
  const int64_t expanded[] = {rows, a.x->shape[1]};
  check.shape("expandedXOut", a.out, dense_layout(expanded, 2));
  check.shape("expandedRowIdxOut", a.out_index, dense_layout(&all, 1));
  return check.shape("expandedExpertIdxOut", a.out_experts, dense_layout(&all, 1));
}

// The sorted list of experts, and the places in x that its entries came from.
struct Sorted {
  std::vector<int32_t> experts;
  std::vector<int64_t> places;
};

Status sort_places(const char *op, const std::vector<int64_t> &experts,
                   const std::vector<int64_t> &index, Sorted *sorted) {
  for (const int64_t at : order_by_expert(experts)) {
    const int64_t place = index[static_cast<size_t>(at)];
    if (place < 0 || place >= static_cast<int64_t>(index.size())) {
      return fail(kKernelFault, "%s: rowIdx holds %lld; expertIdx has %zu elements", op,
                  Number{place}, index.size());
    }
    sorted->places.push_back(place);
    sorted->experts.push_back(static_cast<int32_t>(experts[static_cast<size_t>(at)]));
  }
  return 0;
}

Status plan_routing(const FirstRouting &a, const Quantisation &quantisation,
                    uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const size_t x = plan.input(a.x), index = plan.input(a.row_index),
               experts = plan.input(a.experts), out = plan.output(a.out),
               out_index = plan.output(a.out_index), out_experts = plan.output(a.out_experts);
  return plan.finish(
      [=, op = a.op](PlanContext &c) {
        const View to = view_of(c.tensor(out)), to_index = view_of(c.tensor(out_index));
        const View from = view_of(c.tensor(x));
        const int64_t tokens = from.layout.shape[0];
        Sorted sorted;
        const Status status = sort_places(op, integers(c, experts), integers(c, index), &sorted);
        if (status != 0) return status;
        std::vector<RowMove> moves;
        for (int64_t row = 0; row < to.layout.shape[0]; ++row) {
          moves.push_back({row, sorted.places[static_cast<size_t>(row)] % tokens});
        }
        move_rows(from, to, View(), moves, quantisation, false);
        const int64_t all = static_cast<int64_t>(sorted.places.size());
        RowTarget<int32_t>(view_of(c.tensor(out_experts))).write(0, all, sorted.experts.data());
        const RowTarget<int32_t> places(to_index);
        for (int32_t i = 0; i < all; ++i)
          places.write(sorted.places[static_cast<size_t>(i)], 1, &i);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeInitRouting,
             (const aclTensor *x, const aclTensor *rowIdx, const aclTensor *expertIdx,
              int64_t activeNum, aclTensor *expandedXOut, aclTensor *expandedRowIdxOut,
              aclTensor *expandedExpertIdxOut)) {
  using namespace emu;
  Check check("aclnnMoeInitRouting");
  const FirstRouting arguments{
      check.op(),          x, rowIdx, expertIdx, activeNum, expandedXOut, expandedRowIdxOut,
      expandedExpertIdxOut};
  if (!check_routing(check, arguments, false).ok()) return check.status();
  return plan_routing(arguments, {}, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeInitRoutingQuant,
             (const aclTensor *x, const aclTensor *rowIdx, const aclTensor *expertIdx,
              int64_t activeNum, double scale, double offset, aclTensor *expandedXOut,
              aclTensor *expandedRowIdxOut, aclTensor *expandedExpertIdxOut)) {
  using namespace emu;
  Check check("aclnnMoeInitRoutingQuant");
  const FirstRouting arguments{
      check.op(),          x, rowIdx, expertIdx, activeNum, expandedXOut, expandedRowIdxOut,
      expandedExpertIdxOut};
  if (!check_routing(check, arguments, true).ok()) return check.status();
  Quantisation quantisation;
  quantisation.kind = Quantised::kByScale;
  quantisation.scale = static_cast<float>(scale);
  quantisation.offset = static_cast<float>(offset);
  return plan_routing(arguments, quantisation, workspaceSize, executor);
}
EMU_CATCH
