// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// WeightQuantBatchMatmul, the first version: a weight of INT8 with one of two sets of parameters.
// Up to 64 rows of x use (x2 + deqOffset) * deqScale, more rows the same numbers in another form:
// (x2 * antiquantScale + addOffset) * mulScale.
#include <cmath>

#include "aclnnop/matmul.h"
#include "core/chip.h"
#include "ops/matmul/quant/product.h"
#include "ops/matmul/quant/weight_quant.h"
#include "ops/shared/packed_scale.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnWeightQuantBatchMatmul";
constexpr int64_t kFewRows = 64, kDiagonal = 32;

struct FirstVersionCall {
  const aclTensor *x1, *x2, *diagonal, *deq_offset, *deq_scale, *add_offset, *mul_scale, *bias;
  bool turned[2];
  float scale, offset;
  const aclTensor *out;
};

struct FirstVersionSizes {
  int64_t rows, depth, cols;
  bool few;  // the set of parameters for few rows
};

// One value, or one for each column, in one or two dimensions.
void check_table(Check &check, const char *name, const aclTensor *tensor, int64_t cols) {
  if (tensor == nullptr) return;
  check.rank(name, tensor, 1, 2);
  if (!check.ok()) return;
  check.that(tensor->numel() == 1 ||
                 (tensor->numel() == cols &&
                  (tensor->rank() == 1 || tensor->shape[0] == 1 || tensor->shape[1] == 1)),
             "%s has shape %s; expected one value or %lld", name,
             shape_text(layout_of(*tensor)).c_str(), wide(cols));
}

void check_dtypes(Check &check, const FirstVersionCall &a) {
  check.dtype("x1", a.x1).dtype("x2", a.x2).dtype("biasOptional", a.bias);
  check.dtype("diagonalMatrixOptional", a.diagonal).dtype("deqOffsetOptional", a.deq_offset);
  check.dtype("deqScaleOptional", a.deq_scale).dtype("addOffsetOptional", a.add_offset);
  check.dtype("mulScaleOptional", a.mul_scale).dtype("out", a.out);
}

Check check_call(const FirstVersionCall &a, FirstVersionSizes *s) {
  Check check(kOp);
  check.required("x1", a.x1).required("x2", a.x2).required("out", a.out);
  check.optional("biasOptional", a.bias).optional("diagonalMatrixOptional", a.diagonal);
  check.optional("deqOffsetOptional", a.deq_offset).optional("deqScaleOptional", a.deq_scale);
  check.optional("addOffsetOptional", a.add_offset).optional("mulScaleOptional", a.mul_scale);
  check.that(!chip_is_950(), "the chip is %s, which does not have this operator", soc_name());
  if (!check.ok()) return check;
  // How many rows there are decides what must be given.
  const bool flat = a.x1->rank() == 2;
  s->rows = flat ? a.x1->shape[a.turned[0] ? 1 : 0] : 0;
  if (flat && s->rows < kFewRows) {
    check.required("diagonalMatrixOptional", a.diagonal);
    check.required("deqOffsetOptional", a.deq_offset).required("deqScaleOptional", a.deq_scale);
  }
  check_dtypes(check, a);
  for (const auto &[name, tensor] : {std::pair{"x1", a.x1}, {"x2", a.x2}, {"out", a.out}})
    check.plain_format(name, tensor).rank(name, tensor, 2, 2);
  if (!check.ok()) return check;
  s->few = s->rows < kFewRows || (s->rows == kFewRows && a.diagonal && a.deq_offset && a.deq_scale);
  s->depth = a.x1->shape[a.turned[0] ? 0 : 1], s->cols = a.x2->shape[a.turned[1] ? 0 : 1];
  const int64_t depth = a.x2->shape[a.turned[1] ? 1 : 0];
  check.that(depth == s->depth, "x1 %s%s and x2 %s%s cannot be multiplied",
             shape_text(layout_of(*a.x1)).c_str(), a.turned[0] ? ", transposed," : "",
             shape_text(layout_of(*a.x2)).c_str(), a.turned[1] ? ", transposed," : "");
  const int64_t made[] = {s->rows, s->cols}, square[] = {kDiagonal, kDiagonal};
  check.shape("diagonalMatrixOptional", a.diagonal, dense_layout(square, 2));
  check_table(check, "deqOffsetOptional", a.deq_offset, s->cols);
  check_table(check, "deqScaleOptional", a.deq_scale, s->cols);
  check_table(check, "addOffsetOptional", a.add_offset, s->cols);
  check_table(check, "mulScaleOptional", a.mul_scale, s->cols);
  check.shape("biasOptional", a.bias, dense_layout(&s->cols, 1));
  check.shape("out", a.out, dense_layout(made, 2));
  check.that(a.offset == 0.0f,
             "antiquantOffset is %g; allowed: 0, as the documents disagree about its sign. Take "
             "aclnnWeightQuantBatchMatmulV3 for a weight with an offset",
             static_cast<double>(a.offset));
  check.that(s->few || (std::isfinite(a.scale) && a.scale != 0.0f),
             "antiquantScale is %g; allowed: finite numbers but 0", static_cast<double>(a.scale));
  return check;
}

struct FirstVersionPlan {
  size_t x1, x2, offset, scale, bias, out;
  FirstVersionSizes sizes;
  bool turned[2];
  float antiquant_scale;
};

aclTensor matrix_of(const aclTensor &tensor, bool turned) {
  aclTensor matrix = tensor;
  if (turned) {
    std::swap(matrix.shape[0], matrix.shape[1]);
    std::swap(matrix.strides[0], matrix.strides[1]);
  }
  return matrix;
}

// A value for each column.
std::vector<float> spread(PlanContext &c, size_t index, int64_t cols, float fallback) {
  std::vector<float> values(static_cast<size_t>(cols), fallback);
  if (!c.has(index)) return values;
  const aclTensor &tensor = c.tensor(index);
  const int64_t count = tensor.numel();
  std::vector<float> read(static_cast<size_t>(count));
  if (tensor.dtype == ACL_UINT64) {
    const auto packed = read_all<uint64_t>(c, index, count, 0);
    for (size_t i = 0; i < packed.size(); ++i) read[i] = unpack_scale(packed[i]);
  } else {
    read = read_all<float>(c, index, count, 0.0f);
  }
  for (size_t j = 0; j < values.size(); ++j) values[j] = read[count == 1 ? 0 : j];
  return values;
}

GroupTable table_of(const std::vector<float> &values) {
  View view;
  view.data = const_cast<char *>(reinterpret_cast<const char *>(values.data()));
  view.dtype = ACL_FLOAT;
  view.layout.push(static_cast<int64_t>(values.size()), 1);
  return GroupTable(view, 1, static_cast<int64_t>(values.size()));
}

Status run_first_version(PlanContext &c, const FirstVersionPlan &p) {
  const FirstVersionSizes &s = p.sizes;
  std::vector<float> scale = spread(c, p.scale, s.cols, 1.0f),
                     offset = spread(c, p.offset, s.cols, 0.0f);
  if (!s.few) {
    for (float &one : scale) one *= p.antiquant_scale;
    for (float &one : offset) one /= p.antiquant_scale;
  }
  const aclTensor x1 = matrix_of(c.tensor(p.x1), p.turned[0]),
                  x2 = matrix_of(c.tensor(p.x2), p.turned[1]);
  QuantisedWeight weight;
  weight.tensor = &x2;
  weight.rows = s.depth, weight.cols = s.cols;
  weight.scale = table_of(scale), weight.offset = table_of(offset);
  weight.dtype = ACL_FLOAT16;
  // The result is made aside, so that no operand is overwritten while it is still read.
  const View y = view_of(c.tensor(p.out));
  const Snapshot aside(y);
  const Matrix to = matrix_stack(aside.view()).first;
  RoundedStore result;
  result.out = {const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
  if (c.has(p.bias)) result.bias = read_all<float>(c, p.bias, s.cols, 0.0f);
  multiply_by_weight(matrix_stack(x1).first, weight, result);
  copy_view(aside.view(), y);
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(WeightQuantBatchMatmul,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *diagonalMatrixOptional,
              const aclTensor *deqOffsetOptional, const aclTensor *deqScaleOptional,
              const aclTensor *addOffsetOptional, const aclTensor *mulScaleOptional,
              const aclTensor *biasOptional, bool transposeX1, bool transposeX2,
              float antiquantScale, float antiquantOffset, aclTensor *out)) {
  using namespace emu;
  const FirstVersionCall a{x1,
                           x2,
                           diagonalMatrixOptional,
                           deqOffsetOptional,
                           deqScaleOptional,
                           addOffsetOptional,
                           mulScaleOptional,
                           biasOptional,
                           {transposeX1, transposeX2},
                           antiquantScale,
                           antiquantOffset,
                           out};
  FirstVersionPlan p{};
  const Check check = check_call(a, &p.sizes);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  const bool few = p.sizes.few;
  p.x1 = plan.input(x1), p.x2 = plan.input(x2);
  plan.unused(diagonalMatrixOptional);
  const auto one_of = [&](const aclTensor *tensor, bool read) {
    return read ? plan.input(tensor) : plan.unused(tensor);
  };
  const size_t deq_offset = one_of(deqOffsetOptional, few),
               deq_scale = one_of(deqScaleOptional, few),
               add_offset = one_of(addOffsetOptional, !few),
               mul_scale = one_of(mulScaleOptional, !few);
  p.offset = few ? deq_offset : add_offset, p.scale = few ? deq_scale : mul_scale;
  p.bias = plan.input(biasOptional), p.out = plan.output(out);
  p.turned[0] = transposeX1, p.turned[1] = transposeX2;
  p.antiquant_scale = antiquantScale;
  return plan.finish([p](PlanContext &c) { return run_first_version(c, p); }, workspaceSize,
                     executor);
}
EMU_CATCH
