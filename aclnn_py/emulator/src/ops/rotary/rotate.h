// SPDX-License-Identifier: Apache-2.0
// The rotation itself: x * cos + rotated(x) * sin, in float32, rounded once.
#pragma once

#include "ops/shared/rows.h"

namespace emu {

enum RotaryMode : int64_t { kHalf = 0, kInterleave = 1, kQuarter = 2, kInterleaveHalf = 3 };

// How this chip turns for a mode: a 910B turns halves for every mode but that of pairs.
int64_t mode_of_chip(int64_t mode);

// y = x * cos + rotated(x) * sin for one row. x and y are different memory.
void rotate(int64_t mode, const float *x, const float *cos, const float *sin, int64_t width,
            float *y);

// The gradient of `rotate` by x, from the gradient of y. They are different memory.
void rotate_back(int64_t mode, const float *dy, const float *cos, const float *sin, int64_t width,
                 float *dx);

// All rows of x, with tables of its shape; `out` may be x.
void rotate_all(int64_t mode, const View &x, const View &cos, const View &sin, const View &out);

// The same for `rotate_back`; `dx` may be dy.
void rotate_all_back(int64_t mode, const View &dy, const View &cos, const View &sin,
                     const View &dx);

// The rules cos and sin obey towards the tensor they turn.
void check_tables(Check &check, const char *name, const aclTensor *x, const aclTensor *cos,
                  const aclTensor *sin, int64_t mode);

}  // namespace emu
