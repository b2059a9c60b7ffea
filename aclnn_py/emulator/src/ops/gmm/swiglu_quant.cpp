// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/gmm/swiglu_quant_floats.h"

#include "aclnnop/gmm.h"
#include "core/statuses.h"
#include "ops/matmul/dequantise.h"
#include "ops/matmul/stack.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/gated.h"

namespace emu {

Status run_swiglu_quant(const SwigluQuantJob &job, PlanContext &c) {
  std::vector<GroupSpan> spans;
  if (const Status status = read_groups(job.op, c.tensor(job.groups), job.list_type,
                                        static_cast<size_t>(job.experts), job.rows, &spans))
    return status;
  const aclTensor &result = c.tensor(job.output);
  std::vector<int8_t> x_memory, w_memory;
  std::unique_ptr<Snapshot> kept;
  Matrix x = as_int8(c.tensor(job.x), x_memory);
  if (x_memory.empty() && clash(view_of(c.tensor(job.x)), view_of(result))) {
    kept = std::make_unique<Snapshot>(view_of(c.tensor(job.x)));
    x = matrix_stack(kept->view()).first;
  }
  const auto tokens = read_all<float>(c, job.x_scale, job.rows, 1.0f);
  const QuantTarget to(result);
  const QuantRange range = quant_range(result.dtype);
  const RowTarget<float> scale_to(view_of(c.tensor(job.output_scale)));
  const int64_t width = job.columns / 2;
  std::vector<float> smooth;
  if (job.has_smooth) smooth = every_scale(c.tensor(job.smooth));
  const bool by_column = job.has_smooth && c.tensor(job.smooth).rank() == 2;
  const auto of_group = [&](size_t first, size_t group) {
    return job.tensors == 1 ? entry_of(c.tensor(first), group) : c.tensor(first + group);
  };
  std::vector<float> values(static_cast<size_t>(std::min(kRowsAtOnce, job.rows) * job.columns));
  for (const GroupSpan &span : spans) {
    if (span.count == 0) continue;
    const aclTensor weight = job.tensors == 1
                                 ? entry_of(weight_of(c.tensor(job.weight), job.blocks), span.group)
                                 : weight_of(c.tensor(job.weight + span.group), job.blocks);
    const std::vector<float> scale = every_scale(of_group(job.scale, span.group));
    std::vector<float> help;
    if (job.has_help) help = every_scale(of_group(job.help, span.group));
    ScaledProduct product;
    product.w = as_int8(weight, w_memory);
    product.scale = scale.data();
    product.pieces = job.pieces;
    // Rows of INT8 are multiplied as two halves, 16 * high + low - 8: what the halves lack is in
    // the help.
    product.lift = job.has_help ? -8 : 0;
    product.shift = job.has_help ? help.data() : nullptr;
    for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
      const int64_t first = span.first + done, count = std::min(kRowsAtOnce, span.count - done);
      product.x = x;
      product.x.data = static_cast<const int8_t *>(x.data) + x.row.at(first);
      product.x.rows = count;
      product.token = tokens.data() + first;
      scaled_product(product, values.data());
      parallel_for(count, 8, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          float *gate = values.data() + i * job.columns;
          silu_gate(gate, gate + width, width);
          if (job.has_smooth) {
            const float *factor =
                smooth.data() + static_cast<int64_t>(span.group) * (by_column ? width : 1);
            for (int64_t j = 0; j < width; ++j) gate[j] *= factor[by_column ? j : 0];
          }
          const RowScale found = scale_symmetric(gate, width, range);
          scale_to.write(first + i, 1, &found.scale);
          to.write((first + i) * width, width, gate);
        }
      });
    }
  }
  return 0;
}

namespace {

void list_members(Check &check, const char *name, const aclTensorList *list,
                  std::vector<const aclTensor *> *members) {
  constexpr size_t kMostTensors = 1024;
  if (!check.ok() || absent(list)) return;
  check.that(list->members.size() <= kMostTensors, "%s has %zu tensors; at most %zu are allowed",
             name, list->members.size(), kMostTensors);
  for (size_t i = 0; check.ok() && i < list->members.size(); ++i) {
    const aclTensor *member = list->members[i];
    check.that(member != nullptr && live(member), "%s[%zu] is null or was destroyed", name, i);
    members->push_back(member);
  }
}

std::shared_ptr<SwigluQuantJob> job_of(const SwigluQuantProblem &p) {
  auto job = std::make_shared<SwigluQuantJob>();
  job->op = p.call.op;
  job->blocks = p.call.blocks;
  job->has_help = !p.call.help.empty();
  job->has_smooth = p.call.smooth != nullptr;
  job->tensors = p.call.weight.size();
  job->list_type = p.call.list_type;
  job->experts = p.experts;
  job->rows = p.rows;
  job->columns = p.columns;
  job->pieces = p.pieces;
  return job;
}

struct FirstVersion {
  const char *op;
  Blocks blocks;
  const aclTensor *x, *weight, *bias, *offset, *weight_scale, *x_scale, *groups;
  const aclTensor *output, *output_scale, *output_offset;
};

Status plan_first(const FirstVersion &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).required("weight", a.weight).required("weightScale", a.weight_scale);
  check.required("xScale", a.x_scale).required("groupList", a.groups);
  check.required("output", a.output).required("outputScale", a.output_scale);
  check.optional("biasOptional", a.bias);
  check.that(a.offset == nullptr, "offsetOptional is given; it is reserved and must be null");
  check.that(a.output_offset == nullptr,
             "outputOffsetOptional is given; it is reserved and must be null");
  if (!check.ok()) return check.status();
  SwigluQuantProblem problem;
  problem.call = {a.op, true,      a.blocks, a.x,           {a.weight}, {a.weight_scale},
                  {},   a.x_scale, nullptr,  a.groups,      0,          0,
                  0,    0,         a.output, a.output_scale};
  if (a.bias) problem.call.help.push_back(a.bias);
  if (const Status status = check_swiglu_quant(&problem)) return status;
  auto job = job_of(problem);
  PlanBuilder plan(a.op);
  plan.phase_two_code(kInner);
  job->x = plan.input(a.x);
  job->weight = plan.input(a.weight);
  job->help = plan.input(a.bias);
  plan.unused(a.offset);
  job->scale = plan.input(a.weight_scale);
  job->x_scale = plan.input(a.x_scale);
  job->groups = plan.input(a.groups);
  job->output = plan.output(a.output);
  job->output_scale = plan.output(a.output_scale);
  plan.unused(a.output_offset);
  return plan.finish([job](PlanContext &c) { return run_swiglu_quant(*job, c); }, workspace_size,
                     executor);
}

struct SecondVersion {
  const char *op;
  Blocks blocks;
  const aclTensor *x;
  const aclTensorList *weight, *weight_scale, *help;
  const aclTensor *bias, *x_scale, *smooth, *groups;
  int64_t dequant_mode, dequant_dtype, quant_mode, list_type;
  const aclIntArray *tuning;
  const aclTensor *output, *output_scale;
};

Status plan_second(const SecondVersion &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).required("weight", a.weight).required("weightScale", a.weight_scale);
  check.required("xScale", a.x_scale).required("groupList", a.groups);
  check.required("output", a.output).required("outputScale", a.output_scale);
  check.optional("weightAssistMatrixOptional", a.help).optional("smoothScaleOptional", a.smooth);
  check.optional("tuningConfigOptional", a.tuning);
  check.that(a.bias == nullptr, "biasOptional is given; it is reserved and must be null");
  SwigluQuantProblem problem;
  problem.call = {a.op,
                  false,
                  a.blocks,
                  a.x,
                  {},
                  {},
                  {},
                  a.x_scale,
                  a.smooth,
                  a.groups,
                  a.dequant_mode,
                  a.dequant_dtype,
                  a.quant_mode,
                  a.list_type,
                  a.output,
                  a.output_scale};
  list_members(check, "weight", a.weight, &problem.call.weight);
  list_members(check, "weightScale", a.weight_scale, &problem.call.scale);
  list_members(check, "weightAssistMatrixOptional", a.help, &problem.call.help);
  check.that(!problem.call.weight.empty(), "weight is an empty list");
  if (!check.ok()) return check.status();
  if (is_swiglu_floats(problem.call))
    return plan_swiglu_floats(problem.call, {a.weight, a.weight_scale}, workspace_size, executor);
  if (const Status status = check_swiglu_quant(&problem)) return status;
  auto job = job_of(problem);
  PlanBuilder plan(a.op);
  plan.phase_two_code(kInner);
  job->x = plan.input(a.x);
  job->weight = plan.input_list(a.weight);
  job->scale = plan.input_list(a.weight_scale);
  if (job->has_help) job->help = plan.input_list(a.help);
  else plan.unused_list(a.help);
  plan.unused(a.bias);
  job->x_scale = plan.input(a.x_scale);
  job->smooth = plan.input(a.smooth);
  job->groups = plan.input(a.groups);
  job->output = plan.output(a.output);
  job->output_scale = plan.output(a.output_scale);
  return plan.finish([job](PlanContext &c) { return run_swiglu_quant(*job, c); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

#define SWIGLU_QUANT_FIRST                                                                    \
  const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional,                 \
      const aclTensor *offsetOptional, const aclTensor *weightScale, const aclTensor *xScale, \
      const aclTensor *groupList, aclTensor *output, aclTensor *outputScale,                  \
      aclTensor *outputOffsetOptional
#define SWIGLU_QUANT_FIRST_VALUES                                                               \
  x, weight, biasOptional, offsetOptional, weightScale, xScale, groupList, output, outputScale, \
      outputOffsetOptional

EMU_OPERATOR(GroupedMatmulSwigluQuant, (SWIGLU_QUANT_FIRST)) {
  return emu::plan_first(
      {"aclnnGroupedMatmulSwigluQuant", emu::Blocks::kByFormat, SWIGLU_QUANT_FIRST_VALUES},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulSwigluQuantWeightNZ, (SWIGLU_QUANT_FIRST)) {
  return emu::plan_first(
      {"aclnnGroupedMatmulSwigluQuantWeightNZ", emu::Blocks::kAlways, SWIGLU_QUANT_FIRST_VALUES},
      workspaceSize, executor);
}
EMU_CATCH

#define SWIGLU_QUANT_SECOND                                                                      \
  const aclTensor *x, const aclTensorList *weight, const aclTensorList *weightScale,             \
      const aclTensorList *weightAssistMatrixOptional, const aclTensor *biasOptional,            \
      const aclTensor *xScale, const aclTensor *smoothScaleOptional, const aclTensor *groupList, \
      int64_t dequantMode, int64_t dequantDtype, int64_t quantMode, int64_t groupListType,       \
      const aclIntArray *tuningConfigOptional, aclTensor *output, aclTensor *outputScale
#define SWIGLU_QUANT_SECOND_VALUES                                                               \
  x, weight, weightScale, weightAssistMatrixOptional, biasOptional, xScale, smoothScaleOptional, \
      groupList, dequantMode, dequantDtype, quantMode, groupListType, tuningConfigOptional,      \
      output, outputScale

EMU_OPERATOR(GroupedMatmulSwigluQuantV2, (SWIGLU_QUANT_SECOND)) {
  return emu::plan_second(
      {"aclnnGroupedMatmulSwigluQuantV2", emu::Blocks::kByFormat, SWIGLU_QUANT_SECOND_VALUES},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulSwigluQuantWeightNzV2, (SWIGLU_QUANT_SECOND)) {
  return emu::plan_second(
      {"aclnnGroupedMatmulSwigluQuantWeightNzV2", emu::Blocks::kAlways, SWIGLU_QUANT_SECOND_VALUES},
      workspaceSize, executor);
}
EMU_CATCH
