// SPDX-License-Identifier: Apache-2.0
// One entry of the ascending order of a row, without sorting the row.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace emu {

namespace selection_detail {

// Counted in the width of an element, so that the compiler makes vectors.
template <class T>
using Count = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
constexpr int64_t kCounted = int64_t{1} << 20;

template <class T, class F>
int64_t count_where(const T *values, int64_t count, F &&chosen) {
  int64_t total = 0;
  for (int64_t start = 0; start < count; start += kCounted) {
    const int64_t end = std::min(start + kCounted, count);
    Count<T> part = 0;
    for (int64_t i = start; i < end; ++i) part += chosen(values[i]) ? 1 : 0;
    total += part;
  }
  return total;
}

// Puts the chosen ones side by side, without a branch; `to` may be `values`.
template <class T, class F>
int64_t keep_where(const T *values, int64_t count, T *to, F &&chosen) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const T value = values[i];
    to[kept] = value;
    kept += chosen(value) ? 1 : 0;
  }
  return kept;
}

}  // namespace selection_detail

// The number at `rank` of the ascending order of numbers, none of them NaN. `scratch` has room for
// all. Two numbers of a small sample enclose it as a rule: most of the row is only counted.
template <class T>
T number_at(const T *numbers, int64_t count, int64_t rank, T *scratch) {
  using selection_detail::count_where;
  using selection_detail::keep_where;
  constexpr int64_t kSample = 32, kApart = 5, kFew = 128;
  const T *from = numbers;
  while (count > kFew) {
    T sample[kSample];
    for (int64_t i = 0; i < kSample; ++i) sample[i] = from[i * count / kSample];
    std::sort(sample, sample + kSample);
    const int64_t middle = rank * kSample / count;
    const T low = sample[std::max<int64_t>(middle - kApart, 0)],
            high = sample[std::min(middle + kApart, kSample - 1)];
    const int64_t below = count_where(from, count, [=](T v) { return v < low; }),
                  within = count_where(from, count, [=](T v) { return v <= high; }) - below;
    int64_t kept = 0;
    if (rank < below) {
      kept = keep_where(from, count, scratch, [=](T v) { return v < low; });
    } else if (rank >= below + within) {
      kept = keep_where(from, count, scratch, [=](T v) { return v > high; });
      rank -= below + within;
    } else if (low == high) {
      return low;
    } else {
      kept = keep_where(from, count, scratch, [=](T v) { return (v >= low) & (v <= high); });
      rank -= below;
    }
    const bool slow = kept > count / 4 * 3;  // many are equal
    from = scratch;
    count = kept;
    if (slow) break;
  }
  if (from == numbers) std::copy(numbers, numbers + count, scratch);
  std::nth_element(scratch, scratch + rank, scratch + count);
  return scratch[rank];
}

// The place of the entry at `rank` of the ascending order, in which equal entries are in the order
// of their places and NaN counts as the greatest value.
template <class T>
int64_t place_of_rank(const T *values, int64_t width, int64_t rank, T *scratch) {
  using selection_detail::count_where;
  const auto nth = [&](int64_t among, auto &&chosen) {  // of the chosen ones, counted from 0
    constexpr int64_t kStep = 64;
    int64_t at = 0;
    for (; at + kStep <= width; at += kStep) {
      const int64_t here = count_where(values + at, kStep, chosen);
      if (among < here) break;
      among -= here;
    }
    while (!chosen(values[at]) || among-- > 0) ++at;
    return at;
  };
  const int64_t numbers = count_where(values, width, [](T v) { return v == v; });
  if (rank >= numbers) return nth(rank - numbers, [](T v) { return v != v; });
  const T *from = values;
  if (numbers < width) {
    selection_detail::keep_where(values, width, scratch, [](T v) { return v == v; });
    from = scratch;
  }
  const T found = number_at(from, numbers, rank, scratch);
  const int64_t below = count_where(values, width, [=](T v) { return v < found; });
  return nth(rank - below, [=](T v) { return v == found; });
}

}  // namespace emu
