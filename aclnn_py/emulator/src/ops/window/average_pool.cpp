// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Average pools: AvgPool2d, AvgPool3d, AdaptiveAvgPool2d and AdaptiveAvgPool3d. Sums are float64,
// so that large windows lose nothing; one rounding.
#include "aclnnop/pooling.h"
#include "ops/window/kernels.h"
#include "ops/window/pool.h"

namespace emu {
namespace {

// R: float where that is what the result holds, else double, which is rounded to it.
template <class R>
void averages(const Image &from, const Image &to, const Windows &windows, bool margins,
              int64_t divisor) {
  const int64_t width = windows.axes[2].count;
  std::vector<double> across;  // elements that a row of each window counts
  for (int64_t i = 0; i < width; ++i) {
    across.push_back(
        static_cast<double>(divisor != 0 ? divisor : counted(windows.axes[2], i, margins)));
  }
  const auto average = [&](const std::vector<const float *> &taps, int64_t z, int64_t y,
                           std::vector<R> &results, int64_t at) {
    const auto count = static_cast<int64_t>(taps.size());
    const auto lines = static_cast<double>(divisor != 0 ? 1
                                                        : counted(windows.axes[0], z, margins) *
                                                              counted(windows.axes[1], y, margins));
    const WindowKernels &kernels = window_kernels();
    if constexpr (std::is_same_v<R, float>)
      kernels.average(taps.data(), count, width, lines, across.data(), results.data() + at);
    else kernels.average_wide(taps.data(), count, width, lines, across.data(), results.data() + at);
  };
  pool_planes<float>(from, windows, 0.0f, average, Values<R>{to});
}

struct AverageCall {
  const char *op;
  const aclTensor *self;
  AverageWindows how;
  bool count_margins;
  const aclTensor *out;
};

Status plan_average(const AverageCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("self", a.self);
  check_given(check, a.how).required("out", a.out);
  check.dtype("self", a.self).dtype("out", a.out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", a.out->dtype, "self", a.self->dtype);
  Windows windows;
  const Layout shape = check_average(check, a.how, a.self, &windows);
  same_format(check, "out", a.out, a.self);
  check.shape("out", a.out, shape);
  if (!check.ok()) return check.status();
  const bool through_half = a.how.cube_math_type == 2 && a.self->dtype == ACL_FLOAT,
             margins = a.count_margins;
  const int64_t divisor = a.how.divisor;
  const int spatial = a.how.spatial;
  const auto shared = std::make_shared<const Windows>(windows);
  return plan_pool(
      a.op, a.self, a.out, windows,
      [=](const View &source, const View &result) {
        std::unique_ptr<char[]> memory;
        const View values = through_half ? dense_as(source, ACL_FLOAT16, &memory) : source;
        const Image from = image_of(values, spatial), to = image_of(result, spatial);
        if (result.dtype == ACL_FLOAT) averages<float>(from, to, *shared, margins, divisor);
        else averages<double>(from, to, *shared, margins, divisor);
      },
      workspace_size, executor);
}

void adaptive_averages(const Image &from, const Image &to) {
  const int64_t tall = from.extent[1], wide = from.extent[2];
  const auto average = [=](const float *plane, const Span(&s)[kAxes], std::vector<double> &results,
                           int64_t at) {
    double sum = 0.0;
    for (int64_t z = s[0].begin; z < s[0].end; ++z) {
      for (int64_t y = s[1].begin; y < s[1].end; ++y) {
        sum += sum_of(plane + (z * tall + y) * wide + s[2].begin, s[2].end - s[2].begin);
      }
    }
    const int64_t count =
        (s[0].end - s[0].begin) * (s[1].end - s[1].begin) * (s[2].end - s[2].begin);
    results[static_cast<size_t>(at)] = sum / static_cast<double>(count);
  };
  adapt_planes<float>(from, to.extent, average, Values<double>{to});
}

Status plan_adaptive(const char *op, const aclTensor *self, const aclIntArray *output_size,
                     const aclTensor *out, int spatial, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("outputSize", output_size).required("out", out);
  check.dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype)
      .rank("self", self, spatial + 1, spatial + 2);
  if (!check.ok()) return check.status();
  if (spatial == 2) {
    format_in(check, "self", self, {self->rank() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL});
  } else {
    format_in(
        check, "self", self,
        {ACL_FORMAT_ND, ACL_FORMAT_NCDHW, self->rank() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_ND});
  }
  same_format(check, "out", out, self);
  if (!check.ok()) return check.status();
  check.shape("out", out, adaptive_shape(check, self, spatial, output_size));
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      op, self, out,
      [=](const View &source, const View &result) {
        adaptive_averages(image_of(source, spatial), image_of(result, spatial));
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AvgPool2d,
             (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *strides,
              const aclIntArray *paddings, bool ceilMode, bool countIncludePad,
              int64_t divisorOverride, int8_t cubeMathType, aclTensor *out)) {
  return emu::plan_average({"aclnnAvgPool2d",
                            self,
                            {"kernelSize", "strides", "paddings", kernelSize, strides, paddings,
                             ceilMode, divisorOverride, cubeMathType, 2},
                            countIncludePad,
                            out},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AvgPool3d, (const aclTensor *self, const aclIntArray *kernelSize,
                         const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
                         bool countIncludePad, int64_t divisorOverride, aclTensor *out)) {
  return emu::plan_average({"aclnnAvgPool3d",
                            self,
                            {"kernelSize", "stride", "padding", kernelSize, stride, padding,
                             ceilMode, divisorOverride, 0, 3},
                            countIncludePad,
                            out},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdaptiveAvgPool2d,
             (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out)) {
  return emu::plan_adaptive("aclnnAdaptiveAvgPool2d", self, outputSize, out, 2, workspaceSize,
                            executor);
}
EMU_CATCH

EMU_OPERATOR(AdaptiveAvgPool3d,
             (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out)) {
  return emu::plan_adaptive("aclnnAdaptiveAvgPool3d", self, outputSize, out, 3, workspaceSize,
                            executor);
}
EMU_CATCH
