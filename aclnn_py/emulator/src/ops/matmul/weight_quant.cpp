// SPDX-License-Identifier: Apache-2.0
// Products with quantised weights: the weight becomes (q + offset) * scale, rounded to the dtype of
// x, and is then an ordinary operand.
#include "aclnnop/matmul.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/matmul/stack.h"

#include <vector>

namespace emu {
namespace {

// Where the eight 4-bit numbers of an INT32 element lie along the matrix.
enum class Packing { kNone, kAlongCols, kAlongRows };

// The quantised numbers of a (rows, cols) weight, whatever they are stored as.
struct Quantised {
  Matrix matrix;
  Packing packing = Packing::kNone;
  int64_t rows = 0, cols = 0;
  int64_t first = 0;  // of INT4, whose elements have no address of their own

  // Low nibble first.
  static int nibble(const void *data, int64_t index) {
    const int bits = static_cast<const unsigned char *>(data)[index / 2] >> (index % 2 * 4) & 15;
    return bits < 8 ? bits : bits - 16;
  }

  int at(int64_t i, int64_t j) const {
    if (packing == Packing::kAlongCols)
      return nibble(matrix.data, 8 * (matrix.row.at(i) + matrix.col.at(j / 8)) + j % 8);
    if (packing == Packing::kAlongRows)
      return nibble(matrix.data, 8 * (matrix.row.at(i / 8) + matrix.col.at(j)) + i % 8);
    const int64_t index = first + matrix.row.at(i) + matrix.col.at(j);
    return matrix.dtype == ACL_INT4 ? nibble(matrix.data, index)
                                    : static_cast<const int8_t *>(matrix.data)[index];
  }
};

Packing packing_of(const aclTensor &weight, int64_t depth) {
  if (weight.dtype != ACL_INT32) return Packing::kNone;
  return weight.shape[0] == depth ? Packing::kAlongCols : Packing::kAlongRows;
}

// Scale or offset as a (groups, cols) table: one value, one per column, or one per group of rows
// and column.
class Table {
 public:
  Table(const View &view, int64_t groups, int64_t cols) : view_(view) {
    if (view.layout.rank == 0) return;
    const int last = view.layout.rank - 1;
    if (cols > 1 && view.layout.shape[last] == cols) column_ = view.layout.stride[last];
    if (groups > 1 && view.layout.rank == 2) group_ = view.layout.stride[0];
  }
  void read(int64_t group, int64_t first, int64_t count, float *to) const {
    load_f32(view_.data, view_.dtype, group * group_ + first * column_, column_, count, to);
  }

 private:
  View view_;
  int64_t column_ = 0, group_ = 0;
};

std::vector<uint16_t> dequantised(const Quantised &q, const Table &scale, const Table *offset,
                                  int64_t group_size, aclDataType dtype) {
  std::vector<uint16_t> weight(static_cast<size_t>(q.rows * q.cols));
  parallel_for(q.rows, 16, [&](int64_t begin, int64_t end) {
    float values[kBlock], factors[kBlock], shifts[kBlock] = {};
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = group_size > 0 ? i / group_size : 0;
      for (int64_t j = 0; j < q.cols; j += kBlock) {
        const int64_t n = std::min(kBlock, q.cols - j);
        scale.read(group, j, n, factors);
        if (offset != nullptr) offset->read(group, j, n, shifts);
        for (int64_t p = 0; p < n; ++p)
          values[p] = (static_cast<float>(q.at(i, j + p)) + shifts[p]) * factors[p];
        store_f32(values, weight.data(), dtype, i * q.cols + j, 1, n);
      }
    }
  });
  return weight;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(WeightQuantBatchMatmulV2,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *antiquantScale,
              const aclTensor *antiquantOffsetOptional, const aclTensor *quantScaleOptional,
              const aclTensor *quantOffsetOptional, const aclTensor *biasOptional,
              int antiquantGroupSize, aclTensor *y)) {
  using namespace emu;
  Check check("aclnnWeightQuantBatchMatmulV2");
  check.required("x", x)
      .required("weight", weight)
      .required("antiquantScale", antiquantScale)
      .required("y", y);
  check.optional("antiquantOffsetOptional", antiquantOffsetOptional)
      .optional("biasOptional", biasOptional);
  check.optional("quantScaleOptional", quantScaleOptional)
      .optional("quantOffsetOptional", quantOffsetOptional);
  check.dtype("x", x).dtype("biasOptional", biasOptional);
  if (!check.ok()) return check.status();
  check.dtype_in("weight", weight->dtype, dtype_set(ACL_INT8, ACL_INT4, ACL_INT32));
  check.same_dtype("antiquantScale", antiquantScale->dtype, "x", x->dtype);
  if (antiquantOffsetOptional != nullptr) {
    check.same_dtype("antiquantOffsetOptional", antiquantOffsetOptional->dtype, "x", x->dtype);
  }
  check.dtype_in("y", y->dtype, dtype_set(x->dtype, ACL_INT8));
  check.that((y->dtype == ACL_INT8) == (quantScaleOptional != nullptr),
             "quantScaleOptional and an INT8 y belong together");
  check.rank("x", x, 2, 2)
      .rank("weight", weight, 2, 2)
      .rank("antiquantScale", antiquantScale, 1, 2);
  if (!check.ok()) return check.status();
  const int64_t depth = x->shape[1];
  const Packing packing = packing_of(*weight, depth);
  const int64_t rows = weight->shape[0] * (packing == Packing::kAlongRows ? 8 : 1);
  const int64_t cols = weight->shape[1] * (packing == Packing::kAlongCols ? 8 : 1);
  check.that(rows == depth, "x %s and weight %s cannot be multiplied",
             shape_text(layout_of(*x)).c_str(), shape_text(layout_of(*weight)).c_str());
  check.that(antiquantGroupSize == 0 || (antiquantGroupSize >= 32 && antiquantGroupSize % 32 == 0 &&
                                         antiquantGroupSize < depth),
             "antiquantGroupSize is %d; allowed: 0 or a multiple of 32 below %lld",
             antiquantGroupSize, static_cast<long long>(depth));
  if (!check.ok()) return check.status();
  const int64_t groups =
      antiquantGroupSize > 0 ? (depth + antiquantGroupSize - 1) / antiquantGroupSize : 1;
  const Layout scale = layout_of(*antiquantScale);
  bool fits = scale.shape[scale.rank - 1] == cols &&
              (scale.rank == 1 ? groups == 1 : scale.shape[0] == groups);
  fits = fits || (groups == 1 && antiquantScale->numel() == 1);
  check.that(fits, "antiquantScale has shape %s; expected (%lld, %lld)%s",
             shape_text(scale).c_str(), static_cast<long long>(groups),
             static_cast<long long>(cols), groups == 1 ? ", its row or one value" : "");
  check.shape("antiquantOffsetOptional", antiquantOffsetOptional, scale);
  if (biasOptional != nullptr) {
    check.that(biasOptional->numel() == cols && biasOptional->shape.back() == cols &&
                   biasOptional->rank() <= 2,
               "biasOptional has shape %s; expected (%lld)",
               shape_text(layout_of(*biasOptional)).c_str(), static_cast<long long>(cols));
  }
  Layout result;
  result.push(x->shape[0], 0);
  result.push(cols, 0);
  check.shape("y", y, result);
  if (!check.ok()) return check.status();
  if (y->dtype == ACL_INT8) {
    return fail(emu::kNoKernel,
                "aclnnWeightQuantBatchMatmulV2: y of dtype INT8 has no kernel on this device");
  }
  PlanBuilder plan("aclnnWeightQuantBatchMatmulV2");
  const size_t left = plan.input(x), right = plan.input(weight),
               scales = plan.input(antiquantScale);
  const size_t offsets = plan.input(antiquantOffsetOptional);
  plan.unused(quantScaleOptional);
  plan.unused(quantOffsetOptional);
  const size_t bias = plan.input(biasOptional), to = plan.output(y);
  const int64_t group_size = antiquantGroupSize;
  return plan.finish(
      [=](PlanContext &c) {
        const aclTensor &stored = c.tensor(right);
        const Quantised quantised{matrix_stack(stored).first, packing, depth, cols,
                                  stored.dtype == ACL_INT4 ? stored.offset : 0};
        const Table scale_table(view_of(c.tensor(scales)), groups, cols);
        const Table offset_table(c.has(offsets) ? view_of(c.tensor(offsets)) : View(), groups,
                                 cols);
        const aclDataType dtype = c.tensor(left).dtype;
        const auto values = dequantised(
            quantised, scale_table, c.has(offsets) ? &offset_table : nullptr, group_size, dtype);
        StackProduct product;
        product.a = matrix_stack(c.tensor(left));
        product.b.first.data = values.data();
        product.b.first.dtype = dtype;
        product.b.first.rows = depth;
        product.b.first.cols = cols;
        product.b.first.row.stride = cols;
        product.b.first.col.stride = 1;
        product.out = view_of(c.tensor(to));
        if (c.has(bias)) {
          const View line = view_of(c.tensor(bias));
          product.bias.data = line.data;
          product.bias.dtype = line.dtype;
          product.bias.col.stride = line.layout.stride[line.layout.rank - 1];
        }
        multiply(product);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
