// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>

#include "hccl/arguments.h"
#include "ops/mc2/experts/combine.h"

namespace emu {
namespace {

using hccl::Chip;

struct Named {
  const char *name;
  const aclTensor *tensor;
};

// The tensors that some versions have and that may be null.
std::vector<Named> optional_tensors(const CombineCall &a) {
  return {{"tpSendCountsOptional", a.tp_counts},
          {"xActiveMaskOptional", a.mask},
          {"activationScaleOptional", a.activation_scale},
          {"weightScaleOptional", a.weight_scale},
          {"groupListOptional", a.group_list},
          {a.name("expandScales", "expandScalesOptional"), a.expanded_weights},
          {"sharedExpertXOptional", a.shared},
          {"elasticInfoOptional", a.elastic},
          {"oriXOptional", a.x},
          {"constExpertAlpha1Optional", a.alpha},
          {"constExpertAlpha2Optional", a.beta},
          {"constExpertVOptional", a.constant},
          {"performanceInfoOptional", a.times}};
}

std::vector<Named> results(const CombineCall &a) {
  if (!a.with_norm()) return {{a.name("x", "xOut"), a.out}};
  return {{"yOut", a.y}, {"rstdOut", a.rstd}, {"xOut", a.sum}};
}

void check_presence(Check &check, const CombineCall &a, bool with_norm) {
  check.required("expandX", a.expanded).required("expertIds", a.ids);
  check.required(a.name("expandIdx", "assistInfoForCombine"), a.assist);
  check.required("epSendCounts", a.ep_counts).required("expertScales", a.weights);
  if (with_norm) check.required("residualX", a.residual).required("gamma", a.gamma);
  if (a.attributes.tp_size > 1) check.required("tpSendCountsOptional", a.tp_counts);
  for (const Named &one : optional_tensors(a)) check.optional(one.name, one.tensor);
  for (const Named &one : results(a)) check.required(one.name, one.tensor);
}

void check_dtypes(Check &check, const CombineCall &a) {
  check.dtype("expandX", a.expanded).dtype("expertIds", a.ids);
  check.dtype(a.name("expandIdx", "assistInfoForCombine"), a.assist);
  check.dtype("epSendCounts", a.ep_counts).dtype("expertScales", a.weights);
  check.dtype("residualX", a.residual).dtype("gamma", a.gamma);
  for (const Named &one : optional_tensors(a)) check.dtype(one.name, one.tensor);
  for (const Named &one : results(a)) check.dtype(one.name, one.tensor);
  if (!check.ok()) return;
  const aclDataType dtype = a.expanded->dtype;
  const Named same[] = {{"residualX", a.residual},
                        {"gamma", a.gamma},
                        {"sharedExpertXOptional", a.shared},
                        {"oriXOptional", a.x},
                        {"constExpertAlpha1Optional", a.alpha},
                        {"constExpertAlpha2Optional", a.beta},
                        {"constExpertVOptional", a.constant},
                        {a.name("x", "xOut"), a.out},
                        {"yOut", a.y},
                        {"xOut", a.sum}};
  for (const Named &one : same)
    if (one.tensor) check.same_dtype(one.name, one.tensor->dtype, "expandX", dtype);
}

void check_shape(Check &check, const char *name, const aclTensor *tensor,
                 std::initializer_list<int64_t> expected) {
  if (tensor && check.ok())
    check.shape(name, tensor, dense_layout(expected.begin(), static_cast<int>(expected.size())));
}

void check_reserved(Check &check, const CombineCall &a) {
  const Named reserved[] = {{"activationScaleOptional", a.activation_scale},
                            {"weightScaleOptional", a.weight_scale},
                            {"groupListOptional", a.group_list},
                            {"elasticInfoOptional", a.elastic}};
  for (const Named &one : reserved)
    check.that(!one.tensor, "%s is given; no chip supports it, it must be null", one.name);
  check.that(a.out_dtype == 0, "outDtype is %" PRId64 "; only 0 is supported", a.out_dtype);
  check.that(a.group_list_type == 0, "groupListType is %" PRId64 "; only 0 is supported",
             a.group_list_type);
}

void check_mode(Check &check, const CombineCall &a, Chip chip) {
  const bool eight_bits =
      !a.with_norm() && (chip != Chip::a2 || a.attributes.hierarchy()) && a.attributes.tp_size < 2;
  check.that(a.quant_mode == 0 || (a.quant_mode == 2 && eight_bits),
             "commQuantMode is %" PRId64 "; here it can be %s", a.quant_mode,
             eight_bits ? "0 or 2 (int8)" : "0 only");
}

void check_mask(Check &check, const CombineCall &a, Chip chip) {
  if (!a.mask || !check.ok()) return;
  const int64_t tokens = a.ids->shape[0], each = a.ids->shape[1];
  const bool by_slot = a.mask->rank() == 2, hierarchy = a.attributes.hierarchy();
  check.that(!a.first() && !(hierarchy && chip == Chip::a2),
             "xActiveMaskOptional is given; here it must be null");
  check.that(!by_slot || (chip != Chip::a2 && !hierarchy),
             "xActiveMaskOptional has 2 dimensions; here it can have only 1");
  if (by_slot) check_shape(check, "xActiveMaskOptional", a.mask, {tokens, each});
  else check_shape(check, "xActiveMaskOptional", a.mask, {tokens});
}

void check_special(Check &check, const CombineCall &a, const Experts &e, Chip chip) {
  check.that(a.x || (e.copy == 0 && e.constant == 0),
             "oriXOptional is null; copies and constant experts need it");
  check.that((a.alpha && a.beta && a.constant) || e.constant == 0,
             "constExpertNum is %" PRId64
             "; then constExpertAlpha1Optional, constExpertAlpha2Optional and "
             "constExpertVOptional must be given",
             e.constant);
  check_shape(check, "oriXOptional", a.x, {e.tokens, e.width});
  const Named parts[] = {{"constExpertAlpha1Optional", a.alpha},
                         {"constExpertAlpha2Optional", a.beta},
                         {"constExpertVOptional", a.constant}};
  for (const Named &one : parts) {
    check.that(!one.tensor || chip != Chip::a2, "%s is given; on %s it must be null", one.name,
               hccl::chip_text());
    check_shape(check, one.name, one.tensor, {e.constant, e.width});
  }
  if (!a.shared || !check.ok()) return;
  check.that(chip != Chip::a2 && e.shared_ranks == 0,
             "sharedExpertXOptional is given; on %s with sharedExpertRankNum %" PRId64
             " it must be null",
             hccl::chip_text(), e.shared_ranks);
  check.rank("sharedExpertXOptional", a.shared, 2, 3);
  if (!check.ok()) return;
  const Layout given = layout_of(*a.shared);
  check.that(given.shape[given.rank - 1] == e.width && a.shared->numel() == e.tokens * e.width,
             "sharedExpertXOptional has shape %s; it must have %" PRId64 " rows of %" PRId64
             " values",
             shape_text(given).c_str(), e.tokens, e.width);
}

void check_sizes(Check &check, const CombineCall &a, const Experts &e, Chip chip) {
  const int64_t parts = e.tp_ranks(), rows = a.expanded->shape[0], most = e.capacity();
  check.that(rows % parts == 0 && rows / parts >= most,
             "expandX has %" PRId64 " rows; it must have at least %" PRId64
             ", the most that this rank may receive",
             rows, most * parts);
  if (!check.ok()) return;
  const int64_t words = check.size("expandX", Checked(rows / parts) * 128);
  if (a.first()) check_shape(check, "expandIdx", a.assist, {e.tokens * e.each});
  else check_shape(check, "assistInfoForCombine", a.assist, {words});
  const int64_t needed = e.ranks() * parts * e.here();
  check.rank("epSendCounts", a.ep_counts, 1, 1);
  if (!check.ok()) return;
  check.that(chip == Chip::a2 ? a.ep_counts->shape[0] >= needed : a.ep_counts->shape[0] == needed,
             "epSendCounts has %" PRId64 " elements; it must have %" PRId64
             ", one per expert of this rank and rank",
             a.ep_counts->shape[0], needed);
  check_shape(check, "expertScales", a.weights, {e.tokens, e.each});
  if (e.tp) check_shape(check, "tpSendCountsOptional", a.tp_counts, {parts});
  check_shape(check, a.name("expandScales", "expandScalesOptional"), a.expanded_weights,
              {rows / parts});
  check_shape(check, "performanceInfoOptional", a.times, {e.ranks()});
  check_shape(check, a.name("x", "xOut"), a.out, {e.tokens, e.width});
  check_shape(check, "residualX", a.residual, {e.tokens, 1, e.width});
  check_shape(check, "gamma", a.gamma, {e.width});
  check_shape(check, "yOut", a.y, {e.tokens, 1, e.width});
  check_shape(check, "rstdOut", a.rstd, {e.tokens, 1, 1});
  check_shape(check, "xOut", a.sum, {e.tokens, 1, e.width});
}

}  // namespace

Status check_combine(const CombineCall &a, Experts *experts) {
  Check check(a.attributes.op);
  check_presence(check, a, a.with_norm());
  check_dtypes(check, a);
  if (!check.ok()) return check.status();
  const Chip chip = hccl::chip();
  check.tiling();
  check.rank("expandX", a.expanded, 2, 2).rank("expertIds", a.ids, 2, 2);
  check_reserved(check, a);
  check_mode(check, a, chip);
  check_mask(check, a, chip);
  if (!check.ok()) return check.status();
  if (const Status s = find_experts(a.attributes, a.ids->shape[0], a.ids->shape[1],
                                    a.expanded->shape[1], experts))
    return s;
  check_special(check, a, *experts, chip);
  if (check.ok()) check_sizes(check, a, *experts, chip);
  return check.status();
}

}  // namespace emu
