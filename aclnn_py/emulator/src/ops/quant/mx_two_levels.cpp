// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Blocks of 512 values are divided by a scale of their own before blocks of 32 are quantised.
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kWideBlock = 512;

}  // namespace
}  // namespace emu

EMU_OPERATOR(DynamicDualLevelMxQuant,
             (const aclTensor *x, const aclTensor *smoothScaleOptional,
              const char *roundModeOptional, int64_t level0BlockSize, int64_t level1BlockSize,
              aclTensor *yOut, aclTensor *level0ScaleOut, aclTensor *level1ScaleOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnDynamicDualLevelMxQuant";
  Check check(op);
  check.required("x", x).optional("smoothScaleOptional", smoothScaleOptional);
  check.required("yOut", yOut);
  check.required("level0ScaleOut", level0ScaleOut).required("level1ScaleOut", level1ScaleOut);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  check.dtype("x", x).dtype("smoothScaleOptional", smoothScaleOptional).dtype("yOut", yOut);
  check.dtype("level0ScaleOut", level0ScaleOut).dtype("level1ScaleOut", level1ScaleOut);
  check.rank("x", x, 1, 7).plain_format("x", x);
  if (!check.ok()) return check.status();
  const Layout values = layout_of(*x);
  const int last = values.rank - 1;
  const int64_t width = values.shape[last];
  if (smoothScaleOptional) {
    check.same_dtype("smoothScaleOptional", smoothScaleOptional->dtype, "x", x->dtype);
    check.shape("smoothScaleOptional", smoothScaleOptional, dense_layout(&width, 1));
  }
  const LowRounding rounding =
      check_rounding(check, "roundModeOptional", roundModeOptional, yOut->dtype);
  check.that(level0BlockSize == kWideBlock, "level0BlockSize is %lld; allowed: 512",
             static_cast<long long>(level0BlockSize));
  check.that(level1BlockSize == kMxBlock, "level1BlockSize is %lld; allowed: 32",
             static_cast<long long>(level1BlockSize));
  check.that(values.count() > 0, "x has shape %s; it must not be empty",
             shape_text(values).c_str());
  check_mx_results(check, values, last, kMxBlock, "yOut", yOut, "level1ScaleOut", level1ScaleOut);
  Layout wide = values;
  const int64_t blocks = width / kWideBlock + (width % kWideBlock != 0);
  wide.shape[last] = blocks;
  check.shape("level0ScaleOut", level0ScaleOut, wide);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), smooth = plan.input(smoothScaleOptional);
  const size_t y = plan.output(yOut), level0 = plan.output(level0ScaleOut);
  const size_t level1 = plan.output(level1ScaleOut);
  MxFormat format;
  format.dtype = ACL_FLOAT4_E2M1;
  format.rounding = rounding;
  const bool half = x->dtype == ACL_FLOAT16;
  const int64_t rows = x->numel() / width, pairs = mx_plan(values, last, kMxBlock).pairs();
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const RowSource<float> from(operands.safe(
            view_of(c.tensor(input)), {view_of(c.tensor(level0)), code_view(c.tensor(level1))}));
        const auto factors = read_all<float>(c, smooth, width, 1.0f);
        const RowTarget<float> wide_scales(view_of(c.tensor(level0)));
        const LowCodes to(c.tensor(y)), scales(c.tensor(level1));
        for_each_row<float>(rows * blocks, kWideBlock, 1, [&](int64_t task, float *line) {
          const int64_t row = task / blocks, first = task % blocks * kWideBlock;
          const int64_t count = std::min(kWideBlock, width - first);
          from.read(row * width + first, count, line);
          uint32_t most = 0;
          for (int64_t i = 0; i < count; ++i) {
            line[i] *= factors[static_cast<size_t>(first + i)];
            most = std::max(most, bits_of(line[i]) & 0x7fffffffu);
          }
          const float scale = float_of(most) / kLargestE2m1;
          wide_scales.write(task, 1, &scale);
          for (int64_t i = 0; i < count && scale != 0.0f; ++i) {
            const float quotient = line[i] / scale;
            line[i] = half ? float16_to_float(float_to_float16(quotient))
                           : bfloat16_to_float(float_to_bfloat16(quotient));
          }
          uint8_t codes[2 * kMxBlock], pair[2];
          for (int64_t at = 0; at < count; at += 2 * kMxBlock) {
            const int64_t n = std::min(2 * kMxBlock, count - at);
            mx_quantise_pair(format, line + at, n, 1, kMxBlock, codes, pair);
            to.write(row * width + first + at, n, codes);
            scales.write((row * pairs + (first + at) / (2 * kMxBlock)) * 2, 2, pair);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
