// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Maximum pools: MaxPool, and with the place of each maximum MaxPool2dWithIndices,
// MaxPool3dWithArgmax, AdaptiveMaxPool2d and AdaptiveMaxPool3d. NaN wins, as in comparisons that
// carry it on; of equal elements the first one does.
#include <limits>

#include "aclnnop/pooling.h"
#include "ops/window/pool.h"

namespace emu {
namespace {

template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

template <class T>
void highest(const Image &from, const Image &to, const Windows &windows) {
  const int64_t width = windows.axes[2].count;
  const auto pool = [width](const std::vector<const T *> &taps, int64_t, int64_t,
                            std::vector<T> &results, int64_t at) {
    T *row = results.data() + at;
    std::copy(taps[0], taps[0] + width, row);
    for (size_t t = 1; t < taps.size(); ++t) {
      const T *tap = taps[t];
      for (int64_t i = 0; i < width; ++i)
        row[i] = tap[i] > row[i] || tap[i] != tap[i] ? tap[i] : row[i];
    }
  };
  pool_planes<T>(from, windows, lowest<T>(), pool, Values<T>{to});
}

// Maxima with their places, counted in elements of the plane.
template <class T>
struct Found {
  std::vector<T> values;
  std::vector<int64_t> places;

  void offer(size_t at, T value, int64_t place) {
    if (value > values[at] || value != value) {
      values[at] = value;
      places[at] = place;
    }
  }
};

template <class T>
struct ValuesAndPlaces {
  const Image &output, &places;
  Found<T> make(int64_t positions) const {
    const auto count = static_cast<size_t>(positions);
    return {std::vector<T>(count), std::vector<int64_t>(count)};
  }
  void write(int64_t n, int64_t channel, const Found<T> &found) const {
    const auto count = static_cast<int64_t>(found.values.size());
    RowTarget<T>(output.plane(n, channel)).write(0, count, found.values.data());
    RowTarget<int64_t>(places.plane(n, channel)).write(0, count, found.places.data());
  }
};

void highest_with_places(const Image &from, const Image &to, const Image &places,
                         const Windows &windows) {
  const Axis *a = windows.axes;
  const auto place = [a](int d, int64_t i, int64_t k) {
    return i * a[d].step - a[d].before + k * a[d].spread;
  };
  const auto pool = [&](const std::vector<const float *> &taps, int64_t z, int64_t y,
                        Found<float> &found, int64_t at) {
    // Where nothing is above the lowest number, the first element inside is the place.
    const int64_t slice = std::max<int64_t>(0, place(0, z, 0)),
                  row = std::max<int64_t>(0, place(1, y, 0));
    const int64_t first = (slice * a[1].extent + row) * a[2].extent;
    for (int64_t i = 0; i < a[2].count; ++i) {
      found.values[static_cast<size_t>(at + i)] = lowest<float>();
      found.places[static_cast<size_t>(at + i)] = first + std::max<int64_t>(0, place(2, i, 0));
    }
    for (size_t t = 0; t < taps.size(); ++t) {
      const auto k = static_cast<int64_t>(t);
      const int64_t k2 = k % a[2].window, k1 = k / a[2].window % a[1].window,
                    k0 = k / a[2].window / a[1].window;
      const int64_t line = (place(0, z, k0) * a[1].extent + place(1, y, k1)) * a[2].extent;
      for (int64_t i = 0; i < a[2].count; ++i) {
        found.offer(static_cast<size_t>(at + i), taps[t][i], line + place(2, i, k2));
      }
    }
  };
  pool_planes<float>(from, windows, lowest<float>(), pool, ValuesAndPlaces<float>{to, places});
}

template <class T>
void adaptive_highest(const Image &from, const Image &to, const Image &places) {
  const int64_t tall = from.extent[1], wide = from.extent[2];
  const auto cell = [=](const T *plane, const Span(&s)[kAxes], Found<T> &found, int64_t at) {
    const auto result = static_cast<size_t>(at);
    found.values[result] = lowest<T>();
    found.places[result] = (s[0].begin * tall + s[1].begin) * wide + s[2].begin;
    for (int64_t z = s[0].begin; z < s[0].end; ++z) {
      for (int64_t y = s[1].begin; y < s[1].end; ++y) {
        for (int64_t x = s[2].begin; x < s[2].end; ++x) {
          const int64_t place = (z * tall + y) * wide + x;
          found.offer(result, plane[place], place);
        }
      }
    }
  };
  adapt_planes<T>(from, to.extent, cell, ValuesAndPlaces<T>{to, places});
}

// The results have the dtype of self and a dtype of places; a result of self's rank has its format.
Check &check_results(Check &check, const aclTensor *self, const char *name, const aclTensor *out,
                     const char *places_name, const aclTensor *places) {
  check.dtype("self", self).dtype(name, out).dtype(places_name, places);
  if (!check.ok()) return check;
  check.same_dtype(name, out->dtype, "self", self->dtype);
  return out->rank() == self->rank() ? same_format(check, name, out, self) : check;
}

struct PlacesCall {
  const char *op;
  const aclTensor *self;
  const aclIntArray *kernel, *stride, *padding, *dilation;
  bool ceil;
  const aclTensor *out, *indices;
  int spatial;
};

Status plan_with_places(const PlacesCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const auto sizes = static_cast<size_t>(a.spatial);
  Check check(a.op);
  check.required("self", a.self).required("kernelSize", a.kernel).required("stride", a.stride);
  check.required("padding", a.padding).required("dilation", a.dilation);
  check.required("out", a.out).required("indices", a.indices);
  if (check.ok()) check_results(check, a.self, "out", a.out, "indices", a.indices);
  check.rank("self", a.self, a.spatial + 1, a.spatial + 2);
  if (!check.ok()) return check.status();
  const size_t rank = a.self->rank();
  format_in(check, "self", a.self,
            {ACL_FORMAT_ND, rank == 3   ? ACL_FORMAT_NCL
                            : rank == 4 ? ACL_FORMAT_NCHW
                                        : ACL_FORMAT_NCDHW});
  length_in(check, "kernelSize", a.kernel, {1, sizes});
  length_in(check, "stride", a.stride, {0, 1, sizes});
  length_in(check, "padding", a.padding, {1, sizes});
  length_in(check, "dilation", a.dilation, {1, sizes});
  values_from(check, "kernelSize", a.kernel, 1);
  values_from(check, "stride", a.stride, 1);
  values_from(check, "padding", a.padding, 0);
  for (const int64_t value : check.ok() ? a.dilation->values : std::vector<int64_t>()) {
    check.that(value == 1, "dilation has the value %lld; allowed: 1",
               static_cast<long long>(value));
  }
  only_batch_empty(check, "self", a.self, a.spatial);
  auto windows = std::make_shared<Windows>();
  set_windows(check, windows.get(), a.spatial, "kernelSize", a.kernel, a.stride, "padding",
              a.padding);
  if (!check.ok()) return check.status();
  const Layout shape = place_windows(check, a.self, a.spatial, a.ceil, windows.get());
  check.shape("out", a.out, shape).shape("indices", a.indices, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  const size_t from = plan.input(a.self), to = plan.output(a.out), places = plan.output(a.indices);
  const int spatial = a.spatial;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to)), found = view_of(c.tensor(places));
        const View source = operands.safe(view_of(c.tensor(from)), {result, found});
        highest_with_places(image_of(source, spatial), image_of(result, spatial),
                            image_of(found, spatial), *windows);
        return Status{0};
      },
      workspace_size, executor);
}

Status plan_adaptive(const char *op, const aclTensor *self, const aclIntArray *output_size,
                     const aclTensor *out, const aclTensor *indices, int spatial,
                     uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("outputSize", output_size);
  check.required("outputOut", out).required("indicesOut", indices);
  if (check.ok()) check_results(check, self, "outputOut", out, "indicesOut", indices);
  check.rank("self", self, spatial + 1, spatial + 2);
  if (!check.ok()) return check.status();
  const size_t rank = self->rank();
  if (spatial == 2 && rank == 4) {
    format_in(check, "self", self, {ACL_FORMAT_NCHW, ACL_FORMAT_NHWC});
  } else {
    format_in(check, "self", self,
              {rank == 3   ? ACL_FORMAT_NCL
               : rank == 4 ? ACL_FORMAT_NCHW
                           : ACL_FORMAT_NCDHW});
  }
  if (check.ok()) check.shape("indicesOut", indices, layout_of(*out));
  if (!check.ok()) return check.status();
  const aclFormat format = self->format;
  const Layout shape = adaptive_shape(check, self, spatial, output_size);
  shape_or_one(check, "outputOut", out, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t from = plan.input(self), to = plan.output(out), places = plan.output(indices);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to)), found = view_of(c.tensor(places));
        const View source = operands.safe(view_of(c.tensor(from)), {result, found});
        const auto image = [=](const View &view) {
          return image_of(channels_first(view, format), spatial);
        };
        const Image input = image(source), output = image(in_shape(result, shape)),
                    at = image(in_shape(found, shape));
        if (source.dtype == ACL_DOUBLE) {
          adaptive_highest<double>(input, output, at);
        } else {
          adaptive_highest<float>(input, output, at);
        }
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MaxPool, (const aclTensor *self, const aclIntArray *kernelShape,
                       const aclIntArray *strides, int64_t autoPad, const aclIntArray *pads,
                       const aclIntArray *dilations, int64_t ceilMode, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMaxPool");
  check.required("self", self).required("kernelShape", kernelShape).required("strides", strides);
  check.required("pads", pads).required("dilations", dilations).required("out", out);
  check.dtype("self", self);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype);
  same_format(check, "out", out, self);
  check.rank("self", self, 3, 4);
  if (!check.ok()) return check.status();
  format_in(check, "self", self,
            {ACL_FORMAT_ND, self->rank() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL});
  length_in(check, "kernelShape", kernelShape, {1, 2});
  length_in(check, "strides", strides, {0, 1, 2});
  length_in(check, "pads", pads, {0, 1, 2, 4});
  length_in(check, "dilations", dilations, {0, 1, 2, 4});
  check.that(autoPad == 0, "autoPad is %lld; allowed: 0", static_cast<long long>(autoPad));
  for (const int64_t value : check.ok() ? dilations->values : std::vector<int64_t>()) {
    check.that(value == 1, "dilations has the value %lld; allowed: 1",
               static_cast<long long>(value));
  }
  values_from(check, "kernelShape", kernelShape, 1);
  values_from(check, "strides", strides, 1);
  values_from(check, "pads", pads, 0);
  if (!check.ok()) return check.status();
  Windows windows;
  for (size_t d = 0; d < 2; ++d) {
    Axis &axis = axis_of(windows, 2, d);
    axis.window = value_of(kernelShape, d, 1);
    axis.step = value_of(strides, d, 1);
    // Four numbers are the margins before height and width, then those behind them.
    const bool four = pads->values.size() == 4;
    axis.before = four ? pads->values[d] : value_of(pads, d, 0);
    axis.after = four ? pads->values[2 + d] : axis.before;
    check.that(axis.before + axis.after <= axis.window,
               "pads has %lld and %lld around one dimension; together at most the kernelShape %lld",
               static_cast<long long>(axis.before), static_cast<long long>(axis.after),
               static_cast<long long>(axis.window));
  }
  only_batch_empty(check, "self", self, 2);
  if (!check.ok()) return check.status();
  check.shape("out", out, place_windows(check, self, 2, ceilMode != 0, &windows));
  if (!check.ok()) return check.status();
  const auto shared = std::make_shared<const Windows>(windows);
  return plan_one_to_one(
      "aclnnMaxPool", self, out,
      [=](const View &source, const View &result) {
        const Image input = image_of(source, 2), output = image_of(result, 2);
        switch (compute_for(source.dtype)) {
          case Compute::I32: highest<int32_t>(input, output, *shared); break;
          case Compute::I64: highest<int64_t>(input, output, *shared); break;
          default: highest<float>(input, output, *shared);
        }
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaxPool2dWithIndices,
             (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
              aclTensor *out, aclTensor *indices)) {
  emu::PlacesCall call{};
  call.op = "aclnnMaxPool2dWithIndices";
  call.self = self;
  call.kernel = kernelSize;
  call.stride = stride;
  call.padding = padding;
  call.dilation = dilation;
  call.ceil = ceilMode;
  call.out = out;
  call.indices = indices;
  call.spatial = 2;
  return emu::plan_with_places(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaxPool3dWithArgmax,
             (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
              aclTensor *out, aclTensor *indices)) {
  emu::PlacesCall call{};
  call.op = "aclnnMaxPool3dWithArgmax";
  call.self = self;
  call.kernel = kernelSize;
  call.stride = stride;
  call.padding = padding;
  call.dilation = dilation;
  call.ceil = ceilMode;
  call.out = out;
  call.indices = indices;
  call.spatial = 3;
  return emu::plan_with_places(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdaptiveMaxPool2d, (const aclTensor *self, const aclIntArray *outputSize,
                                 aclTensor *outputOut, aclTensor *indicesOut)) {
  return emu::plan_adaptive("aclnnAdaptiveMaxPool2d", self, outputSize, outputOut, indicesOut, 2,
                            workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AdaptiveMaxPool3d, (const aclTensor *self, const aclIntArray *outputSize,
                                 aclTensor *outputOut, aclTensor *indicesOut)) {
  return emu::plan_adaptive("aclnnAdaptiveMaxPool3d", self, outputSize, outputOut, indicesOut, 3,
                            workspaceSize, executor);
}
EMU_CATCH
