// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Images of another size: UpsampleNearest1d to 3d and their forms with scales take the nearest
// element below, UpsampleNearestExact1d to 3d the one nearest to the middle. UpsampleLinear1d,
// UpsampleBilinear2d, UpsampleTrilinear3d and UpsampleBicubic2d weigh the neighbours;
// UpsampleBilinear2dAA and UpsampleBicubic2dAA widen the filter when the result is smaller (float32
// values, float64 for float64; one rounding).
#include "aclnnop/image.h"
#include "ops/shared/rows.h"
#include "ops/window/picking.h"
#include "ops/window/resize.h"

namespace emu {
namespace {

struct ResizeCall {
  const char *op;
  const aclTensor *self;
  const aclIntArray *output_size;
  const aclTensor *out;
  Resampling how;
  ImageFormats formats = {true, false};
  const char *name = "self";
  bool positive_scales = false;  // whether negative ones are refused
};

Status check_resize(const ResizeCall &r) {
  const int spatial = r.how.spatial;
  Check check(r.op);
  check.required(r.name, r.self).required("outputSize", r.output_size).required("out", r.out);
  check.dtype(r.name, r.self).dtype("out", r.out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", r.out->dtype, r.name, r.self->dtype);
  check.rank(r.name, r.self, spatial + 2, spatial + 2).rank("out", r.out, spatial + 2, spatial + 2);
  length_in(check, "outputSize", r.output_size, {static_cast<size_t>(spatial)});
  values_from(check, "outputSize", r.output_size, 1);
  if (r.positive_scales) refuse_negative_scales(check, r.how);
  if (!check.ok()) return check.status();
  check_image_format(check, r.name, r.self, spatial, r.formats);
  const Image from = whole_image(r.self, spatial), to = whole_image(r.out, spatial);
  check_image_pair(check, r.name, r.self, from, "out", r.out, to);
  check_image_sizes(check, "outputSize", r.output_size, 0, "out", r.out, to, spatial);
  check_smoothing(check, r.how, from, to);
  return check.status();
}

void resize_nearest(const Image &from, const Image &to, const Resampling &how) {
  Picks picks;
  for (int axis = kAxes - how.spatial; axis < kAxes; ++axis) {
    picks.axes[axis] = nearest_places(how, axis, from.extent[axis], to.extent[axis]);
  }
  pick(from, to, picks);
}

void resize_blended(const Image &from, const Image &to, const Resampling &how) {
  Blend axes[kAxes];
  for (int axis = 0; axis < kAxes; ++axis)
    axes[axis] = blend_of(how, axis, from.extent[axis], to.extent[axis]);
  if (from.dtype == ACL_DOUBLE) blend_images<double>(from, to, axes);
  else blend_images<float>(from, to, axes);
}

// Tables as long as the result are made with the result: in phase one nothing shows that there is
// memory of that size.
Status plan_resize(const ResizeCall &r, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (const Status status = check_resize(r)) return status;
  return plan_one_to_one(
      r.op, r.self, r.out,
      [how = r.how, format = r.out->format](const View &source, const View &result) {
        if (result.count() == 0) return;
        const Image from = whole_image(source, format, how.spatial),
                    to = whole_image(result, format, how.spatial);
        (how.nearest() ? resize_nearest : resize_blended)(from, to, how.counted(from, to));
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

using emu::Filter;
using emu::plan_resize;
using emu::ScaleUse;

EMU_OPERATOR(UpsampleNearest1d,
             (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out)) {
  return plan_resize(
      {"aclnnUpsampleNearest1d", self, outputSize, out, {Filter::kBelow, 1, false, {}}},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest2d,
             (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out)) {
  return plan_resize(
      {"aclnnUpsampleNearest2d", self, outputSize, out, {Filter::kBelow, 2, false, {}}},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest3d, (const aclTensor *self, const aclIntArray *outputSize,
                                 double scalesD, double scalesH, double scalesW, aclTensor *out)) {
  return plan_resize({"aclnnUpsampleNearest3d",
                      self,
                      outputSize,
                      out,
                      {Filter::kBelow, 3, false, {scalesD, scalesH, scalesW}, ScaleUse::kTogether},
                      {true, true}},
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest1dV2,
             (const aclTensor *self, const aclIntArray *outputSize, float scaleL, aclTensor *out)) {
  return plan_resize(
      {"aclnnUpsampleNearest1dV2",
       self,
       outputSize,
       out,
       {Filter::kBelow, 1, false, {static_cast<double>(scaleL)}, ScaleUse::kEach, false, true}},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest2dV2, (const aclTensor *self, const aclIntArray *outputSize,
                                   float scalesH, float scalesW, aclTensor *out)) {
  return plan_resize({"aclnnUpsampleNearest2dV2",
                      self,
                      outputSize,
                      out,
                      {Filter::kBelow,
                       2,
                       false,
                       {static_cast<double>(scalesH), static_cast<double>(scalesW)},
                       ScaleUse::kTogether,
                       true,
                       true,
                       true}},
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearestExact1d, (const aclTensor *self, const aclIntArray *outputSize,
                                      double scales, aclTensor *out)) {
  return plan_resize({"aclnnUpsampleNearestExact1d",
                      self,
                      outputSize,
                      out,
                      {Filter::kMiddle, 1, false, {scales}},
                      {true, true}},
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearestExact2d, (const aclTensor *self, const aclIntArray *outputSize,
                                      double scalesH, double scalesW, aclTensor *out)) {
  return plan_resize({"aclnnUpsampleNearestExact2d",
                      self,
                      outputSize,
                      out,
                      {Filter::kMiddle, 2, false, {scalesH, scalesW}, ScaleUse::kEach, true},
                      {true, true}},
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearestExact3d,
             (const aclTensor *self, const aclIntArray *outputSize, double scalesD, double scalesH,
              double scalesW, aclTensor *out)) {
  return plan_resize({"aclnnUpsampleNearestExact3d",
                      self,
                      outputSize,
                      out,
                      {Filter::kMiddle, 3, false, {scalesD, scalesH, scalesW}, ScaleUse::kTogether},
                      {true, true}},
                     workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleLinear1d, (const aclTensor *self, const aclIntArray *outputSize,
                                bool alignCorners, double scale, aclTensor *out)) {
  return plan_resize({"aclnnUpsampleLinear1d",
                      self,
                      outputSize,
                      out,
                      {Filter::kLinear, 1, alignCorners, {scale}, ScaleUse::kEach, true},
                      {true, true}},
                     workspaceSize, executor);
}
EMU_CATCH

#define EMU_RESIZE_2D(NAME, FILTER, USE, FLOATS, SELF, LAST, ND, POSITIVE)                     \
  EMU_OPERATOR(NAME, (const aclTensor *SELF, const aclIntArray *outputSize, bool alignCorners, \
                      double scalesH, double scalesW, aclTensor *out)) {                       \
    return plan_resize(                                                                        \
        {"aclnn" #NAME,                                                                        \
         SELF,                                                                                 \
         outputSize,                                                                           \
         out,                                                                                  \
         {Filter::FILTER, 2, alignCorners, {scalesH, scalesW}, ScaleUse::USE, true, FLOATS},   \
         {LAST, ND},                                                                           \
         #SELF,                                                                                \
         POSITIVE},                                                                            \
        workspaceSize, executor);                                                              \
  }                                                                                            \
  EMU_CATCH

EMU_RESIZE_2D(UpsampleBilinear2d, kLinear, kFitting, true, self, true, false, false)
EMU_RESIZE_2D(UpsampleBicubic2d, kCubic, kEach, false, self, false, true, false)
EMU_RESIZE_2D(UpsampleBilinear2dAA, kSmoothLinear, kEach, false, input, false, true, true)
EMU_RESIZE_2D(UpsampleBicubic2dAA, kSmoothCubic, kEach, false, x, false, true, false)

EMU_OPERATOR(UpsampleTrilinear3d,
             (const aclTensor *self, const aclIntArray *outputSize, bool alignCorners,
              double scalesD, double scalesH, double scalesW, aclTensor *out)) {
  return plan_resize(
      {"aclnnUpsampleTrilinear3d",
       self,
       outputSize,
       out,
       {Filter::kLinear, 3, alignCorners, {scalesD, scalesH, scalesW}, ScaleUse::kTogether, true},
       {true, true}},
      workspaceSize, executor);
}
EMU_CATCH
