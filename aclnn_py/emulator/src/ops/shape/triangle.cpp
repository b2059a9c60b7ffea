// SPDX-License-Identifier: Apache-2.0
// Tril, Triu, Diag and DiagFlat.
#include "aclnnop/conversion.h"
#include "ops/shape/movement.h"

#include <algorithm>

namespace emu {
namespace {

// Entry (i, j) stays when j - i <= diagonal (lower) or >= diagonal (upper); the others become zero.
Status plan_triangle(const char *op, const char *self_name, const aclTensor *self, int64_t diagonal,
                     bool lower, const char *out_name, const aclTensor *out,
                     uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required(self_name, self)
      .required(out_name, out)
      .dtype(self_name, self)
      .dtype(out_name, out);
  movable(check, self_name, self).rank(self_name, self, 2, 8);
  if (!check.ok()) return check.status();
  // Further than the matrix reaches is as far as it reaches.
  diagonal = std::clamp(diagonal, -self->numel() - 1, self->numel() + 1);
  check.same_dtype(out_name, out->dtype, self_name, self->dtype)
      .shape(out_name, out, layout_of(*self));
  if (!lower) check.plain_format(self_name, self).same_format(out_name, out, self_name, self);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const bool in_place = self == out;
  const size_t from = in_place ? plan.in_place(out) : plan.input(self),
               to = in_place ? from : plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        View source = view_of(c.tensor(from));
        const View target = view_of(c.tensor(to));
        if (source.count() == 0) return Status{0};
        std::unique_ptr<Snapshot> kept;
        if (clash(source, target)) {
          kept = std::make_unique<Snapshot>(source);
          source = kept->view();
        }
        const int matrix = target.layout.rank - 2;
        const int64_t rows = target.layout.shape[matrix], cols = target.layout.shape[matrix + 1];
        for (int64_t i = 0; i < rows; ++i) {
          // Row i of every matrix at once: its kept part and its zeros.
          const int64_t edge = std::clamp<int64_t>(i + diagonal + (lower ? 1 : 0), 0, cols);
          const View in = narrowed(source, matrix, i, 1), row = narrowed(target, matrix, i, 1);
          const View left = narrowed(row, matrix + 1, 0, edge),
                     right = narrowed(row, matrix + 1, edge, cols - edge);
          if (source.data != target.data || kept != nullptr) {
            copy_view(lower ? narrowed(in, matrix + 1, 0, edge)
                            : narrowed(in, matrix + 1, edge, cols - edge),
                      lower ? left : right);
          }
          fill_zero(lower ? right : left);
        }
        return Status{0};
      },
      workspace_size, executor);
}

// The diagonal of a matrix as a vector.
View diagonal_of(const View &matrix, int64_t diagonal) {
  const int64_t row = diagonal < 0 ? -diagonal : 0, col = diagonal > 0 ? diagonal : 0;
  const Layout &l = matrix.layout;
  const int64_t length = std::max<int64_t>(0, std::min(l.shape[0] - row, l.shape[1] - col));
  View line = matrix;
  // A layout alone has no memory.
  if (length > 0 && line.data != nullptr)
    line.data += (row * l.stride[0] + col * l.stride[1]) * item_size(matrix.dtype);
  line.layout = Layout();
  line.layout.push(length, l.stride[0] + l.stride[1]);
  return line;
}

Status plan_diagonal(const char *op, const aclTensor *self, int64_t diagonal, bool flat,
                     const aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("out", out).dtype("self", self).dtype("out", out);
  movable(check, "self", self).rank("self", self, flat ? 0 : 1, flat ? 8 : 2);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  const bool to_matrix = flat || self->rank() == 1;
  Layout shape;
  diagonal = std::max(diagonal, -kUncountable);  // what has no positive counterpart
  if (to_matrix) {
    const int64_t edge =
        check.size("diagonal", Checked(self->numel()) + (diagonal < 0 ? -diagonal : diagonal));
    shape.push(edge, edge);
    shape.push(edge, 1);
  } else {
    View outline;
    outline.dtype = self->dtype;
    outline.layout = layout_of(*self);
    shape = diagonal_of(outline, diagonal).layout;
  }
  if (flat) check.shape("out", out, shape);
  else check.shape_or_one_element("out", out, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        View source = view_of(c.tensor(from));
        const View target = view_of(c.tensor(to));
        if (!to_matrix) {
          View line = diagonal_of(source, diagonal);
          line.layout.rank = target.layout.rank;  // one element may be () in the result
          move_view(line, target);
          return Status{0};
        }
        const Snapshot kept(source);
        View line = kept.view();
        line.layout = Layout();
        line.layout.push(source.count(), 1);
        fill_zero(target);
        copy_view(line, diagonal_of(target, diagonal));
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Tril, (const aclTensor *self, int64_t diagonal, aclTensor *out)) {
  return emu::plan_triangle("aclnnTril", "self", self, diagonal, true, "out", out, workspaceSize,
                            executor);
}
EMU_CATCH

EMU_OPERATOR(Triu, (const aclTensor *self, int64_t diagonal, aclTensor *out)) {
  return emu::plan_triangle("aclnnTriu", "self", self, diagonal, false, "out", out, workspaceSize,
                            executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceTril, (aclTensor *selfRef, int64_t diagonal)) {
  return emu::plan_triangle("aclnnInplaceTril", "selfRef", selfRef, diagonal, true, "selfRef",
                            selfRef, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplaceTriu, (aclTensor *selfRef, int64_t diagonal)) {
  return emu::plan_triangle("aclnnInplaceTriu", "selfRef", selfRef, diagonal, false, "selfRef",
                            selfRef, workspaceSize, executor);
}
EMU_CATCH

// A vector becomes a matrix with it on a diagonal; a matrix gives one of its diagonals.
EMU_OPERATOR(Diag, (const aclTensor *self, int64_t diagonal, aclTensor *out)) {
  return emu::plan_diagonal("aclnnDiag", self, diagonal, false, out, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DiagFlat, (const aclTensor *self, int64_t diagonal, aclTensor *out)) {
  return emu::plan_diagonal("aclnnDiagFlat", self, diagonal, true, out, workspaceSize, executor);
}
EMU_CATCH
