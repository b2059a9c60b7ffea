// SPDX-License-Identifier: Apache-2.0
// aclnnGroupedMatmul in its versions: each exported function spreads its arguments over one
// GroupedCall.
#include "aclnnop/gmm.h"
#include "core/statuses.h"
#include "ops/gmm/few_bits.h"
#include "ops/gmm/grouped_floats.h"

namespace emu {
namespace {

// The library changes these dtypes on the caller's own objects; a program that asks afterwards sees
// it.
void relabel(const GroupedProblem &problem) {
  const GroupedCall &call = problem.call;
  if (call.scale) {
    for (aclTensor *scale : call.scale->members) {
      if (scale->dtype == ACL_INT64) scale->dtype = ACL_UINT64;
    }
  }
  if (problem.mode != GroupedMode::kAntiquant && problem.mode != GroupedMode::kFewBits) return;
  for (aclTensor *weight : call.weight->members) {
    // Eight values of four bits each; of a transposed view the words stay.
    if (weight->dtype != ACL_INT32 || !weight->contiguous()) continue;
    const size_t last = weight->rank() - 1;
    for (size_t d = 0; d < last; ++d) weight->strides[d] *= 8;
    weight->shape[last] *= 8;
    weight->offset *= 8;
    if (!weight->storage_shape.empty())
      weight->storage_shape[weight->storage_shape.size() - 1] *= 8;
    weight->dtype = ACL_INT4;
  }
}

int64_t add(PlanBuilder &plan, const aclTensorList *list, size_t *count = nullptr) {
  if (count) *count = list ? list->members.size() : 0;
  return list ? static_cast<int64_t>(plan.input_list(list)) : -1;
}

Status plan_grouped(const GroupedCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  GroupedProblem problem;
  problem.call = call;
  if (const Status status = check_grouped(&problem)) return status;
  const GroupedCall &c = problem.call;
  relabel(problem);
  PlanBuilder plan(c.op);
  plan.phase_two_code(kInner);
  if (problem.nothing) {
    for (const aclTensorList *list : {c.x, c.weight, c.bias, c.scale, c.offset, c.antiquant_scale,
                                      c.antiquant_offset, c.per_token}) {
      plan.unused_list(list);
    }
    plan.unused(c.group_tensor);
    plan.unused_list(c.y);
    return plan.finish([](PlanContext &) { return Status{0}; }, workspace_size, executor);
  }
  auto job = std::make_shared<GroupedJob>();
  job->op = c.op;
  job->mode = problem.mode;
  job->floats = problem.floats;
  job->few = problem.few;
  job->group_type = c.group_type;
  job->group_list_type = c.group_list_type;
  job->activation = c.activation;
  job->groups = problem.groups;
  job->x = add(plan, c.x, &job->x_count);
  job->weight = add(plan, c.weight, &job->weight_count);
  job->bias = add(plan, c.bias, &job->bias_count);
  job->scale = add(plan, c.scale, &job->scale_count);
  job->offset = add(plan, c.offset);
  job->antiquant_scale = add(plan, c.antiquant_scale);
  job->antiquant_offset = add(plan, c.antiquant_offset);
  job->per_token = add(plan, c.per_token);
  if (c.group_array) job->group_array = c.group_array->values;
  if (c.group_tensor) job->group_tensor = static_cast<int64_t>(plan.input(c.group_tensor));
  job->y_count = c.y->members.size();
  job->y = static_cast<int64_t>(plan.output_list(c.y));
  const auto run = problem.mode == GroupedMode::kLowFloats ? run_grouped_floats
                   : problem.mode == GroupedMode::kFewBits ? run_few_bits
                                                           : run_grouped;
  return plan.finish([job, run](PlanContext &context) { return run(*job, context); },
                     workspace_size, executor);
}

// The seven lists that every version starts with.
GroupedCall head(const char *op, int version, const aclTensorList *x, const aclTensorList *weight,
                 const aclTensorList *bias, const aclTensorList *scale, const aclTensorList *offset,
                 const aclTensorList *antiquant_scale, const aclTensorList *antiquant_offset,
                 int64_t split_item, const aclTensorList *y) {
  GroupedCall call{};
  call.op = op;
  call.version = version;
  call.x = x;
  call.weight = weight;
  call.bias = bias;
  call.scale = scale;
  call.offset = offset;
  call.antiquant_scale = antiquant_scale;
  call.antiquant_offset = antiquant_offset;
  call.split_item = split_item;
  call.y = y;
  return call;
}

}  // namespace
}  // namespace emu

#define GROUPED_HEAD                                                                      \
  const aclTensorList *x, const aclTensorList *weight, const aclTensorList *biasOptional, \
      const aclTensorList *scaleOptional, const aclTensorList *offsetOptional,            \
      const aclTensorList *antiquantScaleOptional, const aclTensorList *antiquantOffsetOptional
#define GROUPED_HEAD_VALUES                                                       \
  x, weight, biasOptional, scaleOptional, offsetOptional, antiquantScaleOptional, \
      antiquantOffsetOptional

EMU_OPERATOR(GroupedMatmul, (GROUPED_HEAD, const aclIntArray *groupListOptional, int64_t splitItem,
                             aclTensorList *y)) {
  auto call = emu::head("aclnnGroupedMatmul", 1, GROUPED_HEAD_VALUES, splitItem, y);
  call.group_array = groupListOptional;
  call.group_type = groupListOptional || splitItem == 2 || splitItem == 3 ? 0 : -1;
  return emu::plan_grouped(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulV2, (GROUPED_HEAD, const aclIntArray *groupListOptional,
                               int64_t splitItem, int64_t groupType, aclTensorList *y)) {
  auto call = emu::head("aclnnGroupedMatmulV2", 2, GROUPED_HEAD_VALUES, splitItem, y);
  call.group_array = groupListOptional;
  call.group_type = groupType;
  return emu::plan_grouped(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulV3, (GROUPED_HEAD, const aclTensor *groupListOptional, int64_t splitItem,
                               int64_t groupType, aclTensorList *y)) {
  auto call = emu::head("aclnnGroupedMatmulV3", 3, GROUPED_HEAD_VALUES, splitItem, y);
  call.group_tensor = groupListOptional;
  call.group_type = groupType;
  return emu::plan_grouped(call, workspaceSize, executor);
}
EMU_CATCH

#define GROUPED_V4                                                                              \
  GROUPED_HEAD, const aclTensorList *perTokenScaleOptional, const aclTensor *groupListOptional, \
      const aclTensorList *activationInputOptional,                                             \
      const aclTensorList *activationQuantScaleOptional,                                        \
      const aclTensorList *activationQuantOffsetOptional, int64_t splitItem, int64_t groupType, \
      int64_t groupListType, int64_t actType
#define GROUPED_V4_OUT                                             \
  aclTensorList *out, aclTensorList *activationFeatureOutOptional, \
      aclTensorList *dynQuantScaleOutOptional
#define GROUPED_V4_SPREAD(CALL)                     \
  CALL.per_token = perTokenScaleOptional;           \
  CALL.group_tensor = groupListOptional;            \
  CALL.reserved[0] = activationInputOptional;       \
  CALL.reserved[1] = activationQuantScaleOptional;  \
  CALL.reserved[2] = activationQuantOffsetOptional; \
  CALL.reserved[3] = activationFeatureOutOptional;  \
  CALL.reserved[4] = dynQuantScaleOutOptional;      \
  CALL.group_type = groupType;                      \
  CALL.group_list_type = groupListType;             \
  CALL.activation = actType

EMU_OPERATOR(GroupedMatmulV4, (GROUPED_V4, GROUPED_V4_OUT)) {
  auto call = emu::head("aclnnGroupedMatmulV4", 4, GROUPED_HEAD_VALUES, splitItem, out);
  GROUPED_V4_SPREAD(call);
  return emu::plan_grouped(call, workspaceSize, executor);
}
EMU_CATCH

// The first number of the tuning hint says how many rows a group is expected to have; the second
// one tells how the shape of a weight is to be read.
EMU_OPERATOR(GroupedMatmulV5,
             (GROUPED_V4, const aclIntArray *tuningConfigOptional, GROUPED_V4_OUT)) {
  emu::Check check("aclnnGroupedMatmulV5");
  if (!check.optional("tuningConfigOptional", tuningConfigOptional).ok()) return check.status();
  auto call = emu::head("aclnnGroupedMatmulV5", 5, GROUPED_HEAD_VALUES, splitItem, out);
  GROUPED_V4_SPREAD(call);
  call.tuning = tuningConfigOptional;
  return emu::plan_grouped(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulWeightNz, (GROUPED_V4, const aclIntArray *tuningConfigOptional,
                                     int64_t quantGroupSize, GROUPED_V4_OUT)) {
  emu::Check check("aclnnGroupedMatmulWeightNz");
  if (!check.optional("tuningConfigOptional", tuningConfigOptional).ok()) return check.status();
  auto call = emu::head("aclnnGroupedMatmulWeightNz", 6, GROUPED_HEAD_VALUES, splitItem, out);
  GROUPED_V4_SPREAD(call);
  call.quant_group_size = quantGroupSize;
  call.tuning = tuningConfigOptional;
  return emu::plan_grouped(call, workspaceSize, executor);
}
EMU_CATCH
