// SPDX-License-Identifier: Apache-2.0
// One layer of a recurrent network in one direction, and its gradient. Everything is dense float32:
// rows are the places of an input, each a sequence at a time.
#pragma once

#include <vector>

#include "ops/rnn/cell.h"

namespace emu {

using Floats = std::vector<float>;

// Which rows belong to each time. Sequences are sorted by length, the longest first, so those that
// take part in a time are the first ones.
struct TimeSteps {
  std::vector<int64_t> first, count;
  int64_t rows = 0, batch = 0;

  int64_t times() const { return static_cast<int64_t>(first.size()); }
};

// The members of a list of parameters for one layer and direction; biases are empty where there are
// none. Gradients of them have the same form.
struct LayerWeights {
  int64_t in = 0, hidden = 0;
  Floats input, recurrent, input_bias, recurrent_bias;
};

struct LayerCall {
  const CellKind *cell;
  const TimeSteps *steps;
  bool reverse;
  const LayerWeights *weights;
  const float *x;        // (rows, in)
  const float *initial;  // (states, batch, hidden)
  bool keeps = true;     // all planes, not only those of the states
};

// Takes weights transposed: (in, width) and (hidden, width). Fills the planes that it keeps, each
// (rows, hidden), with 0 in rows without a time, and the last state of each sequence, (states,
// batch, hidden).
void run_layer(const LayerCall &call, std::vector<Floats> *planes, Floats *last);

// Takes weights as the tensors are, (width, in) and (width, hidden), and all planes. `states` holds
// the gradients of the last states and becomes those of the initial ones. The gradient of the
// output has `y_stride` values a row; that of x is added to `x_slope`.
void run_layer_gradient(const LayerCall &call, const std::vector<const float *> &planes,
                        const float *y_slope, int64_t y_stride, Floats *states, float *x_slope,
                        LayerWeights *slopes);

}  // namespace emu
