// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// GridSampler2D: each element of the result is read from the image at a place that the grid names,
// between -1 and 1 across the image. float32 inside, float64 for float64; one rounding.
#include <cmath>

#include "aclnnop/image.h"
#include "core/pool.h"
#include "ops/norm/rows.h"
#include "ops/window/geometry.h"

namespace emu {
namespace {

enum Interpolation { kBilinear, kNearest, kBicubic };
enum Padding { kZeros, kBorder, kReflection };

// An element of the image and its share; place -1 reads zero.
template <class T>
struct Tap {
  int64_t place = -1;
  T share = 0;
};
constexpr int kMostTaps = 4;  // along one axis

template <class T>
class AxisSampler {
 public:
  AxisSampler(int64_t extent, int interpolation, int padding, bool align_corners)
      : extent_(extent),
        interpolation_(interpolation),
        padding_(padding),
        aligned_(align_corners) {}

  int taps() const { return interpolation_ == kNearest ? 1 : interpolation_ == kBilinear ? 2 : 4; }

  void sample(T position, Tap<T> *taps) const {
    const auto size = static_cast<T>(extent_);
    T x = aligned_ ? (position + 1) / 2 * (size - 1) : ((position + 1) * size - 1) / 2;
    // Beyond this nothing but the side matters, and whole numbers stay exact.
    constexpr T kFar = static_cast<T>(1 << 22);
    if (!(std::abs(x) < kFar)) x = x > 0 ? kFar : -kFar;
    if (interpolation_ != kBicubic) x = bounded(x);
    const T low = std::floor(x), part = x - low;
    switch (interpolation_) {
      case kNearest: taps[0] = {inside(std::nearbyint(x)), 1}; return;
      case kBilinear:
        taps[0] = {inside(low), 1 - part};
        taps[1] = {inside(low + 1), part};
        return;
      default:
        // The cubic of Keys with a = -0.75; each of its four elements is moved into the image on
        // its own.
        taps[0] = {inside(bounded(low - 1)), outer(part + 1)};
        taps[1] = {inside(bounded(low)), inner(part)};
        taps[2] = {inside(bounded(low + 1)), inner(1 - part)};
        taps[3] = {inside(bounded(low + 2)), outer(2 - part)};
    }
  }

 private:
  static constexpr T kA = static_cast<T>(-0.75);
  static T inner(T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; }
  static T outer(T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; }

  T bounded(T x) const {
    const auto last = static_cast<T>(extent_ - 1);
    if (padding_ == kZeros) return x;
    if (padding_ == kReflection) {
      // Mirrored at the outermost elements, or at their outer edges.
      const T begin = aligned_ ? T(0) : T(-0.5), span = aligned_ ? last : last + 1;
      if (span == 0) return 0;
      const T away = std::abs(x - begin), turns = std::floor(away / span),
              rest = away - turns * span;
      x = begin + (std::fmod(turns, T(2)) == 0 ? rest : span - rest);
    }
    return std::min(std::max(x, T(0)), last);
  }

  int64_t inside(T x) const {
    return x >= 0 && x < static_cast<T>(extent_) ? static_cast<int64_t>(x) : -1;
  }

  const int64_t extent_;
  const int interpolation_, padding_;
  const bool aligned_;
};

template <class T>
void sample_images(const View &image, const View &grid, const View &result, int interpolation,
                   int padding, bool align_corners) {
  const Image from = image_of(image, 2), to = image_of(result, 2);
  const int64_t wide = from.extent[2], positions = to.area();
  const AxisSampler<T> across(wide, interpolation, padding, align_corners),
      down(from.extent[1], interpolation, padding, align_corners);
  const int taps = across.taps();
  const RowSource<T> places(grid);
  // x, then y, of each position
  std::vector<Tap<T>> table(static_cast<size_t>(positions * 2 * taps));
  for (int64_t n = 0; n < to.batch; ++n) {
    parallel_for(positions, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T xy[2];
        places.read((n * positions + i) * 2, 2, xy);
        Tap<T> *x = table.data() + i * 2 * taps;
        across.sample(xy[0], x);
        down.sample(xy[1], x + taps);
      }
    });
    const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, positions));
    parallel_for(to.channels, grain, [&](int64_t begin, int64_t end) {
      std::vector<T> plane(static_cast<size_t>(from.area())),
          values(static_cast<size_t>(positions));
      for (int64_t channel = begin; channel < end; ++channel) {
        RowSource<T>(from.plane(n, channel)).read(0, from.area(), plane.data());
        for (int64_t i = 0; i < positions; ++i) {
          const Tap<T> *x = table.data() + i * 2 * taps, *y = x + taps;
          T sum = 0;
          for (int row = 0; row < taps; ++row) {
            if (y[row].place < 0) continue;
            const T *line = plane.data() + y[row].place * wide;
            T along = 0;
            for (int k = 0; k < taps; ++k)
              along += x[k].place < 0 ? 0 : x[k].share * line[x[k].place];
            sum += y[row].share * along;
          }
          values[static_cast<size_t>(i)] = sum;
        }
        RowTarget<T>(to.plane(n, channel)).write(0, positions, values.data());
      }
    });
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GridSampler2D,
             (const aclTensor *input, const aclTensor *grid, int64_t interpolationMode,
              int64_t paddingMode, bool alignCorners, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnGridSampler2D");
  check.required("input", input).required("grid", grid).required("out", out);
  check.dtype("input", input).dtype("grid", grid).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("grid", grid->dtype, "input", input->dtype)
      .same_dtype("out", out->dtype, "input", input->dtype);
  check.that(interpolationMode >= kBilinear && interpolationMode <= kBicubic,
             "interpolationMode is %lld; allowed: 0 to 2",
             static_cast<long long>(interpolationMode));
  check.that(interpolationMode != kBicubic || input->dtype != ACL_DOUBLE,
             "interpolationMode is 2, which DOUBLE cannot have");
  check.that(paddingMode >= kZeros && paddingMode <= kReflection,
             "paddingMode is %lld; allowed: 0 to 2", static_cast<long long>(paddingMode));
  check.rank("input", input, 4, 4).rank("grid", grid, 4, 4);
  if (!check.ok()) return check.status();
  only_batch_empty(check, "input", input, 2);
  check.that(grid->shape[0] == input->shape[0] && grid->shape[3] == 2,
             "grid has shape %s; expected the batch %lld of input and 2 numbers at each place",
             shape_text(layout_of(*grid)).c_str(), static_cast<long long>(input->shape[0]));
  Layout shape;
  for (const int64_t extent : {input->shape[0], input->shape[1], grid->shape[1], grid->shape[2]}) {
    shape.push(extent, 0);
  }
  check.shape("out", out, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnGridSampler2D");
  const size_t from = plan.input(input), where = plan.input(grid), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const View image = operands.safe(view_of(c.tensor(from)), {result}),
                   places = operands.safe(view_of(c.tensor(where)), {result});
        const int interpolation = static_cast<int>(interpolationMode),
                  padding = static_cast<int>(paddingMode);
        if (result.dtype == ACL_DOUBLE) {
          sample_images<double>(image, places, result, interpolation, padding, alignCorners);
        } else {
          sample_images<float>(image, places, result, interpolation, padding, alignCorners);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
