// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Matrices multiplied from both sides and quantised, each with a scale of its own or, as FLOAT4, in
// blocks of 32 values.
#include "aclnnop/quant.h"
#include "core/chip.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/mx_format.h"

namespace emu {
namespace {

constexpr int64_t kMostMatrices = 262144, kWidest = 256, kMostGroups = 1024, kMxBlock = 32;

struct FlatArguments {
  const char *op;
  const aclTensor *x, *left, *right, *groups;
  double clip, limit;
  int64_t group_type;
  const aclTensor *out, *scale;
  bool has_groups;  // whether the operator has that argument

  bool blocks() const { return out->dtype == ACL_FLOAT4_E2M1; }
};

void check_groups(Check &check, const FlatArguments &a) {
  if (!check.ok() || a.groups == nullptr) return;
  check.that(!chip_is_950(), "groupListOptional is given; this chip takes null only");
  check.that(a.group_type >= 0 && a.group_type <= 2, "groupListType is %lld; allowed: 0, 1, 2",
             static_cast<long long>(a.group_type));
  const int rank = a.group_type == 2 ? 2 : 1;
  check.rank("groupListOptional", a.groups, rank, rank);
  if (!check.ok()) return;
  const Layout given = layout_of(*a.groups);
  check.that(given.shape[0] >= 1 && given.shape[0] <= kMostGroups,
             "groupListOptional has %lld groups; allowed: 1 to %lld",
             static_cast<long long>(given.shape[0]), static_cast<long long>(kMostGroups));
  check.that(rank == 1 || given.shape[1] == 2,
             "groupListOptional has shape %s; groupListType 2 needs pairs of index and size",
             shape_text(given).c_str());
}

Check check_flat(const FlatArguments &a) {
  Check check(a.op);
  check.required("x", a.x).required("kroneckerP1", a.left).required("kroneckerP2", a.right);
  check.optional("groupListOptional", a.groups);
  check.required("out", a.out).required("quantScale", a.scale);
  check.dtype("x", a.x).dtype("kroneckerP1", a.left).dtype("kroneckerP2", a.right);
  check.dtype("groupListOptional", a.groups).dtype("out", a.out).dtype("quantScale", a.scale);
  check.plain_format("x", a.x).plain_format("out", a.out).rank("x", a.x, 3, 3);
  if (!check.ok()) return check;
  check.same_dtype("kroneckerP1", a.left->dtype, "x", a.x->dtype);
  check.same_dtype("kroneckerP2", a.right->dtype, "x", a.x->dtype);
  const int64_t matrices = a.x->shape[0], rows = a.x->shape[1], width = a.x->shape[2];
  check.that(matrices >= 1 && matrices <= kMostMatrices && rows >= 1 && rows <= kWidest &&
                 width >= 1 && width <= kWidest,
             "x has shape %s; allowed: (1 to %lld, 1 to %lld, 1 to %lld)",
             shape_text(layout_of(*a.x)).c_str(), static_cast<long long>(kMostMatrices),
             static_cast<long long>(kWidest), static_cast<long long>(kWidest));
  const int64_t left[] = {rows, rows}, right[] = {width, width}, flat[] = {matrices, rows * width};
  check.shape("kroneckerP1", a.left, dense_layout(left, 2));
  const Layout given = layout_of(*a.right);
  const bool none = given.rank == 2 && given.shape[0] == 0 && given.shape[1] == 0;
  if (!(none && a.blocks())) check.shape("kroneckerP2", a.right, dense_layout(right, 2));
  check.that(a.clip > 0 && a.clip <= 1, "clipRatio is %g; it must be above 0 and at most 1",
             a.clip);
  check.that(a.limit == 0 || (a.blocks() && a.limit >= 6 && a.limit <= 12),
             "dstTypeMax is %g; allowed: 0, and for out of FLOAT4_E2M1 6 to 12", a.limit);
  check_groups(check, a);
  if (!check.ok()) return check;
  if (!a.blocks()) {
    check.dtype_in("quantScale", a.scale->dtype, dtype_set(ACL_FLOAT));
    check_packing(check, "out", a.out, layout_of(*a.x), "x");
    return check.shape("quantScale", a.scale, dense_layout(&matrices, 1));
  }
  check.dtype_in("quantScale", a.scale->dtype, dtype_set(ACL_FLOAT8_E8M0));
  check.that(width % 2 == 0, "x has a last dimension of %lld; out of FLOAT4_E2M1 needs an even one",
             static_cast<long long>(width));
  const Layout values = dense_layout(flat, 2);
  check.shape("out", a.out, values);
  check_float4(check, "out", a.out);
  return check.shape("quantScale", a.scale, mx_scale_layout(values, 1, kMxBlock));
}

// How many matrices the groups have together; a list that is not one is a fault of the kernel.
Status read_count(const char *op, const aclTensor &list, int64_t type, int64_t matrices,
                  int64_t *count) {
  aclTensor numbers = list;
  if (type == 2) {
    // The second of each pair.
    numbers.shape = {list.shape[0]};
    numbers.offset = list.offset + list.strides[1];
    numbers.strides = {list.strides[0]};
  }
  std::vector<int64_t> group_of;
  const Status s =
      read_row_groups(op, "groupListOptional", numbers, type == 0, matrices, &group_of);
  *count = 0;
  for (const int64_t group : group_of) *count += group >= 0;
  return s;
}

// to = left * x * right, in float32; right null: not multiplied. `part` has the size of x.
void multiply(const float *left, const float *x, const float *right, int64_t rows, int64_t width,
              float *part, float *to) {
  const float *inner = x;
  if (right != nullptr) {
    std::fill(part, part + rows * width, 0.0f);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < width; ++k) {
        const float factor = x[i * width + k], *line = right + k * width;
        float *sum = part + i * width;
        for (int64_t j = 0; j < width; ++j) sum[j] += factor * line[j];
      }
    }
    inner = part;
  }
  std::fill(to, to + rows * width, 0.0f);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < rows; ++k) {
      const float factor = left[i * rows + k], *line = inner + k * width;
      float *sum = to + i * width;
      for (int64_t j = 0; j < width; ++j) sum[j] += factor * line[j];
    }
  }
}

Status plan_flat(const FlatArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const Check check = check_flat(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t input = plan.input(a.x), first = plan.input(a.left);
  const bool twice = a.right->numel() > 0, grouped = a.groups != nullptr, blocks = a.blocks();
  const size_t second = plan.input(a.right);
  const size_t groups = a.has_groups ? plan.input(a.groups) : plan.input_if(a.groups);
  const size_t out = plan.output(a.out), scale = plan.output(a.scale);
  const int64_t matrices = a.x->shape[0], rows = a.x->shape[1], width = a.x->shape[2];
  const int64_t each = rows * width, type = a.group_type, flat[] = {matrices, each};
  const MxPlan shape = mx_plan(dense_layout(flat, 2), 1, kMxBlock);
  MxFormat format;
  format.dtype = ACL_FLOAT4_E2M1;
  format.algorithm = a.limit == 0 ? 0 : 2;
  format.limit = a.limit == 0 ? kLargestE2m1 : static_cast<float>(a.limit);
  format.by_bits = a.limit == 6 || a.limit == 7;
  const float steps = 7.0f / static_cast<float>(a.clip);
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        int64_t count = matrices;
        if (grouped) {
          if (const Status s = read_count(op, c.tensor(groups), type, matrices, &count)) return s;
        }
        Operands operands;
        const aclTensor &result = c.tensor(out), &scales = c.tensor(scale);
        const View to_view = blocks ? code_view(result) : shared_view(result);
        const View scale_view = blocks ? code_view(scales) : view_of(scales);
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {to_view, scale_view}));
        const auto left = read_all<float>(c, first, rows * rows, 0.0f);
        const auto right = read_all<float>(c, second, twice ? width * width : 0, 0.0f);
        const float *by = twice ? right.data() : nullptr;
        if (blocks) {
          std::vector<float> made(static_cast<size_t>(count * each));
          for_each_row<float>(count, each, 2, [&](int64_t m, float *x) {
            from.read(m * each, each, x);
            multiply(left.data(), x, by, rows, width, x + each, made.data() + m * each);
          });
          mx_quantise(shape, format, LowCodes(result), LowCodes(scales),
                      [&](int64_t start, int64_t n, float *to) {
                        std::copy_n(made.data() + start, n, to);
                      });
          return Status{0};
        }
        const QuantTarget to(result);
        const RowTarget<float> scale_to(scale_view);
        for_each_row<float>(count, each, 3, [&](int64_t m, float *x) {
          float *made = x + 2 * each, least, most;
          from.read(m * each, each, x);
          multiply(left.data(), x, by, rows, width, x + each, made);
          extremes(made, each, 0.0f, &least, &most, [](float value) { return std::fabs(value); });
          const float found = most / steps, divisor = found == 0.0f ? 1.0f : found;
          for (int64_t i = 0; i < each; ++i) made[i] /= divisor;
          to.write(m * each, each, made);
          scale_to.write(m, 1, &found);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FlatQuant,
             (const aclTensor *x, const aclTensor *kroneckerP1, const aclTensor *kroneckerP2,
              double clipRatio, aclTensor *out, aclTensor *quantScale)) {
  return emu::plan_flat({"aclnnFlatQuant", x, kroneckerP1, kroneckerP2, nullptr, clipRatio, 0.0, 0,
                         out, quantScale, false},
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlatQuantV2,
             (const aclTensor *x, const aclTensor *kroneckerP1, const aclTensor *kroneckerP2,
              double clipRatio, double dstTypeMax, aclTensor *out, aclTensor *quantScale)) {
  return emu::plan_flat({"aclnnFlatQuantV2", x, kroneckerP1, kroneckerP2, nullptr, clipRatio,
                         dstTypeMax, 0, out, quantScale, false},
                        workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FlatQuantV3,
             (const aclTensor *x, const aclTensor *kroneckerP1, const aclTensor *kroneckerP2,
              const aclTensor *groupListOptional, double clipRatio, double dstTypeMax,
              int64_t groupListType, aclTensor *out, aclTensor *quantScale)) {
  return emu::plan_flat({"aclnnFlatQuantV3", x, kroneckerP1, kroneckerP2, groupListOptional,
                         clipRatio, dstTypeMax, groupListType, out, quantScale, true},
                        workspaceSize, executor);
}
EMU_CATCH
