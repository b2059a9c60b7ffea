// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of average pools: AvgPool2d, AvgPool3d, AdaptiveAvgPool2d and AdaptiveAvgPool3d. A
// slope is divided as the average was, and added to each element that the average counted.
#include "aclnnop/pooling.h"
#include "ops/window/columns.h"
#include "ops/window/pool.h"
#include "ops/window/pool_gradient.h"

namespace emu {
namespace {

struct AverageGradient {
  const char *op;
  const aclTensor *slopes, *self;
  AverageWindows how;
  bool count_margins;
  const char *result_name;
  const aclTensor *result;
};

// Of so few slopes the sum in float32 is as good as that in float64.
constexpr int64_t kFewSlopes = 64;

template <class Sum>
void spread_averages(const Image &slopes, const Image &result, const Windows &windows, bool margins,
                     int64_t divisor) {
  const Axis *a = windows.axes;
  const int64_t lines = a[0].count * a[1].count, width = a[2].count;
  // What each slope is multiplied by.
  std::vector<Sum> parts(static_cast<size_t>(lines * width));
  for (int64_t i = 0; i < lines; ++i) {
    const int64_t rows =
        counted(a[0], i / a[1].count, margins) * counted(a[1], i % a[1].count, margins);
    for (int64_t x = 0; x < width; ++x) {
      const int64_t count = divisor != 0 ? divisor : rows * counted(a[2], x, margins);
      parts[static_cast<size_t>(i * width + x)] = static_cast<Sum>(count);
    }
  }
  sum_planes<Sum, Sum>(slopes, result, [&](int64_t, int64_t, const Sum *from, Sum *sums) {
    std::vector<Sum> shares(parts.size());
    for (size_t i = 0; i < shares.size(); ++i) shares[i] = from[i] / parts[i];
    // Every element of a window has the same column.
    fold_add<Sum>(shares.data(), 0, windows, 0, lines, sums);
  });
}

Status plan_average_gradient(const AverageGradient &a, uint64_t *workspace_size,
                             aclOpExecutor **executor) {
  Check check(a.op);
  check.required("gradOutput", a.slopes).required("self", a.self);
  check_given(check, a.how).required(a.result_name, a.result);
  check.dtype("gradOutput", a.slopes).dtype("self", a.self).dtype(a.result_name, a.result);
  if (!check.ok()) return check.status();
  check.same_dtype("gradOutput", a.slopes->dtype, "self", a.self->dtype)
      .same_dtype(a.result_name, a.result->dtype, "self", a.self->dtype);
  Windows windows;
  const Layout pooled = check_average(check, a.how, a.self, &windows);
  check_slopes(check, a.slopes, pooled, a.self, a.result_name, a.result);
  if (!check.ok()) return check.status();
  const bool through_half = a.how.cube_math_type == 2 && a.self->dtype == ACL_FLOAT,
             margins = a.count_margins;
  const auto shared = std::make_shared<const Windows>(windows);
  return plan_slopes(
      a.op, a.slopes, a.self, a.result,
      [=, spatial = a.how.spatial, divisor = a.how.divisor](const View &source,
                                                            const View &result) {
        std::unique_ptr<char[]> memory;
        const View values = through_half ? dense_as(source, ACL_FLOAT16, &memory) : source;
        const Image from = image_of(values, spatial), to = image_of(result, spatial);
        if (shared->elements() <= kFewSlopes) {
          spread_averages<float>(from, to, *shared, margins, divisor);
        } else {
          spread_averages<double>(from, to, *shared, margins, divisor);
        }
      },
      workspace_size, executor);
}

void spread_cells(const Image &slopes, const Image &result) {
  const int64_t *count = slopes.extent, *size = result.extent;
  std::vector<Span> across;
  for (int64_t i = 0; i < count[2]; ++i) across.push_back(cell_of(i, count[2], size[2]));
  sum_planes(slopes, result, [=, &across](int64_t, int64_t, const float *from, double *sums) {
    std::vector<double> line(static_cast<size_t>(size[2]));
    for (int64_t i = 0; i < count[0] * count[1]; ++i) {
      const Span deep = cell_of(i / count[1], count[0], size[0]),
                 down = cell_of(i % count[1], count[1], size[1]);
      const int64_t rows = (deep.end - deep.begin) * (down.end - down.begin);
      // A row of cells adds the same line to each row it covers.
      std::fill(line.begin(), line.end(), 0.0);
      for (const Span &span : across) {
        const double share =
            static_cast<double>(*from++) / static_cast<double>(rows * (span.end - span.begin));
        for (int64_t x = span.begin; x < span.end; ++x) line[static_cast<size_t>(x)] += share;
      }
      for (int64_t z = deep.begin; z < deep.end; ++z) {
        for (int64_t y = down.begin; y < down.end; ++y) {
          double *to = sums + (z * size[1] + y) * size[2];
          for (int64_t x = 0; x < size[2]; ++x) to[x] += line[static_cast<size_t>(x)];
        }
      }
    }
  });
}

Status plan_cells(const char *op, const aclTensor *slopes, const aclTensor *self,
                  const aclTensor *out, int spatial, uint64_t *workspace_size,
                  aclOpExecutor **executor) {
  Check check(op);
  check.required("gradOutput", slopes).required("self", self).required("out", out);
  check.dtype("gradOutput", slopes).dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("gradOutput", slopes->dtype, "self", self->dtype)
      .same_dtype("out", out->dtype, "self", self->dtype);
  const Layout pooled = free_cells(check, slopes, self, spatial);
  if (!check.ok()) return check.status();
  const bool whole = self->rank() == static_cast<size_t>(spatial) + 2;
  if (spatial == 2) {
    format_in(check, "self", self, {ACL_FORMAT_ND, whole ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL});
  } else {
    format_in(check, "self", self, {ACL_FORMAT_ND, whole ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW});
  }
  check_slopes(check, slopes, pooled, self, "out", out);
  if (!check.ok()) return check.status();
  return plan_slopes(
      op, slopes, self, out,
      [=](const View &source, const View &result) {
        spread_cells(image_of(source, spatial), image_of(result, spatial));
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AvgPool2dBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
              bool countIncludePad, int64_t divisorOverride, int8_t cubeMathType,
              aclTensor *gradInput)) {
  return emu::plan_average_gradient({"aclnnAvgPool2dBackward",
                                     gradOutput,
                                     self,
                                     {"kernelSize", "stride", "padding", kernelSize, stride,
                                      padding, ceilMode, divisorOverride, cubeMathType, 2},
                                     countIncludePad,
                                     "gradInput",
                                     gradInput},
                                    workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AvgPool3dBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, bool ceilMode,
              bool countIncludePad, int64_t divisorOverride, aclTensor *output)) {
  return emu::plan_average_gradient({"aclnnAvgPool3dBackward",
                                     gradOutput,
                                     self,
                                     {"kernelSize", "stride", "padding", kernelSize, stride,
                                      padding, ceilMode, divisorOverride, 0, 3},
                                     countIncludePad,
                                     "output",
                                     output},
                                    workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdaptiveAvgPool2dBackward,
             (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out)) {
  return emu::plan_cells("aclnnAdaptiveAvgPool2dBackward", gradOutput, self, out, 2, workspaceSize,
                         executor);
}
EMU_CATCH

EMU_OPERATOR(AdaptiveAvgPool3dBackward,
             (const aclTensor *gradOutput, const aclTensor *self, aclTensor *out)) {
  return emu::plan_cells("aclnnAdaptiveAvgPool3dBackward", gradOutput, self, out, 3, workspaceSize,
                         executor);
}
EMU_CATCH
