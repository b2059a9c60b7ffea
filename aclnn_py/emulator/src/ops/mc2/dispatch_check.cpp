// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>

#include "hccl/arguments.h"
#include "ops/mc2/dispatch.h"

namespace emu {
namespace {

using hccl::Chip;

void check_presence(Check &check, const DispatchCall &a) {
  check.required("x", a.x).required("expertIds", a.ids);
  check.optional(a.name("scales", "scalesOptional"), a.scales);
  check.optional("xActiveMaskOptional", a.mask);
  check.optional(a.name("expertScales", "expertScalesOptional"), a.weights);
  check.optional("elasticInfoOptional", a.elastic).optional("performanceInfoOptional", a.times);
  check.required(a.name("expandX", "expandXOut"), a.expanded);
  if (a.quant_mode >= 2)
    check.required(a.name("dynamicScales", "dynamicScalesOut"), a.dynamic_scales);
  check.optional(a.name("dynamicScales", "dynamicScalesOut"), a.dynamic_scales);
  check.required(a.name("expandIdx", "assistInfoForCombineOut"), a.assist);
  check.required(a.name("expertTokenNums", "expertTokenNumsOut"), a.expert_counts);
  check.required(a.name("epRecvCounts", "epRecvCountsOut"), a.ep_counts);
  const char *tp_counts = a.name("tpRecvCountsOptional", "tpRecvCountsOutOptional");
  if (a.attributes.tp_size > 1) check.required(tp_counts, a.tp_counts);
  check.optional(tp_counts, a.tp_counts);
  check.optional(a.name("expandScales", "expandScalesOut"), a.expanded_weights);
}

void check_dtypes(Check &check, const DispatchCall &a) {
  const bool moved = a.quant_mode == 0;
  const char *expanded = a.name("expandX", "expandXOut");
  check.dtype("x", a.x).dtype("expertIds", a.ids);
  check.dtype(a.name("scales", "scalesOptional"), a.scales);
  if (!a.first()) check.dtype("xActiveMaskOptional", a.mask);
  check.dtype(a.name("expertScales", "expertScalesOptional"), a.weights);
  check.dtype("performanceInfoOptional", a.times).dtype(expanded, a.expanded);
  check.dtype(a.name("dynamicScales", "dynamicScalesOut"), a.dynamic_scales);
  check.dtype(a.name("expandIdx", "assistInfoForCombineOut"), a.assist);
  check.dtype(a.name("expertTokenNums", "expertTokenNumsOut"), a.expert_counts);
  check.dtype(a.name("epRecvCounts", "epRecvCountsOut"), a.ep_counts);
  check.dtype(a.name("tpRecvCountsOptional", "tpRecvCountsOutOptional"), a.tp_counts);
  check.dtype(a.name("expandScales", "expandScalesOut"), a.expanded_weights);
  if (!check.ok()) return;
  if (moved) check.same_dtype(expanded, a.expanded->dtype, "x", a.x->dtype);
  else check.dtype_in(expanded, a.expanded->dtype, dtype_set(ACL_INT8));
}

void check_shape(Check &check, const char *name, const aclTensor *tensor,
                 std::initializer_list<int64_t> expected) {
  if (tensor && check.ok())
    check.shape(name, tensor, dense_layout(expected.begin(), static_cast<int>(expected.size())));
}

void check_inputs(Check &check, const DispatchCall &a, Chip chip) {
  check.rank("x", a.x, 2, 2).rank("expertIds", a.ids, 2, 2);
  if (!check.ok()) return;
  const int64_t tokens = a.x->shape[0], each = a.ids->shape[1];
  const bool hierarchy = a.attributes.hierarchy();
  check_shape(check, "expertIds", a.ids, {tokens, each});
  check_shape(check, a.name("expertScales", "expertScalesOptional"), a.weights, {tokens, each});
  check.that(!a.weights || a.first() || chip == Chip::a2 || hierarchy,
             "expertScalesOptional is given; on %s it must be null", hccl::chip_text());
  check.that(!a.elastic, "elasticInfoOptional is given; no chip supports it, it must be null");
  check.that(!a.mask || (!a.first() && !(hierarchy && chip == Chip::a2)),
             "xActiveMaskOptional is given; here it must be null");
  if (a.mask && check.ok()) {
    const bool by_slot = a.mask->rank() == 2;
    check.that(!by_slot || (chip != Chip::a2 && !hierarchy),
               "xActiveMaskOptional has 2 dimensions; here it can have only 1");
    if (by_slot) check_shape(check, "xActiveMaskOptional", a.mask, {tokens, each});
    else check_shape(check, "xActiveMaskOptional", a.mask, {tokens});
  }
  check_shape(check, "performanceInfoOptional", a.times, {a.attributes.ep_size});
  check.that(!a.times || !hierarchy || chip == Chip::a2,
             "performanceInfoOptional is given; with commAlg \"hierarchy\" it must be null");
}

void check_modes(Check &check, const DispatchCall &a, Chip chip) {
  const bool given = a.scales != nullptr;
  const char *scales = a.name("scales", "scalesOptional");
  check.that(a.quant_mode == 0 || a.quant_mode == 2,
             "quantMode is %" PRId64 "; on %s it can be 0 (no quantisation) or 2 (by token)",
             a.quant_mode, hccl::chip_text());
  check.that(a.count_type == 0 || a.count_type == 1,
             "expertTokenNumsType is %" PRId64 "; it can be 0 (sums) or 1 (counts)", a.count_type);
  check.that(!given || a.quant_mode != 0, "%s is given; with quantMode 0 it must be null", scales);
  check.that(!given || !(a.attributes.hierarchy() && chip == Chip::a2),
             "%s is given; with commAlg \"hierarchy\" it must be null", scales);
}

void check_outputs(Check &check, const DispatchCall &a, const Experts &e, Chip chip) {
  const char *expanded = a.name("expandX", "expandXOut");
  check.rank(expanded, a.expanded, 2, 2);
  if (!check.ok()) return;
  const int64_t rows = a.expanded->shape[0], parts = e.tp_ranks(), most = e.capacity();
  const int64_t width = a.expanded->shape[1];
  check.that(width == e.width, "%s has rows of %" PRId64 " values, x of %" PRId64, expanded, width,
             e.width);
  check.that(rows % parts == 0 && rows / parts >= most,
             "%s has %" PRId64 " rows; it must have at least %" PRId64
             ", the most that this rank may receive",
             expanded, rows, most * parts);
  check.that(!e.holds_shared() || rows == most * parts,
             "%s has %" PRId64 " rows; on a rank with a shared expert it must have %" PRId64,
             expanded, rows, most * parts);
  if (!check.ok()) return;
  if (a.scales) {
    const int64_t table = e.shared_slots() + e.moe;
    check_shape(check, a.name("scales", "scalesOptional"), a.scales, {table, e.width});
  }
  if (a.quant_mode == 2)
    check_shape(check, a.name("dynamicScales", "dynamicScalesOut"), a.dynamic_scales, {rows});
  const int64_t words = check.size(expanded, Checked(rows / parts) * 128);
  if (a.first()) check_shape(check, "expandIdx", a.assist, {e.tokens * e.each});
  else check_shape(check, "assistInfoForCombineOut", a.assist, {words});
  check_shape(check, a.name("expertTokenNums", "expertTokenNumsOut"), a.expert_counts, {e.here()});
  const char *counts = a.name("epRecvCounts", "epRecvCountsOut");
  const int64_t needed = e.ranks() * parts * e.here();
  if (chip == Chip::a2) {
    check.rank(counts, a.ep_counts, 1, 1);
    if (!check.ok()) return;
    check.that(a.ep_counts->shape[0] >= needed,
               "%s has %" PRId64 " elements; it must have at least %" PRId64
               ", one per expert of this rank and rank",
               counts, a.ep_counts->shape[0], needed);
  } else {
    check_shape(check, counts, a.ep_counts, {needed});
  }
  if (e.tp)
    check_shape(check, a.name("tpRecvCountsOptional", "tpRecvCountsOutOptional"), a.tp_counts,
                {parts});
  if (a.weights)
    check_shape(check, a.name("expandScales", "expandScalesOut"), a.expanded_weights,
                {rows / parts});
}

}  // namespace

Status check_dispatch(const DispatchCall &a, Experts *experts, TokenForm *form) {
  Check check(a.attributes.op);
  check_presence(check, a);
  check_dtypes(check, a);
  if (!check.ok()) return check.status();
  const Chip chip = hccl::chip();
  check.tiling();
  check_inputs(check, a, chip);
  check_modes(check, a, chip);
  if (!check.ok()) return check.status();
  if (const Status s =
          find_experts(a.attributes, a.x->shape[0], a.ids->shape[1], a.x->shape[1], experts))
    return s;
  check_outputs(check, a, *experts, chip);
  *form = a.quant_mode == 2 ? TokenForm::integers_by_row : TokenForm::moved;
  return check.status();
}

}  // namespace emu
