// SPDX-License-Identifier: Apache-2.0
// Regions of feature maps sampled to one size: what both directions judge and read.
#pragma once

#include "ops/boxes/region_samples.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {

struct RegionAlign {
  RegionRule rule;
  int64_t images, channels, height, width;
  int64_t regions, bins_down, bins_across;

  int64_t area() const { return height * width; }
  int64_t bins() const { return bins_down * bins_across; }
};

// The attributes of all versions.
void check_region_rule(Check &check, float scale, int64_t ratio);
// The feature map has elements; the samples are (regions, channels, bins down, bins across).
void check_regions(Check &check, const char *map_name, const aclTensor *map,
                   const char *samples_name, const aclTensor *samples, const char *height_name,
                   const char *width_name, RegionAlign *a);

// One region: which image, and its bins.
struct AlignedRegion {
  int64_t image = 0;
  RegionBins down, across;

  double samples_of_a_bin() const {
    return std::max(1.0, static_cast<double>(down.each) * static_cast<double>(across.each));
  }
};

// The regions whose rows are (image, x1, y1, x2, y2).
std::vector<AlignedRegion> read_regions(const RegionAlign &a, const View &boxes, IndexFault &fault);
// The regions whose rows are (x1, y1, x2, y2), and their images.
std::vector<AlignedRegion> read_regions(const RegionAlign &a, const View &boxes, const View &images,
                                        IndexFault &fault);

void align_average(const RegionAlign &a, const std::vector<AlignedRegion> &regions, const View &map,
                   const View &out);
void align_largest(const RegionAlign &a, const std::vector<AlignedRegion> &regions, const View &map,
                   const View &out);
// The slope of the average by the feature map, summed over the regions in float64.
void align_gradient(const RegionAlign &a, const std::vector<AlignedRegion> &regions,
                    const View &slopes, const View &out);

}  // namespace emu
