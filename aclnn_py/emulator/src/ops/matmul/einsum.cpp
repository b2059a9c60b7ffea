// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Two sums of products that are written as an equation.
#include <cstring>

#include "aclnnop/matmul.h"
#include "ops/op.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnEinsum";
constexpr const char *kRowTimesColumns = "abcd,abced->abce", *kOuter = "a,b->ab";

// Integers wrap as their dtype does: the low bits of the exact sum.
template <class T>
T product_sum(const T *x, const T *y, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * y[i];
    return static_cast<float>(sum);
  } else {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += static_cast<uint64_t>(x[i]) * static_cast<uint64_t>(y[i]);
    return static_cast<T>(sum);
  }
}

// (rows, depth) and (rows, cols, depth) to (rows, cols).
template <class T>
void row_products(const View &x, const View &y, const View &out, int64_t rows, int64_t cols,
                  int64_t depth) {
  Operands operands;
  const RowSource<T> first(operands.safe(x, {out})), second(operands.safe(y, {out}));
  const RowTarget<T> to(out);
  parallel_for(rows, std::max<int64_t>(1, 16384 / (cols * depth + 1)),
               [&](int64_t begin, int64_t end) {
                 std::vector<T> memory(static_cast<size_t>(2 * depth + cols));
                 T *row = memory.data(), *other = row + depth, *sums = other + depth;
                 for (int64_t r = begin; r < end; ++r) {
                   first.read(r * depth, depth, row);
                   for (int64_t e = 0; e < cols; ++e) {
                     second.read((r * cols + e) * depth, depth, other);
                     sums[e] = product_sum(row, other, depth);
                   }
                   to.write(r * cols, cols, sums);
                 }
               });
}

// (rows) and (cols) to (rows, cols).
template <class T>
void outer_products(const View &x, const View &y, const View &out, int64_t rows, int64_t cols) {
  Operands operands;
  const RowSource<T> first(operands.safe(x, {out}));
  std::vector<T> right(static_cast<size_t>(cols));
  RowSource<T>(operands.safe(y, {out})).read(0, cols, right.data());
  const RowTarget<T> to(out);
  for_each_row<T>(rows, cols, 1, [&](int64_t r, T *values) {
    T factor;
    first.read(r, 1, &factor);
    for (int64_t e = 0; e < cols; ++e) values[e] = product_sum(&factor, &right[e], 1);
    to.write(r * cols, cols, values);
  });
}

template <class T>
void contract(const View &x, const View &y, const View &out, bool outer) {
  const int64_t *s = y.layout.shape;
  if (outer) return outer_products<T>(x, y, out, x.layout.shape[0], s[0]);
  row_products<T>(x, y, out, s[0] * s[1] * s[2], s[3], s[4]);
}

Check check_einsum(const aclTensorList *tensors, const char *equation, const aclTensor *output) {
  Check check(kOp);
  check.required("tensors", tensors).required_text("equation", equation);
  check.required("output", output);
  if (!check.ok()) return check;
  const bool outer = std::strcmp(equation, kOuter) == 0;
  check.that(outer || std::strcmp(equation, kRowTimesColumns) == 0,
             "equation is \"%s\"; allowed: \"%s\", \"%s\"", equation, kRowTimesColumns, kOuter);
  check.that(tensors->members.size() == 2, "tensors has %zu tensors; it must have 2",
             tensors->members.size());
  if (!check.ok()) return check;
  const aclTensor *x = tensors->members[0], *y = tensors->members[1];
  for (const aclTensor *member : {x, y}) check.required("tensors", member).dtype("tensors", member);
  check.dtype("output", output);
  if (!check.ok()) return check;
  check.same_dtype("tensors[1]", y->dtype, "tensors[0]", x->dtype);
  check.same_dtype("output", output->dtype, "tensors[0]", x->dtype);
  check.rank("tensors[0]", x, outer ? 1 : 4, outer ? 1 : 4);
  check.rank("tensors[1]", y, outer ? 1 : 5, outer ? 1 : 5);
  if (!check.ok()) return check;
  check.that(x->numel() > 0 && y->numel() > 0, "tensors has an empty tensor: %s and %s",
             shape_text(layout_of(*x)).c_str(), shape_text(layout_of(*y)).c_str());
  if (!check.ok()) return check;
  if (outer) {
    const int64_t shape[] = {x->shape[0], y->shape[0]};
    check.shape("output", output, dense_layout(shape, 2));
    return check;
  }
  const int64_t expected[] = {y->shape[0], y->shape[1], y->shape[2], y->shape[4]};
  check.shape("tensors[0]", x, dense_layout(expected, 4));
  check.shape("output", output, dense_layout(y->shape.data(), 4));
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Einsum, (const aclTensorList *tensors, const char *equation, aclTensor *output)) {
  const emu::Check check = emu::check_einsum(tensors, equation, output);
  if (!check.ok()) return check.status();
  const bool outer = std::strcmp(equation, emu::kOuter) == 0;
  emu::PlanBuilder plan(emu::kOp);
  const size_t first = plan.input_list(tensors), to = plan.output(output);
  return plan.finish(
      [=](emu::PlanContext &c) {
        const emu::View x = emu::view_of(c.tensor(first)), y = emu::view_of(c.tensor(first + 1)),
                        out = emu::view_of(c.tensor(to));
        if (emu::is_floating(out.dtype)) emu::contract<float>(x, y, out, outer);
        else if (out.dtype == ACL_UINT64) emu::contract<uint64_t>(x, y, out, outer);
        else emu::contract<int64_t>(x, y, out, outer);
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
