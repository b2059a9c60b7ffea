// SPDX-License-Identifier: Apache-2.0
// yRef += transpose(x1) @ x2 of floats of 8 bits: what the gradient of a weight is added up from,
// for one matrix or for each group of rows. Sums and scales are float32; yRef is added last.
#include <cinttypes>

#include "aclnnop/gmm.h"
#include "aclnnop/matmul.h"
#include "core/statuses.h"
#include "ops/gmm/grouped.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kMostGroups = 1024, kPair = 2 * kPairedGroup;

struct QuantAddCall {
  const char *op, *left_name, *right_name;  // the names are those of the scales
  const aclTensor *x1, *x2, *left, *right, *y;
  const aclTensor *list = nullptr;  // of the groups
  bool grouped = false, transpose_x1 = true, transpose_x2 = false;
  int64_t list_type = 0, group_size = 0;
};

// What the checks find out, and where the plan keeps the tensors.
struct QuantAddJob {
  const char *op;
  bool grouped, paired;  // paired: a scale for each 32 rows, else HIFLOAT8 with scales of FLOAT
  int64_t list_type, depth, m, n, groups;
  size_t x1, x2, left, right, list, y;
};

void check_operands(Check &check, const QuantAddCall &c, QuantAddJob *job) {
  check.dtype("x1", c.x1).dtype("x2", c.x2).dtype("yRef", c.y).dtype("groupList", c.list);
  if (!check.ok()) return;
  job->paired = c.x1->dtype != ACL_HIFLOAT8;
  check.dtype_in("x2", c.x2->dtype, job->paired ? dt::kFloat8 : dtype_set(ACL_HIFLOAT8));
  const DtypeSet scale = dtype_set(job->paired ? ACL_FLOAT8_E8M0 : ACL_FLOAT);
  check.dtype_in(c.left_name, c.left->dtype, scale).dtype_in(c.right_name, c.right->dtype, scale);
  check.rank("x1", c.x1, 2, 2).rank("x2", c.x2, 2, 2).rank("groupList", c.list, 1, 1);
  for (const auto &[name, tensor] : {std::pair{"x1", c.x1}, {"x2", c.x2}, {"yRef", c.y}})
    if (check.ok()) check.plain_format(name, tensor);
  if (!check.ok()) return;
  job->depth = c.x1->shape[0];
  job->m = c.x1->shape[1];
  job->n = c.x2->shape[1];
  check.that(c.x2->shape[0] == job->depth, "x2 has %" PRId64 " rows; x1 has %" PRId64,
             c.x2->shape[0], job->depth);
}

// One value for each group, as (g) or (g, 1).
void check_group_values(Check &check, const char *name, const aclTensor &scale, int64_t groups,
                        int64_t columns) {
  const Layout given = layout_of(scale);
  const bool each = given.rank >= 1 && given.rank <= 2 && given.shape[0] == groups &&
                    (given.rank == 1 || given.shape[1] == 1 || given.shape[1] == columns);
  check.that(each, "%s has shape %s; allowed: (%" PRId64 ",), (%" PRId64 ", 1)%s", name,
             shape_text(given).c_str(), groups, groups,
             columns > 1 ? " or one value for each group and column of x2" : "");
}

void check_group_scales(Check &check, const QuantAddCall &c, const QuantAddJob &job) {
  if (!job.paired) {
    check_group_values(check, c.left_name, *c.left, job.groups, 1);
    return check_group_values(check, c.right_name, *c.right, job.groups, job.n);
  }
  const int64_t pairs = job.depth / kPair + job.groups;
  const int64_t left[] = {pairs, job.m, 2}, right[] = {pairs, job.n, 2};
  check.shape(c.left_name, c.left, dense_layout(left, 3));
  check.shape(c.right_name, c.right, dense_layout(right, 3));
}

void check_whole_scales(Check &check, const QuantAddCall &c, const QuantAddJob &job) {
  if (job.paired) {
    check.shape(c.left_name, c.left, paired_scale_layout(job.m, job.depth, true));
    check.shape(c.right_name, c.right, paired_scale_layout(job.n, job.depth, true));
    return check_group_size(check, c.group_size, 1, 1, kPairedGroup);
  }
  const int64_t one = 1;
  check.shape(c.left_name, c.left, dense_layout(&one, 1));
  check.shape(c.right_name, c.right, dense_layout(&one, 1));
  check.that(c.group_size == 0, "groupSize is %" PRId64 "; with HIFLOAT8 it must be 0",
             c.group_size);
}

Status check_quant_add(const QuantAddCall &c, QuantAddJob *job) {
  Check check(c.op);
  check.required("x1", c.x1).required("x2", c.x2).required(c.right_name, c.right);
  if (c.grouped) check.required("groupList", c.list);
  check.required("yRef", c.y).required(c.left_name, c.left);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.that(c.transpose_x1, "transposeX1 is false; only true is supported");
  check.that(!c.transpose_x2, "transposeX2 is true; only false is supported");
  check_operands(check, c, job);
  if (!check.ok()) return check.status();
  job->op = c.op;
  job->grouped = c.grouped;
  job->list_type = c.list_type;
  job->groups = c.grouped ? c.list->shape[0] : 1;
  if (c.grouped) {
    check.that(job->groups <= kMostGroups,
               "groupList has %" PRId64 " groups; at most %" PRId64 " are allowed", job->groups,
               kMostGroups);
    check.that(c.list_type == 0 || c.list_type == 1,
               "groupListType is %" PRId64 "; allowed: 0 (ends of groups), 1 (their sizes)",
               c.list_type);
    check.that(c.group_size == 0, "groupSize is %" PRId64 "; allowed: 0", c.group_size);
    if (check.ok()) check_group_scales(check, c, *job);
  } else {
    check.that(job->depth > 0, "x1 has shape %s; its first dimension must not be 0",
               shape_text(layout_of(*c.x1)).c_str());
    if (check.ok()) check_whole_scales(check, c, *job);
  }
  const int64_t shape[] = {job->groups, job->m, job->n};
  check.shape("yRef", c.y, dense_layout(shape + (c.grouped ? 0 : 1), c.grouped ? 3 : 2));
  return check.status();
}

// The scales of a group, which has rows of its own among those in pairs.
void place_scales(const QuantAddJob &job, const GroupSpan &span, const std::vector<float> &left,
                  const std::vector<float> &right, FloatProduct *product) {
  const auto g = static_cast<int64_t>(span.group);
  product->left = left.data();
  product->right = right.data();
  if (job.paired) {
    const int64_t pair = job.grouped ? span.first / kPair + g : 0;
    product->left_map = paired_scales(job.m, span.count, true);
    product->right_map = paired_scales(job.n, span.count, true);
    product->left += pair * product->left_map.pair_step;
    product->right += pair * product->right_map.pair_step;
    return;
  }
  const int64_t columns = static_cast<int64_t>(right.size()) / job.groups;
  product->right_map.row_step = columns > 1 ? 1 : 0;
  product->left += g;
  product->right += g * columns;
}

Status run(const QuantAddJob &job, const PlanContext &c) {
  if (job.m == 0 || job.n == 0 || job.groups == 0) return 0;
  std::vector<GroupSpan> spans;
  if (!job.grouped) {
    spans.push_back({0, 0, job.depth});
  } else if (const Status s = read_groups(job.op, c.tensor(job.list), job.list_type,
                                          static_cast<size_t>(job.groups), job.depth, &spans)) {
    return s;
  }
  const FloatStack x1(c.tensor(job.x1)), x2(c.tensor(job.x2));
  const std::vector<float> left = float_scales(c.tensor(job.left)),
                           right = float_scales(c.tensor(job.right));
  const View y = view_of(c.tensor(job.y));
  const int last = y.layout.rank - 1;
  const int64_t down = y.layout.stride[last - 1], across = y.layout.stride[last],
                step = job.grouped ? y.layout.stride[0] : 0;
  for (const GroupSpan &span : spans) {
    if (span.count == 0) continue;
    FloatProduct product;
    product.x = x1.stack().first.transposed();
    product.w = x2.stack().first;
    product.group = job.paired ? kPairedGroup : 0;
    cut_inner(&product, span.first, span.count);
    place_scales(job, span, left, right, &product);
    std::vector<float> total(static_cast<size_t>(job.m * job.n));
    multiply(product, total.data());
    auto *to = reinterpret_cast<float *>(y.data) + static_cast<int64_t>(span.group) * step;
    for (int64_t i = 0; i < job.m; ++i)
      for (int64_t j = 0; j < job.n; ++j)
        to[i * down + j * across] += total[static_cast<size_t>(i * job.n + j)];
  }
  return 0;
}

Status plan_quant_add(const QuantAddCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  QuantAddJob job{};
  if (const Status status = check_quant_add(c, &job)) return status;
  PlanBuilder plan(c.op);
  job.x1 = plan.input(c.x1);
  job.x2 = plan.input(c.x2);
  job.left = plan.input(c.left);
  job.right = plan.input(c.right);
  if (c.grouped) job.list = plan.input(c.list);
  job.y = plan.in_place(c.y);
  return plan.finish([job](PlanContext &context) { return run(job, context); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantGroupedMatmulInplaceAdd,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *scale1Optional,
              const aclTensor *scale2, const aclTensor *groupList, aclTensor *yRef,
              int64_t groupListType, int64_t groupSize)) {
  emu::QuantAddCall call{};
  call.op = "aclnnQuantGroupedMatmulInplaceAdd";
  call.left_name = "scale1Optional";
  call.right_name = "scale2";
  call.x1 = x1;
  call.x2 = x2;
  call.left = scale1Optional;
  call.right = scale2;
  call.y = yRef;
  call.list = groupList;
  call.grouped = true;
  call.list_type = groupListType;
  call.group_size = groupSize;
  return emu::plan_quant_add(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantBatchMatmulInplaceAdd,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional,
              const aclTensor *x2Scale, aclTensor *yRef, bool transposeX1, bool transposeX2,
              int64_t groupSize)) {
  emu::QuantAddCall call{};
  call.op = "aclnnQuantBatchMatmulInplaceAdd";
  call.left_name = "x1ScaleOptional";
  call.right_name = "x2Scale";
  call.x1 = x1;
  call.x2 = x2;
  call.left = x1ScaleOptional;
  call.right = x2Scale;
  call.y = yRef;
  call.group_size = groupSize;
  call.transpose_x1 = transposeX1;
  call.transpose_x2 = transposeX2;
  return emu::plan_quant_add(call, workspaceSize, executor);
}
EMU_CATCH
