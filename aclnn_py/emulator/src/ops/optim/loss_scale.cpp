// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Scaling of losses: gradients are checked and unscaled, and the scale follows.
#include <atomic>
#include <cstring>

#include "aclnnop/foreach.h"
#include "aclnnop/math.h"
#include "ops/block_kernels.h"
#include "ops/optim/update.h"

namespace emu {
namespace {

constexpr size_t kMostGradients = 256;

Check &one_element(Check &check, const char *name, const aclTensor *tensor) {
  if (!check.ok()) return check;
  return check.that(tensor->numel() == 1, "%s has shape %s; expected one element", name,
                    shape_text(layout_of(*tensor)).c_str());
}

// Whether a number is finite once it has the dtype.
bool finite_in(aclDataType dtype, float value) {
  alignas(8) char item[8] = {};
  store_as(dtype, item, 0, 1, Compute::F32, &value);
  float stored = 0;
  load_as(dtype, item, 0, 1, ACL_FLOAT, &stored);
  return std::isfinite(stored);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ForeachNonFiniteCheckAndUnscale,
             (aclTensorList *scaledGradsRef, aclTensor *foundInfRef, const aclTensor *invScale)) {
  using namespace emu;
  Check check("aclnnForeachNonFiniteCheckAndUnscale");
  check.required("scaledGradsRef", scaledGradsRef).required("foundInfRef", foundInfRef);
  check.required("invScale", invScale);
  if (!check.ok()) return check.status();
  const auto &members = scaledGradsRef->members;
  for (const aclTensor *member : members)
    check.required("scaledGradsRef", member).dtype("scaledGradsRef", member);
  check.dtype("foundInfRef", foundInfRef).dtype("invScale", invScale).tiling();
  check.that(members.size() <= kMostGradients, "scaledGradsRef has %zu members; allowed: %zu",
             members.size(), kMostGradients);
  for (size_t i = 0; check.ok() && i < members.size(); ++i) {
    check.rank("scaledGradsRef", members[i], 0, 8);
    check.that(members[i]->dtype == members[0]->dtype,
               "scaledGradsRef[%zu] has dtype %s; expected "
               "that of the first member, %s",
               i, dtype_name(members[i]->dtype), dtype_name(members[0]->dtype));
  }
  one_element(check, "foundInfRef", foundInfRef);
  one_element(check, "invScale", invScale);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t grads = plan.output_list(scaledGradsRef), found = plan.in_place(foundInfRef);
  const size_t scale = plan.input(invScale), count = members.size();
  return plan.finish(
      [=](PlanContext &c) {
        const auto factor = static_cast<float>(number_in(c, scale));
        std::atomic<bool> odd{false};
        for (size_t i = 0; i < count; ++i) {
          const UpdatedTensor tensors[] = {updated(c, grads + i, true)};
          update_elements(tensors, c.tensor(grads + i).numel(), [&](float **x, int64_t n) {
            if (!block_kernels().scale_finite(x[0], n, factor)) odd = true;
          });
        }
        const float one = 1;
        if (odd) RowTarget<float>(view_of(c.tensor(found))).write(0, 1, &one);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AmpUpdateScale,
             (const aclTensor *currentScale, const aclTensor *growthTracker,
              const aclTensor *foundInf, double growthFactor, double backoffFactor,
              int64_t growthInterval, aclTensor *updatedScale, aclTensor *updatedGrowthTracker)) {
  using namespace emu;
  Check check("aclnnAmpUpdateScale");
  check.required("currentScale", currentScale).required("growthTracker", growthTracker);
  check.required("foundInf", foundInf).required("updatedScale", updatedScale);
  check.required("updatedGrowthTracker", updatedGrowthTracker);
  check.dtype("currentScale", currentScale).dtype("growthTracker", growthTracker);
  check.dtype("foundInf", foundInf).dtype("updatedScale", updatedScale);
  check.dtype("updatedGrowthTracker", updatedGrowthTracker);
  if (!check.ok()) return check.status();
  check.same_dtype("foundInf", foundInf->dtype, "currentScale", currentScale->dtype)
      .same_dtype("updatedScale", updatedScale->dtype, "currentScale", currentScale->dtype)
      .tiling();
  one_element(check, "currentScale", currentScale);
  one_element(check, "growthTracker", growthTracker);
  one_element(check, "foundInf", foundInf);
  one_element(check, "updatedScale", updatedScale);
  one_element(check, "updatedGrowthTracker", updatedGrowthTracker);
  check.that(growthInterval >= 1 && growthInterval <= INT32_MAX,
             "growthInterval is %lld; allowed: 1 to 2147483647",
             static_cast<long long>(growthInterval));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t current = plan.input(currentScale), tracker = plan.input(growthTracker);
  const size_t found = plan.input(foundInf), scale_to = plan.output(updatedScale);
  const size_t tracker_to = plan.output(updatedGrowthTracker);
  const aclDataType dtype = currentScale->dtype;
  const auto grow = static_cast<float>(growthFactor), back = static_cast<float>(backoffFactor);
  return plan.finish(
      [=](PlanContext &c) {
        auto scale = static_cast<float>(number_in(c, current));
        int64_t steps = read_all<int64_t>(c, tracker, 1, 0)[0] + 1;
        if (number_in(c, found) != 0) {
          scale *= back;
          steps = 0;
        } else if (steps == growthInterval) {
          if (finite_in(dtype, scale * grow)) scale *= grow;
          steps = 0;
        }
        RowTarget<float>(view_of(c.tensor(scale_to))).write(0, 1, &scale);
        RowTarget<int64_t>(view_of(c.tensor(tracker_to))).write(0, 1, &steps);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
