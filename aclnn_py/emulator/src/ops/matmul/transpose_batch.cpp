// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Stacks of products whose operands and result have their batch dimension in another place, as
// attention over latent vectors wants them.
#include "aclnnop/matmul.h"
#include "core/chip.h"
#include "ops/matmul/product.h"
#include "ops/shared/packed_scale.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

constexpr int64_t kMostExtent = 65535;

struct TransposeArguments {
  const char *op;
  const aclTensor *x1, *x2, *bias, *scale;
  const aclIntArray *perm1, *perm2, *perm_out;
  int8_t cube_math_type;
  int32_t split;
  const aclTensor *out;
  bool fractal;
};

// Whether the second of the two allowed orders is given.
bool order(Check &check, const char *name, const aclIntArray *given, const Dims &first,
           const Dims &second) {
  if (!check.ok()) return false;
  const Dims dims(given->values.data(), given->values.size());
  check.that(given->values.size() == 3 && (dims == first || dims == second),
             "%s is %s; allowed: %s%s%s", name,
             shape_text(dims.data(), static_cast<int>(dims.size())).c_str(),
             shape_text(first.data(), 3).c_str(), first == second ? "" : ", ",
             first == second ? "" : shape_text(second.data(), 3).c_str());
  return check.ok() && !(dims == first);
}

struct ProductSizes {
  bool middle_batch, transposed;  // the orders of x1 and x2
  int64_t batch, rows, depth, cols;
};

ProductSizes check_operands(Check &check, const TransposeArguments &a) {
  ProductSizes sizes{};
  check.required("x1", a.x1).required("x2", a.x2).required("out", a.out);
  check.optional("biasOptional", a.bias).optional("scaleOptional", a.scale);
  check.required("permX1", a.perm1).required("permX2", a.perm2).required("permY", a.perm_out);
  check.dtype("x1", a.x1).dtype("x2", a.x2).dtype("scaleOptional", a.scale).dtype("out", a.out);
  check.that(a.bias == nullptr, "biasOptional is given; it must be null");
  if (!check.ok()) return sizes;
  check.same_dtype("x2", a.x2->dtype, "x1", a.x1->dtype);
  const bool quantised = a.out->dtype == ACL_INT8;
  check.that(quantised == (a.scale != nullptr),
             "scaleOptional is %s; out has dtype %s, INT8 needs a scale",
             a.scale != nullptr ? "given" : "null", dtype_name(a.out->dtype));
  if (quantised) {
    check.that(a.x1->dtype == ACL_FLOAT16, "x1 has dtype %s; beside a scale it must be FLOAT16",
               dtype_name(a.x1->dtype));
  } else {
    check.same_dtype("out", a.out->dtype, "x1", a.x1->dtype);
  }
  check_math_type(check, a.cube_math_type, kUseHf32);
  check.that(a.cube_math_type != kUseFloat16 || a.x1->dtype != ACL_BF16,
             "cubeMathType is 2; x1 of BFLOAT16 cannot be rounded to FLOAT16");
  check.rank("x1", a.x1, 3, 3).rank("x2", a.x2, 3, 3).rank("out", a.out, 3, 3);
  if (!check.ok()) return sizes;
  check_format(check, "x1", a.x1);
  check_format(check, "x2", a.x2, a.fractal);
  check_format(check, "out", a.out);
  check.that(!a.fractal || is_fractal(*a.x2), "x2 is not in FRACTAL_NZ");
  sizes.middle_batch = order(check, "permX1", a.perm1, {0, 1, 2}, {1, 0, 2});
  sizes.transposed = order(check, "permX2", a.perm2, {0, 1, 2}, {0, 2, 1});
  order(check, "permY", a.perm_out, {1, 0, 2}, {1, 0, 2});
  if (!check.ok()) return sizes;
  sizes.batch = a.x1->shape[sizes.middle_batch ? 1 : 0];
  sizes.rows = a.x1->shape[sizes.middle_batch ? 0 : 1];
  sizes.depth = a.x1->shape[2];
  sizes.cols = a.x2->shape[sizes.transposed ? 1 : 2];
  check.that(a.x2->shape[0] == sizes.batch && a.x2->shape[sizes.transposed ? 2 : 1] == sizes.depth,
             "x1 %s and x2 %s cannot be multiplied in these orders",
             shape_text(layout_of(*a.x1)).c_str(), shape_text(layout_of(*a.x2)).c_str());
  return sizes;
}

// The hardware before the 950 moves the batch dimension while it copies, within these limits.
void check_limits(Check &check, const TransposeArguments &a, const ProductSizes &s) {
  check.that(s.batch >= 1 && s.batch <= kMostExtent, "x1 has a batch of %lld; allowed: 1 to %lld",
             static_cast<long long>(s.batch), static_cast<long long>(kMostExtent));
  check.that(s.cols >= 1 && s.cols <= kMostExtent, "x2 has %lld columns; allowed: 1 to %lld",
             static_cast<long long>(s.cols), static_cast<long long>(kMostExtent));
  check.that(s.middle_batch || s.depth <= kMostExtent,
             "x1 has an inner dimension of %lld; with permX1 (0, 1, 2) allowed: at most %lld",
             static_cast<long long>(s.depth), static_cast<long long>(kMostExtent));
  if (!check.ok()) return;
  const Checked wide = Checked(s.batch) * s.depth;
  const bool long_rows = s.middle_batch && (!wide.fits() || wide.value() > kMostExtent);
  if (long_rows || s.transposed) {
    check.that(a.scale == nullptr && a.split == 1 && s.middle_batch,
               "%s: then scaleOptional must be null, batchSplitFactor 1 and permX1 (1, 0, 2)",
               s.transposed ? "permX2 is (0, 2, 1)" : "x1 has more than 65535 elements in a row");
  }
  check.that(a.scale == nullptr || s.batch * s.cols <= kMostExtent,
             "scaleOptional has %lld values; allowed: at most %lld",
             static_cast<long long>(s.batch * s.cols), static_cast<long long>(kMostExtent));
}

Check check_transposed(const TransposeArguments &a, ProductSizes *sizes) {
  Check check(a.op);
  *sizes = check_operands(check, a);
  if (!check.ok()) return check;
  const ProductSizes &s = *sizes;
  check.that(a.split >= 1 && a.split <= s.batch && s.batch % a.split == 0,
             "batchSplitFactor is %d; it must divide the batch of %lld", a.split,
             static_cast<long long>(s.batch));
  check.that(a.scale == nullptr || a.split == 1, "batchSplitFactor is %d; beside a scale it is 1",
             a.split);
  if (check.ok() && !chip_is_950()) check_limits(check, a, s);
  const int64_t joined = check.size("x2", Checked(s.batch) * s.cols);
  if (!check.ok()) return check;
  const int64_t plain[] = {s.rows, s.batch, s.cols}, quantised[] = {s.rows, 1, joined},
                split[] = {a.split, s.rows, joined / a.split};
  check.shape("out", a.out, dense_layout(a.scale ? quantised : a.split > 1 ? split : plain, 3));
  if (a.scale) check.shape("scaleOptional", a.scale, dense_layout(&joined, 1));
  return check;
}

// `out` as a stack (parts, batches of a part, rows, columns).
View stacked(const View &out, const ProductSizes &s, int64_t split) {
  const Layout &l = out.layout;
  View view = out;
  view.layout = Layout();
  view.layout.push(split, split > 1 ? l.stride[0] : 0);
  view.layout.push(s.batch / split, split > 1 ? s.cols * l.stride[2] : l.stride[1]);
  view.layout.push(s.rows, l.stride[split > 1 ? 1 : 0]);
  view.layout.push(s.cols, l.stride[2]);
  return view;
}

// The batch of an operand cut in the same way.
MatrixStack stacked(MatrixStack operand, int64_t split) {
  const int64_t per_part = operand.batch.shape[0] / split, step = operand.batch.stride[0];
  operand.batch = Layout();
  operand.batch.push(split, per_part * step);
  operand.batch.push(per_part, step);
  return operand;
}

// Finished rows of one batch times their scales, plus the packed offsets, as INT8.
class QuantisedRows final : public RowSink<float> {
 public:
  QuantisedRows(const QuantTarget &to, const std::vector<uint64_t> &packed, int64_t first,
                int64_t width)
      : to_(to), packed_(packed), first_(first), width_(width) {}
  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    std::vector<float> scaled(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t p = packed_[static_cast<size_t>(first_ + col + i)];
      scaled[static_cast<size_t>(i)] = values[i] * unpack_scale(p) + unpack_offset(p);
    }
    to_.write(row * width_ + first_ + col, count, scaled.data());
  }

 private:
  const QuantTarget &to_;
  const std::vector<uint64_t> &packed_;
  int64_t first_, width_;
};

void quantise_product(const MatrixStack &a, const MatrixStack &b, const ProductSizes &s,
                      const std::vector<uint64_t> &packed, const aclTensor &out) {
  const QuantTarget to(out);
  parallel_for(s.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      gemm_f32(a.at(i * a.batch.stride[1]), b.at(i * b.batch.stride[1]),
               QuantisedRows(to, packed, i * s.cols, s.batch * s.cols));
    }
  });
}

Status plan_transposed(const TransposeArguments &a, uint64_t *workspace_size,
                       aclOpExecutor **executor) {
  ProductSizes sizes;
  const Check check = check_transposed(a, &sizes);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t left = plan.input(a.x1), right = plan.input(a.x2);
  plan.unused(a.bias);
  const size_t scale = plan.input(a.scale), to = plan.output(a.out);
  const int8_t math = a.cube_math_type;
  const int32_t split = a.split;
  const ProductSizes s = sizes;
  return plan.finish(
      [=](PlanContext &c) {
        const aclTensor &result = c.tensor(to);
        if (result.numel() == 0) return Status{0};
        aclTensor x = c.tensor(left);
        if (s.middle_batch) {
          std::swap(x.shape[0], x.shape[1]);
          std::swap(x.strides[0], x.strides[1]);
        }
        const Operand first(x, math), second(c.tensor(right), math);
        StackProduct product;
        product.a = stacked(first.stack(), split);
        product.b = stacked(second.stack(), split);
        if (s.transposed) product.b.first = product.b.first.transposed();
        if (c.has(scale)) {
          quantise_product(product.a, product.b, s,
                           read_all<uint64_t>(c, scale, s.batch * s.cols, 0), result);
        } else {
          product.out = stacked(view_of(result), s, split);
          multiply(product);
        }
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(TransposeBatchMatMul,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *scaleOptional, const aclIntArray *permX1, const aclIntArray *permX2,
              const aclIntArray *permY, int8_t cubeMathType, int32_t batchSplitFactor,
              aclTensor *out)) {
  return emu::plan_transposed({"aclnnTransposeBatchMatMul", x1, x2, biasOptional, scaleOptional,
                               permX1, permX2, permY, cubeMathType, batchSplitFactor, out, false},
                              workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(TransposeBatchMatMulWeightNz,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *scaleOptional, const aclIntArray *permX1, const aclIntArray *permX2,
              const aclIntArray *permY, int8_t cubeMathType, int32_t batchSplitFactor,
              aclTensor *out)) {
  return emu::plan_transposed(
      {"aclnnTransposeBatchMatMulWeightNz", x1, x2, biasOptional, scaleOptional, permX1, permX2,
       permY, cubeMathType, batchSplitFactor, out, true},
      workspaceSize, executor);
}
EMU_CATCH
