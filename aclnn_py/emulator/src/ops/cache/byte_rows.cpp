// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/cache/byte_rows.h"

#include <cstring>

namespace emu {
namespace {

constexpr int kNibble = 4;

// f gets the bytes of one element as a constant, so that its copies become moves.
template <class F>
void with_item(int64_t item, F &&f) {
  switch (item) {
    case 1: return f(std::integral_constant<size_t, 1>());
    case 2: return f(std::integral_constant<size_t, 2>());
    case 4: return f(std::integral_constant<size_t, 4>());
    default: return f(std::integral_constant<size_t, 8>());
  }
}

}  // namespace

View bytes_of(const aclTensor &tensor) {
  if (dtype_bits(tensor.dtype) != kNibble) return view_of(tensor);
  View view;
  view.dtype = ACL_UINT8;
  view.data = static_cast<char *>(tensor.data) + tensor.offset / 2;
  Layout shape = layout_of(tensor);
  if (shape.rank > 0) shape.shape[shape.rank - 1] /= 2;
  view.layout = dense_like(shape);
  return view;
}

Check &check_nibbles(Check &check, const char *parameter, const aclTensor *tensor) {
  if (!check.ok() || tensor == nullptr || dtype_bits(tensor->dtype) != kNibble) return check;
  const Layout layout = layout_of(*tensor);
  return check.that(layout.is_dense() && tensor->offset % 2 == 0 && layout.rank > 0 &&
                        layout.shape[layout.rank - 1] % 2 == 0,
                    "%s has dtype %s; then it must be contiguous, start at a whole byte and have "
                    "an even last dimension",
                    parameter, dtype_name(tensor->dtype));
}

ByteRows::ByteRows(const View &view, int outer) : data_(view.data), item_(item_size(view.dtype)) {
  for (int d = 0; d < view.layout.rank; ++d)
    (d < outer ? rows_ : row_).push(view.layout.shape[d], view.layout.stride[d]);
  dense_ = row_.is_dense();
  row_ = coalesced(row_);
}

char *ByteRows::at(int64_t row) const {
  int64_t offset = 0;
  for (int d = rows_.rank - 1; d >= 0; --d) {
    offset += row % rows_.shape[d] * rows_.stride[d];
    row /= rows_.shape[d];
  }
  return data_ + offset * item_;
}

const char *ByteRows::read(int64_t row, char *scratch) const {
  const char *from = at(row);
  if (dense_) return from;
  with_item(item_, [&](auto item) {
    char *to = scratch;
    for_each_run(row_, 0, row_.count(), [&](int64_t offset, int64_t step, int64_t run) {
      for (int64_t i = 0; i < run; ++i, offset += step, to += item)
        std::memcpy(to, from + offset * static_cast<int64_t>(item()), item());
    });
  });
  return scratch;
}

void ByteRows::write(int64_t row, const char *from) const {
  char *to = at(row);
  if (dense_) {
    std::memcpy(to, from, static_cast<size_t>(bytes()));
    return;
  }
  with_item(item_, [&](auto item) {
    for_each_run(row_, 0, row_.count(), [&](int64_t offset, int64_t step, int64_t run) {
      for (int64_t i = 0; i < run; ++i, offset += step, from += item)
        std::memcpy(to + offset * static_cast<int64_t>(item()), from, item());
    });
  });
}

void ByteRows::write(int64_t row, const char *from, PastCaches *copies) const {
  if (!dense_) return write(row, from);
  copies->copy(at(row), from, static_cast<size_t>(bytes()));
}

}  // namespace emu
