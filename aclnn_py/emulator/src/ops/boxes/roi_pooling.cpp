// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// RoiPoolingWithArgMax and its gradient, which chips of the 950 series have. Coordinates are
// float32.
#include <cmath>

#include "aclnnop/objdetect.h"
#include "core/chip.h"
#include "ops/boxes/region_image.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostRegions = 1024;

struct RegionPool {
  int64_t images, channels, height, width;
  int64_t regions, bins_down, bins_across;

  int64_t area() const { return height * width; }
  int64_t bins() const { return bins_down * bins_across; }
};

struct PooledRange {
  int64_t first, end;
};

// The bins of a region along one axis: the elements each one takes.
std::vector<PooledRange> pooled_ranges(float first, float last, float scale, int64_t bins,
                                       int64_t extent) {
  std::vector<PooledRange> made(static_cast<size_t>(bins), PooledRange{0, 0});
  const float start = first * scale, size = (last + 1) * scale - start;
  if (!(size > 0)) return made;
  const float bin = size / static_cast<float>(bins), reach = static_cast<float>(extent);
  for (size_t p = 0; p < made.size(); ++p) {
    const float from = std::floor(static_cast<float>(p) * bin + start),
                to = std::ceil(static_cast<float>(p + 1) * bin + start);
    if (!(to > from)) continue;  // not a number
    made[p].first = static_cast<int64_t>(std::clamp(from, 0.0f, reach));
    made[p].end = static_cast<int64_t>(std::clamp(to, 0.0f, reach));
    made[p].end = std::min(made[p].end, extent);
  }
  return made;
}

struct PooledRegion {
  std::vector<PooledRange> down, across;
};

void pool_bins(const RegionPool &a, const PooledRegion &region, const float *plane, float *values,
               int32_t *places) {
  for (const PooledRange &rows : region.down) {
    for (const PooledRange &columns : region.across) {
      int64_t best = -1;
      for (int64_t y = rows.first; y < rows.end; ++y) {
        for (int64_t x = columns.first; x < columns.end; ++x) {
          const int64_t at = y * a.width + x;
          if (best < 0 || plane[at] > plane[best]) best = at;
        }
      }
      *values++ = best < 0 ? 0 : plane[best];
      *places++ = static_cast<int32_t>(best);
    }
  }
}

// The images that the first column of rois names, whole numbers of floats.
std::vector<int64_t> region_images(const float *rows, const RegionPool &a, IndexFault &fault) {
  std::vector<int64_t> made;
  for (int64_t k = 0; k < a.regions; ++k)
    made.push_back(region_image(static_cast<double>(rows[5 * k]), a.images, fault));
  return made;
}

std::vector<std::vector<int64_t>> regions_of_images(const std::vector<int64_t> &images,
                                                    int64_t count) {
  std::vector<std::vector<int64_t>> made(static_cast<size_t>(count));
  for (size_t k = 0; k < images.size(); ++k)
    made[static_cast<size_t>(images[k])].push_back(static_cast<int64_t>(k));
  return made;
}

Status pool_regions(const char *op, const RegionPool &a, float scale_down, float scale_across,
                    const View &map, const View &rois, const View &values_out,
                    const View &places_out) {
  std::vector<float> rows(static_cast<size_t>(5 * a.regions));
  RowSource<float>(rois).read(0, 5 * a.regions, rows.data());
  IndexFault fault;
  const auto images = region_images(rows.data(), a, fault);
  if (fault.found) return fault.status(op, "rois");
  std::vector<PooledRegion> regions;
  for (int64_t k = 0; k < a.regions; ++k) {
    const float *row = rows.data() + 5 * k;
    regions.push_back({pooled_ranges(row[2], row[4], scale_down, a.bins_down, a.height),
                       pooled_ranges(row[1], row[3], scale_across, a.bins_across, a.width)});
  }
  const auto of_image = regions_of_images(images, a.images);
  const RowSource<float> from(map);
  const RowTarget<float> values_to(values_out);
  const RowTarget<int32_t> places_to(places_out);
  parallel_for(a.images * a.channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> plane(static_cast<size_t>(a.area())), values(static_cast<size_t>(a.bins()));
    std::vector<int32_t> places(values.size());
    for (int64_t i = begin; i < end; ++i) {
      const auto &mine = of_image[static_cast<size_t>(i / a.channels)];
      if (!mine.empty()) from.read(i * a.area(), a.area(), plane.data());
      for (const int64_t k : mine) {
        pool_bins(a, regions[static_cast<size_t>(k)], plane.data(), values.data(), places.data());
        const int64_t at = (k * a.channels + i % a.channels) * a.bins();
        values_to.write(at, a.bins(), values.data());
        places_to.write(at, a.bins(), places.data());
      }
    }
  });
  return Status{0};
}

Status spread_slopes(const char *op, const RegionPool &a, const View &slopes, const View &rois,
                     const View &places, const View &out) {
  std::vector<float> rows(static_cast<size_t>(5 * a.regions));
  RowSource<float>(rois).read(0, 5 * a.regions, rows.data());
  IndexFault fault;
  const auto of_image = regions_of_images(region_images(rows.data(), a, fault), a.images);
  if (fault.found) return fault.status(op, "rois");
  const RowSource<float> from(slopes);
  const RowSource<int32_t> places_from(places);
  const RowTarget<double> to(out);
  parallel_for(a.images * a.channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> plane(static_cast<size_t>(a.area()));
    std::vector<float> slope(static_cast<size_t>(a.regions > 0 ? a.bins() : 0));
    std::vector<int32_t> place(slope.size());
    for (int64_t i = begin; i < end; ++i) {
      std::fill(plane.begin(), plane.end(), 0.0);
      for (const int64_t k : of_image[static_cast<size_t>(i / a.channels)]) {
        const int64_t at = (k * a.channels + i % a.channels) * a.bins();
        from.read(at, a.bins(), slope.data());
        places_from.read(at, a.bins(), place.data());
        for (size_t bin = 0; bin < slope.size(); ++bin) {
          if (place[bin] < 0) continue;  // of an empty bin
          if (place[bin] >= a.area()) fault.report(place[bin], a.area());
          else plane[static_cast<size_t>(place[bin])] += static_cast<double>(slope[bin]);
        }
      }
      to.write(i * a.area(), a.area(), plane.data());
    }
  });
  return fault.status(op, "argmax");
}

Check &only_950(Check &check) {
  return check.that(chip_is_950(),
                    "the chip is %s; only chips of the 950 series have this operator, which "
                    "ACLNN_PY_EMULATOR_SOC=Ascend950PR_9599 emulates",
                    soc_name());
}

// `map` and `bins` have 4 dimensions, `rois` has 2.
RegionPool check_pool(Check &check, const char *map_name, const aclTensor *map,
                      const aclTensor *rois, const char *bins_name, const aclTensor *bins,
                      int64_t down, int64_t across, const char *down_name,
                      const char *across_name) {
  check.rank(map_name, map, 4, 4).rank("rois", rois, 2, 2).rank(bins_name, bins, 4, 4);
  check.that(down > 0, "%s is %lld; allowed: 1 or more", down_name, static_cast<long long>(down));
  check.that(across > 0, "%s is %lld; allowed: 1 or more", across_name,
             static_cast<long long>(across));
  if (!check.ok()) return {};
  const RegionPool a = {map->shape[0],  map->shape[1], map->shape[2], map->shape[3],
                        rois->shape[0], down,          across};
  const int64_t rows[] = {a.regions, 5}, made[] = {a.regions, a.channels, down, across};
  check.shape("rois", rois, dense_layout(rows, 2));
  check.that(a.regions <= kMostRegions, "rois has %lld rows; allowed: %lld at most",
             static_cast<long long>(a.regions), static_cast<long long>(kMostRegions));
  Layout expected;
  for (const int64_t extent : made) expected.push(extent, 0);
  check.shape(bins_name, bins, expected);
  check.size(down_name, Checked(down) * across);
  const Checked area = Checked(a.height) * a.width;
  check.that(area.fits() && area.value() <= INT32_MAX,
             "%s has shape %s; a plane may have %d elements", map_name,
             shape_text(layout_of(*map)).c_str(), INT32_MAX);
  return a;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RoiPoolingWithArgMax,
             (const aclTensor *x, const aclTensor *rois, int64_t pooled_h, int64_t pooled_w,
              float spatial_scale_h, float spatial_scale_w, aclTensor *y, aclTensor *argmax)) {
  using namespace emu;
  Check check("aclnnRoiPoolingWithArgMax");
  check.required("x", x).required("rois", rois).required("y", y).required("argmax", argmax);
  only_950(check);
  check.dtype("x", x).dtype("rois", rois).dtype("y", y).dtype("argmax", argmax);
  if (!check.ok()) return check.status();
  check.same_dtype("rois", rois->dtype, "x", x->dtype).same_dtype("y", y->dtype, "x", x->dtype);
  check.that(spatial_scale_h > 0, "spatial_scale_h is %g; allowed: greater than 0",
             static_cast<double>(spatial_scale_h));
  check.that(spatial_scale_w > 0, "spatial_scale_w is %g; allowed: greater than 0",
             static_cast<double>(spatial_scale_w));
  const RegionPool a =
      check_pool(check, "x", x, rois, "y", y, pooled_h, pooled_w, "pooled_h", "pooled_w");
  if (!check.ok()) return check.status();
  check.shape("argmax", argmax, layout_of(*y));
  check.that(x->numel() > 0, "x has shape %s; it must not be empty",
             shape_text(layout_of(*x)).c_str());
  check.that(rois->numel() > 0, "rois has no rows; it must not be empty");
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t map = plan.input(x), regions = plan.input(rois), values = plan.output(y),
               places = plan.output(argmax);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        Operands operands;
        const View values_out = view_of(c.tensor(values)), places_out = view_of(c.tensor(places)),
                   from = operands.safe(view_of(c.tensor(map)), {values_out, places_out});
        return pool_regions(op, a, spatial_scale_h, spatial_scale_w, from,
                            view_of(c.tensor(regions)), values_out, places_out);
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RoiPoolingGradWithArgMax,
             (const aclTensor *gradOutput, aclTensor *gradInputRef, const aclTensor *rois,
              const aclTensor *argmax, int64_t pooledH, int64_t pooledW, double spatialScale)) {
  using namespace emu;
  Check check("aclnnRoiPoolingGradWithArgMax");
  check.required("gradOutput", gradOutput).required("gradInputRef", gradInputRef);
  check.required("rois", rois).required("argmax", argmax);
  only_950(check);
  check.dtype("gradOutput", gradOutput).dtype("gradInputRef", gradInputRef).dtype("rois", rois);
  check.dtype("argmax", argmax);
  if (!check.ok()) return check.status();
  check.same_dtype("gradInputRef", gradInputRef->dtype, "gradOutput", gradOutput->dtype);
  const RegionPool a = check_pool(check, "gradInputRef", gradInputRef, rois, "gradOutput",
                                  gradOutput, pooledH, pooledW, "pooledH", "pooledW");
  if (!check.ok()) return check.status();
  check.shape("argmax", argmax, layout_of(*gradOutput));
  check.that(spatialScale == spatialScale, "spatialScale is not a number");
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t slopes = plan.input(gradOutput), regions = plan.input(rois),
               places = plan.input(argmax), to = plan.output(gradInputRef);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to)),
                   given = operands.safe(view_of(c.tensor(slopes)), {result}),
                   chosen = operands.safe(view_of(c.tensor(places)), {result});
        return spread_slopes(op, a, given, view_of(c.tensor(regions)), chosen, result);
      },
      workspaceSize, executor);
}
EMU_CATCH
