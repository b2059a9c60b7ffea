// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "ops/index/addresses.h"

namespace emu {

// The image that the first number of a region's row names, rounded down; another is a fault.
inline int64_t region_image(double number, int64_t images, IndexFault &fault) {
  if (number >= 0 && number < static_cast<double>(images)) return static_cast<int64_t>(number);
  const double near = std::isnan(number) ? -1 : std::clamp(std::floor(number), -1e18, 1e18);
  fault.report(static_cast<int64_t>(near), images);
  return 0;
}

}  // namespace emu
