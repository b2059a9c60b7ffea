// SPDX-License-Identifier: Apache-2.0
// Gated units of one tensor: rows whose halves are the gate and what it lets through.
#pragma once

#include "ops/shared/gated.h"
#include "ops/shared/rows.h"

namespace emu {

// The elements from the dimension that is cut to the last one are one row; each row has two halves.
struct Halves {
  int64_t rows, width;  // of the result
  bool alternate;  // even elements are the gate, odd ones the other; else halves lie side by side
  bool left;       // the first half is the gate
};

// Calls unit(gate, linear, count) for blocks of both halves; the result is left in `gate`.
template <class Unit>
void gate_halves(const View &x, const View &out, const Halves &h, Unit unit) {
  const RowSource<float> from(x);
  const RowTarget<float> to(out);
  const int64_t blocks = (h.width + kBlock - 1) / kBlock;
  const int64_t grain =
      std::max<int64_t>(1, 8192 / std::min(kBlock, std::max<int64_t>(1, h.width)));
  parallel_for(h.rows * blocks, grain, [&](int64_t begin, int64_t end) {
    float first[kBlock], second[kBlock], both[2 * kBlock];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task / blocks, start = task % blocks * kBlock;
      const int64_t n = std::min(kBlock, h.width - start), origin = row * 2 * h.width;
      if (h.alternate) {
        from.read(origin + 2 * start, 2 * n, both);
        for (int64_t i = 0; i < n; ++i) {
          first[i] = both[2 * i];
          second[i] = both[2 * i + 1];
        }
      } else {
        from.read(origin + start, n, first);
        from.read(origin + h.width + start, n, second);
      }
      float *gate = h.left ? first : second, *linear = h.left ? second : first;
      unit(gate, linear, n);
      to.write(row * h.width + start, n, gate);
    }
  });
}

struct UnitArguments {
  const char *op, *input_name;
  const aclTensor *input;
  int64_t dim;
  const char *out_name;
  const aclTensor *out;
};

// Dtype and shape rules; `halves` are those of the whole tensor.
Check &check_unit(Check &check, const UnitArguments &a, int lowest_rank, Halves *halves);

// The rows that groups fill, at most all; a negative size is a fault.
Status grouped_rows(const char *op, const aclTensor &groups, int64_t rows, int64_t *count);

}  // namespace emu
