// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The negative log likelihood of a class for each position, with weights of classes and a class
// that does not count; its sum or weighted mean, and its gradient.
#include "aclnnop/loss.h"
#include "core/chip.h"
#include "core/pool.h"
#include "ops/index/addresses.h"
#include "ops/loss/reduction.h"
#include "ops/shared/rows.h"

#include <cstring>

namespace emu {
namespace {

constexpr int64_t kGrain = 4096;

// Classes of self: dimension 0 of (classes), else dimension 1. The target has the other dimensions.
int class_axis(const Layout &self) { return self.rank == 1 ? 0 : 1; }

Layout without_classes(const Layout &self) {
  Layout rest;
  for (int d = 0; d < self.rank; ++d) {
    if (d != class_axis(self)) rest.push(self.shape[d], self.stride[d]);
  }
  return rest;
}

// What both directions need of the target: a class per position, -1 where it does not count, and
// its weight.
struct Classes {
  std::vector<int64_t> chosen;
  std::vector<float> weights;

  Classes(const View &target, const View &weight, int64_t ignored, int64_t count,
          IndexFault &fault) {
    chosen.resize(static_cast<size_t>(target.count()));
    weights.resize(chosen.size());
    RowSource<int64_t>(target).read(0, target.count(), chosen.data());
    std::vector<float> all(static_cast<size_t>(count));
    RowSource<float>(weight).read(0, count, all.data());
    for (size_t i = 0; i < chosen.size(); ++i) {
      int64_t &one = chosen[i];
      if (one == ignored) {
        one = -1;
      } else if (one < 0 || one >= count) {
        fault.report(one, count);
        one = -1;
      } else {
        weights[i] = all[static_cast<size_t>(one)];
      }
    }
  }
};

// Calls body(position, address of its chosen element) for every position that counts.
template <class F>
void for_each_chosen(const Classes &classes, const View &scores, F body) {
  const Layout &whole = scores.layout;
  const Layout places = without_classes(whole);
  const int64_t step = whole.stride[class_axis(whole)];
  const int64_t size = item_size(scores.dtype);
  parallel_for(static_cast<int64_t>(classes.chosen.size()), kGrain,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t one = classes.chosen[static_cast<size_t>(i)];
                   if (one < 0) continue;
                   int64_t rest = i, offset = one * step;
                   for (int d = places.rank - 1; d >= 0; --d) {
                     offset += rest % places.shape[d] * places.stride[d];
                     rest /= places.shape[d];
                   }
                   body(static_cast<size_t>(i), scores.data + offset * size);
                 }
               });
}

// Rows of classes, each but for its chosen element 0. A block of rows is cleared at once, which
// costs less than row by row, and its elements are set while it is in a near cache.
template <class F>
void set_rows(const Classes &classes, const View &to, F value_of) {
  constexpr int64_t kCleared = 1 << 16;  // bytes
  const auto rows = static_cast<int64_t>(classes.chosen.size());
  if (rows == 0) return;
  const int64_t width = to.count() / rows, size = width * int64_t{sizeof(float)};
  const int64_t block = std::max<int64_t>(1, kCleared / std::max<int64_t>(1, size));
  parallel_for(rows, 4 * block, [&](int64_t begin, int64_t end) {
    for (int64_t start = begin; start < end; start += block) {
      const int64_t stop = std::min(end, start + block);
      float *row = reinterpret_cast<float *>(to.data) + start * width;
      std::memset(row, 0, static_cast<size_t>((stop - start) * size));
      for (int64_t i = start; i < stop; ++i, row += width) {
        const int64_t one = classes.chosen[static_cast<size_t>(i)];
        if (one >= 0) row[one] = value_of(static_cast<size_t>(i));
      }
    }
  });
}

Check &shapes_fit(Check &check, const aclTensor *self, const aclTensor *target,
                  const aclTensor *weight, bool flat) {
  const Layout given = layout_of(*self);
  if (flat) check.rank("self", self, 1, 2);
  else check.rank("self", self, 4, 4);
  if (!check.ok()) return check;
  Layout classes;
  classes.push(given.shape[class_axis(given)], 1);
  return check.shape("target", target, without_classes(given)).shape("weight", weight, classes);
}

// One loss per position, or one element.
Check &losses_fit(Check &check, const char *name, const aclTensor *losses, const aclTensor *target,
                  int64_t reduction) {
  if (reduction == kNone && target->rank() > 0)
    return check.shape(name, losses, layout_of(*target));
  return check.shape_or_one_element(name, losses, Layout());
}

struct Forward {
  const char *op;
  const aclTensor *self, *target, *weight;
  int64_t reduction, ignored;
  aclTensor *out, *total;
};

Status plan_forward(const Forward &a, bool flat, uint64_t *workspace_size,
                    aclOpExecutor **executor) {
  Check check(a.op);
  check.required("self", a.self)
      .required("target", a.target)
      .required("weight", a.weight)
      .required("out", a.out)
      .required("totalWeightOut", a.total);
  if (!check.ok()) return check.status();
  check.dtype("self", a.self).dtype("target", a.target).dtype("weight", a.weight);
  check.dtype("out", a.out).dtype("totalWeightOut", a.total);
  check.same_dtype("weight", a.weight->dtype, "self", a.self->dtype);
  reduction_known(check, a.reduction);
  if (!check.ok()) return check.status();
  shapes_fit(check, a.self, a.target, a.weight, flat);
  losses_fit(check, "out", a.out, a.target, a.reduction);
  check.shape_or_one_element("totalWeightOut", a.total, Layout());
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t scores = plan.input(a.self), target = plan.input(a.target),
               weight = plan.input(a.weight), out = plan.output(a.out),
               total = plan.output(a.total);
  return plan.finish(
      [=, op = a.op, reduction = a.reduction, ignored = a.ignored](PlanContext &c) {
        IndexFault fault;
        const View x = view_of(c.tensor(scores));
        const Classes classes(view_of(c.tensor(target)), view_of(c.tensor(weight)), ignored,
                              x.layout.shape[class_axis(x.layout)], fault);
        std::vector<float> losses(classes.chosen.size());
        for_each_chosen(classes, x, [&](size_t i, const char *element) {
          float score = 0;
          load_as(x.dtype, element, 0, 1, x.dtype, &score);
          losses[i] = -classes.weights[i] * score;
        });
        if (fault.found) return fault.status(op, "target");
        double sum = 0, weights = 0;
        for (size_t i = 0; i < losses.size(); ++i) {
          sum += static_cast<double>(losses[i]);
          weights += static_cast<double>(classes.weights[i]);
        }
        const View result = view_of(c.tensor(out)), whole = view_of(c.tensor(total));
        if (reduction == kNone) {
          RowTarget<float>(result).write(0, result.count(), losses.data());
          weights = 0;
        } else {
          // The kernel of a 950 gives one ignored position the loss 0; other means of nothing are
          // NaN.
          const bool alone = x.layout.rank == 1 && classes.chosen[0] < 0 && chip_is_950();
          if (reduction == kMean && !alone) sum /= weights;
          store_as(result.dtype, result.data, 0, 1, Compute::F64, &sum);
        }
        store_as(whole.dtype, whole.data, 0, 1, Compute::F64, &weights);
        return Status{0};
      },
      workspace_size, executor);
}

struct Backward {
  const char *op;
  const aclTensor *gradient, *self, *target, *weight;
  int64_t reduction, ignored;
  const aclTensor *total;
  aclTensor *out;
};

Status plan_backward(const Backward &a, bool flat, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  Check check(a.op);
  check.required("gradOutput", a.gradient)
      .required("self", a.self)
      .required("target", a.target)
      .required("weight", a.weight)
      .required("totalWeight", a.total)
      .required("out", a.out);
  if (!check.ok()) return check.status();
  check.dtype("gradOutput", a.gradient).dtype("self", a.self).dtype("target", a.target);
  check.dtype("weight", a.weight).dtype("totalWeight", a.total).dtype("out", a.out);
  check.same_dtype("weight", a.weight->dtype, "self", a.self->dtype)
      .same_dtype("gradOutput", a.gradient->dtype, "self", a.self->dtype)
      .same_dtype("totalWeight", a.total->dtype, "self", a.self->dtype);
  if (!flat) check.same_dtype("out", a.out->dtype, "self", a.self->dtype);
  reduction_known(check, a.reduction);
  if (!check.ok()) return check.status();
  shapes_fit(check, a.self, a.target, a.weight, flat);
  losses_fit(check, "gradOutput", a.gradient, a.target, a.reduction);
  check.shape_or_one_element("totalWeight", a.total, Layout())
      .shape("out", a.out, layout_of(*a.self));
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t gradient = plan.input(a.gradient);
  plan.input(a.self);
  const size_t target = plan.input(a.target), weight = plan.input(a.weight),
               total = plan.input(a.total), out = plan.output(a.out);
  return plan.finish(
      [=, op = a.op, reduction = a.reduction, ignored = a.ignored](PlanContext &c) {
        IndexFault fault;
        const View to = view_of(c.tensor(out)), incoming = view_of(c.tensor(gradient));
        const Classes classes(view_of(c.tensor(target)), view_of(c.tensor(weight)), ignored,
                              to.layout.shape[class_axis(to.layout)], fault);
        if (fault.found) return fault.status(op, "target");
        std::vector<float> gradients(static_cast<size_t>(incoming.count()));
        RowSource<float>(incoming).read(0, incoming.count(), gradients.data());
        float divisor = 1;
        if (reduction == kMean) RowSource<float>(view_of(c.tensor(total))).read(0, 1, &divisor);
        const auto slope_of = [&](size_t i) {
          const float g = gradients[gradients.size() == 1 ? 0 : i];
          return -g * classes.weights[i] / divisor;
        };
        if (flat && to.dtype == ACL_FLOAT && to.layout.is_dense()) {
          set_rows(classes, to, slope_of);
          return Status{0};
        }
        static constexpr char kZero[16] = {};
        fill_view(to, kZero);
        for_each_chosen(classes, to, [&](size_t i, char *element) {
          const float slope = slope_of(i);
          store_as(to.dtype, element, 0, 1, Compute::F32, &slope);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(NLLLoss,
             (const aclTensor *self, const aclTensor *target, const aclTensor *weight,
              int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut)) {
  return emu::plan_forward(
      {"aclnnNLLLoss", self, target, weight, reduction, ignoreIndex, out, totalWeightOut}, true,
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NLLLoss2d,
             (const aclTensor *self, const aclTensor *target, const aclTensor *weight,
              int64_t reduction, int64_t ignoreIndex, aclTensor *out, aclTensor *totalWeightOut)) {
  return emu::plan_forward(
      {"aclnnNLLLoss2d", self, target, weight, reduction, ignoreIndex, out, totalWeightOut}, false,
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NLLLossBackward, (const aclTensor *gradOutput, const aclTensor *self,
                               const aclTensor *target, const aclTensor *weight, int64_t reduction,
                               int64_t ignoreIndex, const aclTensor *totalWeight, aclTensor *out)) {
  return emu::plan_backward({"aclnnNLLLossBackward", gradOutput, self, target, weight, reduction,
                             ignoreIndex, totalWeight, out},
                            true, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NLLLoss2dBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *target,
              const aclTensor *weight, int64_t reduction, int64_t ignoreIndex,
              const aclTensor *totalWeight, aclTensor *out)) {
  return emu::plan_backward({"aclnnNLLLoss2dBackward", gradOutput, self, target, weight, reduction,
                             ignoreIndex, totalWeight, out},
                            false, workspaceSize, executor);
}
EMU_CATCH
