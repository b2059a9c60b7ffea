// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/window/resampling.h"

#include <algorithm>
#include <cmath>

#include "core/chip.h"
#include "core/pool.h"
#include "ops/shared/rows.h"
#include "ops/window/kernels.h"

namespace emu {
namespace {

// Elements of the image for one of the result.
double ratio_of(int64_t extent, int64_t count, double scale) {
  return scale > 0 ? 1.0 / scale : static_cast<double>(extent) / static_cast<double>(count);
}

// Of place i, with the first and last elements of both at the same place.
double aligned(double i, int64_t extent, int64_t count) {
  return count > 1 ? i * static_cast<double>(extent - 1) / static_cast<double>(count - 1) : 0;
}

// The cubic of Keys.
double keys(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// A tiny scale leads far behind the image, to values that no integer holds.
double near(double place, int64_t extent) {
  return std::min(place, static_cast<double>(extent) + 4);
}

void take_linear(Blend &blend, double place, int64_t extent) {
  if (place < static_cast<double>(extent - 1)) {
    const auto low = static_cast<int64_t>(place);
    const double share = place - static_cast<double>(low);
    blend.take(low, 1 - share);
    blend.take(low + 1, share);
  } else {
    blend.take(extent - 1, 1);
    blend.take(extent - 1, 0);
  }
}

void take_cubic(Blend &blend, double place, int64_t extent) {
  place = near(place, extent);
  const auto low = static_cast<int64_t>(std::floor(place));
  for (int64_t k = low - 1; k <= low + 2; ++k) {
    blend.take(std::min(std::max<int64_t>(k, 0), extent - 1),
               keys(place - static_cast<double>(k), -0.75));
  }
}

void take_smooth(Blend &blend, double middle, double ratio, bool cubic, int64_t extent) {
  const double step = std::max(ratio, 1.0), reach = (cubic ? 2 : 1) * step;
  // Limited before the cast: a tiny scale leads to values that no integer holds.
  const auto limited = [extent](double place) {
    return static_cast<int64_t>(std::min(std::max(place, 0.0), static_cast<double>(extent)));
  };
  const int64_t begin = limited(middle - reach + 0.5), end = limited(middle + reach + 0.5);
  std::vector<double> shares;
  double sum = 0;
  for (int64_t k = begin; k < end; ++k) {
    const double distance = (static_cast<double>(k) + 0.5 - middle) / step;
    shares.push_back(cubic ? keys(distance, -0.5) : std::max(0.0, 1 - std::abs(distance)));
    sum += shares.back();
  }
  // Behind the image, where a scale leads that does not belong to the sizes, nothing has a share.
  for (int64_t k = begin; k < end && sum != 0; ++k)
    blend.take(k, shares[static_cast<size_t>(k - begin)] / sum);
}

// A row of the result from a row of the image; kTaps elements for each place, or 0 for any number.
template <int kTaps, class T>
void blend_row(const Blend &blend, const T *shares, const T *from, T *to) {
  const int64_t count = blend.count(), *places = blend.places.data(), *starts = blend.starts.data();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = kTaps != 0 ? i * kTaps : starts[i],
                  end = kTaps != 0 ? begin + kTaps : starts[i + 1];
    T sum = 0;
    for (int64_t k = begin; k < end; ++k) sum += shares[k] * from[places[k]];
    to[i] = sum;
  }
}

template <class T>
using RowBlend = void (*)(const Blend &, const T *, const T *, T *);

template <class T>
RowBlend<T> row_blend(const Blend &blend) {
  const int64_t most = blend.most();
  // Every place takes as many.
  if (most * blend.count() == blend.starts.back()) {
    if (most == 1) return blend_row<1, T>;
    if (most == 2) return blend_row<2, T>;
    if (most == 4) return blend_row<4, T>;
  }
  return blend_row<0, T>;
}

void sum_rows(const float *const *rows, const float *shares, int64_t count, int64_t width,
              float *to) {
  window_kernels().weigh(rows, shares, count, width, 0.0f, to);
}

void sum_rows(const double *const *rows, const double *shares, int64_t count, int64_t width,
              double *to) {
  std::fill(to, to + width, 0.0);
  for (int64_t k = 0; k < count; ++k) {
    for (int64_t x = 0; x < width; ++x) to[x] += shares[k] * rows[k][x];
  }
}

Blend unchanged(int64_t extent) {
  Blend blend;
  for (int64_t i = 0; i < extent; ++i) {
    blend.take(i, 1);
    blend.finish_place();
  }
  return blend;
}

// One axis, with its shares in the type of the sums.
template <class T>
struct AxisShares {
  explicit AxisShares(const Blend &map)
      : blend(map), shares(map.shares.begin(), map.shares.end()) {}

  // Place i of the result, of `size` neighbouring elements for each element of the axis: where they
  // lie ready, or `to`.
  const T *combined(int64_t i, const T *from, int64_t size, std::vector<const T *> *rows,
                    T *to) const {
    const int64_t begin = blend.starts[static_cast<size_t>(i)],
                  end = blend.starts[static_cast<size_t>(i) + 1];
    rows->clear();
    for (int64_t k = begin; k < end; ++k)
      rows->push_back(from + blend.places[static_cast<size_t>(k)] * size);
    if (end - begin == 1 && shares[static_cast<size_t>(begin)] == T(1)) return rows->front();
    sum_rows(rows->data(), shares.data() + begin, end - begin, size, to);
    return to;
  }

  const Blend &blend;
  const std::vector<T> shares;
};

// Rows of the result from as many rows of the image: several at a time where they are floats.
template <class T>
class LineBlend {
 public:
  LineBlend(const AxisShares<T> &across, int64_t width, int64_t stride)
      : across_(across), one_(row_blend<T>(across.blend)), width_(width), stride_(stride) {
    lines_.resize(static_cast<size_t>(width * kBlendRows));
    if (std::is_same_v<T, float>)
      scratch_.resize(static_cast<size_t>(kBlendRows * (width + across.blend.count())));
  }

  // Where row `i` of the next ones may be made.
  T *line(int64_t i) { return lines_.data() + i * width_; }

  void run(const T *const *rows, int64_t count, T *to) {
    if constexpr (std::is_same_v<T, float>) {
      const Blend &map = across_.blend;
      if (count == kBlendRows) {
        window_kernels().blend(
            rows, width_,
            {map.count(), map.starts.data(), map.places.data(), across_.shares.data()},
            scratch_.data(), to, stride_);
        return;
      }
    }
    for (int64_t i = 0; i < count; ++i)
      one_(across_.blend, across_.shares.data(), rows[i], to + i * stride_);
  }

 private:
  const AxisShares<T> &across_;
  const RowBlend<T> one_;
  const int64_t width_, stride_;
  std::vector<T> lines_, scratch_;
};

// One plane, or volume, of an image.
template <class T>
class PlaneBlend {
 public:
  PlaneBlend(const AxisShares<T> &deep, const AxisShares<T> &down, const AxisShares<T> &across,
             const Image &from, const Image &to, bool lines_first)
      : deep_(deep),
        down_(down),
        rows_from_(from.extent[0] * from.extent[1]),
        height_(from.extent[1]),
        width_(from.extent[2]),
        wide_(to.extent[2]),
        lines_(across, width_, wide_) {
    slices_.resize(static_cast<size_t>(height_ * (lines_first ? wide_ : width_)));
    if (lines_first) all_lines_.resize(static_cast<size_t>(rows_from_ * wide_));
  }

  void lines_first(const T *read, T *write) {
    for (int64_t first = 0; first < rows_from_; first += kBlendRows) {
      const int64_t count = std::min<int64_t>(kBlendRows, rows_from_ - first);
      const T *ready[kBlendRows];
      for (int64_t i = 0; i < count; ++i) ready[i] = read + (first + i) * width_;
      lines_.run(ready, count, all_lines_.data() + first * wide_);
    }
    for (int64_t z = 0; z < deep_.blend.count(); ++z) {
      const T *source =
          deep_.combined(z, all_lines_.data(), height_ * wide_, &rows_, slices_.data());
      for (int64_t y = 0; y < down_.blend.count(); ++y, write += wide_) {
        const T *row = down_.combined(y, source, wide_, &rows_, write);
        if (row != write) std::copy(row, row + wide_, write);
      }
    }
  }

  void lines_last(const T *read, T *write) {
    for (int64_t z = 0; z < deep_.blend.count(); ++z) {
      const T *source = deep_.combined(z, read, height_ * width_, &rows_, slices_.data());
      for (int64_t first = 0; first < down_.blend.count(); first += kBlendRows) {
        const int64_t count = std::min<int64_t>(kBlendRows, down_.blend.count() - first);
        const T *ready[kBlendRows];
        for (int64_t i = 0; i < count; ++i)
          ready[i] = down_.combined(first + i, source, width_, &rows_, lines_.line(i));
        lines_.run(ready, count, write);
        write += count * wide_;
      }
    }
  }

 private:
  const AxisShares<T> &deep_, &down_;
  const int64_t rows_from_, height_, width_, wide_;
  LineBlend<T> lines_;
  std::vector<T> slices_, all_lines_;
  std::vector<const T *> rows_;
};

// The channels of images of one line as the lines of one channel.
Image channels_as_rows(Image image) {
  image.extent[1] = image.channels;
  image.stride[1] = image.channel_stride;
  image.channels = 1;
  return image;
}

}  // namespace

bool Blend::untouched() const { return places.size() == 1 && count() == 1 && shares[0] == 1; }

int64_t Blend::most() const {
  int64_t found = 0;
  for (size_t i = 1; i < starts.size(); ++i) found = std::max(found, starts[i] - starts[i - 1]);
  return found;
}

namespace {

// Whether an image that keeps all its sizes is given back as it is, whatever the scales.
bool is_copied(const Resampling &how, const Image &image, bool backward) {
  const bool below = how.filter == Filter::kBelow && backward;
  if (chip_is_950()) {
    return how.spatial < 3 &&
           (below || how.filter == Filter::kLinear || how.filter == Filter::kCubic);
  }
  if (!below || how.spatial != 2) return false;
  // A scale that fits the sizes goes to a kernel of its own, which takes no small images.
  const int64_t rows = image.extent[kAxes - 2], width = image.extent[kAxes - 1];
  const auto fits = [&](int64_t extent, double scale) {
    return scale >= 1 && static_cast<double>(extent) * scale < static_cast<double>(extent + 1);
  };
  return !(image.channels <= 6 * rows * width && rows >= 8 && width >= 16 &&
           fits(rows, how.scales[0]) && fits(width, how.scales[1]));
}

}  // namespace

Resampling Resampling::counted(const Image &image, const Image &result, bool backward) const {
  constexpr int64_t kFew = 128;
  const bool older = !chip_is_950();
  const bool floats =
      image.dtype == ACL_FLOAT || image.dtype == ACL_FLOAT16 || image.dtype == ACL_BF16;
  const auto extents = image.extent + kAxes - spatial, counts = result.extent + kAxes - spatial;
  const auto fits = [&](int d) {
    const double reached = static_cast<double>(extents[d]) * scales[static_cast<size_t>(d)];
    const auto count = static_cast<double>(counts[d]);
    return count <= reached && reached < count + 1;
  };
  bool taken = !older || (use != ScaleUse::kNever && (floats || !floats_only));
  for (int d = 0; d < spatial; ++d) {
    if (use == ScaleUse::kTogether) taken = taken && scales[static_cast<size_t>(d)] > 0;
    if (use == ScaleUse::kFitting && older) taken = taken && fits(d);
  }
  // The kernel of a 310P for this gradient has no scales.
  if (backward && filter == Filter::kBelow && spatial == 2 && chip_is_310p()) taken = false;
  if (std::equal(extents, extents + spatial, counts))
    taken = taken && !is_copied(*this, image, backward);
  Resampling used = *this;
  int64_t lines = 0;
  for (int d = 0; d < spatial; ++d) lines += counts[d];
  for (int d = 0; d < spatial; ++d) {
    const bool by_size =
        older &&
        ((size_first && extents[d] == counts[d]) ||
         (doubles_by_size && counts[d] % 2 == 0 && extents[d] == counts[d] / 2 && lines <= kFew));
    if (!taken || by_size) used.scales[static_cast<size_t>(d)] = 0;
  }
  return used;
}

std::vector<int64_t> nearest_places(const Resampling &how, int axis, int64_t extent,
                                    int64_t count) {
  // In float32 like the device: where the exact product is an integer, the rounded one may lie
  // below it.
  const auto ratio = static_cast<float>(ratio_of(extent, count, how.scale_of(axis)));
  const float shift = how.filter == Filter::kMiddle ? 0.5f : 0.0f;
  std::vector<int64_t> found(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const float place = (static_cast<float>(i) + shift) * ratio;
    // Compared before the cast: a tiny scale makes values that no integer holds.
    found[static_cast<size_t>(i)] =
        place < static_cast<float>(extent) ? static_cast<int64_t>(place) : extent - 1;
  }
  return found;
}

Blend blend_of(const Resampling &how, int axis, int64_t extent, int64_t count) {
  if (axis < kAxes - how.spatial) return unchanged(count);
  Blend blend;
  if (how.nearest()) {
    for (const int64_t place : nearest_places(how, axis, extent, count)) {
      blend.take(place, 1);
      blend.finish_place();
    }
    return blend;
  }
  const double ratio =
      how.align_corners ? aligned(1, extent, count) : ratio_of(extent, count, how.scale_of(axis));
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(i);
    const double place = how.align_corners ? aligned(at, extent, count) : (at + 0.5) * ratio - 0.5;
    switch (how.filter) {
      case Filter::kLinear: take_linear(blend, std::max(0.0, place), extent); break;
      case Filter::kCubic: take_cubic(blend, place, extent); break;
      // Corners change the ratio of these alone, and not where the first element lies.
      default:
        take_smooth(blend, (at + 0.5) * ratio, ratio, how.filter == Filter::kSmoothCubic, extent);
    }
    blend.finish_place();
  }
  return blend;
}

Blend nearest_gradient(const Resampling &how, int axis, int64_t extent, int64_t count) {
  if (axis < kAxes - how.spatial) return unchanged(count);
  const double scale = how.scale_of(axis);
  const auto step = static_cast<float>(
      scale > 0 ? scale : static_cast<double>(count) / static_cast<double>(extent));
  const float shift = how.filter == Filter::kMiddle ? 0.5f : 0.0f;
  const auto begin_of = [=](int64_t i) {
    const float begin = std::ceil(static_cast<float>(i) * step - shift);
    return begin < static_cast<float>(count) ? static_cast<int64_t>(begin) : count;
  };
  Blend blend;
  for (int64_t i = 0; i < extent; ++i) {
    for (int64_t k = begin_of(i), end = begin_of(i + 1); k < end; ++k) blend.take(k, 1);
    blend.finish_place();
  }
  return blend;
}

Blend transposed(const Blend &blend, int64_t extent) {
  Blend turned;
  turned.starts.assign(static_cast<size_t>(extent) + 1, 0);
  for (const int64_t place : blend.places) ++turned.starts[static_cast<size_t>(place) + 1];
  for (size_t i = 1; i < turned.starts.size(); ++i) turned.starts[i] += turned.starts[i - 1];
  turned.places.resize(blend.places.size());
  turned.shares.resize(blend.shares.size());
  std::vector<int64_t> next(turned.starts.begin(), turned.starts.end() - 1);
  for (int64_t i = 0; i < blend.count(); ++i) {
    for (int64_t k = blend.starts[static_cast<size_t>(i)];
         k < blend.starts[static_cast<size_t>(i) + 1]; ++k) {
      const auto from = static_cast<size_t>(k);
      const auto to = static_cast<size_t>(next[static_cast<size_t>(blend.places[from])]++);
      turned.places[to] = i;
      turned.shares[to] = blend.shares[from];
    }
  }
  return turned;
}

template <class T>
void blend_images(const Image &from, const Image &to, const Blend (&axes)[kAxes]) {
  if (axes[0].untouched() && axes[1].untouched() && from.channels > 1) {
    // Lines alone: those of all channels are one plane.
    const Blend lines[kAxes] = {axes[0], unchanged(from.channels), axes[2]};
    return blend_images<T>(channels_as_rows(from), channels_as_rows(to), lines);
  }
  const AxisShares<T> deep(axes[0]), down(axes[1]), across(axes[2]);
  const int64_t grain = std::max<int64_t>(
      1, (int64_t{1} << 13) / std::max<int64_t>(1, std::max(from.area(), to.area())));
  // Lines are blended where there are fewer of them: before the other axes or after them.
  const bool lines_first = from.extent[0] * from.extent[1] * 2 <= axes[0].count() * axes[1].count();
  parallel_for(to.batch * to.channels, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> plane(static_cast<size_t>(from.area())), results(static_cast<size_t>(to.area()));
    PlaneBlend<T> blend(deep, down, across, from, to, lines_first);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / to.channels, channel = i % to.channels;
      const T *read = RowSource<T>(from.plane(n, channel)).row(0, from.area(), plane.data());
      const RowTarget<T> target(to.plane(n, channel));
      T *const made = target.row(0, results.data());
      if (lines_first) blend.lines_first(read, made);
      else blend.lines_last(read, made);
      target.write(0, to.area(), made);
    }
  });
}
template void blend_images<float>(const Image &, const Image &, const Blend (&)[kAxes]);
template void blend_images<double>(const Image &, const Image &, const Blend (&)[kAxes]);

}  // namespace emu
