// SPDX-License-Identifier: Apache-2.0
// Quantised products of a stack that are added up: sum over b of x1[b] @ x2[b] * x1Scale[b] *
// x2Scale, in float32 and in the order of the stack, rounded once.
#include <cinttypes>

#include "aclnnop/matmul.h"
#include "ops/matmul/quant/operand.h"
#include "ops/matmul/quant/product.h"
#include "ops/op.h"

namespace emu {
namespace {

struct ReduceSumCall {
  const aclTensor *x1, *x2, *x1_scale, *x2_scale;
  const aclTensor *reserved[5];
  bool transpose_x1, transpose_x2;
  int64_t group_size;
  const aclIntArray *dims;
  bool keep_dims;
  const aclTensor *out;
};

const char *const kReserved[] = {"yScaleOptional", "x1OffsetOptional", "x2OffsetOptional",
                                 "yOffsetOptional", "biasOptional"};

Status check_reduce_sum(const char *op, const ReduceSumCall &c) {
  Check check(op);
  check.required("x1", c.x1).required("x2", c.x2).required("x1Scale", c.x1_scale);
  check.required("x2Scale", c.x2_scale).required("dims", c.dims).required("out", c.out);
  for (int i = 0; i < 5; ++i) {
    check.optional(kReserved[i], c.reserved[i]);
    check.that(c.reserved[i] == nullptr, "%s is given; it is reserved and must be null",
               kReserved[i]);
  }
  check.dtype("x1", c.x1).dtype("x2", c.x2).dtype("x1Scale", c.x1_scale);
  check.dtype("x2Scale", c.x2_scale).dtype("out", c.out);
  check.that(!c.transpose_x1, "transposeX1 is true; allowed: false");
  check.that(!c.transpose_x2, "transposeX2 is true; allowed: false");
  check.that(c.group_size == 0, "groupSize is %" PRId64 "; allowed: 0", c.group_size);
  check.that(!c.keep_dims, "keepDims is true; allowed: false");
  if (!check.ok()) return check.status();
  check.that(c.dims->values.size() == 1 && c.dims->values[0] == 0,
             "dims has %zu entries; allowed: the one entry 0", c.dims->values.size());
  check.that(is_fractal(*c.x2), "x2 has the format %s; allowed: FRACTAL_NZ",
             format_name(c.x2->format));
  check.that(!is_fractal(*c.x1), "x1 has the format FRACTAL_NZ; allowed: ND");
  check.rank("x1", c.x1, 3, 3).rank("x2", c.x2, 3, 3);
  for (const auto &[name, tensor] : {std::pair{"x1", c.x1}, {"x2", c.x2}, {"out", c.out}})
    check.that(tensor->numel() > 0, "%s has shape %s; it has no element", name,
               shape_text(layout_of(*tensor)).c_str());
  if (!check.ok()) return check.status();
  const int64_t batch = c.x1->shape[0], m = c.x1->shape[1], k = c.x1->shape[2], n = c.x2->shape[2];
  check.that(c.x2->shape[0] == batch && c.x2->shape[1] == k, "x1 %s and x2 %s cannot be multiplied",
             shape_text(layout_of(*c.x1)).c_str(), shape_text(layout_of(*c.x2)).c_str());
  const int64_t rows[] = {batch, m}, result[] = {m, n};
  check.shape("x1Scale", c.x1_scale, dense_layout(rows, 2));
  check.shape("x2Scale", c.x2_scale, dense_layout(&n, 1));
  check.shape("out", c.out, dense_layout(result, 2));
  return check.status();
}

struct Job {
  size_t x1, x2, x1_scale, x2_scale, out;
};

Status run(const Job &job, const PlanContext &c) {
  const MatrixStack a = matrix_stack(c.tensor(job.x1)), b = matrix_stack(c.tensor(job.x2));
  const std::vector<float> rows = scale_values(c.tensor(job.x1_scale)),
                           columns = scale_values(c.tensor(job.x2_scale));
  const int64_t m = a.first.rows;
  GroupedSums sums(m, b.first.cols);
  for (int64_t i = 0; i < a.batch.shape[0]; ++i)
    sums.add_scaled(a.at(i * a.batch.stride[0]), b.at(i * b.batch.stride[0]), rows.data() + i * m,
                    columns.data());
  const Matrix to = matrix_stack(view_of(c.tensor(job.out))).first;
  sums.store({}, {const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride});
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantMatmulReduceSumWeightNz,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *x1Scale,
              const aclTensor *x2Scale, const aclTensor *yScaleOptional,
              const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional,
              const aclTensor *yOffsetOptional, const aclTensor *biasOptional, bool transposeX1,
              bool transposeX2, int64_t groupSize, const aclIntArray *dims, bool keepDims,
              aclTensor *out)) {
  constexpr const char *op = "aclnnQuantMatmulReduceSumWeightNz";
  const emu::ReduceSumCall call{
      x1,
      x2,
      x1Scale,
      x2Scale,
      {yScaleOptional, x1OffsetOptional, x2OffsetOptional, yOffsetOptional, biasOptional},
      transposeX1,
      transposeX2,
      groupSize,
      dims,
      keepDims,
      out};
  if (const emu::Status status = emu::check_reduce_sum(op, call)) return status;
  emu::PlanBuilder plan(op);
  emu::Job job{};
  job.x1 = plan.input(x1);
  job.x2 = plan.input(x2);
  job.x1_scale = plan.input(x1Scale);
  job.x2_scale = plan.input(x2Scale);
  for (const aclTensor *tensor : call.reserved) plan.unused(tensor);
  job.out = plan.output(out);
  return plan.finish([job](emu::PlanContext &c) { return emu::run(job, c); }, workspaceSize,
                     executor);
}
EMU_CATCH
