// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/window/geometry.h"

#include <algorithm>

namespace emu {
namespace {

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

std::string number_list(std::initializer_list<size_t> numbers) {
  std::string text;
  for (const size_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

}  // namespace

int64_t window_count(const Axis &axis, bool ceil) {
  const int64_t room = axis.extent + axis.before + axis.after - axis.spread * (axis.window - 1) - 1;
  const int64_t count = floor_div(room + (ceil ? axis.step - 1 : 0), axis.step) + 1;
  return ceil && (count - 1) * axis.step >= axis.extent + axis.before ? count - 1 : count;
}

Span windows_inside(const Axis &axis, int64_t k) {
  // Element k of window i lies at i * step - shift.
  const int64_t shift = axis.before - k * axis.spread;
  const auto first_at = [&](int64_t place) {
    return place <= 0 ? 0 : std::min(axis.count, (place + axis.step - 1) / axis.step);
  };
  return {first_at(shift), first_at(axis.extent + shift)};
}

View Image::plane(int64_t n, int64_t channel) const {
  View view;
  view.data = at(n, channel);
  view.dtype = dtype;
  for (int d = 0; d < kAxes; ++d) view.layout.push(extent[d], stride[d]);
  return view;
}

bool Image::even(int64_t *step) const {
  const Layout merged = coalesced(plane(0, 0).layout);
  *step = merged.rank == 0 ? 1 : merged.stride[0];
  return merged.rank <= 1;
}

Image image_of(const View &view, int spatial) {
  Image image;
  image.data = view.data;
  image.dtype = view.dtype;
  const Layout &l = view.layout;
  const int channel = l.rank - spatial - 1;
  if (channel > 0) {
    image.batch = l.shape[0];
    image.batch_stride = l.stride[0];
  }
  image.channels = l.shape[channel];
  image.channel_stride = l.stride[channel];
  for (int d = 0; d < spatial; ++d) {
    image.extent[kAxes - spatial + d] = l.shape[channel + 1 + d];
    image.stride[kAxes - spatial + d] = l.stride[channel + 1 + d];
  }
  return image;
}

bool channels_last(aclFormat format) {
  return format == ACL_FORMAT_NHWC || format == ACL_FORMAT_NDHWC;
}

View channels_first(View view, aclFormat format) {
  if (!channels_last(format)) return view;
  const Layout last = view.layout;
  view.layout = Layout();
  view.layout.push(last.shape[0], last.stride[0]);
  view.layout.push(last.shape[last.rank - 1], last.stride[last.rank - 1]);
  for (int d = 1; d + 1 < last.rank; ++d) view.layout.push(last.shape[d], last.stride[d]);
  return view;
}

View in_shape(View view, const Layout &expected) {
  // Other shapes are those of one element, which has no strides.
  if (!same_shape(view.layout, expected)) view.layout = dense_like(expected);
  return view;
}

View dense_as(const View &view, aclDataType dtype, std::unique_ptr<char[]> *memory, bool copy) {
  View dense = view;
  dense.dtype = dtype;
  dense.layout = dense_like(view.layout);
  memory->reset(new char[static_cast<size_t>(view.count() * item_size(dtype)) + 1]);
  dense.data = memory->get();
  if (copy) copy_view(view, dense);
  return dense;
}

Check &length_in(Check &check, const char *name, const aclIntArray *array,
                 std::initializer_list<size_t> lengths) {
  const size_t given = array->values.size();
  return check.that(std::find(lengths.begin(), lengths.end(), given) != lengths.end(),
                    "%s has %zu values; allowed: %s", name, given, number_list(lengths).c_str());
}

Check &values_from(Check &check, const char *name, const aclIntArray *array, int64_t lowest) {
  constexpr int64_t kHighest = INT32_MAX;
  for (const int64_t value : array->values) {
    check.that(value >= lowest && value <= kHighest, "%s has the value %lld; allowed: %lld to %lld",
               name, static_cast<long long>(value), static_cast<long long>(lowest),
               static_cast<long long>(kHighest));
  }
  return check;
}

Check &format_in(Check &check, const char *name, const aclTensor *tensor,
                 std::initializer_list<aclFormat> formats) {
  std::string allowed;
  for (const aclFormat format : formats) {
    if (format == tensor->format) return check;
    allowed += (allowed.empty() ? "" : ", ") + std::string(format_name(format));
  }
  return check.that(false, "%s has format %s; with %zu dimensions allowed: %s", name,
                    format_name(tensor->format), tensor->rank(), allowed.c_str());
}

Check &shape_or_one(Check &check, const char *name, const aclTensor *tensor,
                    const Layout &expected) {
  if (!check.ok() || (tensor->numel() == 1 && expected.count() == 1)) return check;
  return check.shape(name, tensor, expected);
}

Check &same_format(Check &check, const char *name, const aclTensor *tensor, const aclTensor *self) {
  return check.that(tensor->format == self->format,
                    "%s has format %s; it must have that of self, %s", name,
                    format_name(tensor->format), format_name(self->format));
}

Check &only_batch_empty(Check &check, const char *name, const aclTensor *tensor, int spatial) {
  for (size_t d = tensor->rank() - static_cast<size_t>(spatial) - 1; d < tensor->rank(); ++d) {
    check.that(tensor->shape[d] > 0, "%s has shape %s; only the batch may be empty", name,
               shape_text(layout_of(*tensor)).c_str());
  }
  return check;
}

}  // namespace emu
