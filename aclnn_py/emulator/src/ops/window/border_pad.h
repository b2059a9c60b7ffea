// SPDX-License-Identifier: Apache-2.0
// Margins made of the image itself: mirrored at its outermost elements, these repeated, or the
// image again from its other side.
#pragma once

#include "ops/window/picking.h"

namespace emu {

enum class Border { kReflected, kRepeated, kCircular };

// Margins in front of each axis; two numbers for each dimension count from the last one.
struct Margins {
  int64_t before[kAxes] = {};
};

// Judges padding and returns the shape of the padded image. With `limited`, margins are smaller
// than what they are made of, as those that are mirrored or circular always are.
Layout check_padding(Check &check, const aclTensor *self, const aclIntArray *padding, int spatial,
                     Border border, bool limited, Margins *margins);

// Where each element of the padded image comes from.
Picks picks_of(const Image &image, const Image &padded, const Margins &margins, Border border);

}  // namespace emu
