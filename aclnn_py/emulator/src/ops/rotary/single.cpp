// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Rotary embedding of one tensor: with a matrix that rotates, in place on a part of each row, or
// from pairs side by side to halves.
#include <cmath>

#include "aclnnop/posembedding.h"
#include "core/chip.h"
#include "ops/rotary/rotate.h"

namespace emu {
namespace {

// x * cos + (x @ rotate) * sin for every row of x; the product is summed in float64.
void rotate_by_matrix(const View &x, const View &cos, const View &sin,
                      const std::vector<float> &matrix, const View &out) {
  Operands operands;
  const int64_t width = x.layout.shape[x.layout.rank - 1];
  if (x.count() == 0) return;
  const RowSource<float> source(operands.safe(x, {out})), c(operands.safe(cos, {out})),
      s(operands.safe(sin, {out}));
  const RowTarget<float> target(out);
  for_each_row<float>(x.count() / width, width, 3, [&](int64_t row, float *memory) {
    float *in = memory, *cosine = memory + width, *sine = memory + 2 * width;
    source.read(row * width, width, in);
    c.read(row * width, width, cosine);
    s.read(row * width, width, sine);
    std::vector<double> turned(static_cast<size_t>(width), 0.0);
    for (int64_t k = 0; k < width; ++k) {
      const float *line = matrix.data() + k * width;
      for (int64_t i = 0; i < width; ++i)
        turned[static_cast<size_t>(i)] += static_cast<double>(in[k]) * line[i];
    }
    for (int64_t i = 0; i < width; ++i)
      in[i] = in[i] * cosine[i] + static_cast<float>(turned[static_cast<size_t>(i)]) * sine[i];
    target.write(row * width, width, in);
  });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RotaryPositionEmbeddingV2,
             (const aclTensor *x, const aclTensor *cos, const aclTensor *sin, int64_t mode,
              const aclTensor *rotate, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnRotaryPositionEmbeddingV2";
  constexpr int64_t kWidest = 1024;
  Check check(op);
  check.required("x", x).required("cos", cos).required("sin", sin);
  check.optional("rotate", rotate).required("out", out);
  check.dtype("x", x).dtype("cos", cos).dtype("sin", sin).dtype("rotate", rotate);
  check.dtype("out", out);
  check.that(rotate == nullptr || !chip_is_950(), "rotate is given; this chip takes null only");
  const int64_t modes = chip_is_950() ? 3 : 1;
  check.tiling().that(mode >= 0 && mode <= modes, "mode is %lld; allowed: 0 to %lld",
                      static_cast<long long>(mode), static_cast<long long>(modes));
  check.rank("x", x, 3, 4);
  check_tables(check, "x", x, cos, sin, mode);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "x", x->dtype).shape("out", out, layout_of(*x));
  const int64_t width = x->shape.back(), square[] = {width, width};
  check.that(width <= kWidest, "x has %lld as its last dimension; allowed: up to %lld",
             static_cast<long long>(width), static_cast<long long>(kWidest));
  if (rotate) {
    check.same_dtype("rotate", rotate->dtype, "x", x->dtype);
    check.shape("rotate", rotate, dense_layout(square, 2));
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(x), c1 = plan.input(cos), s1 = plan.input(sin);
  const size_t matrix = plan.input(rotate), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from)), result = view_of(c.tensor(to));
        const View cosines = view_of(c.tensor(c1), source.layout);
        const View sines = view_of(c.tensor(s1), source.layout);
        if (c.has(matrix)) {
          const auto values = read_all<float>(c, matrix, width * width, 0.0f);
          rotate_by_matrix(source, cosines, sines, values, result);
        } else {
          rotate_all(mode, source, cosines, sines, result);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplacePartialRotaryMul,
             (aclTensor *xRef, const aclTensor *cos, const aclTensor *sin, int64_t rotary_mode,
              const aclIntArray *partialSliceOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnInplacePartialRotaryMul";
  constexpr int64_t kWidest = 1024;
  Check check(op);
  check.required("xRef", xRef).required("cos", cos).required("sin", sin);
  check.optional("partialSliceOptional", partialSliceOptional);
  check.dtype("xRef", xRef).dtype("cos", cos).dtype("sin", sin);
  if (!check.ok()) return check.status();
  if (cos->dtype != ACL_FLOAT) check.same_dtype("cos", cos->dtype, "xRef", xRef->dtype);
  check.same_dtype("sin", sin->dtype, "cos", cos->dtype);
  check.tiling().that(rotary_mode == kInterleave, "rotary_mode is %lld; allowed: 1",
                      static_cast<long long>(rotary_mode));
  check.rank("xRef", xRef, 4, 4).rank("cos", cos, 4, 4);
  check.that(partialSliceOptional == nullptr || partialSliceOptional->values.size() == 2,
             "partialSliceOptional has %zu numbers; allowed: 2",
             partialSliceOptional ? partialSliceOptional->values.size() : 0);
  if (!check.ok()) return check.status();
  const Layout whole = layout_of(*xRef);
  const int64_t width = whole.shape[3];
  const int64_t start = partialSliceOptional ? partialSliceOptional->values[0] : 0;
  const int64_t end = partialSliceOptional ? partialSliceOptional->values[1] : width;
  check.that(width <= kWidest && width % 2 == 0,
             "xRef has %lld as its last dimension; allowed: an even number up to %lld",
             static_cast<long long>(width), static_cast<long long>(kWidest));
  check.that(
      start >= 0 && start <= end && end <= width && start % 2 == end % 2,
      "partialSliceOptional is [%lld, %lld); it must lie in the last dimension of xRef, %lld, and "
      "have an even length",
      static_cast<long long>(start), static_cast<long long>(end), static_cast<long long>(width));
  if (!check.ok()) return check.status();
  Layout part = whole, met;
  part.shape[3] = end - start;
  const Layout table = layout_of(*cos);
  check.that(broadcast_shapes(table, part, &met) && same_shape(met, part) &&
                 table.shape[3] == part.shape[3],
             "cos %s does not broadcast to the part of xRef that turns, %s",
             shape_text(table).c_str(), shape_text(part).c_str());
  check.that(chip_is_950() || (table.shape[0] == whole.shape[0] && table.shape[2] == 1),
             "cos has shape %s; allowed on this chip: as many batches as xRef, and one head",
             shape_text(table).c_str());
  check.shape("sin", sin, table);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t x = plan.in_place(xRef), c1 = plan.input(cos), s1 = plan.input(sin);
  return plan.finish(
      [=](PlanContext &c) {
        View view = view_of(c.tensor(x));
        view.data += start * view.layout.stride[3] * item_size(view.dtype);
        view.layout.shape[3] = end - start;
        if (end > start) {
          rotate_all(kInterleave, view, view_of(c.tensor(c1), view.layout),
                     view_of(c.tensor(s1), view.layout), view);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InterleaveRope,
             (const aclTensor *x, const aclTensor *cos, const aclTensor *sin, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnInterleaveRope";
  constexpr int64_t kWidth = 64;
  Check check(op);
  check.required("x", x).required("cos", cos).required("sin", sin).required("out", out);
  check.dtype("x", x).dtype("cos", cos).dtype("sin", sin).dtype("out", out);
  check.tiling().rank("x", x, 4, 4).rank("cos", cos, 4, 4);
  if (!check.ok()) return check.status();
  check.that(x->shape[3] == kWidth, "x has %lld as its last dimension; allowed: %lld",
             static_cast<long long>(x->shape[3]), static_cast<long long>(kWidth));
  check_tables(check, "x", x, cos, sin, kInterleaveHalf);
  check.that(cos->shape[1] == 1 && cos->shape[3] == kWidth,
             "cos has shape %s; dimension 1 must be 1 and the last one %lld",
             shape_text(layout_of(*cos)).c_str(), static_cast<long long>(kWidth));
  if (check.ok())
    check.same_dtype("out", out->dtype, "x", x->dtype).shape("out", out, layout_of(*x));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(x), c1 = plan.input(cos), s1 = plan.input(sin),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from));
        rotate_all(kInterleaveHalf, source, view_of(c.tensor(c1), source.layout),
                   view_of(c.tensor(s1), source.layout), view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
