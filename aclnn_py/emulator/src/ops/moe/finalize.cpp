// SPDX-License-Identifier: Apache-2.0
// MoeFinalizeRouting to V4: what the experts made of each token, weighted and added up. A token
// that an expert dropped gets nothing from it, not even its bias.
#include <memory>

#include "aclnnop/moe.h"
#include "core/chip.h"
#include "ops/moe/combining.h"

namespace emu {
namespace {

using Number = long long;

struct Range {
  int64_t first = 0, last = 0;
  bool has(int64_t expert) const { return expert >= first && expert < last; }
  bool empty() const { return first == last; }
};

struct Final {
  const char *op;
  const aclTensor *results, *first, *second, *bias, *weights, *index, *experts;
  const aclTensor *x, *alpha, *beta, *constant;  // of V3
  const aclIntArray *zero_range, *copy_range, *constant_range;
  int64_t mode, k;
  const aclTensor *out;
  int version;
  Range zeros, copies, constants;

  bool pads() const { return mode == 1 || mode == 3; }
  bool by_column() const { return mode < 2; }
  int64_t each() const { return weights != nullptr ? weights->shape[1] : k; }
};

// The names of the arguments in the version's prototype.
const char *name_of(const Final &a, const char *first, const char *later) {
  return a.version == 1 ? first : later;
}

void check_dtypes(Check &check, const Final &a) {
  const char *weights = name_of(a, "scales", "scalesOptional");
  check.dtype("expandedX", a.results).dtype("expandedRowIdx", a.index);
  check.dtype(name_of(a, "expandedExpertIdx", "expertIdxOptional"), a.experts);
  check.dtype(weights, a.weights).dtype("out", a.out);
  if (!check.ok()) return;
  const aclDataType dtype = a.results->dtype;
  for (const auto &[name, tensor] :
       {std::pair<const char *, const aclTensor *>{name_of(a, "x1", "x1Optional"), a.first},
        {"x2Optional", a.second},
        {name_of(a, "bias", "biasOptional"), a.bias},
        {"xOptional", a.x},
        {"a1Optional", a.alpha},
        {"a2Optional", a.beta},
        {"vOptional", a.constant},
        {"out", a.out}}) {
    if (tensor != nullptr) check.same_dtype(name, tensor->dtype, "expandedX", dtype);
  }
  if (a.weights == nullptr || a.weights->dtype == dtype) return;
  const bool mixed = a.version > 1 && dtype == ACL_BF16 && a.weights->dtype == ACL_FLOAT;
  check.that(mixed || (a.version > 1 && chip_is_950()),
             "%s has dtype %s; it must have that of expandedX, %s, or FLOAT beside BF16", weights,
             dtype_name(a.weights->dtype), dtype_name(dtype));
}

void check_range(Check &check, const char *name, const aclIntArray *given, Range *range) {
  if (!check.ok() || given == nullptr) return;
  check.that(given->values.size() == 2,
             "%s has %zu values; expected 2, the first expert and the one behind the last", name,
             given->values.size());
  if (!check.ok() || (given->values[0] == -1 && given->values[1] == -1)) return;
  *range = {given->values[0], given->values[1]};
  check.that(range->first >= 0 && range->first < range->last,
             "%s is [%lld, %lld); it must hold an expert and start at 0 or above", name,
             Number{range->first}, Number{range->last});
}

void check_ranges(Check &check, Final &a) {
  check_range(check, "zeroExpertRange", a.zero_range, &a.zeros);
  check_range(check, "copyExpertRange", a.copy_range, &a.copies);
  check_range(check, "constantExpertRange", a.constant_range, &a.constants);
  const auto apart = [](const Range &one, const Range &other) {
    return one.empty() || other.empty() || one.last <= other.first || other.last <= one.first;
  };
  check.that(apart(a.zeros, a.copies) && apart(a.zeros, a.constants),
             "zeroExpertRange is [%lld, %lld) and shares experts with another range",
             Number{a.zeros.first}, Number{a.zeros.last});
  check.that(apart(a.copies, a.constants),
             "copyExpertRange is [%lld, %lld) and shares experts with constantExpertRange",
             Number{a.copies.first}, Number{a.copies.last});
  const bool any = !a.zeros.empty() || !a.copies.empty() || !a.constants.empty();
  check.that(!any || a.experts != nullptr,
             "expertIdxOptional is null; zero, copy and constant experts need it");
  check.that(a.x != nullptr || (a.copies.empty() && a.constants.empty()),
             "xOptional is null; copy and constant experts need it");
  check.that(
      (a.alpha != nullptr && a.beta != nullptr && a.constant != nullptr) || a.constants.empty(),
      "a1Optional, a2Optional or vOptional is null; constant experts need all three");
}

void check_shapes(Check &check, const Final &a) {
  check.rank("out", a.out, 2, 2).rank(name_of(a, "scales", "scalesOptional"), a.weights, 2, 2);
  check.rank("expandedX", a.results, a.pads() ? 3 : 2, a.pads() ? 3 : 2);
  check.rank(name_of(a, "bias", "biasOptional"), a.bias, 2, 2);
  if (!check.ok()) return;
  const int64_t tokens = a.out->shape[0], width = a.out->shape[1], each = a.each();
  const int64_t entries = check.size("expandedRowIdx", Checked(tokens) * each);
  const int64_t pairs[] = {tokens, each}, rows[] = {entries, width};
  check.shape(name_of(a, "scales", "scalesOptional"), a.weights, dense_layout(pairs, 2));
  check.shape("expandedRowIdx", a.index, dense_layout(&entries, 1));
  check.shape(name_of(a, "expandedExpertIdx", "expertIdxOptional"), a.experts,
              dense_layout(pairs, 2));
  if (!a.pads()) check.shape("expandedX", a.results, dense_layout(rows, 2));
  check.that(a.results->shape.back() == width, "expandedX has rows of %lld; out has rows of %lld",
             Number{a.results->shape.back()}, Number{width});
  check.shape(name_of(a, "x1", "x1Optional"), a.first, layout_of(*a.out));
  check.shape("x2Optional", a.second, layout_of(*a.out)).shape("xOptional", a.x, layout_of(*a.out));
  if (a.bias != nullptr) {
    check.that(a.bias->shape[1] == width, "%s has rows of %lld; out has rows of %lld",
               name_of(a, "bias", "biasOptional"), Number{a.bias->shape[1]}, Number{width});
  }
  if (a.constants.empty()) return;
  const int64_t own[] = {a.constants.last - a.constants.first, width};
  check.shape("a1Optional", a.alpha, dense_layout(own, 2));
  check.shape("a2Optional", a.beta, dense_layout(own, 2));
  check.shape("vOptional", a.constant, dense_layout(own, 2));
}

Check &check_final(Check &check, Final &a) {
  check.required("expandedX", a.results).required("expandedRowIdx", a.index);
  if (a.version == 1) {
    check.required("x1", a.first).required("bias", a.bias).required("scales", a.weights);
    check.required("expandedExpertIdx", a.experts);
  } else {
    check.optional("x1Optional", a.first).optional("biasOptional", a.bias);
    check.optional("scalesOptional", a.weights).optional("expertIdxOptional", a.experts);
  }
  check.optional("x2Optional", a.second).optional("xOptional", a.x);
  check.optional("a1Optional", a.alpha).optional("a2Optional", a.beta);
  check.optional("vOptional", a.constant).optional("zeroExpertRange", a.zero_range);
  check.optional("copyExpertRange", a.copy_range);
  check.optional("constantExpertRange", a.constant_range).required("out", a.out);
  check_dtypes(check, a);
  if (a.version > 1) check.tiling();
  check.that(a.mode >= 0 && a.mode <= 3, "dropPadMode is %lld; allowed: 0 to 3", Number{a.mode});
  check.that(a.first != nullptr || a.second == nullptr, "x2Optional is given without x1Optional");
  check.that(a.bias == nullptr || a.experts != nullptr,
             "expertIdxOptional is null; biasOptional needs it");
  check.that(a.k >= 1, "k is %lld; it must be at least 1", Number{a.k});
  check.rank("scalesOptional", a.weights, 2, 2);
  if (check.ok() && a.weights != nullptr) {
    check.that(a.k == 1 || a.k == a.weights->shape[1], "k is %lld; scalesOptional has rows of %lld",
               Number{a.k}, Number{a.weights->shape[1]});
  }
  check_ranges(check, a);
  if (check.ok()) check_shapes(check, a);
  return check;
}

struct FinalKernel {
  size_t results, first, second, bias, weights, index, experts, x, alpha, beta, constant, out;
  int64_t each;
  bool pads, by_column;
  Range zeros, copies, constants;
};

// What entry `at` adds, whose expert is `expert` (-1 where none is named).
Status term_of(const char *op, const FinalKernel &k, int64_t row, int64_t rows, int64_t expert,
               Term *term) {
  term->expert = expert;
  if (k.zeros.has(expert)) return 0;
  if (k.copies.has(expert) || k.constants.has(expert)) {
    term->kind = k.copies.has(expert) ? Term::kCopy : Term::kConstant;
    term->row = expert - k.constants.first;
    return 0;
  }
  if (k.pads && row == -1) return 0;
  if (row < 0 || row >= rows) {
    return fail(kKernelFault, "%s: expandedRowIdx holds %lld; expandedX has %lld rows", op,
                Number{row}, Number{rows});
  }
  term->kind = Term::kRow;
  term->row = row;
  return 0;
}

Status run_final(const char *op, const FinalKernel &k, PlanContext &c) {
  const auto view = [&c](size_t at) { return c.has(at) ? view_of(c.tensor(at)) : View(); };
  const View out = view(k.out), results = view(k.results), bias = view(k.bias);
  const int64_t tokens = out.layout.shape[0];
  int64_t rows = results.layout.shape[0];
  if (k.pads) rows *= results.layout.shape[1];
  const std::vector<int64_t> index = integers(c, k.index), experts = integers(c, k.experts);
  std::vector<Term> terms(index.size());
  for (int64_t i = 0; i < static_cast<int64_t>(terms.size()); ++i) {
    const size_t at = static_cast<size_t>(i);
    const int64_t token = i / k.each, j = i % k.each;
    const int64_t row = index[k.by_column ? static_cast<size_t>(j * tokens + token) : at];
    const int64_t expert = experts.empty() ? -1 : experts[at];
    if (bias.data != nullptr && (expert < 0 || expert >= bias.layout.shape[0])) {
      return fail(kKernelFault, "%s: the experts' indices hold %lld; bias has %lld rows", op,
                  Number{expert}, Number{bias.layout.shape[0]});
    }
    const Status status = term_of(op, k, row, rows, expert, &terms[at]);
    if (status != 0) return status;
  }
  Apart apart;
  const auto safe = [&](size_t at) { return apart.from(view(at), {out}); };
  Combination combination{
      safe(k.results), safe(k.first), safe(k.second), safe(k.bias),     view(k.weights),
      safe(k.x),       safe(k.alpha), safe(k.beta),   safe(k.constant), out};
  combine(combination, terms, k.each);
  return 0;
}

Status plan_final(const Final &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  FinalKernel k{};
  k.results = plan.input(a.results);
  if (a.version > 1) k.index = plan.input(a.index);
  k.first = plan.input(a.first), k.second = plan.input(a.second), k.bias = plan.input(a.bias);
  k.weights = plan.input(a.weights);
  if (a.version == 1) k.index = plan.input(a.index);
  k.experts = plan.input(a.experts);
  if (a.version > 2) {
    k.x = plan.input(a.x), k.alpha = plan.input(a.alpha), k.beta = plan.input(a.beta);
    k.constant = plan.input(a.constant);
  }
  k.out = plan.output(a.out);
  if (a.version <= 2) k.x = k.alpha = k.beta = k.constant = plan.input_if(nullptr);
  k.each = a.each(), k.pads = a.pads(), k.by_column = a.by_column();
  k.zeros = a.zeros, k.copies = a.copies, k.constants = a.constants;
  const auto kept = std::make_shared<const FinalKernel>(k);
  return plan.finish([kept, op = a.op](PlanContext &c) { return run_final(op, *kept, c); },
                     workspace_size, executor);
}

Status finalize(Final &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  if (check_final(check, a).ok()) return plan_final(a, workspace_size, executor);
  return a.version == 2 ? noticed_early(check) : check.status();
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MoeFinalizeRouting,
             (const aclTensor *expandedX, const aclTensor *x1, const aclTensor *x2Optional,
              const aclTensor *bias, const aclTensor *scales, const aclTensor *expandedRowIdx,
              const aclTensor *expandedExpertIdx, aclTensor *out)) {
  emu::Final a{};
  a.op = "aclnnMoeFinalizeRouting", a.version = 1, a.k = 1;
  a.results = expandedX, a.first = x1, a.second = x2Optional, a.bias = bias, a.weights = scales;
  a.index = expandedRowIdx, a.experts = expandedExpertIdx, a.out = out;
  return emu::finalize(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeFinalizeRoutingV2,
             (const aclTensor *expandedX, const aclTensor *expandedRowIdx,
              const aclTensor *x1Optional, const aclTensor *x2Optional,
              const aclTensor *biasOptional, const aclTensor *scalesOptional,
              const aclTensor *expertIdxOptional, int64_t dropPadMode, aclTensor *out)) {
  emu::Final a{};
  a.op = "aclnnMoeFinalizeRoutingV2", a.version = 2, a.k = 1, a.mode = dropPadMode;
  a.results = expandedX, a.index = expandedRowIdx, a.first = x1Optional, a.second = x2Optional;
  a.bias = biasOptional, a.weights = scalesOptional, a.experts = expertIdxOptional, a.out = out;
  return emu::finalize(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeFinalizeRoutingV3,
             (const aclTensor *expandedX, const aclTensor *expandedRowIdx,
              const aclTensor *x1Optional, const aclTensor *x2Optional,
              const aclTensor *biasOptional, const aclTensor *scalesOptional,
              const aclTensor *expertIdxOptional, const aclTensor *xOptional,
              const aclTensor *a1Optional, const aclTensor *a2Optional, const aclTensor *vOptional,
              int64_t dropPadMode, const aclIntArray *zeroExpertRange,
              const aclIntArray *copyExpertRange, const aclIntArray *constantExpertRange,
              aclTensor *out)) {
  emu::Final a{};
  a.op = "aclnnMoeFinalizeRoutingV3", a.version = 3, a.k = 1, a.mode = dropPadMode;
  a.results = expandedX, a.index = expandedRowIdx, a.first = x1Optional, a.second = x2Optional;
  a.bias = biasOptional, a.weights = scalesOptional, a.experts = expertIdxOptional, a.out = out;
  a.x = xOptional, a.alpha = a1Optional, a.beta = a2Optional, a.constant = vOptional;
  a.zero_range = zeroExpertRange, a.copy_range = copyExpertRange;
  a.constant_range = constantExpertRange;
  return emu::finalize(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MoeFinalizeRoutingV4,
             (const aclTensor *expandedX, const aclTensor *expandedRowIdx,
              const aclTensor *x1Optional, const aclTensor *x2Optional,
              const aclTensor *biasOptional, const aclTensor *scalesOptional,
              const aclTensor *expertIdxOptional, const aclTensor *xOptional,
              const aclTensor *a1Optional, const aclTensor *a2Optional, const aclTensor *vOptional,
              int64_t dropPadMode, const aclIntArray *zeroExpertRange,
              const aclIntArray *copyExpertRange, const aclIntArray *constantExpertRange, int64_t k,
              aclTensor *out)) {
  emu::Final a{};
  a.op = "aclnnMoeFinalizeRoutingV4", a.version = 4, a.k = k, a.mode = dropPadMode;
  a.results = expandedX, a.index = expandedRowIdx, a.first = x1Optional, a.second = x2Optional;
  a.bias = biasOptional, a.weights = scalesOptional, a.experts = expertIdxOptional, a.out = out;
  a.x = xOptional, a.alpha = a1Optional, a.beta = a2Optional, a.constant = vOptional;
  a.zero_range = zeroExpertRange, a.copy_range = copyExpertRange;
  a.constant_range = constantExpertRange;
  return emu::finalize(a, workspaceSize, executor);
}
EMU_CATCH
