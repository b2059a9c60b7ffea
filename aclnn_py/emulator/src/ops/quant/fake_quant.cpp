// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Values rounded to what quantisation would keep of them, and which of them lay within its range.
#include <cmath>

#include "aclnnop/quant.h"
#include "ops/quant/static_quant.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

struct FakeQuantArguments {
  const char *op;
  const aclTensor *self, *scale, *zero;
  int axis;
  bool enabled;
  int64_t lowest, highest;
  const aclTensor *out, *mask;
};

Check check_fake_quant(const FakeQuantArguments &a) {
  Check check(a.op);
  check.required("self", a.self).required("scale", a.scale).required("zeroPoint", a.zero);
  check.required("out", a.out).required("mask", a.mask);
  check.dtype("self", a.self).dtype("scale", a.scale).dtype("zeroPoint", a.zero);
  check.dtype("out", a.out).dtype("mask", a.mask).rank("self", a.self, 0, 8);
  if (!check.ok()) return check;
  const aclDataType own = a.self->dtype;
  check.same_dtype("scale", a.scale->dtype, "self", own);
  if (a.zero->dtype != ACL_INT32) check.same_dtype("zeroPoint", a.zero->dtype, "self", own);
  check.same_dtype("out", a.out->dtype, "self", own);
  check.that(a.lowest <= a.highest,
             "quantMin is %lld and quantMax is %lld; quantMin must not be greater",
             static_cast<long long>(a.lowest), static_cast<long long>(a.highest));
  const Layout whole = layout_of(*a.self);
  return check.shape("out", a.out, whole).shape("mask", a.mask, whole);
}

Status plan_fake_quant(const FakeQuantArguments &a, const Check &check, uint64_t *workspace_size,
                       aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.self), scale = plan.input(a.scale), zero = plan.input(a.zero);
  const size_t output = plan.output(a.out), inside = plan.output(a.mask);
  const int axis = a.axis;
  const bool enabled = a.enabled, whole_zero = a.zero->dtype == ACL_INT32;
  const auto lowest = static_cast<double>(a.lowest), highest = static_cast<double>(a.highest);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View to_view = view_of(c.tensor(output)), mask_view = view_of(c.tensor(inside));
        const View from = operands.safe(view_of(c.tensor(input)), {to_view, mask_view});
        const auto spread = [&](size_t index) {
          const View factor = operands.safe(view_of(c.tensor(index)), {to_view, mask_view});
          return spread_view(factor, from.layout, axis);
        };
        const RowSource<float> values(from), scales(spread(scale));
        const RowSource<double> zeros(spread(zero));
        const RowTarget<float> to(to_view);
        const RowTarget<int32_t> mask_to(mask_view);
        const int64_t total = from.count(), blocks = (total + kBlock - 1) / kBlock;
        parallel_for(blocks, 16, [&](int64_t begin, int64_t end) {
          float x[kBlock], factor[kBlock];
          double shift[kBlock];
          int32_t kept[kBlock];
          for (int64_t block = begin; block < end; ++block) {
            const int64_t start = block * kBlock, n = std::min(kBlock, total - start);
            values.read(start, n, x);
            if (!enabled) {
              std::fill(kept, kept + n, 1);
            } else {
              scales.read(start, n, factor);
              zeros.read(start, n, shift);
              for (int64_t i = 0; i < n; ++i) {
                const auto quotient = static_cast<double>(x[i] / factor[i]);
                const double number = whole_zero ? std::nearbyint(quotient) + shift[i]
                                                 : std::nearbyint(quotient + shift[i]);
                kept[i] = number >= lowest && number <= highest;
                const double limited = std::fmin(highest, std::fmax(lowest, number));
                x[i] = static_cast<float>(limited - shift[i]) * factor[i];
              }
            }
            to.write(start, n, x);
            mask_to.write(start, n, kept);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FakeQuantPerChannelAffineCachemask,
             (const aclTensor *self, const aclTensor *scale, const aclTensor *zeroPoint,
              int64_t axis, int64_t quantMin, int64_t quantMax, aclTensor *out, aclTensor *mask)) {
  using namespace emu;
  FakeQuantArguments arguments{"aclnnFakeQuantPerChannelAffineCachemask",
                               self,
                               scale,
                               zeroPoint,
                               0,
                               true,
                               quantMin,
                               quantMax,
                               out,
                               mask};
  Check check = check_fake_quant(arguments);
  check.rank("scale", scale, 1, 1).rank("zeroPoint", zeroPoint, 1, 1);
  if (!check.ok()) return check.status();
  const int rank = static_cast<int>(self->rank());
  check.that(wrap_dim(axis, rank, &arguments.axis), "axis is %lld; self has %d dimensions",
             static_cast<long long>(axis), rank);
  const int64_t channels =
      rank == 0 || !check.ok() ? 1 : self->shape[static_cast<size_t>(arguments.axis)];
  check.shape("scale", scale, dense_layout(&channels, 1));
  check.shape("zeroPoint", zeroPoint, dense_layout(&channels, 1));
  return plan_fake_quant(arguments, check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(FakeQuantPerTensorAffineCachemask,
             (const aclTensor *self, const aclTensor *scale, const aclTensor *zeroPoint,
              float fakeQuantEnabled, int64_t quantMin, int64_t quantMax, aclTensor *out,
              aclTensor *mask)) {
  using namespace emu;
  const FakeQuantArguments arguments{"aclnnFakeQuantPerTensorAffineCachemask",
                                     self,
                                     scale,
                                     zeroPoint,
                                     0,
                                     fakeQuantEnabled >= 1.0f,
                                     quantMin,
                                     quantMax,
                                     out,
                                     mask};
  Check check = check_fake_quant(arguments);
  for (const auto &[name, tensor] :
       {std::pair{"scale", scale}, std::pair{"zeroPoint", zeroPoint}}) {
    if (!check.ok()) break;
    check.that(tensor->numel() == 1, "%s has shape %s; it must have one element", name,
               shape_text(layout_of(*tensor)).c_str());
  }
  return plan_fake_quant(arguments, check, workspaceSize, executor);
}
EMU_CATCH
