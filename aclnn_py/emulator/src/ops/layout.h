// SPDX-License-Identifier: Apache-2.0
// Shapes with strides, apart from any memory: broadcasting, coalescing and overlap.
#pragma once

#include <cstdint>
#include <string>

#include "core/checked.h"

namespace emu {

// Tensors have at most 8 dimensions; engines that split dimensions need a few more.
constexpr int kMaxRank = 16;

// Extents and strides in elements. A plain value without heap memory.
struct Layout {
  int rank = 0;
  int64_t shape[kMaxRank] = {};
  int64_t stride[kMaxRank] = {};

  // The number of elements: 1 for rank 0, kUncountable for more than 64 bits can count.
  int64_t count() const { return count_of(shape, static_cast<size_t>(rank)); }
  bool is_dense() const;  // row-major without gaps
  void push(int64_t extent, int64_t step);
};

bool same_shape(const Layout &a, const Layout &b);
// "(2, 3)". Messages name shapes everywhere, so this needs no heap, and no code to free it behind
// each of them; what has more dimensions than a tensor can have ends in "...".
class ShapeText {
 public:
  ShapeText(const int64_t *shape, int rank);
  const char *c_str() const { return text_; }
  operator std::string() const { return text_; }  // NOLINT: implicit on purpose, it is a text

 private:
  static constexpr int kLongest = 22;  // "-9223372036854775808, "
  char text_[kMaxRank * kLongest + 8];
};

inline ShapeText shape_text(const int64_t *shape, int rank) { return {shape, rank}; }
inline ShapeText shape_text(const Layout &layout) { return {layout.shape, layout.rank}; }
// What %lld of a message takes.
inline long long wide(int64_t value) { return value; }

// Row-major strides for the shape of `like`.
Layout dense_like(const Layout &like);
Layout dense_layout(const int64_t *shape, int rank);

// The shape two operands meet in (row-major strides); false when they do not broadcast.
bool broadcast_shapes(const Layout &a, const Layout &b, Layout *result);
// `layout` seen with the shape of `target`: repeated dimensions get stride 0. The shape must
// broadcast.
Layout broadcast_to(const Layout &layout, const Layout &target);

// The same elements in the same order with as few dimensions as possible: no extents of 1,
// neighbours that can be walked as one merged.
Layout coalesced(const Layout &layout);

// Lowest and highest element offset reached. Only for layouts with elements.
struct Extent {
  int64_t lowest, highest;
};
Extent extent_of(const Layout &layout);

// Whether two indices may name one element. May say true for exotic strides that do not overlap.
bool overlaps_itself(const Layout &layout);

}  // namespace emu
