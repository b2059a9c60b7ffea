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

// Each element of the axis has a window.
bool all_covered(const Axis &axis) {
  return axis.before == 0 && axis.step == axis.window && axis.count * axis.step >= axis.extent;
}

template <int64_t kWindow, class Sum>
void repeat(const Sum *from, int64_t count, Sum *to) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t k = 0; k < kWindow; ++k) to[i * kWindow + k] = from[i];
  }
}

// The line of elements under a row of windows that lie apart.
template <class Sum>
void repeat_in_windows(const Axis &axis, const Sum *from, Sum *line) {
  if (axis.before == 0 && axis.step == axis.window && axis.count * axis.step <= axis.extent) {
    if (axis.window == 2) return repeat<2>(from, axis.count, line);
    if (axis.window == 4) return repeat<4>(from, axis.count, line);
  }
  for (int64_t k = 0; k < axis.window; ++k) {
    const Span inside = windows_inside(axis, k);
    for (int64_t i = inside.begin; i < inside.end; ++i)
      line[i * axis.step + k - axis.before] = from[i];
  }
}

// The elements that window i covers.
Span covered(const Axis &axis, int64_t i) {
  const int64_t begin = i * axis.step - axis.before;
  return {std::max<int64_t>(begin, 0), std::min(begin + axis.window, axis.extent)};
}

// Of windows that lie apart: the rows that a row of windows covers are alike.
template <class Sum>
void place_lines(const Windows &windows, const Sum *shares, Sum *plane) {
  const Axis *a = windows.axes;
  const int64_t width = a[2].extent;
  std::vector<Sum> line(static_cast<size_t>(width));
  for (int64_t z = 0; z < a[0].count; ++z) {
    const Span deep = covered(a[0], z);
    for (int64_t y = 0; y < a[1].count; ++y, shares += a[2].count) {
      repeat_in_windows(a[2], shares, line.data());
      const Span down = covered(a[1], y);
      for (int64_t i = deep.begin; i < deep.end; ++i) {
        for (int64_t k = down.begin; k < down.end; ++k)
          std::copy(line.begin(), line.end(), plane + (i * a[1].extent + k) * width);
      }
    }
  }
}

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
  const bool placed = apart(windows);
  const auto spread = [&](int64_t, int64_t, const Sum *from, Sum *sums) {
    std::vector<Sum> shares(parts.size());
    for (size_t i = 0; i < shares.size(); ++i) shares[i] = from[i] / parts[i];
    if (placed) return place_lines<Sum>(windows, shares.data(), sums);
    // Every element of a window has the same column.
    fold_add<Sum>(shares.data(), 0, windows, 0, lines, sums);
  };
  // Whole lines are placed: nothing is left of what was there.
  const bool cleared = !(placed && all_covered(a[0]) && all_covered(a[1]));
  sum_planes<Sum, Sum>(slopes, result, spread, cleared);
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
      a.op, a.slopes, a.self, a.result, time_of(windows),
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

// The cells that cover each element of an axis; neighbours may share one.
std::vector<Span> cells_around(int64_t count, int64_t extent) {
  std::vector<Span> found(static_cast<size_t>(extent), Span{count, 0});
  for (int64_t i = 0; i < count; ++i) {
    const Span cell = cell_of(i, count, extent);
    for (int64_t k = cell.begin; k < cell.end; ++k) {
      Span &around = found[static_cast<size_t>(k)];
      around = {std::min(around.begin, i), i + 1};
    }
  }
  return found;
}

// A register of any processor; lines are short, and a call for each would take longer than the
// copy.
constexpr int64_t kFour = 4;
typedef float Four __attribute__((vector_size(kFour * sizeof(float)), aligned(4), may_alias));

void fill_line(float *to, int64_t count, float value) {
  if (count < kFour) {
    for (int64_t x = 0; x < count; ++x) to[x] = value;
    return;
  }
  const Four four = {value, value, value, value};
  for (int64_t x = 0; x + kFour <= count; x += kFour) *reinterpret_cast<Four *>(to + x) = four;
  *reinterpret_cast<Four *>(to + count - kFour) = four;
}

// kFours registers of a line, `times` below each other.
template <int kFours>
void repeat_part(const float *line, int64_t width, int64_t times, float *to) {
  Four part[kFours];
#pragma GCC unroll 8
  for (int i = 0; i < kFours; ++i) part[i] = reinterpret_cast<const Four *>(line)[i];
  for (int64_t k = 0; k < times; ++k, to += width) {
#pragma GCC unroll 8
    for (int i = 0; i < kFours; ++i) reinterpret_cast<Four *>(to)[i] = part[i];
  }
}

void repeat_line(const float *line, int64_t width, int64_t times, float *to) {
  constexpr int64_t kShort = 256, kPart = 8 * kFour;
  if (width < kFour || width > kShort) {
    for (int64_t k = 0; k < times; ++k) std::copy(line, line + width, to + k * width);
    return;
  }
  int64_t x = 0;
  for (; x + kPart <= width; x += kPart) repeat_part<8>(line + x, width, times, to + x);
  for (; x + kFour <= width; x += kFour) repeat_part<1>(line + x, width, times, to + x);
  if (x < width) repeat_part<1>(line + width - kFour, width, times, to + width - kFour);
}

// An element lies in eight cells at most: their sum in float32 is as good as that in float64.
void spread_cells(const Image &slopes, const Image &result) {
  const int64_t *count = slopes.extent, *size = result.extent;
  std::vector<Span> across;
  for (int64_t i = 0; i < count[2]; ++i) across.push_back(cell_of(i, count[2], size[2]));
  const std::vector<Span> deep = cells_around(count[0], size[0]),
                          down = cells_around(count[1], size[1]);
  const bool even = size[2] % count[2] == 0;  // no element is in two cells of a row
  const auto spread = [&](int64_t, int64_t, const float *from, float *to) {
    // A row of cells adds the same line to each row it covers.
    std::vector<float> lines(static_cast<size_t>(count[0] * count[1] * size[2]));
    for (int64_t i = 0; i < count[0] * count[1]; ++i) {
      const Span z = cell_of(i / count[1], count[0], size[0]),
                 y = cell_of(i % count[1], count[1], size[1]);
      const int64_t rows = (z.end - z.begin) * (y.end - y.begin);
      float *line = lines.data() + i * size[2];
      if (even) {
        const int64_t width = size[2] / count[2];
        const auto cell = static_cast<float>(rows * width);
        for (int64_t k = 0; k < count[2]; ++k, line += width)
          fill_line(line, width, *from++ / cell);
        continue;
      }
      for (const Span &span : across) {
        const float share = *from++ / static_cast<float>(rows * (span.end - span.begin));
        for (int64_t x = span.begin; x < span.end; ++x) line[x] += share;
      }
    }
    std::vector<float> sum(static_cast<size_t>(size[2]));
    const Span *above = nullptr;
    for (const Span &z : deep) {
      if (above != nullptr && above->begin == z.begin && above->end == z.end) {
        to = std::copy(to - size[1] * size[2], to, to);  // the slice in front once more
        continue;
      }
      above = &z;
      for (size_t y = 0, next = 0; y < down.size(); y = next) {
        const Span &rows = down[y];
        for (next = y + 1;
             next < down.size() && down[next].begin == rows.begin && down[next].end == rows.end;)
          ++next;
        // Every element lies in a cell.
        const float *first = lines.data() + (z.begin * count[1] + rows.begin) * size[2];
        if (z.end - z.begin > 1 || rows.end - rows.begin > 1) {
          std::copy(first, first + size[2], sum.data());
          for (int64_t i = z.begin; i < z.end; ++i) {
            for (int64_t k = rows.begin; k < rows.end; ++k) {
              const float *line = lines.data() + (i * count[1] + k) * size[2];
              if (line == first) continue;
              for (int64_t x = 0; x < size[2]; ++x) sum[static_cast<size_t>(x)] += line[x];
            }
          }
          first = sum.data();
        }
        const auto times = static_cast<int64_t>(next - y);
        repeat_line(first, size[2], times, to);
        to += times * size[2];
      }
    }
  };
  sum_planes<float, float>(slopes, result, spread, false);
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
      op, slopes, self, out, KernelTime::linear,
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
