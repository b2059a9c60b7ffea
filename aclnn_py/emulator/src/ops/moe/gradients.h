// SPDX-License-Identifier: Apache-2.0
// What the gradients of permuting and unpermuting tokens share.
#pragma once

#include <vector>

#include "ops/moe/combining.h"

namespace emu {

// A copy of a token: the row that holds it, or -1, and the expert that worked on it.
struct TokenCopy {
  int64_t token = 0, row = -1, expert = 0;
};

// Views without data are absent: every weight is 1, no expert has a bias.
struct CopyGradient {
  View gradient;    // of the tokens
  View rows, bias;  // what the experts made, for the slopes
  View out;
  std::vector<float> weights;  // of the copies
};

// Each row becomes weight * gradient[token] of its copy, a row without one 0. `slopes` gets the
// derivative by the weight of each copy: the sum of (row + bias) * gradient; null leaves it out. A
// row of two copies is a fault.
Status spread_gradient(const char *op, const char *parameter, const CopyGradient &g,
                       const std::vector<TokenCopy> &copies, std::vector<float> *slopes);

}  // namespace emu
