// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Average pools: AvgPool2d, AvgPool3d, AdaptiveAvgPool2d and AdaptiveAvgPool3d. Sums are float64,
// so that large windows lose nothing; one rounding.
#include "aclnnop/pooling.h"
#include "ops/window/pool.h"

namespace emu {
namespace {

// How many elements a window counts: those inside the image, with `margins` those in the margins as
// well; what a window of ceil mode has beyond them never counts.
int64_t counted(const Axis &axis, int64_t i, bool margins) {
  const int64_t begin = i * axis.step - axis.before,
                end = std::min(begin + axis.window, axis.extent + axis.after);
  return margins ? end - begin : std::min(end, axis.extent) - std::max<int64_t>(begin, 0);
}

void averages(const Image &from, const Image &to, const Windows &windows, bool margins,
              int64_t divisor) {
  const int64_t width = windows.axes[2].count;
  const auto average = [&](const std::vector<const float *> &taps, int64_t z, int64_t y,
                           std::vector<double> &results, int64_t at) {
    double *row = results.data() + at;
    std::fill(row, row + width, 0.0);
    for (const float *tap : taps) {
      for (int64_t i = 0; i < width; ++i) row[i] += static_cast<double>(tap[i]);
    }
    const int64_t lines =
        counted(windows.axes[0], z, margins) * counted(windows.axes[1], y, margins);
    for (int64_t i = 0; i < width; ++i) {
      row[i] /= static_cast<double>(divisor != 0 ? divisor
                                                 : lines * counted(windows.axes[2], i, margins));
    }
  };
  pool_planes<float>(from, windows, 0.0f, average, Values<double>{to});
}

struct AverageCall {
  const char *op;
  const aclTensor *self;
  const char *kernel_name, *stride_name, *padding_name;
  const aclIntArray *kernel, *stride, *padding;
  bool ceil, count_margins;
  int64_t divisor;
  int8_t cube_math_type;
  const aclTensor *out;
  int spatial;
};

Status plan_average(const AverageCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const auto sizes = static_cast<size_t>(a.spatial);
  Check check(a.op);
  check.required("self", a.self)
      .required(a.kernel_name, a.kernel)
      .required(a.stride_name, a.stride);
  check.required(a.padding_name, a.padding).required("out", a.out);
  check.dtype("self", a.self).dtype("out", a.out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", a.out->dtype, "self", a.self->dtype);
  check.rank("self", a.self, a.spatial + 1, a.spatial + 2);
  if (!check.ok()) return check.status();
  if (a.spatial == 2) {
    format_in(check, "self", a.self, {a.self->rank() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL});
  } else {
    format_in(check, "self", a.self,
              {ACL_FORMAT_ND, a.self->rank() == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW});
  }
  same_format(check, "out", a.out, a.self);
  values_from(check, a.kernel_name, a.kernel, 1);
  values_from(check, a.stride_name, a.stride, 1);
  values_from(check, a.padding_name, a.padding, 0);
  only_batch_empty(check, "self", a.self, a.spatial);
  length_in(check, a.kernel_name, a.kernel, {1, sizes});
  length_in(check, a.padding_name, a.padding, {1, sizes});
  length_in(check, a.stride_name, a.stride, {0, 1, sizes});
  Windows windows;
  set_windows(check, &windows, a.spatial, a.kernel_name, a.kernel, a.stride, a.padding_name,
              a.padding);
  if (!check.ok()) return check.status();
  check.shape("out", a.out, place_windows(check, a.self, a.spatial, a.ceil, &windows));
  check.that(a.divisor >= INT32_MIN && a.divisor <= INT32_MAX,
             "divisorOverride is %lld; allowed: %d to %d, the kernel's integers",
             static_cast<long long>(a.divisor), INT32_MIN, INT32_MAX);
  // 1 and 3 permit less precision and get all of it; 2 rounds float32 to float16 first.
  check.that(a.cube_math_type >= 0 && a.cube_math_type <= 3, "cubeMathType is %d; allowed: 0 to 3",
             a.cube_math_type);
  check.that(a.cube_math_type != 2 || a.self->dtype != ACL_BF16,
             "cubeMathType is 2, which BF16 cannot have");
  if (!check.ok()) return check.status();
  const bool through_half = a.cube_math_type == 2 && a.self->dtype == ACL_FLOAT,
             margins = a.count_margins;
  const int64_t divisor = a.divisor;
  const int spatial = a.spatial;
  const auto shared = std::make_shared<const Windows>(windows);
  return plan_one_to_one(
      a.op, a.self, a.out,
      [=](const View &source, const View &result) {
        std::unique_ptr<char[]> memory;
        const View values = through_half ? dense_as(source, ACL_FLOAT16, &memory) : source;
        averages(image_of(values, spatial), image_of(result, spatial), *shared, margins, divisor);
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
  emu::AverageCall call{};
  call.op = "aclnnAvgPool2d";
  call.self = self;
  call.kernel_name = "kernelSize";
  call.stride_name = "strides";
  call.padding_name = "paddings";
  call.kernel = kernelSize;
  call.stride = strides;
  call.padding = paddings;
  call.ceil = ceilMode;
  call.count_margins = countIncludePad;
  call.divisor = divisorOverride;
  call.cube_math_type = cubeMathType;
  call.out = out;
  call.spatial = 2;
  return emu::plan_average(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AvgPool3d, (const aclTensor *self, const aclIntArray *kernelSize,
                         const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
                         bool countIncludePad, int64_t divisorOverride, aclTensor *out)) {
  emu::AverageCall call{};
  call.op = "aclnnAvgPool3d";
  call.self = self;
  call.kernel_name = "kernelSize";
  call.stride_name = "stride";
  call.padding_name = "padding";
  call.kernel = kernelSize;
  call.stride = stride;
  call.padding = padding;
  call.ceil = ceilMode;
  call.count_margins = countIncludePad;
  call.divisor = divisorOverride;
  call.out = out;
  call.spatial = 3;
  return emu::plan_average(call, workspaceSize, executor);
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
