// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>

#include "hccl/arguments.h"
#include "ops/mc2/experts/dispatch.h"
#include "ops/shared/low_codes.h"

namespace emu {
namespace {

using hccl::Chip;

constexpr int64_t kStatic = 1, kByRow = 2, kByGroup = 3;
constexpr DtypeSet kLow = dt::kFloat8 | dtype_set(ACL_HIFLOAT8) | kFloat4;

// Rows that come with scales of their own, which travel beside them.
bool scaled_rows(const DispatchCall &a) { return contains(kLow, a.x->dtype); }

void check_presence(Check &check, const DispatchCall &a) {
  check.required("x", a.x).required("expertIds", a.ids);
  check.optional(a.name("scales", "scalesOptional"), a.scales);
  check.optional("xActiveMaskOptional", a.mask);
  check.optional(a.name("expertScales", "expertScalesOptional"), a.weights);
  check.optional("elasticInfoOptional", a.elastic).optional("performanceInfoOptional", a.times);
  check.required(a.name("expandX", "expandXOut"), a.expanded);
  if (a.quant_mode >= 2 || (check.ok() && scaled_rows(a)))
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
  const bool newer = hccl::chip() == Chip::a5 && !a.first();
  const aclDataType x = a.x->dtype;
  if (moved) {
    check.dtype_in(expanded, a.expanded->dtype,
                   dtype_set(x) | (newer && !scaled_rows(a) ? dtype_set(ACL_HIFLOAT8) : 0));
    return;
  }
  check.dtype_in("x", x, dt::kHalf);
  check.dtype_in(expanded, a.expanded->dtype,
                 !newer                    ? dtype_set(ACL_INT8)
                 : a.quant_mode == kStatic ? dtype_set(ACL_INT8, ACL_HIFLOAT8)
                 : a.quant_mode == kByRow  ? dt::kFloat8 | dtype_set(ACL_INT8)
                                           : dt::kFloat8);
}

void check_shape(Check &check, const char *name, const aclTensor *tensor,
                 std::initializer_list<int64_t> expected) {
  if (tensor && check.ok())
    check.shape(name, tensor, dense_layout(expected.begin(), static_cast<int>(expected.size())));
}

void check_inputs(Check &check, const DispatchCall &a, Chip chip) {
  check.rank("x", a.x, 2, 2).rank("expertIds", a.ids, 2, 2);
  check_float4(check, "x", a.x);
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
  const bool newer = chip == Chip::a5 && !a.first(), scaled = scaled_rows(a);
  check.that(a.quant_mode == 0 || a.quant_mode == kByRow ||
                 (newer && (a.quant_mode == kStatic || a.quant_mode == kByGroup)),
             "quantMode is %" PRId64 "; on %s it can be %s", a.quant_mode, hccl::chip_text(),
             newer ? "0 (no quantisation), 1 (static), 2 (by token), 3 (by groups of 128)"
                   : "0 (no quantisation) or 2 (by token)");
  check.that(a.count_type == 0 || a.count_type == 1,
             "expertTokenNumsType is %" PRId64 "; it can be 0 (sums) or 1 (counts)", a.count_type);
  check.that(!given || a.quant_mode != 0 || scaled, "%s is given; with quantMode 0 it must be null",
             scales);
  check.that(given || !(scaled || a.quant_mode == kStatic), "%s is null; %s needs it", scales,
             scaled ? "x of 8 or 4 bits" : "quantMode 1");
  check.that(!given || a.quant_mode == 0 || a.scales->dtype == ACL_FLOAT,
             "%s has dtype %s; with quantMode %" PRId64 " it is FLOAT", scales,
             given ? dtype_name(a.scales->dtype) : "", a.quant_mode);
  if (given && check.ok() && (a.x->dtype == ACL_HIFLOAT8 || contains(kFloat4, a.x->dtype))) {
    const aclDataType of_scales = a.x->dtype == ACL_HIFLOAT8 ? ACL_FLOAT : ACL_FLOAT8_E8M0;
    check.that(a.scales->dtype == of_scales, "%s has dtype %s; beside x of %s it is %s", scales,
               dtype_name(a.scales->dtype), dtype_name(a.x->dtype), dtype_name(of_scales));
  }
  if (a.dynamic_scales && check.ok() && (scaled || a.quant_mode >= kByRow))
    check.dtype_in(a.name("dynamicScales", "dynamicScalesOut"), a.dynamic_scales->dtype,
                   dtype_set(scaled ? a.scales->dtype : ACL_FLOAT));
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
  check_float4(check, expanded, a.expanded);
  if (!check.ok()) return;
  const char *dynamic = a.name("dynamicScales", "dynamicScalesOut");
  if (scaled_rows(a)) {
    check.rank("scalesOptional", a.scales, 2, 2);
    if (!check.ok()) return;
    const int64_t each = a.scales->shape[1];
    check.that(a.scales->shape[0] == e.tokens && each >= 1 && each <= e.width,
               "scalesOptional has shape %s; expected a row of 1 to %" PRId64
               " values for each of %" PRId64 " tokens",
               shape_text(layout_of(*a.scales)).c_str(), e.width, e.tokens);
    check_shape(check, dynamic, a.dynamic_scales, {rows, each});
  } else if (a.quant_mode == kStatic && a.scales->rank() == 1) {
    const bool single = a.scales->shape[0] == 1;
    check.that(single || (a.scales->shape[0] == e.width && a.expanded->dtype == ACL_INT8),
               "scalesOptional has shape %s; expected (1,), or for a result of INT8 (%" PRId64 ",)",
               shape_text(layout_of(*a.scales)).c_str(), e.width);
  } else if (a.scales) {
    check.that(a.quant_mode != kStatic || a.expanded->dtype == ACL_INT8,
               "scalesOptional has shape %s; for a result of HIFLOAT8 it is (1,)",
               shape_text(layout_of(*a.scales)).c_str());
    const int64_t table = e.shared_slots() + e.moe;
    check_shape(check, a.name("scales", "scalesOptional"), a.scales, {table, e.width});
  }
  if (a.quant_mode == kByRow) check_shape(check, dynamic, a.dynamic_scales, {rows});
  if (a.quant_mode == kByGroup)
    check_shape(check, dynamic, a.dynamic_scales,
                {rows, (e.width + kTokenGroup - 1) / kTokenGroup});
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

TokenForm form_of(const DispatchCall &a) {
  if (scaled_rows(a)) return TokenForm::moved_with_scales;
  switch (a.quant_mode) {
    case 0: return a.expanded->dtype == a.x->dtype ? TokenForm::moved : TokenForm::converted;
    case kStatic: return TokenForm::converted;
    case kByGroup: return TokenForm::floats_by_group;
    default:
      return a.expanded->dtype == ACL_INT8 ? TokenForm::integers_by_row : TokenForm::floats_by_row;
  }
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
  *form = form_of(a);
  return check.status();
}

}  // namespace emu
