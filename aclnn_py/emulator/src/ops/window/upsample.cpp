// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Images of another size: UpsampleNearest1d to 3d and their forms with scales take the nearest
// element below, UpsampleNearestExact1d to 3d the one nearest to the middle, UpsampleLinear1d,
// UpsampleBilinear2d and UpsampleTrilinear3d weigh the neighbours (float32 values, float64 for
// float64; one rounding).
#include <array>

#include "aclnnop/image.h"
#include "core/pool.h"
#include "ops/norm/rows.h"
#include "ops/window/picking.h"

namespace emu {
namespace {

enum class Way { kBelow, kMiddle };

using Scales = std::array<double, kAxes>;

struct Resize {
  const char *op;
  const aclTensor *self;
  const aclIntArray *output_size;
  const aclTensor *out;
  int spatial;
  Scales scales;    // of the last dimensions; not positive: that of the sizes
  bool nd = false;  // whether the documents name ND among the formats
};

Status check_resize(const Resize &r, Image *from, Image *to) {
  Check check(r.op);
  check.required("self", r.self).required("outputSize", r.output_size).required("out", r.out);
  check.dtype("self", r.self).dtype("out", r.out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", r.out->dtype, "self", r.self->dtype);
  check.rank("self", r.self, r.spatial + 2, r.spatial + 2)
      .rank("out", r.out, r.spatial + 2, r.spatial + 2);
  length_in(check, "outputSize", r.output_size, {static_cast<size_t>(r.spatial)});
  values_from(check, "outputSize", r.output_size, 1);
  if (!check.ok()) return check.status();
  const aclFormat plain[] = {ACL_FORMAT_NCL, ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW},
                  turned[] = {ACL_FORMAT_NCL, ACL_FORMAT_NHWC, ACL_FORMAT_NDHWC};
  const int at = r.spatial - 1;
  format_in(check, "self", r.self, {plain[at], turned[at], r.nd ? ACL_FORMAT_ND : plain[at]});
  same_format(check, "out", r.out, r.self);
  if (!check.ok()) return check.status();
  *from = image_of(channels_first(view_of(*r.self), r.self->format), r.spatial);
  *to = image_of(channels_first(view_of(*r.out), r.out->format), r.spatial);
  check.that(from->channels > 0 && from->area() > 0,
             "self has shape %s; only the batch may be empty",
             shape_text(layout_of(*r.self)).c_str());
  check.that(to->batch == from->batch && to->channels == from->channels,
             "out has shape %s; its batch and channels must be those of self %s",
             shape_text(layout_of(*r.out)).c_str(), shape_text(layout_of(*r.self)).c_str());
  for (int d = 0; d < r.spatial; ++d) {
    const int64_t wanted = r.output_size->values[static_cast<size_t>(d)],
                  given = to->extent[kAxes - r.spatial + d];
    check.that(given == wanted, "out has shape %s; outputSize asks for %lld, not %lld",
               shape_text(layout_of(*r.out)).c_str(), static_cast<long long>(wanted),
               static_cast<long long>(given));
  }
  return check.status();
}

// Elements of the image for one of the result.
double ratio_of(int64_t extent, int64_t count, double scale) {
  return scale > 0 ? 1.0 / scale : static_cast<double>(extent) / static_cast<double>(count);
}

// For each position of the result along an axis the position in the image.
std::vector<int64_t> nearest(int64_t extent, int64_t count, Way way, double scale) {
  // In float32 like the device: where the exact product is an integer, the rounded one may lie
  // below it.
  const auto ratio = static_cast<float>(ratio_of(extent, count, scale));
  std::vector<int64_t> found(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const float place = (static_cast<float>(i) + (way == Way::kMiddle ? 0.5f : 0.0f)) * ratio;
    // Compared before the cast: a tiny scale makes values that no integer holds.
    found[static_cast<size_t>(i)] =
        place < static_cast<float>(extent) ? static_cast<int64_t>(place) : extent - 1;
  }
  return found;
}

// Tables as long as the result are made with the result: in phase one nothing shows that there is
// memory of that size.
Status plan_nearest(const Resize &r, Way way, uint64_t *workspace_size, aclOpExecutor **executor) {
  Image input, output;
  if (const Status status = check_resize(r, &input, &output)) return status;
  const int spatial = r.spatial;
  const aclFormat format = r.out->format;
  const Scales scales = r.scales;
  return plan_one_to_one(
      r.op, r.self, r.out,
      [=](const View &source, const View &result) {
        if (result.count() == 0) return;
        const Image in = image_of(channels_first(source, format), spatial),
                    made = image_of(channels_first(result, format), spatial);
        Picks picks;
        for (int d = 0; d < spatial; ++d) {
          const int axis = kAxes - spatial + d;
          picks.axes[axis] =
              nearest(in.extent[axis], made.extent[axis], way, scales[static_cast<size_t>(d)]);
        }
        pick(in, made, picks);
      },
      workspace_size, executor);
}

// A place between two neighbours.
struct Between {
  int64_t low, high;
  double share;  // of the higher one
};

std::vector<Between> places(int64_t extent, int64_t count, bool align_corners, double scale) {
  std::vector<Between> found;
  for (int64_t i = 0; i < count; ++i) {
    double place = 0;
    if (!align_corners) {
      place = std::max(0.0, (static_cast<double>(i) + 0.5) * ratio_of(extent, count, scale) - 0.5);
    } else if (count > 1) {
      place =
          static_cast<double>(i) * static_cast<double>(extent - 1) / static_cast<double>(count - 1);
    }
    if (place < static_cast<double>(extent - 1)) {
      const auto low = static_cast<int64_t>(place);
      found.push_back({low, low + 1, place - static_cast<double>(low)});
    } else {
      found.push_back({extent - 1, extent - 1, 0.0});
    }
  }
  return found;
}

struct Neighbours {
  std::vector<Between> axes[kAxes];
};

template <class T>
void interpolate(const Image &from, const Image &to, const Neighbours &neighbours) {
  const int64_t rows = from.extent[1], columns = from.extent[2];
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 13) / std::max<int64_t>(1, to.area()));
  parallel_for(to.batch * to.channels, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> plane(static_cast<size_t>(from.area())), results(static_cast<size_t>(to.area()));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / to.channels, channel = i % to.channels;
      RowSource<T>(from.plane(n, channel)).read(0, from.area(), plane.data());
      T *write = results.data();
      for (const Between &z : neighbours.axes[0]) {
        for (const Between &y : neighbours.axes[1]) {
          const auto line = [&](int64_t slice, int64_t row) {
            return plane.data() + (slice * rows + row) * columns;
          };
          const T *corners[4] = {line(z.low, y.low), line(z.low, y.high), line(z.high, y.low),
                                 line(z.high, y.high)};
          const auto deep = static_cast<T>(z.share), down = static_cast<T>(y.share);
          const T weights[4] = {(1 - deep) * (1 - down), (1 - deep) * down, deep * (1 - down),
                                deep * down};
          for (const Between &x : neighbours.axes[2]) {
            const auto share = static_cast<T>(x.share);
            T sum = 0;
            for (int k = 0; k < 4; ++k) {
              sum += weights[k] * ((1 - share) * corners[k][x.low] + share * corners[k][x.high]);
            }
            *write++ = sum;
          }
        }
      }
      RowTarget<T>(to.plane(n, channel)).write(0, to.area(), results.data());
    }
  });
}

Status plan_linear(const Resize &r, bool align_corners, uint64_t *workspace_size,
                   aclOpExecutor **executor) {
  Image input, output;
  if (const Status status = check_resize(r, &input, &output)) return status;
  const int spatial = r.spatial;
  const aclFormat format = r.out->format;
  const Scales scales = r.scales;
  return plan_one_to_one(
      r.op, r.self, r.out,
      [=](const View &source, const View &result) {
        if (result.count() == 0) return;
        const Image in = image_of(channels_first(source, format), spatial),
                    made = image_of(channels_first(result, format), spatial);
        Neighbours neighbours;
        for (int axis = 0; axis < kAxes; ++axis) {
          const int d = axis - (kAxes - spatial);
          neighbours.axes[axis] = places(in.extent[axis], made.extent[axis], align_corners,
                                         d < 0 ? 0 : scales[static_cast<size_t>(d)]);
        }
        if (source.dtype == ACL_DOUBLE) interpolate<double>(in, made, neighbours);
        else interpolate<float>(in, made, neighbours);
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

using emu::plan_linear;
using emu::plan_nearest;
using emu::Way;

EMU_OPERATOR(UpsampleNearest1d,
             (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out)) {
  return plan_nearest({"aclnnUpsampleNearest1d", self, outputSize, out, 1, {}}, Way::kBelow,
                      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest2d,
             (const aclTensor *self, const aclIntArray *outputSize, aclTensor *out)) {
  return plan_nearest({"aclnnUpsampleNearest2d", self, outputSize, out, 2, {}}, Way::kBelow,
                      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest3d, (const aclTensor *self, const aclIntArray *outputSize,
                                 double scalesD, double scalesH, double scalesW, aclTensor *out)) {
  return plan_nearest(
      {"aclnnUpsampleNearest3d", self, outputSize, out, 3, {scalesD, scalesH, scalesW}, true},
      Way::kBelow, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest1dV2,
             (const aclTensor *self, const aclIntArray *outputSize, float scaleL, aclTensor *out)) {
  return plan_nearest(
      {"aclnnUpsampleNearest1dV2", self, outputSize, out, 1, {static_cast<double>(scaleL)}},
      Way::kBelow, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearest2dV2, (const aclTensor *self, const aclIntArray *outputSize,
                                   float scalesH, float scalesW, aclTensor *out)) {
  return plan_nearest({"aclnnUpsampleNearest2dV2",
                       self,
                       outputSize,
                       out,
                       2,
                       {static_cast<double>(scalesH), static_cast<double>(scalesW)}},
                      Way::kBelow, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearestExact1d, (const aclTensor *self, const aclIntArray *outputSize,
                                      double scales, aclTensor *out)) {
  return plan_nearest({"aclnnUpsampleNearestExact1d", self, outputSize, out, 1, {scales}, true},
                      Way::kMiddle, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearestExact2d, (const aclTensor *self, const aclIntArray *outputSize,
                                      double scalesH, double scalesW, aclTensor *out)) {
  return plan_nearest(
      {"aclnnUpsampleNearestExact2d", self, outputSize, out, 2, {scalesH, scalesW}, true},
      Way::kMiddle, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleNearestExact3d,
             (const aclTensor *self, const aclIntArray *outputSize, double scalesD, double scalesH,
              double scalesW, aclTensor *out)) {
  return plan_nearest(
      {"aclnnUpsampleNearestExact3d", self, outputSize, out, 3, {scalesD, scalesH, scalesW}, true},
      Way::kMiddle, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleLinear1d, (const aclTensor *self, const aclIntArray *outputSize,
                                bool alignCorners, double scale, aclTensor *out)) {
  return plan_linear({"aclnnUpsampleLinear1d", self, outputSize, out, 1, {scale}, true},
                     alignCorners, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleBilinear2d,
             (const aclTensor *self, const aclIntArray *outputSize, bool alignCorners,
              double scalesH, double scalesW, aclTensor *out)) {
  return plan_linear({"aclnnUpsampleBilinear2d", self, outputSize, out, 2, {scalesH, scalesW}},
                     alignCorners, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(UpsampleTrilinear3d,
             (const aclTensor *self, const aclIntArray *outputSize, bool alignCorners,
              double scalesD, double scalesH, double scalesW, aclTensor *out)) {
  return plan_linear(
      {"aclnnUpsampleTrilinear3d", self, outputSize, out, 3, {scalesD, scalesH, scalesW}, true},
      alignCorners, workspaceSize, executor);
}
EMU_CATCH
