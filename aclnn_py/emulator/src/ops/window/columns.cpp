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
void copy_line(const char *from, int64_t step, E *to, int64_t count) {
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
        copy_line(element.plane + place * static_cast<int64_t>(sizeof(E)), step,
                  to + (begin - column), end - begin);
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

// Neighbouring elements of the image are neighbours among the windows of a row, and so are its
// rows: an element of all windows is the image, moved.
bool moves_whole(const Image &image, const Windows &windows) {
  const Axis &rows = windows.axes[1], &columns = windows.axes[2];
  return windows.axes[0].count == 1 && rows.step == 1 && columns.step == 1 &&
         image.stride[2] == 1 && image.stride[1] == columns.count &&
         image.extent[2] == columns.count;
}

// As unfold_row, of `lines` whole rows of windows.
template <class E>
void move_row(const Image &image, const Windows &windows, const Element &element, int64_t first,
              int64_t lines, E *to) {
  const Axis &slices = windows.axes[0], &rows = windows.axes[1], &columns = windows.axes[2];
  const Span across = windows_inside(columns, element.k[2]),
             deep = windows_inside(slices, element.k[0]);
  Span down = windows_inside(rows, element.k[1]);
  const int64_t width = columns.count;
  down.begin = std::clamp(down.begin - first, int64_t{0}, lines);
  down.end = std::clamp(down.end - first, down.begin, lines);
  if (across.begin >= across.end || deep.begin >= deep.end) down.end = down.begin;
  std::fill(to, to + down.begin * width, E{});
  std::fill(to + down.end * width, to + lines * width, E{});
  if (down.begin == down.end) return;
  const int64_t begin = down.begin * width + across.begin,
                end = (down.end - 1) * width + across.end;
  const int64_t place = (element.k[0] * slices.spread - slices.before) * image.stride[0] +
                        (first + element.k[1] * rows.spread - rows.before) * width +
                        element.k[2] * columns.spread - columns.before;
  std::memcpy(to + begin, reinterpret_cast<const E *>(element.plane) + place + begin,
              static_cast<size_t>(end - begin) * sizeof(E));
  // The ends of the rows have what lies at the other side.
  const auto clear = [=](int64_t x) {
    for (int64_t y = down.begin; y < down.end; ++y) to[y * width + x] = E{};
  };
  for (int64_t x = 0; x < across.begin; ++x) clear(x);
  for (int64_t x = across.end; x < width; ++x) clear(x);
}

template <class E>
void unfold_rows(const Image &image, int64_t n, const Windows &windows, int64_t first_row,
                 int64_t last_row, int64_t first, int64_t count, char *to, int64_t row_step) {
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, count));
  const int64_t width = windows.axes[2].count;
  const bool moves =
      width > 0 && first % width == 0 && count % width == 0 && moves_whole(image, windows);
  parallel_for(last_row - first_row, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      E *const line = reinterpret_cast<E *>(to) + i * row_step;
      Element element{};
      int64_t row = first_row + i;
      for (int d = kAxes - 1; d >= 0; --d) {
        element.k[d] = row % windows.axes[d].window;
        row /= windows.axes[d].window;
      }
      element.plane = image.at(n, row);
      if (moves) move_row(image, windows, element, first / width, count / width, line);
      else unfold_row(image, windows, element, first, count, line);
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
