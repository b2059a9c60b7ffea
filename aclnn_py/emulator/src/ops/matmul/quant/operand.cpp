// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/quant/operand.h"

#include <algorithm>

#include "core/pool.h"

namespace emu {
namespace {

// Whether the last two strides are those of a matrix whose axes were exchanged.
bool exchanged(const aclTensor &t) {
  const size_t rank = t.rank();
  return (t.shape[rank - 2] == 1 || t.strides[rank - 2] == 1) &&
         (t.shape[rank - 1] == 1 || t.strides[rank - 1] == t.shape[rank - 2]);
}

bool in_order(const aclTensor &t) {
  const size_t rank = t.rank();
  return (t.shape[rank - 1] == 1 || t.strides[rank - 1] == 1) &&
         (t.shape[rank - 2] == 1 || t.strides[rank - 2] == t.shape[rank - 1]);
}

}  // namespace

Packing packing_of(const aclTensor &tensor) {
  if (tensor.dtype != ACL_INT32 || tensor.rank() < 2) return Packing::kNone;
  return exchanged(tensor) && !in_order(tensor) ? Packing::kAlongRows : Packing::kAlongColumns;
}

NumberShape number_shape(const aclTensor &tensor, Packing packing) {
  const size_t rank = tensor.rank();
  return {tensor.shape[rank - 2] * (packing == Packing::kAlongRows ? 8 : 1),
          tensor.shape[rank - 1] * (packing == Packing::kAlongColumns ? 8 : 1)};
}

void check_matrix_layout(Check &check, const char *name, const aclTensor &tensor) {
  if (!check.ok() || tensor.numel() == 0) return;
  const size_t rank = tensor.rank();
  bool fits = in_order(tensor) || exchanged(tensor);
  Checked step = Checked(tensor.shape[rank - 1]) * tensor.shape[rank - 2];
  for (size_t d = rank - 2; d-- > 0;) {
    fits = fits && (tensor.shape[d] == 1 || (step.fits() && tensor.strides[d] == step.value()));
    step *= tensor.shape[d];
  }
  check.that(fits, "%s is neither dense nor a view with its last two axes exchanged; copy it first",
             name);
}

IntegerStack::IntegerStack(const aclTensor &tensor, Packing packing) {
  if (tensor.dtype == ACL_INT8) {
    stack_ = matrix_stack(tensor);
    return;
  }
  // The numbers of each element lie side by side along one axis: as if it were finer.
  const bool words = packing != Packing::kNone;
  const MatrixStack from = matrix_stack(tensor);
  const int64_t rows = from.first.rows * (packing == Packing::kAlongRows ? 8 : 1),
                cols = from.first.cols * (packing == Packing::kAlongColumns ? 8 : 1),
                matrices = from.batch.count(), first = words ? 0 : tensor.offset;
  memory_.resize(static_cast<size_t>(matrices * rows * cols));
  parallel_for(matrices * rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, cols)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   int64_t index = r / rows, origin = first;
                   const int64_t i = r % rows;
                   for (int d = from.batch.rank - 1; d >= 0; --d) {
                     origin += index % from.batch.shape[d] * from.batch.stride[d];
                     index /= from.batch.shape[d];
                   }
                   int8_t *to = memory_.data() + r * cols;
                   const GemmAxis &down = from.first.row, &across = from.first.col;
                   for (int64_t j = 0; j < cols; ++j) {
                     if (packing == Packing::kAlongColumns)
                       to[j] = number_of_4_bits(
                           from.first.data, 8 * (origin + down.at(i) + across.at(j / 8)) + j % 8);
                     else if (packing == Packing::kAlongRows)
                       to[j] = number_of_4_bits(
                           from.first.data, 8 * (origin + down.at(i / 8) + across.at(j)) + i % 8);
                     else
                       to[j] =
                           number_of_4_bits(from.first.data, origin + down.at(i) + across.at(j));
                   }
                 }
               });
  stack_.first.data = memory_.data();
  stack_.first.dtype = ACL_INT8;
  stack_.first.rows = rows;
  stack_.first.cols = cols;
  stack_.first.row.stride = cols;
  stack_.first.col.stride = 1;
  Layout batch = from.batch;
  int64_t step = rows * cols;
  for (int d = batch.rank - 1; d >= 0; --d) {
    batch.stride[d] = step;
    step *= batch.shape[d];
  }
  stack_.batch = batch;
}

}  // namespace emu
