// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/rnn/cell.h"

#include "ops/float_kernels.h"

namespace emu {
namespace {

void activate(FloatKernel kernel, int64_t size, float *values) {
  float_kernel_fn(kernel)(values, size, nullptr, values);
}

enum LstmPlane { kInputGate, kCandidate, kForgetGate, kOutputGate, kHidden, kCell, kTanhCell };

void lstm_step(const StepForward &s) {
  const LstmGates gates = {s.planes[kInputGate], s.planes[kForgetGate], s.planes[kCandidate],
                           s.planes[kOutputGate]};
  float *const order[] = {gates.input, gates.forget, gates.candidate, gates.output};
  for (int g = 0; g < 4; ++g) {
    const float *input = s.input + g * s.size, *hidden = s.hidden + g * s.size;
    for (int64_t i = 0; i < s.size; ++i) order[g][i] = input[i] + hidden[i];
  }
  lstm_forward(s.size, gates, s.before[1], s.planes[kCell], s.planes[kTanhCell], s.planes[kHidden]);
}

void lstm_step_back(const StepBackward &s) {
  // Read only.
  const auto plane = [&](LstmPlane p) { return const_cast<float *>(s.planes[p]); };
  const LstmGates activations = {plane(kInputGate), plane(kForgetGate), plane(kCandidate),
                                 plane(kOutputGate)};
  const LstmGates slopes = {s.input, s.input + s.size, s.input + 2 * s.size, s.input + 3 * s.size};
  lstm_backward(s.size, activations, s.before[1], s.planes[kTanhCell], s.states[0], s.states[1],
                slopes, s.states[1]);
  for (int64_t i = 0; i < s.size; ++i) s.states[0][i] = 0;
}

enum GruPlane { kReset, kUpdate, kNew, kHiddenNew, kState };

void gru_step(const StepForward &s) {
  const int64_t n = s.size;
  float *reset = s.planes[kReset], *update = s.planes[kUpdate], *fresh = s.planes[kNew];
  float *hidden_part = s.planes[kHiddenNew], *state = s.planes[kState];
  const float *before = s.before[0];
  for (int64_t i = 0; i < n; ++i) {
    reset[i] = s.input[i] + s.hidden[i];
    update[i] = s.input[n + i] + s.hidden[n + i];
    hidden_part[i] = s.hidden[2 * n + i];
  }
  activate(FloatKernel::sigmoid, n, reset);
  activate(FloatKernel::sigmoid, n, update);
  for (int64_t i = 0; i < n; ++i) fresh[i] = s.input[2 * n + i] + reset[i] * hidden_part[i];
  activate(FloatKernel::tanh, n, fresh);
  for (int64_t i = 0; i < n; ++i) {
    state[i] = (1.0f - update[i]) * fresh[i] + update[i] * before[i];
  }
}

void gru_step_back(const StepBackward &s) {
  const int64_t n = s.size;
  const float *reset = s.planes[kReset], *update = s.planes[kUpdate], *fresh = s.planes[kNew];
  const float *hidden_part = s.planes[kHiddenNew], *before = s.before[0];
  float *state = s.states[0];
  for (int64_t i = 0; i < n; ++i) {
    const float slope = state[i];
    const float to_new = slope * (1.0f - update[i]) * (1.0f - fresh[i] * fresh[i]);
    const float to_reset = to_new * hidden_part[i] * reset[i] * (1.0f - reset[i]);
    const float to_update = slope * (before[i] - fresh[i]) * update[i] * (1.0f - update[i]);
    s.input[i] = s.hidden[i] = to_reset;
    s.input[n + i] = s.hidden[n + i] = to_update;
    s.input[2 * n + i] = to_new;
    s.hidden[2 * n + i] = to_new * reset[i];
    state[i] = slope * update[i];
  }
}

}  // namespace

void lstm_forward(int64_t size, const LstmGates &gates, const float *cell_before, float *cell,
                  float *tanh_cell, float *hidden) {
  activate(FloatKernel::sigmoid, size, gates.input);
  activate(FloatKernel::sigmoid, size, gates.forget);
  activate(FloatKernel::tanh, size, gates.candidate);
  activate(FloatKernel::sigmoid, size, gates.output);
  for (int64_t i = 0; i < size; ++i) {
    cell[i] = gates.forget[i] * cell_before[i] + gates.input[i] * gates.candidate[i];
  }
  float_kernel_fn(FloatKernel::tanh)(cell, size, nullptr, tanh_cell);
  for (int64_t i = 0; i < size; ++i) hidden[i] = gates.output[i] * tanh_cell[i];
}

void lstm_backward(int64_t size, const LstmGates &activations, const float *cell_before,
                   const float *tanh_cell, const float *hidden_slope, const float *cell_slope,
                   const LstmGates &slopes, float *cell_before_slope) {
  for (int64_t i = 0; i < size; ++i) {
    const float in = activations.input[i], forget = activations.forget[i];
    const float candidate = activations.candidate[i], out = activations.output[i];
    const float bent = tanh_cell[i], hidden = hidden_slope[i];
    const float cell = hidden * out * (1.0f - bent * bent) + cell_slope[i];
    slopes.input[i] = cell * candidate * in * (1.0f - in);
    slopes.forget[i] = cell * cell_before[i] * forget * (1.0f - forget);
    slopes.candidate[i] = cell * in * (1.0f - candidate * candidate);
    slopes.output[i] = hidden * bent * out * (1.0f - out);
    cell_before_slope[i] = cell * forget;
  }
}

const CellKind kLstm = {4, 7, 2, {kHidden, kCell}, true, &lstm_step, &lstm_step_back};
const CellKind kGru = {3, 5, 1, {kState, 0}, false, &gru_step, &gru_step_back};

}  // namespace emu
