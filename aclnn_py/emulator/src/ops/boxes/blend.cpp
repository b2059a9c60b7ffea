// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Images laid over each other, which the 310P has: BackgroundReplace, BlendImagesCustom and
// MrgbaCustom. Everything is float32; whole numbers are the nearest ones, and stay in their range.
#include <cmath>

#include "aclnnop/objdetect.h"
#include "core/chip.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr float kOpaque = 255.0f;

Check &only_310p(Check &check) {
  return check.that(chip_is_310p(),
                    "the chip is %s; only the 310P has this operator, which "
                    "ACLNN_PY_EMULATOR_SOC=Ascend310P3 emulates",
                    soc_name());
}

Check &repeats_to(Check &check, const char *name, const aclTensor *tensor, const char *other,
                  const aclTensor *target) {
  if (!check.ok()) return check;
  Layout met;
  const Layout wanted = layout_of(*target);
  return check.that(broadcast_shapes(layout_of(*tensor), wanted, &met) && same_shape(met, wanted),
                    "%s has shape %s; it must repeat to the shape of %s, %s", name,
                    shape_text(layout_of(*tensor)).c_str(), other, shape_text(wanted).c_str());
}

Check &channels(Check &check, const char *name, const aclTensor *tensor, int64_t expected) {
  check.rank(name, tensor, 1, 8);
  if (!check.ok()) return check;
  const int64_t last = tensor->shape[tensor->rank() - 1];
  return check.that(last == expected, "%s has %lld channels in its last dimension; allowed: %lld",
                    name, static_cast<long long>(last), static_cast<long long>(expected));
}

// What is in front, seen through `share`, and what is behind.
float blended(float front, float behind, float share) {
  return behind * (1 - share) + front * share;
}

// Runs formula(front, behind, share) over the result; `behind` may be absent and is 0 then.
template <class F>
Status plan_blend(const char *op, const aclTensor *front, const aclTensor *behind,
                  const aclTensor *share, const aclTensor *out, F formula, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  PlanBuilder plan(op);
  const size_t top = plan.input(front), bottom = plan.input(behind), mask = plan.input(share),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const auto source = [&](size_t at) {
          return RowSource<float>(operands.safe(view_of(c.tensor(at), result.layout), {result}));
        };
        const RowSource<float> front_from = source(top), share_from = source(mask),
                               behind_from = c.has(bottom) ? source(bottom) : front_from;
        const bool none = !c.has(bottom), whole = is_integer(result.dtype);
        const RowTarget<float> target(result);
        parallel_for(result.count(), 8 * kBlock, [&](int64_t begin, int64_t end) {
          float x[kBlock], y[kBlock] = {}, a[kBlock];
          for (int64_t i = begin; i < end; i += kBlock) {
            const int64_t n = std::min(kBlock, end - i);
            front_from.read(i, n, x);
            share_from.read(i, n, a);
            if (!none) behind_from.read(i, n, y);
            for (int64_t k = 0; k < n; ++k) x[k] = formula(x[k], y[k], a[k]);
            for (int64_t k = 0; whole && k < n; ++k)
              x[k] = std::nearbyint(std::min(std::max(x[k], 0.0f), kOpaque));
            target.write(i, n, x);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BackgroundReplace,
             (const aclTensor *bkg, const aclTensor *src, const aclTensor *mask, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnBackgroundReplace");
  check.required("bkg", bkg).required("src", src).required("mask", mask).required("out", out);
  only_310p(check);
  check.dtype("bkg", bkg).dtype("src", src).dtype("mask", mask).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("src", src->dtype, "bkg", bkg->dtype);
  check.same_dtype("out", out->dtype, "bkg", bkg->dtype);
  check.shape("src", src, layout_of(*bkg)).shape("out", out, layout_of(*bkg));
  repeats_to(check, "mask", mask, "bkg", bkg);
  if (!check.ok()) return check.status();
  return plan_blend(check.op(), src, bkg, mask, out, blended, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BlendImagesCustom, (const aclTensor *rgb, const aclTensor *alpha,
                                 const aclTensor *frame, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnBlendImagesCustom");
  check.required("rgb", rgb).required("alpha", alpha).required("frame", frame);
  check.required("out", out);
  only_310p(check);
  check.dtype("rgb", rgb).dtype("alpha", alpha).dtype("frame", frame).dtype("out", out);
  channels(check, "rgb", rgb, 3);
  channels(check, "alpha", alpha, 1);
  channels(check, "frame", frame, 3);
  repeats_to(check, "rgb", rgb, "frame", frame);
  repeats_to(check, "alpha", alpha, "frame", frame);
  if (check.ok()) check.shape("out", out, layout_of(*frame));
  if (!check.ok()) return check.status();
  return plan_blend(
      check.op(), rgb, frame, alpha, out,
      [](float front, float behind, float share) {
        return (front * share + behind * (kOpaque - share)) / kOpaque;
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MrgbaCustom, (const aclTensor *rgb, const aclTensor *alpha, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMrgbaCustom");
  check.required("rgb", rgb).required("alpha", alpha).required("out", out);
  only_310p(check);
  check.dtype("rgb", rgb).dtype("alpha", alpha).dtype("out", out);
  channels(check, "rgb", rgb, 3);
  channels(check, "alpha", alpha, 1);
  repeats_to(check, "alpha", alpha, "rgb", rgb);
  if (check.ok()) check.shape("out", out, layout_of(*rgb));
  if (!check.ok()) return check.status();
  return plan_blend(
      check.op(), rgb, nullptr, alpha, out,
      [](float front, float, float share) { return front * share / kOpaque; }, workspaceSize,
      executor);
}
EMU_CATCH
