// SPDX-License-Identifier: Apache-2.0
// The way back from experts to tokens: each token becomes the weighted sum of what its experts made
// of it. MoeFinalizeRouting and MoeTokenUnpermute are this sum.
#pragma once

#include <vector>

#include "ops/moe/routing.h"

namespace emu {

// What one expert adds to its token.
struct Term {
  enum Kind : uint8_t { kNothing, kRow, kCopy, kConstant };
  Kind kind = kNothing;
  int64_t row = 0;  // kRow: of the experts' results; kConstant: of the constants
  int64_t expert = 0;
};

// Views without data are absent: nothing is added, and every weight is 1.
struct Combination {
  View results, first, second, bias, weights;
  View x, alpha, beta, constant;  // kCopy: x; kConstant: alpha * x + beta * constant
  View out;
};

// out = first + second + the sum of weight * (term + bias) over the `each` terms of every token, in
// float32 and in this order; rounded once.
void combine(const Combination &c, const std::vector<Term> &terms, int64_t each);

}  // namespace emu
