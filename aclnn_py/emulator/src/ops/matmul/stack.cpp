// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/stack.h"
#include "core/pool.h"
#include "meta/fractal.h"

namespace emu {
namespace {

Matrix plain_matrix(const View &view) {
  const Layout &l = view.layout;
  Matrix m;
  m.data = view.data;
  m.dtype = view.dtype;
  m.rows = l.shape[l.rank - 2];
  m.cols = l.shape[l.rank - 1];
  m.row.stride = l.stride[l.rank - 2];
  m.col.stride = l.stride[l.rank - 1];
  return m;
}

Layout leading(const Layout &layout) {
  Layout batch;
  for (int d = 0; d + 2 < layout.rank; ++d) batch.push(layout.shape[d], layout.stride[d]);
  return batch;
}

}  // namespace

Matrix MatrixStack::at(int64_t offset) const {
  Matrix m = first;
  m.data = static_cast<const char *>(m.data) + offset * item_size(m.dtype);
  return m;
}

MatrixStack matrix_stack(const View &view) { return {plain_matrix(view), leading(view.layout)}; }

MatrixStack matrix_stack(const aclTensor &tensor) {
  const View view = view_of(tensor);
  if (!is_fractal(tensor)) return matrix_stack(view);
  MatrixStack stack{plain_matrix(view), leading(view.layout)};
  Matrix &m = stack.first;
  const bool flipped = fractal_flipped(tensor);
  const int64_t rows = flipped ? m.cols : m.rows, cols = flipped ? m.rows : m.cols;
  const aclDataType block = block_dtype(tensor);
  const int64_t width = fractal_columns(block);
  const int64_t tall = fractal_elements(block, rows, 1) / width;
  const GemmAxis across{1, width, tall * width}, down{width, 0, 0};
  m.row = flipped ? across : down;
  m.col = flipped ? down : across;
  int64_t step = fractal_elements(block, rows, cols);
  for (int d = stack.batch.rank - 1; d >= 0; --d) {
    stack.batch.stride[d] = step;
    step *= stack.batch.shape[d];
  }
  return stack;
}

Matrix column_of(const aclTensor &vector) {
  const View view = view_of(vector);
  Matrix m;
  m.data = view.data;
  m.dtype = view.dtype;
  m.rows = view.layout.shape[0];
  m.cols = 1;
  m.row.stride = view.layout.stride[0];
  return m;
}

Matrix row_of(const aclTensor &vector) { return column_of(vector).transposed(); }

namespace {

// Whether a matrix operand lies anywhere in the bytes the result covers.
bool touches(const MatrixStack &operand, const View &out) {
  if (operand.first.data == nullptr || out.count() == 0) return false;
  const int64_t size = item_size(operand.first.dtype), out_size = item_size(out.dtype);
  int64_t low = 0, high = 0;
  const auto reach = [&](int64_t extent, const GemmAxis &axis) {
    if (extent == 0) return;
    const int64_t last = axis.at(extent - 1) + (axis.block ? axis.block : 0);
    low += last < 0 ? last : 0;
    high += last > 0 ? last : 0;
  };
  reach(operand.first.rows, operand.first.row);
  reach(operand.first.cols, operand.first.col);
  for (int d = 0; d < operand.batch.rank; ++d)
    reach(operand.batch.shape[d], {operand.batch.stride[d], 0, 0});
  const auto *base = static_cast<const char *>(operand.first.data);
  const Extent extent = extent_of(out.layout);
  return base + low * size < out.data + (extent.highest + 1) * out_size &&
         out.data + extent.lowest * out_size < base + (high + 1) * size;
}

}  // namespace

void multiply(const StackProduct &p) {
  const int64_t total = p.out.count();
  if (total == 0) return;
  if (touches(p.a, p.out) || touches(p.b, p.out)) {
    // The result is made aside, so that no operand is overwritten while it is still read.
    const Snapshot aside(p.out);
    StackProduct detached = p;
    detached.out = aside.view();
    multiply(detached);
    copy_view(aside.view(), p.out);
    return;
  }
  const Layout &out = p.out.layout;
  const Layout batch = leading(out);
  const MatrixStack target = matrix_stack(p.out);
  const Layout a = broadcast_to(p.a.batch, batch), b = broadcast_to(p.b.batch, batch);
  const Layout addend = p.has_addend ? broadcast_to(p.addend.batch, batch) : Layout();
  const auto one = [&](int64_t index) {
    int64_t at_a = 0, at_b = 0, at_addend = 0, at_out = 0;
    for (int d = batch.rank - 1; d >= 0; --d) {
      const int64_t i = index % batch.shape[d];
      index /= batch.shape[d];
      at_a += i * a.stride[d];
      at_b += i * b.stride[d];
      at_out += i * target.batch.stride[d];
      if (p.has_addend) at_addend += i * addend.stride[d];
    }
    const Matrix to = target.at(at_out);
    GemmEpilogue epilogue;
    epilogue.alpha = p.alpha;
    epilogue.beta = p.beta;
    epilogue.bias = p.bias;
    if (p.has_addend && (p.beta != 0 || p.keeps_addend)) epilogue.addend = p.addend.at(at_addend);
    gemm(p.a.at(at_a), p.b.at(at_b),
         {const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride}, epilogue);
  };
  const int64_t count = batch.count(), work = total / count * (p.a.first.cols + 1);
  // Many small products share the pool one by one; few large ones each use all of it.
  if (count >= 2 * parallel_width() || work < (int64_t{1} << 18)) {
    const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 16) / std::max<int64_t>(1, work));
    parallel_for(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) one(i);
    });
  } else {
    for (int64_t i = 0; i < count; ++i) one(i);
  }
}

}  // namespace emu
