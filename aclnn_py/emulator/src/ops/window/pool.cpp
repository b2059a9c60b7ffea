// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/window/pool.h"

namespace emu {

Check &set_windows(Check &check, Windows *windows, int spatial, const char *kernel_name,
                   const aclIntArray *kernel, const aclIntArray *stride, const char *padding_name,
                   const aclIntArray *padding) {
  if (!check.ok()) return check;
  for (size_t d = 0; d < static_cast<size_t>(spatial); ++d) {
    Axis &axis = axis_of(*windows, spatial, d);
    axis.window = value_of(kernel, d, 1);
    axis.step = value_of(stride, d, axis.window);
    axis.before = axis.after = value_of(padding, d, 0);
    check.that(2 * axis.before <= axis.window, "%s has the value %lld; at most half of the %s %lld",
               padding_name, static_cast<long long>(axis.before), kernel_name,
               static_cast<long long>(axis.window));
  }
  return check;
}

Check &check_given(Check &check, const MaxWindows &how) {
  return check.required("kernelSize", how.kernel)
      .required("stride", how.stride)
      .required("padding", how.padding)
      .required("dilation", how.dilation);
}

Layout check_highest(Check &check, const MaxWindows &how, const aclTensor *self, Windows *windows) {
  check.rank("self", self, how.spatial + 1, how.spatial + 2);
  if (!check.ok()) return Layout();
  const size_t rank = self->rank(), sizes = static_cast<size_t>(how.spatial);
  format_in(check, "self", self,
            {ACL_FORMAT_ND, rank == 3   ? ACL_FORMAT_NCL
                            : rank == 4 ? ACL_FORMAT_NCHW
                                        : ACL_FORMAT_NCDHW});
  length_in(check, "kernelSize", how.kernel, {1, sizes});
  length_in(check, "stride", how.stride, {0, 1, sizes});
  length_in(check, "padding", how.padding, {1, sizes});
  length_in(check, "dilation", how.dilation, {1, sizes});
  values_from(check, "kernelSize", how.kernel, 1);
  values_from(check, "stride", how.stride, 1);
  values_from(check, "padding", how.padding, 0);
  for (const int64_t value : check.ok() ? how.dilation->values : std::vector<int64_t>()) {
    check.that(value == 1, "dilation has the value %lld; allowed: 1",
               static_cast<long long>(value));
  }
  only_batch_empty(check, "self", self, how.spatial);
  set_windows(check, windows, how.spatial, "kernelSize", how.kernel, how.stride, "padding",
              how.padding);
  if (!check.ok()) return Layout();
  return place_windows(check, self, how.spatial, how.ceil, windows);
}

Check &check_given(Check &check, const AverageWindows &how) {
  return check.required(how.kernel_name, how.kernel)
      .required(how.stride_name, how.stride)
      .required(how.padding_name, how.padding);
}

Layout check_average(Check &check, const AverageWindows &how, const aclTensor *self,
                     Windows *windows) {
  check.rank("self", self, how.spatial + 1, how.spatial + 2);
  if (!check.ok()) return Layout();
  const auto sizes = static_cast<size_t>(how.spatial);
  if (how.spatial == 2) {
    format_in(check, "self", self, {self->rank() == 4 ? ACL_FORMAT_NCHW : ACL_FORMAT_NCL});
  } else {
    format_in(check, "self", self,
              {ACL_FORMAT_ND, self->rank() == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_NCHW});
  }
  values_from(check, how.kernel_name, how.kernel, 1);
  values_from(check, how.stride_name, how.stride, 1);
  values_from(check, how.padding_name, how.padding, 0);
  only_batch_empty(check, "self", self, how.spatial);
  length_in(check, how.kernel_name, how.kernel, {1, sizes});
  length_in(check, how.padding_name, how.padding, {1, sizes});
  length_in(check, how.stride_name, how.stride, {0, 1, sizes});
  set_windows(check, windows, how.spatial, how.kernel_name, how.kernel, how.stride,
              how.padding_name, how.padding);
  if (!check.ok()) return Layout();
  const Layout shape = place_windows(check, self, how.spatial, how.ceil, windows);
  check.that(how.divisor >= INT32_MIN && how.divisor <= INT32_MAX,
             "divisorOverride is %lld; allowed: %d to %d, the kernel's integers",
             static_cast<long long>(how.divisor), INT32_MIN, INT32_MAX);
  // 1 and 3 permit less precision and get all of it; 2 rounds float32 to float16 first.
  check.that(how.cube_math_type >= 0 && how.cube_math_type <= 3,
             "cubeMathType is %d; allowed: 0 to 3", how.cube_math_type);
  check.that(how.cube_math_type != 2 || self->dtype != ACL_BF16,
             "cubeMathType is 2, which BF16 cannot have");
  return shape;
}

Layout place_windows(Check &check, const aclTensor *self, int spatial, bool ceil,
                     Windows *windows) {
  Layout shape = layout_of(*self);
  for (int d = 0; d < spatial; ++d) {
    const int at = shape.rank - spatial + d;
    Axis &axis = axis_of(*windows, spatial, static_cast<size_t>(d));
    axis.extent = shape.shape[at];
    axis.count = window_count(axis, ceil);
    check.that(axis.count > 0,
               "self has %lld elements along dimension %d; a window of %lld does not fit",
               static_cast<long long>(axis.extent), at, static_cast<long long>(axis.window));
    shape.shape[at] = axis.count;
    // In ceil mode a window may be larger than what there is; what lies beyond never counts.
    axis.window = std::min(axis.window, axis.extent + axis.before + axis.after);
  }
  return shape;
}

Layout adaptive_shape(Check &check, const aclTensor *self, int spatial,
                      const aclIntArray *output_size) {
  Layout shape = layout_of(*self);
  length_in(check, "outputSize", output_size, {static_cast<size_t>(spatial)});
  values_from(check, "outputSize", output_size, 1);
  only_batch_empty(check, "self", self, spatial);
  const int first = shape.rank - spatial - (channels_last(self->format) ? 1 : 0);
  for (int d = 0; check.ok() && d < spatial; ++d) {
    shape.shape[first + d] = output_size->values[static_cast<size_t>(d)];
  }
  return shape;
}

}  // namespace emu
