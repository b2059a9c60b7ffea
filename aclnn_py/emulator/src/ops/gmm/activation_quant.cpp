// SPDX-License-Identifier: Apache-2.0
// Grouped products of floats of 8 bits whose gelu is quantised in blocks of 32.
#include <cinttypes>

#include "aclnnop/gmm.h"
#include "core/statuses.h"
#include "ops/gmm/grouped.h"
#include "ops/matmul/quant/activation_quant.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/matmul/quant/operand.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnGroupedMatmulActivationQuantWeightNz";
constexpr int64_t kMostGroups = 1024, kUnit = 64;

struct GroupedActivationCall {
  const aclTensor *x, *list, *weight, *right, *left, *y, *scale;
  int64_t list_type;
};

// What the checks find out, and where the plan keeps the tensors.
struct GroupedActivationJob {
  bool turned;  // the weight is (groups, n, k)
  int64_t m, n, k, groups, list_type;
  MxFormat format;
  size_t x, list, weight, right, left, y, scale;
};

const aclTensor *only_member(Check &check, const char *name, const aclTensorList *list) {
  check.required(name, list);
  if (!check.ok()) return nullptr;
  check.that(list->members.size() == 1, "%s has %zu tensors; allowed: 1", name,
             list->members.size());
  if (check.ok()) check.required(name, list->members[0]);
  return check.ok() ? list->members[0] : nullptr;
}

void check_shapes(Check &check, const GroupedActivationCall &c, GroupedActivationJob *job) {
  check.rank("x", c.x, 2, 2).rank("groupList", c.list, 1, 1).rank("weight", c.weight, 3, 3);
  check.rank("weightScale", c.right, 4, 4).rank("y", c.y, 2, 2).plain_format("x", c.x);
  if (!check.ok()) return;
  check.that(is_fractal(*c.weight), "weight has the format %s; allowed: FRACTAL_NZ",
             format_name(c.weight->format));
  check_matrix_layout(check, "weight", *c.weight);
  if (!check.ok()) return;
  job->m = c.x->shape[0];
  job->k = c.x->shape[1];
  job->n = c.y->shape[1];
  job->groups = c.list->shape[0];
  // The shape of its scales tells which way round the weight is.
  Layout scales = paired_scale_layout(job->n, job->k, true);
  const Dims &given = c.right->shape;
  job->turned = !(given[1] == scales.shape[0] && given[2] == scales.shape[1]);
  if (job->turned) std::swap(scales.shape[0], scales.shape[1]);
  const int64_t right[] = {c.weight->shape[0], scales.shape[0], scales.shape[1], 2};
  const int64_t weight[] = {c.weight->shape[0], job->turned ? job->n : job->k,
                            job->turned ? job->k : job->n};
  check.shape("weightScale", c.right, dense_layout(right, 4));
  check.shape("weight", c.weight, dense_layout(weight, 3));
  check.shape("xScaleOptional", c.left, paired_scale_layout(job->m, job->k, false));
  const int64_t y[] = {job->m, job->n};
  check.shape("y", c.y, dense_layout(y, 2));
  check.shape("yScale", c.scale, mx_scale_layout(dense_layout(y, 2), 1, kMxBlock));
  if (job->m == 0 || job->n == 0) return;
  check.that(job->groups >= 1 && job->groups <= kMostGroups && job->groups == c.weight->shape[0],
             "groupList has %" PRId64 " groups; weight has %" PRId64 ", allowed are 1 to %" PRId64,
             job->groups, c.weight->shape[0], kMostGroups);
  check.that(job->k > 0, "x has shape %s; its last dimension must not be 0",
             shape_text(layout_of(*c.x)).c_str());
  check.that(job->n % kUnit == 0,
             "weight has %" PRId64 " columns; they must be a multiple of %" PRId64, job->n, kUnit);
}

Status check_call(const GroupedActivationCall &c, const aclTensorList *bias,
                  const ActivationQuantAttributes &attributes, float limit, Check &check,
                  GroupedActivationJob *job) {
  check.required("xScaleOptional", c.left).required("y", c.y).required("yScale", c.scale);
  check.optional("biasOptional", bias);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.that(absent(bias), "biasOptional is given; it must be null, or a list of nothing");
  check.dtype("x", c.x).dtype("groupList", c.list).dtype("weight", c.weight);
  check.dtype("weightScale", c.right).dtype("xScaleOptional", c.left);
  check.dtype("y", c.y).dtype("yScale", c.scale);
  Gelu gelu;
  job->format = check_activation_quant(check, attributes, "y", c.y, &gelu);
  check.that(limit == 0.0f, "dstTypeMax is %g; allowed: 0", static_cast<double>(limit));
  check.that(c.list_type == 0 || c.list_type == 1,
             "groupListType is %" PRId64 "; allowed: 0 (ends of groups), 1 (their sizes)",
             c.list_type);
  job->list_type = c.list_type;
  if (check.ok()) check_shapes(check, c, job);
  return check.status();
}

Status run(const GroupedActivationJob &job, const PlanContext &c) {
  if (job.m == 0 || job.n == 0) return 0;
  std::vector<GroupSpan> spans;
  if (const Status s = read_groups(kOp, c.tensor(job.list), job.list_type,
                                   static_cast<size_t>(job.groups), job.m, &spans))
    return s;
  const FloatStack x(c.tensor(job.x));
  FloatStack weight(c.tensor(job.weight));
  if (job.turned) weight.transpose();
  const std::vector<float> left = float_scales(c.tensor(job.left)),
                           right = float_scales(c.tensor(job.right));
  // Groups follow each other from the first row on; rows behind them are not written.
  const int64_t rows = spans.back().first + spans.back().count;
  const auto each = static_cast<int64_t>(right.size()) / job.groups;
  std::vector<float> values(static_cast<size_t>(rows * job.n));
  for (const GroupSpan &span : spans) {
    const auto g = static_cast<int64_t>(span.group);
    if (span.count == 0) continue;
    FloatProduct product;
    product.x = x.stack().first;
    product.x.data = static_cast<const float *>(product.x.data) + span.first * job.k;
    product.x.rows = span.count;
    product.w = weight.stack().at(g * weight.stack().batch.stride[0]);
    product.left_map = paired_scales(job.m, job.k, false);
    product.right_map = paired_scales(job.n, job.k, !job.turned);
    product.left = left.data() + product.left_map.at(span.first, 0);
    product.right = right.data() + g * each;
    product.group = kPairedGroup;
    multiply(product, values.data() + span.first * job.n);
  }
  store_activated(values, rows, job.n, Gelu::kTanh, job.format, c.tensor(job.y),
                  c.tensor(job.scale));
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupedMatmulActivationQuantWeightNz,
             (const aclTensor *x, const aclTensor *groupList, const aclTensorList *weight,
              const aclTensorList *weightScale, const aclTensorList *biasOptional,
              const aclTensor *xScaleOptional, const char *activationType, int64_t groupListType,
              const aclIntArray *tuningConfigOptional, const char *quantModeOptional,
              const char *roundModeOptional, int64_t scaleAlg, float dstTypeMax, aclTensor *y,
              aclTensor *yScale)) {
  using namespace emu;
  Check check(kOp);
  check.required("x", x).required("groupList", groupList);
  check.optional("tuningConfigOptional", tuningConfigOptional);
  GroupedActivationCall call{x, groupList, nullptr,      nullptr, xScaleOptional,
                             y, yScale,    groupListType};
  call.weight = only_member(check, "weight", weight);
  call.right = only_member(check, "weightScale", weightScale);
  GroupedActivationJob job{};
  const ActivationQuantAttributes attributes{
      activationType, quantModeOptional, roundModeOptional, scaleAlg, false, true};
  if (const Status status = check_call(call, biasOptional, attributes, dstTypeMax, check, &job))
    return status;
  PlanBuilder plan(kOp);
  job.x = plan.input(x);
  job.list = plan.input(groupList);
  job.weight = plan.input_list(weight);
  job.right = plan.input_list(weightScale);
  plan.unused_list(biasOptional);
  job.left = plan.input(xScaleOptional);
  job.y = plan.output(y);
  job.scale = plan.output(yScale);
  return plan.finish([job](PlanContext &context) { return run(job, context); }, workspaceSize,
                     executor);
}
EMU_CATCH
