// SPDX-License-Identifier: Apache-2.0
// The extremes of dense elements, compiled once per instruction set. A NaN is more extreme than any
// number, and of equal elements the first counts: zeros have two signs.
#pragma once

#include <cstdint>
#include <type_traits>

namespace emu {

template <class T>
struct Extremes {
  // so_far[i] becomes the greatest (least) element of row i if that is greater (less) or NaN, and
  // so_far[i] is not NaN. Row i is the elements from x + i * length on.
  void (*greatest)(const T *x, int64_t rows, int64_t length, T *so_far);
  void (*least)(const T *x, int64_t rows, int64_t length, T *so_far);
  // places[i] becomes the place in row i of its first NaN, else of its first greatest (least)
  // element.
  void (*place_greatest)(const T *x, int64_t rows, int64_t length, int64_t *places);
  void (*place_least)(const T *x, int64_t rows, int64_t length, int64_t *places);
  // As greatest and least of columns: element c of row r is x[r * step + c].
  void (*raise)(T *so_far, const T *x, int64_t rows, int64_t step, int64_t count);
  void (*lower)(T *so_far, const T *x, int64_t rows, int64_t step, int64_t count);
};

struct ExtremeKernels {
  Extremes<float> floats;
  Extremes<double> doubles;
  Extremes<int8_t> bytes;
  Extremes<uint8_t> unsigned_bytes;
  Extremes<int16_t> shorts;
  Extremes<int32_t> ints;
  Extremes<int64_t> longs;
};

const ExtremeKernels &extreme_kernels();

template <class T>
inline constexpr bool has_extremes =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int8_t> ||
    std::is_same_v<T, uint8_t> || std::is_same_v<T, int16_t> || std::is_same_v<T, int32_t> ||
    std::is_same_v<T, int64_t>;

template <class T>
const Extremes<T> &extremes_of() {
  static_assert(has_extremes<T>);
  const ExtremeKernels &kernels = extreme_kernels();
  if constexpr (std::is_same_v<T, float>) return kernels.floats;
  else if constexpr (std::is_same_v<T, double>) return kernels.doubles;
  else if constexpr (std::is_same_v<T, int8_t>) return kernels.bytes;
  else if constexpr (std::is_same_v<T, uint8_t>) return kernels.unsigned_bytes;
  else if constexpr (std::is_same_v<T, int16_t>) return kernels.shorts;
  else if constexpr (std::is_same_v<T, int32_t>) return kernels.ints;
  else return kernels.longs;
}

}  // namespace emu
