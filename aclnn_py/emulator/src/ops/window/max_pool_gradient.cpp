// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Gradients of maximum pools with the places of the maxima: MaxPool2dWithIndices,
// MaxPool3dWithArgmax, AdaptiveMaxPool2d and AdaptiveMaxPool3d. A slope is added where its maximum
// was.
#include "aclnnop/pooling.h"
#include "ops/index/addresses.h"
#include "ops/window/pool.h"
#include "ops/window/pool_gradient.h"

namespace emu {
namespace {

struct PlacesGradient {
  const char *op;
  const aclTensor *slopes, *self, *indices, *result;
  int spatial;
  const MaxWindows *how;  // null of adaptive pools
};

void add_at_places(const Image &slopes, const Image &places, const Image &result,
                   IndexFault &fault) {
  const int64_t count = slopes.area(), area = result.area();
  sum_planes(slopes, result, [&](int64_t n, int64_t channel, const float *from, double *sums) {
    std::vector<int64_t> at(static_cast<size_t>(count));
    RowSource<int64_t>(places.plane(n, channel)).read(0, count, at.data());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = at[static_cast<size_t>(i)];
      if (place < 0 || place >= area) {
        fault.report(place, area);
      } else {
        sums[place] += static_cast<double>(from[i]);
      }
    }
  });
}

// Places are numbers of 32 bits.
Check &places_fit(Check &check, const aclTensor *self, int spatial) {
  if (!check.ok()) return check;
  Checked area(1);
  for (size_t d = self->rank() - static_cast<size_t>(spatial); d < self->rank(); ++d)
    area *= self->shape[d];
  return check.that(area.fits() && area.value() <= INT32_MAX,
                    "self has shape %s; a plane may have %d elements",
                    shape_text(layout_of(*self)).c_str(), INT32_MAX);
}

Layout check_cells(Check &check, const PlacesGradient &a) {
  const Layout pooled = free_cells(check, a.slopes, a.self, a.spatial);
  if (!check.ok()) return pooled;
  const size_t rank = a.self->rank();
  format_in(check, "self", a.self,
            {ACL_FORMAT_ND, rank == 3   ? ACL_FORMAT_NCL
                            : rank == 4 ? ACL_FORMAT_NCHW
                                        : ACL_FORMAT_NCDHW});
  return pooled;
}

Status plan_places_gradient(const PlacesGradient &a, uint64_t *workspace_size,
                            aclOpExecutor **executor) {
  Check check(a.op);
  check.required("gradOutput", a.slopes).required("self", a.self).required("indices", a.indices);
  if (a.how != nullptr) check_given(check, *a.how);
  check.required("gradInput", a.result);
  check.dtype("self", a.self).dtype("gradOutput", a.slopes).dtype("gradInput", a.result);
  check.dtype("indices", a.indices);
  if (!check.ok()) return check.status();
  check.same_dtype("gradOutput", a.slopes->dtype, "self", a.self->dtype)
      .same_dtype("gradInput", a.result->dtype, "self", a.self->dtype);
  Windows windows;
  const Layout pooled =
      a.how != nullptr ? check_highest(check, *a.how, a.self, &windows) : check_cells(check, a);
  places_fit(check, a.self, a.spatial);
  check_slopes(check, a.slopes, pooled, a.self, "gradInput", a.result);
  check.shape("indices", a.indices, pooled);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(a.slopes);
  plan.input(a.self);
  const size_t places = plan.input(a.indices), to = plan.output(a.result);
  return plan.finish(
      [=, op = a.op, spatial = a.spatial](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const View slopes = operands.safe(view_of(c.tensor(from)), {result}),
                   at = operands.safe(view_of(c.tensor(places)), {result});
        IndexFault fault;
        add_at_places(image_of(slopes, spatial), image_of(at, spatial), image_of(result, spatial),
                      fault);
        return fault.found ? fault.status(op, "indices") : Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define EMU_WINDOW_PLACES(NAME, SPATIAL)                                                           \
  EMU_OPERATOR(                                                                                    \
      NAME, (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices,         \
             const aclIntArray *kernelSize, const aclIntArray *stride, const aclIntArray *padding, \
             const aclIntArray *dilation, bool ceilMode, aclTensor *gradInput)) {                  \
    const emu::MaxWindows how = {kernelSize, stride, padding, dilation, ceilMode, SPATIAL};        \
    return emu::plan_places_gradient(                                                              \
        {"aclnn" #NAME, gradOutput, self, indices, gradInput, SPATIAL, &how}, workspaceSize,       \
        executor);                                                                                 \
  }                                                                                                \
  EMU_CATCH

#define EMU_CELL_PLACES(NAME, SPATIAL)                                                          \
  EMU_OPERATOR(NAME, (const aclTensor *gradOutput, const aclTensor *self,                       \
                      const aclTensor *indices, aclTensor *gradInput)) {                        \
    return emu::plan_places_gradient(                                                           \
        {"aclnn" #NAME, gradOutput, self, indices, gradInput, SPATIAL, nullptr}, workspaceSize, \
        executor);                                                                              \
  }                                                                                             \
  EMU_CATCH

EMU_WINDOW_PLACES(MaxPool2dWithIndicesBackward, 2)
EMU_WINDOW_PLACES(MaxPool3dWithArgmaxBackward, 3)
EMU_CELL_PLACES(AdaptiveMaxPool2dBackward, 2)
EMU_CELL_PLACES(AdaptiveMaxPool3dBackward, 3)
