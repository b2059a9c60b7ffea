// SPDX-License-Identifier: Apache-2.0
// Images made of elements of another one: tables name, for each place along an axis, where its
// element comes from.
#pragma once

#include <vector>

#include "ops/window/geometry.h"

namespace emu {

struct Picks {
  std::vector<int64_t> axes[kAxes] = {{0}, {0}, {0}};
};

// Copies elements of any dtype; the images have the same dtype, batch and channels.
void pick(const Image &from, const Image &to, const Picks &picks);

}  // namespace emu
