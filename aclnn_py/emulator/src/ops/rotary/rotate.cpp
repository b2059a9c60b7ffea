// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/rotary/rotate.h"

#include "core/chip.h"

namespace emu {

int64_t mode_of_chip(int64_t mode) { return chip_is_950() || mode == kInterleave ? mode : kHalf; }

void rotate(int64_t mode, const float *x, const float *cos, const float *sin, int64_t width,
            float *y) {
  const int64_t half = width / 2;
  switch (mode) {
    case kHalf:
      for (int64_t i = 0; i < half; ++i) {
        y[i] = x[i] * cos[i] - x[half + i] * sin[i];
        y[half + i] = x[half + i] * cos[half + i] + x[i] * sin[half + i];
      }
      return;
    case kInterleave:
      for (int64_t i = 0; i < width; i += 2) {
        y[i] = x[i] * cos[i] - x[i + 1] * sin[i];
        y[i + 1] = x[i + 1] * cos[i + 1] + x[i] * sin[i + 1];
      }
      return;
    case kQuarter:
      rotate(kHalf, x, cos, sin, half, y);
      rotate(kHalf, x + half, cos + half, sin + half, half, y + half);
      return;
    default:  // pairs lie side by side in x and half a row apart in the result
      for (int64_t i = 0; i < half; ++i) {
        y[i] = x[2 * i] * cos[i] - x[2 * i + 1] * sin[i];
        y[half + i] = x[2 * i + 1] * cos[half + i] + x[2 * i] * sin[half + i];
      }
  }
}

void rotate_back(int64_t mode, const float *dy, const float *cos, const float *sin, int64_t width,
                 float *dx) {
  const int64_t half = width / 2;
  switch (mode) {
    case kHalf:
      for (int64_t i = 0; i < half; ++i) {
        dx[i] = dy[i] * cos[i] + dy[half + i] * sin[half + i];
        dx[half + i] = dy[half + i] * cos[half + i] - dy[i] * sin[i];
      }
      return;
    case kInterleave:
      for (int64_t i = 0; i < width; i += 2) {
        dx[i] = dy[i] * cos[i] + dy[i + 1] * sin[i + 1];
        dx[i + 1] = dy[i + 1] * cos[i + 1] - dy[i] * sin[i];
      }
      return;
    case kQuarter:
      rotate_back(kHalf, dy, cos, sin, half, dx);
      rotate_back(kHalf, dy + half, cos + half, sin + half, half, dx + half);
      return;
    default:
      for (int64_t i = 0; i < half; ++i) {
        dx[2 * i] = dy[i] * cos[i] + dy[half + i] * sin[half + i];
        dx[2 * i + 1] = dy[half + i] * cos[half + i] - dy[i] * sin[i];
      }
  }
}

namespace {

using Turn = void (*)(int64_t, const float *, const float *, const float *, int64_t, float *);

void each_row(Turn turn, int64_t mode, const View &x, const View &cos, const View &sin,
              const View &out) {
  Operands operands;
  const int64_t width = x.layout.shape[x.layout.rank - 1];
  if (x.count() == 0) return;
  const RowSource<float> source(operands.safe(x, {out})), c(operands.safe(cos, {out})),
      s(operands.safe(sin, {out}));
  const RowTarget<float> target(out);
  for_each_row<float>(x.count() / width, width, 4, [&](int64_t row, float *memory) {
    float *in = memory, *cosine = memory + width, *sine = memory + 2 * width,
          *result = memory + 3 * width;
    source.read(row * width, width, in);
    c.read(row * width, width, cosine);
    s.read(row * width, width, sine);
    turn(mode, in, cosine, sine, width, result);
    target.write(row * width, width, result);
  });
}

}  // namespace

void rotate_all(int64_t mode, const View &x, const View &cos, const View &sin, const View &out) {
  each_row(&rotate, mode, x, cos, sin, out);
}

void rotate_all_back(int64_t mode, const View &dy, const View &cos, const View &sin,
                     const View &dx) {
  each_row(&rotate_back, mode, dy, cos, sin, dx);
}

void check_tables(Check &check, const char *name, const aclTensor *x, const aclTensor *cos,
                  const aclTensor *sin, int64_t mode) {
  if (!check.ok()) return;
  check.same_dtype("cos", cos->dtype, name, x->dtype).same_dtype("sin", sin->dtype, name, x->dtype);
  const Layout shape = layout_of(*x);
  check.that(shape.rank >= 2 && shape.rank <= 8, "%s has %d dimensions; allowed: 2 to 8", name,
             shape.rank);
  if (!check.ok()) return;
  const int64_t width = shape.shape[shape.rank - 1], unit = mode == kQuarter ? 4 : 2;
  check.that(width % unit == 0, "%s has %lld as its last dimension; it must be a multiple of %lld",
             name, static_cast<long long>(width), static_cast<long long>(unit));
  Layout met;
  check.that(broadcast_shapes(layout_of(*cos), shape, &met) && same_shape(met, shape),
             "cos %s does not broadcast to %s %s", shape_text(layout_of(*cos)).c_str(), name,
             shape_text(shape).c_str());
  check.shape("sin", sin, layout_of(*cos));
}

}  // namespace emu
