// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/axes.h"

#include <algorithm>
#include <cstdlib>

namespace emu {
namespace {

bool has(AxisSet axes, int d) { return ((axes >> d) & 1u) != 0; }

void append(Layout *to, const Layout &from, AxisSet axes, bool reduced) {
  for (int d = 0; d < from.rank; ++d) {
    if (has(axes, d) == reduced) to->push(from.shape[d], from.stride[d]);
  }
}

// The smallest step among the kept or the reduced dimensions.
int64_t smallest_step(const Layout &in, AxisSet axes, bool reduced) {
  int64_t smallest = INT64_MAX;
  for (int d = 0; d < in.rank; ++d) {
    if (has(axes, d) == reduced && in.shape[d] > 1)
      smallest = std::min<int64_t>(smallest, std::abs(in.stride[d]));
  }
  return smallest;
}

}  // namespace

AxisSet all_axes(int rank) { return (AxisSet{1} << rank) - 1; }

AxisSet axis_of(Check &check, const char *parameter, int64_t dim, int rank) {
  int wrapped = 0;
  const bool inside = wrap_dim(dim, rank, &wrapped);
  check.that(inside, "%s is %lld; allowed: %d to %d", parameter, static_cast<long long>(dim),
             rank == 0 ? -1 : -rank, rank == 0 ? 0 : rank - 1);
  return rank == 0 ? 0 : AxisSet{1} << wrapped;
}

AxisSet axes_of(Check &check, const char *parameter, const aclIntArray *dims, int rank,
                bool empty_is_none) {
  if (dims == nullptr || dims->values.empty()) return empty_is_none ? 0 : all_axes(rank);
  AxisSet axes = 0;
  for (const int64_t dim : dims->values) {
    const AxisSet one = axis_of(check, parameter, dim, rank);
    check.that((axes & one) == 0, "%s names dimension %lld twice", parameter,
               static_cast<long long>(dim));
    if (!check.ok()) return 0;
    axes |= one;
  }
  return axes;
}

Layout reduced_shape(const Layout &in, AxisSet axes, bool keep) {
  int64_t shape[kMaxRank];
  int rank = 0;
  for (int d = 0; d < in.rank; ++d) {
    if (!has(axes, d)) shape[rank++] = in.shape[d];
    else if (keep) shape[rank++] = 1;
  }
  return dense_layout(shape, rank);
}

int64_t reduced_count(const Layout &in, AxisSet axes) {
  int64_t count = 1;
  for (int d = 0; d < in.rank; ++d) {
    if (has(axes, d)) count *= in.shape[d];
  }
  return count;
}

Layout reduced_last(const Layout &in, AxisSet axes) {
  Layout result;
  append(&result, in, axes, false);
  append(&result, in, axes, true);
  return result;
}

Layout reduced_first(const Layout &in, AxisSet axes) {
  Layout result;
  append(&result, in, axes, true);
  append(&result, in, axes, false);
  return result;
}

bool leads_to_next(const Layout &in, AxisSet axes) {
  return smallest_step(in, axes, false) < smallest_step(in, axes, true);
}

}  // namespace emu
