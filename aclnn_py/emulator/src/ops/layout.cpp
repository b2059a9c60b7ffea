// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>

namespace emu {

bool Layout::is_dense() const {
  int64_t expected = 1;
  for (int d = rank - 1; d >= 0; --d) {
    if (shape[d] != 1 && stride[d] != expected) return false;
    if (!checked_mul(expected, shape[d], &expected)) return false;
  }
  return true;
}

void Layout::push(int64_t extent, int64_t step) {
  shape[rank] = extent;
  stride[rank] = step;
  ++rank;
}

bool same_shape(const Layout &a, const Layout &b) {
  return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape);
}

ShapeText::ShapeText(const int64_t *shape, int rank) {
  char *at = text_;
  *at++ = '(';
  for (int d = 0; d < std::min(rank, kMaxRank); ++d) {
    if (d > 0) at = std::copy_n(", ", 2, at);
    at = std::to_chars(at, std::end(text_), shape[d]).ptr;
  }
  const char *end = rank > kMaxRank ? ", ...)" : rank == 1 ? ",)" : ")";
  std::strcpy(at, end);
}

Layout dense_layout(const int64_t *shape, int rank) {
  Layout result;
  result.rank = rank;
  int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    result.shape[d] = shape[d];
    result.stride[d] = step;
    if (!checked_mul(step, std::max<int64_t>(shape[d], 1), &step)) step = kUncountable;
  }
  return result;
}

Layout dense_like(const Layout &like) { return dense_layout(like.shape, like.rank); }

bool broadcast_shapes(const Layout &a, const Layout &b, Layout *result) {
  const int rank = std::max(a.rank, b.rank);
  int64_t shape[kMaxRank];
  for (int d = 0; d < rank; ++d) {
    const int da = d - (rank - a.rank), db = d - (rank - b.rank);
    const int64_t extent_a = da < 0 ? 1 : a.shape[da], extent_b = db < 0 ? 1 : b.shape[db];
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1) return false;
    shape[d] = extent_a == 1 ? extent_b : extent_a;
  }
  *result = dense_layout(shape, rank);
  return true;
}

Layout broadcast_to(const Layout &layout, const Layout &target) {
  Layout result;
  result.rank = target.rank;
  const int lead = target.rank - layout.rank;
  for (int d = 0; d < target.rank; ++d) {
    result.shape[d] = target.shape[d];
    const bool repeated = d < lead || layout.shape[d - lead] != target.shape[d];
    result.stride[d] = repeated ? 0 : layout.stride[d - lead];
  }
  return result;
}

Layout coalesced(const Layout &layout) {
  Layout result;
  for (int d = 0; d < layout.rank; ++d) {
    if (layout.shape[d] == 1) continue;
    const int last = result.rank - 1;
    if (last >= 0 && result.stride[last] == layout.stride[d] * layout.shape[d]) {
      result.shape[last] *= layout.shape[d];
      result.stride[last] = layout.stride[d];
    } else {
      result.push(layout.shape[d], layout.stride[d]);
    }
  }
  return result;
}

Extent extent_of(const Layout &layout) {
  Extent extent{0, 0};
  for (int d = 0; d < layout.rank; ++d) {
    const int64_t reach = (layout.shape[d] - 1) * layout.stride[d];
    (reach < 0 ? extent.lowest : extent.highest) += reach;
  }
  return extent;
}

bool overlaps_itself(const Layout &layout) {
  // Sorted by step, each dimension must step over everything the smaller ones reach.
  std::array<std::pair<int64_t, int64_t>, kMaxRank> dims;
  int rank = 0;
  for (int d = 0; d < layout.rank; ++d) {
    if (layout.shape[d] > 1) {
      dims[static_cast<size_t>(rank++)] = {std::abs(layout.stride[d]), layout.shape[d]};
    }
  }
  std::sort(dims.begin(), dims.begin() + rank);
  int64_t reach = 0;
  for (int d = 0; d < rank; ++d) {
    const auto &[step, extent] = dims[static_cast<size_t>(d)];
    if (step <= reach) return true;
    reach += step * (extent - 1);
  }
  return false;
}

}  // namespace emu
