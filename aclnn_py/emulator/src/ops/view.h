// SPDX-License-Identifier: Apache-2.0
// Elements in device memory as a kernel sees them, read and written in blocks whatever their
// strides.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "meta/tensor.h"
#include "ops/convert.h"
#include "ops/layout.h"

namespace emu {

struct View {
  char *data = nullptr;  // element 0: the tensor's address plus its offset
  aclDataType dtype = ACL_DT_UNDEFINED;
  Layout layout;

  int64_t count() const { return layout.count(); }
};

// The layout a tensor's shape and strides describe.
Layout layout_of(const aclTensor &tensor);
// The tensor's elements. Made inside the kernel: addresses may be bound anew between runs.
View view_of(const aclTensor &tensor);
// The tensor's elements repeated to the shape of `target`.
View view_of(const aclTensor &tensor, const Layout &target);

// Calls f(offset, step, length) for the elements [start, start + count) of a coalesced layout in
// row-major order; offset and step in elements, the pieces follow each other.
template <class F>
void for_each_run(const Layout &layout, int64_t start, int64_t count, F &&f) {
  if (layout.rank == 0) {
    if (count > 0) f(int64_t{0}, int64_t{0}, count);
    return;
  }
  const int last = layout.rank - 1;
  const int64_t width = layout.shape[last], step = layout.stride[last];
  int64_t index[kMaxRank];
  int64_t rest = start / width, column = start % width, offset = 0;
  for (int d = last - 1; d >= 0; --d) {
    index[d] = rest % layout.shape[d];
    rest /= layout.shape[d];
    offset += index[d] * layout.stride[d];
  }
  while (count > 0) {
    const int64_t length = count < width - column ? count : width - column;
    f(offset + column * step, step, length);
    count -= length;
    column = 0;
    for (int d = last - 1; d >= 0 && count > 0; --d) {
      offset += layout.stride[d];
      if (++index[d] < layout.shape[d]) break;
      offset -= layout.stride[d] * layout.shape[d];
      index[d] = 0;
    }
  }
}

// One operand of a block loop: reads its elements [start, start + count) as the compute type of
// `via` (the dtype the operator computes in), rounded to it.
class Reader {
 public:
  Reader() = default;
  Reader(const View &view, aclDataType via);
  // Points into memory where the elements lie ready there, else fills `scratch` and returns it.
  // count <= kBlock.
  const void *read(int64_t start, int64_t count, void *scratch) const;

 private:
  View view_;
  aclDataType via_ = ACL_DT_UNDEFINED;
  int64_t size_ = 0;
  bool direct_ = false;
};

// The result of a block loop: takes blocks of compute type `have`, rounds them to `via` (the dtype
// the operator computes in; ACL_DT_UNDEFINED: no rounding of its own) and then to the view's dtype.
class Writer {
 public:
  Writer() = default;
  Writer(const View &view, Compute have, aclDataType via);
  // Where the kernel may put its block: the memory itself where that is right, else `scratch`.
  void *target(int64_t start, void *scratch) const;
  // Stores a block, unless it is the one that target() put into the memory itself.
  void write(int64_t start, int64_t count, const void *block) const;

 private:
  View view_;
  Compute have_ = Compute::F32;
  aclDataType via_ = ACL_DT_UNDEFINED;
  int64_t size_ = 0;
  bool direct_ = false;
};

// Copies elements between two views of one shape, converting the dtype. Their memory must not
// overlap unless both are the same elements in the same order.
void copy_view(const View &from, const View &to);

// Sets every element to the bytes at `item`, which has the view's dtype.
void fill_view(const View &view, const void *item);
// Copies lines along the last dimension, each with `front` times `item` before it and `back` times
// behind it: those of `to` are longer by so many elements. The memory must not overlap. Returns
// false, and does nothing, where a line has gaps or is so long that margins are better filled
// alone.
bool copy_with_margins(const View &from, const View &to, int64_t front, int64_t back,
                       const void *item);

// Whether the views share bytes in any other way than being the very same elements in the same
// order.
bool clash(const View &a, const View &b);

// A dense copy of a view in memory of its own, for operands that a result would overwrite too
// early.
class Snapshot {
 public:
  explicit Snapshot(const View &view);
  const View &view() const { return view_; }

 private:
  std::unique_ptr<char[]> memory_;
  View view_;
};

// Whether the last dimension leads across memory in which the elements of another one lie closer
// together: elements that follow each other are far apart.
bool leads_across(const Layout &layout);

// The view itself, or a dense copy where reading its rows one after the other would read memory
// many times.
class TurnedSource {
 public:
  explicit TurnedSource(const View &view);
  const View &view() const { return view_; }

 private:
  std::optional<Snapshot> copy_;
  View view_;
};

// The same for a view that is written: what lies in its place is copied there at the end.
class TurnedTarget {
 public:
  explicit TurnedTarget(const View &view);
  const View &view() const { return dense_; }
  void finish() const;

 private:
  std::unique_ptr<char[]> memory_;
  View view_, dense_;
};

}  // namespace emu
