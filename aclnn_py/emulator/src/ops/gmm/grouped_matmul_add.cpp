// SPDX-License-Identifier: Apache-2.0
// yRef[g] += transpose(x[group]) @ weight[group], accumulated in float32: the weight gradient of a
// grouped product.
#include <cinttypes>

#include "aclnnop/gmm.h"
#include "core/statuses.h"
#include "ops/gmm/grouped.h"
#include "ops/matmul/stack.h"

namespace emu {
namespace {

struct AddCall {
  const char *op;
  const aclTensor *x, *weight, *group_list;
  aclTensor *y;
  bool transpose_x, transpose_weight;
  int64_t group_type, group_list_type;
};

// Adds finished rows to float32 memory.
class AddTo final : public RowSink<float> {
 public:
  AddTo(float *data, int64_t row_stride, int64_t col_stride)
      : data_(data), row_(row_stride), col_(col_stride) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    float *target = data_ + row * row_ + col * col_;
    for (int64_t i = 0; i < count; ++i) target[i * col_] += values[i];
  }

 private:
  float *data_;
  int64_t row_, col_;
};

Status check_arguments(const AddCall &c) {
  Check check(c.op);
  check.required("x", c.x)
      .required("weight", c.weight)
      .required("groupList", c.group_list)
      .required("yRef", c.y);
  if (!check.ok()) return check.status();
  check.dtype_in("x", c.x->dtype, dt::kHalf).same_dtype("weight", c.weight->dtype, "x", c.x->dtype);
  check.dtype_in("groupList", c.group_list->dtype, dtype_set(ACL_INT64))
      .dtype_in("yRef", c.y->dtype, dtype_set(ACL_FLOAT));
  const aclTensor *const all[] = {c.x, c.weight, c.group_list, c.y};
  const char *const names[] = {"x", "weight", "groupList", "yRef"};
  for (int i = 0; i < 4; ++i)
    check.that(!is_fractal(*all[i]), "%s is in FRACTAL_NZ; allowed: ND", names[i]);
  return check.status();
}

// The kernel's own rules: 561002.
Status check_tiling(const AddCall &c) {
  const auto refuse = [&](const char *rule) { return fail(kTiling, "%s: %s.", c.op, rule); };
  if (!c.transpose_x) return refuse("transposeX is false; only true is supported");
  if (c.transpose_weight) return refuse("transposeWeight is true; only false is supported");
  if (c.group_type != 2) return refuse("groupType is not 2 (the K axis), the only one supported");
  if (c.group_list_type != 0 && c.group_list_type != 1)
    return refuse("groupListType is neither 0 (ends) nor 1 (sizes)");
  if (c.x->rank() != 2 || c.weight->rank() != 2)
    return refuse("x and weight must have 2 dimensions: (K, M) and (K, N)");
  if (!c.x->contiguous() || !c.weight->contiguous())
    return refuse("x and weight must be contiguous");
  if (c.x->shape[0] != c.weight->shape[0])
    return refuse("x and weight must have the same number of rows (K)");
  if (c.group_list->rank() != 1) return refuse("groupList must have 1 dimension");
  const int64_t groups = c.group_list->shape[0], m = c.x->shape[1], n = c.weight->shape[1];
  const int64_t flat[] = {groups * m, n}, stacked[] = {groups, m, n};
  const Layout y = layout_of(*c.y);
  if (!same_shape(y, dense_layout(flat, 2)) && !same_shape(y, dense_layout(stacked, 3))) {
    return fail(kTiling,
                "%s: yRef has shape %s; expected (%" PRId64 ", %" PRId64 ") or (%" PRId64
                ", %" PRId64 ", %" PRId64 ").",
                c.op, shape_text(y).c_str(), groups * m, n, groups, m, n);
  }
  return 0;
}

Status run(const AddCall &c, const aclTensor &x, const aclTensor &weight, const aclTensor &list,
           const aclTensor &y) {
  std::vector<GroupSpan> groups;
  if (const Status status = read_groups(c.op, list, c.group_list_type,
                                        static_cast<size_t>(list.shape[0]), x.shape[0], &groups))
    return status;
  const Matrix left = matrix_stack(x).first, right = matrix_stack(weight).first;
  const View target = view_of(y);
  const int last = target.layout.rank - 1;
  const int64_t row = target.layout.stride[last - 1], col = target.layout.stride[last];
  const int64_t step = last == 2 ? target.layout.stride[0] : x.shape[1] * row;
  for (const GroupSpan &g : groups) {
    Matrix a = left, b = right;
    a.data = static_cast<const char *>(a.data) + g.first * a.row.stride * item_size(x.dtype);
    b.data = static_cast<const char *>(b.data) + g.first * b.row.stride * item_size(weight.dtype);
    a.rows = b.rows = g.count;
    const AddTo sink(reinterpret_cast<float *>(target.data) + static_cast<int64_t>(g.group) * step,
                     row, col);
    if (g.count > 0) gemm_f32(a.transposed(), b, sink);
  }
  return 0;
}

Status plan_add(const AddCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (const Status status = check_arguments(call)) return status;
  if (const Status status = check_tiling(call)) return status;
  PlanBuilder plan(call.op);
  plan.rule(WorkspaceRule::kIndividual);
  const size_t x = plan.input(call.x), weight = plan.input(call.weight),
               list = plan.input(call.group_list), y = plan.output(call.y);
  return plan.finish(
      [=](PlanContext &c) {
        return run(call, c.tensor(x), c.tensor(weight), c.tensor(list), c.tensor(y));
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupedMatmulAdd,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *groupList,
              aclTensor *yRef, bool transposeX, bool transposeWeight, int64_t groupType)) {
  emu::AddCall call{};
  call.op = "aclnnGroupedMatmulAdd";
  call.x = x;
  call.weight = weight;
  call.group_list = groupList;
  call.y = yRef;
  call.transpose_x = transposeX;
  call.transpose_weight = transposeWeight;
  call.group_type = groupType;
  return emu::plan_add(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedMatmulAddV2, (const aclTensor *x, const aclTensor *weight,
                                  const aclTensor *groupList, aclTensor *yRef, bool transposeX,
                                  bool transposeWeight, int64_t groupType, int64_t groupListType)) {
  emu::AddCall call{};
  call.op = "aclnnGroupedMatmulAddV2";
  call.x = x;
  call.weight = weight;
  call.group_list = groupList;
  call.y = yRef;
  call.transpose_x = transposeX;
  call.transpose_weight = transposeWeight;
  call.group_type = groupType;
  call.group_list_type = groupListType;
  return emu::plan_add(call, workspaceSize, executor);
}
EMU_CATCH
