// SPDX-License-Identifier: Apache-2.0
// A product of float16 with a result of 8 bits: (x1 @ x2 + bias) * scale + offset, both from the
// parameter of 64 bits.
#include <cinttypes>

#include "aclnnop/matmul.h"
#include "ops/matmul/quant/product.h"
#include "ops/op.h"

namespace emu {
namespace {

struct FloatQuantCall {
  const aclTensor *x1, *x2, *parameter, *bias;
  bool transpose_x1, transpose_x2;
  const aclTensor *out;
};

Status check_float_quant(const char *op, const FloatQuantCall &c) {
  Check check(op);
  check.required("x1", c.x1).required("x2", c.x2).required("quantParam", c.parameter);
  check.optional("biasOptional", c.bias).required("out", c.out);
  check.dtype("x1", c.x1).dtype("x2", c.x2).dtype("quantParam", c.parameter);
  check.dtype("biasOptional", c.bias).dtype("out", c.out);
  check.plain_format("x1", c.x1).plain_format("x2", c.x2).plain_format("out", c.out);
  check.rank("x1", c.x1, 2, 2).rank("x2", c.x2, 2, 2).rank("quantParam", c.parameter, 1, 1);
  check.rank("biasOptional", c.bias, 1, 1);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : {std::pair{"x1", c.x1}, {"x2", c.x2}, {"out", c.out}})
    check.that(tensor->numel() > 0, "%s has shape %s; it has no element", name,
               shape_text(layout_of(*tensor)).c_str());
  if (!check.ok()) return check.status();
  const int64_t m = c.x1->shape[c.transpose_x1 ? 1 : 0], k = c.x1->shape[c.transpose_x1 ? 0 : 1],
                depth = c.x2->shape[c.transpose_x2 ? 1 : 0],
                n = c.x2->shape[c.transpose_x2 ? 0 : 1];
  check.that(k == depth,
             "x1 %s and x2 %s cannot be multiplied: the inner sizes are %" PRId64 " and %" PRId64,
             shape_text(layout_of(*c.x1)).c_str(), shape_text(layout_of(*c.x2)).c_str(), k, depth);
  const int64_t filled = (n - 1) / 16 * 16 + 16, given = c.parameter->shape[0], shape[] = {m, n};
  check.that(given == 1 || given == filled,
             "quantParam has %" PRId64 " values; expected 1, or %" PRId64
             ", the columns filled up to a multiple of 16",
             given, filled);
  check.shape("biasOptional", c.bias, dense_layout(&n, 1));
  check.shape("out", c.out, dense_layout(shape, 2));
  return check.status();
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BatchMatmulQuant,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *quantParam,
              const aclTensor *biasOptional, bool transposeX1, bool transposeX2, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnBatchMatmulQuant";
  const FloatQuantCall call{x1, x2, quantParam, biasOptional, transposeX1, transposeX2, out};
  if (const Status status = check_float_quant(op, call)) return status;
  PlanBuilder plan(op);
  const size_t left = plan.input(x1), right = plan.input(x2), parameter = plan.input(quantParam),
               bias = plan.input(biasOptional), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Matrix a = matrix_stack(c.tensor(left)).first, b = matrix_stack(c.tensor(right)).first;
        if (transposeX1) a = a.transposed();
        if (transposeX2) b = b.transposed();
        const bool shared = memory_overlaps(c.tensor(left), c.tensor(to)) ||
                            memory_overlaps(c.tensor(right), c.tensor(to));
        const View result = view_of(c.tensor(to));
        std::unique_ptr<Snapshot> aside;
        if (shared) aside = std::make_unique<Snapshot>(result);
        const Matrix place = matrix_stack(shared ? aside->view() : result).first;
        RequantisedStore store;
        store.out = {const_cast<void *>(place.data), place.dtype, place.row.stride,
                     place.col.stride};
        store.scale = scale_values(c.tensor(parameter));
        store.shift = packed_offsets(c.tensor(parameter));
        if (c.has(bias)) store.bias = scale_values(c.tensor(bias));
        gemm_f32(a, b, store);
        if (shared) copy_view(aside->view(), result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
