// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/matmul/quant/activation_quant.h"

#include <cinttypes>
#include <cstring>

#include "aclnnop/matmul.h"
#include "core/statuses.h"
#include "ops/float_kernels.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/matmul/quant/operand.h"

namespace emu {

MxFormat check_activation_quant(Check &check, const ActivationQuantAttributes &given,
                                const char *y_name, const aclTensor *y, Gelu *gelu) {
  check.required_text("activationType", given.activation);
  if (!given.empty) check.required_text("quantMode", given.quant_mode);
  if (!check.ok()) return {};
  *gelu = std::strcmp(given.activation, "gelu_erf") == 0 ? Gelu::kErf : Gelu::kTanh;
  check.that(std::strcmp(given.activation, "gelu_tanh") == 0 || (given.erf && *gelu == Gelu::kErf),
             "activationType is \"%.40s\"; allowed: \"gelu_tanh\"%s", given.activation,
             given.erf ? ", \"gelu_erf\"" : "");
  const auto absent = [&](const char *text) {
    return given.empty && (text == nullptr || *text == '\0');
  };
  check.that(absent(given.quant_mode) || std::strcmp(given.quant_mode, "mx") == 0,
             "%s is \"%.40s\"; allowed: \"mx\"", given.empty ? "quantModeOptional" : "quantMode",
             given.quant_mode ? given.quant_mode : "");
  const char *const rounding = absent(given.round_mode) ? nullptr : given.round_mode;
  return check_mx_format(check,
                         {"roundModeOptional", rounding, "", static_cast<int64_t>(y->dtype),
                          given.algorithm, kTwoAlgorithms},
                         y_name, y);
}

void store_activated(std::vector<float> &values, int64_t rows, int64_t columns, Gelu gelu,
                     const MxFormat &format, const aclTensor &y, const aclTensor &scale) {
  const float tanh_form = gelu == Gelu::kTanh ? 1.0f : 0.0f;
  const auto activation = float_kernel_fn(FloatKernel::gelu_form);
  MxPlan plan;
  plan.outer = rows;
  plan.length = columns;
  plan.inner = 1;
  plan.block = kMxBlock;
  mx_quantise(plan, format, LowCodes(y), LowCodes(scale),
              [&](int64_t start, int64_t count, float *to) {
                activation(values.data() + start, count, &tanh_form, to);
              });
}

namespace {

struct ActivationQuantCall {
  const char *op;
  const aclTensor *x1, *x2, *left, *right, *bias;
  bool transpose_x1, transpose_x2;
  int64_t group_size;
  ActivationQuantAttributes attributes;
  const aclTensor *y, *scale;
};

// What the checks find out, and where the plan keeps the tensors.
struct ActivationQuantJob {
  bool turned_x1, turned_x2;
  int64_t m, n, k;
  Gelu gelu;
  MxFormat format;
  size_t x1, x2, left, right, bias, y, scale;
};

// The batch of an operand followed by the shape of the scales of one matrix.
Layout batched_scales(const aclTensor &operand, const Layout &scales) {
  Layout shape = layout_of(operand);
  shape.rank -= 2;
  for (int d = 0; d < scales.rank; ++d) shape.push(scales.shape[d], 0);
  return dense_like(shape);
}

void check_shapes(Check &check, const ActivationQuantCall &c, ActivationQuantJob *job) {
  check.rank("x1", c.x1, 2, 6).rank("x2", c.x2, 2, 6).rank("yOut", c.y, 2, 6);
  check.plain_format("x1", c.x1);
  if (!check.ok()) return;
  check.that(is_fractal(*c.x2), "x2 has the format %s; allowed: FRACTAL_NZ",
             format_name(c.x2->format));
  check_matrix_layout(check, "x1", *c.x1);
  check_matrix_layout(check, "x2", *c.x2);
  if (!check.ok()) return;
  const NumberShape a = number_shape(*c.x1, Packing::kNone),
                    b = number_shape(*c.x2, Packing::kNone);
  job->m = c.transpose_x1 ? a.cols : a.rows;
  job->k = c.transpose_x1 ? a.rows : a.cols;
  job->n = c.transpose_x2 ? b.rows : b.cols;
  check.that((c.transpose_x2 ? b.cols : b.rows) == job->k,
             "x1 %s and x2 %s cannot be multiplied: their inner sizes differ",
             shape_text(layout_of(*c.x1)).c_str(), shape_text(layout_of(*c.x2)).c_str());
  check.that(job->k > 1 && job->n > 1,
             "x2 has shape %s; with FRACTAL_NZ neither dimension of its matrices may be 0 or 1",
             shape_text(layout_of(*c.x2)).c_str());
  Layout expected, left = layout_of(*c.x1), right = layout_of(*c.x2);
  left.rank -= 2;
  right.rank -= 2;
  check.that(broadcast_shapes(left, right, &expected),
             "x2 %s does not broadcast with x1 %s before the last two dimensions",
             shape_text(layout_of(*c.x2)).c_str(), shape_text(layout_of(*c.x1)).c_str());
  if (!check.ok()) return;
  expected.push(job->m, 0);
  expected.push(job->n, 0);
  check.that(expected.count() > 0, "x1 or x2 is empty, which is not supported");
  check.shape("yOut", c.y, expected);
  if (!check.ok()) return;
  check.shape("yScaleOut", c.scale, mx_scale_layout(expected, expected.rank - 1, kMxBlock));
  check.shape("x1ScaleOptional", c.left,
              batched_scales(*c.x1, paired_scale_layout(job->m, job->k, c.transpose_x1)));
  check.shape("x2Scale", c.right,
              batched_scales(*c.x2, paired_scale_layout(job->n, job->k, !c.transpose_x2)));
  if (!c.bias || !check.ok()) return;
  const Layout bias = layout_of(*c.bias);
  const bool row = bias.rank == 1 && bias.shape[0] == job->n;
  const bool rows = bias.rank == 3 && expected.rank == 3 && bias.shape[0] == expected.shape[0] &&
                    bias.shape[1] == 1 && bias.shape[2] == job->n;
  check.that(row || rows, "biasOptional has shape %s; expected (%" PRId64 ",)%s",
             shape_text(bias).c_str(), job->n,
             expected.rank == 3 ? ", or one such row for each matrix of yOut" : "");
}

Status check_call(const ActivationQuantCall &c, ActivationQuantJob *job) {
  Check check(c.op);
  check.required("x1", c.x1).required("x2", c.x2).required("x1ScaleOptional", c.left);
  check.required("x2Scale", c.right).optional("biasOptional", c.bias);
  check.required("yOut", c.y).required("yScaleOut", c.scale);
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.dtype("x1", c.x1).dtype("x2", c.x2).dtype("x1ScaleOptional", c.left);
  check.dtype("x2Scale", c.right).dtype("biasOptional", c.bias);
  check.dtype("yOut", c.y).dtype("yScaleOut", c.scale);
  if (check.ok()) check.same_dtype("yOut", c.y->dtype, "x1", c.x1->dtype);
  job->format = check_activation_quant(check, c.attributes, "yOut", c.y, &job->gelu);
  constexpr int64_t kWhole = int64_t{1} << 32 | 1 << 16 | kPairedGroup;
  const int64_t size = c.group_size & 0xffffffffffff;
  check.that(size == 0 || size == kWhole,
             "groupSize is %" PRId64 "; allowed: 0 and %" PRId64 " (1, 1, 32)", c.group_size,
             kWhole);
  if (check.ok()) check_shapes(check, c, job);
  return check.status();
}

Status run(const ActivationQuantJob &job, const PlanContext &c) {
  FloatStack x1(c.tensor(job.x1)), x2(c.tensor(job.x2));
  if (job.turned_x1) x1.transpose();
  if (job.turned_x2) x2.transpose();
  const std::vector<float> left = float_scales(c.tensor(job.left)),
                           right = float_scales(c.tensor(job.right));
  const std::vector<float> bias =
      c.has(job.bias) ? float_scales(c.tensor(job.bias)) : std::vector<float>();
  const aclTensor &y = c.tensor(job.y);
  Layout batch = layout_of(y);
  batch.rank -= 2;
  batch = dense_like(batch);
  const Layout a = broadcast_to(x1.stack().batch, batch), b = broadcast_to(x2.stack().batch, batch);
  const int64_t matrices = batch.count(), size = job.m * job.n;
  // Matrices of an operand lie one after the other, and so do their scales.
  const int64_t left_matrix = job.m * job.k, right_matrix = job.n * job.k,
                left_scales = paired_scale_layout(job.m, job.k, false).count(),
                right_scales = paired_scale_layout(job.n, job.k, false).count();
  std::vector<float> values(static_cast<size_t>(matrices * size));
  for (int64_t index = 0; index < matrices; ++index) {
    int64_t at_a = 0, at_b = 0, rest = index;
    for (int d = batch.rank - 1; d >= 0; --d) {
      at_a += rest % batch.shape[d] * a.stride[d];
      at_b += rest % batch.shape[d] * b.stride[d];
      rest /= batch.shape[d];
    }
    FloatProduct product;
    product.x = x1.stack().at(at_a);
    product.w = x2.stack().at(at_b);
    product.group = kPairedGroup;
    product.left_map = paired_scales(job.m, job.k, job.turned_x1);
    product.right_map = paired_scales(job.n, job.k, !job.turned_x2);
    product.left = left.data() + at_a / left_matrix * left_scales;
    product.right = right.data() + at_b / right_matrix * right_scales;
    float *total = values.data() + index * size;
    multiply(product, total);
    const auto columns = static_cast<size_t>(job.n);
    const float *shift = bias.data() + (bias.size() > columns ? index * job.n : 0);
    for (int64_t i = 0; i < size && !bias.empty(); ++i) total[i] += shift[i % job.n];
  }
  store_activated(values, matrices * job.m, job.n, job.gelu, job.format, y, c.tensor(job.scale));
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantMatmulActivationQuantWeightNz,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *x1ScaleOptional,
              const aclTensor *x2Scale, const aclTensor *biasOptional, bool transposeX1,
              bool transposeX2, int64_t groupSize, const char *activationType,
              const char *quantMode, const char *roundModeOptional, int64_t scaleAlg, double,
              aclTensor *yOut, aclTensor *yScaleOut)) {
  const emu::ActivationQuantCall call{
      "aclnnQuantMatmulActivationQuantWeightNz",
      x1,
      x2,
      x1ScaleOptional,
      x2Scale,
      biasOptional,
      transposeX1,
      transposeX2,
      groupSize,
      {activationType, quantMode, roundModeOptional, scaleAlg, true, false},
      yOut,
      yScaleOut};
  emu::ActivationQuantJob job{};
  job.turned_x1 = transposeX1;
  job.turned_x2 = transposeX2;
  if (const emu::Status status = emu::check_call(call, &job)) return status;
  emu::PlanBuilder plan(call.op);
  job.x1 = plan.input(x1);
  job.x2 = plan.input(x2);
  job.left = plan.input(x1ScaleOptional);
  job.right = plan.input(x2Scale);
  job.bias = plan.input(biasOptional);
  job.y = plan.output(yOut);
  job.scale = plan.output(yScaleOut);
  return plan.finish([job](emu::PlanContext &context) { return emu::run(job, context); },
                     workspaceSize, executor);
}
EMU_CATCH
