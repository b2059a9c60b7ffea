// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The average is a product of three matrices, the weights of the rows, the plane and the weights of
// the columns, so it costs the same however many samples a bin has.
#include "ops/boxes/region_image.h"
#include "ops/boxes/roi_align.h"

namespace emu {
namespace {

struct RegionWeights {
  std::vector<BinWeights> down, across;
  int64_t first = 0, end = 0;  // the columns that bins take from
};

RegionWeights weights_of(const AlignedRegion &region) {
  RegionWeights made{bin_weights(region.down), bin_weights(region.across)};
  for (const BinWeights &bin : made.across) {
    if (bin.weights.empty()) continue;
    const int64_t end = bin.first + static_cast<int64_t>(bin.weights.size());
    made.first = made.end == 0 ? bin.first : std::min(made.first, bin.first);
    made.end = std::max(made.end, end);
  }
  return made;
}

std::vector<RegionWeights> weights_of(const std::vector<AlignedRegion> &regions) {
  std::vector<RegionWeights> made(regions.size());
  parallel_for(static_cast<int64_t>(regions.size()), 64, [&](int64_t begin, int64_t end) {
    for (auto k = static_cast<size_t>(begin); k < static_cast<size_t>(end); ++k)
      made[k] = weights_of(regions[k]);
  });
  return made;
}

// The numbers of the regions of each image.
std::vector<std::vector<size_t>> by_image(const RegionAlign &a,
                                          const std::vector<AlignedRegion> &regions) {
  std::vector<std::vector<size_t>> made(static_cast<size_t>(a.images));
  for (size_t k = 0; k < regions.size(); ++k)
    made[static_cast<size_t>(regions[k].image)].push_back(k);
  return made;
}

// Calls body(region, channel, plane, bins) for every region and channel; `bins` are written
// afterwards.
template <class F>
void for_each_plane(const RegionAlign &a, const std::vector<AlignedRegion> &regions,
                    const View &map, const View &out, F body) {
  const auto of_image = by_image(a, regions);
  const RowSource<float> from(map);
  const RowTarget<float> to(out);
  parallel_for(a.images * a.channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> plane(static_cast<size_t>(a.area())), bins(static_cast<size_t>(a.bins()));
    for (int64_t i = begin; i < end; ++i) {
      const auto &mine = of_image[static_cast<size_t>(i / a.channels)];
      if (mine.empty()) continue;
      from.read(i * a.area(), a.area(), plane.data());
      for (const size_t k : mine) {
        body(k, plane.data(), bins.data());
        const int64_t at = static_cast<int64_t>(k) * a.channels + i % a.channels;
        to.write(at * a.bins(), a.bins(), bins.data());
      }
    }
  });
}

float sample_of(const float *plane, int64_t width, const RegionSample &y, const RegionSample &x) {
  const float *low = plane + y.low * width, *high = plane + y.high * width;
  const float top = (1 - x.toward_high) * low[x.low] + x.toward_high * low[x.high];
  const float bottom = (1 - x.toward_high) * high[x.low] + x.toward_high * high[x.high];
  return (1 - y.toward_high) * top + y.toward_high * bottom;
}

AlignedRegion aligned_region(const RegionAlign &a, int64_t image, const float *box) {
  AlignedRegion made;
  made.image = image;
  made.down = region_bins(a.rule, box[1], box[3], a.bins_down, a.height);
  made.across = region_bins(a.rule, box[0], box[2], a.bins_across, a.width);
  return made;
}

}  // namespace

std::vector<AlignedRegion> read_regions(const RegionAlign &a, const View &boxes,
                                        IndexFault &fault) {
  std::vector<float> rows(static_cast<size_t>(a.regions * 5));
  RowSource<float>(boxes).read(0, a.regions * 5, rows.data());
  std::vector<AlignedRegion> made;
  for (int64_t k = 0; k < a.regions && !fault.found; ++k) {
    const float *row = rows.data() + k * 5;
    const int64_t image = region_image(static_cast<double>(row[0]), a.images, fault);
    made.push_back(aligned_region(a, image, row + 1));
  }
  return made;
}

std::vector<AlignedRegion> read_regions(const RegionAlign &a, const View &boxes, const View &images,
                                        IndexFault &fault) {
  std::vector<float> rows(static_cast<size_t>(a.regions * 4));
  std::vector<int64_t> numbers(static_cast<size_t>(a.regions));
  RowSource<float>(boxes).read(0, a.regions * 4, rows.data());
  RowSource<int64_t>(images).read(0, a.regions, numbers.data());
  std::vector<AlignedRegion> made;
  for (int64_t k = 0; k < a.regions && !fault.found; ++k) {
    const auto number = static_cast<double>(numbers[static_cast<size_t>(k)]);
    made.push_back(aligned_region(a, region_image(number, a.images, fault), rows.data() + k * 4));
  }
  return made;
}

void align_average(const RegionAlign &a, const std::vector<AlignedRegion> &regions, const View &map,
                   const View &out) {
  const auto weights = weights_of(regions);
  for_each_plane(a, regions, map, out, [&](size_t k, const float *plane, float *bins) {
    const double count = regions[k].samples_of_a_bin();
    const int64_t first = weights[k].first;
    std::vector<double> line(static_cast<size_t>(weights[k].end - first));
    for (const BinWeights &rows : weights[k].down) {
      std::fill(line.begin(), line.end(), 0.0);
      for (size_t r = 0; r < rows.weights.size(); ++r) {
        const float *from = plane + (rows.first + static_cast<int64_t>(r)) * a.width + first;
        for (size_t x = 0; x < line.size(); ++x)
          line[x] += rows.weights[r] * static_cast<double>(from[x]);
      }
      for (const BinWeights &columns : weights[k].across) {
        double sum = 0;
        for (size_t x = 0; x < columns.weights.size(); ++x)
          sum += columns.weights[x] * line[static_cast<size_t>(columns.first - first) + x];
        *bins++ = static_cast<float>(sum / count);
      }
    }
  });
}

void align_largest(const RegionAlign &a, const std::vector<AlignedRegion> &regions, const View &map,
                   const View &out) {
  for_each_plane(a, regions, map, out, [&](size_t k, const float *plane, float *bins) {
    const RegionBins &down = regions[k].down, &across = regions[k].across;
    for (size_t p = 0; p < static_cast<size_t>(a.bins_down); ++p) {
      for (size_t q = 0; q < static_cast<size_t>(a.bins_across); ++q) {
        const int64_t rows = down.begin[p + 1] - down.begin[p];
        const int64_t columns = across.begin[q + 1] - across.begin[q];
        // A sample outside counts as 0, and so does a bin without any.
        bool any = rows < down.each || columns < across.each || rows == 0 || columns == 0;
        float largest = 0;
        for (int64_t y = down.begin[p]; columns > 0 && y < down.begin[p + 1]; ++y) {
          for (int64_t x = across.begin[q]; x < across.begin[q + 1]; ++x) {
            const float value = sample_of(plane, a.width, down.samples[static_cast<size_t>(y)],
                                          across.samples[static_cast<size_t>(x)]);
            if (!any || value > largest || value != value) largest = value;
            any = true;
          }
        }
        *bins++ = largest;
      }
    }
  });
}

void align_gradient(const RegionAlign &a, const std::vector<AlignedRegion> &regions,
                    const View &slopes, const View &out) {
  const auto weights = weights_of(regions);
  const auto of_image = by_image(a, regions);
  const RowSource<float> from(slopes);
  const RowTarget<double> to(out);
  parallel_for(a.images * a.channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> plane(static_cast<size_t>(a.area())), line(static_cast<size_t>(a.width));
    // Without regions the bins may be as many as a caller says.
    std::vector<float> bins(regions.empty() ? 0 : static_cast<size_t>(a.bins()));
    for (int64_t i = begin; i < end; ++i) {
      std::fill(plane.begin(), plane.end(), 0.0);
      for (const size_t k : of_image[static_cast<size_t>(i / a.channels)]) {
        const int64_t at = static_cast<int64_t>(k) * a.channels + i % a.channels;
        from.read(at * a.bins(), a.bins(), bins.data());
        const double count = regions[k].samples_of_a_bin();
        const float *slope = bins.data();
        for (const BinWeights &rows : weights[k].down) {
          std::fill(line.begin() + weights[k].first, line.begin() + weights[k].end, 0.0);
          for (const BinWeights &columns : weights[k].across) {
            const double share = static_cast<double>(*slope++) / count;
            for (size_t x = 0; x < columns.weights.size(); ++x)
              line[static_cast<size_t>(columns.first) + x] += columns.weights[x] * share;
          }
          for (size_t r = 0; r < rows.weights.size(); ++r) {
            double *target = plane.data() + (rows.first + static_cast<int64_t>(r)) * a.width;
            for (int64_t x = weights[k].first; x < weights[k].end; ++x)
              target[x] += rows.weights[r] * line[static_cast<size_t>(x)];
          }
        }
      }
      to.write(i * a.area(), a.area(), plane.data());
    }
  });
}

}  // namespace emu
