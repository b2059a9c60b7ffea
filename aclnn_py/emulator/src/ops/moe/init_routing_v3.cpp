// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeInitRoutingV3: tokens sorted by their experts, those of a range of experts only. What is
// behind them in expandedXOut, expandedScaleOut and the scatter form of expandedRowIdxOut is not
// written.
#include "aclnnop/moe.h"
#include "core/chip.h"
#include "ops/moe/low_rows.h"
#include "ops/moe/placing.h"
#include "ops/shared/low_codes.h"

namespace emu {
namespace {

using Number = long long;

constexpr DtypeSet kPowersOfTwo = dtype_set(ACL_FLOAT8_E8M0);
constexpr DtypeSet kWithPowers = dt::kFloat8 | dtype_set(ACL_FLOAT4_E2M1);
constexpr DtypeSet kQuantised =
    dtype_set(ACL_FLOAT, ACL_FLOAT16, ACL_BF16);  // what is quantised on the way
constexpr DtypeSet kPadded = kQuantised | dtype_set(ACL_INT8, ACL_HIFLOAT8);

enum CountKind : int64_t { kEnds = 0, kCounts = 1, kPairs = 2 };

struct ThirdRouting {
  const char *op;
  const aclTensor *x, *experts, *scale, *offset;
  int64_t active, capacity, expert_count, drops, count_kind;
  bool counted;
  int64_t quant_mode;
  const aclIntArray *range;
  int64_t index_kind;
  const aclTensor *out, *out_index, *counts, *scales;
  int64_t first = 0, last = 0;  // the range of experts

  bool pads() const { return drops == 1; }
  bool by_row() const { return quant_mode == 1; }
  // Unquantised tokens take the scales they came with along.
  bool moves_scales() const { return quant_mode == -1 && scale != nullptr; }
  std::optional<LowForm> low() const { return low_form(quant_mode); }
  bool has_scales() const { return by_row() || moves_scales() || (low() && low()->has_scales()); }
};

// Chips of the 950 series quantise to floats, and have fewer ways to count and to leave out tokens.
void check_newer_chip(Check &check, const ThirdRouting &a) {
  const int64_t all = a.experts->numel();
  check.that((a.quant_mode >= -1 && a.quant_mode <= 1) || a.low(),
             "quantMode is %lld; allowed: -1, 0, 1, 2, 3, 6, 7, 8, 9, 11 and 12",
             Number{a.quant_mode});
  check.that(a.active == all,
             "activeNum is %lld; this chip takes the number of places in expertIdx alone, %lld",
             Number{a.active}, Number{all});
  check.that(a.counted, "expertTokensNumFlag is false; this chip takes true only");
  check.that(!a.pads() || a.quant_mode == -1,
             "quantMode is %lld; with dropPadMode 1 this chip takes -1 only", Number{a.quant_mode});
  check.that(!a.pads() || contains(kPadded, a.x->dtype),
             "x has dtype %s; with dropPadMode 1 this chip takes %s", dtype_name(a.x->dtype),
             dtype_list(kPadded).c_str());
}

void check_attributes(Check &check, const ThirdRouting &a, int64_t tokens) {
  check.that(a.drops == 0 || a.drops == 1, "dropPadMode is %lld; allowed: 0 and 1",
             Number{a.drops});
  check.that(a.count_kind >= kEnds && a.count_kind <= kPairs,
             "expertTokensNumType is %lld; allowed: 0, 1 and 2", Number{a.count_kind});
  if (chip_is_950()) check_newer_chip(check, a);
  else
    check.that(a.quant_mode >= -1 && a.quant_mode <= 1, "quantMode is %lld; allowed: -1, 0 and 1",
               Number{a.quant_mode});
  check.that(a.index_kind == 0 || a.index_kind == 1, "rowIdxType is %lld; allowed: 0 and 1",
             Number{a.index_kind});
  check.that(a.active >= 0, "activeNum is %lld; it cannot be negative", Number{a.active});
  const int64_t most = a.count_kind == kPairs ? 5120 : 10240;
  check.that(a.expert_count >= 0 && a.expert_count <= most,
             "expertNum is %lld; allowed with expertTokensNumType %lld: 0 to %lld",
             Number{a.expert_count}, Number{a.count_kind}, Number{most});
  check.that(a.first >= 0 && a.first <= a.last && a.last <= a.expert_count,
             "activeExpertRangeOptional is [%lld, %lld); it must lie within [0, %lld)",
             Number{a.first}, Number{a.last}, Number{a.expert_count});
  if (!a.pads()) return;
  check.that(a.capacity > 0 && a.capacity <= tokens,
             "expertCapacity is %lld; allowed with dropPadMode 1: 1 to %lld, the rows of x",
             Number{a.capacity}, Number{tokens});
  check.that(a.first == 0 && a.last == a.expert_count,
             "activeExpertRangeOptional is [%lld, %lld); with dropPadMode 1 it must be [0, %lld)",
             Number{a.first}, Number{a.last}, Number{a.expert_count});
  check.that(a.index_kind == 0, "rowIdxType is 1; with dropPadMode 1 it must be 0");
  check.that(!a.counted || a.count_kind == kCounts,
             "expertTokensNumType is %lld; with dropPadMode 1 it must be 1", Number{a.count_kind});
}

// Scales that tokens bring along: one number for each, or powers of two for 32 values.
void check_moved(Check &check, const ThirdRouting &a) {
  const int64_t tokens[] = {a.x->shape[0], (a.x->shape[1] + 63) / 64, 2};
  const bool powers = contains(kWithPowers, a.x->dtype);
  check.same_dtype("expandedXOut", a.out->dtype, "x", a.x->dtype);
  check_float4(check, "x", a.x);
  check_float4(check, "expandedXOut", a.out);
  if (a.scale == nullptr) return;
  check.dtype_in("scaleOptional", a.scale->dtype, powers ? kPowersOfTwo : dtype_set(ACL_FLOAT));
  check.shape("scaleOptional", a.scale, dense_layout(tokens, powers ? 3 : 1));
}

void check_low(Check &check, const ThirdRouting &a, const LowForm &form) {
  check.dtype_in("expandedXOut", a.out->dtype, dtype_set(form.dtype));
  check_float4(check, "expandedXOut", a.out);
  if (form.scales == LowScales::kTensor) {
    const int64_t one = 1;
    check.that(a.scale != nullptr, "scaleOptional is null; quantMode 7 needs it");
    check.shape("scaleOptional", a.scale, dense_layout(&one, 1));
    if (check.ok()) check.dtype_in("scaleOptional", a.scale->dtype, dtype_set(ACL_FLOAT));
  } else {
    check.that(a.scale == nullptr, "scaleOptional is given; quantMode %lld takes none",
               Number{a.quant_mode});
  }
}

void check_quantisation(Check &check, const ThirdRouting &a) {
  if (a.quant_mode == -1) return check_moved(check, a);
  check.that(contains(kQuantised, a.x->dtype), "x is %s; quantMode must then be -1",
             dtype_name(a.x->dtype));
  if (a.low()) return check_low(check, a, *a.low());
  const bool four_bits = a.out->dtype == ACL_INT4;
  const bool packs = a.by_row() && a.x->dtype != ACL_FLOAT16 && chip_is_950();
  check.dtype_in("expandedXOut", a.out->dtype,
                 dtype_set(ACL_INT8) | (packs ? dtype_set(ACL_INT4) : 0));
  check_int4(check, "expandedXOut", a.out);
  if (a.scale && check.ok()) check.dtype_in("scaleOptional", a.scale->dtype, dtype_set(ACL_FLOAT));
  const int64_t own[] = {four_bits ? 1 : a.last - a.first, a.x->shape[1]};
  if (a.by_row()) check.shape("scaleOptional", a.scale, dense_layout(own, 2));
  else check_tensor_scale(check, a.scale, a.offset);
}

void check_results(Check &check, const ThirdRouting &a) {
  const int64_t all = a.experts->numel(), width = a.x->shape[1];
  const int64_t padded[] = {a.expert_count, a.capacity, width};
  const int64_t listed[] = {a.active > 0 ? std::min(a.active, all) : all, width};
  check.shape("expandedXOut", a.out, a.pads() ? dense_layout(padded, 3) : dense_layout(listed, 2));
  check.shape("expandedRowIdxOut", a.out_index, dense_layout(&all, 1));
  if (a.counted) {
    const int64_t pairs[] = {a.expert_count, 2}, each[] = {a.last - a.first};
    check.shape("expertTokensCountOrCumsumOut", a.counts,
                a.count_kind == kPairs ? dense_layout(pairs, 2) : dense_layout(each, 1));
  }
  if (!a.has_scales() || !check.ok()) return;
  const int64_t rows =
      a.pads() ? check.size("expertNum", Checked(a.expert_count) * a.capacity) : listed[0];
  const bool powers = a.moves_scales() && contains(kWithPowers, a.x->dtype);
  check.dtype_in("expandedScaleOut", a.scales->dtype,
                 powers || (a.low() && a.low()->scales == LowScales::kPowers)
                     ? kPowersOfTwo
                     : dtype_set(ACL_FLOAT));
  if (powers) {
    const int64_t paired[] = {rows, (width + 63) / 64, 2};
    check.shape("expandedScaleOut", a.scales, dense_layout(paired, 3));
    return;
  }
  if (a.low()) {
    check.shape("expandedScaleOut", a.scales, low_scale_layout(*a.low(), rows, width));
    return;
  }
  const int64_t column[] = {rows, 1};
  if (!same_shape(layout_of(*a.scales), dense_layout(column, 2))) {
    check.shape("expandedScaleOut", a.scales, dense_layout(column, 1));
  }
}

Check &check_routing(Check &check, ThirdRouting &a) {
  check.required("x", a.x).required("expertIdx", a.experts).optional("scaleOptional", a.scale);
  check.optional("offsetOptional", a.offset);
  check.optional("activeExpertRangeOptional", a.range).required("expandedXOut", a.out);
  check.required("expandedRowIdxOut", a.out_index);
  check.required("expertTokensCountOrCumsumOut", a.counts).required("expandedScaleOut", a.scales);
  check.dtype("x", a.x).dtype("expertIdx", a.experts).dtype("scaleOptional", a.scale);
  check.dtype("offsetOptional", a.offset).dtype("expandedXOut", a.out);
  check.dtype("expandedRowIdxOut", a.out_index);
  check.dtype("expertTokensCountOrCumsumOut", a.counts).dtype("expandedScaleOut", a.scales);
  check.tiling().rank("x", a.x, 2, 2).rank("expertIdx", a.experts, 2, 2);
  check.that(a.range == nullptr || a.range->values.size() == 2,
             "activeExpertRangeOptional has %zu values; expected 2, the first expert and the one "
             "behind the last",
             a.range == nullptr ? size_t{0} : a.range->values.size());
  if (!check.ok()) return check;
  a.first = a.range == nullptr ? 0 : a.range->values[0];
  a.last = a.range == nullptr ? a.expert_count : a.range->values[1];
  check.that(a.experts->shape[0] == a.x->shape[0], "expertIdx has %lld rows; x has %lld",
             Number{a.experts->shape[0]}, Number{a.x->shape[0]});
  check_attributes(check, a, a.x->shape[0]);
  if (check.ok()) check_quantisation(check, a);
  if (check.ok()) check_results(check, a);
  return check;
}

struct ThirdKernel {
  size_t x, experts, scale, offset, out, index, counts, scales;
  Places places;
  int64_t first, last, quant_mode, count_kind;
  bool pads, scatters, has_scales, counted;
};

// Tokens go to their rows, with what belongs to each.
void move_tokens(const ThirdKernel &k, PlanContext &c, const std::vector<RowMove> &moves) {
  const aclTensor &x = c.tensor(k.x), &out = c.tensor(k.out);
  if (const auto form = low_form(k.quant_mode)) {
    const float factor =
        form->scales == LowScales::kTensor ? read_all<float>(c, k.scale, 1, 1.0f)[0] : 1.0f;
    return move_low_rows(*form, view_of(x), out, form->has_scales() ? &c.tensor(k.scales) : nullptr,
                         moves, factor);
  }
  Quantisation quantisation;
  if (k.quant_mode >= 0) {
    quantisation = read_quantisation(c, k.quant_mode == 1, k.scale, k.offset);
  }
  const View from = byte_view(x), to = out.dtype == ACL_INT4 ? packed_view(out) : byte_view(out);
  const View scales = k.has_scales ? view_of(c.tensor(k.scales)) : View();
  const bool brings = k.has_scales && k.quant_mode == -1;
  if (brings && scales.dtype == ACL_FLOAT8_E8M0) {
    const View given = view_of(c.tensor(k.scale));
    move_rows(from, to, scales, moves, quantisation, k.pads);
    return move_rows(given, scales, View(), moves, quantisation, false);
  }
  const int64_t tokens = from.layout.shape[0];
  const auto given = brings ? read_all<float>(c, k.scale, tokens, 0.0f) : std::vector<float>();
  move_rows(from, to, scales, moves, quantisation, k.pads);
  if (!brings) return;
  const RowTarget<float> to_scales(scales);
  for (const RowMove &move : moves) {
    to_scales.write(move.to, 1, &given[static_cast<size_t>(move.token)]);
  }
}

// Pairs of an expert and its tokens for the experts that have any; the rest is 0.
void write_pairs(const View &to, const std::vector<int64_t> &experts,
                 const std::vector<int64_t> &order) {
  std::vector<int64_t> pairs;
  for (const int64_t at : order) {
    const int64_t expert = experts[static_cast<size_t>(at)];
    if (pairs.empty() || pairs[pairs.size() - 2] != expert) {
      pairs.insert(pairs.end(), {expert, 0});
    }
    ++pairs.back();
  }
  pairs.resize(static_cast<size_t>(to.count()));
  RowTarget<int64_t>(to).write(0, to.count(), pairs.data());
}

void write_index(const ThirdKernel &k, const View &to, const std::vector<int64_t> &order,
                 std::vector<int32_t> &inverse) {
  if (k.scatters) inverse.assign(order.begin(), order.end());
  RowTarget<int32_t>(to).write(0, static_cast<int64_t>(inverse.size()), inverse.data());
}

Status run_routing(const char *op, const ThirdKernel &k, PlanContext &c) {
  const std::vector<int64_t> list = integers(c, k.experts);
  const Status status = check_experts(op, list, k.places.experts);
  if (status != 0) return status;
  std::vector<int64_t> order = order_by_expert(list);
  const auto outside = [&](int64_t at) {
    const int64_t expert = list[static_cast<size_t>(at)];
    return expert < k.first || expert >= k.last;
  };
  order.erase(std::remove_if(order.begin(), order.end(), outside), order.end());
  std::vector<int32_t> inverse(list.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) {
    inverse[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  const int64_t tokens = c.tensor(k.x).shape[0], rows = c.tensor(k.out).shape[0];
  const int64_t each = tokens == 0 ? 1 : static_cast<int64_t>(list.size()) / tokens;
  move_tokens(k, c,
              k.pads ? moves_to_places(k.places, list, order, each, &inverse)
                     : moves_in_order(list, order, each, rows, k.first));
  write_index(k, view_of(c.tensor(k.index)), order, inverse);
  if (!k.counted) return 0;
  const View counts = view_of(c.tensor(k.counts));
  if (k.count_kind == kPairs) write_pairs(counts, list, order);
  else write_counts(counts, list, k.first, k.count_kind == kEnds);
  return 0;
}

Status plan_routing(const ThirdRouting &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const auto result_if = [&plan](const aclTensor *tensor, bool wanted) {
    return wanted ? plan.output(tensor) : plan.unused(tensor);
  };
  ThirdKernel kernel{};
  kernel.x = plan.input(a.x), kernel.experts = plan.input(a.experts);
  kernel.scale = plan.input(a.scale);
  kernel.offset = a.quant_mode == 0 ? plan.input(a.offset) : plan.unused(a.offset);
  kernel.out = plan.output(a.out), kernel.index = plan.output(a.out_index);
  kernel.counts = result_if(a.counts, a.counted);
  kernel.scales = result_if(a.scales, a.has_scales());
  kernel.places = {a.expert_count, a.capacity};
  kernel.first = a.first, kernel.last = a.last;
  kernel.quant_mode = a.quant_mode, kernel.count_kind = a.count_kind;
  kernel.pads = a.pads(), kernel.scatters = a.index_kind == 1;
  kernel.has_scales = a.has_scales(), kernel.counted = a.counted;
  return plan.finish([kernel, op = a.op](PlanContext &c) { return run_routing(op, kernel, c); },
                     workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeInitRoutingV3,
             (const aclTensor *x, const aclTensor *expertIdx, const aclTensor *scaleOptional,
              const aclTensor *offsetOptional, int64_t activeNum, int64_t expertCapacity,
              int64_t expertNum, int64_t dropPadMode, int64_t expertTokensNumType,
              bool expertTokensNumFlag, int64_t quantMode,
              const aclIntArray *activeExpertRangeOptional, int64_t rowIdxType,
              aclTensor *expandedXOut, aclTensor *expandedRowIdxOut,
              aclTensor *expertTokensCountOrCumsumOut, aclTensor *expandedScaleOut)) {
  using namespace emu;
  Check check("aclnnMoeInitRoutingV3");
  ThirdRouting a{};
  a.op = check.op(), a.x = x, a.experts = expertIdx;
  a.scale = scaleOptional, a.offset = offsetOptional;
  a.active = activeNum, a.capacity = expertCapacity, a.expert_count = expertNum;
  a.drops = dropPadMode, a.count_kind = expertTokensNumType, a.counted = expertTokensNumFlag;
  a.quant_mode = quantMode, a.range = activeExpertRangeOptional, a.index_kind = rowIdxType;
  a.out = expandedXOut, a.out_index = expandedRowIdxOut;
  a.counts = expertTokensCountOrCumsumOut, a.scales = expandedScaleOut;
  if (!check_routing(check, a).ok()) return check.status();
  return plan_routing(a, workspaceSize, executor);
}
EMU_CATCH
