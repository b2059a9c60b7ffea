// SPDX-License-Identifier: Apache-2.0
// Windows that move over one, two or three dimensions: where they begin and which of their elements
// lie inside.
#pragma once

#include <initializer_list>

#include "ops/op.h"

namespace emu {

// One dimension that windows move along, in elements.
struct Axis {
  int64_t extent = 1;             // of the image
  int64_t window = 1;             // elements of a window
  int64_t step = 1;               // from a window to the next one
  int64_t spread = 1;             // from an element of a window to the next one
  int64_t before = 0, after = 0;  // margins
  int64_t count = 1;              // windows
};

// Two dimensions are three of which the first is trivial.
constexpr int kAxes = 3;

struct Windows {
  Axis axes[kAxes];

  int64_t positions() const { return axes[0].count * axes[1].count * axes[2].count; }
  int64_t elements() const { return axes[0].window * axes[1].window * axes[2].window; }
  int64_t area() const { return axes[0].extent * axes[1].extent * axes[2].extent; }
};

// How many windows fit; with `ceil` also one that leaves the margin behind the image, if it begins
// before that margin does. May be below 1 for an image that is too small.
int64_t window_count(const Axis &axis, bool ceil);

// The windows [begin, end) of an axis whose element `k` lies inside the image.
struct Span {
  int64_t begin, end;
};
Span windows_inside(const Axis &axis, int64_t k);

// A tensor (n, channels, ...) or (channels, ...) with the dimensions it lacks put in; strides in
// elements.
struct Image {
  char *data = nullptr;
  aclDataType dtype = ACL_DT_UNDEFINED;
  int64_t batch = 1, channels = 1, extent[kAxes] = {1, 1, 1};
  int64_t batch_stride = 0, channel_stride = 0, stride[kAxes] = {};

  char *at(int64_t n, int64_t channel) const {
    return data + (n * batch_stride + channel * channel_stride) * item_size(dtype);
  }
  int64_t area() const { return extent[0] * extent[1] * extent[2]; }
  View plane(int64_t n, int64_t channel) const;
  // Whether a plane can be walked with one step, and that step.
  bool even(int64_t *step) const;
};
Image image_of(const View &view, int spatial);

// (n, sizes, channels), as the formats NHWC and NDHWC have it, seen as (n, channels, sizes).
bool channels_last(aclFormat format);
View channels_first(View view, aclFormat format);

// A view of as many elements seen in the shape a result is expected to have.
View in_shape(View view, const Layout &expected);

// A dense copy in another dtype, or the same; the memory is the caller's.
View dense_as(const View &view, aclDataType dtype, std::unique_ptr<char[]> *memory,
              bool copy = true);

// Checks of phase one.
// The array has one of these lengths.
Check &length_in(Check &check, const char *name, const aclIntArray *array,
                 std::initializer_list<size_t> lengths);
// Each value is at least `lowest`, and small enough that no product of a few of them overflows.
Check &values_from(Check &check, const char *name, const aclIntArray *array, int64_t lowest);
Check &format_in(Check &check, const char *name, const aclTensor *tensor,
                 std::initializer_list<aclFormat> formats);
// The result has one element where one is expected, whatever its rank, else the very shape.
Check &shape_or_one(Check &check, const char *name, const aclTensor *tensor,
                    const Layout &expected);
// The result has the format of self.
Check &same_format(Check &check, const char *name, const aclTensor *tensor, const aclTensor *self);
// No dimension but the batch may be empty.
Check &only_batch_empty(Check &check, const char *name, const aclTensor *tensor, int spatial);

}  // namespace emu
