// SPDX-License-Identifier: Apache-2.0
// One step of recurrent cells and its gradient, for one sequence: dense float32 vectors as long as
// the hidden state.
#pragma once

#include <cstdint>

namespace emu {

// The gates of a long short-term memory cell, each a vector.
struct LstmGates {
  float *input, *forget, *candidate, *output;
};

// The gates hold their arguments and become their activations.
void lstm_forward(int64_t size, const LstmGates &gates, const float *cell_before, float *cell,
                  float *tanh_cell, float *hidden);
// What the gradients of the results mean for the arguments of the gates and the cell before. Either
// gradient of a result may lie where that of the cell before goes.
void lstm_backward(int64_t size, const LstmGates &activations, const float *cell_before,
                   const float *tanh_cell, const float *hidden_slope, const float *cell_slope,
                   const LstmGates &slopes, float *cell_before_slope);

// A step as a network makes it. Products of the input and of the hidden state before with the
// weights have one vector per gate, in the order of the rows of the weights; what a step keeps for
// its gradient are the planes, in the order of the operator's parameters.
struct StepForward {
  int64_t size;
  const float *input, *hidden;
  const float *const *before;  // the states before
  float *const *planes;
};
struct StepBackward {
  int64_t size;
  const float *const *before;
  const float *const *planes;
  // In: gradients of the states after the step. Out: what reaches the states before it other than
  // through the product.
  float *const *states;
  float *input, *hidden;  // gradients of the products; one memory where they are equal
};

constexpr int kMostPlanes = 7, kMostStates = 2;

struct CellKind {
  int gates, planes, states;
  int state_plane[kMostStates];  // which plane is the state after the step
  bool equal_products;           // both products have the same gradient
  void (*forward)(const StepForward &);
  void (*backward)(const StepBackward &);
};

// Gates i, f, j, o; planes i, j, f, o, h, c, tanh(c); states h, c.
extern const CellKind kLstm;
// Gates r, z, n; planes r, z, n, the hidden part of n, h; state h.
extern const CellKind kGru;

}  // namespace emu
