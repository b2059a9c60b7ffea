// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Optimizers for lists of tensors.
#include "aclnnop/optim.h"
#include "ops/optim/momentum.h"
#include "ops/optim/update.h"

namespace emu {
namespace {

struct Listed {
  const char *name;
  const aclTensorList *list;  // null: absent
};

// Lists of as many members as the first; member i of all has the dtype and the shape of the first
// one's.
void check_members(Check &check, std::initializer_list<Listed> lists) {
  const Listed model = *lists.begin();
  const size_t count = model.list->members.size();
  for (const Listed &one : lists) {
    if (one.list == nullptr || !check.ok()) continue;
    check.that(one.list->members.size() == count, "%s has %zu members; expected %zu", one.name,
               one.list->members.size(), count);
    for (size_t i = 0; check.ok() && i < count; ++i) {
      const aclTensor *member = one.list->members[i], *first = model.list->members[i];
      check.required(one.name, member).dtype(one.name, member).rank(one.name, member, 0, 8);
      if (!check.ok()) return;
      check.that(member->dtype == model.list->members[0]->dtype,
                 "%s[%zu] has dtype %s; expected that of %s[0], %s", one.name, i,
                 dtype_name(member->dtype), model.name, dtype_name(model.list->members[0]->dtype));
      check.that(member->shape == first->shape, "%s[%zu] has shape %s; expected %s", one.name, i,
                 shape_text(layout_of(*member)).c_str(), shape_text(layout_of(*first)).c_str());
    }
  }
}

void check_one(Check &check, const char *name, const aclTensor *tensor) {
  if (tensor == nullptr || !check.ok()) return;
  check.dtype(name, tensor);
  check.that(tensor->numel() == 1, "%s has shape %s; expected one element", name,
             shape_text(layout_of(*tensor)).c_str());
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FusedAdamw,
             (aclTensorList *paramsRef, const aclTensorList *grads, aclTensorList *expAvgsRef,
              aclTensorList *expAvgSqsRef, aclTensorList *maxExpAvgSqsOptionalRef,
              const aclTensorList *stateSteps, const aclTensor *gradScaleOptional,
              const aclTensor *foundInfOptional, double lr, double beta1, double beta2,
              double weightDecay, double eps, bool amsgrad, bool maximize)) {
  using namespace emu;
  Check check("aclnnFusedAdamw");
  check.required("paramsRef", paramsRef).required("grads", grads);
  check.required("expAvgsRef", expAvgsRef).required("expAvgSqsRef", expAvgSqsRef);
  if (amsgrad) check.required("maxExpAvgSqsOptionalRef", maxExpAvgSqsOptionalRef);
  else check.optional("maxExpAvgSqsOptionalRef", maxExpAvgSqsOptionalRef);
  check.required("stateSteps", stateSteps).optional("gradScaleOptional", gradScaleOptional);
  check.optional("foundInfOptional", foundInfOptional);
  if (!check.ok()) return check.status();
  check_members(check, {{"paramsRef", paramsRef},
                        {"grads", grads},
                        {"expAvgsRef", expAvgsRef},
                        {"expAvgSqsRef", expAvgSqsRef},
                        {"maxExpAvgSqsOptionalRef", amsgrad ? maxExpAvgSqsOptionalRef : nullptr}});
  const size_t count = paramsRef->members.size();
  check.that(stateSteps->members.size() == count, "stateSteps has %zu members; expected %zu",
             stateSteps->members.size(), count);
  for (size_t i = 0; check.ok() && i < count; ++i) {
    check.required("stateSteps", stateSteps->members[i]);
    check_one(check, "stateSteps", stateSteps->members[i]);
  }
  check_one(check, "gradScaleOptional", gradScaleOptional);
  check_one(check, "foundInfOptional", foundInfOptional);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t params = plan.output_list(paramsRef), g = plan.input_list(grads);
  const size_t m = plan.output_list(expAvgsRef), v = plan.output_list(expAvgSqsRef);
  const size_t largest = amsgrad ? plan.output_list(maxExpAvgSqsOptionalRef)
                                 : plan.unused_list(maxExpAvgSqsOptionalRef);
  const size_t steps = plan.input_list(stateSteps);
  const size_t scale = plan.input(gradScaleOptional), found = plan.input(foundInfOptional);
  const AdamwNumbers numbers{lr, beta1, beta2, weightDecay, eps, maximize};
  return plan.finish(
      [=](PlanContext &c) {
        if (c.has(found) && number_in(c, found) == 1) return Status{0};
        const float divisor = c.has(scale) ? static_cast<float>(number_in(c, scale)) : 1.0f;
        for (size_t i = 0; i < count; ++i) {
          const AdamwStep one(numbers, number_in(c, steps + i) + 1);  // taken before this one
          const UpdatedTensor largest_of =
              amsgrad ? updated(c, largest + i, true) : UpdatedTensor();
          const UpdatedTensor tensors[] = {updated(c, params + i, true), updated(c, m + i, true),
                                           updated(c, v + i, true), largest_of,
                                           updated(c, g + i, false)};
          update_elements(tensors, c.tensor(params + i).numel(), [&](float **x, int64_t n) {
            alignas(64) float slopes[kBlock];
            for (int64_t k = 0; k < n && divisor != 1.0f; ++k) slopes[k] = x[4][k] / divisor;
            one.run(x[0], x[1], x[2], x[3], divisor != 1.0f ? slopes : x[4], n);
          });
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// Without buffers of momentum each step is like a first one.
EMU_OPERATOR(FusedSgd,
             (aclTensorList *paramsRef, aclTensorList *gradsRef,
              aclTensorList *momentumBufferListOptionalRef, const aclTensor *gradScaleOptional,
              float weightDecay, float momentum, float lr, float dampening, bool nesterov,
              bool maximize, bool isFirstStep)) {
  using namespace emu;
  Check check("aclnnFusedSgd");
  check.required("paramsRef", paramsRef).required("gradsRef", gradsRef);
  check.optional("momentumBufferListOptionalRef", momentumBufferListOptionalRef);
  check.optional("gradScaleOptional", gradScaleOptional);
  if (!check.ok()) return check.status();
  const bool buffered =
      momentumBufferListOptionalRef != nullptr && !momentumBufferListOptionalRef->members.empty();
  check_members(check, {{"paramsRef", paramsRef},
                        {"gradsRef", gradsRef},
                        {"momentumBufferListOptionalRef",
                         buffered ? momentumBufferListOptionalRef : nullptr}});
  check_one(check, "gradScaleOptional", gradScaleOptional);
  for (const auto &[name, number] : {std::pair{"weightDecay", weightDecay},
                                     {"momentum", momentum},
                                     {"lr", lr},
                                     {"dampening", dampening}}) {
    check.that(number >= 0, "%s is %g; it must be 0 or more", name, static_cast<double>(number));
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t params = plan.output_list(paramsRef), g = plan.output_list(gradsRef);
  const size_t buffers = plan.output_list(momentumBufferListOptionalRef);
  const size_t scale = plan.input(gradScaleOptional), count = paramsRef->members.size();
  const bool first = isFirstStep || !buffered;
  const float sign = maximize ? -1.0f : 1.0f;
  const MomentumStep given{momentum, 1.0f - dampening, lr, weightDecay, sign, 1.0f,
                           first,    nesterov};
  return plan.finish(
      [=](PlanContext &c) {
        static const auto kernel = EMU_PICK_ISA(momentum_step);
        MomentumStep step = given;
        if (c.has(scale)) step.divisor = static_cast<float>(number_in(c, scale));
        const bool scaled = step.divisor != 1.0f;
        for (size_t i = 0; i < count; ++i) {
          const UpdatedTensor buffer = buffered ? updated(c, buffers + i, true) : UpdatedTensor();
          const UpdatedTensor tensors[] = {updated(c, params + i, true), updated(c, g + i, scaled),
                                           buffer};
          update_elements(tensors, c.tensor(params + i).numel(),
                          [&](float **x, int64_t n) { kernel(step, x[0], x[1], x[2], n); });
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
