// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The rectifier with a random slope below 0. Slope i is number `offset + i` of the sequence of the
// seed, as InplaceUniform draws it. Without training the slope is the middle of the range, and the
// noise stays as it is.
#include <vector>

#include "aclnnop/activation.h"
#include "ops/random/draw.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

struct RReluArguments {
  const char *op;
  const char *self_name;
  const aclTensor *self;
  aclTensor *noise;
  const aclScalar *lower, *upper;
  bool training;
  RandomPlace place;
  aclTensor *out;  // null: in place
};

Check check_rrelu(const RReluArguments &a) {
  Check check(a.op);
  check.required(a.self_name, a.self).required("noiseRef", a.noise);
  check.required("lower", a.lower).required("upper", a.upper);
  if (a.out != nullptr) check.required("out", a.out);
  check.dtype(a.self_name, a.self).dtype("noiseRef", a.noise);
  check.dtype("out", a.out);
  if (!check.ok()) return check;
  check.dtype_in("lower", a.lower->dtype, dt::kFloating);
  check.dtype_in("upper", a.upper->dtype, dt::kFloating);
  check.same_dtype("noiseRef", a.noise->dtype, a.self_name, a.self->dtype);
  if (a.out != nullptr) check.same_dtype("out", a.out->dtype, a.self_name, a.self->dtype);
  check.rank(a.self_name, a.self, 0, 8).rank("noiseRef", a.noise, 0, 8);
  check.shape("out", a.out, layout_of(*a.self));
  if (!check.ok()) return check;
  check.that(a.noise->numel() >= a.self->numel(), "noiseRef has %lld elements; %s has %lld",
             static_cast<long long>(a.noise->numel()), a.self_name,
             static_cast<long long>(a.self->numel()));
  const double lower = a.lower->to_double(), upper = a.upper->to_double();
  check.that(lower <= upper, "lower is %g and upper is %g; lower must not be greater", lower,
             upper);
  return check;
}

// Reads `x`, which may be `out`; the noise is written for as many elements as x has.
void bend_randomly(const View &x, const View &noise, const View &out, double lower, double upper,
                   const RandomPlace &place) {
  const int64_t total = x.count();
  std::vector<char> memory(static_cast<size_t>(total * item_size(x.dtype)));
  View drawn{memory.data(), x.dtype, dense_layout(&total, 1)};
  fill_uniform(drawn, lower, upper, place);
  const RowSource<float> values(x), slopes(drawn);
  const RowTarget<float> kept(noise), target(out);
  parallel_for((total + kBlock - 1) / kBlock, 16, [&](int64_t begin, int64_t end) {
    float v[kBlock], slope[kBlock];
    for (int64_t block = begin; block < end; ++block) {
      const int64_t start = block * kBlock, n = std::min(kBlock, total - start);
      values.read(start, n, v);
      slopes.read(start, n, slope);
      for (int64_t i = 0; i < n; ++i) {
        if (!(v[i] < 0)) slope[i] = 1.0f;  // of 0 and NaN too
        v[i] *= slope[i];
      }
      kept.write(start, n, slope);
      target.write(start, n, v);
    }
  });
}

void bend(const View &x, const View &out, float slope) {
  const int64_t total = x.count();
  const RowSource<float> values(x);
  const RowTarget<float> target(out);
  parallel_for((total + kBlock - 1) / kBlock, 16, [&](int64_t begin, int64_t end) {
    float v[kBlock];
    for (int64_t block = begin; block < end; ++block) {
      const int64_t start = block * kBlock, n = std::min(kBlock, total - start);
      values.read(start, n, v);
      for (int64_t i = 0; i < n; ++i) v[i] = v[i] > 0 ? v[i] : v[i] * slope;
      target.write(start, n, v);
    }
  });
}

Status plan_rrelu(const RReluArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const Check check = check_rrelu(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  // CANN makes no executor with a random step repeatable.
  if (a.training) plan.not_repeatable();
  const size_t from = a.out == nullptr ? plan.in_place(a.self) : plan.input(a.self);
  const size_t noise = a.training ? plan.in_place(a.noise) : plan.unused(a.noise);
  const size_t to = a.out == nullptr ? from : plan.output(a.out);
  const double lower = a.lower->to_double(), upper = a.upper->to_double();
  return plan.finish(
      [=, training = a.training, place = a.place](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        Operands operands;
        if (!training) {
          bend(operands.safe(view_of(c.tensor(from)), {result}), result,
               static_cast<float>(0.5 * (lower + upper)));
          return Status{0};
        }
        const View kept = view_of(c.tensor(noise));
        bend_randomly(operands.safe(view_of(c.tensor(from)), {result, kept}), kept, result, lower,
                      upper, place);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RReluWithNoise, (const aclTensor *self, aclTensor *noiseRef, const aclScalar *lower,
                              const aclScalar *upper, bool training, int64_t seed, int64_t offset,
                              aclTensor *out)) {
  if (out == nullptr) {
    emu::Check check("aclnnRReluWithNoise");
    return check.required("self", self)
        .required("noiseRef", noiseRef)
        .required("out", out)
        .status();
  }
  return emu::plan_rrelu({"aclnnRReluWithNoise",
                          "self",
                          self,
                          noiseRef,
                          lower,
                          upper,
                          training,
                          {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)},
                          out},
                         workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceRReluWithNoise,
             (aclTensor *selfRef, aclTensor *noiseRef, const aclScalar *lower,
              const aclScalar *upper, bool training, int64_t seed, int64_t offset)) {
  return emu::plan_rrelu({"aclnnInplaceRReluWithNoise",
                          "selfRef",
                          selfRef,
                          noiseRef,
                          lower,
                          upper,
                          training,
                          {static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)},
                          nullptr},
                         workspaceSize, executor);
}
EMU_CATCH
