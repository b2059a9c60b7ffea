// SPDX-License-Identifier: Apache-2.0
// Where RoiAlign samples a feature map: along each axis a region has bins, a bin has samples, and a
// sample lies between two elements. Positions are float32, as those of the libraries are whose
// operator this is; that decides how many samples an adaptive bin has.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

struct RegionSample {
  int64_t low, high;  // the elements in front and behind
  float toward_high;  // the weight of the one behind; the other one has the rest
};

// The bins of one region along one axis.
struct RegionBins {
  // Those samples that the feature map reaches, bin after bin.
  std::vector<RegionSample> samples;
  std::vector<int64_t> begin;  // of the samples of each bin, and their end
  int64_t each = 0;            // samples of a bin, those outside included

  int64_t bins() const { return static_cast<int64_t>(begin.size()) - 1; }
};

struct RegionRule {
  float scale;
  int64_t ratio;  // samples of a bin along an axis; 0 means one for each element or so
  bool aligned;   // shifted by half an element, and regions may be smaller than an element
};

// The region from `first` to `last`, in the units of the image, over `extent` >= 1 elements.
RegionBins region_bins(const RegionRule &rule, float first, float last, int64_t bins,
                       int64_t extent);

// The sums of what the samples of a bin weigh each element with.
struct BinWeights {
  int64_t first = 0;  // element
  std::vector<double> weights;
};
std::vector<BinWeights> bin_weights(const RegionBins &bins);

}  // namespace emu
