// SPDX-License-Identifier: Apache-2.0
// Stacks of products of floats of 8 bits whose batch is the middle dimension of x1 and of the
// result.
#include <cinttypes>

#include "aclnnop/matmul.h"
#include "core/statuses.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/matmul/quant/operand.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64);
constexpr int64_t kDepth = 512, kColumns = 128;  // of products with scales of rows and columns

enum class Scales : uint8_t {
  kRowsAndColumns,  // FLOAT: x1Scale (m), x2Scale (n)
  kPairs,           // FLOAT8_E8M0: one for each 32 of the inner axis
  kColumns          // 64 bits: x1Scale (1) or none, x2Scale (n)
};

struct TransposeQuantCall {
  const char *op;
  bool blocked;  // x2 is in FRACTAL_NZ
  const aclTensor *x1, *x2, *bias, *left, *right;
  int32_t dtype;
  int64_t group_size;
  const aclIntArray *perm1, *perm2, *perm_out;
  int32_t split;
  const aclTensor *out;
};

// What the checks find out, and where the plan keeps the tensors.
struct TransposeQuantJob {
  Scales scales;
  bool turned;  // x2 is (batch, n, k)
  int64_t batch, m, n, k;
  size_t x1, x2, left, right, out;
};

void check_order(Check &check, const char *name, const aclIntArray *given,
                 std::initializer_list<Dims> allowed, bool *second) {
  if (!check.ok()) return;
  const Dims dims(given->values.data(), std::min<size_t>(given->values.size(), 4));
  size_t found = 0;
  std::string text;
  for (const Dims &order : allowed) {
    if (given->values.size() == 3 && dims == order) found = text.empty() ? 1 : 2;
    if (!text.empty()) text += ", ";
    text += shape_text(order.data(), 3).c_str();
  }
  check.that(found > 0, "%s is %s; allowed: %s", name,
             shape_text(dims.data(), static_cast<int>(dims.size())).c_str(), text.c_str());
  if (second != nullptr) *second = found == 2;
}

void check_dtypes(Check &check, const TransposeQuantCall &c, TransposeQuantJob *job) {
  check.dtype("x1", c.x1).dtype("x2", c.x2).dtype("x2Scale", c.right).dtype("out", c.out);
  if (!check.ok()) return;
  const aclDataType scale = c.right->dtype;
  job->scales = scale == ACL_FLOAT         ? Scales::kRowsAndColumns
                : scale == ACL_FLOAT8_E8M0 ? Scales::kPairs
                                           : Scales::kColumns;
  const DtypeSet operand = job->scales == Scales::kRowsAndColumns ? dt::kFloat8
                           : job->scales == Scales::kPairs        ? dtype_set(ACL_FLOAT8_E4M3FN)
                                                                  : dtype_set(ACL_HIFLOAT8);
  check.dtype_in("x1", c.x1->dtype, operand).dtype_in("x2", c.x2->dtype, operand);
  check.dtype_in("out", c.out->dtype,
                 dt::kHalf | (job->scales == Scales::kColumns ? dtype_set(ACL_HIFLOAT8) : 0));
  if (job->scales != Scales::kColumns) {
    check.required("x1Scale", c.left);
    if (check.ok()) check.same_dtype("x1Scale", c.left->dtype, "x2Scale", scale);
  } else if (c.left != nullptr) {
    check.dtype_in("x1Scale", c.left->dtype, kPacked);
  }
  check.that(c.dtype == static_cast<int32_t>(c.out->dtype),
             "dtype is %d; it must be the number of the dtype of out, %d (%s)", c.dtype,
             static_cast<int>(c.out->dtype), dtype_name(c.out->dtype));
}

void check_operands(Check &check, const TransposeQuantCall &c, TransposeQuantJob *job) {
  check.rank("x1", c.x1, 3, 3).rank("x2", c.x2, 3, 3).rank("out", c.out, 3, 3);
  check.plain_format("x1", c.x1).plain_format("out", c.out);
  if (c.blocked)
    check.that(is_fractal(*c.x2), "x2 has the format %s; allowed: FRACTAL_NZ",
               format_name(c.x2->format));
  else check.plain_format("x2", c.x2);
  check_order(check, "permX1", c.perm1, {{1, 0, 2}}, nullptr);
  if (job->scales == Scales::kRowsAndColumns)
    check_order(check, "permX2", c.perm2, {{0, 1, 2}}, &job->turned);
  else check_order(check, "permX2", c.perm2, {{0, 1, 2}, {0, 2, 1}}, &job->turned);
  check_order(check, "permY", c.perm_out, {{1, 0, 2}}, nullptr);
  if (c.blocked) check_matrix_layout(check, "x2", *c.x2);
  check.that(c.split == 1, "batchSplitFactor is %d; allowed: 1", c.split);
  if (!check.ok()) return;
  job->m = c.x1->shape[0];
  job->batch = c.x1->shape[1];
  job->k = c.x1->shape[2];
  job->n = c.x2->shape[job->turned ? 1 : 2];
  check.that(c.x2->shape[0] == job->batch && c.x2->shape[job->turned ? 2 : 1] == job->k,
             "x1 %s and x2 %s cannot be multiplied in these orders",
             shape_text(layout_of(*c.x1)).c_str(), shape_text(layout_of(*c.x2)).c_str());
  const int64_t out[] = {job->m, job->batch, job->n};
  check.shape("out", c.out, dense_layout(out, 3));
  check.that(c.out->numel() > 0 && job->k > 0, "out or x1 is empty, which is not supported");
}

void check_scales(Check &check, const TransposeQuantCall &c, const TransposeQuantJob &job) {
  const int64_t one = 1;
  switch (job.scales) {
    case Scales::kRowsAndColumns:
      check.that(job.k == kDepth,
                 "x1 has an inner dimension of %" PRId64 "; with scales of FLOAT it is %" PRId64,
                 job.k, kDepth);
      check.that(job.n == kColumns,
                 "x2 has %" PRId64 " columns; with scales of FLOAT it has %" PRId64, job.n,
                 kColumns);
      check.shape("x1Scale", c.left, dense_layout(&job.m, 1));
      check.shape("x2Scale", c.right, dense_layout(&job.n, 1));
      return;
    case Scales::kColumns:
      if (c.left) check.shape("x1Scale", c.left, dense_layout(&one, 1));
      check.shape("x2Scale", c.right, dense_layout(&job.n, 1));
      return;
    case Scales::kPairs: break;
  }
  const int64_t pairs = job.k / (2 * kPairedGroup);
  check.that(job.k % (2 * kPairedGroup) == 0,
             "x1 has an inner dimension of %" PRId64 "; it must be a multiple of 64", job.k);
  const int64_t left[] = {job.m, job.batch, pairs, 2};
  const int64_t right[] = {job.batch, job.turned ? job.n : pairs, job.turned ? pairs : job.n, 2};
  check.shape("x1Scale", c.left, dense_layout(left, 4));
  check.shape("x2Scale", c.right, dense_layout(right, 4));
  check_group_size(check, c.group_size, 1, 1, kPairedGroup);
}

Status check_transpose_quant(const TransposeQuantCall &c, TransposeQuantJob *job) {
  Check check(c.op);
  check.required("x1", c.x1).required("x2", c.x2).optional("x1Scale", c.left);
  check.required("x2Scale", c.right).required("permX1", c.perm1).required("permX2", c.perm2);
  check.required("permY", c.perm_out).required("out", c.out).optional("bias", c.bias);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.that(c.bias == nullptr, "bias is given; it is reserved and must be null");
  check_dtypes(check, c, job);
  if (check.ok()) check_operands(check, c, job);
  if (check.ok()) check_scales(check, c, *job);
  return check.status();
}

// The scales of one product of the stack: x1Scale (m, batch, ..) and x2Scale (batch, ..).
void place_scales(const TransposeQuantJob &job, int64_t index, FloatProduct *product) {
  if (job.scales != Scales::kPairs) {
    product->left_map.row_step = job.scales == Scales::kRowsAndColumns ? 1 : 0;
    product->right_map.row_step = 1;
    return;
  }
  const int64_t row = 2 * (job.k / (2 * kPairedGroup));
  product->group = kPairedGroup;
  product->left_map = paired_scales(job.m, job.k, false);
  product->left_map.row_step = job.batch * row;
  product->right_map = paired_scales(job.n, job.k, !job.turned);
  product->left += index * row;
  product->right += index * job.n * row;
}

// Rounds a finished product to its dtype.
void store(const std::vector<float> &total, const TransposeQuantJob &job, int64_t index,
           const aclTensor &out) {
  if (out.dtype == ACL_HIFLOAT8) {
    const LowCodes to(out);
    std::vector<uint8_t> codes(static_cast<size_t>(job.n));
    for (int64_t i = 0; i < job.m; ++i) {
      encoder(ACL_HIFLOAT8, LowRounding::kRound)(total.data() + i * job.n, job.n, 1.0f,
                                                 codes.data());
      to.write((i * job.batch + index) * job.n, job.n, codes.data());
    }
    return;
  }
  const View view = view_of(out);
  const Layout &l = view.layout;
  for (int64_t i = 0; i < job.m; ++i)
    store_f32(total.data() + i * job.n, view.data, view.dtype,
              i * l.stride[0] + index * l.stride[1], l.stride[2], job.n);
}

Status run(const TransposeQuantJob &job, const PlanContext &c) {
  aclTensor rows = c.tensor(job.x1);
  std::swap(rows.shape[0], rows.shape[1]);
  std::swap(rows.strides[0], rows.strides[1]);
  const FloatStack x1(rows);
  FloatStack x2(c.tensor(job.x2));
  if (job.turned) x2.transpose();
  const std::vector<float> left = c.has(job.left) ? float_scales(c.tensor(job.left))
                                                  : std::vector<float>{1.0f},
                           right = float_scales(c.tensor(job.right));
  for (int64_t index = 0; index < job.batch; ++index) {
    FloatProduct product;
    product.x = x1.stack().at(index * x1.stack().batch.stride[0]);
    product.w = x2.stack().at(index * x2.stack().batch.stride[0]);
    product.left = left.data();
    product.right = right.data();
    place_scales(job, index, &product);
    std::vector<float> total(static_cast<size_t>(job.m * job.n));
    multiply(product, total.data());
    store(total, job, index, c.tensor(job.out));
  }
  return 0;
}

Status plan_transpose_quant(const TransposeQuantCall &c, uint64_t *workspace_size,
                            aclOpExecutor **executor) {
  TransposeQuantJob job{};
  if (const Status status = check_transpose_quant(c, &job)) return status;
  PlanBuilder plan(c.op);
  job.x1 = plan.input(c.x1);
  job.x2 = plan.input(c.x2);
  plan.unused(c.bias);
  job.left = plan.input(c.left);
  job.right = plan.input(c.right);
  job.out = plan.output(c.out);
  return plan.finish([job](PlanContext &context) { return run(job, context); }, workspace_size,
                     executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(TransposeQuantBatchMatMul,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
              const aclTensor *x1Scale, const aclTensor *x2Scale, int32_t dtype, int64_t groupSize,
              const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY,
              int32_t batchSplitFactor, aclTensor *out)) {
  return emu::plan_transpose_quant(
      {"aclnnTransposeQuantBatchMatMul", false, x1, x2, bias, x1Scale, x2Scale, dtype, groupSize,
       permX1, permX2, permY, batchSplitFactor, out},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(TransposeQuantBatchMatMulWeightNz,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *bias,
              const aclTensor *x1Scale, const aclTensor *x2Scale, int32_t dtype, int64_t groupSize,
              const aclIntArray *permX1, const aclIntArray *permX2, const aclIntArray *permY,
              int32_t batchSplitFactor, aclTensor *out)) {
  return emu::plan_transpose_quant(
      {"aclnnTransposeQuantBatchMatMulWeightNz", true, x1, x2, bias, x1Scale, x2Scale, dtype,
       groupSize, permX1, permX2, permY, batchSplitFactor, out},
      workspaceSize, executor);
}
EMU_CATCH
