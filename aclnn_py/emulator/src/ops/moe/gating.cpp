// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// MoeGatingTopK and its V2, MoeFusedTopk: experts chosen by their scores within the best groups, or
// (V2) read from a table by token. float32 inside. The bias takes part in the choice only: the
// weights are the scores without it. They are divided by the sum of the chosen scores.
#include <atomic>
#include <numeric>

#include "aclnnop/moe.h"
#include "core/chip.h"
#include "ops/moe/scores.h"

namespace emu {
namespace {

enum class Norm : int64_t { kSoftmax = 0, kSigmoid = 1, kRootOfSoftplus = 2 };

struct GroupGate {
  int64_t k, best_groups, groups;
  int64_t summed;  // a group counts with the sum of so many highest scores
  bool divides;
  Norm norm;
  float factor, epsilon;
};

struct GroupGateArguments {
  const char *op;
  const aclTensor *x, *bias, *ids, *table;
  int64_t k, best_groups, groups, select, renorm, norm;
  bool keeps_scores;
  double factor, epsilon;
  const aclTensor *values, *experts, *scores;
  bool second_version, divides;
  bool names_scores = true;  // there is a parameter for them
  bool reads_table = true;
  int64_t summed;

  bool by_table() const { return reads_table && ids != nullptr && table != nullptr; }
};

using Number = long long;

constexpr int64_t kMostExperts = 2048, kMostFromTable = 64;
constexpr int64_t kMostFusedExperts = 1024;
constexpr uint32_t kMostFusedGroups = 256;

void check_groups(Check &check, const GroupGateArguments &a, int64_t experts) {
  check.that(a.groups > 0 && experts % a.groups == 0,
             "groupCount is %lld; it must divide the last dimension of x, %lld", Number{a.groups},
             Number{experts});
  if (!check.ok()) return;
  const int64_t each = experts / a.groups;
  check.that(a.select == 0 || a.select == 1, "groupSelectMode is %lld; allowed: 0 and 1",
             Number{a.select});
  if (!check.ok()) return;
  check.that(each > a.select,
             "groupCount is %lld, which leaves %lld experts in a group; groupSelectMode %lld needs "
             "at least %lld",
             Number{a.groups}, Number{each}, Number{a.select}, Number{a.select + 1});
  check.that((each + 31) / 32 * 32 * a.groups <= kMostExperts,
             "groupCount is %lld; its groups of %lld experts, rounded up to a multiple of 32, take "
             "more than %lld places",
             Number{a.groups}, Number{each}, Number{kMostExperts});
  check.that(a.best_groups >= 1 && a.best_groups <= a.groups,
             "kGroup is %lld; allowed: 1 to %lld, the value of groupCount", Number{a.best_groups},
             Number{a.groups});
  check.that(a.k >= 1 && (!check.ok() || a.k <= each * a.best_groups),
             "k is %lld; allowed: 1 to %lld, the experts in kGroup groups", Number{a.k},
             Number{check.ok() ? each * a.best_groups : 0});
}

void check_table(Check &check, const GroupGateArguments &a, int64_t tokens, int64_t experts) {
  const int64_t expected[] = {tokens};
  check.shape("inputIdsOptional", a.ids, dense_layout(expected, 1));
  check.rank("tid2eidOptional", a.table, 2, 2);
  if (!check.ok()) return;
  check.that(a.table->shape[1] == a.k, "tid2eidOptional has rows of %lld; expected %lld, k",
             Number{a.table->shape[1]}, Number{a.k});
  check.that(a.k <= kMostFromTable, "k is %lld; allowed with tid2eidOptional: 1 to %lld",
             Number{a.k}, Number{kMostFromTable});
  check.that(a.best_groups == a.groups || a.groups == experts,
             "kGroup is %lld; with tid2eidOptional it must be groupCount, %lld, unless groupCount "
             "is the number of experts",
             Number{a.best_groups}, Number{a.groups});
}

Check &check_gate(Check &check, const GroupGateArguments &a) {
  check.required("x", a.x).optional("biasOptional", a.bias).optional("inputIdsOptional", a.ids);
  check.optional("tid2eidOptional", a.table).required("yOut", a.values);
  check.required("expertIdxOut", a.experts).required("outOut", a.scores);
  check.dtype("x", a.x).dtype("biasOptional", a.bias).dtype("inputIdsOptional", a.ids);
  check.dtype("tid2eidOptional", a.table).dtype("yOut", a.values);
  check.dtype("expertIdxOut", a.experts).dtype("outOut", a.scores);
  if (!check.ok()) return check;
  if (a.bias != nullptr) check.same_dtype("biasOptional", a.bias->dtype, "x", a.x->dtype);
  check.same_dtype("yOut", a.values->dtype, "x", a.x->dtype);
  check.tiling().rank("x", a.x, 2, 2);
  if (!check.ok()) return check;
  const int64_t tokens = a.x->shape[0], experts = a.x->shape[1];
  check.that(tokens > 0 && experts > 0 && experts <= kMostExperts,
             "x has shape %s; it must not be empty and has at most %lld experts",
             shape_text(layout_of(*a.x)).c_str(), Number{kMostExperts});
  const int64_t row[] = {experts}, chosen[] = {tokens, a.k};
  check.shape("biasOptional", a.bias, dense_layout(row, 1));
  if (!check.ok()) return check;
  check_groups(check, a, experts);
  if (a.by_table()) check_table(check, a, tokens, experts);
  const int64_t norms = chip_is_950() ? 2 : 1;
  check.that(a.norm >= 0 && a.norm <= norms, "normType is %lld; allowed: 0 to %lld", Number{a.norm},
             Number{norms});
  check.that(a.renorm == 0 || a.renorm == 1, "renorm is %lld; allowed: 0 and 1", Number{a.renorm});
  if (!check.ok()) return check;
  check.shape("yOut", a.values, dense_layout(chosen, 2));
  check.shape("expertIdxOut", a.experts, dense_layout(chosen, 2));
  if (a.keeps_scores) check.shape("outOut", a.scores, layout_of(*a.x));
  return check;
}

void score(Norm norm, float *x, int64_t experts) {
  if (norm == Norm::kSoftmax) return soften(x, experts);
  if (norm == Norm::kSigmoid) {
    return float_kernel_fn(FloatKernel::sigmoid)(x, experts, nullptr, x);
  }
  for (int64_t i = 0; i < experts; ++i) {
    const float above = std::max(x[i], 0.0f) + std::log1p(std::exp(-std::fabs(x[i])));
    x[i] = std::sqrt(std::isnan(x[i]) ? x[i] : above);
  }
}

// What a group counts with; it has at least so many experts as are added up.
float group_score(const float *scores, int64_t each, int64_t summed) {
  std::vector<int64_t> order(static_cast<size_t>(each));
  std::iota(order.begin(), order.end(), int64_t{0});
  highest_first(scores, summed, order);
  float total = scores[order[0]];
  for (size_t i = 1; i < static_cast<size_t>(summed); ++i) total += scores[order[i]];
  return total;
}

// The experts that may be chosen, in ascending order: those of the best groups.
void candidates(const GroupGate &gate, const float *scores, int64_t experts,
                std::vector<int64_t> &to) {
  const int64_t each = experts / gate.groups;
  std::vector<float> totals;
  for (int64_t g = 0; g < gate.groups && gate.best_groups < gate.groups; ++g) {
    totals.push_back(group_score(scores + g * each, each, gate.summed));
  }
  std::vector<int64_t> groups(static_cast<size_t>(gate.groups));
  std::iota(groups.begin(), groups.end(), int64_t{0});
  if (!totals.empty()) {
    highest_first(totals.data(), gate.best_groups, groups);
    groups.resize(static_cast<size_t>(gate.best_groups));
    std::sort(groups.begin(), groups.end());
  }
  to.clear();
  for (const int64_t group : groups) {
    for (int64_t i = 0; i < each; ++i) to.push_back(group * each + i);
  }
}

// The experts of each token as a table says them; a fault when an index leads out of it.
Status look_up(PlanContext &c, const char *op, size_t ids, size_t table, int64_t k, int64_t experts,
               std::vector<int64_t> *chosen) {
  const std::vector<int64_t> tokens = integers(c, ids), rows = integers(c, table);
  const int64_t keys = static_cast<int64_t>(rows.size()) / k;
  for (const int64_t token : tokens) {
    if (token < 0 || token >= keys) {
      return fail(kKernelFault, "%s: inputIdsOptional holds %lld; tid2eidOptional has %lld rows",
                  op, Number{token}, Number{keys});
    }
    for (int64_t j = 0; j < k; ++j) {
      const int64_t expert = rows[static_cast<size_t>(token * k + j)];
      if (expert < 0 || expert >= experts) {
        return fail(kKernelFault, "%s: tid2eidOptional holds expert %lld; x has %lld", op,
                    Number{expert}, Number{experts});
      }
      chosen->push_back(expert);
    }
  }
  return 0;
}

struct GroupGateViews {
  View x, values, experts, scores;
  std::vector<float> bias;      // empty without
  std::vector<int64_t> chosen;  // k of each token; empty when the scores choose
};

void run_gate(const GroupGateViews &views, const GroupGate &gate) {
  const int64_t tokens = views.x.layout.shape[0], experts = views.x.layout.shape[1], k = gate.k;
  const bool keeps = views.scores.data != nullptr;
  const RowSource<float> source(views.x);
  const RowTarget<float> to_values(views.values), to_scores(keeps ? views.scores : views.x);
  const RowTarget<int32_t> to_experts(views.experts);
  parallel_for(tokens, std::max<int64_t>(1, 4096 / experts), [&](int64_t begin, int64_t end) {
    std::vector<float> x(static_cast<size_t>(experts)), values(static_cast<size_t>(k)), biased;
    std::vector<int32_t> indices(values.size());
    std::vector<int64_t> order;
    for (int64_t token = begin; token < end; ++token) {
      source.read(token * experts, experts, x.data());
      score(gate.norm, x.data(), experts);
      if (keeps) to_scores.write(token * experts, experts, x.data());
      if (views.chosen.empty()) {
        biased = x;
        for (size_t i = 0; i < views.bias.size(); ++i) biased[i] += views.bias[i];
        candidates(gate, biased.data(), experts, order);
        highest_first(biased.data(), k, order);
      } else {
        order.assign(views.chosen.begin() + token * k, views.chosen.begin() + (token + 1) * k);
      }
      for (size_t j = 0; j < values.size(); ++j) {
        values[j] = x[static_cast<size_t>(order[j])];
        indices[j] = static_cast<int32_t>(order[j]);
      }
      const float below =
          gate.divides ? static_cast<float>(sum_of(values.data(), k)) + gate.epsilon : 1.0f;
      for (float &value : values) value = value / below * gate.factor;
      to_values.write(token * k, k, values.data());
      to_experts.write(token * k, k, indices.data());
    }
  });
}

Status plan_gate(const GroupGateArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  const bool by_table = a.by_table();
  const size_t x = plan.input(a.x);
  const size_t bias = by_table ? plan.unused(a.bias) : plan.input(a.bias);
  const size_t ids = by_table ? plan.input(a.ids) : a.second_version ? plan.unused(a.ids) : 0;
  const size_t table = by_table ? plan.input(a.table) : a.second_version ? plan.unused(a.table) : 0;
  const size_t values = plan.output(a.values), experts = plan.output(a.experts);
  const size_t scores = a.keeps_scores   ? plan.output(a.scores)
                        : a.names_scores ? plan.unused(a.scores)
                                         : plan.output_if(nullptr);
  const Norm norm = static_cast<Norm>(a.norm);
  const GroupGate gate{a.k,
                       a.best_groups,
                       a.groups,
                       a.summed,
                       a.divides,
                       norm,
                       static_cast<float>(a.factor),
                       static_cast<float>(a.epsilon)};
  return plan.finish(
      [=, op = a.op](PlanContext &c) {
        const View given = view_of(c.tensor(x));
        GroupGateViews views{given, view_of(c.tensor(values)), view_of(c.tensor(experts)), {}, {},
                             {}};
        if (c.has(scores)) views.scores = view_of(c.tensor(scores));
        const int64_t width = given.layout.shape[1];
        if (c.has(bias)) views.bias = read_all<float>(c, bias, width, 0.0f);
        if (by_table) {
          const Status status = look_up(c, op, ids, table, gate.k, width, &views.chosen);
          if (status != 0) return status;
        }
        Operands operands;
        views.x = operands.safe(given, {views.values, views.experts, views.scores});
        run_gate(views, gate);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeGatingTopK,
             (const aclTensor *x, const aclTensor *biasOptional, int64_t k, int64_t kGroup,
              int64_t groupCount, int64_t groupSelectMode, int64_t renorm, int64_t normType,
              bool outFlag, double routedScalingFactor, double eps, aclTensor *yOut,
              aclTensor *expertIdxOut, aclTensor *outOut)) {
  using namespace emu;
  Check check("aclnnMoeGatingTopK");
  GroupGateArguments a{};
  a.op = check.op(), a.x = x, a.bias = biasOptional;
  a.k = k, a.best_groups = kGroup, a.groups = groupCount, a.select = groupSelectMode;
  a.renorm = renorm, a.norm = normType, a.keeps_scores = outFlag;
  a.factor = routedScalingFactor, a.epsilon = eps;
  a.values = yOut, a.experts = expertIdxOut, a.scores = outOut;
  if (!check_gate(check, a).ok()) return check.status();
  a.summed = groupSelectMode + 1;
  a.divides = static_cast<Norm>(normType) != Norm::kSoftmax || renorm == 1;
  return plan_gate(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeGatingTopKV2,
             (const aclTensor *x, const aclTensor *biasOptional, const aclTensor *inputIdsOptional,
              const aclTensor *tid2eidOptional, int64_t k, int64_t kGroup, int64_t groupCount,
              int64_t groupSelectMode, int64_t renorm, int64_t normType, bool outFlag,
              double routedScalingFactor, double eps, aclTensor *yOut, aclTensor *expertIdxOut,
              aclTensor *outOut)) {
  using namespace emu;
  Check check("aclnnMoeGatingTopKV2");
  GroupGateArguments a{};
  a.op = check.op(), a.x = x, a.bias = biasOptional;
  a.second_version = true, a.ids = inputIdsOptional, a.table = tid2eidOptional;
  a.k = k, a.best_groups = kGroup, a.groups = groupCount, a.select = groupSelectMode;
  a.renorm = renorm, a.norm = normType, a.keeps_scores = outFlag;
  a.factor = routedScalingFactor, a.epsilon = eps;
  a.values = yOut, a.experts = expertIdxOut, a.scores = outOut;
  if (!check_gate(check, a).ok()) return check.status();
  a.summed = groupSelectMode + 1;
  a.divides = static_cast<Norm>(normType) != Norm::kSoftmax || renorm == 1;
  return plan_gate(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeFusedTopk,
             (const aclTensor *x, const aclTensor *addNum, const aclTensor *mappingNum,
              const aclTensor *mappingTable, uint32_t groupNum, uint32_t groupTopk, uint32_t topN,
              uint32_t topK, uint32_t activateType, bool isNorm, float scale,
              bool enableExpertMapping, aclTensor *y, aclTensor *indices)) {
  using namespace emu;
  Check check("aclnnMoeFusedTopk");
  check.required("x", x).required("addNum", addNum).optional("mappingNum", mappingNum);
  check.optional("mappingTable", mappingTable).required("y", y).required("indices", indices);
  check.dtype("x", x).dtype("addNum", addNum).dtype("mappingNum", mappingNum);
  check.dtype("mappingTable", mappingTable).dtype("y", y).dtype("indices", indices);
  if (!check.ok()) return check.status();
  // Which of its logical experts stands for a physical one is random in an undocumented way.
  check.that(!enableExpertMapping, "enableExpertMapping is true; this device takes false only");
  check.that(activateType == 0, "activateType is %u; allowed: 0", activateType);
  check.same_dtype("addNum", addNum->dtype, "x", x->dtype).rank("x", x, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t tokens = x->shape[0], experts = x->shape[1],
                each = groupNum == 0 ? 0 : experts / groupNum;
  check.that(experts >= 1 && experts <= kMostFusedExperts, "x has %lld experts; allowed: 1 to 1024",
             Number{experts});
  check.shape("addNum", addNum, dense_layout(&experts, 1));
  check.that(groupNum >= 1 && groupNum <= kMostFusedGroups && experts % groupNum == 0,
             "groupNum is %u; it must divide the %lld experts, and be at most 256", groupNum,
             Number{experts});
  check.that(groupTopk >= 1 && groupTopk <= groupNum, "groupTopk is %u; allowed: 1 to %u",
             groupTopk, groupNum);
  check.that(topN >= 1 && topN <= each, "topN is %u; allowed: 1 to %lld, the experts of a group",
             topN, Number{each});
  check.that(topK >= 1 && topK <= each * groupTopk,
             "topK is %u; allowed: 1 to %lld, the experts of groupTopk groups", topK,
             Number{each * groupTopk});
  if (!check.ok()) return check.status();
  const int64_t chosen[] = {tokens, topK};
  check.shape("y", y, dense_layout(chosen, 2)).shape("indices", indices, dense_layout(chosen, 2));
  if (!check.ok()) return check.status();
  GroupGateArguments a{};
  a.op = check.op(), a.x = x, a.bias = addNum;
  a.second_version = true, a.reads_table = false, a.ids = mappingNum, a.table = mappingTable;
  a.k = topK, a.best_groups = groupTopk, a.groups = groupNum, a.summed = topN;
  a.norm = static_cast<int64_t>(Norm::kSigmoid), a.divides = isNorm;
  a.factor = isNorm ? static_cast<double>(scale) : 1.0;
  a.values = y, a.experts = indices, a.names_scores = false;
  return plan_gate(a, workspaceSize, executor);
}
EMU_CATCH
