// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of GridSampler2D and GridSampler3D. A slope goes to the elements its place was read
// from, with their shares; a position has the slope of its place by the difference of neighbours,
// and 0 where the nearest element is read. Sums are float64 and rounded once.
#include "aclnnop/image.h"
#include "ops/window/grid_sampling.h"

namespace emu {
namespace {

struct GridGradient {
  const char *op;
  const aclTensor *slopes, *input, *grid;
  int64_t filter, padding;
  bool align_corners;
  const aclBoolArray *mask;
  const aclTensor *input_grad, *grid_grad;
  int spatial;
};

// Calls f(offset, taps) for each element of the image around place i that lies inside.
template <class T, class F>
void for_each_element(const SampledPlaces<T> &places, int64_t i, int64_t rows, int64_t width,
                      F &&f) {
  const Tap<T> *z = places.taps(i, 0), *y = places.taps(i, 1), *x = places.taps(i, 2);
  for (int a = 0; a < places.width(0); ++a) {
    if (z[a].place < 0) continue;
    for (int b = 0; b < places.width(1); ++b) {
      if (y[b].place < 0) continue;
      const int64_t line = (z[a].place * rows + y[b].place) * width;
      for (int k = 0; k < places.width(2); ++k) {
        if (x[k].place >= 0) f(line + x[k].place, a, b, k);
      }
    }
  }
}

// One image of the batch, and its slopes, dense.
template <class T>
struct DenseSample {
  std::vector<T> slopes, image;

  static void read(const Image &from, int64_t n, std::vector<T> *to) {
    const int64_t area = from.area();
    to->resize(static_cast<size_t>(from.channels * area));
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, area));
    parallel_for(from.channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t channel = begin; channel < end; ++channel)
        RowSource<T>(from.plane(n, channel)).read(0, area, to->data() + channel * area);
    });
  }
};

template <class T>
void give_to_image(const SampledPlaces<T> &places, const DenseSample<T> &sample, const Image &to,
                   int64_t n) {
  const int64_t rows = to.extent[1], width = to.extent[2], count = places.count();
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, count));
  parallel_for(to.channels, grain, [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>(to.area()));
    for (int64_t channel = begin; channel < end; ++channel) {
      std::fill(sums.begin(), sums.end(), 0.0);
      const T *slopes = sample.slopes.data() + channel * count;
      for (int64_t i = 0; i < count; ++i) {
        const Tap<T> *z = places.taps(i, 0), *y = places.taps(i, 1), *x = places.taps(i, 2);
        for_each_element(places, i, rows, width, [&](int64_t at, int a, int b, int k) {
          sums[static_cast<size_t>(at)] +=
              static_cast<double>(slopes[i] * (z[a].share * y[b].share * x[k].share));
        });
      }
      RowTarget<double>(to.plane(n, channel)).write(0, to.area(), sums.data());
    }
  });
}

// Of two neighbours: the second one's share grows with the place, the first one's shrinks.
template <class T>
T growth(int tap) {
  return tap == 0 ? T(-1) : T(1);
}

template <class T>
void give_to_grid(const SampledPlaces<T> &places, const DenseSample<T> &sample, const Image &image,
                  int spatial, const View &to, int64_t n) {
  constexpr int64_t kCorners = 8;
  const int64_t area = image.area(), rows = image.extent[1], width = image.extent[2],
                count = places.count();
  parallel_for(count, 1024, [&](int64_t begin, int64_t end) {
    // Of each element around a place: its product with the slope, summed over the channels.
    std::vector<double> products(static_cast<size_t>((end - begin) * kCorners)),
        sums(static_cast<size_t>((end - begin) * spatial));
    for (int64_t channel = 0; channel < image.channels; ++channel) {
      const T *slopes = sample.slopes.data() + channel * count,
              *plane = sample.image.data() + channel * area;
      for (int64_t i = begin; i < end; ++i) {
        double *product = products.data() + (i - begin) * kCorners;
        for_each_element(places, i, rows, width, [&](int64_t at, int a, int b, int k) {
          product[a * 4 + b * 2 + k] += static_cast<double>(slopes[i] * plane[at]);
        });
      }
    }
    for (int64_t i = begin; i < end; ++i) {
      const double *product = products.data() + (i - begin) * kCorners;
      double *sum = sums.data() + (i - begin) * spatial;
      const Tap<T> *z = places.taps(i, 0), *y = places.taps(i, 1), *x = places.taps(i, 2);
      for_each_element(places, i, rows, width, [&](int64_t, int a, int b, int k) {
        const double value = product[a * 4 + b * 2 + k];
        sum[0] += value * static_cast<double>(growth<T>(k) * y[b].share * z[a].share);
        sum[1] += value * static_cast<double>(growth<T>(b) * x[k].share * z[a].share);
        if (spatial == 3)
          sum[2] += value * static_cast<double>(growth<T>(a) * x[k].share * y[b].share);
      });
      for (int d = 0; d < spatial; ++d)
        sum[d] *= static_cast<double>(places.slope(i, kAxes - 1 - d));
    }
    RowTarget<double>(to).write((n * count + begin) * spatial, (end - begin) * spatial,
                                sums.data());
  });
}

template <class T>
void give_back(const Image &slopes, const Image &image, const View &grid, int spatial,
               const GridRules &rules, const Image *input_grad, const View *grid_grad) {
  SampledPlaces<T> places(image, spatial, rules, slopes.area());
  const RowSource<T> source(grid);
  DenseSample<T> sample;
  for (int64_t n = 0; n < image.batch; ++n) {
    places.read(source, n);
    DenseSample<T>::read(slopes, n, &sample.slopes);
    if (grid_grad != nullptr) DenseSample<T>::read(image, n, &sample.image);
    if (input_grad != nullptr) give_to_image(places, sample, *input_grad, n);
    if (grid_grad == nullptr) continue;
    if (rules.filter == kBilinearGrid) {
      give_to_grid(places, sample, image, spatial, *grid_grad, n);
    } else {
      const std::vector<T> zeros(static_cast<size_t>(places.count() * spatial));
      RowTarget<T>(*grid_grad)
          .write(n * places.count() * spatial, places.count() * spatial, zeros.data());
    }
  }
}

Status check_grid_gradient(const GridGradient &g) {
  Check check(g.op);
  check.required("gradOutput", g.slopes).required("input", g.input).required("grid", g.grid);
  check.required("outputMask", g.mask).required("inputGrad", g.input_grad);
  check.required("gridGrad", g.grid_grad);
  check.dtype("gradOutput", g.slopes).dtype("input", g.input).dtype("grid", g.grid);
  check.dtype("inputGrad", g.input_grad).dtype("gridGrad", g.grid_grad);
  if (!check.ok()) return check.status();
  const aclDataType dtype = g.input->dtype;
  check.same_dtype("gradOutput", g.slopes->dtype, "input", dtype)
      .same_dtype("grid", g.grid->dtype, "input", dtype)
      .same_dtype("inputGrad", g.input_grad->dtype, "input", dtype)
      .same_dtype("gridGrad", g.grid_grad->dtype, "input", dtype);
  check_grid_rules(check, g.filter, kNearestGrid, g.padding);
  check.that(g.mask->values.size() == 2, "outputMask has %zu values; expected 2",
             g.mask->values.size());
  if (g.spatial == 3) {
    check.rank("input", g.input, 5, 5);
    if (check.ok())
      format_in(check, "input", g.input, {ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC, ACL_FORMAT_ND});
    check.same_format("gradOutput", g.slopes, "input", g.input)
        .same_format("inputGrad", g.input_grad, "input", g.input);
    check.that(g.input->format != ACL_FORMAT_NDHWC || dtype != ACL_DOUBLE,
               "input has format NDHWC, which DOUBLE cannot have");
  }
  if (!check.ok()) return check.status();
  check_grid_shapes(check, g.spatial, g.input, g.grid, "gradOutput", g.slopes);
  check.shape("inputGrad", g.input_grad, layout_of(*g.input))
      .shape("gridGrad", g.grid_grad, layout_of(*g.grid));
  return check.status();
}

Status plan_grid_gradient(const GridGradient &g, uint64_t *workspace_size,
                          aclOpExecutor **executor) {
  if (const Status status = check_grid_gradient(g)) return status;
  PlanBuilder plan(g.op);
  const size_t slopes = plan.input(g.slopes), input = plan.input(g.input),
               grid = plan.input(g.grid);
  const bool of_input = g.mask->values[0] != 0, of_grid = g.mask->values[1] != 0;
  const size_t first = of_input ? plan.output(g.input_grad) : plan.unused(g.input_grad),
               second = of_grid ? plan.output(g.grid_grad) : plan.unused(g.grid_grad);
  const GridRules rules = {static_cast<int>(g.filter), static_cast<int>(g.padding), g.align_corners,
                           true};
  return plan.finish(
      [=, spatial = g.spatial,
       format = g.spatial == 3 ? g.input->format : ACL_FORMAT_ND](PlanContext &c) {
        const View to_input = of_input ? view_of(c.tensor(first)) : View(),
                   to_grid = of_grid ? view_of(c.tensor(second)) : View();
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {to_input, to_grid});
        };
        const View given = operand(slopes), image = operand(input), places = operand(grid);
        const auto whole = [&](const View &view) {
          return image_of(channels_first(view, format), spatial);
        };
        const Image result = of_input ? whole(to_input) : Image();
        const auto give = image.dtype == ACL_DOUBLE ? give_back<double> : give_back<float>;
        give(whole(given), whole(image), places, spatial, rules, of_input ? &result : nullptr,
             of_grid ? &to_grid : nullptr);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define EMU_GRID_GRADIENT(NAME, SPATIAL)                                                       \
  EMU_OPERATOR(NAME,                                                                           \
               (const aclTensor *gradOutput, const aclTensor *input, const aclTensor *grid,    \
                int64_t interpolationMode, int64_t paddingMode, bool alignCorners,             \
                const aclBoolArray *outputMask, aclTensor *inputGrad, aclTensor *gridGrad)) {  \
    return emu::plan_grid_gradient(                                                            \
        {"aclnn" #NAME, gradOutput, input, grid, interpolationMode, paddingMode, alignCorners, \
         outputMask, inputGrad, gridGrad, SPATIAL},                                            \
        workspaceSize, executor);                                                              \
  }                                                                                            \
  EMU_CATCH

EMU_GRID_GRADIENT(GridSampler2DBackward, 2)
EMU_GRID_GRADIENT(GridSampler3DBackward, 3)
