// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeInitRoutingV2 and MoeInitRoutingQuantV2: tokens sorted by their experts, all of them, the
// first ones, or as many as each expert has room for.
#include "aclnnop/moe.h"
#include "core/chip.h"
#include "ops/moe/placing.h"

namespace emu {
namespace {

using Number = long long;

struct SecondRouting {
  const char *op;
  const aclTensor *x, *experts;
  const aclTensor *scale = nullptr, *offset = nullptr;  // of the quantised form
  int64_t active, capacity, expert_count, drops, count_kind;
  bool counts_before, quantised;
  int64_t quant_mode;
  const aclTensor *out, *out_index, *counts, *before;
  const aclTensor *scales = nullptr;

  bool by_row() const { return quantised && quant_mode == 1; }
  bool pads() const { return drops == 1; }
  bool counted() const { return !pads() && count_kind != 0; }
  bool counted_before() const { return pads() && counts_before; }
};

void check_attributes(Check &check, const SecondRouting &a, int64_t tokens) {
  check.that(a.drops == 0 || a.drops == 1, "dropPadMode is %lld; allowed: 0 and 1",
             Number{a.drops});
  check.that(a.count_kind >= 0 && a.count_kind <= 2,
             "expertTokensCountOrCumsumFlag is %lld; allowed: 0, 1 and 2", Number{a.count_kind});
  check.that(a.active >= 0, "activeNum is %lld; it cannot be negative", Number{a.active});
  check.that(a.expert_count >= 0, "expertNum is %lld; it cannot be negative",
             Number{a.expert_count});
  check.that(a.capacity >= 0, "expertCapacity is %lld; it cannot be negative", Number{a.capacity});
  check.that(a.expert_count > 0 || !(a.pads() || a.counted()),
             "expertNum is 0; tokens can be counted, dropped and padded for at least 1 expert");
  check.that(!a.pads() || (a.capacity > 0 && a.capacity <= tokens),
             "expertCapacity is %lld; allowed with dropPadMode 1: 1 to %lld, the rows of x",
             Number{a.capacity}, Number{tokens});
}

void check_results(Check &check, const SecondRouting &a) {
  const int64_t all = check.size("expertIdx", Checked(a.experts->numel()));
  const int64_t width = a.x->shape[1];
  const int64_t padded[] = {a.expert_count, a.capacity, width};
  const int64_t listed[] = {a.active > 0 ? std::min(a.active, all) : all, width};
  check.shape("expandedXOut", a.out, a.pads() ? dense_layout(padded, 3) : dense_layout(listed, 2));
  check.shape("expandedRowIdxOut", a.out_index, dense_layout(&all, 1));
  const Layout each = dense_layout(&a.expert_count, 1);
  if (a.counted()) {
    check.that(a.counts != nullptr,
               "expertTokensCountOrCumsumOutOptional is null; expertTokensCountOrCumsumFlag %lld "
               "asks for it",
               Number{a.count_kind});
    check.shape("expertTokensCountOrCumsumOutOptional", a.counts, each);
  }
  if (a.counted_before()) {
    check.that(a.before != nullptr,
               "expertTokensBeforeCapacityOutOptional is null; expertTokensBeforeCapacityFlag asks "
               "for it");
    check.shape("expertTokensBeforeCapacityOutOptional", a.before, each);
  }
  if (a.by_row()) {
    const int64_t rows =
        a.pads() ? check.size("expertNum", Checked(a.expert_count) * a.capacity) : listed[0];
    check.that(a.scales != nullptr,
               "dynamicQuantScaleOutOptional is null; quantMode 1 asks for it");
    check.shape("dynamicQuantScaleOutOptional", a.scales, dense_layout(&rows, 1));
  }
}

void check_quantisation(Check &check, const SecondRouting &a) {
  check.that(a.quant_mode == 0 || a.quant_mode == 1, "quantMode is %lld; allowed: 0 and 1",
             Number{a.quant_mode});
  if (!check.ok()) return;
  if (!a.by_row()) return check_tensor_scale(check, a.scale, a.offset);
  const bool packed = a.out->dtype == ACL_INT4;
  check.that(!packed || !a.pads(), "expandedXOut is INT4; dropPadMode must then be 0");
  if (a.scale == nullptr || !check.ok()) return;
  const int64_t shared[] = {1, a.x->shape[1]}, own[] = {a.expert_count, a.x->shape[1]};
  const bool is_shared = same_shape(layout_of(*a.scale), dense_layout(shared, 2));
  if (packed || !is_shared) {
    check.shape("scaleOptional", a.scale, packed ? dense_layout(shared, 2) : dense_layout(own, 2));
  }
}

Check &check_routing(Check &check, const SecondRouting &a) {
  check.required("x", a.x).required("expertIdx", a.experts).optional("scaleOptional", a.scale);
  check.optional("offsetOptional", a.offset).required("expandedXOut", a.out);
  check.required("expandedRowIdxOut", a.out_index);
  check.optional("expertTokensCountOrCumsumOutOptional", a.counts);
  check.optional("expertTokensBeforeCapacityOutOptional", a.before);
  check.optional("dynamicQuantScaleOutOptional", a.scales);
  check.dtype("x", a.x).dtype("expertIdx", a.experts).dtype("expandedXOut", a.out);
  check.dtype("expandedRowIdxOut", a.out_index);
  check.dtype("expertTokensCountOrCumsumOutOptional", a.counts);
  check.dtype("expertTokensBeforeCapacityOutOptional", a.before);
  if (!check.ok()) return check;
  if (!a.quantised) check.same_dtype("expandedXOut", a.out->dtype, "x", a.x->dtype);
  check.tiling();
  check.dtype("scaleOptional", a.scale).dtype("offsetOptional", a.offset);
  check.dtype("dynamicQuantScaleOutOptional", a.scales);
  check.rank("x", a.x, 2, 2);
  check.rank("expertIdx", a.experts, chip_is_950() && !a.quantised ? 1 : 2, 2);
  if (!check.ok()) return check;
  check.that(a.experts->shape[0] == a.x->shape[0], "expertIdx has %lld rows; x has %lld",
             Number{a.experts->shape[0]}, Number{a.x->shape[0]});
  check_attributes(check, a, a.x->shape[0]);
  if (!check.ok()) return check;
  if (a.quantised) check_quantisation(check, a);
  if (check.ok()) check_results(check, a);
  return check_int4(check, "expandedXOut", a.out);
}

Status plan_routing(const SecondRouting &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const auto result_if = [&plan](const aclTensor *tensor, bool wanted) {
    return wanted ? plan.output(tensor) : plan.unused(tensor);
  };
  const size_t x = plan.input(a.x), experts = plan.input(a.experts);
  const size_t scale = a.quantised ? plan.input(a.scale) : 0;
  const size_t offset = !a.quantised ? 0
                        : a.by_row() ? plan.unused(a.offset)
                                     : plan.input(a.offset);
  const size_t out = plan.output(a.out), index = plan.output(a.out_index),
               counts = result_if(a.counts, a.counted()),
               before = result_if(a.before, a.counted_before()),
               scales = a.quantised ? result_if(a.scales, a.by_row()) : 0;
  const bool quantised = a.quantised, by_row = a.by_row(), pads = a.pads(),
             ends = a.counted() && a.count_kind == 1, bounded = a.pads() || a.counted();
  const Places places{a.expert_count, a.capacity};
  return plan.finish(
      [=, op = a.op](PlanContext &c) {
        const std::vector<int64_t> list = integers(c, experts);
        const Status status = check_experts(op, list, bounded ? places.experts : kUncountable);
        if (status != 0) return status;
        const std::vector<int64_t> order = order_by_expert(list);
        const View from = view_of(c.tensor(x)), to = packed_view(c.tensor(out));
        const int64_t each = from.layout.shape[0] == 0
                                 ? 1
                                 : static_cast<int64_t>(list.size()) / from.layout.shape[0];
        Quantisation quantisation;
        if (quantised) quantisation = read_quantisation(c, by_row, scale, offset);
        std::vector<int32_t> inverse = inverse_of(order);
        std::vector<RowMove> moves;
        if (pads) {
          moves = moves_to_places(places, list, order, each, &inverse);
        } else {
          moves = moves_in_order(list, order, each, to.layout.shape[0], 0);
        }
        const View scale_view = quantised && by_row ? view_of(c.tensor(scales)) : View();
        move_rows(from, to, scale_view, moves, quantisation, pads);
        RowTarget<int32_t>(view_of(c.tensor(index)))
            .write(0, static_cast<int64_t>(inverse.size()), inverse.data());
        for (const size_t counted : {counts, before}) {
          if (c.has(counted)) write_counts(view_of(c.tensor(counted)), list, 0, ends);
        }
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeInitRoutingV2,
             (const aclTensor *x, const aclTensor *expertIdx, int64_t activeNum,
              int64_t expertCapacity, int64_t expertNum, int64_t dropPadMode,
              int64_t expertTokensCountOrCumsumFlag, bool expertTokensBeforeCapacityFlag,
              aclTensor *expandedXOut, aclTensor *expandedRowIdxOut,
              aclTensor *expertTokensCountOrCumsumOutOptional,
              aclTensor *expertTokensBeforeCapacityOutOptional)) {
  using namespace emu;
  Check check("aclnnMoeInitRoutingV2");
  SecondRouting a{};
  a.op = check.op(), a.x = x, a.experts = expertIdx;
  a.active = activeNum, a.capacity = expertCapacity, a.expert_count = expertNum;
  a.drops = dropPadMode, a.count_kind = expertTokensCountOrCumsumFlag;
  a.counts_before = expertTokensBeforeCapacityFlag;
  a.out = expandedXOut, a.out_index = expandedRowIdxOut;
  a.counts = expertTokensCountOrCumsumOutOptional;
  a.before = expertTokensBeforeCapacityOutOptional;
  if (!check_routing(check, a).ok()) return noticed_early(check);
  return plan_routing(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeInitRoutingQuantV2,
             (const aclTensor *x, const aclTensor *expertIdx, const aclTensor *scaleOptional,
              const aclTensor *offsetOptional, int64_t activeNum, int64_t expertCapacity,
              int64_t expertNum, int64_t dropPadMode, int64_t expertTokensCountOrCumsumFlag,
              bool expertTokensBeforeCapacityFlag, int64_t quantMode, aclTensor *expandedXOut,
              aclTensor *expandedRowIdxOut, aclTensor *expertTokensCountOrCumsumOutOptional,
              aclTensor *expertTokensBeforeCapacityOutOptional,
              aclTensor *dynamicQuantScaleOutOptional)) {
  using namespace emu;
  Check check("aclnnMoeInitRoutingQuantV2");
  SecondRouting a{};
  a.op = check.op(), a.x = x, a.experts = expertIdx;
  a.scale = scaleOptional, a.offset = offsetOptional;
  a.active = activeNum, a.capacity = expertCapacity, a.expert_count = expertNum;
  a.drops = dropPadMode, a.count_kind = expertTokensCountOrCumsumFlag;
  a.counts_before = expertTokensBeforeCapacityFlag;
  a.quantised = true, a.quant_mode = quantMode;
  a.out = expandedXOut, a.out_index = expandedRowIdxOut;
  a.counts = expertTokensCountOrCumsumOutOptional;
  a.before = expertTokensBeforeCapacityOutOptional, a.scales = dynamicQuantScaleOutOptional;
  if (!check_routing(check, a).ok()) return check.status();
  return plan_routing(a, workspaceSize, executor);
}
EMU_CATCH
