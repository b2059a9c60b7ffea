// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/product.h"

#include <utility>

#include "ops/matmul/dot.h"

namespace emu {

Check &check_math_type(Check &check, int8_t value, int8_t highest) {
  return check.that(value >= 0 && value <= highest, "cubeMathType is %d; allowed: 0 to %d", value,
                    highest);
}

Check &check_format(Check &check, const char *name, const aclTensor *tensor, bool fractal) {
  // A vector has no blocks.
  const bool allowed = fractal && tensor->rank() >= 2;
  return check.that(!is_fractal(*tensor) || allowed, "%s is in FRACTAL_NZ; allowed: ND", name);
}

Operand::Operand(const aclTensor &tensor, int8_t cube_math_type) : stack_(matrix_stack(tensor)) {
  if (cube_math_type != kUseFloat16 || tensor.dtype != ACL_FLOAT || is_fractal(tensor)) return;
  View half = view_of(tensor);
  const View full = half;
  half.layout = dense_like(full.layout);
  half.dtype = ACL_FLOAT16;
  memory_.reset(new char[static_cast<size_t>(full.count()) * 2 + 1]);
  half.data = memory_.get();
  copy_view(full, half);
  stack_ = matrix_stack(half);
}

namespace {

// A vector gets the unit dimension that makes it a matrix.
aclTensor with_unit(const aclTensor &tensor, bool row) {
  if (tensor.rank() != 1) return tensor;
  aclTensor matrix = tensor;
  const int64_t length = tensor.shape[0], step = tensor.strides[0];
  matrix.shape = row ? Dims{1, length} : Dims{length, 1};
  matrix.strides = row ? Dims{length * step, step} : Dims{step, 1};
  return matrix;
}

// The shape of self @ mat2; false when they do not fit.
bool product_shape(const aclTensor &self, const aclTensor &mat2, Layout *shape) {
  const Layout a = layout_of(with_unit(self, true)), b = layout_of(with_unit(mat2, false));
  if (a.shape[a.rank - 1] != b.shape[b.rank - 2]) return false;
  Layout left, right, batch;
  for (int d = 0; d + 2 < a.rank; ++d) left.push(a.shape[d], 0);
  for (int d = 0; d + 2 < b.rank; ++d) right.push(b.shape[d], 0);
  if (!broadcast_shapes(left, right, &batch)) return false;
  *shape = batch;
  if (self.rank() != 1) shape->push(a.shape[a.rank - 2], 0);
  if (mat2.rank() != 1) shape->push(b.shape[b.rank - 1], 0);
  return true;
}

// The ranks that leave the batch and matrix dimensions of `out` to the kernel: unit dimensions back
// in.
View result_view(const aclTensor &out, bool no_row, bool no_column) {
  View view = view_of(out);
  Layout full;
  const int kept = view.layout.rank - (no_row ? 0 : 1) - (no_column ? 0 : 1);
  for (int d = 0; d < kept; ++d) full.push(view.layout.shape[d], view.layout.stride[d]);
  if (no_row) full.push(1, 0);
  else full.push(view.layout.shape[kept], view.layout.stride[kept]);
  if (no_column) full.push(1, 0);
  else full.push(view.layout.shape[view.layout.rank - 1], view.layout.stride[view.layout.rank - 1]);
  view.layout = full;
  return view;
}

// A vector, or rows whose elements are neighbours, times a vector: neither is rounded first.
bool are_added_up(const aclTensor &x, const aclTensor &y, int8_t cube_math_type) {
  const bool rows = x.rank() == 2 && !is_fractal(x) && x.strides[1] == 1;
  return y.rank() == 1 && (x.rank() == 1 || rows) && cube_math_type != kUseFloat16 &&
         gemm_is_float(x.dtype) && gemm_is_float(y.dtype);
}

void add_up(const View &x, const View &y, const View &out) {
  std::vector<float> sums(static_cast<size_t>(out.count()));
  if (x.layout.rank == 2) dots_of_rows(x, y, sums.data());
  else sums[0] = static_cast<float>(dot_of_floats(x, y));
  const Writer writer(out, Compute::F32, ACL_DT_UNDEFINED);
  const int64_t count = out.count();
  for (int64_t i = 0; i < count; i += kBlock)
    writer.write(i, std::min(kBlock, count - i), &sums[static_cast<size_t>(i)]);
}

}  // namespace

Status plan_product(const ProductArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required(a.names[0], a.self).required(a.names[1], a.mat2).required("out", a.out);
  check.dtype(a.names[0], a.self).dtype(a.names[1], a.mat2).dtype("out", a.out);
  check_math_type(check, a.cube_math_type, a.highest_math_type);
  if (!check.ok()) return check.status();
  check_format(check, a.names[0], a.self);
  check_format(check, a.names[1], a.mat2, a.fractal);
  check_format(check, "out", a.out);
  check.rank(a.names[0], a.self, a.lowest_rank, a.highest_rank);
  check.rank(a.names[1], a.mat2, a.lowest_rank, a.highest_rank);
  if (!check.ok()) return check.status();
  Layout shape;
  const bool fits = product_shape(*a.self, *a.mat2, &shape);
  check.that(fits, "%s %s and %s %s cannot be multiplied", a.names[0],
             shape_text(layout_of(*a.self)).c_str(), a.names[1],
             shape_text(layout_of(*a.mat2)).c_str());
  if (check.ok()) check.shape("out", a.out, shape);
  if (!check.ok()) return check.status();
  const bool with_vector = a.self->rank() == 1 || a.mat2->rank() == 1;
  PlanBuilder plan(a.op, with_vector ? KernelTime::linear : KernelTime::any);
  const size_t left = plan.input(a.self), right = plan.input(a.mat2), to = plan.output(a.out);
  const int8_t math = a.cube_math_type;
  return plan.finish(
      [=](PlanContext &c) {
        const aclTensor &x = c.tensor(left), &y = c.tensor(right);
        if (are_added_up(x, y, math)) {
          add_up(view_of(x), view_of(y), view_of(c.tensor(to)));
          return Status{0};
        }
        const Operand first(with_unit(x, true), math), second(with_unit(y, false), math);
        StackProduct product;
        product.a = first.stack();
        product.b = second.stack();
        product.out = result_view(c.tensor(to), x.rank() == 1, y.rank() == 1);
        multiply(product);
        return Status{0};
      },
      workspace_size, executor);
}

namespace {

// From a matrix of a batch to the next one; a batch of one is repeated.
int64_t batch_step(const MatrixStack &stack) {
  return stack.batch.shape[0] == 1 ? 0 : stack.batch.stride[0];
}

// The shape with the last two dimensions exchanged.
aclTensor oriented(const aclTensor &tensor, bool transpose) {
  aclTensor turned = tensor;
  const size_t rank = tensor.rank();
  if (transpose) {
    std::swap(turned.shape[rank - 2], turned.shape[rank - 1]);
    std::swap(turned.strides[rank - 2], turned.strides[rank - 1]);
  }
  return turned;
}

}  // namespace

Status plan_sum(const SumArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required(a.names[0], a.self).required(a.names[1], a.mat1).required(a.names[2], a.mat2);
  if (!a.plain_factors) check.required("beta", a.beta).required("alpha", a.alpha);
  check.required(a.out_name, a.out);
  check.dtype(a.names[0], a.self).dtype(a.names[1], a.mat1).dtype(a.names[2], a.mat2);
  if (!a.plain_factors) check.dtype("beta", a.beta).dtype("alpha", a.alpha);
  check.dtype(a.out_name, a.out);
  // The source compares the two dtypes of the sum of batches alone.
  if (check.ok() && a.sum_batches)
    check.same_dtype(a.names[0], a.self->dtype, a.out_name, a.out->dtype);
  check_math_type(check, a.cube_math_type, a.sum_batches ? kUseHf32 : kAddInFp32);
  if (!check.ok()) return check.status();
  check.rank(a.names[1], a.mat1, a.rank, a.rank).rank(a.names[2], a.mat2, a.rank, a.rank);
  for (const auto &[name, tensor] : {std::pair<const char *, const aclTensor *>{a.names[0], a.self},
                                     {a.names[1], a.mat1},
                                     {a.names[2], a.mat2}}) {
    if (check.ok()) check_format(check, name, tensor, a.fractal && tensor == a.mat2);
  }
  if (!check.ok()) return check.status();
  Layout shape;
  const aclTensor seen[] = {oriented(*a.mat1, a.transpose[0]), oriented(*a.mat2, a.transpose[1])};
  const bool fits = product_shape(seen[0], seen[1], &shape);
  check.that(fits, "%s %s%s and %s %s%s cannot be multiplied", a.names[1],
             shape_text(layout_of(*a.mat1)).c_str(), a.transpose[0] ? ", transposed," : "",
             a.names[2], shape_text(layout_of(*a.mat2)).c_str(),
             a.transpose[1] ? ", transposed," : "");
  if (!check.ok()) return check.status();
  const int64_t batches = shape.shape[0];
  if (a.sum_batches) {
    Layout matrix;
    matrix.push(shape.shape[1], 0);
    matrix.push(shape.shape[2], 0);
    shape = matrix;
  }
  Layout met;
  check.that(broadcast_shapes(layout_of(*a.self), shape, &met) && same_shape(met, shape),
             "%s %s does not broadcast to %s", a.names[0], shape_text(layout_of(*a.self)).c_str(),
             shape_text(shape).c_str());
  const bool half = contains(dt::kHalf, a.mat1->dtype) && contains(dt::kHalf, a.mat2->dtype);
  check.that(
      a.broadcasts_in_fp32 || a.cube_math_type != kAddInFp32 || !half ||
          same_shape(layout_of(*a.self), shape),
      "%s %s is not of shape %s; with cubeMathType 4 and half precision it does not broadcast",
      a.names[0], shape_text(layout_of(*a.self)).c_str(), shape_text(shape).c_str());
  check.shape(a.out_name, a.out, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t addend = plan.input(a.self), left = plan.input(a.mat1), right = plan.input(a.mat2);
  const size_t to = plan.output(a.out);
  const double alpha = a.plain_factors ? a.plain_alpha : a.alpha->to_double();
  double beta = a.plain_factors ? a.plain_beta : a.beta->to_double();
  // The sum of batches alone compares with zero itself.
  const auto is_zero = [&](double factor) {
    return a.sum_batches ? factor == 0 : counts_as_zero(factor);
  };
  const bool no_product = a.without >= NoProduct::self && is_zero(alpha);
  const bool no_depth = seen[0].shape[seen[0].rank() - 1] == 0;
  const bool keeps_self = (a.without == NoProduct::self && (no_product || no_depth)) ||
                          (a.without == NoProduct::product_of_any && no_depth);
  if (is_zero(beta) && !keeps_self) beta = 0;
  const bool turned[] = {a.transpose[0], a.transpose[1]};
  const int8_t math = a.cube_math_type;
  const bool sum_batches = a.sum_batches;
  return plan.finish(
      [=](PlanContext &c) {
        const Operand first(c.tensor(left), math), second(c.tensor(right), math);
        StackProduct product;
        product.a = first.stack();
        product.b = second.stack();
        if (turned[0]) product.a.first = product.a.first.transposed();
        if (turned[1]) product.b.first = product.b.first.transposed();
        if (sum_batches) {
          // The batches are pieces of one long inner dimension.
          Matrix &x = product.a.first, &y = product.b.first;
          const int64_t depth = x.cols;
          x.col = {x.col.stride, depth, batch_step(product.a)};
          y.row = {y.row.stride, depth, batch_step(product.b)};
          x.cols = y.rows = batches * depth;
          product.a.batch = product.b.batch = Layout();
        }
        product.out = view_of(c.tensor(to));
        product.alpha = alpha;
        product.beta = beta;
        product.has_addend = true;
        product.keeps_addend = keeps_self;
        if (no_product) product.a.first.cols = product.b.first.rows = 0;
        const View self = view_of(c.tensor(addend), product.out.layout);
        std::unique_ptr<Snapshot> kept;
        if (clash(self, product.out)) kept = std::make_unique<Snapshot>(self);
        product.addend = matrix_stack(kept ? kept->view() : self);
        multiply(product);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace emu
