// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Softmax of scores that are scaled and masked on the way.
#include "aclnnop/norm.h"
#include "aclnnop/vfusion.h"
#include "core/chip.h"
#include "ops/float_kernels.h"
#include "ops/shared/rows.h"

#include <cmath>

namespace emu {
namespace {

constexpr int64_t kLongestMaskedRow = 4096;
constexpr float kMasked = -10000.0f;

void soften(float *x, int64_t width) {
  const FloatKernels &kernels = float_kernels();
  const double total = kernels.shifted_powers(x, width, kernels.highest(x, width), false);
  const auto factor = static_cast<float>(1.0 / total);
  for (int64_t i = 0; i < width; ++i) x[i] *= factor;
}

// What a row of FLOAT16 is after it was rounded to that dtype.
void round_half(std::vector<float> &row) {
  std::vector<char> halves(2 * row.size());
  const auto count = static_cast<int64_t>(row.size());
  store_as(ACL_FLOAT16, halves.data(), 2, count, Compute::F32, row.data());
  load_as(ACL_FLOAT16, halves.data(), 2, count, ACL_FLOAT, row.data());
}

// The layout of a mask or bias with the shape of `whole`, aligned at the last dimension.
View spread(const aclTensor &tensor, const Layout &whole) {
  View view = view_of(tensor);
  view.layout = broadcast_to(view.layout, whole);
  return view;
}

// The two leading dimensions of (B * W, ...) apart; other layouts stay.
Layout windows_apart(const Layout &layout, int64_t windows) {
  Layout apart;
  apart.push(layout.shape[0] / windows, layout.stride[0] * windows);
  apart.push(windows, layout.stride[0]);
  for (int d = 1; d < layout.rank; ++d) apart.push(layout.shape[d], layout.stride[d]);
  return apart;
}

// Bytes of the memory beside the vector unit, which holds the rows.
int64_t unified_buffer() { return (chip_is_950() ? 248 : 192) * 1024; }

struct BiasedArguments {
  const char *op;
  const aclTensor *x, *mask, *bias;
  double scale;
  int64_t precision;
  const aclTensor *out;
};

// (B, W, N, S1, S2); W is 1 without a mask.
struct BiasedSizes {
  int64_t batch = 1, windows = 1, heads = 1, rows = 1, width = 1;
};

void check_mask(Check &check, const BiasedArguments &a, BiasedSizes *s) {
  const Dims &x = a.x->shape;
  const bool five = x.size() == 5;
  s->heads = x[five ? 2 : 1], s->rows = x[five ? 3 : 2], s->width = x[five ? 4 : 3];
  s->windows = five ? x[1] : 1, s->batch = x[0];
  if (a.mask == nullptr) return;
  check.rank("attenMaskOptional", a.mask, 3, 5);
  if (!check.ok()) return;
  const int64_t windows = a.mask->shape[a.mask->rank() == 5 ? 1 : 0];
  check.that(five ? windows == x[1] : windows > 0 && x[0] % windows == 0,
             "attenMaskOptional has %lld windows; x of shape %s does not have that many",
             static_cast<long long>(windows), shape_text(layout_of(*a.x)).c_str());
  if (!check.ok()) return;
  s->windows = windows;
  if (!five) s->batch = x[0] / windows;
  const int64_t shapes[][5] = {{windows, s->rows, s->width},
                               {windows, 1, s->rows, s->width},
                               {1, windows, 1, s->rows, s->width}};
  const auto rank = static_cast<int>(a.mask->rank());
  check.shape("attenMaskOptional", a.mask, dense_layout(shapes[rank - 3], rank));
}

void check_room(Check &check, const BiasedArguments &a, const BiasedSizes &s) {
  const bool whole = a.x->dtype == ACL_FLOAT;
  const int64_t size = whole ? 4 : 2, per_block = 32 / size;
  const Checked aligned = Checked(s.width / per_block + (s.width % per_block != 0)) * per_block;
  const int64_t rows = (whole ? 1 : 2) * (a.mask ? 8 : 6);
  const int64_t bytes = check.size("x", aligned * size * rows + 288);
  check.that(
      bytes <= unified_buffer(),
      "x has rows of %lld elements; with %s they take %lld bytes of the unified buffer, which "
      "has %lld",
      static_cast<long long>(s.width), a.mask ? "a mask" : "no mask", static_cast<long long>(bytes),
      static_cast<long long>(unified_buffer()));
}

Check check_biased(const BiasedArguments &a, BiasedSizes *s) {
  Check check(a.op);
  check.required("x", a.x).optional("attenMaskOptional", a.mask);
  check.required("relativePosBias", a.bias).required("out", a.out).tiling();
  check.dtype("x", a.x).dtype("attenMaskOptional", a.mask).dtype("relativePosBias", a.bias);
  check.dtype("out", a.out).rank("x", a.x, 4, 5).rank("relativePosBias", a.bias, 3, 5);
  if (!check.ok()) return check;
  for (const auto &[name, tensor] :
       {std::pair<const char *, const aclTensor *>{"attenMaskOptional", a.mask},
        {"relativePosBias", a.bias},
        {"out", a.out}}) {
    if (tensor) check.same_dtype(name, tensor->dtype, "x", a.x->dtype);
  }
  check.plain_format("x", a.x).plain_format("out", a.out);
  check.shape("out", a.out, layout_of(*a.x));
  check.that(std::isfinite(a.scale), "scaleValue is %g; it must be finite", a.scale);
  check.that(a.precision == 0, "innerPrecisionMode is %lld; it must be 0",
             static_cast<long long>(a.precision));
  if (!check.ok()) return check;
  check_mask(check, a, s);
  const int64_t shape[] = {1, 1, s->heads, s->rows, s->width};
  const auto rank = static_cast<int>(a.bias->rank());
  check.shape("relativePosBias", a.bias, dense_layout(shape + 5 - rank, rank));
  if (check.ok()) check_room(check, a, *s);
  return check;
}

Status plan_biased(const BiasedArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  BiasedSizes sizes;
  const Check check = check_biased(a, &sizes);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t x = plan.input(a.x), mask = plan.input(a.mask), bias = plan.input(a.bias),
               out = plan.output(a.out);
  const auto scale = static_cast<float>(a.scale);
  const BiasedSizes s = sizes;
  return plan.finish(
      [=](PlanContext &c) {
        const auto five = [&](const aclTensor &tensor) {
          View view = view_of(tensor);
          if (view.layout.rank == 4) view.layout = windows_apart(view.layout, s.windows);
          return view;
        };
        const View result = five(c.tensor(out)), scores = five(c.tensor(x));
        if (result.count() == 0) return Status{0};
        Operands operands;
        const RowSource<float> from(operands.safe(scores, {result}));
        const RowTarget<float> to(result);
        const RowSource<float> shift(
            operands.safe(spread(c.tensor(bias), scores.layout), {result}));
        RowSource<float> mask_rows = shift;
        if (c.has(mask)) {
          View view = view_of(c.tensor(mask));
          // (W, S1, S2) and (W, 1, S1, S2) get the dimensions they lack.
          const Layout &l = view.layout;
          Layout full;
          const int windows = l.rank == 5 ? 1 : 0;
          full.push(1, 0);
          full.push(l.shape[windows], l.stride[windows]);
          full.push(1, 0);
          full.push(l.shape[l.rank - 2], l.stride[l.rank - 2]);
          full.push(l.shape[l.rank - 1], l.stride[l.rank - 1]);
          view.layout = broadcast_to(full, scores.layout);
          mask_rows = RowSource<float>(operands.safe(view, {result}));
        }
        const bool masked = c.has(mask);
        for_each_row<float>(result.count() / s.width, s.width, 2, [&](int64_t row, float *v) {
          float *other = v + s.width;
          from.read(row * s.width, s.width, v);
          for (int64_t i = 0; i < s.width; ++i) v[i] *= scale;
          if (masked) {
            mask_rows.read(row * s.width, s.width, other);
            for (int64_t i = 0; i < s.width; ++i) v[i] += other[i];
          }
          shift.read(row * s.width, s.width, other);
          for (int64_t i = 0; i < s.width; ++i) v[i] += other[i];
          soften(v, s.width);
          to.write(row * s.width, s.width, v);
        });
        return Status{0};
      },
      workspace_size, executor);
}

// The mask may repeat over the first two dimensions.
void check_masked_rows(Check &check, const char *name, const aclTensor &x, const aclTensor &mask,
                       bool triangle) {
  check.that(!triangle, "fixTriuMask is true; it must be false");
  const int64_t width = x.shape[3];
  check.that(width > 0 && width <= kLongestMaskedRow,
             "%s has rows of %lld elements; allowed: 1 to %lld", name,
             static_cast<long long>(width), static_cast<long long>(kLongestMaskedRow));
  for (size_t d = 0; check.ok() && d < 4; ++d) {
    check.that(mask.shape[d] == x.shape[d] || (d < 2 && mask.shape[d] == 1),
               "mask %s does not broadcast to %s %s; only the first two dimensions may be 1",
               shape_text(layout_of(mask)).c_str(), name, shape_text(layout_of(x)).c_str());
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ScaledMaskedSoftmax, (const aclTensor *x, const aclTensor *mask, double scale,
                                   bool fixTriuMask, aclTensor *y)) {
  constexpr const char *op = "aclnnScaledMaskedSoftmax";
  emu::Check check(op);
  check.required("x", x).required("mask", mask).required("y", y);
  check.dtype("x", x).dtype("mask", mask).dtype("y", y);
  check.rank("x", x, 4, 4).rank("mask", mask, 4, 4).rank("y", y, 4, 4);
  if (!check.ok()) return check.status();
  check.same_dtype("y", y->dtype, "x", x->dtype);
  emu::check_masked_rows(check, "x", *x, *mask, fixTriuMask);
  check.shape("y", y, emu::layout_of(*x));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(op, emu::KernelTime::linear);
  const size_t from = plan.input(x), hide = plan.input(mask), to = plan.output(y);
  // The kernel scales FLOAT16 in that dtype, and the others in FLOAT.
  const bool half = x->dtype == ACL_FLOAT16;
  std::vector<float> factors = {static_cast<float>(scale)};
  if (half) emu::round_half(factors);
  const float factor = factors[0];
  return plan.finish(
      [=](emu::PlanContext &c) {
        using namespace emu;
        const View result = view_of(c.tensor(to)), scores = view_of(c.tensor(from));
        Operands operands;
        const RowSource<float> source(operands.safe(scores, {result}));
        const RowSource<int32_t> hidden(
            operands.safe(spread(c.tensor(hide), scores.layout), {result}));
        const RowTarget<float> target(result);
        const int64_t width = scores.layout.shape[3], rows = result.count() / width;
        parallel_for(rows, std::max<int64_t>(1, 8192 / width), [&](int64_t begin, int64_t end) {
          std::vector<float> v(static_cast<size_t>(width));
          std::vector<int32_t> h(static_cast<size_t>(width));
          for (int64_t row = begin; row < end; ++row) {
            source.read(row * width, width, v.data());
            hidden.read(row * width, width, h.data());
            for (size_t i = 0; i < v.size(); ++i) v[i] = h[i] != 0 ? kMasked : v[i] * factor;
            if (half) round_half(v);
            soften(v.data(), width);
            target.write(row * width, width, v.data());
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaskedSoftmaxWithRelPosBias, (const aclTensor *x, const aclTensor *attenMaskOptional,
                                           const aclTensor *relativePosBias, double scaleValue,
                                           int64_t innerPrecisionMode, aclTensor *out)) {
  return emu::plan_biased({"aclnnMaskedSoftmaxWithRelPosBias", x, attenMaskOptional,
                           relativePosBias, scaleValue, innerPrecisionMode, out},
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ScaledMaskedSoftmaxBackward,
             (const aclTensor *gradOutput, const aclTensor *y, const aclTensor *mask, double scale,
              bool fixTriuMask, aclTensor *out)) {
  constexpr const char *op = "aclnnScaledMaskedSoftmaxBackward";
  emu::Check check(op);
  check.required("gradOutput", gradOutput).required("y", y).required("mask", mask);
  check.required("out", out).dtype("gradOutput", gradOutput).dtype("y", y);
  check.dtype("mask", mask).dtype("out", out);
  check.rank("gradOutput", gradOutput, 4, 4).rank("mask", mask, 4, 4);
  if (!check.ok()) return check.status();
  check.same_dtype("y", y->dtype, "gradOutput", gradOutput->dtype)
      .same_dtype("out", out->dtype, "gradOutput", gradOutput->dtype)
      .shape("y", y, emu::layout_of(*gradOutput))
      .shape("out", out, emu::layout_of(*gradOutput));
  emu::check_masked_rows(check, "gradOutput", *gradOutput, *mask, fixTriuMask);
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(op, emu::KernelTime::linear);
  const size_t incoming = plan.input(gradOutput), from = plan.input(y), hide = plan.input(mask),
               to = plan.output(out);
  const auto factor = static_cast<float>(scale);
  const int64_t width = y->shape[3];
  return plan.finish(
      [=](emu::PlanContext &c) {
        using namespace emu;
        const View result = view_of(c.tensor(to)), powers = view_of(c.tensor(from));
        Operands operands;
        const RowSource<float> gradients(operands.safe(view_of(c.tensor(incoming)), {result}));
        const RowSource<float> source(operands.safe(powers, {result}));
        const RowSource<int32_t> hidden(
            operands.safe(spread(c.tensor(hide), powers.layout), {result}));
        const RowTarget<float> target(result);
        parallel_for(result.count() / width, std::max<int64_t>(1, 8192 / width),
                     [&](int64_t begin, int64_t end) {
                       std::vector<float> g(static_cast<size_t>(width)), v(g.size());
                       std::vector<int32_t> h(g.size());
                       for (int64_t row = begin; row < end; ++row) {
                         gradients.read(row * width, width, g.data());
                         source.read(row * width, width, v.data());
                         hidden.read(row * width, width, h.data());
                         double along = 0;
                         for (size_t i = 0; i < v.size(); ++i) {
                           along += static_cast<double>(g[i]) * static_cast<double>(v[i]);
                         }
                         const auto level = static_cast<float>(along);
                         for (size_t i = 0; i < v.size(); ++i) {
                           v[i] = h[i] != 0 ? 0.0f : v[i] * (g[i] - level) * factor;
                         }
                         target.write(row * width, width, v.data());
                       }
                     });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
