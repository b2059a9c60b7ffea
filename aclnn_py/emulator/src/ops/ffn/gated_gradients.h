// SPDX-License-Identifier: Apache-2.0
// Gradients of gated units: what a block of the incoming gradient makes of both halves.
#pragma once

#include "ops/ffn/gated_units.h"

namespace emu {

// Calls unit(gradient, gate, linear, count, origin) for blocks of the rows before `filled`; origin
// counts elements of `incoming`. The unit leaves the gradients in the place of gate and linear. The
// rows from `filled` on become 0.
template <class T, class Unit>
void slope_halves(const View &incoming, const View &x, const View &out, const Halves &h,
                  int64_t filled, Unit unit) {
  const RowSource<T> gradients(incoming), from(x);
  const RowTarget<T> to(out);
  const int64_t blocks = (h.width + kBlock - 1) / kBlock;
  const int64_t grain =
      std::max<int64_t>(1, 8192 / std::min(kBlock, std::max<int64_t>(1, h.width)));
  parallel_for(h.rows * blocks, grain, [&](int64_t begin, int64_t end) {
    T g[kBlock], first[kBlock], second[kBlock], both[2 * kBlock];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / blocks, start = task % blocks * kBlock;
      const int64_t n = std::min(kBlock, h.width - start), origin = row * 2 * h.width;
      const bool used = row < filled;
      if (!used) {
        std::fill_n(first, n, T(0));
        std::fill_n(second, n, T(0));
      } else if (h.alternate) {
        from.read(origin + 2 * start, 2 * n, both);
        for (int64_t i = 0; i < n; ++i) {
          first[i] = both[2 * i];
          second[i] = both[2 * i + 1];
        }
      } else {
        from.read(origin + start, n, first);
        from.read(origin + h.width + start, n, second);
      }
      if (used) {
        gradients.read(row * h.width + start, n, g);
        unit(g, h.left ? first : second, h.left ? second : first, n, row * h.width + start);
      }
      if (h.alternate) {
        for (int64_t i = 0; i < n; ++i) {
          both[2 * i] = first[i];
          both[2 * i + 1] = second[i];
        }
        to.write(origin + 2 * start, 2 * n, both);
      } else {
        to.write(origin + start, n, first);
        to.write(origin + h.width + start, n, second);
      }
    }
  });
}

// The gradients of gate * sigmoid(gate) * linear for at most kBlock elements.
inline void silu_slopes(const float *g, float *gate, float *linear, int64_t count) {
  float s[kBlock];
  float_kernel_fn(FloatKernel::sigmoid)(gate, count, nullptr, s);
  for (int64_t i = 0; i < count; ++i) {
    const float a = gate[i];
    gate[i] = g[i] * linear[i] * s[i] * (1.0f + a * (1.0f - s[i]));
    linear[i] = g[i] * a * s[i];
  }
}

struct GradientArguments {
  const char *op;
  const char *incoming_name;
  const aclTensor *incoming;
  const char *input_name;
  const aclTensor *input;
  int64_t dim;
  const char *out_name;
  const aclTensor *out;
};

// Nulls, dtypes and shapes of the three tensors; `halves` are those of the input.
inline Check &check_gradient(Check &check, const GradientArguments &a, Halves *halves) {
  check_unit(check, {a.op, a.input_name, a.input, a.dim, a.incoming_name, a.incoming}, 1, halves);
  if (!check.ok()) return check;
  check.dtype(a.out_name, a.out)
      .same_dtype(a.out_name, a.out->dtype, a.input_name, a.input->dtype)
      .shape(a.out_name, a.out, layout_of(*a.input));
  return check;
}

}  // namespace emu
