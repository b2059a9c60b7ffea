// SPDX-License-Identifier: Apache-2.0
// Quantised products: the plan and the kernel of the family, and the operators of its newer
// versions.
#include "ops/matmul/quant/quant_matmul.h"

#include <algorithm>
#include <memory>

#include "aclnnop/matmul.h"
#include "ops/float_kernels.h"
#include "ops/matmul/quant/operand.h"
#include "ops/matmul/quant/product.h"
#include "ops/matmul/quant/quant_matmul_floats.h"

namespace emu {
namespace {

// Where the plan keeps the tensors; those of absent parameters are absent there.
struct Job {
  QuantMatmulMode mode;
  FusedType fused;
  float scale;  // where x2_scale is absent
  bool transpose_x1, transpose_x2;
  size_t x1, x2, x1_scale, x2_scale, x2_offset, bias, out;
};

std::vector<float> values_or_none(const PlanContext &c, size_t index) {
  return c.has(index) ? scale_values(c.tensor(index)) : std::vector<float>();
}

void gelu_erf(float *values, int64_t count) {
  float_kernel_fn(FloatKernel::gelu)(values, count, nullptr, values);
}
void gelu_tanh(float *values, int64_t count) {
  static const float tanh_form[] = {1.0f};
  float_kernel_fn(FloatKernel::gelu_form)(values, count, tanh_form, values);
}

// One matrix product for each index of out's stack.
class Run {
 public:
  Run(const Job &job, const PlanContext &context)
      : job_(job),
        c_(context),
        a_(c_.tensor(job.x1), packing_of(c_.tensor(job.x1))),
        b_(c_.tensor(job.x2), packing_of(c_.tensor(job.x2))) {
    if (job.transpose_x1) a_.transpose();
    if (job.transpose_x2) b_.transpose();
  }

  void into(const View &out) {
    const MatrixStack target = matrix_stack(out);
    const Layout batch = target.batch;
    const Layout a = broadcast_to(a_.stack().batch, batch),
                 b = broadcast_to(b_.stack().batch, batch);
    prepare();
    for (int64_t index = 0; index < batch.count(); ++index) {
      int64_t at_a = 0, at_b = 0, at_out = 0, rest = index;
      for (int d = batch.rank - 1; d >= 0; --d) {
        const int64_t i = rest % batch.shape[d];
        rest /= batch.shape[d];
        at_a += i * a.stride[d];
        at_b += i * b.stride[d];
        at_out += i * batch.stride[d];
      }
      const Matrix to = target.at(at_out);
      const MatrixOut place{const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
      product(a_.stack().at(at_a), b_.stack().at(at_b), index, place);
    }
  }

 private:
  void prepare() {
    if (job_.mode != QuantMatmulMode::kWhole) return;
    if (job_.fused != FusedType::kNone)
      form_.then = job_.fused == FusedType::kGeluTanh ? gelu_tanh : gelu_erf;
    if (!c_.has(job_.x2_scale)) {
      form_.column_scale = {job_.scale};
      return;
    }
    form_.column_scale = scale_values(c_.tensor(job_.x2_scale));
    form_.row_scale = values_or_none(c_, job_.x1_scale);
    form_.column_shift = values_or_none(c_, job_.x2_offset);
    const aclDataType scale = c_.tensor(job_.x2_scale).dtype;
    const bool packed = scale == ACL_UINT64 || scale == ACL_INT64;
    if (packed && !c_.has(job_.x2_offset) && c_.tensor(job_.out).dtype == ACL_INT8)
      form_.column_shift = packed_offsets(c_.tensor(job_.x2_scale));
  }

  // The bias of one matrix: the same for all, or its own row of (batch, 1, n).
  void take_bias(int64_t index) {
    if (!c_.has(job_.bias)) return;
    const View bias = view_of(c_.tensor(job_.bias));
    const int last = bias.layout.rank - 1;
    const int64_t first = bias.layout.rank == 3 ? index * bias.layout.stride[0] : 0,
                  step = bias.layout.stride[last], count = bias.layout.shape[last];
    if (bias.dtype == ACL_INT32) {
      form_.integer_bias = reinterpret_cast<const int32_t *>(bias.data) + first;
      form_.integer_bias_step = step;
    } else {
      form_.column_shift.resize(static_cast<size_t>(count));
      load_f32(bias.data, bias.dtype, first, step, count, form_.column_shift.data());
    }
  }

  void product(const Matrix &a, const Matrix &b, int64_t index, const MatrixOut &out) {
    take_bias(index);
    if (job_.mode == QuantMatmulMode::kWhole) return gemm_i32(a, b, DequantisedStore(form_, out));
    GroupedSums sums(a.rows, b.cols);
    if (job_.mode == QuantMatmulMode::kBlocks) {
      sums.add_blocks(a, b, scale_values(c_.tensor(job_.x1_scale)),
                      scale_values(c_.tensor(job_.x2_scale)));
    } else {
      sums.add_groups(a, b, scale_values(c_.tensor(job_.x2_scale)),
                      scale_values(c_.tensor(job_.x2_offset)));
      sums.scale_rows(scale_values(c_.tensor(job_.x1_scale)));
    }
    sums.store(form_.column_shift, out);
  }

  const Job &job_;
  const PlanContext &c_;
  IntegerStack a_, b_;
  Dequantised form_;
};

Status run(const Job &job, const PlanContext &c) {
  Run product(job, c);
  const View out = view_of(c.tensor(job.out));
  const bool shared = memory_overlaps(c.tensor(job.x1), c.tensor(job.out)) ||
                      memory_overlaps(c.tensor(job.x2), c.tensor(job.out)) ||
                      (c.has(job.bias) && memory_overlaps(c.tensor(job.bias), c.tensor(job.out)));
  if (!shared) {
    product.into(out);
    return 0;
  }
  // The result is made aside, so that no operand is overwritten while it is still read.
  const Snapshot aside(out);
  product.into(aside.view());
  copy_view(aside.view(), out);
  return 0;
}

// Adds the arguments in the order of the prototype.
Job add_arguments(PlanBuilder &plan, const QuantMatmulCall &c) {
  Job job{};
  job.x1 = plan.input(c.x1);
  job.x2 = plan.input(c.x2);
  switch (c.version) {
    case kQuantMatmulFirst:
    case kQuantMatmulV2:
      job.bias = plan.input(c.bias);
      job.x2_scale = plan.input_if(c.x2_scale);
      job.x1_scale = job.x2_offset = plan.input_if(nullptr);
      break;
    case kQuantMatmulV3:
    case kQuantMatmulV4:
      job.x2_scale = plan.input(c.x2_scale);
      job.x2_offset = plan.input(c.x2_offset);
      job.x1_scale = c.version == kQuantMatmulV4 ? plan.input(c.x1_scale) : plan.input_if(nullptr);
      job.bias = plan.input(c.bias);
      break;
    default:
      job.x1_scale = plan.input(c.x1_scale);
      job.x2_scale = plan.input(c.x2_scale);
      plan.unused(c.y_scale);
      plan.unused(c.x1_offset);
      job.x2_offset = plan.input(c.x2_offset);
      plan.unused(c.y_offset);
      job.bias = plan.input(c.bias);
      if (c.version == kFusedQuantMatmul || c.version == kFusedQuantMatmulNz) plan.unused(c.fused);
  }
  job.out = plan.output(c.out);
  return job;
}

}  // namespace

Status plan_quant_matmul(const QuantMatmulCall &c, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  QuantMatmulProblem problem{c};
  if (const Status status = check_quant_matmul(&problem)) return status;
  PlanBuilder plan(c.op);
  Job job = add_arguments(plan, c);
  job.mode = problem.mode;
  job.fused = problem.fused;
  job.scale = c.scale;
  job.transpose_x1 = c.transpose_x1;
  job.transpose_x2 = c.transpose_x2;
  const bool nothing = problem.nothing;
  return plan.finish([=](PlanContext &context) { return nothing ? 0 : run(job, context); },
                     workspace_size, executor);
}

}  // namespace emu

EMU_OPERATOR(QuantMatmulV3, (const aclTensor *x1, const aclTensor *x2, const aclTensor *scale,
                             const aclTensor *offsetOptional, const aclTensor *biasOptional,
                             bool transposeX1, bool transposeX2, aclTensor *out)) {
  emu::QuantMatmulCall call{
      "aclnnQuantMatmulV3",
      emu::kQuantMatmulV3,
      {"pertokenScale", "scale", "yScale", "x1Offset", "offsetOptional", "yOffset", "biasOptional"},
      x1,
      x2};
  call.x2_scale = scale;
  call.x2_offset = offsetOptional;
  call.bias = biasOptional;
  call.transpose_x1 = transposeX1;
  call.transpose_x2 = transposeX2;
  call.out = out;
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulV4,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *scale,
              const aclTensor *offsetOptional, const aclTensor *pertokenScaleOptional,
              const aclTensor *biasOptional, bool transposeX1, bool transposeX2, aclTensor *out)) {
  emu::QuantMatmulCall call{"aclnnQuantMatmulV4",
                            emu::kQuantMatmulV4,
                            {"pertokenScaleOptional", "scale", "yScale", "x1Offset",
                             "offsetOptional", "yOffset", "biasOptional"},
                            x1,
                            x2};
  call.x2_scale = scale;
  call.x2_offset = offsetOptional;
  call.x1_scale = pertokenScaleOptional;
  call.bias = biasOptional;
  call.transpose_x1 = transposeX1;
  call.transpose_x2 = transposeX2;
  call.out = out;
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulV5,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional,
              const aclTensor *x2Scale, const aclTensor *yScaleOptional,
              const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional,
              const aclTensor *yOffsetOptional, const aclTensor *biasOptional, bool transposeX1,
              bool transposeX2, int64_t groupSize, aclTensor *out)) {
  emu::QuantMatmulCall call{"aclnnQuantMatmulV5",
                            emu::kQuantMatmulV5,
                            {"x1ScaleOptional", "x2Scale", "yScaleOptional", "x1OffsetOptional",
                             "x2OffsetOptional", "yOffsetOptional", "biasOptional"},
                            x1,
                            x2,
                            x1ScaleOptional,
                            x2Scale,
                            yScaleOptional,
                            x1OffsetOptional,
                            x2OffsetOptional,
                            yOffsetOptional,
                            biasOptional,
                            transposeX1,
                            transposeX2,
                            groupSize,
                            out};
  if (emu::is_product_of_floats(call))
    return emu::plan_quant_matmul_floats(call, workspaceSize, executor);
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantMatmulWeightNz,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional,
              const aclTensor *x2Scale, const aclTensor *yScaleOptional,
              const aclTensor *x1OffsetOptional, const aclTensor *x2OffsetOptional,
              const aclTensor *yOffsetOptional, const aclTensor *biasOptional, bool transposeX1,
              bool transposeX2, int64_t groupSize, aclTensor *out)) {
  emu::QuantMatmulCall call{"aclnnQuantMatmulWeightNz",
                            emu::kQuantMatmulNz,
                            {"x1ScaleOptional", "x2Scale", "yScaleOptional", "x1OffsetOptional",
                             "x2OffsetOptional", "yOffsetOptional", "biasOptional"},
                            x1,
                            x2,
                            x1ScaleOptional,
                            x2Scale,
                            yScaleOptional,
                            x1OffsetOptional,
                            x2OffsetOptional,
                            yOffsetOptional,
                            biasOptional,
                            transposeX1,
                            transposeX2,
                            groupSize,
                            out};
  if (emu::is_product_of_floats(call))
    return emu::plan_quant_matmul_floats(call, workspaceSize, executor);
  return emu::plan_quant_matmul(call, workspaceSize, executor);
}
EMU_CATCH
