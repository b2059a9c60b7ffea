// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// GridSampler2D and GridSampler3D: each element of the result is read from the image at a place
// that the grid names. float32 inside, float64 for float64; one rounding.
#include "aclnnop/image.h"
#include "ops/window/grid_sampling.h"

namespace emu {

void check_grid_rules(Check &check, int64_t filter, int highest_filter, int64_t padding) {
  check.that(filter >= 0 && filter <= highest_filter, "interpolationMode is %lld; allowed: 0 to %d",
             static_cast<long long>(filter), highest_filter);
  check.that(padding >= kZeroPadding && padding <= kReflectedPadding,
             "paddingMode is %lld; allowed: 0 to 2", static_cast<long long>(padding));
}

void check_grid_shapes(Check &check, int spatial, const aclTensor *image, const aclTensor *grid,
                       const char *places_name, const aclTensor *places) {
  check.rank("input", image, spatial + 2, spatial + 2).rank("grid", grid, spatial + 2, spatial + 2);
  check.rank(places_name, places, spatial + 2, spatial + 2);
  if (!check.ok()) return;
  const Layout whole = channels_first(view_of(*image), image->format).layout;
  for (int d = 1; d < whole.rank; ++d) {
    check.that(whole.shape[d] > 0, "input has shape %s; only the batch may be empty",
               shape_text(layout_of(*image)).c_str());
  }
  check.that(grid->shape[0] == whole.shape[0] && grid->shape.back() == spatial,
             "grid has shape %s; expected the batch %lld of input and %d numbers at each place",
             shape_text(layout_of(*grid)).c_str(), static_cast<long long>(whole.shape[0]), spatial);
  if (!check.ok()) return;
  Layout expected;
  const bool last = channels_last(image->format);
  expected.push(whole.shape[0], 0);
  if (!last) expected.push(whole.shape[1], 0);
  for (int d = 1; d <= spatial; ++d) expected.push(grid->shape[static_cast<size_t>(d)], 0);
  if (last) expected.push(whole.shape[1], 0);
  check.shape(places_name, places, expected);
}

namespace {

template <class T>
void sample_images(const Image &from, const View &grid, const Image &to, int spatial,
                   const GridRules &rules) {
  const int64_t rows = from.extent[1], width = from.extent[2], positions = to.area();
  SampledPlaces<T> places(from, spatial, rules, positions);
  const RowSource<T> source(grid);
  for (int64_t n = 0; n < to.batch; ++n) {
    places.read(source, n);
    const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, positions));
    parallel_for(to.channels, grain, [&](int64_t begin, int64_t end) {
      std::vector<T> plane(static_cast<size_t>(from.area())),
          values(static_cast<size_t>(positions));
      for (int64_t channel = begin; channel < end; ++channel) {
        RowSource<T>(from.plane(n, channel)).read(0, from.area(), plane.data());
        for (int64_t i = 0; i < positions; ++i) {
          const Tap<T> *z = places.taps(i, 0), *y = places.taps(i, 1), *x = places.taps(i, 2);
          T sum = 0;
          for (int slice = 0; slice < places.width(0); ++slice) {
            for (int row = 0; row < places.width(1); ++row) {
              if (z[slice].place < 0 || y[row].place < 0) continue;
              const T *line = plane.data() + (z[slice].place * rows + y[row].place) * width;
              T along = 0;
              for (int k = 0; k < places.width(2); ++k)
                along += x[k].place < 0 ? 0 : x[k].share * line[x[k].place];
              sum += z[slice].share * y[row].share * along;
            }
          }
          values[static_cast<size_t>(i)] = sum;
        }
        RowTarget<T>(to.plane(n, channel)).write(0, positions, values.data());
      }
    });
  }
}

struct GridCall {
  const char *op;
  const aclTensor *input, *grid;
  int64_t filter, padding;
  bool align_corners;
  const aclTensor *out;
  int spatial;
};

Status plan_grid_sample(const GridCall &g, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(g.op);
  check.required("input", g.input).required("grid", g.grid).required("out", g.out);
  check.dtype("input", g.input).dtype("grid", g.grid).dtype("out", g.out);
  if (!check.ok()) return check.status();
  check.same_dtype("grid", g.grid->dtype, "input", g.input->dtype)
      .same_dtype("out", g.out->dtype, "input", g.input->dtype);
  check_grid_rules(check, g.filter, g.spatial == 2 ? kBicubicGrid : kNearestGrid, g.padding);
  check.that(g.filter != kBicubicGrid || g.input->dtype != ACL_DOUBLE,
             "interpolationMode is 2, which DOUBLE cannot have");
  if (!check.ok()) return check.status();
  if (g.spatial == 3) {
    check.rank("input", g.input, 5, 5);
    format_in(check, "input", g.input, {ACL_FORMAT_NCDHW, ACL_FORMAT_NDHWC, ACL_FORMAT_ND});
    check.same_format("out", g.out, "input", g.input);
    if (!check.ok()) return check.status();
    check.that(g.input->format != ACL_FORMAT_NDHWC ||
                   (g.input->dtype == ACL_FLOAT && g.filter == kBilinearGrid &&
                    g.input->shape[4] % 4 == 0),
               "input has format NDHWC, which needs FLOAT, interpolationMode 0 and a multiple of 4 "
               "channels; it has %s, %lld and %lld",
               dtype_name(g.input->dtype), static_cast<long long>(g.filter),
               static_cast<long long>(g.input->shape[4]));
  }
  check_grid_shapes(check, g.spatial, g.input, g.grid, "out", g.out);
  if (!check.ok()) return check.status();
  PlanBuilder plan(g.op);
  const size_t from = plan.input(g.input), where = plan.input(g.grid), to = plan.output(g.out);
  const GridRules rules = {static_cast<int>(g.filter), static_cast<int>(g.padding),
                           g.align_corners};
  return plan.finish(
      [=, spatial = g.spatial,
       format = g.spatial == 3 ? g.input->format : ACL_FORMAT_ND](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        if (result.count() == 0) return Status{0};
        const View image = operands.safe(view_of(c.tensor(from)), {result}),
                   places = operands.safe(view_of(c.tensor(where)), {result});
        const Image source = image_of(channels_first(image, format), spatial),
                    target = image_of(channels_first(result, format), spatial);
        const auto sample =
            result.dtype == ACL_DOUBLE ? sample_images<double> : sample_images<float>;
        sample(source, places, target, spatial, rules);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define EMU_GRID_SAMPLER(NAME, SPATIAL)                                                           \
  EMU_OPERATOR(NAME, (const aclTensor *input, const aclTensor *grid, int64_t interpolationMode,   \
                      int64_t paddingMode, bool alignCorners, aclTensor *out)) {                  \
    return emu::plan_grid_sample(                                                                 \
        {"aclnn" #NAME, input, grid, interpolationMode, paddingMode, alignCorners, out, SPATIAL}, \
        workspaceSize, executor);                                                                 \
  }                                                                                               \
  EMU_CATCH

EMU_GRID_SAMPLER(GridSampler2D, 2)
EMU_GRID_SAMPLER(GridSampler3D, 3)
