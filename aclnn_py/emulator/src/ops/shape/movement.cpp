// SPDX-License-Identifier: Apache-2.0
#include "ops/shape/movement.h"

namespace emu {

void move_view(const View &from, const View &to) {
  if (!clash(from, to)) return copy_view(from, to);
  const Snapshot aside(from);
  copy_view(aside.view(), to);
}

void fill_zero(const View &view) {
  static char zeros[16] = {};
  View zero = view;
  zero.data = zeros;
  for (int d = 0; d < zero.layout.rank; ++d) zero.layout.stride[d] = 0;
  copy_view(zero, view);
}

void fill_scalar(const View &view, const aclScalar &value) {
  aclScalar copy = value;
  alignas(16) char element[16] = {};
  View source;
  source.data = reinterpret_cast<char *>(copy.value);
  source.dtype = copy.dtype;
  View converted;
  converted.data = element;
  converted.dtype = view.dtype;
  copy_view(source, converted);
  converted.layout = view.layout;
  for (int d = 0; d < converted.layout.rank; ++d) converted.layout.stride[d] = 0;
  copy_view(converted, view);
}

View narrowed(const View &view, int dim, int64_t start, int64_t length, int64_t step) {
  View part = view;
  // Phase one narrows layouts that have no memory.
  if (length > 0 && part.data != nullptr) {
    part.data += start * view.layout.stride[dim] * item_size(view.dtype);
  }
  part.layout.shape[dim] = length;
  // A single element has no next one, however far that would be.
  part.layout.stride[dim] = length > 1 ? view.layout.stride[dim] * step : view.layout.stride[dim];
  return part;
}

View selected(const View &view, int dim, int64_t index) {
  View part = view;
  part.data += index * view.layout.stride[dim] * item_size(view.dtype);
  part.layout = Layout();
  for (int d = 0; d < view.layout.rank; ++d) {
    if (d != dim) part.layout.push(view.layout.shape[d], view.layout.stride[d]);
  }
  return part;
}

View reshaped(const View &dense, const Layout &shape) {
  View view = dense;
  view.layout = dense_like(shape);
  return view;
}

Check &movable(Check &check, const char *parameter, const aclTensor *tensor) {
  if (!check.ok() || tensor == nullptr) return check;
  return check.that(item_size(tensor->dtype) > 0,
                    "%s has dtype %s, whose elements are not whole bytes", parameter,
                    dtype_name(tensor->dtype));
}

Check &dimension(Check &check, const char *parameter, int64_t dim, const char *tensor_name,
                 size_t rank, int *axis) {
  return check.that(wrap_dim(dim, static_cast<int>(rank), axis),
                    "%s is %lld; %s has %zu dimensions", parameter, static_cast<long long>(dim),
                    tensor_name, rank);
}

}  // namespace emu
