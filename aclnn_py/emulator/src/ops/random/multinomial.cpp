// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Indices drawn from rows of weights. With replacement, result i is found by number `offset + i` of
// the sequence of the seed. Without, weight i gets an exponential number made of number
// `offset + i`, and the weights whose number divided by the weight is least are drawn, in order.
// Where the chip draws with its vector cores, one result with replacement is drawn as without, and
// the rows of a 910B share their numbers: result i of every row is found by number `offset + i`.
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

#include "aclnnop/random.h"
#include "core/per_thread.h"
#include "ops/random/draw.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostWeights = int64_t{1} << 24;
constexpr int64_t kMostOnAicpu = 5000;  // elements of self that a 910B draws from on AICPU

bool on_vector_cores(const aclTensor &self) {
  return chip_is_950() ? self.dtype != ACL_DOUBLE : self.numel() > kMostOnAicpu;
}

struct MultinomialArguments {
  const char *op;
  const aclTensor *self;
  int64_t samples;
  bool replacement;
  RandomPlace place;
  const aclTensor *seed, *offset;  // null: the place is given by numbers
  const aclTensor *out;
};

void check_multinomial(Check &check, const MultinomialArguments &a) {
  check.rank("self", a.self, 1, 2);
  if (!check.ok()) return;
  const int rank = static_cast<int>(a.self->rank());
  const int64_t weights = a.self->shape[static_cast<size_t>(rank) - 1];
  const auto number = [](int64_t value) { return static_cast<long long>(value); };
  check.rank("out", a.out, rank, rank);
  check.that(a.samples > 0, "numsamples is %lld; it must be positive", number(a.samples));
  check.that(a.replacement || a.samples <= weights,
             "numsamples is %lld; without replacement self allows 1 to %lld", number(a.samples),
             number(weights));
  check.that(weights > 0 && weights <= kMostWeights,
             "self has rows of %lld weights; allowed: 1 to %lld", number(weights),
             number(kMostWeights));
  if (!check.ok()) return;
  Layout expected = layout_of(*a.self);
  expected.shape[rank - 1] = a.samples;
  check.shape("out", a.out, expected);
}

// Whether the weights can be drawn from. With `cumulated` they become their cumulative sums.
template <bool cumulated>
bool usable(double *weights, int64_t count) {
  double sum = 0;
  bool fine = true;
  for (int64_t i = 0; i < count; ++i) {
    fine &= weights[i] >= 0;
    sum += weights[i];
    if constexpr (cumulated) weights[i] = sum;
  }
  return fine && sum > 0 && sum < std::numeric_limits<double>::infinity();
}

// False where the weights cannot be drawn from; they become their cumulative sums.
bool draw_again(double *weights, int64_t count, int64_t samples, const RandomPlace &place,
                int64_t first, int64_t *drawn) {
  int64_t last = count - 1;
  while (last > 0 && !(weights[last] > 0)) --last;
  if (!usable<true>(weights, count)) return false;
  for (int64_t i = 0; i < samples; ++i) {
    const double unit = random_unit(place, static_cast<uint64_t>(first + i));
    const double *found = std::upper_bound(weights, weights + count, unit * weights[count - 1]);
    // Rounding can reach the sum itself.
    drawn[i] = std::min<int64_t>(found - weights, last);
  }
  return true;
}

// `weights` become times: a weight is drawn when its time comes. Those of 0 come last.
bool draw_once(double *weights, int64_t count, int64_t samples, const RandomPlace &place,
               int64_t first, int64_t *order) {
  if (!usable<false>(weights, count)) return false;
  for (int64_t i = 0; i < count; ++i) {
    const double time = exponential(random_unit(place, static_cast<uint64_t>(first + i)));
    weights[i] = weights[i] > 0 ? time / weights[i] : std::numeric_limits<double>::infinity();
  }
  std::iota(order, order + count, int64_t{0});
  std::partial_sort(order, order + samples, order + count, [&](int64_t a, int64_t b) {
    return weights[a] < weights[b] || (weights[a] == weights[b] && a < b);
  });
  return true;
}

Status plan_multinomial(const MultinomialArguments &a, Check &check, uint64_t *workspace_size,
                        aclOpExecutor **executor) {
  check_multinomial(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  plan.not_repeatable();
  const size_t input = plan.input(a.self), seed = plan.input_if(a.seed),
               offset = plan.input_if(a.offset), output = plan.output(a.out);
  const int64_t width = a.self->shape.back(), rows = a.self->numel() / width;
  const int64_t samples = a.samples;
  const bool fast = on_vector_cores(*a.self);
  const bool replacement = a.replacement && !(fast && samples == 1);
  const int64_t step = !replacement ? width : fast && !chip_is_950() ? 0 : samples;
  const RandomPlace start = a.place;
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        const RandomPlace place = place_in(c, start, seed, offset);
        Operands operands;
        const View result = view_of(c.tensor(output));
        const RowSource<double> from(operands.safe(view_of(c.tensor(input)), {result}));
        const RowTarget<int64_t> to(result);
        std::atomic<int64_t> unusable{-1};
        for_each_row<double>(rows, width, 1, [&](int64_t row, double *weights) {
          auto &drawn = PerThread<std::vector<int64_t>, MultinomialArguments>::get();
          drawn.resize(static_cast<size_t>(std::max(width, samples)));
          from.read(row * width, width, weights);
          const auto draw = replacement ? draw_again : draw_once;
          if (draw(weights, width, samples, place, row * step, drawn.data()))
            to.write(row * samples, samples, drawn.data());
          else unusable = row;
        });
        if (unusable < 0) return Status{0};
        return fail(kKernelFault,
                    "%s: row %lld of self has a weight that is negative or not finite, or has no "
                    "positive weight; weights must be 0 or more, and their sum positive",
                    op, static_cast<long long>(unusable));
      },
      workspace_size, executor);
}

Check check_tensors(const char *op, const aclTensor *self, const aclTensor *out) {
  Check check(op);
  check.required("self", self).required("out", out);
  check.dtype("self", self).dtype("out", out);
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Multinomial, (const aclTensor *self, int64_t numsamples, bool replacement,
                           int64_t seed, int64_t offset, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnMultinomial";
  Check check = check_tensors(op, self, out);
  check_offset(check, offset);
  const RandomPlace place{static_cast<uint64_t>(seed), static_cast<uint64_t>(offset)};
  return plan_multinomial({op, self, numsamples, replacement, place, nullptr, nullptr, out}, check,
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MultinomialTensor, (const aclTensor *self, int64_t numsamples, bool replacement,
                                 const aclTensor *seedTensor, const aclTensor *offsetTensor,
                                 int64_t offset, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnMultinomialTensor";
  Check check(op);
  check.required("self", self).required("out", out);
  check.required("seedTensor", seedTensor).required("offsetTensor", offsetTensor);
  check.dtype("self", self, chip_is_950() ? dt::kDouble : 0).dtype("out", out);
  check_place(check, seedTensor, offsetTensor);
  const RandomPlace place{0, static_cast<uint64_t>(offset)};
  return plan_multinomial({op, self, numsamples, replacement, place, seedTensor, offsetTensor, out},
                          check, workspaceSize, executor);
}
EMU_CATCH
