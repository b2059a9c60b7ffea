// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Zeros and ones: element i is 1 where number `offset + i` of the sequence of the seed is below its
// probability.
#include <algorithm>

#include "aclnnop/random.h"
#include "ops/fill/generate.h"
#include "ops/random/draw.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

// `self` gives dtype and shape; in place it is the result.
Check check_bernoulli(const char *op, const aclTensor *self, const aclTensor *out, int64_t offset) {
  const bool in_place = self == out;
  const char *name = in_place ? "selfRef" : "self";
  Check check(op);
  check.required(name, self);
  if (!in_place) check.required("out", out);
  check.dtype(name, self);
  if (!check.ok()) return check;
  if (!in_place) check.dtype("out", out).same_dtype("out", out->dtype, name, self->dtype);
  check.plain_format(name, self).rank(name, self, 0, 8);
  if (check.ok() && !in_place) check.shape("out", out, layout_of(*self));
  // The documents ask for it on every chip.
  return check.that(offset % 4 == 0, "offset is %lld; it must be a multiple of 4",
                    static_cast<long long>(offset));
}

struct BernoulliCall {
  const char *op;
  const aclTensor *self;
  aclTensor *out;  // `self` itself where the operator works in place
  RandomPlace place;
};

Status plan_bernoulli(const BernoulliCall &call, const aclScalar *prob, uint64_t *workspace_size,
                      aclOpExecutor **executor) {
  Check given(call.op);
  given.required(call.self == call.out ? "selfRef" : "self", call.self).required("prob", prob);
  if (!given.ok()) return given.status();
  Check check =
      check_bernoulli(call.op, call.self, call.out, static_cast<int64_t>(call.place.offset));
  check.dtype("prob", prob);
  if (!check.ok()) return check.status();
  const double bound = prob->to_double();
  check.that(bound >= 0 && bound <= 1, "prob is %g; it must be from 0 to 1", bound);
  if (!check.ok()) return check.status();
  PlanBuilder plan(call.op, KernelTime::linear);
  plan.not_repeatable();
  if (call.self != call.out) plan.unused(call.self);
  const size_t to = plan.output(call.out);
  const RandomPlace place = call.place;
  return plan.finish(
      [=](PlanContext &c) {
        const View out = view_of(c.tensor(to));
        generate_blocks<int32_t>(out, out.count(),
                                 [&](int64_t start, int64_t count, int32_t *block) {
                                   alignas(64) double units[kBlock];
                                   draw_units(part_of(place, start, count), units);
                                   for (int64_t i = 0; i < count; ++i) block[i] = units[i] < bound;
                                 });
        return Status{0};
      },
      workspace_size, executor);
}

// Elements that have no probability are left alone; the documents leave them open.
Status plan_bernoulli_each(const BernoulliCall &call, const aclTensor *prob,
                           uint64_t *workspace_size, aclOpExecutor **executor) {
  Check given(call.op);
  given.required(call.self == call.out ? "selfRef" : "self", call.self).required("prob", prob);
  if (!given.ok()) return given.status();
  Check check =
      check_bernoulli(call.op, call.self, call.out, static_cast<int64_t>(call.place.offset));
  check.dtype("prob", prob).plain_format("prob", prob).rank("prob", prob, 0, 8);
  if (!check.ok()) return check.status();
  PlanBuilder plan(call.op, KernelTime::linear);
  plan.not_repeatable();
  const bool in_place = call.self == call.out;
  const size_t first = in_place ? plan.output(call.out) : plan.unused(call.self);
  const size_t probabilities = plan.input(prob);
  const size_t to = in_place ? first : plan.output(call.out);
  const RandomPlace place = call.place;
  return plan.finish(
      [=](PlanContext &c) {
        const View out = view_of(c.tensor(to));
        Operands operands;
        const View chances = operands.safe(view_of(c.tensor(probabilities)), {out});
        const RowSource<double> bounds(chances);
        generate_blocks<int32_t>(out, std::min(out.count(), chances.count()),
                                 [&](int64_t start, int64_t count, int32_t *block) {
                                   alignas(64) double units[kBlock], bound[kBlock];
                                   draw_units(part_of(place, start, count), units);
                                   bounds.read(start, count, bound);
                                   for (int64_t i = 0; i < count; ++i)
                                     block[i] = units[i] < bound[i];
                                 });
        return Status{0};
      },
      workspace_size, executor);
}

RandomPlace bernoulli_place(int64_t seed, int64_t offset) {
  return {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Bernoulli, (const aclTensor *self, const aclScalar *prob, int64_t seed, int64_t offset,
                         aclTensor *out)) {
  return emu::plan_bernoulli({"aclnnBernoulli", self, out, emu::bernoulli_place(seed, offset)},
                             prob, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceBernoulli,
             (aclTensor *selfRef, const aclScalar *prob, int64_t seed, int64_t offset)) {
  return emu::plan_bernoulli(
      {"aclnnInplaceBernoulli", selfRef, selfRef, emu::bernoulli_place(seed, offset)}, prob,
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BernoulliTensor, (const aclTensor *self, const aclTensor *prob, int64_t seed,
                               int64_t offset, aclTensor *out)) {
  return emu::plan_bernoulli_each(
      {"aclnnBernoulliTensor", self, out, emu::bernoulli_place(seed, offset)}, prob, workspaceSize,
      executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceBernoulliTensor,
             (aclTensor *selfRef, const aclTensor *prob, int64_t seed, int64_t offset)) {
  return emu::plan_bernoulli_each(
      {"aclnnInplaceBernoulliTensor", selfRef, selfRef, emu::bernoulli_place(seed, offset)}, prob,
      workspaceSize, executor);
}
EMU_CATCH
