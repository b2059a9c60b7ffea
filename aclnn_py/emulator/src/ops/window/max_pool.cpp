// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Maximum pools: MaxPool, and with the place of each maximum MaxPool2dWithIndices,
// MaxPool3dWithArgmax, AdaptiveMaxPool2d and AdaptiveMaxPool3d. NaN wins, as in comparisons that
// carry it on; of equal elements the first one does.
#include "ops/window/max_pool.h"
#include "aclnnop/pooling.h"

namespace emu {
namespace {

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
  MaxWindows how;
  const aclTensor *out, *indices;
};

Status plan_with_places(const PlacesCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("self", a.self);
  check_given(check, a.how);
  check.required("out", a.out).required("indices", a.indices);
  if (check.ok()) check_results(check, a.self, "out", a.out, "indices", a.indices);
  auto windows = std::make_shared<Windows>();
  const Layout shape = check_highest(check, a.how, a.self, windows.get());
  if (!check.ok()) return check.status();
  check.shape("out", a.out, shape).shape("indices", a.indices, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, time_of(*windows));
  const size_t from = plan.input(a.self), to = plan.output(a.out), places = plan.output(a.indices);
  const int spatial = a.how.spatial;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to)), found = view_of(c.tensor(places));
        const View source = operands.safe(view_of(c.tensor(from)), {result, found});
        const Image output = image_of(result, spatial), at = image_of(found, spatial);
        find_highest(image_of(source, spatial), *windows, ValuesAndPlaces<float>{output, at});
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
  PlanBuilder plan(op, KernelTime::linear);
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
  return plan_pool(
      "aclnnMaxPool", self, out, windows,
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
  return emu::plan_with_places({"aclnnMaxPool2dWithIndices",
                                self,
                                {kernelSize, stride, padding, dilation, ceilMode, 2},
                                out,
                                indices},
                               workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaxPool3dWithArgmax,
             (const aclTensor *self, const aclIntArray *kernelSize, const aclIntArray *stride,
              const aclIntArray *padding, const aclIntArray *dilation, bool ceilMode,
              aclTensor *out, aclTensor *indices)) {
  return emu::plan_with_places({"aclnnMaxPool3dWithArgmax",
                                self,
                                {kernelSize, stride, padding, dilation, ceilMode, 3},
                                out,
                                indices},
                               workspaceSize, executor);
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
