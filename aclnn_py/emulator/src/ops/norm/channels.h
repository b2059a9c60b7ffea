// SPDX-License-Identifier: Apache-2.0
// Batch normalisation works on channels, the second dimension: the elements of one from all samples
// are a row.
#pragma once

#include "ops/shared/rows.h"

namespace emu {

// The elements of one channel of all samples, sample by sample.
inline View channel_of(const View &view, int64_t channel) {
  View part = view;
  part.layout = Layout();
  part.data += channel * view.layout.stride[1] * item_size(view.dtype);
  for (int d = 0; d < view.layout.rank; ++d) {
    if (d != 1) part.layout.push(view.layout.shape[d], view.layout.stride[d]);
  }
  return part;
}

// A number for each channel; `fallback` where the tensor is absent.
inline std::vector<double> channel_numbers(PlanContext &c, size_t index, int64_t channels,
                                           double fallback) {
  return read_all<double>(c, index, channels, fallback);
}

// Into a tensor that may be absent.
inline void store_channels(PlanContext &c, size_t index, const std::vector<double> &values) {
  if (!c.has(index)) return;
  RowTarget<double>(view_of(c.tensor(index)))
      .write(0, static_cast<int64_t>(values.size()), values.data());
}

// Tensors of at least two dimensions, the channel in second place.
inline Check &check_channels(Check &check, const char *name, const aclTensor *tensor) {
  check.plain_format(name, tensor).rank(name, tensor, 2, 8);
  if (!check.ok()) return check;
  return check.that(tensor->format != ACL_FORMAT_NHWC && tensor->format != ACL_FORMAT_NDHWC,
                    "%s has format %s; the channel must be the second dimension", name,
                    format_name(tensor->format));
}

inline Check &check_some_channels(Check &check, const char *name, const aclTensor *tensor) {
  if (!check.ok()) return check;
  return check.that(tensor->shape[1] > 0, "%s has no channels; the second dimension is 0", name);
}

// One number for each channel, in one dimension. An absent tensor passes.
inline Check &check_per_channel(Check &check, const char *name, const aclTensor *tensor,
                                int64_t channels) {
  if (tensor == nullptr || !check.ok()) return check;
  return check.shape(name, tensor, dense_layout(&channels, 1));
}

}  // namespace emu
