// SPDX-License-Identifier: Apache-2.0
// RoiAlign, RoiAlignV2 and its gradient.
#include "ops/boxes/roi_align.h"

#include <cstring>

#include "aclnnop/objdetect.h"

namespace emu {

namespace {

// Regions are sampled with this many samples along an axis of a bin at most.
constexpr int64_t kMostRatio = 1024;

void check_images(Check &check, const char *name, const aclTensor *tensor, const Dims &shape) {
  check.that(shape[0] > 0 && shape[2] > 0 && shape[3] > 0,
             "%s has shape %s; only its second dimension, the channels, may be empty", name,
             shape_text(layout_of(*tensor)).c_str());
}

Layout two(int64_t rows, int64_t columns) {
  Layout made;
  made.push(rows, 0);
  made.push(columns, 0);
  return made;
}

}  // namespace

void check_region_rule(Check &check, float scale, int64_t ratio) {
  check.that(scale > 0, "spatialScale is %g; allowed: greater than 0", static_cast<double>(scale));
  check.that(ratio >= 0 && ratio <= kMostRatio,
             "samplingRatio is %lld; allowed: 0 (as many samples as elements) to %lld",
             static_cast<long long>(ratio), static_cast<long long>(kMostRatio));
}

void check_regions(Check &check, const char *map_name, const aclTensor *map,
                   const char *samples_name, const aclTensor *samples, const char *height_name,
                   const char *width_name, RegionAlign *a) {
  if (!check.ok()) return;
  check_images(check, map_name, map, map->shape);
  check.that(a->bins_down > 0, "%s is %lld; allowed: 1 or more", height_name,
             static_cast<long long>(a->bins_down));
  check.that(a->bins_across > 0, "%s is %lld; allowed: 1 or more", width_name,
             static_cast<long long>(a->bins_across));
  if (!check.ok()) return;
  a->images = map->shape[0];
  a->channels = map->shape[1];
  a->height = map->shape[2];
  a->width = map->shape[3];
  Layout made = two(a->regions, a->channels);
  made.push(a->bins_down, 0);
  made.push(a->bins_across, 0);
  check.shape(samples_name, samples, made);
  const Checked area = Checked(a->height) * a->width, bins = Checked(a->bins_down) * a->bins_across;
  check.size(map_name, area);
  check.size(height_name, bins);
}

}  // namespace emu

EMU_OPERATOR(RoiAlign, (const aclTensor *self, const aclTensor *rois, const aclTensor *batchIndices,
                        const char *mode, int outputHeight, int outputWidth, int samplingRatio,
                        float spatialScale, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnRoiAlign");
  check.required("self", self).required("rois", rois).required("batchIndices", batchIndices);
  check.required_text("mode", mode).required("out", out);
  check.dtype("self", self).dtype("rois", rois).dtype("batchIndices", batchIndices);
  check.dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("rois", rois->dtype, "self", self->dtype);
  check.same_dtype("out", out->dtype, "self", self->dtype);
  check.rank("self", self, 4, 4).rank("rois", rois, 2, 2);
  check.rank("batchIndices", batchIndices, 1, 1).rank("out", out, 4, 4);
  if (!check.ok()) return check.status();
  const bool largest = std::strcmp(mode, "max") == 0;
  check.that(largest || std::strcmp(mode, "avg") == 0,
             "mode is \"%.40s\"; allowed: \"avg\", \"max\"", mode);
  check_region_rule(check, spatialScale, samplingRatio);
  RegionAlign a{};
  a.rule = {spatialScale, samplingRatio, false};
  a.regions = rois->shape[0];
  a.bins_down = outputHeight;
  a.bins_across = outputWidth;
  check.shape("rois", rois, two(a.regions, 4));
  check.shape("batchIndices", batchIndices, dense_layout(&a.regions, 1));
  check_regions(check, "self", self, "out", out, "outputHeight", "outputWidth", &a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t map = plan.input(self), boxes = plan.input(rois), images = plan.input(batchIndices),
               to = plan.output(out);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        if (c.tensor(to).numel() == 0) return Status{0};
        IndexFault fault;
        const auto regions =
            read_regions(a, view_of(c.tensor(boxes)), view_of(c.tensor(images)), fault);
        if (fault.found) return fault.status(op, "batchIndices");
        Operands operands;
        const View result = view_of(c.tensor(to)),
                   from = operands.safe(view_of(c.tensor(map)), {result});
        (largest ? align_largest : align_average)(a, regions, from, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RoiAlignV2, (const aclTensor *self, const aclTensor *boxes, int64_t pooledHeight,
                          int64_t pooledWidth, float spatialScale, int64_t samplingRatio,
                          bool aligned, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnRoiAlignV2");
  check.required("self", self).required("boxes", boxes).required("out", out);
  check.dtype("self", self).dtype("boxes", boxes).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("boxes", boxes->dtype, "self", self->dtype);
  check.same_dtype("out", out->dtype, "self", self->dtype);
  check.rank("self", self, 4, 4).rank("boxes", boxes, 2, 2).rank("out", out, 4, 4);
  if (!check.ok()) return check.status();
  check_region_rule(check, spatialScale, samplingRatio);
  RegionAlign a{};
  a.rule = {spatialScale, samplingRatio, aligned};
  a.regions = boxes->shape[0];
  a.bins_down = pooledHeight;
  a.bins_across = pooledWidth;
  check.shape("boxes", boxes, two(a.regions, 5));
  check_regions(check, "self", self, "out", out, "pooledHeight", "pooledWidth", &a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t map = plan.input(self), rows = plan.input(boxes), to = plan.output(out);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        if (c.tensor(to).numel() == 0) return Status{0};
        IndexFault fault;
        const auto regions = read_regions(a, view_of(c.tensor(rows)), fault);
        if (fault.found) return fault.status(op, "boxes");
        Operands operands;
        const View result = view_of(c.tensor(to)),
                   from = operands.safe(view_of(c.tensor(map)), {result});
        align_average(a, regions, from, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RoiAlignV2Backward,
             (const aclTensor *gradOutput, const aclTensor *boxes, const aclIntArray *inputShape,
              int64_t pooledHeight, int64_t pooledWidth, float spatialScale, int64_t samplingRatio,
              bool aligned, aclTensor *gradInput)) {
  using namespace emu;
  Check check("aclnnRoiAlignV2Backward");
  check.required("gradOutput", gradOutput).required("boxes", boxes);
  check.required("inputShape", inputShape).required("gradInput", gradInput);
  check.dtype("gradOutput", gradOutput).dtype("boxes", boxes);
  if (!check.ok()) return check.status();
  check.same_dtype("gradInput", gradInput->dtype, "gradOutput", gradOutput->dtype);
  check.rank("gradOutput", gradOutput, 4, 4).rank("boxes", boxes, 2, 2);
  check.rank("gradInput", gradInput, 4, 4);
  if (!check.ok()) return check.status();
  check.that(inputShape->values.size() == 4,
             "inputShape has %zu numbers; expected 4: images, channels, height, width",
             inputShape->values.size());
  check_region_rule(check, spatialScale, samplingRatio);
  if (!check.ok()) return check.status();
  Layout expected;
  for (const int64_t extent : inputShape->values) expected.push(extent, 0);
  check.shape("gradInput", gradInput, expected);
  RegionAlign a{};
  a.rule = {spatialScale, samplingRatio, aligned};
  a.regions = boxes->shape[0];
  a.bins_down = pooledHeight;
  a.bins_across = pooledWidth;
  check.shape("boxes", boxes, two(a.regions, 5));
  check_regions(check, "gradInput", gradInput, "gradOutput", gradOutput, "pooledHeight",
                "pooledWidth", &a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t slopes = plan.input(gradOutput), rows = plan.input(boxes),
               to = plan.output(gradInput);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        if (c.tensor(to).numel() == 0) return Status{0};
        IndexFault fault;
        const auto regions = read_regions(a, view_of(c.tensor(rows)), fault);
        if (fault.found) return fault.status(op, "boxes");
        Operands operands;
        const View result = view_of(c.tensor(to)),
                   given = operands.safe(view_of(c.tensor(slopes)), {result});
        align_gradient(a, regions, given, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
