// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Optimizers of the Adam family for one tensor.
#include "aclnnop/optim.h"
#include "ops/optim/update.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

struct Given {
  const char *name;
  const aclTensor *tensor;
};

Check &require(Check &check, std::initializer_list<Given> tensors) {
  for (const Given &given : tensors) check.required(given.name, given.tensor);
  return check;
}

// Of the dtypes of the facts, of one dtype and one shape, that of the first.
void check_alike(Check &check, std::initializer_list<Given> tensors) {
  const Given first = *tensors.begin();
  for (const Given &given : tensors) check.dtype(given.name, given.tensor);
  check.rank(first.name, first.tensor, 1, 8);
  for (const Given &given : tensors) {
    if (!check.ok()) return;
    check.same_dtype(given.name, given.tensor->dtype, first.name, first.tensor->dtype);
  }
}

void check_shapes_alike(Check &check, std::initializer_list<Given> tensors) {
  for (const Given &given : tensors) {
    if (!check.ok()) return;
    check.shape(given.name, given.tensor, layout_of(*tensors.begin()->tensor));
  }
}

void check_numbers(Check &check, std::initializer_list<Given> tensors) {
  for (const Given &given : tensors) {
    check.dtype(given.name, given.tensor);
    if (!check.ok()) return;
    check.that(given.tensor->numel() == 1, "%s has shape %s; expected one element", given.name,
               shape_text(layout_of(*given.tensor)).c_str());
  }
}

// --- AdamW, version 2

struct AdamW2 {
  aclTensor *var, *m, *v, *largest;
  const aclTensor *grad, *step;
  bool amsgrad;
};

// A kernel exists for one dtype, and for moments and variables of float32 beside halves.
Check check_adamw2(const AdamW2 &a) {
  Check check("aclnnApplyAdamWV2");
  require(check, {{"varRef", a.var}, {"mRef", a.m}, {"vRef", a.v}});
  if (a.amsgrad) check.required("maxGradNormOptionalRef", a.largest);
  else check.optional("maxGradNormOptionalRef", a.largest);
  require(check, {{"grad", a.grad}, {"step", a.step}});
  for (const Given &given : {Given{"varRef", a.var},
                             {"mRef", a.m},
                             {"vRef", a.v},
                             {"maxGradNormOptionalRef", a.largest},
                             {"grad", a.grad}})
    check.dtype(given.name, given.tensor);
  check_numbers(check, {{"step", a.step}});
  check.rank("varRef", a.var, 1, 8);
  if (!check.ok()) return check;
  check_shapes_alike(check, {{"varRef", a.var}, {"mRef", a.m}, {"vRef", a.v}, {"grad", a.grad}});
  if (a.amsgrad)
    check_shapes_alike(check, {{"varRef", a.var}, {"maxGradNormOptionalRef", a.largest}});
  return check;
}

Status find_adamw2_kernel(const AdamW2 &a) {
  const aclDataType own = a.var->dtype;
  const bool moments = a.m->dtype == own && a.v->dtype == own;
  const bool grads = a.grad->dtype == own || own == ACL_FLOAT;
  const bool largest = a.largest == nullptr || a.largest->dtype == a.grad->dtype;
  if (moments && grads && largest) return 0;
  return fail(
      kInnerNull,
      "aclnnApplyAdamWV2: no kernel for varRef of %s, mRef of %s, vRef of %s and grad of "
      "%s; mRef and vRef need the dtype of varRef, grad that dtype or one of 16 bits beside "
      "FLOAT, maxGradNormOptionalRef that of grad",
      dtype_name(own), dtype_name(a.m->dtype), dtype_name(a.v->dtype), dtype_name(a.grad->dtype));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ApplyAdamWV2, (aclTensor *varRef, aclTensor *mRef, aclTensor *vRef,
                            aclTensor *maxGradNormOptionalRef, const aclTensor *grad,
                            const aclTensor *step, float lr, float beta1, float beta2,
                            float weightDecay, float eps, bool amsgrad, bool maximize)) {
  using namespace emu;
  const AdamW2 given{varRef, mRef, vRef, maxGradNormOptionalRef, grad, step, amsgrad};
  const Check check = check_adamw2(given);
  if (!check.ok()) return check.status();
  if (const Status s = find_adamw2_kernel(given)) return s;
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t var = plan.in_place(varRef), m = plan.in_place(mRef), v = plan.in_place(vRef);
  const size_t largest =
      amsgrad ? plan.in_place(maxGradNormOptionalRef) : plan.unused(maxGradNormOptionalRef);
  const size_t g = plan.input(grad), t = plan.input(step);
  const AdamwNumbers numbers{lr, beta1, beta2, weightDecay, eps, maximize};
  const int64_t elements = varRef->numel();
  return plan.finish(
      [=](PlanContext &c) {
        const AdamwStep one(numbers, number_in(c, t) + 1);  // steps taken before this one
        const UpdatedTensor tensors[] = {updated(c, var, true), updated(c, m, true),
                                         updated(c, v, true), updated(c, largest, true),
                                         updated(c, g, false)};
        update_elements(tensors, elements,
                        [&](float **x, int64_t n) { one.run(x[0], x[1], x[2], x[3], x[4], n); });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// With amsgrad the largest second moment is kept in vRef.
EMU_OPERATOR(ApplyAdamW, (aclTensor *varRef, aclTensor *mRef, aclTensor *vRef,
                          const aclTensor *beta1Power, const aclTensor *beta2Power,
                          const aclTensor *lr, const aclTensor *weightDecay, const aclTensor *beta1,
                          const aclTensor *beta2, const aclTensor *eps, const aclTensor *grad,
                          const aclTensor *maxGradNormOptional, bool amsgrad, bool maximize)) {
  using namespace emu;
  Check check("aclnnApplyAdamW");
  const std::initializer_list<Given> numbers = {{"beta1Power", beta1Power},
                                                {"beta2Power", beta2Power},
                                                {"lr", lr},
                                                {"weightDecay", weightDecay},
                                                {"beta1", beta1},
                                                {"beta2", beta2},
                                                {"eps", eps}};
  require(check, {{"varRef", varRef}, {"mRef", mRef}, {"vRef", vRef}});
  require(check, numbers).required("grad", grad);
  if (amsgrad) check.required("maxGradNormOptional", maxGradNormOptional);
  else check.optional("maxGradNormOptional", maxGradNormOptional);
  if (const Status s = check_chip(check, kInvalid)) return s;
  check_alike(check, {{"varRef", varRef}, {"mRef", mRef}, {"vRef", vRef}, {"grad", grad}});
  check_numbers(check, numbers);
  check.dtype("maxGradNormOptional", maxGradNormOptional);
  for (const Given &number : numbers) {
    if (check.ok()) check.same_dtype(number.name, number.tensor->dtype, "varRef", varRef->dtype);
  }
  if (check.ok() && maxGradNormOptional != nullptr)
    check.same_dtype("maxGradNormOptional", maxGradNormOptional->dtype, "varRef", varRef->dtype);
  check_shapes_alike(check, {{"varRef", varRef}, {"mRef", mRef}, {"vRef", vRef}, {"grad", grad}});
  if (check.ok() && amsgrad)
    check.shape("maxGradNormOptional", maxGradNormOptional, layout_of(*varRef));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t var = plan.in_place(varRef), m = plan.in_place(mRef), v = plan.in_place(vRef);
  const size_t first = plan.input(beta1Power);
  for (const Given &number : numbers) {
    if (number.tensor != beta1Power) plan.input(number.tensor);
  }
  const size_t g = plan.input(grad);
  const size_t largest =
      amsgrad ? plan.input(maxGradNormOptional) : plan.unused(maxGradNormOptional);
  const int64_t elements = varRef->numel();
  return plan.finish(
      [=](PlanContext &c) {
        const auto number = [&](size_t place) { return number_in(c, first + place); };
        const AdamwNumbers given{number(2), number(4), number(5), number(3), number(6), maximize};
        const AdamwStep one(given, number(0) * given.beta1, number(1) * given.beta2);
        const UpdatedTensor tensors[] = {updated(c, var, true), updated(c, m, true),
                                         updated(c, v, true), updated(c, largest, false),
                                         updated(c, g, false)};
        update_elements(tensors, elements, [&](float **x, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            one.moments(x[4][i], x[1] + i, x[2] + i);
            if (x[3] != nullptr) x[2][i] = std::max(x[3][i], x[2][i]);
            x[0][i] = one.moved(x[0][i], x[1][i], x[2][i]);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// The moments are read and not written.
EMU_OPERATOR(ApplyAdam, (aclTensor *varRef, const aclTensor *m, const aclTensor *v,
                         const aclTensor *beta1Power, const aclTensor *beta2Power,
                         const aclTensor *lr, const aclTensor *beta1, const aclTensor *beta2,
                         const aclTensor *epsilon, const aclTensor *grad, bool, bool useNesterov)) {
  using namespace emu;
  Check check("aclnnApplyAdam");
  const std::initializer_list<Given> numbers = {
      {"beta1Power", beta1Power}, {"beta2Power", beta2Power}, {"lr", lr},
      {"beta1", beta1},           {"beta2", beta2},           {"epsilon", epsilon}};
  require(check, {{"varRef", varRef}, {"m", m}, {"v", v}});
  require(check, numbers).required("grad", grad);
  if (const Status s = check_chip(check, kInvalid)) return s;
  check_alike(check, {{"varRef", varRef}, {"m", m}, {"v", v}, {"grad", grad}});
  check_numbers(check, numbers);
  check_shapes_alike(check, {{"varRef", varRef}, {"m", m}, {"v", v}, {"grad", grad}});
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t var = plan.in_place(varRef), first = plan.input(m), second = plan.input(v);
  size_t places[6], place = 0;
  for (const Given &number : numbers) places[place++] = plan.input(number.tensor);
  const size_t g = plan.input(grad), begin = places[0];
  const int64_t elements = varRef->numel();
  return plan.finish(
      [=](PlanContext &c) {
        const auto number = [&](size_t at) { return number_in(c, begin + at); };
        const double b1 = number(3), b2 = number(4);
        const auto rate =
            static_cast<float>(number(2) * std::sqrt(1 - number(1)) / (1 - number(0)));
        const auto eps = static_cast<float>(number(5));
        const auto keep1 = static_cast<float>(b1), rest1 = static_cast<float>(1 - b1);
        const auto keep2 = static_cast<float>(b2), rest2 = static_cast<float>(1 - b2);
        const UpdatedTensor tensors[] = {updated(c, var, true), updated(c, first, false),
                                         updated(c, second, false), updated(c, g, false)};
        update_elements(tensors, elements, [&](float **x, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            const float grads = x[3][i];
            const float mean = keep1 * x[1][i] + rest1 * grads;
            const float square = keep2 * x[2][i] + rest2 * grads * grads;
            const float ahead = useNesterov ? keep1 * mean + rest1 * grads : mean;
            x[0][i] -= rate * ahead / (std::sqrt(square) + eps);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ApplyFusedEmaAdam,
             (const aclTensor *grad, aclTensor *varRef, aclTensor *mRef, aclTensor *vRef,
              aclTensor *sRef, const aclTensor *step, double lr, double emaDecay, double beta1,
              double beta2, double eps, int64_t mode, bool biasCorrection, double weightDecay)) {
  using namespace emu;
  Check check("aclnnApplyFusedEmaAdam");
  const std::initializer_list<Given> tensors = {
      {"grad", grad}, {"varRef", varRef}, {"mRef", mRef}, {"vRef", vRef}, {"sRef", sRef}};
  require(check, tensors).required("step", step);
  for (const Given &given : tensors) check.dtype(given.name, given.tensor);
  check.dtype("step", step).tiling();
  check_alike(check, tensors);
  check_numbers(check, {{"step", step}});
  check_shapes_alike(check, tensors);
  check.that(mode == 0 || mode == 1, "mode is %lld; allowed: 0 (L2), 1 (weight decay)",
             static_cast<long long>(mode));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t g = plan.input(grad), var = plan.in_place(varRef), m = plan.in_place(mRef);
  const size_t v = plan.in_place(vRef), s = plan.in_place(sRef), t = plan.input(step);
  const int64_t elements = grad->numel();
  // L2 adds the decayed weights to the gradient, weight decay takes them from the weights.
  const auto added = static_cast<float>(mode == 0 ? weightDecay : 0);
  const auto track = static_cast<float>(emaDecay), rest = static_cast<float>(1 - emaDecay);
  const AdamwNumbers numbers{lr, beta1, beta2, mode == 1 ? weightDecay : 0, eps, false};
  // Unlike the other operators this one takes the number of this step.
  return plan.finish(
      [=](PlanContext &c) {
        const AdamwStep one =
            biasCorrection ? AdamwStep(numbers, number_in(c, t)) : AdamwStep(numbers, 0.0, 0.0);
        const UpdatedTensor all[] = {updated(c, g, false), updated(c, var, true),
                                     updated(c, m, true), updated(c, v, true), updated(c, s, true)};
        update_elements(all, elements, [&](float **x, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            one.moments(x[0][i] + added * x[1][i], x[2] + i, x[3] + i);
            x[1][i] = one.moved(x[1][i], x[2][i], x[3][i]);
            x[4][i] = track * x[4][i] + rest * x[1][i];
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
