// SPDX-License-Identifier: Apache-2.0
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
