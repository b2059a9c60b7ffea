// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Gradients of resized images: each slope goes to the elements that its place was made of, with
// their shares. The maps are those of the resizing, transposed. Sums of few slopes are float32,
// others float64; one rounding.
#include <algorithm>
#include <cmath>

#include "aclnnop/image.h"
#include "ops/shared/rows.h"
#include "ops/window/resize.h"

namespace emu {
namespace {

// What the documents of the gradients differ in.
struct GradientRules {
  ImageFormats formats;
  const char *slopes = "gradOut", *result = "out";
  bool positive_scales = false;  // negative ones are refused
  bool empty_batch = false;      // inputSize may name a batch of 0
  bool sizes_of_format = false;  // inputSize has the order of the format, not (n, channels, sizes)
};

struct ResizeGradient {
  const char *op;
  const aclTensor *slopes;
  const aclIntArray *output_size, *input_size;
  const aclTensor *result;
  Resampling how;
  GradientRules rules;
};

// Of so few slopes the sum in float32 is as good as that in float64.
constexpr int64_t kFewSlopes = 64;

void check_input_size(Check &check, const ResizeGradient &g, const Image &image) {
  const auto &sizes = g.input_size->values;
  const bool last = g.rules.sizes_of_format && channels_last(g.result->format);
  const int64_t channels = last ? sizes.back() : sizes[1];
  check.that(sizes[0] == image.batch && channels == image.channels,
             "inputSize asks for a batch of %lld and %lld channels; %s has shape %s",
             static_cast<long long>(sizes[0]), static_cast<long long>(channels), g.rules.result,
             shape_text(layout_of(*g.result)).c_str());
  check_image_sizes(check, "inputSize", g.input_size, last ? 1 : 2, g.rules.result, g.result, image,
                    g.how.spatial);
}

Status check_gradient(const ResizeGradient &g) {
  const int spatial = g.how.spatial;
  const char *slopes = g.rules.slopes, *result = g.rules.result;
  Check check(g.op);
  check.required(slopes, g.slopes).required("outputSize", g.output_size);
  check.required("inputSize", g.input_size).required(result, g.result);
  check.dtype(slopes, g.slopes).dtype(result, g.result);
  if (!check.ok()) return check.status();
  check.same_dtype(result, g.result->dtype, slopes, g.slopes->dtype);
  check.rank(slopes, g.slopes, spatial + 2, spatial + 2)
      .rank(result, g.result, spatial + 2, spatial + 2);
  length_in(check, "outputSize", g.output_size, {static_cast<size_t>(spatial)});
  length_in(check, "inputSize", g.input_size, {static_cast<size_t>(spatial) + 2});
  values_from(check, "outputSize", g.output_size, 1);
  values_from(check, "inputSize", g.input_size, g.rules.empty_batch ? 0 : 1);
  if (g.rules.positive_scales) refuse_negative_scales(check, g.how);
  if (!check.ok()) return check.status();
  check_image_format(check, slopes, g.slopes, spatial, g.rules.formats);
  const Image from = whole_image(g.slopes, spatial), to = whole_image(g.result, spatial);
  check_image_pair(check, slopes, g.slopes, from, result, g.result, to);
  check.that(to.area() > 0, "%s has shape %s; only the batch may be empty", result,
             shape_text(layout_of(*g.result)).c_str());
  check_image_sizes(check, "outputSize", g.output_size, 0, slopes, g.slopes, from, spatial);
  check_input_size(check, g, to);
  check_smoothing(check, g.how, to, from);
  return check.status();
}

// The most slopes that have a share in one element of the axis.
double most_shares(const Blend &axis) {
  int64_t most = 1;
  for (size_t i = 1; i < axis.starts.size(); ++i) {
    const auto *shares = axis.shares.data();
    most =
        std::max<int64_t>(most, std::count_if(shares + axis.starts[i - 1], shares + axis.starts[i],
                                              [](double share) { return share != 0; }));
  }
  return static_cast<double>(most);
}

void give_back(const Image &slopes, const Image &result, const Resampling &how) {
  Blend axes[kAxes];
  double most = 1;
  for (int axis = 0; axis < kAxes; ++axis) {
    const int64_t extent = result.extent[axis];
    const int64_t count = slopes.extent[axis];
    axes[axis] = how.nearest() ? nearest_gradient(how, axis, extent, count)
                               : transposed(blend_of(how, axis, extent, count), extent);
    most = std::max(most, most_shares(axes[axis]));  // axes are summed one after the other
  }
  const bool wide = slopes.dtype == ACL_DOUBLE || most > static_cast<double>(kFewSlopes);
  (wide ? blend_images<double> : blend_images<float>)(slopes, result, axes);
}

Status plan_gradient(ResizeGradient g, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (const Status status = check_gradient(g)) return status;
  return plan_one_to_one(
      g.op, g.slopes, g.result,
      [how = g.how, format = g.result->format](const View &source, const View &result) {
        if (result.count() == 0) return;
        const Image slopes = whole_image(source, format, how.spatial),
                    image = whole_image(result, format, how.spatial);
        give_back(slopes, image, how.counted(image, slopes, true));
      },
      workspace_size, executor);
}

constexpr GradientRules kNearest1d = {{false, true}, "gradOut", "out"};
constexpr GradientRules kNearest2d = {{true, false}, "gradOut", "gradInput", false, true, true};
constexpr GradientRules kNearest3d = {{true, false}, "gradOut", "gradInput"};
constexpr GradientRules kExact = {{false, true}, "gradOutput", "out", true};
constexpr GradientRules kExact3d = {{true, false}, "gradOut", "gradInput"};
constexpr GradientRules kLinear1d = {{false, true}, "gradOut", "out"};
constexpr GradientRules kBilinear = {{true, false}, "gradOut", "out"};
constexpr GradientRules kTrilinear = {{true, true}, "gradOut", "gradInput", false, true};
constexpr GradientRules kBicubic = {{false, true}, "gradOut", "gradInput"};
constexpr GradientRules kSmooth = {{false, true}, "gradOutput", "out", true};

}  // namespace
}  // namespace emu

using emu::Filter;
using emu::plan_gradient;
using emu::ScaleUse;

#define EMU_NEAREST_GRADIENT_1D(NAME, FILTER, USE, RULES)                             \
  EMU_OPERATOR(NAME, (const aclTensor *gradOut, const aclIntArray *outputSize,        \
                      const aclIntArray *inputSize, double scales, aclTensor *out)) { \
    return plan_gradient({"aclnn" #NAME,                                              \
                          gradOut,                                                    \
                          outputSize,                                                 \
                          inputSize,                                                  \
                          out,                                                        \
                          {Filter::FILTER, 1, false, {scales}, ScaleUse::USE},        \
                          emu::RULES},                                                \
                         workspaceSize, executor);                                    \
  }                                                                                   \
  EMU_CATCH

#define EMU_NEAREST_GRADIENT_2D(NAME, FILTER, USE, RULES)                                        \
  EMU_OPERATOR(NAME,                                                                             \
               (const aclTensor *gradOut, const aclIntArray *outputSize,                         \
                const aclIntArray *inputSize, double scalesH, double scalesW, aclTensor *out)) { \
    return plan_gradient({"aclnn" #NAME,                                                         \
                          gradOut,                                                               \
                          outputSize,                                                            \
                          inputSize,                                                             \
                          out,                                                                   \
                          {Filter::FILTER, 2, false, {scalesH, scalesW}, ScaleUse::USE},         \
                          emu::RULES},                                                           \
                         workspaceSize, executor);                                               \
  }                                                                                              \
  EMU_CATCH

#define EMU_NEAREST_GRADIENT_3D(NAME, FILTER, USE, RULES)                                         \
  EMU_OPERATOR(NAME, (const aclTensor *gradOut, const aclIntArray *outputSize,                    \
                      const aclIntArray *inputSize, double scalesD, double scalesH,               \
                      double scalesW, aclTensor *gradInput)) {                                    \
    return plan_gradient({"aclnn" #NAME,                                                          \
                          gradOut,                                                                \
                          outputSize,                                                             \
                          inputSize,                                                              \
                          gradInput,                                                              \
                          {Filter::FILTER, 3, false, {scalesD, scalesH, scalesW}, ScaleUse::USE}, \
                          emu::RULES},                                                            \
                         workspaceSize, executor);                                                \
  }                                                                                               \
  EMU_CATCH

#define EMU_BLEND_GRADIENT_2D(NAME, FILTER, USE, RULES)                                         \
  EMU_OPERATOR(NAME, (const aclTensor *gradOut, const aclIntArray *outputSize,                  \
                      const aclIntArray *inputSize, bool alignCorners, double scalesH,          \
                      double scalesW, aclTensor *out)) {                                        \
    return plan_gradient({"aclnn" #NAME,                                                        \
                          gradOut,                                                              \
                          outputSize,                                                           \
                          inputSize,                                                            \
                          out,                                                                  \
                          {Filter::FILTER, 2, alignCorners, {scalesH, scalesW}, ScaleUse::USE}, \
                          emu::RULES},                                                          \
                         workspaceSize, executor);                                              \
  }                                                                                             \
  EMU_CATCH

EMU_NEAREST_GRADIENT_1D(UpsampleNearest1dBackward, kBelow, kFitting, kNearest1d)
EMU_NEAREST_GRADIENT_2D(UpsampleNearest2dBackward, kBelow, kEach, kNearest2d)
EMU_NEAREST_GRADIENT_3D(UpsampleNearest3dBackward, kBelow, kTogether, kNearest3d)
EMU_NEAREST_GRADIENT_1D(UpsampleNearestExact1dBackward, kMiddle, kEach, kExact)
EMU_NEAREST_GRADIENT_2D(UpsampleNearestExact2dBackward, kMiddle, kEach, kExact)
EMU_NEAREST_GRADIENT_3D(UpsampleNearestExact3dBackward, kMiddle, kTogether, kExact3d)
EMU_BLEND_GRADIENT_2D(UpsampleBilinear2dBackward, kLinear, kNever, kBilinear)
EMU_BLEND_GRADIENT_2D(UpsampleBilinear2dBackwardV2, kLinear, kFitting, kBilinear)
EMU_BLEND_GRADIENT_2D(UpsampleBicubic2dBackward, kCubic, kEach, kBicubic)
EMU_BLEND_GRADIENT_2D(UpsampleBilinear2dAABackward, kSmoothLinear, kEach, kSmooth)
EMU_BLEND_GRADIENT_2D(UpsampleBicubic2dAAGrad, kSmoothCubic, kEach, kSmooth)

EMU_OPERATOR(UpsampleLinear1dBackward,
             (const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize,
              bool alignCorners, double scales, aclTensor *out)) {
  return plan_gradient({"aclnnUpsampleLinear1dBackward",
                        gradOut,
                        outputSize,
                        inputSize,
                        out,
                        {Filter::kLinear, 1, alignCorners, {scales}, ScaleUse::kFitting},
                        emu::kLinear1d},
                       workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleTrilinear3dBackward,
             (const aclTensor *gradOut, const aclIntArray *outputSize, const aclIntArray *inputSize,
              bool alignCorners, double scalesD, double scalesH, double scalesW,
              aclTensor *gradInput)) {
  return plan_gradient(
      {"aclnnUpsampleTrilinear3dBackward",
       gradOut,
       outputSize,
       inputSize,
       gradInput,
       {Filter::kLinear, 3, alignCorners, {scalesD, scalesH, scalesW}, ScaleUse::kTogether},
       emu::kTrilinear},
      workspaceSize, executor);
}
EMU_CATCH
