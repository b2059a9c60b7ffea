// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/window/columns.h"
#include "core/pool.h"

#include <algorithm>
#include <cstring>

namespace emu {
namespace {

// Element (k0, k1, k2) of the windows of one channel.
struct Element {
  const char *plane;
  int64_t k[kAxes];
};

template <class E>
void line(const char *from, int64_t step, E *to, int64_t count) {
  if (step == 1) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(E));
    return;
  }
  const E *read = reinterpret_cast<const E *>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = read[i * step];
}

template <class E>
void unfold_row(const Image &image, const Windows &windows, const Element &element, int64_t first,
                int64_t count, E *to) {
  const Axis &rows = windows.axes[1], &columns = windows.axes[2], &slices = windows.axes[0];
  const Span across = windows_inside(columns, element.k[2]),
             down = windows_inside(rows, element.k[1]), deep = windows_inside(slices, element.k[0]);
  int64_t slice = first / columns.count / rows.count, row = first / columns.count % rows.count,
          column = first % columns.count;
  const int64_t step = columns.step * image.stride[2];
  while (count > 0) {
    const int64_t run = std::min(count, columns.count - column);
    if (slice < deep.begin || slice >= deep.end || row < down.begin || row >= down.end) {
      std::fill(to, to + run, E{});
    } else {
      const int64_t begin = std::clamp(across.begin, column, column + run),
                    end = std::clamp(across.end, begin, column + run);
      const int64_t place =
          (slice * slices.step + element.k[0] * slices.spread - slices.before) * image.stride[0] +
          (row * rows.step + element.k[1] * rows.spread - rows.before) * image.stride[1] +
          (begin * columns.step + element.k[2] * columns.spread - columns.before) * image.stride[2];
      std::fill(to, to + (begin - column), E{});
      if (end > begin) {
        line(element.plane + place * static_cast<int64_t>(sizeof(E)), step, to + (begin - column),
             end - begin);
      }
      std::fill(to + (end - column), to + run, E{});
    }
    to += run;
    count -= run;
    column = 0;
    if (++row == rows.count) {
      row = 0;
      ++slice;
    }
  }
}

template <class E>
void unfold_rows(const Image &image, int64_t n, const Windows &windows, int64_t first_row,
                 int64_t last_row, int64_t first, int64_t count, char *to, int64_t row_step) {
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, count));
  parallel_for(last_row - first_row, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Element element{};
      int64_t row = first_row + i;
      for (int d = kAxes - 1; d >= 0; --d) {
        element.k[d] = row % windows.axes[d].window;
        row /= windows.axes[d].window;
      }
      element.plane = image.at(n, row);
      unfold_row(image, windows, element, first, count, reinterpret_cast<E *>(to) + i * row_step);
    }
  });
}

}  // namespace

void unfold(const Image &image, int64_t n, const Windows &windows, int64_t first_row,
            int64_t last_row, int64_t first, int64_t count, char *to, int64_t row_step) {
  const auto rows = [&](auto item) {
    unfold_rows<decltype(item)>(image, n, windows, first_row, last_row, first, count, to, row_step);
  };
  switch (item_size(image.dtype)) {
    case 1: return rows(uint8_t{});
    case 2: return rows(uint16_t{});
    case 4: return rows(uint32_t{});
    default: return rows(uint64_t{});
  }
}

template <class T>
void fold_add(const T *columns, int64_t row_step, const Windows &windows, int64_t first_line,
              int64_t lines, T *plane, const T *weights) {
  const Axis &slices = windows.axes[0], &rows = windows.axes[1], &across = windows.axes[2];
  for (int64_t k = 0; k < windows.elements(); ++k) {
    const int64_t k2 = k % across.window, k1 = k / across.window % rows.window,
                  k0 = k / across.window / rows.window;
    const Span inside = windows_inside(across, k2), down = windows_inside(rows, k1),
               deep = windows_inside(slices, k0);
    const T *from = columns + k * row_step;
    const T weight = weights == nullptr ? T{1} : weights[k];
    for (int64_t i = 0; i < lines; ++i, from += across.count) {
      const int64_t slice = (first_line + i) / rows.count, row = (first_line + i) % rows.count;
      if (slice < deep.begin || slice >= deep.end || row < down.begin || row >= down.end) continue;
      const int64_t z = slice * slices.step + k0 * slices.spread - slices.before,
                    y = row * rows.step + k1 * rows.spread - rows.before;
      const int64_t first =
          (z * rows.extent + y) * across.extent + k2 * across.spread - across.before;
      if (across.step == 1) {
        for (int64_t x = inside.begin; x < inside.end; ++x) plane[first + x] += weight * from[x];
      } else {
        for (int64_t x = inside.begin; x < inside.end; ++x)
          plane[first + x * across.step] += weight * from[x];
      }
    }
  }
}

template void fold_add(const float *, int64_t, const Windows &, int64_t, int64_t, float *,
                       const float *);
template void fold_add(const double *, int64_t, const Windows &, int64_t, int64_t, double *,
                       const double *);

}  // namespace emu
