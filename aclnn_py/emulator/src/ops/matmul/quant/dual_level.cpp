// SPDX-License-Identifier: Apache-2.0
// Products of FLOAT4 quantised at two levels: blocks of 32 of the inner axis have powers of two,
// blocks of 512 a FLOAT of their own.
#include <cinttypes>

#include "aclnnop/matmul.h"
#include "core/statuses.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kWide = 512;

struct DualCall {
  const char *op;
  const aclTensor *x1, *x2, *wide1, *wide2, *fine1, *fine2, *bias;
  bool transpose_x1, transpose_x2;
  int64_t wide_size, fine_size;
  const aclTensor *out;
};

// What the checks find out, and where the plan keeps the tensors.
struct DualJob {
  int64_t m, n, k;
  size_t x1, x2, wide1, wide2, fine1, fine2, bias, out;
};

Status check_dual(const DualCall &c, DualJob *job) {
  Check check(c.op);
  check.required("x1", c.x1).required("x2", c.x2).required("x1Level0Scale", c.wide1);
  check.required("x1Level1Scale", c.fine1).required("x2Level0Scale", c.wide2);
  check.required("x2Level1Scale", c.fine2).required("out", c.out).optional("biasOptional", c.bias);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.dtype("x1", c.x1).dtype("x2", c.x2).dtype("x1Level0Scale", c.wide1);
  check.dtype("x2Level0Scale", c.wide2).dtype("x1Level1Scale", c.fine1);
  check.dtype("x2Level1Scale", c.fine2).dtype("biasOptional", c.bias).dtype("out", c.out);
  check.that(!c.transpose_x1, "transposeX1 is true; only false is supported");
  check.that(c.transpose_x2, "transposeX2 is false; only true is supported");
  check.that(c.wide_size == kWide, "level0GroupSize is %" PRId64 "; allowed: 512", c.wide_size);
  check.that(c.fine_size == kPairedGroup, "level1GroupSize is %" PRId64 "; allowed: 32",
             c.fine_size);
  check.rank("x1", c.x1, 2, 2).rank("x2", c.x2, 2, 2).plain_format("x1", c.x1);
  if (!check.ok()) return check.status();
  check.that(is_fractal(*c.x2), "x2 has the format %s; allowed: FRACTAL_NZ",
             format_name(c.x2->format));
  check_float4(check, "x1", c.x1);
  check_float4(check, "x2", c.x2);
  job->m = c.x1->shape[0];
  job->k = c.x1->shape[1];
  job->n = c.x2->shape[0];
  check.that(c.x2->shape[1] == job->k, "x2 has an inner dimension of %" PRId64 "; x1 has %" PRId64,
             c.x2->shape[1], job->k);
  check.that(job->m > 0 && job->n > 0 && job->k > 0, "x1 or x2 is empty, which is not supported");
  if (!check.ok()) return check.status();
  const int64_t blocks = job->k / kWide + (job->k % kWide != 0);
  const int64_t left[] = {job->m, blocks}, right[] = {blocks, job->n}, out[] = {job->m, job->n};
  check.shape("x1Level0Scale", c.wide1, dense_layout(left, 2));
  check.shape("x2Level0Scale", c.wide2, dense_layout(right, 2));
  check.shape("x1Level1Scale", c.fine1, paired_scale_layout(job->m, job->k, false));
  check.shape("x2Level1Scale", c.fine2, paired_scale_layout(job->n, job->k, false));
  if (c.bias) check.shape("biasOptional", c.bias, dense_layout(&job->n, 1));
  check.shape("out", c.out, dense_layout(out, 2));
  return check.status();
}

Status run(const DualJob &job, const PlanContext &c) {
  const FloatStack x1(c.tensor(job.x1)), x2(c.tensor(job.x2));
  const std::vector<float> wide1 = float_scales(c.tensor(job.wide1)),
                           wide2 = float_scales(c.tensor(job.wide2)),
                           fine1 = float_scales(c.tensor(job.fine1)),
                           fine2 = float_scales(c.tensor(job.fine2));
  const auto count = static_cast<size_t>(job.m * job.n);
  const int64_t blocks = job.k / kWide + (job.k % kWide != 0);
  std::vector<float> total(count);
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t first = block * kWide;
    FloatProduct part;
    part.x = x1.stack().first;
    part.w = x2.stack().first.transposed();
    part.group = kPairedGroup;
    cut_inner(&part, first, std::min(kWide, job.k - first));
    part.left_map = paired_scales(job.m, job.k, false);
    part.right_map = paired_scales(job.n, job.k, false);
    part.left = fine1.data() + part.left_map.at(0, first / kPairedGroup);
    part.right = fine2.data() + part.right_map.at(0, first / kPairedGroup);
    std::vector<float> sums(count);
    multiply(part, sums.data());
    for (int64_t i = 0; i < job.m; ++i) {
      const float row = wide1[static_cast<size_t>(i * blocks + block)];
      for (int64_t j = 0; j < job.n; ++j) {
        const auto at = static_cast<size_t>(i * job.n + j);
        total[at] += sums[at] * (row * wide2[static_cast<size_t>(block * job.n + j)]);
      }
    }
  }
  const std::vector<float> bias =
      c.has(job.bias) ? float_scales(c.tensor(job.bias)) : std::vector<float>();
  const View out = view_of(c.tensor(job.out));
  for (int64_t i = 0; i < job.m; ++i) {
    float *row = total.data() + i * job.n;
    for (size_t j = 0; j < bias.size(); ++j) row[j] += bias[j];
    store_f32(row, out.data, out.dtype, i * out.layout.stride[0], out.layout.stride[1], job.n);
  }
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DualLevelQuantMatmulWeightNz,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Level0Scale,
              const aclTensor *x2Level0Scale, const aclTensor *x1Level1Scale,
              const aclTensor *x2Level1Scale, const aclTensor *biasOptional, bool transposeX1,
              bool transposeX2, int64_t level0GroupSize, int64_t level1GroupSize, aclTensor *out)) {
  const emu::DualCall call{"aclnnDualLevelQuantMatmulWeightNz",
                           x1,
                           x2,
                           x1Level0Scale,
                           x2Level0Scale,
                           x1Level1Scale,
                           x2Level1Scale,
                           biasOptional,
                           transposeX1,
                           transposeX2,
                           level0GroupSize,
                           level1GroupSize,
                           out};
  emu::DualJob job{};
  if (const emu::Status status = emu::check_dual(call, &job)) return status;
  emu::PlanBuilder plan(call.op);
  job.x1 = plan.input(x1);
  job.x2 = plan.input(x2);
  job.wide1 = plan.input(x1Level0Scale);
  job.wide2 = plan.input(x2Level0Scale);
  job.fine1 = plan.input(x1Level1Scale);
  job.fine2 = plan.input(x2Level1Scale);
  job.bias = plan.input(biasOptional);
  job.out = plan.output(out);
  return plan.finish([job](emu::PlanContext &context) { return emu::run(job, context); },
                     workspaceSize, executor);
}
EMU_CATCH
